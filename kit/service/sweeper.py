"""The sweeper: removes what has had its time, in rounds, while the service runs."""

from __future__ import annotations

import asyncio
import logging
import shutil
from pathlib import Path

from kit.service.domain import idempotency, outputs, uploads
from kit.service.http.context import Context
from kit.service.http.outputs import remove_files

_log = logging.getLogger("kit.service")

_ROUND_SECONDS = 600.0
_OLD_SCRATCH_SECONDS = 24 * 3600


class Sweeper:
    """Removes unused uploads, old outputs, kept answers and left-over scratch files."""

    def __init__(self, context: Context) -> None:
        self._context = context
        #: The last generation whose outputs were looked at: each is looked at once a run.
        self._seen = ""

    async def run(self) -> None:
        """Sweep now and again and again, until canceled; look through the database daily."""
        while True:
            for step in (self._context.readiness.examine, self.sweep):
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
        while keys := await context.database.read(outputs.unwanted()):
            if not await remove_files(context, keys):
                break
        await asyncio.to_thread(_sweep_scratch, context.settings.scratch, now / 1000)

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
