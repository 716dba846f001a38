"""PostgreSQL: each transaction has its own result; deadlocks, lost connections, migrations."""

import asyncio
import gc
import os
import signal
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any

import asyncpg
import pytest

from kit.errors import BadRequestError, ConfigError, UnavailableError
from kit.service.databases import migrate_database
from kit.service.domain import credits, queue
from kit.service.settings import ServiceSettings, load
from kit.service.store import accounts, migrations
from kit.service.store.database import DuplicateError, Transaction, one
from kit.service.store.postgresql import NAME, PostgreSQL
from kit.service.store.statements import Statement
from tests.postgresql import new_database

LOCK = Statement({"": "SELECT id FROM accounts WHERE id = :id FOR UPDATE"})
PAUSE = Statement({"": "SELECT pg_sleep(0.2)"})


def add(name: str) -> Transaction[str]:
    yield accounts.add(id=name, name=name, email="a@b", created_at=1)
    return name


def add_and_fail(name: str) -> Transaction[None]:
    yield from add(name)
    raise ValueError(name)


def names() -> Transaction[list[str]]:
    return [row.id for row in (yield accounts.all())]


@pytest.fixture
def run(
    empty_postgresql: str, runner: asyncio.Runner
) -> Callable[[Callable[[PostgreSQL], Awaitable[Any]]], Any]:
    """Run a coroutine function on an empty database."""

    async def work(use: Callable[[PostgreSQL], Awaitable[Any]]) -> Any:
        database = PostgreSQL(empty_postgresql)
        try:
            return await use(database)
        finally:
            await database.close()

    return lambda use: runner.run(work(use))


Run = Callable[[Callable[[PostgreSQL], Awaitable[Any]]], Any]


def test_a_failed_transaction_rolls_back_only_its_own_rows(run: Run) -> None:
    async def work(database: PostgreSQL) -> Any:
        orders = [add("a"), add_and_fail("b"), add("c"), add_and_fail("d")]
        answers = await asyncio.gather(*map(database.write, orders), return_exceptions=True)
        again = await asyncio.gather(database.write(add("a")), return_exceptions=True)
        return [type(answer) for answer in (*answers, *again)], await database.read(names())

    assert run(work) == ([str, ValueError, str, ValueError, DuplicateError], ["a", "c"])


def test_a_transaction_of_no_statement_needs_no_server(runner: asyncio.Runner) -> None:
    def nothing() -> Transaction[int]:
        yield from ()
        return 3

    database = PostgreSQL("postgresql://nobody@127.0.0.1:9/none")

    assert runner.run(database.read(nothing())) == runner.run(database.write(nothing())) == 3


def test_a_failed_transaction_of_a_canceled_caller_is_not_reported_again(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    def pause_and_fail() -> Transaction[None]:
        yield PAUSE()
        raise ValueError

    async def work(database: PostgreSQL) -> None:
        await database.read(names())
        with suppress(TimeoutError):
            async with asyncio.timeout(0.1):
                await database.write(pause_and_fail())
        await asyncio.sleep(1)

    run(work)
    gc.collect()
    assert "never retrieved" not in caplog.text


def test_canceling_a_caller_does_not_roll_back_its_transaction(run: Run) -> None:
    async def work(database: PostgreSQL) -> Any:
        await database.read(names())
        task = asyncio.create_task(database.write(add("a")))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await database.write(add("b"))

    run(work)
    assert run(lambda database: database.read(names())) == ["a", "b"]


def lock_both(first: str, second: str, started: list[str]) -> Transaction[str]:
    """Lock one account, wait until another transaction has the second, and request that."""
    started.append(first)
    yield LOCK(id=first)
    yield PAUSE()
    yield LOCK(id=second)
    return first


@pytest.mark.parametrize("restartable", [True, False])
def test_a_deadlocked_transaction_is_restarted_if_possible(run: Run, restartable: bool) -> None:
    started: list[str] = []

    async def work(database: PostgreSQL) -> Any:
        for name in "ab":
            await database.write(add(name))
        orders = [partial(lock_both, *pair, started) for pair in ("ab", "ba")]
        given = orders if restartable else [order() for order in orders]
        return await asyncio.gather(*map(database.write, given), return_exceptions=True)

    answers = run(work)
    if restartable:
        assert answers == ["a", "b"]
        assert len(started) == 3
    else:
        assert sorted(type(answer).__name__ for answer in answers) == ["UnavailableError", "str"]


def test_a_nul_character_raises_a_bad_request(run: Run) -> None:
    with pytest.raises(BadRequestError, match="a character that cannot be stored"):
        run(lambda database: database.write(add("a\0b")))


def test_terminated_connections_are_replaced(run: Run, postgresql: str) -> None:
    async def cut() -> None:
        connection = await asyncpg.connect(postgresql)
        await connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
            " AND application_name = 'creative-studio-kit'"
        )
        await connection.close()

    async def work(database: PostgreSQL) -> Any:
        await database.write(add("a"))
        await cut()
        with suppress(UnavailableError):  # unless the driver has noticed it
            await database.write(add("b"))
        await asyncio.sleep(0.1)
        await database.write(add("c"))
        return (await database.read(names()))[-1]

    assert run(work) == "c"


def test_a_read_from_a_hanging_server_can_be_canceled(run: Run) -> None:
    async def work(database: PostgreSQL) -> tuple[bool, float]:
        def hang() -> Transaction[None]:
            [row] = yield Statement({"": "SELECT pg_backend_pid() AS pid"})()
            os.kill(row.pid, signal.SIGSTOP)
            stopped.append(row.pid)
            yield PAUSE()

        stopped: list[int] = []
        reading = asyncio.create_task(database.read(hang()))
        while not stopped:
            await asyncio.sleep(0.01)
        started = time.monotonic()
        reading.cancel()
        await asyncio.wait([reading])
        os.kill(stopped[0], signal.SIGCONT)
        return reading.cancelled(), time.monotonic() - started

    cancelled, seconds = run(work)
    assert cancelled
    assert seconds < 5


def test_a_connection_lost_during_a_transaction_is_unavailable(run: Run) -> None:
    end = Statement({"": "SELECT pg_terminate_backend(pg_backend_pid())"})

    def lost() -> Transaction[None]:
        yield from add("a")
        yield end()

    async def work(database: PostgreSQL) -> Any:
        with pytest.raises(UnavailableError, match="nothing was charged") as caught:
            await database.write(lost())
        return caught.value.headers, await database.read(names())

    assert run(work) == ({"Retry-After": "1"}, [])


def test_an_unreachable_server_is_named_without_the_password(runner: asyncio.Runner) -> None:
    database = PostgreSQL("postgresql://ada:secret@127.0.0.1:9/kit")

    with pytest.raises(UnavailableError, match=r"127\.0\.0\.1/kit cannot be reached") as caught:
        runner.run(database.read(names()))
    assert "secret" not in str(caught.value)


def test_a_pooler_is_refused_with_a_remedy(runner: asyncio.Runner) -> None:
    async def pool(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1000)
        words = b"SFATAL\0C08P01\0Munsupported startup parameter: jit\0\0"
        writer.write(b"E" + (len(words) + 4).to_bytes(4) + words)
        writer.close()

    async def connect() -> None:
        async with await asyncio.start_server(pool, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            await PostgreSQL(f"postgresql://ada@127.0.0.1:{port}/kit?sslmode=disable").read(names())

    with pytest.raises(ConfigError, match=r"unsupported .* jit; .* no pooler .* PgBouncer"):
        runner.run(connect())


@pytest.mark.parametrize("letter", "/?#")
def test_a_password_that_is_not_quoted_is_not_shown(runner: asyncio.Runner, letter: str) -> None:
    database = PostgreSQL(f"postgresql://ada:pass{letter}word@127.0.0.1:9/kit")

    with pytest.raises(ConfigError, match="%2F, %3F, %23") as caught:
        runner.run(database.read(names()))
    assert "pass" not in str(caught.value).replace("a password", "")
    assert "word@" not in str(caught.value)


def test_a_database_without_the_schema_is_refused_until_it_is_migrated(
    postgresql: str, runner: asyncio.Runner, config: ServiceSettings
) -> None:
    async def work(url: str) -> list[int]:
        with pytest.raises(ConfigError, match=r"has the schema 0, .* run 'kit migrate'"):
            await PostgreSQL(url).read(names())
        given = load({}, data=config.data, database_url=url)
        numbers = [await migrate_database(given) for _ in range(2)]
        database = PostgreSQL(url)
        assert await database.read(names()) == []
        await database.write(
            one(Statement({"": "UPDATE schema_version SET number = 999 RETURNING 1 AS x"})())
        )
        await database.close()
        with pytest.raises(ConfigError, match=r"999.*a newer one made it"):
            await PostgreSQL(url).read(names())
        return numbers

    with new_database(postgresql, "fresh") as url:
        first, second = runner.run(work(url))
    assert first == second


def test_a_database_of_another_program_is_refused(
    postgresql: str, runner: asyncio.Runner, config: ServiceSettings
) -> None:
    async def work(url: str) -> None:
        other = await asyncpg.connect(url)
        await other.execute("CREATE TABLE bookmarks (url text)")
        await other.close()
        with pytest.raises(ConfigError, match="of another program"):
            await migrate_database(load({}, data=config.data, database_url=url))

    with new_database(postgresql, "other") as url:
        runner.run(work(url))


#: Rows of the first schema: an account with 10 credits and a queued generation for 0.5.
ROWS = """
INSERT INTO accounts VALUES ('acc_1', 'Ada', 'a@b', 9500, 1, 500, 0, 0, 0);
INSERT INTO ledger
    (id, account_id, kind, subject, millicredits, balance_after, generation_id, created_at,
     charged_after, refunded_after)
    VALUES ('led_1', 'acc_1', 'grant', 'g', 10000, 10000, NULL, 1, 0, 0),
    ('led_2', 'acc_1', 'generation', 'gen_1', -500, 9500, 'gen_1', 2, 500, 0);
INSERT INTO generations
    (id, account_id, key_id, state, asset_type, generation_type, model_id, model_name, prompt,
     parameters, media, seed, millicredits, refunded, progress, attempt, losses, queue_round,
     created_at, updated_at)
    VALUES ('gen_1', 'acc_1', 'key_1', 'queued', 'image', 'text-to-image', 'flat', 'Flat', 'x',
    '{}', '{}', 7, 500, 0, 0, 0, 0, 1, 2, 2);
"""


@pytest.mark.parametrize("number", range(8, migrations.newest(NAME)))
def test_a_database_of_every_release_is_migrated_with_its_rows(
    postgresql: str, runner: asyncio.Runner, config: ServiceSettings, number: int
) -> None:
    async def columns(url: str, *texts: str) -> list[Any]:
        connection = await asyncpg.connect(url)
        for text in texts:
            await connection.execute(text)
        found = await connection.fetch(
            "SELECT table_name, column_name, data_type, is_nullable, collation_name FROM "
            "information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2"
        )
        await connection.close()
        return [*map(tuple, found)]

    async def work(url: str) -> tuple[Any, ...]:
        older = [text for found, text in migrations.missing(NAME, 0) if found <= number]
        await columns(url, *older, f"UPDATE schema_version SET number = {number}", ROWS)
        await migrate_database(load({}, data=config.data, database_url=url))
        database = PostgreSQL(url)
        wrong = await database.read(credits.verify())
        (claimed,) = await database.write(queue.claim("w", 9, lease=2**41, now=3))
        await database.close()
        return await columns(url) == await columns(postgresql), wrong, claimed.id

    with new_database(postgresql, "earlier") as url:
        assert runner.run(work(url)) == (True, [], "gen_1")


def test_the_clock_is_that_of_the_database(run: Run) -> None:
    moment = Statement({"": "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS t"})

    async def work(database: PostgreSQL) -> Any:
        row = await database.read(one(moment()))
        return database.clock() - row.t

    assert abs(run(work)) < 1000
