"""What the services that share a database tell each other: rate limits and notices of changes.

A notice is a hint: it may be lost, so whatever waits for one looks by itself now and then.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any

import asyncpg

_log = logging.getLogger("kit.store")

_CHANNEL = "kit"
_AGAIN_SECONDS = 1.0
_NOW = "extract(epoch FROM now())::float8"
#: The generic cell rate algorithm; no row comes back for a request that is too early. The first of
#: a key never is.
_COUNT = f"""
INSERT INTO rate_limits AS known (key, due) VALUES ($1, {_NOW} + $2)
ON CONFLICT (key) DO UPDATE SET due = greatest(known.due, {_NOW}) + $2
WHERE greatest(known.due, {_NOW}) + $2 <= {_NOW} + $3
RETURNING due - {_NOW}
"""  # noqa: S608 - a constant
_PRUNE = f"DELETE FROM rate_limits WHERE due < {_NOW}"  # noqa: S608 - a constant
_DUE = f"SELECT due - {_NOW} FROM rate_limits WHERE key = $1"  # noqa: S608 - a constant


class Shared:
    """What services share in a PostgreSQL database.

    Parameters
    ----------
    connection : callable
        Gives a connection for a statement.
    connect : callable
        Makes one that is kept to listen.
    lost : tuple of type
        Errors of a server that is not there just now.
    """

    def __init__(
        self,
        connection: Callable[[], AbstractAsyncContextManager[Any]],
        connect: Callable[[], Any],
        lost: tuple[type[Exception], ...],
    ) -> None:
        self._connection = connection
        self._connect = connect
        self._lost = lost

    async def count(self, key: str, every: float, burst: float) -> tuple[bool, float]:
        """Count a request unless it is too early; see `kit.service.store.database.Shared`."""
        async with self._connection() as connection:
            ahead = await connection.fetchval(_COUNT, key, every, burst)
            if ahead is not None:
                return True, ahead
            return False, await connection.fetchval(_DUE, key) or 0.0

    async def prune(self) -> None:
        """Forget the keys that are back at their full allowance: a missing row says the same."""
        async with self._connection() as connection:
            await connection.execute(_PRUNE)

    async def tell(self, text: str) -> None:
        """Tell all services that listen."""
        async with self._connection() as connection:
            await connection.execute("SELECT pg_notify($1, $2)", _CHANNEL, text)

    async def listen(self, hear: Callable[[str], None]) -> None:
        """Hand on what services tell until canceled; a lost connection is made again."""
        while True:
            with suppress(*self._lost, asyncpg.PostgresError):
                await self._listen(hear)
            _log.warning("no notices of other services come just now")
            await asyncio.sleep(_AGAIN_SECONDS)

    async def _listen(self, hear: Callable[[str], None]) -> None:
        connection, ended = await self._connect(), asyncio.Event()
        try:
            connection.add_termination_listener(lambda _connection: ended.set())
            await connection.add_listener(_CHANNEL, lambda *heard: hear(heard[-1]))
            await ended.wait()
        finally:
            connection.terminate()
