"""Syncing: pages of a service become parts of the store, and only what is new is asked for.

It is a flow that both faces drive: it gets pages through functions that return flows, and knows
nothing of what carries them. What was fetched before an interruption is kept, with the page to go
on with; the next sync begins with what is new and then fills the gap.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, TypeAlias, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from kit import wire
from kit.errors import BadRequestError, NotFoundError
from kit.explore import charges, pages
from kit.explore.arrow import GENERATIONS
from kit.explore.pages import MalformedValues
from kit.explore.store import Gap, Store

T = TypeVar("T")
Steps: TypeAlias = Generator[Any, Any, T]

#: Rows that wait in memory before they become a part.
PART = 25_000
#: How far a sync goes back behind the newest generation that it knows: clocks and commits differ.
OVERLAP = timedelta(minutes=5)
#: Seconds between two looks at a lock that another notebook holds.
_PATIENCE = 0.2


@dataclass(frozen=True, slots=True)
class Page:
    """One answer: its body, and the path of the next one, if any."""

    content: bytes
    following: str | None = None


class Source(Protocol):
    """Where generations come from; each method returns a flow."""

    def page(self, query: Mapping[str, Any], path: str | None) -> Steps[Page]:
        """Ask for the page at a path, or for the first page of a query."""

    def one(self, generation_id: str) -> Steps[bytes]:
        """Ask for one generation and return the body of the answer."""

    def models(self) -> Steps[Mapping[str, wire.Model]]:
        """Return the models by id, for estimates."""

    def receipts(self) -> charges.Receipts:
        """Return what starts were charged, by id."""

    def rest(self, seconds: float) -> Steps[None]:
        """Let some time pass."""


@dataclass(frozen=True, slots=True, repr=False)
class Synced:
    """What a sync brought.

    Parameters
    ----------
    added : int
        Generations that are finished now and were not in the store.
    running : int
        Generations that are not finished yet.
    rows : int
        Finished generations in the store.
    pages : int
        Answers that it took.
    fetched : int
        Generations in those answers, known ones among them.
    through : datetime or None
        When the oldest generation of the last page was made; falls while a sync goes on.
    """

    added: int = 0
    running: int = 0
    rows: int = 0
    pages: int = 0
    fetched: int = 0
    through: datetime | None = None

    def __repr__(self) -> str:
        return f"<Synced {self.added:,} new · {self.running:,} running · {self.rows:,} kept>"


OnUpdate: TypeAlias = Callable[[Synced], None]


def synced(
    store: Store,
    source: Source,
    *,
    on_update: OnUpdate = lambda _: None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Steps[Synced]:
    """Bring a store up to date and return what that brought.

    Another notebook that syncs the same store is waited for.

    Parameters
    ----------
    on_update : callable
        Called after each page.
    now : callable
        The clock.
    """
    lock = store.lock()
    while not lock.taken():
        yield from source.rest(_PATIENCE)
    try:
        run = _Run(store, source, on_update)
        try:
            yield from run.all()
        except BaseException:
            run.flush()  # also what a stop button interrupts is kept
            raise
        finally:
            run.malformed.warn()
        return run.finish(now())
    finally:
        lock.free()


class _Run:
    """One sync: what was fetched and is not on disk yet, and where it stands."""

    def __init__(self, store: Store, source: Source, on_update: OnUpdate) -> None:
        self._store = store
        self._source = source
        self._on_update = on_update
        self.malformed = MalformedValues()
        self.manifest = store.manifest()
        before = store.running(self.manifest)
        self._running = {row["id"]: row for row in before.to_pylist()}
        self._open = set(self._running)  # of an earlier sync, not seen in this one
        self._waiting: list[pa.Table] = []
        self._told = Synced(rows=sum(self.manifest.parts.values()))
        since = _earlier(self.manifest.top)
        self._gaps = [Gap(since), *self.manifest.gaps]

    def all(self) -> Steps[None]:
        while self._gaps:
            yield from self._gap()
            self._gaps.pop(0)
        for generation_id in sorted(self._open):
            try:
                body = yield from self._source.one(generation_id)
            except NotFoundError:
                del self._running[generation_id]
                continue
            yield from self._take(pages.read_table([b"[" + body + b"]"], self.malformed))

    def flush(self) -> None:
        """Make a part of what waits, and remember where to go on."""
        parts = dict(self.manifest.parts)
        if self._waiting:
            fresh = self._store.unknown(pa.concat_tables(self._waiting), self.manifest)
            if fresh.num_rows:
                parts |= self._store.written(fresh)
            added = self._told.added + fresh.num_rows
            self._told = replace(self._told, added=added, rows=sum(parts.values()))
        running = pa.Table.from_pylist(list(self._running.values()), schema=GENERATIONS)
        self.manifest = replace(
            self.manifest,
            parts=parts,
            running=next(iter(self._store.written(running))) if running.num_rows else None,
            # one without a path is what every sync begins with
            gaps=tuple(gap for gap in self._gaps if gap.path is not None),
        )
        self._waiting = []
        self._store.commit(self.manifest)

    def finish(self, moment: datetime) -> Synced:
        self.flush()
        kept = replace(self.manifest, synced_at=moment.isoformat())
        self._store.commit(replace(kept, parts=self._store.compacted(kept)))
        self._store.sweep()
        return replace(self._told, running=len(self._running), through=None)

    def _gap(self) -> Steps[None]:
        """Fetch a gap from its newest page to its oldest."""
        while True:
            page = yield from self._page(self._gaps[0])
            table = pages.read_table([page.content], self.malformed)
            yield from self._take(table)
            last = page.following is None or not table.num_rows or self._reached(table)
            if not last:  # before anything else: an interruption goes on from here
                self._gaps[0] = replace(self._gaps[0], path=page.following)
            self._see(table)
            if last:
                return
            if sum(t.num_rows for t in self._waiting) >= PART:
                self.flush()

    def _page(self, gap: Gap) -> Steps[Page]:
        """Ask for a page; what the service does not know is left out of the second attempt."""
        query = {"limit": 1000, "created_after": gap.since and datetime.fromisoformat(gap.since)}
        try:
            return (yield from self._source.page(query, gap.path))
        except (BadRequestError, NotFoundError):
            if gap.path is None:
                return (yield from self._source.page({}, None))
        try:  # a page that was remembered for too long
            return (yield from self._source.page(query, None))
        except (BadRequestError, NotFoundError):
            return (yield from self._source.page({}, None))

    def _take(self, table: pa.Table) -> Steps[None]:
        """Keep what is finished for a part, and what runs for the next sync."""
        ids = set(table["id"].to_pylist())
        self._open -= ids
        for generation_id in ids & self._running.keys():
            del self._running[generation_id]
        running = pc.equal(table["status"], "processing")
        for row in table.filter(running).to_pylist():
            self._running[row["id"]] = row
        done = table.filter(pc.invert(running))
        if done.num_rows:
            models: Mapping[str, wire.Model] = {}
            receipts = self._source.receipts() if not charges.complete(done) else {}
            if not charges.complete(charges.fill_credits(done, receipts, {})):
                models = yield from self._source.models()
            self._waiting.append(charges.fill_credits(done, receipts, models))

    def _see(self, table: pa.Table) -> None:
        """Note how far it got, for the next sync and for whoever watches."""
        ends = pc.min_max(table["created_at"])
        oldest, newest = ends["min"].as_py(), ends["max"].as_py()
        if newest is not None:
            top = max(filter(None, (self.manifest.top, newest.isoformat())))
            self.manifest = replace(self.manifest, top=top)
        waiting = sum(t.num_rows for t in self._waiting)
        fetched = self._told.fetched + table.num_rows
        self._told = replace(
            self._told, pages=self._told.pages + 1, fetched=fetched, through=oldest
        )
        self._on_update(
            replace(self._told, rows=self._told.rows + waiting, running=len(self._running))
        )

    def _reached(self, table: pa.Table) -> bool:
        """Whether a service that does not filter by time has shown all that is new."""
        since = self._gaps[0].since
        moments = table["created_at"]
        if since is None or moments.null_count:
            return False
        falling = pc.all(pc.less_equal(moments[1:], moments[:-1])).as_py()
        oldest = moments[-1].as_py()
        return falling is not False and oldest < datetime.fromisoformat(since)


def _earlier(top: str | None) -> str | None:
    return None if top is None else (datetime.fromisoformat(top) - OVERLAP).isoformat()
