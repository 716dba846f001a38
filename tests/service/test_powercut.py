"""A power failure: writes that were not synced are lost, acknowledged ones are not.

The test is strict: a virtual file system keeps, beside each file, a shadow that contains only
synced writes. A restart finds the shadows.
"""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from kit.engines.base import Definition
from kit.service.domain import accounts, catalog, credits, generations, keys, queue
from kit.service.machine import clock
from kit.service.storage.local import LocalStorage
from kit.service.storage.signing import Signer
from kit.service.store.sqlite import SQLite
from kit.wire import Rule, StartGeneration

NAME = "forgets-what-was-not-synced"
SECRET = b"s" * 32
STARTS = 300


class Shadow:
    """The synced content of each file."""

    def __init__(self) -> None:
        self.files: dict[str, bytearray] = {}
        self.syncs = 0


class ForgetfulFile(apsw.VFSFile):
    """A file whose writes reach the shadow only when they are synced."""

    def __init__(self, shadow: Shadow, name: Any, flags: list[int]) -> None:
        super().__init__("", name, flags)
        path = name.filename() if hasattr(name, "filename") else str(name)
        self._shadow = shadow
        self._name = Path(path).name
        self._waiting: list[tuple[int | None, Any]] = []
        shadow.files.setdefault(self._name, bytearray())

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - SQLite's name
        self._waiting.append((offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:  # noqa: N802 - SQLite's name
        self._waiting.append((None, size))
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
        super().xSync(flags)
        self._shadow.syncs += 1
        content = self._shadow.files[self._name]
        for offset, data in self._waiting:
            if offset is None:
                del content[data:]
                continue
            content.extend(bytes(max(0, offset - len(content))))
            content[offset : offset + len(data)] = data
        self._waiting.clear()


class ForgetfulDisk(apsw.VFS):
    """A file system of forgetful files."""

    def __init__(self) -> None:
        self.shadow = Shadow()
        super().__init__(NAME, "")

    def xOpen(self, name: Any, flags: list[int]) -> ForgetfulFile:  # noqa: N802 - SQLite's name
        return ForgetfulFile(self.shadow, name, flags)

    def xDelete(self, name: str, sync: bool) -> None:  # noqa: N802 - SQLite's name
        self.shadow.files.pop(Path(name).name, None)
        super().xDelete(name, sync)


@pytest.fixture
def disk() -> Iterator[ForgetfulDisk]:
    disk = ForgetfulDisk()
    yield disk
    disk.unregister()


def load_catalog() -> catalog.Catalog:
    flat = Definition(
        id="flat",
        title="Flat",
        asset_type="image",
        category="Fast",
        description="",
        pricing=Rule.model_validate({"base": 0.5}),
    )
    return catalog.load([flat])


async def run_session(database: SQLite) -> tuple[str, str, set[str]]:
    """Create an account and a key, and start generations from many callers at once."""
    account = await database.write(accounts.create("Ada", "a@b", 10**6, clock()))
    request = keys.KeyRequest(account_id=account.id, name="n", scopes=("creative:generate",))
    key = await database.write(keys.create(request, SECRET, clock()))
    caller = await database.read(keys.find_caller(key.text, SECRET, clock()))
    order = StartGeneration(model_id="flat", prompt="a lake")
    plan = await database.read(generations.plan(load_catalog(), order, account.id))

    async def start() -> str:
        started = await database.write(generations.start(plan, caller.payer, clock()))
        return str(started.id)

    ids = await asyncio.gather(*(start() for _ in range(STARTS)))
    return account.id, key.text, set(ids)


def restart(shadow: Shadow, folder: Path) -> SQLite:
    """Return the database as a restart finds it."""
    folder.mkdir()
    for name, content in shadow.files.items():
        if not name.endswith("-shm"):
            (folder / name).write_bytes(content)
    return SQLite(folder / "kit.db")


def test_no_acknowledged_charge_or_key_is_lost(disk: ForgetfulDisk, tmp_path: Path) -> None:
    async def work() -> None:
        database = SQLite(tmp_path / "kit.db", vfs=NAME)
        account, key, ids = await run_session(database)
        after = restart(disk.shadow, tmp_path / "after")
        try:
            rows = await after.read(generations.page(account, most=1000))
            caller = await after.read(keys.find_caller(key, SECRET, clock()))
            balance = await after.read(accounts.get(account))
            entries = await after.read(credits.list_entries(account, most=1000, before=None))
            unbalanced = await after.read(credits.verify())
        finally:
            await after.close()
            await database.close()

        assert {row.id for row in rows} == ids
        assert caller.account_id == account
        assert balance.balance == 10**6 - 500 * STARTS
        assert len([e for e in entries if e.kind == "generation"]) == STARTS
        assert unbalanced == []
        # Many callers shared each sync: a group commit.
        assert disk.shadow.syncs < STARTS

    asyncio.run(work())


def test_a_charge_after_a_write_that_is_not_durable_is_not_lost(
    disk: ForgetfulDisk, tmp_path: Path
) -> None:
    async def work() -> None:
        database = SQLite(tmp_path / "kit.db", vfs=NAME)
        account = await database.write(accounts.create("Ada", "a@b", 0, clock()))
        for amount in (100, 20, 3):
            # A claim, as a dispatcher makes it between two charges.
            claim = queue.claim("worker", 1, lease=0, now=clock())
            await database.write(claim, durable=False)
            await database.write(credits.grant(account.id, amount, clock()))
        after = restart(disk.shadow, tmp_path / "after")
        try:
            row = await after.read(accounts.get(account.id))
            unbalanced = await after.read(credits.verify())
        finally:
            await after.close()
            await database.close()

        assert row.balance == 123
        assert unbalanced == []

    asyncio.run(work())


def test_without_syncs_everything_is_lost(disk: ForgetfulDisk, tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / "kit.db"), vfs=NAME)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = OFF")
    before = {name: bytes(content) for name, content in disk.shadow.files.items()}
    connection.execute("CREATE TABLE t (x)")
    after = {name: bytes(content) for name, content in disk.shadow.files.items() if content}
    connection.close()

    assert after == {name: content for name, content in before.items() if content}


def test_a_stored_file_is_flushed_with_all_its_folders(tmp_path: Path) -> None:
    flushed: list[tuple[str, bool]] = []
    root = tmp_path / "objects"
    target = root / "outputs" / "gen_1" / "a.png"

    def flush(path: Path) -> None:
        flushed.append((path.name, target.exists()))

    storage = LocalStorage(root, Signer(SECRET), flush)
    draft = tmp_path / "draft.part"
    draft.write_bytes(b"x")

    asyncio.run(storage.keep({"outputs/gen_1/a.png": draft}))

    # Its bytes first, then every folder of its path.
    assert flushed == [("a.png", True), ("gen_1", True), ("outputs", True), ("objects", True)]
    assert target.read_bytes() == b"x"
