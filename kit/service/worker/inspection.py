"""Inspection: uploads are looked at in processes of their own, in turns between accounts.

A file may be made to keep whoever opens it busy, and what it holds is not known before. So the time
for one is short, and no account has more than one process: the others are there for others.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from kit.errors import BadRequestError
from kit.service.settings import ServiceSettings
from kit.service.worker.pool import JobError, LostError, Pool

#: Processes at least; as many as render at the same time, if that is more.
_PROCESSES = 2
#: Address space of one: a picture of 50 megapixels, or a video of that size, may be decoded in it.
_MEMORY = 2 << 30


class Inspectors:
    """The processes that look at uploads.

    Parameters
    ----------
    settings : Settings
        Their number and time, and where they may write.
    """

    def __init__(self, settings: ServiceSettings) -> None:
        self._seconds = settings.inspection_seconds
        self._pool = Pool(
            max(_PROCESSES, settings.workers),
            seconds=self._seconds,
            cpu_seconds=self._seconds,
            memory=_MEMORY,
            scratch=settings.scratch,
            log=settings.log,
            offline=True,
        )
        self._warming: asyncio.Task[None] | None = None
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def turn(self, account_id: str) -> AsyncIterator[None]:
        """Wait until nothing else of an account is looked at, or put on disk."""
        turn = self._turns.get(account_id) or asyncio.Lock()
        self._turns[account_id] = turn
        async with turn:
            yield

    async def inspect(self, row: Any, path: Path) -> dict[str, Any]:
        """Return the size and length of the file of an upload, whose account has its `turn`.

        Parameters
        ----------
        row : row
            The upload's.

        Raises
        ------
        BadRequestError
            It is not what its ticket says, is broken, or cannot be looked through in time.
        """
        self._prepare()
        task = {"do": "inspect", "path": str(path), "content_type": row.content_type}
        try:
            return await self._pool.run(row.id, task, lambda _: None)
        except (JobError, LostError) as error:
            raise BadRequestError.fields([("file", self._told(error))]) from None
        finally:
            self._prepare()

    async def close(self) -> None:
        """End the processes."""
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.gather(self._warming, return_exceptions=True)
        self._pool.close()

    def _prepare(self) -> None:
        """Have a process ready for others: to start one takes longer than most files do."""
        if self._warming is None or self._warming.done():
            self._warming = asyncio.create_task(self._warm())

    async def _warm(self) -> None:
        with suppress(LostError):
            await self._pool.warm()

    def _told(self, error: JobError | LostError) -> str:
        code = getattr(error, "code", "lost")
        if code == "timed_out":
            return (
                f"looking through the file takes longer than {self._seconds:g} s: "
                "write it anew with another program"
            )
        if code in ("lost", "out_of_memory", "engine_failed"):
            return "the file cannot be decoded: write it anew with another program"
        return str(error)
