"""Notices between the services that share a database: what one has changed wakes the others.

They are gathered for a moment and sent together, after the change is committed: a commit waits for
none, and a busy service sends twenty a second.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from kit.errors import UnavailableError
from kit.service.store.database import Shared

_GATHER_SECONDS = 0.05
#: A notice of PostgreSQL has less than 8,000 bytes.
_AT_ONCE = 200


class Notices:
    """Sends the ids of what has changed, and hands on those that others send.

    Parameters
    ----------
    hear : callable
        Called with each id, also with those of this service.
    """

    def __init__(self, shared: Shared, hear: Callable[[str], None]) -> None:
        self._shared = shared
        self._hear = hear
        self._changed: dict[str, None] = {}
        self._news = asyncio.Event()

    def add(self, changed: str) -> None:
        """Have an id sent."""
        self._changed[changed] = None
        self._news.set()

    async def run(self) -> None:
        """Send and listen until canceled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._send())
            tasks.create_task(self._shared.listen(self._receive))

    def _receive(self, text: str) -> None:
        for changed in text.split(" "):
            self._hear(changed)

    async def _send(self) -> None:
        while True:
            await self._news.wait()
            await asyncio.sleep(_GATHER_SECONDS)
            batch = [*self._changed][:_AT_ONCE]
            for changed in batch:
                del self._changed[changed]
            if not self._changed:
                self._news.clear()
            with suppress(UnavailableError):  # the others look by themselves
                await self._shared.tell(" ".join(batch))
