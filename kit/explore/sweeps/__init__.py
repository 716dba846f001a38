"""Sweeps: the values that vary, the requests they make together, and a table of the results.

Columns of parameters are ``parameters.NAME``, as in the history, so that a parameter called
``status`` or ``seconds`` does not collide with the result of that name.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

from kit import wire
from kit.errors import ConfigError
from kit.explore.sweeps.templates import CHOICE, choice_columns
from kit.parameters import check_count

if TYPE_CHECKING:
    import pandas as pd

#: Maximum of requests in a sweep, and of values of one argument, of which some are drawn.
MAX_REQUESTS, _MAX_VALUES = 10_000, 100_000
PROMPT = "prompt"
PREFIX = "parameters."
#: Arguments of a request other than parameters -> their columns in the history.
_ARGUMENT_COLUMNS = {"prompt": "prompt", "model": "model_id", "media": "media"}
#: Result columns, after those that vary, with their dtypes.
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
#: The state of a request: its generation, its status, and its error.
Outcome: TypeAlias = tuple[wire.Generation | None, str, str]


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """The requests of a sweep."""

    axes: Mapping[str, list[Any]]  # names and ordered values of what varies
    fixed: Mapping[str, Any]  # arguments shared by all requests
    requests: Sequence[Mapping[str, Any]]  # the varying values of each
    grid: bool  # whether it has every combination, so that a sheet has no gaps
    #: The dataframe that the requests came from: the results have its index.
    rows: pd.DataFrame | None = field(default=None, compare=False, repr=False)


def plan_values(
    values: Mapping[str, Any], how: str | int = "grid", *, lists: Iterable[str] = ()
) -> SweepPlan:
    """Return the plan of a sweep.

    Raises `ConfigError` if an axis is empty, the axes of a zip differ in length, or there are too
    many requests.

    `values`: by name. A list, range, array or series varies; a text or number is shared by all.
    `how`: ``grid``: all combinations, the last name varying fastest. ``zip``: the first values
    together, then the second, and so on. A number: a random sample of the grid of that size, always
    the same for the same sweep.
    `lists`: names whose values are lists themselves; they vary if given a list of lists.
    """
    axes, fixed = _split(values, set(lists))
    if how == "zip":
        return SweepPlan(axes, fixed, _zip(axes), grid=False)
    size = math.prod(map(len, axes.values()))
    if isinstance(how, bool) or not (how == "grid" or isinstance(how, int)):
        raise ConfigError(f"a sweep is a 'grid', a 'zip' or a number of draws, not {how!r}")
    if isinstance(how, int) and how < size:
        _check_size(check_count("plan", how, 1))
        picked = sorted(random.Random(_make_seed({**axes, **fixed})).sample(range(size), how))  # noqa: S311
        return SweepPlan(axes, fixed, [_combine(axes, number) for number in picked], grid=False)
    _check_size(size)
    requests = [dict(zip(axes, found, strict=True)) for found in itertools.product(*axes.values())]
    return SweepPlan(axes, fixed, requests, grid=True)


def plan_rows_of(rows: Sequence[Mapping[str, Any]]) -> SweepPlan:
    """Return the plan of requests given one by one, such as the rows of a dataframe."""
    _check_size(len(rows))
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: [row.get(name) for row in rows] for name in names}
    # one of the values with the same text
    axes = {n: list({repr(v): v for v in column}.values()) for n, column in columns.items()}
    varying = {name: found for name, found in axes.items() if len(found) > 1}
    fixed = {name: found[0] for name, found in axes.items() if len(found) == 1}
    requests = [{name: row[name] for name in varying if name in row} for row in rows]
    return SweepPlan(varying, fixed, requests, grid=False)


def _split(
    values: Mapping[str, Any], lists: set[str]
) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    axes: dict[str, list[Any]] = {}
    fixed: dict[str, Any] = {}
    for name, value in values.items():
        found = _values(value)
        if found is not None and name in lists and not all(_values(v) is not None for v in found):
            found = None
        if found is None:
            fixed[name] = value
        elif not found:
            raise ConfigError(f"{name} has no values to vary")
        elif len(found) > _MAX_VALUES:
            many = f"{name} has more than {_MAX_VALUES:,} values"
            raise ConfigError(f"{many}: random.sample(values, 100) draws a hundred of them")
        else:
            axes[name] = found
    return axes, fixed


def _values(value: Any) -> list[Any] | None:
    """Return the values of a collection, or None for a single value, such as a picture or file."""
    single = (str, bytes, bytearray, memoryview, Mapping)
    if isinstance(value, single) or not isinstance(value, Iterable) or hasattr(value, "read"):
        return None
    if getattr(value, "ndim", 1) != 1:  # an array of pixels
        return None
    if isinstance(value, (set, frozenset)):  # their order differs between processes
        return sorted(value, key=lambda item: (str(type(item)), item))
    return list(itertools.islice(value, _MAX_VALUES + 1))


def _zip(axes: Mapping[str, list[Any]]) -> list[Mapping[str, Any]]:
    lengths = {name: len(values) for name, values in axes.items()}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ConfigError(f"a zip needs equally many values of each; there are {counts}")
    _check_size(max(lengths.values(), default=1))
    rows = zip(*axes.values(), strict=True) if axes else [()]
    return [dict(zip(axes, row, strict=True)) for row in rows]


def _combine(axes: Mapping[str, list[Any]], number: int) -> dict[str, Any]:
    """Return one combination of a grid without computing the others."""
    found: dict[str, Any] = {}
    for name in reversed(list(axes)):
        number, index = divmod(number, len(axes[name]))
        found[name] = axes[name][index]
    return {name: found[name] for name in axes}


def _check_size(size: int) -> None:
    if size > MAX_REQUESTS:
        raise ConfigError(
            f"this sweep has {size:,} requests, at most {MAX_REQUESTS:,} are allowed; "
            "plan=100 draws a hundred of them, and so does frame.sample(100)"
        )


def _make_seed(values: Mapping[str, Any]) -> int:
    facts = {name: _values(value) or value for name, value in values.items()}
    text = json.dumps(facts, sort_keys=True, default=str)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


def table(
    plan: SweepPlan,
    prices: Sequence[Decimal | None],
    results: Sequence[Outcome],
    receipts: Mapping[str, Decimal],
    ratings: Mapping[str, Mapping[str, Any]],
    *,
    constants: bool = False,
) -> pd.DataFrame:
    """Return one row per request: what varies, with `constants` also the rest, then `COLUMNS`."""
    import pandas as pd

    rows = [_row(*given, receipts, ratings) for given in zip(prices, results, strict=True)]
    index = pd.RangeIndex(len(rows), name="cell") if plan.rows is None else plan.rows.index
    result = pd.DataFrame(rows, columns=list(COLUMNS), index=index, dtype="object").astype(COLUMNS)
    requests = [{**plan.fixed, **request} for request in plan.requests]
    names = [*plan.axes, *(plan.fixed if constants else ())]
    values: dict[str, Sequence[Any]] = {
        name_column(name): [to_frame_value(request.get(name)) for request in requests]
        for name in names
    }
    values |= choice_columns([request.get("prompt") for request in requests])
    return pd.concat([pd.DataFrame(values, index=index), result], axis=1)


def to_frame_value(value: Any) -> Any:
    """Return a value as frames show it: of a generation its id, of a file its path or name."""
    from pandas.api.types import is_scalar

    if isinstance(value, (list, tuple)):  # rows can be grouped by tuples
        return (tuple if isinstance(value, tuple) else list)(map(to_frame_value, value))
    if isinstance(made_by := getattr(getattr(value, "generation", value), "id", None), str):
        return made_by
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Mapping) or (is_scalar(value) and not isinstance(value, bytes)):
        return value
    return str(getattr(value, "name", "") or getattr(value, "filename", "") or type(value).__name__)


def name_column(name: str) -> str:
    """Return the column of an argument of a request."""
    if name.startswith(CHOICE):
        return name
    return _ARGUMENT_COLUMNS.get(name) or f"{PREFIX}{name.removeprefix(PREFIX)}"


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
    has_times = ended is not None and facts.created_at is not None
    return [
        price,
        status,
        charged,
        refunded,
        None if charged is None else charged - (refunded or 0),
        (ended - facts.created_at).total_seconds() if has_times else None,  # type: ignore[operator]
        ratings.get(facts.id, {}).get("rating"),
        facts.id,
        error or facts.error,
    ]
