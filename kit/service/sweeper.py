"""The sweeper: removes what has had its time, in rounds, while the service runs."""

from __future__ import annotations

import asyncio
import logging
import shutil
from contextlib import suppress
from pathlib import Path

from kit.service.domain import idempotency, outputs, uploads
from kit.service.http.context import Context
from kit.service.http.outputs import remove_files
from kit.service.storage.keys import OUTPUTS

_log = logging.getLogger("kit.service")

_ROUND_SECONDS = 600.0
_OLD_SCRATCH_SECONDS = 24 * 3600
#: Stored outputs that are looked at in a round, and at once: each takes a read of its row.
_FILES, _AT_ONCE = 20_000, 50


class Sweeper:
    """Removes unused uploads, outputs that are old or nobody's, kept answers and scratch files."""

    def __init__(self, context: Context) -> None:
        self._context = context
        #: The last generation whose outputs were looked at: each is looked at once a run.
        self._seen = ""
        #: The folders of outputs that were not looked at in this turn, oldest first.
        self._folders: list[str] = []

    async def run(self) -> None:
        """Sweep now and again and again, until canceled; look through the database daily."""
        while True:
            for step in (self.sweep, self._context.readiness.examine):
                try:
                    await step()
                except Exception:  # noqa: BLE001 - logged; the next round may go better
                    _log.exception("the sweeper failed")
            await asyncio.sleep(_ROUND_SECONDS)

    async def sweep(self) -> None:
        """Do one round."""
        context, now = self._context, self._context.clock()
        while await context.database.write(uploads.sweep(now)):
            pass
        await context.database.write(idempotency.prune(now))
        await self._expire(now)
        while keys := await context.database.read(outputs.keys_to_delete()):
            if not await remove_files(context, keys):
                break
        await self._remove_orphans()
        await asyncio.to_thread(_sweep_scratch, context.settings.scratch, now / 1000)

    async def _remove_orphans(self) -> None:
        """Look at as many stored outputs as a round may, and remove those that nobody has."""
        storage, left = self._context.storage, _FILES
        if not self._folders:
            self._folders = await storage.names(OUTPUTS)
        while self._folders and left > 0:
            folder = OUTPUTS + self._folders.pop()  # the newest first
            names = await storage.names(folder)
            left -= len(names)
            for first in range(0, len(names), _AT_ONCE):
                keys = [f"{folder}/{name}" for name in names[first : first + _AT_ONCE]]
                for key in await self._context.database.read(outputs.orphans(keys)):
                    with suppress(OSError):  # the next time will tell
                        await storage.remove(key)
                await asyncio.sleep(0)  # whoever asks for something meanwhile comes first

    async def _expire(self, now: int) -> None:
        """Delete outputs that were kept for their days, and uploads that none used since then."""
        database, days = self._context.database, self._context.settings.keep_outputs_days
        if days is None:
            return
        while (seen := await database.write(outputs.expire(self._seen, days, now))) != self._seen:
            self._seen = seen
        while await database.write(uploads.expire(days, now)):
            pass


def _sweep_scratch(folder: Path, now: float) -> None:
    for path in folder.glob("*"):
        if now - path.stat().st_mtime > _OLD_SCRATCH_SECONDS:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
