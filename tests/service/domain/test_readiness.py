"""Readiness probes write at most one row a second, and report what does not work."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kit.errors import UnavailableError
from kit.service.domain.upkeep import Readiness
from kit.service.storage.local import LocalStorage
from kit.service.storage.signing import Signer
from kit.service.store.database import Examination, Transaction
from kit.service.store.sqlite import SQLite

NOW = 1_700_000_000_000
DAY = 24 * 3600 * 1000


class FakeClock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


class SlowDatabase(SQLite):
    """A database whose examination takes some seconds, and that counts its examinations."""

    def __init__(self, path: Path, takes: float) -> None:
        self.commits = self.examinations = 0
        self._takes = takes
        super().__init__(path, self._count)

    def _count(self, _size: int, _seconds: float) -> None:
        self.commits += 1

    async def examine(self) -> Examination:
        self.examinations += 1
        return (await super().examine())._replace(seconds=self._takes)


def run_probes(
    folder: Path, work: Callable[[Readiness, SlowDatabase, FakeClock], Any], *, takes: float = 0.01
) -> Any:
    """Run a function with a readiness, its database and its clock."""

    async def run() -> Any:
        watch = FakeClock()
        database = SlowDatabase(folder / "kit.db", takes)
        storage = LocalStorage(folder / "objects", Signer(b"s" * 32))
        readiness = Readiness(database, storage, lambda: NOW, watch)
        try:
            return await work(readiness, database, watch)
        finally:
            readiness.stop()
            await database.close()

    return asyncio.run(run())


def test_probes_within_one_second_write_one_row(tmp_path: Path) -> None:
    async def work(readiness: Readiness, database: SlowDatabase, watch: FakeClock) -> list[int]:
        counts = []
        await readiness.examine()
        await readiness.probe()
        while database.commits < 2:  # they are counted a moment after they are answered
            await asyncio.sleep(0.001)
        for _ in range(3):
            before = database.commits
            await asyncio.gather(*(readiness.probe() for _ in range(200)))
            for _ in range(200):
                await readiness.probe()
            await asyncio.sleep(0.05)  # it is counted a moment after it is answered
            counts.append(database.commits - before)
            watch.seconds += 1.0
        return counts

    assert run_probes(tmp_path, work, takes=10.0) == [0, 1, 1]


def test_probes_examine_the_database_for_one_percent_of_the_time(tmp_path: Path) -> None:
    async def work(readiness: Readiness, database: SlowDatabase, watch: FakeClock) -> int:
        for _ in range(100):
            await readiness.probe()
            watch.seconds += 1.0
        return database.examinations

    assert run_probes(tmp_path, work, takes=0.1) == 10
    assert run_probes(tmp_path, work, takes=1.0) == 1


def test_the_database_is_examined_daily(tmp_path: Path) -> None:
    async def work(readiness: Readiness, database: SlowDatabase, watch: FakeClock) -> list[int]:
        counts = []
        for now in (NOW, NOW + 1, NOW + DAY - 1, NOW + DAY, NOW + DAY + 1):
            storage = LocalStorage(tmp_path / "objects", Signer(b"s" * 32))
            await Readiness(database, storage, lambda now=now: now, watch).examine()
            counts.append(database.examinations)
        return counts

    assert run_probes(tmp_path, work) == [1, 1, 1, 2, 2]


def test_a_database_that_does_not_answer_is_not_ready(tmp_path: Path) -> None:
    class Stuck(SlowDatabase):
        async def write(self, transaction: Transaction[Any], *, durable: bool = True) -> Any:
            transaction.close()
            await asyncio.sleep(60)

    async def run() -> None:
        watch = FakeClock()
        database = Stuck(tmp_path / "kit.db", 0.0)
        storage = LocalStorage(tmp_path / "objects", Signer(b"s" * 32))
        readiness = Readiness(database, storage, lambda: NOW, watch, timeout=0.05)
        try:
            with pytest.raises(UnavailableError, match="the database does not answer"):
                await readiness.probe()
        finally:
            await database.close()

    asyncio.run(run())


def test_a_storage_that_does_not_answer_is_not_ready(tmp_path: Path) -> None:
    class Silent(LocalStorage):
        async def is_writable(self) -> bool:
            await asyncio.sleep(60)
            return True

    async def run() -> None:
        database = SlowDatabase(tmp_path / "kit.db", 0.0)
        storage = Silent(tmp_path / "objects", Signer(b"s" * 32))
        readiness = Readiness(database, storage, lambda: NOW, FakeClock(), timeout=2)
        try:
            with pytest.raises(UnavailableError, match="the storage does not answer"):
                await readiness.probe()
        finally:
            await database.close()

    asyncio.run(run())
