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
    log_outage,
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
_MAX_CONNECTIONS = 10
#: Time limits in seconds: to connect, and to get a connection of the pool.
_CONNECT_SECONDS, _WAIT_SECONDS = 10.0, 10.0
#: Seconds for the server to confirm a canceled statement, before it counts as lost.
_RELEASE_SECONDS = 1.0
#: Maximum of attempts for a transaction that loses a deadlock or a race.
_MAX_ATTEMPTS = 5
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
_SELECT_TIME = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint"
_PARAMETER = re.compile(r"(?<!:):([a-z_]\w*)")

#: Temporary errors: the server is unavailable, restarts, or has no free connection.
_TEMPORARY_ERRORS = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # used while the server is closing the connection
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.ReadOnlySQLTransactionError,
)
_RACE_ERRORS = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)
_CONFIG_ERRORS = (
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
    ValueError,
)


class PostgreSQL:
    """A PostgreSQL database, connected at the first use.

    `on_commit` gets the number of transactions of each commit, and its seconds; all services on a
    database have the same `secret`, which hashes keys. A statement may run for `seconds`.
    """

    damage: str | None = None

    def __init__(
        self,
        url: str,
        on_commit: Callable[[int, float], None] = lambda _size, _seconds: None,
        secret: bytes | None = None,
        seconds: float = 10.0,
    ) -> None:
        self._url = url
        self._secret, self._seconds = secret, seconds
        self.shared = Shared(self._connection, lambda: _connect(url), _TEMPORARY_ERRORS)
        self._on_commit = on_commit
        self._opening = asyncio.Lock()
        self._pool: Any = None
        self._row_makers: dict[Statement, Callable[[Any], Any]] = {}
        self._writes: set[asyncio.Task[Any]] = set()
        #: Offset of the database's clock to ours in milliseconds, and when it was measured.
        self._clock_offset, self._clock_read_at = 0.0, -_CLOCK_SECONDS

    async def read(self, transaction: Transaction[T]) -> T:
        """Run a read-only transaction, each statement on its own."""
        return await self._transact(transaction, "")

    async def write(self, work: Work[T], *, durable: bool = True) -> T:
        """Run a transaction atomically; its changes are on disk when this returns."""
        task = asyncio.create_task(self._write(work, durable))
        self._writes.add(task)
        task.add_done_callback(self._writes.discard)
        # A canceled caller does not cancel its transaction: it still completes, or fails unheard.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(task)

    async def examine(self) -> Examination:
        """Do nothing: the server checks its own files."""
        return Examination(None, 0.0)

    def version(self) -> object:
        """Return a new object each time: changes by other services are unknown."""
        return object()

    def clock(self) -> int:
        """Return the database's time in milliseconds since 1970, the same for all services."""
        return int(time.monotonic() * 1000 + self._clock_offset)

    async def close(self) -> None:
        """Complete running transactions and close the connections."""
        try:
            async with asyncio.timeout(_WAIT_SECONDS):
                await asyncio.gather(*self._writes, return_exceptions=True)
                if self._pool is not None:
                    await self._pool.close()
        except _TEMPORARY_ERRORS:  # e.g. a server that hangs
            if self._pool is not None:
                self._pool.terminate()
        self._pool = None

    async def _write(self, work: Work[T], durable: bool) -> T:
        for attempt in range(_MAX_ATTEMPTS):
            try:
                return await self._transact(begin(work), _BEGIN[durable])
            except _RACE_ERRORS as error:
                _log.warning("a transaction lost a race: %s", type(error).__name__)
                if not callable(work):
                    break
                await asyncio.sleep(random.random() * 0.02 * 2**attempt)  # noqa: S311 - not a secret
        raise _unavailable("the database is too busy; nothing was charged")

    async def _transact(self, transaction: Transaction[T], begin: str) -> T:
        """Run a transaction, atomically after a statement that begins it."""
        try:
            step = next(transaction)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        async with self._connection() as connection:
            if not begin:
                return await self._drive(connection, transaction, step)
            await connection.execute(begin)
            try:
                result = await self._drive(connection, transaction, step)
            except BaseException:
                with suppress(*_TEMPORARY_ERRORS):
                    await connection.execute("ROLLBACK")
                raise
            started = time.perf_counter()
            try:
                await connection.execute("COMMIT")
            except _TEMPORARY_ERRORS as error:
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
        text, names = _number_parameters(step.statement)
        records = await connection.fetch(text, *[step.values[name] for name in names])
        if not records:
            return []
        row = self._row_makers.get(step.statement)
        if row is None:
            row = self._row_makers[step.statement] = row_maker(records[0].keys())
        return [row(record) for record in records]

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Any]:
        """Yield a connection, and turn errors of the driver into ours."""
        try:
            pool = self._pool or await self._open()
            connection = await pool.acquire(timeout=_WAIT_SECONDS)
            try:
                if time.monotonic() - self._clock_read_at > _CLOCK_SECONDS:
                    before = time.monotonic()
                    moment = await connection.fetchval(_SELECT_TIME)
                    self._clock_read_at = time.monotonic()
                    self._clock_offset = moment - (before + self._clock_read_at) / 2 * 1000
                yield connection
            finally:
                # A lost connection must not hide the original error.
                with suppress(*_TEMPORARY_ERRORS):
                    await pool.release(connection, timeout=_RELEASE_SECONDS)
        except asyncpg.UniqueViolationError as error:
            raise DuplicateError(str(error)) from None
        except (asyncpg.CharacterNotInRepertoireError, asyncpg.UntranslatableCharacterError):
            raise BadRequestError("a text has a character that cannot be stored") from None
        except _TEMPORARY_ERRORS as error:
            if isinstance(error, ValueError):  # a value of the wrong type for its column
                raise
            log_outage(self._url, type(error).__name__)
            raise _unavailable("the database cannot be used now; nothing was charged") from None

    async def _open(self) -> Any:
        async with self._opening:
            if self._pool is None:
                pool = await _create_pool(self._url, self._seconds)
                try:
                    async with pool.acquire(timeout=_WAIT_SECONDS) as connection:
                        await schema.check(connection)
                        await schema.check_secret(connection, self._secret)
                except BaseException:
                    pool.terminate()
                    raise
                self._pool = pool
            return self._pool


async def migrate(url: str) -> list[int]:
    """Migrate a database to the newest schema and return the numbers of its migrations."""
    with _explain_errors(url):
        connection = await _connect(url)
    try:
        return await schema.migrate(connection)
    finally:
        await connection.close()


async def _connect(url: str) -> Any:
    return await asyncpg.connect(url, timeout=_CONNECT_SECONDS)


async def _create_pool(url: str, seconds: float) -> Any:
    with _explain_errors(url):
        pool = await asyncpg.create_pool(
            url,
            min_size=0,
            max_size=_MAX_CONNECTIONS,
            reset=_keep_session,
            timeout=_CONNECT_SECONDS,
            command_timeout=seconds,
            statement_cache_size=500,
            max_cached_statement_lifetime=0,
            server_settings=SESSION,
        )
        if await pool.fetchval("SHOW plan_cache_mode") != SESSION["plan_cache_mode"]:
            await pool.close()
            raise asyncpg.ProtocolViolationError("settings of a session were ignored")
        return pool


async def _keep_session(_connection: Any) -> None:
    """Do not reset a released connection: our transactions leave no session state."""


@contextmanager
def _explain_errors(url: str) -> Iterator[None]:
    """Turn errors into messages that contain the URL without its password."""
    try:
        parts = urlsplit(url)
        where = f"{parts.hostname or 'this machine'}{parts.path}"
    except ValueError:
        raise ConfigError("the database's URL is not valid") from None
    if "@" in f"{parts.path}{parts.query}{parts.fragment}":  # part of an unescaped password
        raise ConfigError(
            "the database's URL has a password with a '/', '?' or '#': write these as %2F, %3F, %23"
        )
    try:
        yield
    except _CONFIG_ERRORS as error:
        raise ConfigError(f"the database at {where} cannot be used: {error}") from None
    except asyncpg.ProtocolViolationError as error:
        sentence = "name PostgreSQL itself, and no pooler before it such as PgBouncer"
        raise ConfigError(f"the database at {where} cannot be used: {error}; {sentence}") from None
    except _TEMPORARY_ERRORS as error:
        _log.warning("%s: %s", where, error)
        sentence = "it must run, and KIT_DATABASE_URL must name it"
        raise _unavailable(f"the database at {where} cannot be reached: {sentence}") from None


@cache
def _number_parameters(statement: Statement) -> tuple[str, list[str]]:
    """Return a statement with positional parameters, and the names of these in order."""
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        if match[1] not in names:
            names.append(match[1])
        return f"${names.index(match[1]) + 1}"

    return _PARAMETER.sub(number, statement.text(NAME)), names


def _unavailable(sentence: str) -> UnavailableError:
    return UnavailableError(sentence, headers={"Retry-After": "1"})
