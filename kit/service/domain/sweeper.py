"""The sweeper: removes expired uploads, outputs, kept answers and scratch files, in rounds."""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from kit.service.domain import idempotency, outputs, uploads, webhooks
from kit.service.domain.readiness import Readiness
from kit.service.settings import ServiceSettings
from kit.service.storage.base import Storage
from kit.service.storage.keys import OUTPUTS
from kit.service.store.database import Database

_log = logging.getLogger("kit.service")

_ROUND_SECONDS = 600.0
_OLD_SCRATCH_SECONDS = 24 * 3600
#: Stored outputs that are looked at in a round, and at once: each takes a read of its row.
_FILES, _AT_ONCE = 20_000, 50


class Sweeper:
    """Removes unused uploads, old outputs, files without a row, kept answers and scratch files."""

    def __init__(
        self,
        database: Database,
        storage: Storage,
        settings: ServiceSettings,
        readiness: Readiness,
        clock: Callable[[], int],
    ) -> None:
        self._database = database
        self._storage = storage
        self._settings = settings
        self._readiness = readiness
        self._clock = clock
        #: The last generation whose outputs were looked at: each is looked at once a run.
        self._seen = ""
        #: The folders of outputs that were not looked at in this turn, oldest first.
        self._folders: list[str] = []

    async def run(self) -> None:
        """Sweep in rounds until canceled; examine the database daily."""
        while True:
            for step in (self.sweep, self._readiness.examine):
                try:
                    await step()
                except Exception:  # noqa: BLE001 - logged; the next round may go better
                    _log.exception("the sweeper failed")
            await asyncio.sleep(_ROUND_SECONDS)

    async def sweep(self) -> None:
        """Do one round."""
        now = self._clock()
        # Where clients send files to the storage itself, a ticket may have its file already.
        late = uploads.UNUSED_MS if self._storage.direct else uploads.LATE_MS
        while await self._database.write(uploads.remove_unused(now, late=late)):
            pass
        await self._database.write(idempotency.prune(now))
        await self._database.write(webhooks.prune(now))
        if self._database.shared:
            await self._database.shared.prune()
        await self._expire(now)
        while keys := await self._database.read(outputs.keys_to_delete()):
            if not await outputs.remove_files(self._database, self._storage, keys):
                break
        await self._remove_orphans()
        await self._storage.tidy()
        await asyncio.to_thread(_sweep_scratch, self._settings.scratch, now / 1000)

    async def _remove_orphans(self) -> None:
        """Check as many stored outputs as a round may, and remove those without a generation."""
        storage, left = self._storage, _FILES
        if not self._folders:
            self._folders = await storage.names(OUTPUTS)
        while self._folders and left > 0:
            folder = OUTPUTS + self._folders.pop()  # the newest first
            names = await storage.names(folder)
            left -= len(names)
            for first in range(0, len(names), _AT_ONCE):
                keys = [f"{folder}/{name}" for name in names[first : first + _AT_ONCE]]
                for key in await self._database.read(outputs.find_orphans(keys)):
                    with suppress(OSError):  # the next round tries again
                        await storage.remove(key)
                await asyncio.sleep(0)  # requests come first

    async def _expire(self, now: int) -> None:
        """Delete outputs and unused uploads after the days that they are kept."""
        database, days = self._database, self._settings.keep_outputs_days
        if days is None:
            return
        while (
            seen := await database.write(outputs.delete_old(self._seen, days, now))
        ) != self._seen:
            self._seen = seen
        while await database.write(uploads.remove_old(days, now)):
            pass


def _sweep_scratch(folder: Path, now: float) -> None:
    for path in folder.glob("*"):
        if now - path.stat().st_mtime > _OLD_SCRATCH_SECONDS:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
