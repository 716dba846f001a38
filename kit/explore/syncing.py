"""Syncing: pages of a service become parts of the store; only new rows are fetched.

It is a flow that both faces run: pages come from functions that return flows, so this module knows
nothing about HTTP. Rows fetched before an interruption are kept, with the next page to fetch; the
next sync begins with the newest rows and then fills the gap.
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
from kit.errors import AccessDeniedError, BadRequestError, InsufficientScopeError, NotFoundError
from kit.explore import charges, pages
from kit.explore.arrow import GENERATIONS, USAGE
from kit.explore.charges import fill_tags
from kit.explore.filters import PAGE
from kit.explore.pages import MalformedValues
from kit.explore.store import Gap, Listing, Store

T = TypeVar("T")
_log = logging.getLogger("kit")
Steps: TypeAlias = Generator[Any, Any, T]

#: Number of rows kept in memory before they are written as a part.
PART = 25_000
#: How far a sync goes back behind the newest known row: clocks and commits differ.
OVERLAP = timedelta(minutes=5)
_UNLISTED = (
    "the service lists only its newest generations: %s of those that this computer started were "
    "asked for one by one; what was started elsewhere before is not in this history"
)
_CAPPED = (
    "the list of %s ends after %d rows and does not reach what was known: what was made between "
    "%s and %s may be missing in this history"
)
#: Seconds between attempts to get a lock that another notebook holds.
_LOCK_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Page:
    """One page: the body of the response, and the path of the next page, if any."""

    content: bytes
    following: str | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """A generation started from this computer, as its journal knows it."""

    id: str
    at: str
    model_id: str | None = None
    credits: Decimal | None = None
    state: str | None = None  # final state, if known
    is_own: bool = False  # certainly of this account: accounts of a service share a journal


class Source(Protocol):
    """The source of generations and ledger; methods that return `Steps` are flows."""

    def page(self, query: Mapping[str, Any], path: str | None) -> Steps[Page]:
        """Fetch the page of generations at a path, or the first page of a query."""

    def usage(self, path: str | None) -> Steps[Page | None]:
        """Fetch a page of the ledger, newest entries first; None if the service has none."""

    def fetch_one(self, generation_id: str) -> Steps[bytes]:
        """Fetch one generation and return the body of the response."""

    def models(self) -> Steps[Mapping[str, wire.Model]]:
        """Return the models by id, for estimates."""

    def receipts(self) -> Mapping[str, Decimal]:
        """Return the charges of starts, by generation id."""

    def tags(self) -> Mapping[str, Mapping[str, str]]:
        """Return the tags of starts, by generation id."""

    def starts(self, after: str | None = None) -> Sequence[Start]:
        """Return the starts from this computer after a given one, oldest first."""

    def sleep(self, seconds: float) -> Steps[None]:
        """Sleep for some seconds."""


@dataclass(frozen=True, slots=True, repr=False)
class Synced:
    """The result of a sync, as numbers of generations."""

    added: int = 0  # newly finished ones
    running: int = 0  # not finished yet
    rows: int = 0  # finished, in the store
    pages: int = 0  # pages fetched
    fetched: int = 0  # rows on those pages, including known ones
    through: datetime | None = None  # creation time of the oldest row of the last page
    unlisted: int = 0  # started from this computer and stored, but not listed by the service

    def __repr__(self) -> str:
        unlisted = f" · {self.unlisted:,} unlisted" if self.unlisted else ""
        known = f"{self.added:,} new · {self.running:,} running · {self.rows:,} kept"
        return f"<Synced {known}{unlisted}>"


OnUpdate: TypeAlias = Callable[[Synced], None]


def sync_generations(
    store: Store, source: Source, *, on_update: OnUpdate = lambda _: None, part: int = PART
) -> Steps[Synced]:
    """Sync the generations of a store and return the result.

    It waits while another notebook syncs the same store. Generations that were started from this
    computer and are not listed are fetched singly. `on_update` is called after each page.
    """
    return _sync(store, source, lambda: _Generations(store, source, on_update, part))


def sync_usage(
    store: Store, source: Source, *, on_update: OnUpdate = lambda _: None
) -> Steps[bool]:
    """Sync the ledger of a store; return False if the service has none."""
    return _sync(store, source, lambda: _Usage(store, source, on_update))


def _sync(store: Store, source: Source, begin: Callable[[], _Pages[T]]) -> Steps[T]:
    """Sync a list while holding the store's lock."""
    lock = store.lock()
    while not lock.acquire():
        yield from source.sleep(_LOCK_SECONDS)
    try:
        found = begin()
        yield from found.fetch_all()
        return found.finish()
    finally:
        lock.release()


class _Pages(Generic[T]):
    """One list, read from its newest page back to the known rows."""

    #: The list's name in the manifest, its columns, and the function that parses its pages.
    name: str
    schema: pa.Schema
    read: Callable[[bytes, MalformedValues], pa.Table]

    def __init__(self, store: Store, source: Source, on_update: OnUpdate, part: int = PART) -> None:
        self.store = store
        self._part = part
        self.source = source
        self.malformed = MalformedValues()
        self.manifest = store.manifest()
        self.unwritten: list[pa.Table] = []
        self._on_update = on_update
        # Clocks that run ahead give future times; rows made now must still count as new.
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
        """Fetch the next page of a gap."""
        raise NotImplementedError

    def add_page(self, table: pa.Table) -> Steps[None]:
        """Add the rows of a page."""
        raise NotImplementedError

    def complete(self) -> Steps[None]:
        """Fetch rows that the pages did not contain."""
        yield from ()

    def finish(self) -> T:
        """Clean up and return the result of the sync."""
        raise NotImplementedError

    def fetch_all(self) -> Steps[None]:
        """Fetch new rows and the gaps of interrupted syncs; fetched rows are kept."""
        try:
            while self.gaps:
                yield from self._fetch_gap()
                self.gaps.pop(0)
            yield from self.complete()
        except BaseException:
            self.flush()  # also if interrupted
            raise
        finally:
            self.malformed.warn()
        self.flush()

    def flush(self) -> None:
        """Write waiting rows as a part, and save where to continue."""
        parts = dict(self.listing.parts)
        if self.unwritten:
            new = self.store.filter_new(
                pa.concat_tables(self.unwritten).combine_chunks(), self.listing.parts
            )
            if new.num_rows:
                parts |= self.store.write(new)
            added = self.progress.added + new.num_rows
            self.progress = replace(self.progress, added=added, rows=sum(parts.values()))
        # every sync begins with a gap without a path
        gaps = tuple(gap for gap in self.gaps if gap.path is not None)
        self.change(replace(self.listing, parts=parts, gaps=gaps))
        self.unwritten = []
        self.store.commit(self.manifest)

    def change(self, listing: Listing) -> None:
        changes: Any = {self.name: listing}
        self.manifest = replace(self.manifest, **changes)

    def tidy(self) -> None:
        """Merge small parts and delete unused files."""
        self.change(self.store.merge_small(self.listing, self.schema))
        self.store.commit(self.manifest)
        self.store.delete_unused()

    def _fetch_gap(self) -> Steps[None]:
        """Fetch a gap from its newest page to its oldest."""
        paths: set[str | None] = {None}
        path, restarted = self.gaps[0].path, False
        while True:
            try:
                page = yield from self.fetch(replace(self.gaps[0], path=path))
            except (BadRequestError, NotFoundError):
                if restarted or path is None:
                    raise
                # the saved page has expired: start again from the newest one
                path, paths, restarted = None, {None}, True
                continue
            if page is None:
                return
            table = self.read(page.content, self.malformed)
            yield from self.add_page(table)
            # Avoids an endless loop of pages.
            path = page.following
            is_last = path in paths or not table.num_rows or self._has_reached(table)
            paths.add(path)
            if not is_last:  # before anything else: an interrupted sync continues here
                self.gaps[0] = replace(self.gaps[0], path=path)
            self._record_progress(table)
            if is_last:
                self._check_end(page, table)
                return
            if sum(t.num_rows for t in self.unwritten) >= self._part:
                self.flush()

    def _record_progress(self, table: pa.Table) -> None:
        """Record the progress, for the next sync and for the progress line."""
        ends = pc.min_max(table["created_at"])
        oldest, newest = ends["min"].as_py(), ends["max"].as_py()
        if newest is not None:
            top = min(max(filter(None, (self.listing.top, newest.isoformat()))), self._now)
            self.change(replace(self.listing, top=top))
        unwritten = sum(t.num_rows for t in self.unwritten)
        fetched = self.progress.fetched + table.num_rows
        self.progress = replace(
            self.progress, pages=self.progress.pages + 1, fetched=fetched, through=oldest
        )
        self._on_update(replace(self.progress, rows=self.progress.rows + unwritten))

    def _check_end(self, page: Page, table: pa.Table) -> None:
        """Warn if a list ends before it reaches the known rows."""
        known, oldest = self._known, pc.min(table["created_at"]).as_py()
        if page.following is None and known and oldest and oldest.isoformat() > known:
            _log.warning(_CAPPED, self.name, table.num_rows, known[:19], oldest.isoformat()[:19])

    def _has_reached(self, table: pa.Table) -> bool:
        """Whether a list without a time filter has reached the known rows."""
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
    has_ledger = True

    def fetch(self, gap: Gap) -> Steps[Page | None]:
        page = yield from self.source.usage(gap.path)
        self.has_ledger = page is not None
        return page

    def add_page(self, table: pa.Table) -> Steps[None]:
        yield from ()
        self.unwritten.append(fill_tags(table, self.source.tags(), "generation_id"))

    def finish(self) -> bool:
        if self.has_ledger:
            self.tidy()
        return self.has_ledger


class _Generations(_Pages[Synced]):
    """Generations: finished ones never change, the others are fetched again."""

    name = "generations"
    schema = GENERATIONS
    read = staticmethod(pages.read_table)

    def __init__(self, store: Store, source: Source, on_update: OnUpdate, part: int) -> None:
        super().__init__(store, source, on_update, part)
        before = store.running(self.manifest)
        self._running = {row["id"]: row for row in before.to_pylist()}
        self._unfinished = set(self._running)  # from an earlier sync, not seen in this one
        starts = source.starts(self.manifest.journaled)
        self._last_start = starts[-1].id if starts else self.manifest.journaled
        self._new_starts = {start.id: start for start in starts}

    def fetch(self, gap: Gap) -> Steps[Page | None]:
        query = {"limit": PAGE, "created_after": gap.since and datetime.fromisoformat(gap.since)}
        return (yield from self.source.page(query, gap.path))

    def add_page(self, table: pa.Table) -> Steps[None]:
        """Keep finished generations for a part, and running ones for the next sync."""
        expected = self._unfinished | self._new_starts.keys() | self._running.keys()
        for generation_id in expected.intersection(table["id"].to_pylist() if expected else ()):
            self._unfinished.discard(generation_id)
            self._new_starts.pop(generation_id, None)
            self._running.pop(generation_id, None)
        running = pc.equal(table["status"], "processing")
        receipts = {} if charges.is_complete(table) else self.source.receipts()
        filled = charges.fill_credits(table, receipts, {})
        if not (
            charges.is_complete(filled) or charges.is_complete(filled.filter(pc.invert(running)))
        ):
            models = yield from self.source.models()
            filled = charges.fill_credits(table, receipts, models)
        if pc.any(running).as_py():
            self._running |= {row["id"]: row for row in filled.filter(running).to_pylist()}
            filled = filled.filter(pc.invert(running))
        self.progress = replace(self.progress, running=len(self._running))
        if filled.num_rows:
            self.unwritten.append(filled)

    def complete(self) -> Steps[None]:
        """Fetch those that ran at the last sync, and unlisted ones started from here."""
        for generation_id in sorted(self._unfinished):
            if not (yield from self._add_one(generation_id)):
                del self._running[generation_id]
        unlisted = 0
        names = [name for name in self._new_starts if name not in self._running]
        for name in self.store.find_missing(names, self.manifest):
            start = self._new_starts[name]
            found = yield from self._add_one(start.id)
            if not found and start.is_own:
                self.unwritten.append(_from_journal(start))
            unlisted += found or start.is_own
        if unlisted:
            _log.warning(_UNLISTED, f"{unlisted:,}")
        self.manifest = replace(
            self.manifest, journaled=self._last_start, unlisted=self.manifest.unlisted + unlisted
        )

    def flush(self) -> None:
        tags = self.source.tags()
        self.unwritten = [fill_tags(table, tags) for table in self.unwritten]
        running = pa.Table.from_pylist(list(self._running.values()), schema=GENERATIONS)
        running = fill_tags(running, tags)
        file = next(iter(self.store.write(running))) if running.num_rows else None
        self.manifest = replace(self.manifest, running=file)
        super().flush()

    def finish(self) -> Synced:
        self.tidy()
        unlisted = self.manifest.unlisted
        return replace(self.progress, running=len(self._running), through=None, unlisted=unlisted)

    def _add_one(self, generation_id: str) -> Steps[bool]:
        """Add a generation that no page contains; return whether the service knows it."""
        try:
            body = yield from self.source.fetch_one(generation_id)
        except (BadRequestError, NotFoundError, InsufficientScopeError, AccessDeniedError):
            return False  # maybe it is of another account
        yield from self.add_page(self.read(b"[" + body + b"]", self.malformed))
        return True


def _from_journal(start: Start) -> pa.Table:
    """Return a generation as this computer's journal knows it; the service has deleted it."""
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
