"""A disk that refuses writes: every caller gets an error, and later writes work again."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from kit.errors import UnavailableError
from kit.service.store import accounts
from kit.service.store.database import Examination, Transaction
from kit.service.store.sqlite import SQLite
from tests.conftest import fetch
from tests.service.store.test_sqlite import add, names

NAME = "takes-nothing-when-told"


class FailingDisk(apsw.VFS):
    """Passes calls through to the usual file system, until `error` is set."""

    def __init__(self) -> None:
        self.error: type[apsw.Error] | None = None
        self.allowed = 0
        super().__init__(NAME, "")

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's name
        disk = self

        class File(apsw.VFSFile):
            def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - SQLite's name
                if disk.error is not None:
                    if not disk.allowed:
                        raise disk.error("no room")
                    disk.allowed -= 1
                super().xWrite(data, offset)

        return File("", name, flags)


@pytest.fixture
def disk() -> Iterator[FailingDisk]:
    """A disk that can be made to refuse writes."""
    disk = FailingDisk()
    yield disk
    disk.unregister()


def write_large(name: str) -> Transaction[str]:
    """Write more than fits into the memory of a transaction, so that it is spilled to the disk."""
    for part in range(3):
        yield from add(f"{name}-{part}" + "x" * 1_500_000)
    return name


@pytest.mark.parametrize("error", [apsw.FullError, apsw.IOError, apsw.ReadOnlyError])
@pytest.mark.parametrize("together", [1, 8])
@pytest.mark.parametrize("allowed", [0, 1, 1500])
def test_a_failing_disk_is_reported_to_every_caller(
    disk: FailingDisk, tmp_path: Path, error: type[apsw.Error], together: int, allowed: int
) -> None:
    async def work() -> tuple[list[Any], list[str], list[str]]:
        database = SQLite(tmp_path / "kit.db", vfs=NAME)
        await database.write(add("first"))
        disk.error, disk.allowed = error, allowed
        orders = (database.write(write_large(str(number))) for number in range(together))
        results = await asyncio.gather(*orders, return_exceptions=True)
        disk.error = None
        during = await database.read(names())
        await asyncio.gather(*(database.write(add(f"after-{number}")) for number in range(3)))
        after = await database.read(names())
        await database.close()
        return results, during, after

    results, during, after = asyncio.run(work())

    refused = [answer for answer in results if isinstance(answer, UnavailableError)]
    is_full = error is apsw.FullError
    state = "the service's disk is full" if is_full else "the database cannot be used now"
    assert {answer.message for answer in refused} == {f"{state}; nothing was charged"}
    done = [answer for answer in results if not isinstance(answer, UnavailableError)]
    assert len(during) == 1 + 3 * len(done)
    assert after == sorted([*during, "after-0", "after-1", "after-2"])


def test_a_corrupt_page_is_remembered_as_damage(tmp_path: Path) -> None:
    path = tmp_path / "kit.db"

    async def work() -> tuple[str | None, str | None]:
        database = SQLite(path)
        for number in range(40):
            await database.write(add(f"{number}" + "x" * 2000))
        await database.close()
        with path.open("r+b") as file:
            file.seek(-8192, 2)
            file.write(b"\xa5" * 8192)
        database = SQLite(path)
        before = database.damage
        with pytest.raises(UnavailableError, match="is damaged; nothing was charged"):
            await database.read(fetch(accounts.all()))
        await database.close()
        return before, database.damage

    before, after = asyncio.run(work())

    assert before is None
    assert after


def test_an_examination_ends_with_the_database(tmp_path: Path) -> None:
    async def work() -> Examination:
        database = SQLite(tmp_path / "kit.db")
        await database.write(add("a"))
        examined = asyncio.create_task(database.examine())
        await asyncio.sleep(0)
        await database.close()
        return await asyncio.wait_for(examined, 5)

    assert asyncio.run(work()).problem is None
