"""Inspection: uploads are decoded in separate processes, one at a time per account.

A malicious file may keep its decoder busy. So the time limit is short, and no account uses more
than one process.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from kit.errors import BadRequestError
from kit.service.settings import ServiceSettings
from kit.service.worker.pool import JobError, LostError, Pool

#: Minimum of processes; equal to the number of concurrent renders if that is larger.
_MIN_PROCESSES = 2
#: Address space of a process: enough to decode a picture or a video of 50 megapixels.
_MEMORY_BYTES = 2 << 30
_REMEDY = "save it again with another program"


class Inspectors:
    """The processes that inspect uploads."""

    def __init__(self, settings: ServiceSettings) -> None:
        self._seconds = settings.inspection_seconds
        self._pool = Pool(
            max(_MIN_PROCESSES, settings.workers),
            seconds=self._seconds,
            cpu_seconds=self._seconds,
            memory=_MEMORY_BYTES,
            scratch=settings.scratch,
            log=settings.log,
            offline=True,
        )
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def lock(self, account_id: str) -> asyncio.Lock:
        """Return the lock for inspecting and storing files of an account."""
        return self._locks.setdefault(account_id, asyncio.Lock())

    async def inspect(self, row: Any, path: Path) -> dict[str, Any]:
        """Return size and length of an uploaded file; the caller holds `lock` of its account.

        Raises `BadRequestError` if it does not match its ticket, is broken, or takes too long.
        """
        await self._pool.warm()  # starting a process takes longer than inspecting most files
        task = {"do": "inspect", "path": str(path), "content_type": row.content_type}
        try:
            return await self._pool.run(row.id, task, lambda _: None)
        except (JobError, LostError) as error:
            sentence, code = str(error), getattr(error, "code", "lost")
            if code == "timed_out":
                sentence = f"decoding the file takes longer than {self._seconds:g} s: {_REMEDY}"
            elif code in ("lost", "out_of_memory", "engine_failed"):
                sentence = f"the file cannot be decoded: {_REMEDY}"
            raise BadRequestError.fields([("file", sentence)]) from None
        finally:
            await self._pool.warm()

    async def close(self) -> None:
        """End the processes."""
        self._pool.close()
