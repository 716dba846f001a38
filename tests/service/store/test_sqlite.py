"""SQLite with one writer thread: each caller has its own result, all share a commit."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from kit.errors import ConfigError, UnavailableError
from kit.service.store import accounts
from kit.service.store.database import DuplicateError, Transaction
from kit.service.store.sqlite import SQLite
from kit.service.store.statements import Statement, Step

NEGATIVE = Statement({"": "UPDATE accounts SET balance = -1"})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of a new database."""
    return tmp_path / "kit.db"


def account(name: str) -> Step:
    return accounts.add(id=name, name=name, email="a@b", created_at=1)


def add(name: str) -> Transaction[str]:
    yield account(name)
    return name


def add_and_fail(name: str) -> Transaction[None]:
    yield from add(name)
    raise ValueError(name)


def names() -> Transaction[list[str]]:
    return [row.id for row in (yield accounts.all())]


async def run_with(path: Path, work: Any) -> Any:
    database = SQLite(path)
    try:
        return await work(database)
    finally:
        await database.close()


def test_a_written_row_can_be_read(path: Path) -> None:
    async def work(database: SQLite) -> Any:
        assert await database.write(add("a")) == "a"
        return await database.read(names())

    assert asyncio.run(run_with(path, work)) == ["a"]
    assert asyncio.run(run_with(path, lambda database: database.read(names()))) == ["a"]


def test_a_failed_transaction_rolls_back_only_its_own_rows(path: Path) -> None:
    async def work(database: SQLite) -> Any:
        orders = [add("a"), add_and_fail("b"), add("a"), add("c"), add_and_fail("d"), add("e")]
        answers = await asyncio.gather(
            *(database.write(order) for order in orders), return_exceptions=True
        )
        return answers, await database.read(names())

    answers, found = asyncio.run(run_with(path, work))

    assert found == ["a", "c", "e"]
    assert [type(answer) for answer in answers] == [
        str,
        ValueError,
        DuplicateError,
        str,
        ValueError,
        str,
    ]


def test_a_violated_constraint_is_not_a_duplicate(path: Path) -> None:
    def negative() -> Transaction[Any]:
        yield account("a")
        return (yield NEGATIVE())

    async def work(database: SQLite) -> Any:
        await database.write(negative())

    with pytest.raises(Exception, match="balance_is_never_negative") as caught:
        asyncio.run(run_with(path, work))
    assert not isinstance(caught.value, DuplicateError)


def test_canceling_a_caller_does_not_roll_back_its_transaction(path: Path) -> None:
    async def work(database: SQLite) -> Any:
        task = asyncio.create_task(database.write(add("a")))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await database.write(add("b"))
        return await database.read(names())

    assert asyncio.run(run_with(path, work)) == ["a", "b"]


def test_closing_commits_pending_transactions(path: Path) -> None:
    async def work() -> None:
        database = SQLite(path)
        tasks = [asyncio.create_task(database.write(add(str(n)))) for n in range(20)]
        await asyncio.sleep(0)
        await database.close()
        await asyncio.gather(*tasks)

    asyncio.run(work())

    assert len(asyncio.run(run_with(path, lambda database: database.read(names())))) == 20


def test_a_write_to_a_closed_database_is_unavailable(path: Path) -> None:
    async def work() -> None:
        database = SQLite(path)
        await database.close()
        await database.write(add("a"))

    with pytest.raises(UnavailableError, match="closed"):
        asyncio.run(work())


def test_a_read_cannot_write(path: Path) -> None:
    with pytest.raises(Exception, match="readonly"):
        asyncio.run(run_with(path, lambda database: database.read(add("a"))))


def test_two_writers_share_a_file(path: Path) -> None:
    async def work() -> Any:
        first, second = SQLite(path), SQLite(path)
        pairs = [(first, "a"), (second, "b"), (first, "c"), (second, "d")]
        await asyncio.gather(*(database.write(add(name)) for database, name in pairs))
        found = await second.read(names())
        await first.close()
        await second.close()
        return found

    assert asyncio.run(work()) == ["a", "b", "c", "d"]


def test_a_file_that_is_not_a_database_raises_a_config_error(path: Path) -> None:
    path.write_bytes(b"no database at all" * 100)

    with pytest.raises(ConfigError, match="cannot be opened"):
        SQLite(path)


def test_a_missing_folder_raises_a_config_error(path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be opened"):
        SQLite(path / "deeper" / "kit.db")
