"""Inspection: uploads are decoded in processes of their own, one at a time for each account.

A file may be made to keep the program that opens it busy. So the time for one is short, and no
account has more than one process.
"""

from __future__ import annotations

import asyncio
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
_ANEW = "save it again with another program"


class Inspectors:
    """The processes that inspect uploads."""

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
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def lock(self, account_id: str) -> asyncio.Lock:
        """Return what is held while a file of an account is inspected and stored."""
        return self._locks.setdefault(account_id, asyncio.Lock())

    async def inspect(self, row: Any, path: Path) -> dict[str, Any]:
        """Return the size and length of the file of an upload, whose account is locked, see `lock`.

        Raises `BadRequestError`: it is not what its ticket says, is broken, or cannot be decoded in
        time.
        """
        await self._pool.warm()  # to start a process takes longer than to inspect most files
        task = {"do": "inspect", "path": str(path), "content_type": row.content_type}
        try:
            return await self._pool.run(row.id, task, lambda _: None)
        except (JobError, LostError) as error:
            sentence, code = str(error), getattr(error, "code", "lost")
            if code == "timed_out":
                sentence = f"decoding the file takes longer than {self._seconds:g} s: {_ANEW}"
            elif code in ("lost", "out_of_memory", "engine_failed"):
                sentence = f"the file cannot be decoded: {_ANEW}"
            raise BadRequestError.fields([("file", sentence)]) from None
        finally:
            await self._pool.warm()

    async def close(self) -> None:
        """End the processes."""
        self._pool.close()
