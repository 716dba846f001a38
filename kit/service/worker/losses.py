"""Jobs whose processes are gone: back into the queue, or given up after too many losses.

A lost job is tried again by whoever claims it next; nothing of it is taken over but its row.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from kit.service.domain import idempotency, queue
from kit.service.metrics import FINISHED, LOST, ServiceMetrics
from kit.service.settings import ServiceSettings
from kit.service.store.database import Database, Transaction
from kit.service.worker.presence import Presence

_log = logging.getLogger("kit.worker")


class Losses:
    """Finds and settles lost jobs.

    Parameters
    ----------
    presence : Presence
        Of the workers of this machine.
    clock : callable
        Milliseconds since 1970.
    """

    def __init__(
        self,
        database: Database,
        presence: Presence,
        settings: ServiceSettings,
        clock: Callable[[], int],
        metrics: ServiceMetrics,
    ) -> None:
        self._database = database
        self._presence = presence
        self._attempts = settings.attempts
        self._clock = clock
        self._metrics = metrics

    def mine(self, row: Any) -> Transaction[bool]:
        """Settle a job whose process here is gone; False where it no longer counts."""
        now = self._clock()
        return queue.lose(row.id, row.attempt, row.losses, attempts=self._attempts, now=now)

    async def expired(self) -> bool:
        """Settle the jobs whose claims have run out, and return whether there were any."""
        return await self._settled(queue.expire(attempts=self._attempts, now=self._clock()))

    async def inherited(self) -> bool:
        """Settle at once the jobs and requests of runs on this machine that were killed.

        Returns whether there were jobs.
        """
        claimed = await self._database.read(queue.owners())
        asked = await self._database.read(idempotency.owners())
        found = False
        for name in self._presence.dead({*claimed, *asked}):
            claims = queue.abandon(name, attempts=self._attempts, now=self._clock())
            found = await self._settled(claims) or found
            await self._database.write(idempotency.disown(name))
        return found

    def count(self, lost: Sequence[Any]) -> None:
        """Count losses, and those after which a job was given up as failed.

        Parameters
        ----------
        lost : sequence of row
            As they were before.
        """
        self._metrics.count(LOST, by=len(lost))
        for row in lost:
            if row.losses + 1 >= self._attempts:
                self._metrics.count(FINISHED, row.model_id, "failed")

    async def _settled(self, claims: Transaction[list[Any]]) -> bool:
        lost = await self._database.write(claims)
        if not lost:
            return False
        self.count(lost)
        facts = {"event": "claims_expired", "lost": len(lost)}
        _log.warning("%(lost)d claims ran out", facts)
        return True
