"""State shared by the services on a database: rate limits and notifications of changes.

A notification is only a hint: it may be lost, so waiting code also checks regularly.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from typing import Any

import asyncpg

from kit.errors import UnavailableError

_CHANNEL = "kit"
_NOTIFY = "SELECT pg_notify($1, $2)"
#: Seconds until a lost connection is opened again, and in which notifications are collected; and
#: ids per notification, which must be shorter than 8,000 bytes.
_RECONNECT_SECONDS, _GATHER_SECONDS = 1.0, 0.05
_MAX_IDS = 200
_NOW_SQL = "extract(epoch FROM now())::float8"
#: A time that is later than any request can cause comes from a clock that was ahead.
_DUE_SQL = (
    f"CASE WHEN known.due BETWEEN {_NOW_SQL} AND {_NOW_SQL} + $3 + $3 "
    f"THEN known.due ELSE {_NOW_SQL} END"
)
#: The generic cell rate algorithm; no row for a request that exceeds the limit. The first request
#: of a key never does.
_COUNT_SQL = f"""
INSERT INTO rate_limits AS known (key, due) VALUES ($1, {_NOW_SQL} + $2)
ON CONFLICT (key) DO UPDATE SET due = {_DUE_SQL} + $2
WHERE {_DUE_SQL} + $2 <= {_NOW_SQL} + $3
RETURNING due - {_NOW_SQL}
"""  # noqa: S608 - a constant
_PRUNE_SQL = f"DELETE FROM rate_limits WHERE due < {_NOW_SQL}"  # noqa: S608 - a constant
_SELECT_DUE = f"SELECT due - {_NOW_SQL} FROM rate_limits WHERE key = $1"  # noqa: S608 - a constant


@dataclass(eq=False, slots=True)
class Shared:
    """State that services share in a PostgreSQL database."""

    #: Yields a connection for a statement; and opens one for listening.
    connection: Callable[[], AbstractAsyncContextManager[Any]]
    connect: Callable[[], Any]
    #: Errors of a server that is temporarily unavailable.
    temporary_errors: tuple[type[Exception], ...]
    _changed_ids: dict[str, None] = field(default_factory=dict, init=False)
    _has_changes: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    async def count(self, key: str, every: float, burst: float) -> tuple[bool, float]:
        """Count a request that uses `every` seconds of the limit, unless it is refused.

        Returns whether it was counted, and the seconds until all `burst` seconds are available.
        """
        async with self.connection() as connection:
            ahead = await connection.fetchval(_COUNT_SQL, key, every, burst)
            if ahead is not None:
                return True, ahead
            return False, await connection.fetchval(_SELECT_DUE, key) or 0.0

    async def prune(self) -> None:
        """Remove keys whose full limit is restored: a missing row means the same."""
        async with self.connection() as connection:
            await connection.execute(_PRUNE_SQL)

    def notify(self, changed_id: str) -> None:
        """Notify all listening services of a changed id, without delaying a commit."""
        self._changed_ids[changed_id] = None
        self._has_changes.set()

    async def exchange(self, on_change: Callable[[str], None]) -> None:
        """Send notifications and pass on those of other services, until canceled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._send())
            tasks.create_task(self._listen(on_change))

    async def _send(self) -> None:
        while True:
            await self._has_changes.wait()
            await asyncio.sleep(_GATHER_SECONDS)  # at most twenty notifications per second
            batch = [*self._changed_ids][:_MAX_IDS]
            for changed_id in batch:
                del self._changed_ids[changed_id]
            if not self._changed_ids:
                self._has_changes.clear()
            with suppress(UnavailableError):  # the other services check regularly anyway
                async with self.connection() as connection:
                    await connection.execute(_NOTIFY, _CHANNEL, " ".join(batch))

    async def _listen(self, on_change: Callable[[str], None]) -> None:
        """Listen, and reconnect when the connection is lost."""

        def receive(*arguments: Any) -> None:
            for changed_id in arguments[-1].split(" "):
                on_change(changed_id)

        while True:
            with suppress(*self.temporary_errors, asyncpg.PostgresError):
                connection, ended = await self.connect(), asyncio.Event()
                try:
                    connection.add_termination_listener(lambda *_, end=ended: end.set())
                    await connection.add_listener(_CHANNEL, receive)
                    await ended.wait()
                finally:
                    connection.terminate()
            await asyncio.sleep(_RECONNECT_SECONDS)
