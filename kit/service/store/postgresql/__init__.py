"""PostgreSQL: asynchronous connections to a database that several services may share.

Each statement is a round trip, so transactions use few of them. They run at READ COMMITTED: a lock
on the account's row, a unique key or a condition in the statement prevents that anything happens
twice.
"""

from __future__ import annotations

import asyncio
import logging
import random
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import cache
from typing import Any, TypeVar
from urllib.parse import urlsplit

import asyncpg

from kit.errors import BadRequestError, ConfigError, UnavailableError
from kit.service.store.database import (
    DuplicateError,
    Examination,
    Rows,
    Transaction,
    Work,
    begin,
    row_maker,
)
from kit.service.store.postgresql import schema
from kit.service.store.postgresql.schema import NAME, copy_tables
from kit.service.store.postgresql.shared import Shared
from kit.service.store.statements import Statement, Step

__all__ = ["NAME", "SESSION", "PostgreSQL", "copy_tables", "migrate"]

T = TypeVar("T")
_log = logging.getLogger("kit.store")

#: Connections of one service; each takes some MiB on the server.
_CONNECTIONS = 10
#: Time limits in seconds: to connect, to run a statement, and to get a connection of the pool.
_CONNECT, _STATEMENT, _WAIT = 10.0, 30.0, 10.0
#: Seconds for the server to confirm a canceled statement, before it counts as lost.
_LET_GO = 1.0
#: Maximum of attempts for a transaction that loses a deadlock or a race.
_TRIES = 5
#: Seconds after which the offset of the database's clock is measured again.
_CLOCK_SECONDS = 60.0
#: Queries read the start of an index. Custom plans know the values and the limit; and nothing
#: is collected and sorted that an index has in order.
SESSION = {
    "application_name": "creative-studio-kit",
    "plan_cache_mode": "force_custom_plan",
    "enable_sort": "off",
    "enable_bitmapscan": "off",
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
}
_BEGIN = {True: "BEGIN", False: "BEGIN; SET LOCAL synchronous_commit = off"}
_MOMENT = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint"
_PARAMETER = re.compile(r"(?<!:):([a-z_]\w*)")

#: Temporary errors: the server is unavailable, restarts, or has no free connection.
_LOST = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # used while the server is closing the connection
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.ReadOnlySQLTransactionError,
)
_RACED = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)
_WRONG = (
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
    ValueError,
)


class PostgreSQL:
    """A PostgreSQL database, connected at the first use.

    `on_commit` gets the number of transactions of each commit, and its seconds; all services on a
    database have the same `secret`, which hashes keys.
    """

    damage: str | None = None

    def __init__(
        self,
        url: str,
        on_commit: Callable[[int, float], None] = lambda _size, _seconds: None,
        secret: bytes | None = None,
    ) -> None:
        self._url = url
        self._secret = secret
        self.shared = Shared(self._connection, lambda: _connect(url), _LOST)
        self._on_commit = on_commit
        self._opening = asyncio.Lock()
        self._pool: Any = None
        self._rows: dict[Statement, Callable[[Any], Any]] = {}
        self._writes: set[asyncio.Task[Any]] = set()
        #: Offset of the database's clock to ours in milliseconds, and when it was measured.
        self._ahead, self._read_at = 0.0, -_CLOCK_SECONDS

    async def read(self, transaction: Transaction[T]) -> T:
        """Run a read-only transaction, each statement on its own."""
        try:
            step = next(transaction)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        async with self._connection() as connection:
            return await self._drive(connection, transaction, step)

    async def write(self, work: Work[T], *, durable: bool = True) -> T:
        """Run a transaction atomically; its changes are on disk when this returns."""
        task = asyncio.create_task(self._write(work, durable))
        self._writes.add(task)
        task.add_done_callback(self._writes.discard)
        # A canceled caller does not cancel its transaction: it still completes or fails.
        return await asyncio.shield(task)

    async def examine(self) -> Examination:
        """Do nothing: the server checks its own files."""
        return Examination(None, 0.0)

    def version(self) -> object:
        """Return a new object each time: changes by other services are unknown."""
        return object()

    def clock(self) -> int:
        """Return the database's time in milliseconds since 1970, the same for all services."""
        return int(time.monotonic() * 1000 + self._ahead)

    async def close(self) -> None:
        """Complete running transactions and close the connections."""
        try:
            async with asyncio.timeout(_WAIT):
                await asyncio.gather(*self._writes, return_exceptions=True)
                if self._pool is not None:
                    await self._pool.close()
        except _LOST:  # e.g. a server that hangs
            if self._pool is not None:
                self._pool.terminate()
        self._pool = None

    async def _write(self, work: Work[T], durable: bool) -> T:
        for again in range(_TRIES):
            try:
                return await self._transact(begin(work), durable)
            except _RACED as error:
                _log.warning("a transaction lost a race: %s", type(error).__name__)
                if not callable(work):
                    break
                await asyncio.sleep(random.random() * 0.02 * 2**again)  # noqa: S311 - not a secret
        raise _unavailable("the database is too busy just now; nothing was charged")

    async def _transact(self, transaction: Transaction[T], durable: bool) -> T:
        try:
            step = next(transaction)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        async with self._connection() as connection:
            await connection.execute(_BEGIN[durable])
            try:
                result = await self._drive(connection, transaction, step)
            except BaseException:
                with suppress(*_LOST):
                    await connection.execute("ROLLBACK")
                raise
            started = time.perf_counter()
            try:
                await connection.execute("COMMIT")
            except _LOST as error:
                _log.warning("the database was lost in a commit: %s", type(error).__name__)
                raise _unavailable(
                    "the database was lost while it stored this: look whether it was done, or ask "
                    "again with the same Idempotency-Key"
                ) from None
            self._on_commit(1, time.perf_counter() - started)
            return result

    async def _drive(self, connection: Any, transaction: Transaction[T], step: Step) -> T:
        try:
            while True:
                step = transaction.send(await self._run(connection, step))
        except StopIteration as end:
            result: T = end.value
            return result

    async def _run(self, connection: Any, step: Step) -> Rows:
        text, names = _positional(step.statement)
        records = await connection.fetch(text, *[step.values[name] for name in names])
        if not records:
            return []
        row = self._rows.get(step.statement)
        if row is None:
            row = self._rows[step.statement] = row_maker(records[0].keys())
        return [row(record) for record in records]

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Any]:
        """Yield a connection, and turn errors of the driver into ours."""
        try:
            pool = self._pool or await self._open()
            connection = await pool.acquire(timeout=_WAIT)
            try:
                if time.monotonic() - self._read_at > _CLOCK_SECONDS:
                    await self._read_clock(connection)
                yield connection
            finally:
                with suppress(*_LOST):  # a lost connection must not hide the original error
                    await pool.release(connection, timeout=_LET_GO)
        except asyncpg.UniqueViolationError as error:
            raise DuplicateError(str(error)) from None
        except (asyncpg.CharacterNotInRepertoireError, asyncpg.UntranslatableCharacterError):
            raise BadRequestError("a text has a character that cannot be stored") from None
        except _LOST as error:
            if isinstance(error, ValueError):  # a value of the wrong type for its column
                raise
            _log.warning("the database cannot be used just now: %s", type(error).__name__)
            raise _unavailable(
                "the database cannot be used just now; nothing was charged"
            ) from None

    async def _open(self) -> Any:
        async with self._opening:
            if self._pool is None:
                pool = await _pool(self._url)
                try:
                    async with pool.acquire(timeout=_WAIT) as connection:
                        await schema.check(connection)
                        await schema.check_secret(connection, self._secret)
                except BaseException:
                    pool.terminate()
                    raise
                self._pool = pool
            return self._pool

    async def _read_clock(self, connection: Any) -> None:
        before = time.monotonic()
        moment = await connection.fetchval(_MOMENT)
        self._read_at = time.monotonic()
        self._ahead = moment - (before + self._read_at) / 2 * 1000


async def migrate(url: str) -> list[int]:
    """Migrate a database to the newest schema and return the numbers of its migrations."""
    with _explain_errors(url):
        connection = await _connect(url)
    try:
        return await schema.migrate(connection)
    finally:
        await connection.close()


async def _connect(url: str) -> Any:
    return await asyncpg.connect(url, timeout=_CONNECT)


async def _pool(url: str) -> Any:
    with _explain_errors(url):
        pool = await asyncpg.create_pool(
            url,
            min_size=1,
            max_size=_CONNECTIONS,
            reset=_keep,
            timeout=_CONNECT,
            command_timeout=_STATEMENT,
            statement_cache_size=500,
            max_cached_statement_lifetime=0,
            server_settings=SESSION,
        )
        if await pool.fetchval("SHOW plan_cache_mode") != SESSION["plan_cache_mode"]:
            await pool.close()
            raise asyncpg.ProtocolViolationError("settings of a session were ignored")
        return pool


async def _keep(_connection: Any) -> None:
    """Do not reset a released connection: our transactions leave no session state."""


@contextmanager
def _explain_errors(url: str) -> Iterator[None]:
    """Turn errors into messages that contain the URL without its password."""
    try:
        parts = urlsplit(url)
        where = f"{parts.hostname or 'this machine'}{parts.path}"
    except ValueError:
        raise ConfigError("the database's URL is no URL") from None
    if "@" in f"{parts.path}{parts.query}{parts.fragment}":  # part of an unescaped password
        raise ConfigError(
            "the database's URL has a password with a '/', '?' or '#': write these as %2F, %3F, %23"
        )
    try:
        yield
    except _WRONG as error:
        raise ConfigError(f"the database at {where} cannot be used: {error}") from None
    except asyncpg.ProtocolViolationError as error:
        sentence = "name PostgreSQL itself, and no pooler before it such as PgBouncer"
        raise ConfigError(f"the database at {where} cannot be used: {error}; {sentence}") from None
    except _LOST as error:
        _log.warning("%s: %s", where, error)
        raise _unavailable(f"the database at {where} cannot be reached just now") from None


@cache
def _positional(statement: Statement) -> tuple[str, list[str]]:
    """Return a statement with positional parameters, and the names of these in order."""
    names: list[str] = []

    def numbered(found: re.Match[str]) -> str:
        if found[1] not in names:
            names.append(found[1])
        return f"${names.index(found[1]) + 1}"

    return _PARAMETER.sub(numbered, statement.text(NAME)), names


def _unavailable(sentence: str) -> UnavailableError:
    return UnavailableError(sentence, headers={"Retry-After": "1"})
