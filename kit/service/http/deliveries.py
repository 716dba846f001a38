"""Deliveries: sends the ends of generations to webhooks, by `DeliverySender`."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from typing import TYPE_CHECKING, Any

import orjson

from kit.service import machine
from kit.service.domain import webhooks
from kit.service.http.context import Context, format_time
from kit.service.http.serializers import GenerationSerializer
from kit.service.store.database import attempt
from kit.version import __version__

if TYPE_CHECKING:
    from kit.service.http.delivery_sender import DeliverySender

_log = logging.getLogger("kit.service")
#: Maximum of concurrent attempts, in total and per account.
_MAX_RUNNING, _PER_ACCOUNT = 32, 4
#: Maximum of seconds between two checks for due deliveries; a check is one read of an index.
_POLL_SECONDS = 0.25
_STATUS_GONE = 410


class Deliveries:
    """Sends due deliveries, and retries failed ones."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._sender: DeliverySender | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._counts: Counter[str] = Counter()

    async def run(self) -> None:
        """Send until canceled; an interrupted attempt is repeated when its lease expires."""
        try:
            while True:
                await attempt(self._start_due, "due deliveries could not be read")
                if self._tasks:  # a finished one makes room for the next
                    first = asyncio.FIRST_COMPLETED
                    await asyncio.wait(self._tasks, timeout=_POLL_SECONDS, return_when=first)
                else:
                    await asyncio.sleep(_POLL_SECONDS)
        finally:
            for task in self._tasks:
                task.cancel()

    async def _start_due(self) -> None:
        """Start due deliveries up to the limits."""
        database, clock = self._context.database, self._context.clock
        due = await database.read(webhooks.next_due())
        if due is None or due > clock():
            return
        while len(self._tasks) < _MAX_RUNNING:
            busy = [name for name, count in self._counts.items() if count >= _PER_ACCOUNT]
            claimed = await database.write(webhooks.claim(busy, clock()), durable=False)
            if claimed is None:
                return
            self._counts[claimed[0].account_id] += 1
            task = asyncio.create_task(self._attempt(*claimed))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _attempt(self, row: Any, hook: Any, generation: Any, signer: Any) -> None:
        """Attempt a delivery once and store the result."""
        try:
            status, wait, error = 0, 0.0, "its webhook is gone"
            if hook and generation:
                status, wait, error = await self._send(row, hook, generation, signer)
            failure = None if status // 100 == 2 else error
            gone = status == _STATUS_GONE or not hook
            work = webhooks.settle(row, self._context.clock(), failure, wait=wait, gone=gone)
            state, number = await self._context.database.write(work)
            if state != "pending":
                self._context.metrics.deliveries.inc(state, by=number)
            facts = {"event": "delivery", "id": row.id, "attempt": row.attempts, "status": status}
            log = _log.warning if failure else _log.info
            facts |= {"state": state, "error": error}
            log("%(event)s %(id)s, attempt %(attempt)d: %(state)s, %(error)s", facts)
        except Exception:  # noqa: BLE001 - logged; the delivery is due again when its lease expires
            _log.exception("the result of the delivery %s could not be stored", row.id)
        finally:
            self._counts[row.account_id] -= 1
            self._counts += Counter()  # removes accounts without attempts

    async def _send(
        self, row: Any, hook: Any, generation: Any, signer: Any
    ) -> tuple[int, float, str]:
        """Return the result of an attempt, see `DeliverySender.send`."""
        context = self._context
        body = orjson.dumps(
            {
                "type": f"generation.{generation.state}",
                "timestamp": format_time(generation.completed_at),
                "data": GenerationSerializer(context, None, {}, 0)(generation),
            }
        )
        # The clock of this machine: receivers compare the time with theirs.
        now = machine.clock()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"creative-studio-kit/{__version__}",
            **webhooks.sign(signer, context.secret, row.id, body, now),
        }
        if self._sender is None:
            from kit.service.http.delivery_sender import DeliverySender, resolve

            self._sender = DeliverySender(resolve, context.settings.webhook_loopback)
        return await self._sender.send(hook.url, headers, body)
