"""What the services that share a database tell each other: rate limits and notices of changes.

A notice is a hint: it may be lost, so whatever waits for one looks by itself now and then.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from typing import Any

import asyncpg

from kit.errors import UnavailableError

_log = logging.getLogger("kit.store")

_CHANNEL = "kit"
_NOTIFY = "SELECT pg_notify($1, $2)"
#: Seconds until a lost connection is made again, and for which notices are gathered; ids in one,
#: which may have less than 8,000 bytes.
_AGAIN_SECONDS, _GATHER_SECONDS = 1.0, 0.05
_AT_ONCE = 200
_NOW = "extract(epoch FROM now())::float8"
#: What is due later than any request can make it is of a clock that was ahead.
_FROM = f"CASE WHEN known.due BETWEEN {_NOW} AND {_NOW} + $3 + $3 THEN known.due ELSE {_NOW} END"
#: The generic cell rate algorithm; no row comes back for a request that is too early. The first of
#: a key never is.
_COUNT = f"""
INSERT INTO rate_limits AS known (key, due) VALUES ($1, {_NOW} + $2)
ON CONFLICT (key) DO UPDATE SET due = {_FROM} + $2
WHERE {_FROM} + $2 <= {_NOW} + $3
RETURNING due - {_NOW}
"""  # noqa: S608 - a constant
_PRUNE = f"DELETE FROM rate_limits WHERE due < {_NOW}"  # noqa: S608 - a constant
_DUE = f"SELECT due - {_NOW} FROM rate_limits WHERE key = $1"  # noqa: S608 - a constant


@dataclass(eq=False, slots=True)
class Shared:
    """What services share in a PostgreSQL database."""

    #: Gives a connection for a statement, and makes one that is kept to listen.
    connection: Callable[[], AbstractAsyncContextManager[Any]]
    connect: Callable[[], Any]
    #: Errors of a server that is not there just now.
    lost: tuple[type[Exception], ...]
    _changed: dict[str, None] = field(default_factory=dict, init=False)
    _news: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    async def count(self, key: str, every: float, burst: float) -> tuple[bool, float]:
        """Count a request that stands for `every` seconds, unless it comes too early.

        Returns whether it was counted, and the seconds until all `burst` seconds are free again.
        """
        async with self.connection() as connection:
            ahead = await connection.fetchval(_COUNT, key, every, burst)
            if ahead is not None:
                return True, ahead
            return False, await connection.fetchval(_DUE, key) or 0.0

    async def prune(self) -> None:
        """Forget the keys that are back at their full allowance: a missing row says the same."""
        async with self.connection() as connection:
            await connection.execute(_PRUNE)

    def tell(self, changed: str) -> None:
        """Have all services that listen told of an id: no commit waits for that."""
        self._changed[changed] = None
        self._news.set()

    async def exchange(self, hear: Callable[[str], None]) -> None:
        """Send what was told and hand on what services tell, until canceled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._send())
            tasks.create_task(self._listen(hear))

    async def _send(self) -> None:
        while True:
            await self._news.wait()
            await asyncio.sleep(_GATHER_SECONDS)  # a busy service sends twenty a second
            batch = [*self._changed][:_AT_ONCE]
            for changed in batch:
                del self._changed[changed]
            if not self._changed:
                self._news.clear()
            with suppress(UnavailableError):  # the others look by themselves
                async with self.connection() as connection:
                    await connection.execute(_NOTIFY, _CHANNEL, " ".join(batch))

    async def _listen(self, hear: Callable[[str], None]) -> None:
        """Listen, and connect again when the connection is lost."""

        def receive(*heard: Any) -> None:
            for changed in heard[-1].split(" "):
                hear(changed)

        while True:
            with suppress(*self.lost, asyncpg.PostgresError):
                connection, ended = await self.connect(), asyncio.Event()
                try:
                    connection.add_termination_listener(lambda *_, end=ended: end.set())
                    await connection.add_listener(_CHANNEL, receive)
                    await ended.wait()
                finally:
                    connection.terminate()
            _log.warning("notices of other services are not received just now")
            await asyncio.sleep(_AGAIN_SECONDS)
