"""Readiness: whether the service can store what it is asked to, and what it has is whole.

A probe writes, because a full disk and a read-only folder can be read all the same. The file of the
database is looked through daily, and more often where probes come and it is small.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from kit.errors import UnavailableError
from kit.service.storage.base import Storage
from kit.service.store import checks
from kit.service.store.database import Database, Transaction, one

_log = logging.getLogger("kit.service")

_DAY_MS = 24 * 3600 * 1000
#: Seconds that the answer to a probe holds.
_HOLDS = 1.0
#: What a probe waits for an examination; one that takes longer is told by a later probe.
_GLANCE = 0.5
#: How many times as long as an examination took probes then leave the database alone: all of them
#: cost a hundredth of a processor.
_REST = 100
_READY, _EXAMINED = "ready", "examined"


class Readiness:
    """Tells whether a service can work.

    Parameters
    ----------
    clock : callable
        Milliseconds since 1970.
    seconds : callable
        Seconds, never going back.
    patience : float
        Seconds that the database may take to write a row.
    """

    def __init__(
        self,
        database: Database,
        storage: Storage,
        clock: Callable[[], int],
        seconds: Callable[[], float],
        patience: float = 5.0,
    ) -> None:
        self._database = database
        self._storage = storage
        self._clock = clock
        self._seconds = seconds
        self._patience = patience
        self._probe: asyncio.Task[None] | None = None
        self._probed = 0.0
        self._examination: asyncio.Task[None] | None = None
        #: When probes may have the database examined again.
        self._due = 0.0

    async def probe(self) -> None:
        """Write a row and a file, or return what came of it within the last second.

        Raises
        ------
        UnavailableError
            The sentence says what cannot be used.
        """
        now = self._seconds()
        if self._probe is None or (self._probe.done() and now - self._probed >= _HOLDS):
            self._probe, self._probed = _task(self._written()), now
        await asyncio.shield(self._probe)
        if self._database.damage:
            raise UnavailableError("the database is damaged; see the log, and restore a backup")

    async def examine(self) -> None:
        """Have the database looked through if that was not done for a day."""
        last = await self._database.read(one(checks.find(name=_EXAMINED)))
        if last is None or self._clock() - last.at >= _DAY_MS:
            await asyncio.shield(self._examined())

    def stop(self) -> None:
        """Leave off whatever is under way."""
        for task in (self._probe, self._examination):
            if task is not None:
                task.cancel()

    async def _written(self) -> None:
        try:
            async with asyncio.timeout(self._patience):
                await self._database.write(_mark(_READY, self._clock()), durable=False)
        except TimeoutError:
            raise UnavailableError("the database does not answer") from None
        if not await self._storage.ready():
            raise UnavailableError("the storage cannot be written")
        if self._seconds() >= self._due:
            with suppress(TimeoutError):
                async with asyncio.timeout(_GLANCE):
                    await asyncio.shield(self._examined())

    def _examined(self) -> asyncio.Task[None]:
        """Return the examination that runs, or a new one."""
        if self._examination is None or self._examination.done():
            self._examination = _task(self._look_through())
        return self._examination

    async def _look_through(self) -> None:
        wrong, took = await self._database.examine()
        self._due = self._seconds() + max(_HOLDS, _REST * took)
        if wrong:
            _log.error("the database is damaged: %s; restore a backup with 'kit restore'", wrong)
        else:
            await self._database.write(_mark(_EXAMINED, self._clock()), durable=False)


def _mark(name: str, now: int) -> Transaction[None]:
    yield checks.mark(name=name, at=now)


def _task(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """Return a task whose error is no news where nobody waits for it any more."""
    task = asyncio.create_task(work)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return task
