"""The dispatcher: claims generations, has them rendered, settles them.

It holds no truth of its own: every claim, report and result is a transaction that is fenced by the
attempt. Whatever is killed, the rows say what to do next.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from kit.engines.base import Engine
from kit.errors import NotFoundError, UnavailableError
from kit.service.domain import idempotency, outputs, queue, uploads
from kit.service.metrics import FINISHED, RENDER_SECONDS, ServiceMetrics
from kit.service.settings import ServiceSettings
from kit.service.storage.base import Storage
from kit.service.store.database import Database, Transaction
from kit.service.worker import tasks
from kit.service.worker.environment import pick_variables
from kit.service.worker.hub import Hub
from kit.service.worker.losses import Losses
from kit.service.worker.pool import JobError, LostError, Pool
from kit.service.worker.presence import Presence
from kit.service.worker.seat import Seat
from kit.service.worker.turns import Turns

_log = logging.getLogger("kit.worker")

#: Seconds between two looks at the queue when nobody says that there is something.
_LOOK_EVERY = 1.0


class Dispatcher:
    """Keeps a pool of render processes busy with what is in the queue.

    Parameters
    ----------
    clock : callable
        Milliseconds since 1970.
    engines : mapping of str to Engine
        What jobs need: turns where an engine is resident, and variables.
    """

    def __init__(
        self,
        database: Database,
        storage: Storage,
        pool: Pool,
        settings: ServiceSettings,
        clock: Callable[[], int],
        metrics: ServiceMetrics | None = None,
        engines: Mapping[str, Engine] | None = None,
    ) -> None:
        self.name = secrets.token_hex(8)
        #: How far the jobs of this process are, by generation id; newer than the rows.
        self.progress: dict[str, float] = {}
        #: Wakes whoever watches a generation.
        self.hub = Hub(settings.watchers, settings.watchers_per_account)
        self._presence = Presence(settings.data / "workers", self.name)
        self._database = database
        self._storage = storage
        self._pool = pool
        self._settings = settings
        self._clock = clock
        self._metrics = metrics or ServiceMetrics()
        self._losses = Losses(database, self._presence, settings, clock, self._metrics)
        self._engines = engines or {}
        self._turns = Turns(name for name, engine in self._engines.items() if engine.resident)
        self._wake = asyncio.Event()
        self._jobs: dict[tuple[str, int], asyncio.Task[None]] = {}
        self._loops: list[asyncio.Task[None]] = []
        self._promised = 0
        #: Whether something may wait for which there was no free process.
        self._more = False
        self._stopping = False

    async def start(self) -> None:
        """Take over what killed runs have left, and begin to work."""
        await self._inherit()
        steps = {self._inherit: _LOOK_EVERY}
        if self._pool.slots:
            steps |= {self._fill: _LOOK_EVERY, self._watch: _LOOK_EVERY}
            steps[self._beat] = self._settings.lease_seconds / 3
        self._loops = [
            asyncio.create_task(self._forever(step, every)) for step, every in steps.items()
        ]

    @property
    def running(self) -> int:
        """How many jobs are rendered here just now."""
        return len(self._jobs)

    @property
    def _free(self) -> int:
        """How many processes have nothing to do and are promised to nobody."""
        return 0 if self._stopping else self._pool.slots - len(self._jobs) - self._promised

    @contextmanager
    def seat(self, model_id: str) -> Iterator[Seat]:
        """Offer a free process to a job of a model that is about to be started, or none.

        Whoever starts it leaves its row there; without one, or after an error, the process is free
        again.
        """
        if self._wake.is_set() or self._free <= 0 or model_id in self._turns.later:
            # What waits already comes first.
            yield Seat(None)
            self.wake()
            return
        seat = Seat(queue.Claim(self.name, self._lease(self._clock())))
        self._promised += 1
        try:
            yield seat
        except BaseException:
            seat.row = None  # whatever was begun is undone
            raise
        finally:
            self._promised -= 1
            if seat.row is None:
                self.wake()
            else:
                self._begin(seat.row)

    def wake(self) -> None:
        """Say that something was queued."""
        self._wake.set()

    def cancel(self, generation_id: str) -> None:
        """Kill the process of a generation that was canceled, if it runs here."""
        self._pool.cancel(generation_id)
        self.hub.tell(generation_id)

    async def stop(self) -> None:
        """Let running jobs finish for a while, hand the rest back, end the processes."""
        self._stopping = True
        if self._jobs:
            await asyncio.wait(self._jobs.values(), timeout=self._settings.grace_seconds)
        for task in [*self._loops, *self._jobs.values()]:
            task.cancel()
        await asyncio.gather(*self._loops, *self._jobs.values(), return_exceptions=True)
        with suppress(UnavailableError):
            await self._database.write(idempotency.disown(self.name))
        self._pool.close()
        self._presence.close()

    async def _forever(self, step: Callable[[], Any], every: float) -> None:
        while True:
            try:
                await step()
            except Exception:  # noqa: BLE001 - logged
                # The next look may find a database that answers again.
                _log.exception("the dispatcher could not %s", step.__name__.strip("_"))
            with suppress(TimeoutError):
                async with asyncio.timeout(every):
                    await self._wake.wait() if step == self._fill else await asyncio.sleep(every)

    async def _fill(self) -> None:
        """Claim as many as there are free processes, until nothing waits."""
        while (free := self._free) > 0:
            self._wake.clear()
            rows = await self._database.write(self._claim(free), durable=False)
            if not rows:
                self._more = False
                return
            for row in rows:
                self._begin(row)
        self._more = True
        self._wake.clear()

    def _claim(self, most: int) -> Transaction[list[Any]]:
        now, most, later = self._clock(), self._turns.at_once(most), self._turns.later
        return queue.claim(self.name, most, lease=self._lease(now), now=now, later=later)

    def _begin(self, row: Any) -> None:
        self._turns.begin(row)
        self._jobs[row.id, row.attempt] = asyncio.create_task(self._one(row))

    async def _beat(self) -> None:
        """Prolong the claims of running jobs and take over what others lost."""
        now = self._clock()
        if self._jobs:
            claims = queue.renew(list(self._jobs), lease=self._lease(now))
            await self._database.write(claims, durable=False)
        if await self._losses.expired():
            self.wake()

    async def _inherit(self) -> None:
        """Take over at once what workers on this machine had claimed when they were killed."""
        if await self._losses.inherited():
            self.wake()

    async def _watch(self) -> None:
        """Write progress down for other processes, and stop jobs that were canceled by them."""
        if not self._jobs:
            return
        held = await self._database.read(queue.running_claims(self.name))
        now = self._clock()
        for claim in list(self._jobs):
            generation_id, attempt = claim
            fraction = self.progress.get(generation_id, 0.0)
            if claim not in held:
                self._pool.cancel(generation_id)
            elif fraction > held[claim]:
                report = queue.report(generation_id, attempt, fraction, now)
                await self._database.write(report, durable=False)

    async def _one(self, row: Any) -> None:
        try:
            await self._settle(row)
        except asyncio.CancelledError:
            now = self._clock()
            await self._database.write(queue.hand_back(row.id, row.attempt, now))
            raise
        except Exception:  # noqa: BLE001 - logged
            # Not settled: the claim runs out and the job is tried again.
            _log.exception("generation %s could not be settled", row.id)
        finally:
            self._turns.end(row)
            self._jobs.pop((row.id, row.attempt), None)
            self.progress.pop(row.id, None)
            self.hub.tell(row.id)
            if self._more:
                self.wake()

    async def _settle(self, row: Any) -> None:
        """Have a generation rendered, settle it and begin the next."""
        attempt, started = row.attempt, time.perf_counter()
        tasks.note("claimed", row, 0.0)
        result: dict[str, Any] = {}
        try:
            task, report = await self._task(row), self._reporter(row.id)
            resident = self._turns.takes(row.model_id)
            result = await self._pool.run(row.id, task, report, resident=resident)
            self._metrics.measure(RENDER_SECONDS, result.pop("seconds"), row.model_id)
            done, state = queue.finish(row.id, attempt, result, self._clock()), "completed"
        except JobError as error:
            done = queue.fail(row.id, attempt, str(error), error.code, self._clock())
            state = "failed"
        except LostError:
            done, state = self._losses.mine(row), "lost"
        self._turns.end(row)
        # What no longer counts was canceled, or taken over by another worker.
        counts, following = await self._database.write(self._and_claim(done))
        for claimed in following:
            self._begin(claimed)
        tasks.note(state if counts else "canceled", row, time.perf_counter() - started)
        if counts:
            if state != "lost":
                self._metrics.count(FINISHED, row.model_id, state)
            else:
                self._losses.count([row])
        elif result:
            await self._discard(outputs.files_of(result))
        if state == "lost":
            self.wake()  # it may be back in the queue

    async def _discard(self, keys: list[str]) -> None:
        """Remove files of a job that no longer counts, unless they are those of one that does."""
        for key in await self._database.read(outputs.orphans(keys)):
            with suppress(OSError):  # the sweeper tries again
                await self._storage.remove(key)

    def _and_claim(self, done: Transaction[bool]) -> Transaction[tuple[bool, list[Any]]]:
        """Settle a job and claim the next for the process that is free now, in one transaction."""
        counts = yield from done
        following = [] if self._stopping else (yield from self._claim(1))
        return counts, following

    async def _task(self, row: Any) -> dict[str, Any]:
        files = await self._database.read(uploads.of_generation(tasks.uploads_of(row)))
        try:
            task = await tasks.task_of(row, files, self._storage, self._settings.scratch)
        except NotFoundError:
            raise JobError("an input file is gone; send it again", "input_gone") from None
        places = (self._settings.engines_file, self._settings.engine_copies)
        engine = self._engines.get(row.model_id)
        variables = pick_variables(engine.environment) if engine else {}
        return {**task, "engines": [str(place) for place in places], "environment": variables}

    def _reporter(self, generation_id: str) -> Callable[[float], None]:
        def report(fraction: float) -> None:
            self.progress[generation_id] = fraction
            self.hub.tell(generation_id)

        return report

    def _lease(self, now: int) -> int:
        return now + int(self._settings.lease_seconds * 1000)
