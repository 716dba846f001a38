"""Syncing: pages of a service become parts of the store, and only what is new is asked for.

It is a flow that both faces drive: it gets pages through functions that return flows, and knows
nothing of what carries them. What was fetched before an interruption is kept, with the page to go
on with; the next sync begins with what is new and then fills the gap.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from kit import wire
from kit.errors import BadRequestError, NotFoundError
from kit.explore import charges, pages
from kit.explore.arrow import GENERATIONS, USAGE
from kit.explore.charges import fill_tags
from kit.explore.filters import PAGE
from kit.explore.pages import MalformedValues
from kit.explore.store import Gap, Listing, Store

T = TypeVar("T")
_log = logging.getLogger("kit")
Steps: TypeAlias = Generator[Any, Any, T]

#: Rows that wait in memory before they become a part.
PART = 25_000
#: How far a sync goes back behind the newest row that it knows: clocks and commits differ.
OVERLAP = timedelta(minutes=5)
_UNLISTED = (
    "the service lists only its newest generations: %s of those that this computer started were "
    "asked for one by one; what was started elsewhere before is not in this history"
)
_CAPPED = (
    "the list of %s ends after %d rows and does not reach what was known: what was made between "
    "%s and %s may be missing in this history"
)
#: Seconds between two looks at a lock that another notebook holds.
_PATIENCE = 0.2


@dataclass(frozen=True, slots=True)
class Page:
    """One answer: its body, and the path of the next one, if any."""

    content: bytes
    following: str | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """What this computer's journal says of a generation that it has started."""

    id: str
    at: str
    model_id: str | None = None
    credits: Decimal | None = None
    state: str | None = None  # how it ended, where that is known
    mine: bool = False  # certain to be this account's: accounts of a service share a journal


class Source(Protocol):
    """Where generations and the ledger come from; each method but one returns a flow."""

    def page(self, query: Mapping[str, Any], path: str | None) -> Steps[Page]:
        """Ask for the page of generations at a path, or for the first page of a query."""

    def usage(self, path: str | None) -> Steps[Page | None]:
        """Ask for a page of the ledger, the newest first; None where the service has none."""

    def one(self, generation_id: str) -> Steps[bytes]:
        """Ask for one generation and return the body of the answer."""

    def models(self) -> Steps[Mapping[str, wire.Model]]:
        """Return the models by id, for estimates."""

    def receipts(self) -> Mapping[str, Decimal]:
        """Return what starts were charged, by the id of the generation."""

    def tags(self) -> Mapping[str, Mapping[str, str]]:
        """Return what starts were filed under, by the id of the generation."""

    def starts(self, after: str | None = None) -> Sequence[Start]:
        """Return what this computer has started, oldest first, after one of them."""

    def rest(self, seconds: float) -> Steps[None]:
        """Let some time pass."""


@dataclass(frozen=True, slots=True, repr=False)
class Synced:
    """What a sync brought, in generations."""

    added: int = 0  # finished now, and not in the store before
    running: int = 0  # not finished yet
    rows: int = 0  # finished, in the store
    pages: int = 0  # answers that it took
    fetched: int = 0  # in those answers, known ones among them
    through: datetime | None = None  # when the oldest of the last page was made; falls as it goes
    unlisted: int = 0  # in the store because this computer started them, not listed by the service

    def __repr__(self) -> str:
        unlisted = f" · {self.unlisted:,} unlisted" if self.unlisted else ""
        known = f"{self.added:,} new · {self.running:,} running · {self.rows:,} kept"
        return f"<Synced {known}{unlisted}>"


OnUpdate: TypeAlias = Callable[[Synced], None]


def sync_generations(
    store: Store, source: Source, *, on_update: OnUpdate = lambda _: None, part: int = PART
) -> Steps[Synced]:
    """Bring the generations of a store up to date and return what that brought.

    Another notebook that syncs the same store is waited for. What this computer has started and
    the service does not list is asked for one by one. `on_update` is called after each page.
    """
    return _sync(store, source, lambda: _Generations(store, source, on_update, part))


def sync_usage(
    store: Store, source: Source, *, on_update: OnUpdate = lambda _: None
) -> Steps[bool]:
    """Bring the ledger of a store up to date; return False where the service has none."""
    return _sync(store, source, lambda: _Usage(store, source, on_update))


def _sync(store: Store, source: Source, begin: Callable[[], _Pages[T]]) -> Steps[T]:
    """Bring a list up to date, which begins once the store is nobody else's."""
    lock = store.lock()
    while not lock.acquire():
        yield from source.rest(_PATIENCE)
    try:
        found = begin()
        yield from found.bring()
        return found.finish()
    finally:
        lock.release()


class _Pages(Generic[T]):
    """One list, read from its newest page back to what is known."""

    #: Of the list: its place in the manifest, its columns, and what reads its pages.
    name: str
    schema: pa.Schema
    read: Callable[[bytes, MalformedValues], pa.Table]

    def __init__(self, store: Store, source: Source, on_update: OnUpdate, part: int = PART) -> None:
        self.store = store
        self._part = part
        self.source = source
        self.malformed = MalformedValues()
        self.manifest = store.manifest()
        self.waiting: list[pa.Table] = []
        self._on_update = on_update
        # What a clock that is ahead has dated is still to come: what is made now lies before it.
        self._now = datetime.now(UTC).isoformat()
        known = self.listing.top
        self._known = known = known and min(known, self._now)
        since = None if known is None else (datetime.fromisoformat(known) - OVERLAP).isoformat()
        self.gaps = [Gap(since), *self.listing.gaps]
        self.progress = Synced(rows=self.listing.rows)

    @property
    def listing(self) -> Listing:
        found: Listing = getattr(self.manifest, self.name)
        return found

    def fetch(self, gap: Gap) -> Steps[Page | None]:
        """Ask for the page that a gap begins with."""
        raise NotImplementedError

    def take(self, table: pa.Table) -> Steps[None]:
        """Keep what a page holds."""
        raise NotImplementedError

    def complete(self) -> Steps[None]:
        """Ask for what the pages did not hold."""
        yield from ()

    def finish(self) -> T:
        """Tidy up and return what the sync brought."""
        raise NotImplementedError

    def bring(self) -> Steps[None]:
        """Fetch what is new and what an interruption has left; what was fetched is kept."""
        try:
            while self.gaps:
                yield from self._fill()
                self.gaps.pop(0)
            yield from self.complete()
        except BaseException:
            self.flush()  # also what a stop button interrupts is kept
            raise
        finally:
            self.malformed.warn()
        self.flush()

    def flush(self) -> None:
        """Make a part of what waits, and remember where to go on."""
        parts = dict(self.listing.parts)
        if self.waiting:
            fresh = self.store.unknown(
                pa.concat_tables(self.waiting).combine_chunks(), self.listing.parts
            )
            if fresh.num_rows:
                parts |= self.store.write(fresh)
            added = self.progress.added + fresh.num_rows
            self.progress = replace(self.progress, added=added, rows=sum(parts.values()))
        # a gap without a path is what every sync begins with
        gaps = tuple(gap for gap in self.gaps if gap.path is not None)
        self.change(replace(self.listing, parts=parts, gaps=gaps))
        self.waiting = []
        self.store.commit(self.manifest)

    def change(self, listing: Listing) -> None:
        facts: Any = {self.name: listing}
        self.manifest = replace(self.manifest, **facts)

    def tidy(self) -> None:
        """Merge small parts and delete what is not named any more."""
        self.change(self.store.merge_small(self.listing, self.schema))
        self.store.commit(self.manifest)
        self.store.sweep()

    def _fill(self) -> Steps[None]:
        """Fetch a gap from its newest page to its oldest."""
        seen: set[str | None] = {None}
        path, anew = self.gaps[0].path, False
        while True:
            try:
                page = yield from self.fetch(replace(self.gaps[0], path=path))
            except (BadRequestError, NotFoundError):
                if anew or path is None:
                    raise
                # a page that was remembered for too long: once more from the newest one on
                path, seen, anew = None, {None}, True
                continue
            if page is None:
                return
            table = self.read(page.content, self.malformed)
            yield from self.take(table)
            # A list that leads back to itself has no end.
            path = page.following
            last = path in seen or not table.num_rows or self._reached(table)
            seen.add(path)
            if not last:  # before anything else: an interruption goes on from here
                self.gaps[0] = replace(self.gaps[0], path=path)
            self._see(table)
            if last:
                self._check_end(page, table)
                return
            if sum(t.num_rows for t in self.waiting) >= self._part:
                self.flush()

    def _see(self, table: pa.Table) -> None:
        """Note how far it got, for the next sync and for the line of progress."""
        ends = pc.min_max(table["created_at"])
        oldest, newest = ends["min"].as_py(), ends["max"].as_py()
        if newest is not None:
            top = min(max(filter(None, (self.listing.top, newest.isoformat()))), self._now)
            self.change(replace(self.listing, top=top))
        waiting = sum(t.num_rows for t in self.waiting)
        fetched = self.progress.fetched + table.num_rows
        self.progress = replace(
            self.progress, pages=self.progress.pages + 1, fetched=fetched, through=oldest
        )
        self._on_update(replace(self.progress, rows=self.progress.rows + waiting))

    def _check_end(self, page: Page, table: pa.Table) -> None:
        """Warn where a list ends before it has come to what was known of it."""
        known, oldest = self._known, pc.min(table["created_at"]).as_py()
        if page.following is None and known and oldest and oldest.isoformat() > known:
            _log.warning(_CAPPED, self.name, table.num_rows, known[:19], oldest.isoformat()[:19])

    def _reached(self, table: pa.Table) -> bool:
        """Whether a list that is not filtered by time has shown all that is new."""
        since = self.gaps[0].since
        moments = table["created_at"]
        if since is None or moments.null_count:
            return False
        falling = pc.all(pc.less_equal(moments[1:], moments[:-1])).as_py()
        oldest = moments[-1].as_py()
        return falling is not False and oldest < datetime.fromisoformat(since)


class _Usage(_Pages[bool]):
    """The ledger, whose entries never change."""

    name = "usage"
    schema = USAGE
    read = staticmethod(pages.read_usage)
    #: Whether the service has a ledger.
    kept = True

    def fetch(self, gap: Gap) -> Steps[Page | None]:
        page = yield from self.source.usage(gap.path)
        self.kept = page is not None
        return page

    def take(self, table: pa.Table) -> Steps[None]:
        yield from ()
        self.waiting.append(fill_tags(table, self.source.tags(), "generation_id"))

    def finish(self) -> bool:
        if self.kept:
            self.tidy()
        return self.kept


class _Generations(_Pages[Synced]):
    """Generations: finished ones never change, the others are asked for again."""

    name = "generations"
    schema = GENERATIONS
    read = staticmethod(pages.read_table)

    def __init__(self, store: Store, source: Source, on_update: OnUpdate, part: int) -> None:
        super().__init__(store, source, on_update, part)
        before = store.running(self.manifest)
        self._running = {row["id"]: row for row in before.to_pylist()}
        self._open = set(self._running)  # of an earlier sync, not seen in this one
        starts = source.starts(self.manifest.journaled)
        self._last_start = starts[-1].id if starts else self.manifest.journaled
        self._unseen = {start.id: start for start in starts}

    def fetch(self, gap: Gap) -> Steps[Page | None]:
        query = {"limit": PAGE, "created_after": gap.since and datetime.fromisoformat(gap.since)}
        return (yield from self.source.page(query, gap.path))

    def take(self, table: pa.Table) -> Steps[None]:
        """Keep what is finished for a part, and what runs for the next sync."""
        awaited = self._open | self._unseen.keys() | self._running.keys()
        for generation_id in awaited.intersection(table["id"].to_pylist() if awaited else ()):
            self._open.discard(generation_id)
            self._unseen.pop(generation_id, None)
            self._running.pop(generation_id, None)
        running = pc.equal(table["status"], "processing")
        receipts = {} if charges.complete(table) else self.source.receipts()
        filled = charges.fill_credits(table, receipts, {})
        if not (charges.complete(filled) or charges.complete(filled.filter(pc.invert(running)))):
            models = yield from self.source.models()
            filled = charges.fill_credits(table, receipts, models)
        if pc.any(running).as_py():
            self._running |= {row["id"]: row for row in filled.filter(running).to_pylist()}
            filled = filled.filter(pc.invert(running))
        self.progress = replace(self.progress, running=len(self._running))
        if filled.num_rows:
            self.waiting.append(filled)

    def complete(self) -> Steps[None]:
        """Ask for what ran at the last sync, and for what was started here and is not listed."""
        for generation_id in sorted(self._open):
            if not (yield from self._one(generation_id)):
                del self._running[generation_id]
        unlisted = 0
        unseen = [name for name in self._unseen if name not in self._running]
        for name in self.store.missing(unseen, self.manifest):
            start = self._unseen[name]
            found = yield from self._one(start.id)
            if not found and start.mine:
                self.waiting.append(_from_journal(start))
            unlisted += found or start.mine
        if unlisted:
            _log.warning(_UNLISTED, f"{unlisted:,}")
        self.manifest = replace(
            self.manifest, journaled=self._last_start, unlisted=self.manifest.unlisted + unlisted
        )

    def flush(self) -> None:
        tags = self.source.tags()
        self.waiting = [fill_tags(table, tags) for table in self.waiting]
        running = pa.Table.from_pylist(list(self._running.values()), schema=GENERATIONS)
        running = fill_tags(running, tags)
        file = next(iter(self.store.write(running))) if running.num_rows else None
        self.manifest = replace(self.manifest, running=file)
        super().flush()

    def finish(self) -> Synced:
        self.tidy()
        unlisted = self.manifest.unlisted
        return replace(self.progress, running=len(self._running), through=None, unlisted=unlisted)

    def _one(self, generation_id: str) -> Steps[bool]:
        """Take a generation that no page holds; return whether the service knows it."""
        try:
            body = yield from self.source.one(generation_id)
        except NotFoundError:
            return False
        yield from self.take(self.read(b"[" + body + b"]", self.malformed))
        return True


def _from_journal(start: Start) -> pa.Table:
    """Return what this computer alone knows of a generation; the service has forgotten it."""
    credits = None if start.credits is None else float(start.credits)
    row = {
        "id": start.id,
        "status": start.state,
        "model_id": start.model_id or None,
        "credits": credits,
        "net": credits,
        "credits_source": "none" if credits is None else "receipt",
        "created_at": datetime.fromisoformat(start.at),
    }
    return pa.Table.from_pylist([row], schema=GENERATIONS)
