"""Jobs of workers that died: queued again, or failed after too many losses.

Every worker holds a lock on a file while its process lives, and the system lets go of it however
the process ends. So what a killed worker of this machine had claimed is taken over at once; workers
on other machines are known by their leases alone. Nothing of a lost job is kept but its row.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from kit.private import make_folder, try_lock
from kit.service.domain import idempotency, queue
from kit.service.metrics import ServiceMetrics
from kit.service.store.database import Database, Transaction

_log = logging.getLogger("kit.worker")

_SUFFIX = ".alive"
_OLD_SECONDS = 24 * 3600


class WorkerLock:
    """The lock that shows that a worker is alive.

    Parameters
    ----------
    folder : Path
        Shared by the workers of one data folder.
    name : str
        This worker's.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._path = folder / f"{name}{_SUFFIX}"
        make_folder(folder)
        self._remove_old()
        self._path.touch(mode=0o600)
        self._file = self._path.open("w")
        try_lock(self._file.fileno())

    def find_dead(self, names: Iterable[str]) -> list[str]:
        """Return those of some workers that ran on this machine and were killed."""
        return [name for name in names if self._is_dead(self._folder / f"{name}{_SUFFIX}")]

    def release(self) -> None:
        """Take the lock and its file away."""
        self._file.close()
        self._path.unlink(missing_ok=True)

    def _remove_old(self) -> None:
        """Remove the files of killed workers once no claim of theirs can be left."""
        for path in self._folder.glob(f"*{_SUFFIX}"):
            with suppress(OSError):  # another one that starts does so too
                if time.time() - path.stat().st_mtime > _OLD_SECONDS and self._is_dead(path):
                    path.unlink()

    def _is_dead(self, path: Path) -> bool:
        if path == self._path:
            return False
        try:
            with path.open("r+") as file:
                return try_lock(file.fileno())
        except FileNotFoundError:
            return False  # never here, or stopped in good order: its lease decides


class Recovery:
    """Finds and settles the jobs of workers that died.

    Parameters
    ----------
    attempts : int
        How often a job may be lost before it fails.
    clock : callable
        Milliseconds since 1970.
    """

    def __init__(
        self,
        database: Database,
        lock: WorkerLock,
        attempts: int,
        clock: Callable[[], int],
        metrics: ServiceMetrics,
    ) -> None:
        self._database = database
        self._lock = lock
        self._attempts = attempts
        self._clock = clock
        self._metrics = metrics

    def settle_lost(self, row: Any) -> Transaction[bool]:
        """Settle a job whose render process is gone; False where it no longer counts."""
        now = self._clock()
        return queue.requeue_lost(row.id, row.attempt, row.losses, attempts=self._attempts, now=now)

    async def settle_expired(self) -> bool:
        """Settle the jobs whose claims have run out, and return whether there were any."""
        return await self._settle(queue.requeue_expired(attempts=self._attempts, now=self._clock()))

    async def settle_dead_workers(self) -> bool:
        """Settle at once the jobs and requests of workers on this machine that were killed.

        Returns whether there were jobs.
        """
        owners = {
            *await self._database.read(queue.list_owners()),
            *await self._database.read(idempotency.list_owners()),
        }
        found = False
        for name in self._lock.find_dead(owners):
            claims = queue.requeue_worker(name, attempts=self._attempts, now=self._clock())
            found = await self._settle(claims) or found
            await self._database.write(idempotency.release_worker(name))
        return found

    def count_lost(self, lost: Sequence[Any]) -> None:
        """Count lost jobs, and those that failed with this loss.

        Parameters
        ----------
        lost : sequence of row
            As they were before.
        """
        self._metrics.lost.inc(len(lost))
        for row in lost:
            if row.losses + 1 >= self._attempts:
                self._metrics.finished.labels(row.model_id, "failed").inc()

    async def _settle(self, claims: Transaction[list[Any]]) -> bool:
        lost = await self._database.write(claims)
        if lost:
            self.count_lost(lost)
            _log.warning("%(lost)d claims ran out", {"event": "claims_expired", "lost": len(lost)})
        return bool(lost)
