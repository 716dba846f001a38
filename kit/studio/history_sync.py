"""The synced archive, one folder per service and account, and how it is updated.

The account is known from an earlier response, by a hash of the key, so that the data on this
computer is found without the service.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from kit import wire
from kit.client import answers, calls, flows
from kit.client.calls import Call, Flow, Reply, Sleep, failure_reason
from kit.client.journal import Journal
from kit.client.settings import Settings, hash_text
from kit.errors import KitError, require_extra
from kit.explore.filters import ALL, PAGE, HistoryFilter, check_words
from kit.parameters import check_limit
from kit.private import make_folder, write_private
from kit.widgets.markup import count_of
from kit.widgets.progress import ProgressUpdates

if TYPE_CHECKING:
    import pandas as pd

    from kit.explore.archive import Archive
    from kit.explore.syncing import Page, Start, Synced

_log = logging.getLogger("kit")
_SHORT_LIST_WARNING = (
    "the service lists only its newest %d generations, and %s more were started here; "
    "studio.history.frame() without a limit has them too"
)
#: Number of pages after which progress is shown, unless the sync was requested by name.
_QUIET_PAGES = 3
#: Called with what is read (``history`` or ``ledger``) and its progress.
OnProgress: TypeAlias = "Callable[[str, Synced], None]"
#: Takes a label and returns a progress line, shown while it is open.
ShowProgress: TypeAlias = Callable[..., AbstractContextManager[ProgressUpdates]]


@dataclass(slots=True, repr=False, eq=False)
class HistorySync:
    """The flows of a studio's archive, shared by both faces."""

    _settings: Settings
    _models: Callable[[], Flow[dict[str, wire.Model]]]
    _journal: Journal
    _progress: ShowProgress
    #: Whether the service has a ledger; None if it was not asked yet.
    has_ledger: bool | None = None
    _account: str | None = None

    def archive(self) -> Flow[Archive]:
        """Return the archive as of the last sync."""
        account = yield from self._find_account()
        return open_archive(self._settings, account)

    def current(
        self,
        *,
        sync: bool = True,
        usage: bool = False,
        choice: HistoryFilter | None = None,
        quiet: bool = False,
    ) -> Flow[Archive]:
        """Return the archive, after a sync unless `sync` is False.

        The ledger is synced from the first call with `usage` on. An invalid `choice` is an error.
        Progress is shown if the sync takes long, unless `quiet`.
        """
        if sync:
            show = partial(self._progress, enabled=False) if quiet else self._progress
            with show_progress(show) as on_progress:
                yield from self.sync(on_progress, usage=usage)
        if choice is not None:
            yield from self.check(choice)
        return (yield from self.archive())

    def ledger_of(self, archive: Archive) -> bool | None:
        """Return whether the ledger is in an archive; None if it was never synced."""
        is_known = self.has_ledger is not None or not archive.store.manifest().usage.parts
        return self.has_ledger if is_known else True

    def sync(self, on_progress: OnProgress, *, usage: bool = False) -> Flow[Synced]:
        """Sync the archive with the service.

        Raises `KitError` if the archive cannot be written or is damaged; existing data is kept.
        """
        with require_extra("history", "the synced history"):
            from pyarrow import ArrowInvalid

            from kit.explore.syncing import sync_generations, sync_usage

        folder = self._settings.records_folder("history")
        on_page, on_ledger = partial(on_progress, "history"), partial(on_progress, "ledger")
        try:
            store = (yield from self.archive()).store
            found = yield from sync_generations(store, self, on_update=on_page)
            if self.has_ledger is not False and (usage or store.manifest().usage.parts):
                self.has_ledger = yield from sync_usage(store, self, on_update=on_ledger)
        except (ArrowInvalid, FileNotFoundError) as error:
            advice = (
                f"remove that folder, and it is fetched again ({str(error).partition(chr(10))[0]})"
            )
            raise KitError(f"the history in {folder} is damaged: {advice}") from None
        except OSError as error:
            why = os.strerror(error.errno) if error.errno else failure_reason(error)
            sentence = f"the history cannot be written to {folder}: {why}"
            raise KitError(f"{sentence}; sync=False reads it without update") from None
        return found

    def list_newest(self, limit: int | None, choice: HistoryFilter) -> Flow[list[wire.Generation]]:
        """Return the newest generations of a filter, at most `limit`; None returns all."""
        found = yield from self._list(limit, choice)
        if not found:
            yield from self.check(choice)
        return found

    def newest(self, limit: int, choice: HistoryFilter, *columns: Any) -> Flow[pd.DataFrame]:
        """Return the same as a frame of `Columns`, read from the bytes of the responses."""
        with require_extra("history", "a dataframe of the history"):
            import pyarrow as pa
            import pyarrow.compute as pc

            from kit.explore import arrow, charges, pages

        wanted = arrow.Columns(*columns)
        contents: list[bytes] = []
        listed = yield from self._list(limit, choice, contents.append)
        yield from self.check(choice, listed)
        malformed = pages.MalformedValues()
        tables = [pages.read_table(content, malformed) for content in contents or [b"[]"]]
        table = charges.fill_tags(pa.concat_tables(tables), self.tags())
        malformed.warn()
        ids = pa.array([one.id for one in listed], pa.string())
        selected = table.take(pc.index_in(ids, value_set=table["id"].combine_chunks()).drop_null())
        if not charges.is_complete(selected):
            models = yield from self.models()
            selected = charges.fill_credits(selected, self._journal.credits(), models)
        return wanted.frame(selected)

    def _list(
        self,
        limit: int | None,
        choice: HistoryFilter,
        on_page: Callable[[bytes], object] = lambda _: None,
    ) -> Flow[list[wire.Generation]]:
        limit = check_limit(limit)
        query = choice.query(limit, tags=self._settings.ours)
        if choice != ALL and not self._settings.ours:
            query["limit"] = PAGE  # it may support no filters
        call = calls.list_generations(**query)

        def read(content: bytes) -> list[wire.Generation]:
            on_page(content)
            return call.parse(content)

        def keep(one: wire.Generation) -> bool:
            return choice.matches(one, self._journal.find_tags(one))

        found = yield from flows.list_all(replace(call, parse=read), limit, keep, choice.is_older)
        if choice == ALL:
            self.warn_of_short_list([one.id for one in found], limit)
        return found

    def page(self, query: Mapping[str, Any], path: str | None) -> Flow[Page]:
        """Fetch a page and return its bytes, parsed later when the table is made."""
        return (yield from self._page(calls.list_generations(**query), path))

    def check(self, choice: HistoryFilter, found: Sequence[wire.Generation] = ()) -> Flow[None]:
        """Check that the models and asset types of a filter exist in history, catalog or `found`.

        Raises `BadRequestError` with the closest name.
        """
        words = {"model_id": choice.model, "asset_type": choice.asset_type}
        if not any(words.values()):
            return
        archive = yield from self.archive()
        catalog = (yield from self.models()).values()
        offered = {
            "model_id": [m.id for m in catalog],
            "asset_type": [m.asset_type for m in catalog],
        }
        for column, chosen in words.items():
            listed = [getattr(one, column) for one in found]
            known = {*offered[column], *listed, *(archive.words(column) if chosen else ())}
            check_words(column, chosen, known)

    def warn_of_short_list(self, listed: Sequence[str], limit: int | None) -> None:
        """Log if a list is shorter than requested and lacks generations started here."""
        if limit is not None and len(listed) >= limit:
            return
        own_keys = self._own_keys()
        started = {entry.id for entry in self._journal.entries() if entry.by in own_keys}
        if missing := len(started.difference(listed)):
            _log.warning(_SHORT_LIST_WARNING, len(listed), f"{missing:,}")

    def usage(self, path: str | None) -> Flow[Page | None]:
        """Fetch a page of the ledger; None if the service has none."""
        try:
            return (yield from self._page(calls.list_usage(limit=1000), path))
        except answers.UNKNOWN_PATH:
            if path is not None:
                raise
            return None

    def receipts(self) -> Mapping[str, Decimal]:
        """Return the charges of this computer's starts."""
        return self._journal.credits()

    def tags(self) -> Mapping[str, Mapping[str, str]]:
        """Return the tags of this computer's starts."""
        return self._journal.tags()

    def starts(self, after: str | None = None) -> list[Start]:
        """Return the starts from this computer at the service, after a given one."""
        from kit.explore.syncing import Start

        own_keys = self._own_keys()
        return [
            Start(
                id=entry.id,
                at=entry.at,
                model_id=entry.model_id,
                credits=None if entry.credits is None else Decimal(entry.credits),
                state=None if entry.state == "processing" else entry.state,
                is_own=entry.by in own_keys,
            )
            for entry in self._journal.entries(after)
        ]

    def _own_keys(self) -> set[str]:
        """Return hashes of the keys known to belong to this account."""
        accounts = _read(_accounts(self._settings))
        own = self._settings.key_hash
        return {own, *(key for key, account in accounts.items() if account == accounts.get(own))}

    def fetch_one(self, generation_id: str) -> Flow[bytes]:
        """Fetch a generation and return the bytes of the response."""
        reply: Reply = yield from flows.exchange(calls.get_generation(generation_id))
        return reply.content

    def models(self) -> Flow[Mapping[str, wire.Model]]:
        """Return the models; empty if they cannot be fetched."""
        try:
            return (yield from self._models())
        except KitError:
            return {}

    def sleep(self, seconds: float) -> Flow[None]:
        """Sleep for some seconds."""
        yield Sleep(seconds)

    def _page(self, call: Call[Any], path: str | None) -> Flow[Page]:
        from kit.explore.syncing import Page

        if path is not None:
            call = Call("GET", path, call.parse)
        reply, following = yield from flows.fetch_rows(call)
        return Page(reply.content, following.path if following else None)

    def _find_account(self) -> Flow[str]:
        """Return the id of the account, from an earlier response if possible."""
        if self._account is None:
            if (account := known_account(self._settings)) is None:
                account = (yield from flows.ask(calls.get_account())).id
                file = _accounts(self._settings)
                make_folder(file.parent)
                write_private(file, json.dumps({**_read(file), self._settings.key_hash: account}))
            self._account = account
        return self._account


@contextmanager
def show_progress(progress: ShowProgress, label: str = "") -> Iterator[OnProgress]:
    """Yield a callback that shows the progress of a sync in a line until the block ends.

    It shows no percentage, because lists of a service do not report their length. With a `label`
    the line is shown at once, because the sync was requested by name; otherwise after a while.
    """
    began: dict[str, float] = {}
    now = time.monotonic()
    with ExitStack() as shown:
        line = shown.enter_context(progress(label)) if label else None

        def update(what: str, so_far: Synced) -> None:
            nonlocal line, now
            # one line shows the readings one after another: each has its own rate
            start = began.setdefault(what, now)
            if line is None and so_far.pages > _QUIET_PAGES:
                line = shown.enter_context(progress(what))
            now = time.monotonic()
            if line is not None:
                line.show_text(describe_progress(what, so_far, now - start))

        yield update


def describe_progress(what: str, so_far: Synced, seconds: float) -> str:
    """Return the progress of a sync as a text."""
    rate = f"{so_far.fetched / max(seconds, 0.001):,.0f} rows/s"
    back = [f"back to {so_far.through:%Y-%m-%d}"] if so_far.through else []
    counts = count_of(so_far.fetched, "row"), count_of(so_far.pages, "page")
    return f"{what}: {' · '.join([*counts, rate, *back])}"


def open_archive(settings: Settings, account: str) -> Archive:
    """Return the archive of an account as of the last sync; it may be empty."""
    with require_extra("history", "the synced history"):
        from kit.explore.archive import Archive
        from kit.explore.store import Store

    return Archive(Store(settings.records_folder("history") / hash_text(account)))


def known_account(settings: Settings) -> str | None:
    """Return the id of the key's account, if it was reported before."""
    return _read(_accounts(settings)).get(settings.key_hash)


def _accounts(settings: Settings) -> Path:
    return settings.records_folder("history") / "accounts.json"


def _read(file: Path) -> dict[str, str]:
    try:
        found: Any = json.loads(file.read_text("utf-8"))
        return found if isinstance(found, dict) else {}
    except (FileNotFoundError, ValueError):
        return {}
