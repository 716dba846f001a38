"""Rows: which rows of a frame are shown, and in which order, without copying the frame.

Results are positions; a page of the frame is selected by them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

Positions: TypeAlias = np.ndarray[Any, np.dtype[np.intp]]
#: Takes a frame and a search text and returns the positions of matching rows, the best first.
Search: TypeAlias = Callable[[pd.DataFrame, str], Positions]


@dataclass(frozen=True, slots=True)
class TableView:
    """Filters and order; an empty field does not filter.

    `text`: the search text, in the syntax of the table's search.
    `since`, `until`: first and last day of creation, in UTC.
    `sort`: a column; if empty, the frame's own order is kept.
    """

    text: str = ""
    status: str = ""
    model: str = ""
    since: date | None = None
    until: date | None = None
    sort: str = ""
    descending: bool = False


def positions(frame: pd.DataFrame, view: TableView, search: Search) -> Positions:
    """Return the positions of the rows that a view shows, in its order; missing values are last."""
    found = search(frame, view.text) if view.text else np.arange(len(frame))
    for mask in _masks(frame, view):
        found = found[mask[found]]
    if not view.sort or view.sort not in frame.columns:
        return found
    ranks = pd.factorize(frame[view.sort].iloc[found], sort=True)[0]
    missing = ranks < 0
    if view.descending:
        ranks = -ranks
    ranks[missing] = len(frame)
    return found[np.argsort(ranks, kind="stable")]


def choices(frame: pd.DataFrame, column: str) -> list[str]:
    """Return the distinct values of a text column, sorted; none if it does not exist."""
    if column not in frame.columns:
        return []
    return sorted(str(value) for value in frame[column].dropna().unique())


def _masks(frame: pd.DataFrame, view: TableView) -> Iterator[np.ndarray[Any, np.dtype[np.bool_]]]:
    for name, (column, compare) in _FILTERS.items():
        wanted = getattr(view, name)
        if wanted and column not in frame.columns:
            yield np.zeros(len(frame), dtype=bool)
        elif wanted:
            yield compare(frame[column], wanted).fillna(value=False).to_numpy(dtype=bool)


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


#: Field of a view -> a column, and the function that compares its values.
_FILTERS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "status": ("status", operator.eq),
    "model": ("model_id", operator.eq),
    "since": ("created_at", lambda made, day: made >= _midnight(day)),
    "until": ("created_at", lambda made, day: made < _midnight(day + timedelta(days=1))),
}
