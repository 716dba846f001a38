"""The shelf: where a studio's synced history lies, and how it is brought up to date.

One folder for a service and an account. The account is asked for once; after that the shelf is
found without the service, by a hash of the key.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kit import wire
from kit.client import answers, calls, flows
from kit.client.calls import Call
from kit.client.settings import Settings
from kit.client.steps import Flow, Reply, Sleep
from kit.errors import KitError
from kit.studio.desk import Desk
from kit.widgets.progress import progress

if TYPE_CHECKING:
    import pyarrow as pa

    from kit.client.aio import AsyncClient
    from kit.client.sync import Client
    from kit.explore.archive import Archive
    from kit.explore.asked import Asked
    from kit.explore.syncing import OnUpdate, Page, Synced

#: Pages after which a sync shows that it goes on, where it was not asked for by name.
_QUIET_PAGES = 3


class Shelf:
    """The flows of a studio's archive; the same for both faces."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._account: str | None = None

    def archive(self) -> Flow[Archive]:
        """Return the archive as the last sync left it."""
        from kit.explore.archive import Archive
        from kit.explore.store import Store

        account = yield from self._owner()
        return Archive(Store(_folder(self._desk.settings) / _hash(account)))

    def sync(self, on_update: OnUpdate = lambda _: None) -> Flow[Synced]:
        """Bring the archive up to date."""
        from kit.explore.syncing import synced

        archive = yield from self.archive()
        return (yield from synced(archive.store, self, on_update=on_update))

    def newest(self, limit: int, choice: Asked) -> Flow[pa.Table]:
        """Return the newest generations of a choice, page by page until there are enough."""
        import pyarrow as pa

        from kit.explore import batches, charges

        query: Mapping[str, Any] = choice.query(limit)
        path: str | None = None
        tables = [batches.table([])]
        while True:
            page = yield from self.page(query, path)
            found = batches.table([page.content])
            tables.append(choice.matching(found))
            path = page.following
            if path is None or not found.num_rows or sum(t.num_rows for t in tables) >= limit:
                break
        whole = pa.concat_tables(tables).slice(0, limit)
        if charges.complete(whole):
            return whole
        receipts = self.receipts()
        models = {} if charges.complete(whole) else (yield from self.models())
        return charges.filled(whole, receipts, models)

    def page(self, query: Mapping[str, Any], path: str | None) -> Flow[Page]:
        """Ask for a page and return its bytes; they are read where the table is made."""
        from kit.explore.syncing import Page

        call: Call[Any] = calls.list_generations(**query)
        if path is not None:
            call = Call("GET", path, call.answer)
        reply: Reply = yield from flows.exchange(call)
        following = answers.next_link(reply.headers.get("link"))
        return Page(reply.content, following if following != call.path else None)

    def one(self, generation_id: str) -> Flow[bytes]:
        """Ask for a generation and return the bytes of the answer."""
        reply: Reply = yield from flows.exchange(calls.get_generation(generation_id))
        return reply.content

    def models(self) -> Flow[Mapping[str, wire.Model]]:
        """Return the models; none where the service does not say."""
        try:
            return (yield from self._desk.models())
        except KitError:
            return {}

    def receipts(self) -> Mapping[str, Decimal]:
        """Return what this computer's starts were charged."""
        return self._desk.journal.credits()

    def rest(self, seconds: float) -> Flow[None]:
        """Let some time pass."""
        yield Sleep(seconds)

    def _owner(self) -> Flow[str]:
        """Return the id of the account, from an earlier answer where there is one."""
        if self._account is None:
            file = _folder(self._desk.settings) / "accounts.json"
            known = _read(file)
            key = _hash(self._desk.settings.api_key)
            if key not in known:
                found = yield from flows.ask(calls.get_account())
                known = {**known, key: found.id}
                _write(file, known)
            self._account = known[key]
        return self._account


class Kept:
    """The blocking face of a shelf."""

    def __init__(self, client: Client, desk: Desk) -> None:
        self._client = client
        self._shelf = Shelf(desk)

    def sync(self, *, show: bool) -> Synced:
        """Bring the archive up to date."""
        with _Telling(self._client.settings, show) as tell:
            return self._client.run(self._shelf.sync(tell))

    def archive(self) -> Archive:
        """Return the archive as it is."""
        return self._client.run(self._shelf.archive())

    def newest(self, limit: int, choice: Asked) -> pa.Table:
        """Return the newest generations of a choice, from the service."""
        return self._client.run(self._shelf.newest(limit, choice))


class AsyncKept:
    """The awaited face of a shelf."""

    def __init__(self, client: AsyncClient, desk: Desk) -> None:
        self._client = client
        self._shelf = Shelf(desk)

    async def sync(self, *, show: bool) -> Synced:
        """Bring the archive up to date."""
        with _Telling(self._client.settings, show) as tell:
            return await self._client.run(self._shelf.sync(tell))

    async def archive(self) -> Archive:
        """Return the archive as it is."""
        return await self._client.run(self._shelf.archive())

    async def newest(self, limit: int, choice: Asked) -> pa.Table:
        """Return the newest generations of a choice, from the service."""
        return await self._client.run(self._shelf.newest(limit, choice))


class _Telling:
    """A line of progress; one that nobody asked for appears only when it takes long."""

    def __init__(self, settings: Settings, show: bool) -> None:
        self._enabled = settings.progress
        self._line: Any = None
        self._update: Any = None
        if show:
            self._begin()

    def __enter__(self) -> OnUpdate:
        return self.told

    def __exit__(self, *_: object) -> None:
        if self._line is not None:
            self._line.__exit__(None, None, None)

    def told(self, so_far: Synced) -> None:
        if self._line is None and so_far.pages > _QUIET_PAGES:
            self._begin()
        if self._update is not None:
            self._update(wire.Generation(id="", progress=None))

    def _begin(self) -> None:
        self._line = progress("history", enabled=self._enabled)
        self._update = self._line.__enter__()


def _folder(settings: Settings) -> Path:
    """Return the folder of a service: by its name where it has one, because ports change."""
    return settings.data / "notebook" / "history" / _hash(settings.name or settings.base_url)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _read(file: Path) -> dict[str, str]:
    try:
        found: Any = json.loads(file.read_text("utf-8"))
        return found if isinstance(found, dict) else {}
    except (FileNotFoundError, ValueError):
        return {}


def _write(file: Path, known: Mapping[str, str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = file.with_name(f"{file.name}.{datetime.now(UTC).timestamp()}")
    draft.write_text(json.dumps(known), encoding="utf-8")
    draft.chmod(0o600)
    draft.replace(file)
