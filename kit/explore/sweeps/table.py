"""A sweep as a table: what varies, what it costs, how it went.

Settings are ``parameters.NAME``, as in a history, so that one called ``status`` or ``seconds``
stands beside the result of that name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from html import escape
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from kit import wire
from kit.explore.sweeps import SweepPlan
from kit.explore.sweeps.templates import CHOICE, choice_columns

PREFIX = "parameters."
#: What a request has besides its settings -> its column in a history.
_OWN = {"prompt": "prompt", "model": "model_id", "media": "media"}
#: Columns after those that vary, with their dtypes.
COLUMNS = {
    "price": "float64",
    "status": "string",
    "charged": "float64",
    "refunded": "float64",
    "net": "float64",
    "seconds": "float64",
    "rating": "Int64",
    "generation_id": "string",
    "error": "string",
}
_ROWS = 20
CSS = (
    "font-family:var(--jp-ui-font-family,system-ui,sans-serif);font-size:13px;"
    "color:var(--jp-ui-font-color1,inherit)"
)
FAINT = "color:var(--jp-ui-font-color2,#767676)"
#: How far a request is: what was made of it, one word for it, and what went wrong.
Outcome: TypeAlias = tuple[wire.Generation | None, str, str]


def table(
    plan: SweepPlan,
    prices: Sequence[Decimal | None],
    results: Sequence[Outcome],
    receipts: Mapping[str, Decimal],
    ratings: Mapping[str, Mapping[str, Any]],
    *,
    constants: bool = False,
) -> pd.DataFrame:
    """Return one row a request: what varies, and all share for `constants`, then `COLUMNS`."""
    rows = [
        _row(price, result, receipts, ratings)
        for price, result in zip(prices, results, strict=True)
    ]
    index = pd.RangeIndex(len(rows), name="cell") if plan.rows is None else plan.rows.index
    made = pd.DataFrame(rows, columns=list(COLUMNS), index=index, dtype="object").astype(COLUMNS)
    requests = [{**plan.fixed, **request} for request in plan.requests]
    names = [*plan.axes, *(plan.fixed if constants else ())]
    values = {name_column(name): [request.get(name) for request in requests] for name in names}
    values |= choice_columns([request.get("prompt") for request in requests])
    return pd.concat([pd.DataFrame(values, index=index), made], axis=1)


def name_column(name: str) -> str:
    """Return the column of something that a request is given."""
    if name.startswith(CHOICE):
        return name
    return _OWN.get(name) or f"{PREFIX}{name.removeprefix(PREFIX)}"


def html(frame: pd.DataFrame, title: str, told: str, *, new: bool) -> str:
    """Draw a sweep: what it consists of, what it costs, and how to run it."""
    shown = frame.head(_ROWS)
    hidden = _LATER if new else _BEFORE
    names = [n for n in shown if n not in hidden and (n not in COLUMNS or shown[n].notna().any())]
    head = "".join(
        f'<th style="text-align:left;padding:2px 10px 2px 0">{escape(_head(str(n)))}</th>'
        for n in names
    )
    lines = "".join(
        f'<tr><td style="padding:2px 10px 2px 0;{FAINT}">{number}</td>'
        + "".join(f'<td style="padding:2px 10px 2px 0">{_text(row[n])}</td>' for n in names)
        + "</tr>"
        for number, row in enumerate(shown.to_dict("records"))
    )
    more = f"<div>... and {len(frame) - _ROWS} more</div>" if len(frame) > _ROWS else ""
    hint = "<code>.run()</code> makes them; nothing was sent yet" if new else ""
    return (
        f'<div style="{CSS};overflow-x:auto"><b style="font-size:14px">{escape(title)}</b> '
        f'<span>{escape(told)}</span><table style="{CSS};border-collapse:collapse">'
        f'<tr><th></th>{head}</tr>{lines}</table>{more}<div style="{FAINT}">{hint}</div></div>'
    )


#: Columns that tell nothing before a run, and after it.
_LATER = frozenset(COLUMNS) - {"price", "status", "error"}
_BEFORE = frozenset({"price", "generation_id"})


def _row(
    price: Decimal | None,
    result: Outcome,
    receipts: Mapping[str, Decimal],
    ratings: Mapping[str, Mapping[str, Any]],
) -> list[Any]:
    facts, status, error = result
    if facts is None:
        return [price, status, *[None] * 6, error or None]
    charged = facts.credits_charged
    charged = receipts.get(facts.id) if charged is None else charged
    refunded = facts.credits_refunded
    ended = facts.completed_at or (facts.updated_at if facts.finished else None)
    known = ended is not None and facts.created_at is not None
    return [
        price,
        status,
        charged,
        refunded,
        None if charged is None else charged - (refunded or 0),
        (ended - facts.created_at).total_seconds() if known else None,  # type: ignore[operator]
        ratings.get(facts.id, {}).get("rating"),
        facts.id,
        error or facts.error,
    ]


def _head(name: str) -> str:
    """Return the short name of a column, where it is no other's."""
    short = name.removeprefix(PREFIX)
    return name if short in COLUMNS else short


def write(value: Any) -> str:
    """Return a value as text, a float with the digits that it has."""
    if isinstance(value, float):
        return np.format_float_positional(round(value, 9), trim="-")
    return str(value)


def _text(value: Any) -> str:
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return ""
    text = write(value)
    return escape(text if len(text) <= 80 else f"{text[:79]}…")
