"""Cells: the requests of a sweep, built from varying values or from rows, checked and priced.

A cell is identified by its content. So a sweep that is created again after a restart finds its
paid results in the journal or, if the journal is lost, by idempotency keys.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from kit import wire
from kit.client.calls import Flow
from kit.client.settings import hash_text
from kit.client.waiting import OnUpdate
from kit.errors import BadRequestError, ConfigError, KitError, NotFoundError, ParameterError
from kit.explore.sweeps import PROMPT, SweepPlan, plan_rows_of, plan_values
from kit.explore.sweeps.templates import CHOICE
from kit.parameters import Request
from kit.private import JsonLines
from kit.studio.billing import max_cost
from kit.studio.operations import Operations
from kit.studio.requests import digest_of
from kit.studio.starts import References, StartTrace

if TYPE_CHECKING:
    import pandas as pd

_MODEL, _MEDIA, _PARAMETER, _TAG = "model", "media", "parameters.", "tag."
#: Fields of a request besides its settings.
_REQUEST_FIELDS = frozenset({PROMPT, _MODEL, _MEDIA})
_NO_ROWS = (
    "rows must be a DataFrame or a list of mappings: [{'prompt': 'a lake'}, ...]; "
    "pd.DataFrame(...) makes rows of columns"
)
#: Maximum of problems named in one message.
_MAX_NAMED = 20
#: Maximum of different requests of a sweep that a service like ours validates before any start.
_MAX_CHECKED = 300
#: Sources of prices, the least reliable first.
_SOURCES = ("default", "receipts", "service", "rule")
#: Model, prompt, media, parameters and tags of a request, as given by the user.
GivenRequest: TypeAlias = tuple[str, str | None, Any, Mapping[str, Any], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Cell:
    """One checked and priced request of a sweep.

    `digest` identifies it in the journal; equal cells of equal sweeps share it. `earlier` are its
    generations without failed ones, oldest first. Each of its `starts` has its own key.
    """

    request: Request
    digest: str
    quote: wire.Quote | None
    earlier: tuple[str, ...] = ()
    starts: int = 0

    @property
    def credits(self) -> Decimal | None:
        """The credits it will still cost; None if unknown."""
        if self.earlier:
            return Decimal(0)
        return None if self.quote is None else self.quote.total

    @property
    def max_credits(self) -> Decimal:
        """The same, plus the error of a learned price; 0 if unknown."""
        return Decimal(0) if self.earlier or self.quote is None else max_cost(self.quote)


@dataclass(frozen=True, slots=True)
class SweepCells:
    """The cells of one sweep, what varies among them, and a title."""

    plan: SweepPlan
    cells: Sequence[Cell]
    title: str


def plan_sweep(
    operations: Operations,
    model: str | wire.Model,
    prompt: Any,
    values: Mapping[str, Any],
    *,
    media: Any,
    plan: str | int,
    again: bool | str,
    tags: Mapping[str, str] | None,
) -> Flow[SweepCells]:
    """Plan a sweep of values, checked and priced; nothing is started."""
    found = yield from operations.model(model)
    several = [p for p in found.setting_parameters if p.max_items is not None]
    several += [p for p in found.media_parameters if (p.max_items or 1) > 1]
    lists = [_column_name(p.name) for p in several]
    named = {PROMPT: prompt, **{_column_name(name): value for name, value in values.items()}}
    given = {name: value for name, value in named.items() if value is not None}
    planned = plan_values(given, plan, lists=lists)
    requests = [
        _request(found.id, media, {**planned.fixed, **varied}, tags) for varied in planned.requests
    ]
    checked = yield from _check_all(operations, requests, range(len(requests)))
    cells = yield from price_cells(operations, checked, again)
    return SweepCells(planned, cells, f"{found.id} × {len(requests)}")


def plan_rows(
    operations: Operations,
    frame: Any,
    *,
    model: str | wire.Model | None,
    again: bool | str,
    tags: Mapping[str, str] | None,
) -> Flow[SweepCells]:
    """Plan a sweep of a frame's rows, checked and priced; nothing is started."""
    # of polars or Arrow, whose whole numbers would be floats beside empty cells, lists be arrays
    exact: Any = getattr(frame, "to_dicts", None) or getattr(frame, "to_pylist", list)
    frame = frame.to_pandas() if hasattr(frame, "to_pandas") else frame
    found = _records(frame)
    if not (given := [_clean(row) for row in exact() or found]):
        raise ConfigError("there are no rows")
    default = model.id if isinstance(model, wire.Model) else model
    rows = [{_MODEL: default, **row} if default else row for row in given]
    missing = [str(n) for n, row in enumerate(rows) if not row.get(_MODEL)]
    if missing:
        raise ConfigError(
            f"no model for row {', '.join(missing[:10])}: give a column 'model', or model=..."
        )
    requests = [_request(row[_MODEL], row.get(_MEDIA), row, tags) for row in rows]
    labels = frame.index if hasattr(frame, "columns") else range(len(rows))
    checked = yield from _check_all(operations, requests, labels)
    cells = yield from price_cells(operations, checked, again)
    visible = [
        {n: v for n, v in row.items() if n != _MEDIA and not n.startswith(_TAG)} for row in rows
    ]
    plan = plan_rows_of(visible)
    if hasattr(frame, "columns"):
        plan = replace(plan, rows=frame.copy())
    models = " and ".join(dict.fromkeys(model for model, *_ in requests))
    return SweepCells(plan, cells, f"{models} × {len(requests)}")


def _request(
    model: str, media: Any, values: Mapping[str, Any], tags: Mapping[str, str] | None
) -> GivenRequest:
    tag_names = [name for name in values if name.startswith(_TAG)]
    settings = {
        name.removeprefix(_PARAMETER): value
        for name, value in values.items()
        if name not in _REQUEST_FIELDS and name not in tag_names and not name.startswith(CHOICE)
    }
    named = {name.removeprefix(_TAG): str(values[name]) for name in tag_names}
    return model, values.get(PROMPT), media, settings, {**(tags or {}), **named}


def _column_name(name: str) -> str:
    """Return a setting's name as a column; with a prefix if a request has a field of that name."""
    return f"{_PARAMETER}{name}" if name in _REQUEST_FIELDS else name


def _records(frame: Any) -> list[Mapping[str, Any]]:
    if hasattr(frame, "columns"):
        if not frame.columns.is_unique:
            raise ConfigError("the frame has several columns of the same name")
        return cast("list[Mapping[str, Any]]", frame.to_dict("records"))
    rows = list(frame) if isinstance(frame, Iterable) else [frame]
    if not all(isinstance(row, Mapping) for row in rows):
        raise ConfigError(_NO_ROWS)
    return rows


def _clean(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a row by parameter name; empty cells are left out."""
    named = {
        _column_name(name.removeprefix(_PARAMETER)) if name.startswith(_PARAMETER) else name: value
        for name, value in ((str(name), value) for name, value in row.items())
    }
    return {name: value for name, value in named.items() if not _is_empty(value)}


def _is_empty(value: Any) -> bool:
    """Whether a cell is empty: None, or a missing value of pandas."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and math.isnan(value)


def price_cells(
    operations: Operations, requests: Sequence[Request], again: bool | str
) -> Flow[list[Cell]]:
    """Price all requests of a sweep.

    If `again` is False, results of equal earlier requests are reused. A text names a new take,
    which a sweep with the same name finds again; True makes a new take each time.
    """
    is_new = again is True or (not again and not operations.settings.reuse)
    run_id = uuid.uuid4().hex if is_new else again or ""
    yield from operations.starts.check_keys()
    prices: dict[str, wire.Quote | None] = {}
    counts: dict[str, int] = {}
    cells = []
    for request in requests:
        digest = digest_of(request)
        if digest not in prices:
            try:
                prices[digest] = yield from operations.billing.price(request)
            except ConfigError:
                prices[digest] = None
        counts[digest] = counts.get(digest, 0) + 1
        suffix = (f"@{run_id}" if run_id else "") + (f"#{n}" if (n := counts[digest]) > 1 else "")
        cells.append(Cell(request, digest + suffix, prices[digest]))
    return refresh_cells(operations, cells)


def refresh_cells(operations: Operations, cells: Sequence[Cell]) -> list[Cell]:
    """Return cells updated from the journal."""
    journal = operations.journal.starts()
    found = []
    for cell in cells:
        starts = journal.get(cell.digest, [])
        earlier = dict.fromkeys(name for name, usable in starts if usable)
        found.append(replace(cell, earlier=tuple(earlier), starts=len(starts)))
    return found


def make_cell(
    operations: Operations, cell: Cell, notes: JsonLines, sweep: str, on_update: OnUpdate
) -> Flow[None]:
    """Generate a cell, or wait for its earlier generation; `on_update` gets every response."""
    started = yield from operations.starts.find_earlier(
        cell.request, cell.digest, StartTrace(), ids=cell.earlier
    )
    if started is None:
        facts = f"{sweep} {cell.digest} {cell.starts}"  # identifies each start
        key = f"kit-sweep-{hash_text(facts, 40)}"
        started = yield from _start_cell(operations, cell, notes, key)
    on_update(started)
    if not started.finished:
        started = yield from operations.wait(started.id, on_update=on_update)
        on_update(started)
    try:
        yield from operations.fetch(started)
    except KitError:
        return  # it is paid and available: showing it fetches it


def least_sure_source(cells: Sequence[Cell]) -> str:
    """Return the least reliable source of the prices of the remaining requests."""
    found = {cell.quote.source for cell in cells if cell.quote and not cell.earlier}
    return min(found or {"rule"}, key=_SOURCES.index)


def _check_all(
    operations: Operations, requests: Sequence[GivenRequest], labels: Sequence[Any] | pd.Index
) -> Flow[list[Request]]:
    """Check all requests; `labels` are those of a dataframe's index, or the same numbers."""
    checked, problems = [], dict[str, list[str]]()  # requests by what is wrong with them
    known = set(operations.journal.starts())
    asked: dict[str, Exception | None] = {}  # requests without a seed, and their errors
    for number, given in enumerate(requests):
        unseeded = ""
        try:
            request = yield from operations.request(*given)
            # of requests that differ only in the seed, the service is asked about one
            unseeded = digest_of(replace(request, parameters={**request.parameters, "seed": None}))
            if (refusal := asked.get(unseeded)) is not None:
                raise refusal
            is_new = unseeded not in asked and digest_of(request) not in known
            if is_new and len(asked) < _MAX_CHECKED:
                asked[unseeded] = None
                yield from operations.billing.check(request)
            checked.append(request)
        except (BadRequestError, NotFoundError) as error:
            asked[unseeded] = error
            label = "" if str(labels[number]) == str(number) else f" (index {labels[number]})"
            problems.setdefault(str(error), []).append(f"{number}{label}")
    if problems:
        lines = [f"request {_list_first(found, ', ')}: {why}" for why, found in problems.items()]
        raise ParameterError(
            f"{len(requests) - len(checked)} of {len(requests)} requests are invalid; "
            f"nothing was sent\n{_list_first(lines, chr(10))}"
        )
    return checked


def _list_first(items: Sequence[str], separator: str) -> str:
    more = f" ... and {len(items) - _MAX_NAMED} more" if len(items) > _MAX_NAMED else ""
    return separator.join(items[:_MAX_NAMED]) + more


def _start_cell(
    operations: Operations, cell: Cell, notes: JsonLines, key: str
) -> Flow[wire.Generation]:
    """Start a cell with its key, and the files that were uploaded for this start."""
    send = partial(operations.starts.send, cell.request, key=key, digest=cell.digest)
    if not cell.request.media:
        return (yield from send())

    def start(references: References) -> Flow[wire.Generation]:
        # before the start: a repeat with other files and the same key would be refused
        notes.append({"key": key, "uploads": references})
        return (yield from send(references=references))

    noted = [line["uploads"] for line in notes if line.get("key") == key]
    if noted:
        with suppress(NotFoundError):  # the files were removed: they are uploaded again
            return (yield from send(references=noted[-1]))
    return (yield from operations.starts.upload(cell.request, start))
