"""Spending: one row for each thing that was paid for, in whole millicredits.

Generations come from the history; titles and scripts only stand in the ledger, so a service
without one has none of them here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd

from kit.errors import ConfigError
from kit.explore.schema import TIME
from kit.parameters import suggest

_MILLI = 1000
#: Columns of a spending frame, with their dtypes; the amounts are millicredits.
COLUMNS = {
    "kind": "string",
    "model_id": "string",
    "asset_type": "string",
    "status": "string",
    "created_at": TIME,
    "charged": "Int64",
    "refunded": "Int64",
    "net": "Int64",
    "source": "string",
    "prompt": "string",
    "error": "string",
    "parameters": "object",
}
#: What is needed of a frame of generations.
NEEDED = (
    "model_id",
    "asset_type",
    "status",
    "created_at",
    "credits",
    "credits_refunded",
    "net",
    "credits_source",
    "prompt",
    "error",
    "parameters",
)
_PARAMETER = "parameters."


def spending(generations: pd.DataFrame, ledger: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return what was paid for, oldest first.

    Parameters
    ----------
    generations : DataFrame
        With the columns of `kit.explore.schema.GENERATIONS`.
    ledger : DataFrame or None
        With those of `kit.explore.schema.LEDGER`: adds titles and scripts.

    Returns
    -------
    DataFrame
        With the dtypes of `COLUMNS`, indexed by the id of what was paid for.
    """
    parts = [_generations(generations)]
    if ledger is not None:
        parts.append(_written(ledger))
    filled = [part for part in parts if len(part)] or parts[:1]
    whole = pd.concat(filled).astype(COLUMNS)
    return whole.sort_values("created_at", kind="stable")[list(COLUMNS)]


def millicredits(amounts: pd.Series[Any]) -> pd.Series[Any]:
    """Return credits as whole millicredits; what is unknown stays unknown."""
    return (pd.to_numeric(amounts).astype("Float64") * _MILLI).round().astype("Int64")


def credits(amounts: Any) -> Any:
    """Return millicredits as float credits, rounded to the third decimal."""
    return (amounts.astype("float64") / _MILLI).round(3)


def add_groups(frame: pd.DataFrame, columns: Iterable[str]) -> tuple[pd.DataFrame, list[str]]:
    """Return a spending frame with the columns to group by, and their names.

    Raises
    ------
    ConfigError
        There is no such column; the message names the closest.
    """
    names = groups(columns)
    parameters = [name.removeprefix(_PARAMETER) for name in names if name.startswith(_PARAMETER)]
    read = frame["parameters"].map(_object) if parameters else None
    made = {}
    for name in names:
        if read is not None and name.startswith(_PARAMETER):
            key = name.removeprefix(_PARAMETER)
            made[name] = read.map(lambda values, key=key: _cell(values.get(key)))
        else:
            made[name] = _MADE[name](frame)
    return frame.assign(**made), names


def groups(columns: Iterable[str]) -> list[str]:
    """Return columns to group by, checked before anything is asked of a service.

    Raises
    ------
    ConfigError
        There is no such column; the message names the closest.
    """
    names = list(columns)
    for name in names:
        if name not in _MADE and not name.startswith(_PARAMETER):
            known = [*_MADE, "parameters.NAME"]
            raise ConfigError(f"costs cannot be grouped by {name!r}{suggest(name, known)}")
    return names


def _period(word: str) -> Callable[[pd.DataFrame], pd.Series[Any]]:
    """Return the start of each row's day, week (from Monday), month or hour, UTC."""

    def starts(frame: pd.DataFrame) -> pd.Series[Any]:
        moments = frame["created_at"].dt.tz_localize(None)
        found: pd.Series[Any] = (
            moments.dt.floor("h") if word == "h" else moments.dt.to_period(word).dt.start_time
        )
        return found

    return starts


#: What costs can be grouped by -> how its column is made.
_MADE: dict[str, Callable[[pd.DataFrame], pd.Series[Any]]] = {
    "model": lambda frame: frame["model_id"],
    "kind": lambda frame: frame["kind"],
    "asset_type": lambda frame: frame["asset_type"],
    "status": lambda frame: frame["status"],
    "source": lambda frame: frame["source"],
    "error": lambda frame: frame["error"],
    "hour": _period("h"),
    "day": _period("D"),
    "week": _period("W"),
    "month": _period("M"),
    "weekday": lambda frame: frame["created_at"].dt.day_name().astype("string"),
}


def _generations(frame: pd.DataFrame) -> pd.DataFrame:
    refunded = millicredits(frame["credits_refunded"]).fillna(0)
    charged = millicredits(frame["credits"])
    if "net" not in frame:  # a frame whose credits are what was left
        charged = charged + refunded
    made: dict[str, Any] = {
        "kind": "generation",
        "source": frame["credits_source"],
        "charged": charged,
        "refunded": refunded,
        "net": charged - refunded,
    }
    shared = [name for name in COLUMNS if name in frame and name not in made]
    return frame[shared].assign(**made)


def _written(frame: pd.DataFrame) -> pd.DataFrame:
    rows = frame[frame["kind"].isin(("title", "script"))]
    charged = -millicredits(rows["credits"])
    return pd.DataFrame(
        {
            "kind": rows["kind"],
            "model_id": rows["kind"],
            "asset_type": "text",
            "status": "completed",
            "created_at": rows["created_at"],
            "charged": charged,
            "refunded": 0,
            "net": charged,
            "source": "service",
            "prompt": pd.NA,
            "error": pd.NA,
            "parameters": None,
        },
        index=rows.index,
    )


def _object(values: Any) -> dict[str, Any]:
    """Return the settings of a row, which are an object or its JSON text."""
    if isinstance(values, str):
        values = json.loads(values)
    return values if isinstance(values, dict) else {}


def _cell(value: Any) -> Any:
    return value if value is None or isinstance(value, (str, int, float)) else json.dumps(value)
