"""The requests of a sweep: from values that vary, or from the rows of a frame."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from kit.client.actions import Flow
from kit.errors import ConfigError
from kit.explore.ratings import Ratings
from kit.explore.sweeps.grid import PROMPT, SweepPlan, plan_rows_of, plan_values
from kit.studio.generation import Session
from kit.studio.sweeps import cells
from kit.studio.sweeps.cells import Asked, Cell
from kit.studio.sweeps.sweep import BaseSweep

if TYPE_CHECKING:
    import pandas as pd


S = TypeVar("S", bound="BaseSweep[Any]")

_MODEL, _MEDIA, _PARAMETER = "model", "media", "parameters."
#: What a request has besides its settings.
_OWN = frozenset({PROMPT, _MODEL, _MEDIA})
_NO_ROWS = (
    "rows are a DataFrame or a list with a mapping for each: [{'prompt': 'a lake'}, ...]; "
    "pd.DataFrame(...) makes rows of columns"
)


def name_values(prompt: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what varies and what is fixed by the names of a plan, the prompt first."""
    return {PROMPT: prompt, **{_spelled(name): value for name, value in values.items()}}


def plan_sweep(
    kind: type[S],
    session: Session[Any],
    ratings: Ratings,
    model: str,
    values: Mapping[str, Any],
    *,
    media: Any,
    plan: str | int,
    again: bool | str,
) -> Flow[S]:
    """Return the sweep of some values, checked and priced; nothing is started."""
    found = yield from session.operations.model(model)
    lists = [_spelled(p.name) for p in found.setting_parameters if p.max_items is not None]
    given = {name: value for name, value in values.items() if value is not None}
    made = plan_values(given, plan, lists=lists)
    requests = [_request(model, media, {**made.fixed, **varied}) for varied in made.requests]
    checked = yield from cells.check_cells(session.operations, requests, again)
    return _made(kind, session, ratings, made, checked, f"{model} × {len(requests)}")


def plan_rows(
    kind: type[S],
    session: Session[Any],
    ratings: Ratings,
    frame: pd.DataFrame | Sequence[Mapping[str, Any]],
    *,
    model: str | None,
    again: bool | str,
) -> Flow[S]:
    """Return the sweep of a frame's rows, checked and priced; nothing is started.

    Raises
    ------
    ConfigError
        What is given has no rows, or a row names no model.
    """
    given = [_cleaned(row) for row in _records(frame)]
    if not given:
        raise ConfigError("there are no rows to make anything of")
    named = [{_MODEL: model, **row} if model else row for row in given]
    missing = [str(n) for n, row in enumerate(named) if not row.get(_MODEL)]
    if missing:
        raise ConfigError(
            f"no model for row {', '.join(missing[:10])}: give a column 'model', or model=..."
        )
    requests = [_request(row[_MODEL], row.get(_MEDIA), row) for row in named]
    checked = yield from cells.check_cells(session.operations, requests, again)
    plan = plan_rows_of([_without(row, _MEDIA) for row in named])
    if not isinstance(frame, Sequence):
        plan = replace(plan, rows=frame.copy())
    models = " and ".join(dict.fromkeys(model for model, *_ in requests))
    return _made(kind, session, ratings, plan, checked, f"{models} × {len(requests)}")


def _made(
    kind: type[S],
    session: Session[Any],
    ratings: Ratings,
    plan: SweepPlan,
    checked: list[Cell],
    title: str,
) -> S:
    return kind(
        plan,
        checked,
        title=title,
        session=session,
        ratings=ratings,
    )


def _request(model: str, media: Any, values: Mapping[str, Any]) -> Asked:
    settings = {
        name.removeprefix(_PARAMETER): value for name, value in values.items() if name not in _OWN
    }
    return model, values.get(PROMPT), media, settings


def _spelled(name: str) -> str:
    """Return a setting's name as a column: in full where a request has such a field itself."""
    return f"{_PARAMETER}{name}" if name in _OWN else name


def _records(frame: Any) -> list[Mapping[str, Any]]:
    if hasattr(frame, "columns"):
        found: list[Mapping[str, Any]] = frame.to_dict("records")
        return found
    if isinstance(frame, (str, bytes, Mapping)) or not isinstance(frame, Iterable):
        raise ConfigError(_NO_ROWS)
    rows = list(frame)
    if not all(isinstance(row, Mapping) for row in rows):
        raise ConfigError(_NO_ROWS)
    return rows


def _cleaned(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a row by parameter name; empty cells are left out."""
    named = {
        _spelled(name.removeprefix(_PARAMETER)) if name.startswith(_PARAMETER) else name: value
        for name, value in ((str(name), value) for name, value in row.items())
    }
    return {name: value for name, value in named.items() if not _empty(value)}


def _empty(value: Any) -> bool:
    """Whether a cell holds nothing: None, or one of the ways in which pandas says so."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and math.isnan(value)


def _without(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}
