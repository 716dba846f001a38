"""The dispatcher: claims generations, has them rendered, and stores their results.

The rows are the only source of truth: claims, reports and results are transactions that check the
attempt. After any crash, the rows determine what happens next.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import orjson

from kit.engines.base import Engine
from kit.errors import UnavailableError
from kit.service.domain import idempotency, outputs, queue, uploads
from kit.service.metrics import ServiceMetrics
from kit.service.settings import ServiceSettings
from kit.service.storage import Storage
from kit.service.storage.keys import upload_key
from kit.service.store import Database
from kit.service.store.database import Transaction, attempt
from kit.service.worker.pool import JobError, LostError
from kit.service.worker.renderer import Renderer
from kit.service.worker.watchers import Watchers
from kit.service.worker.worker_lock import FOLDER, WorkerLock

if TYPE_CHECKING:
    from kit.service.worker.cluster import Cluster

_log = logging.getLogger("kit.worker")

#: Notification to other services that a generation is queued for which they may have a slot.
_QUEUE_NOTICE = "queue"
#: Seconds between two checks of the queue without a notification.
_POLL_SECONDS = 1.0
#: Time limit in seconds for releasing claims when the service stops.
_RELEASE_SECONDS = 5.0


@dataclass(slots=True)
class Reservation:
    """An idle render process that is reserved for a generation about to be started."""

    #: The claim to start the generation with; None if no process is idle.
    claim: queue.Claim | None
    #: The row of the generation, set by the caller that started it.
    row: Any = None


@dataclass(eq=False)
class Dispatcher:
    """Keeps render processes, here or on a cluster, busy with queued generations.

    `engines` define the environment variables of a model's jobs, and which engines are resident:
    these keep large weights, so their jobs run one after another, always in the same process. Other
    jobs do not wait for them.
    """

    _database: Database
    _storage: Storage
    _renderer: Renderer | Cluster
    _settings: ServiceSettings
    _clock: Callable[[], int]
    _metrics: ServiceMetrics
    _engines: Mapping[str, Engine]
    name: str = field(default_factory=partial(secrets.token_hex, 8), init=False)
    #: Progress of the jobs of this process by generation id; more recent than the rows.
    progress: dict[str, float] = field(default_factory=dict, init=False)
    #: Running jobs of resident engines.
    _resident_jobs: set[tuple[str, int]] = field(default_factory=set, init=False)
    _wake: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _jobs: dict[tuple[str, int], asyncio.Task[None]] = field(default_factory=dict, init=False)
    _loops: list[asyncio.Task[None]] = field(default_factory=list, init=False)
    _reserved: int = field(default=0, init=False)
    #: Whether generations may be queued for which no process was idle.
    _has_backlog: bool = field(default=False, init=False)
    _stopping: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        settings = self._settings
        self.watchers = Watchers(settings.watchers, settings.watchers_per_account)
        self._lock = WorkerLock(settings.data / FOLDER, self.name)
        self._resident = frozenset(name for name, it in self._engines.items() if it.resident)

    async def start(self) -> None:
        """Requeue the jobs of killed workers, and start the loops."""
        await self._take_over()
        steps = {self._take_over: _POLL_SECONDS}
        if self._settings.workers:
            steps |= {self._fill: _POLL_SECONDS, self._sync_rows: _POLL_SECONDS}
            steps[self._renew_claims] = self._settings.lease_seconds / 3
        self._loops = [
            asyncio.create_task(self._repeat(step, every)) for step, every in steps.items()
        ]

    @property
    def running(self) -> int:
        """The number of running jobs in this process."""
        return len(self._jobs)

    @property
    def slots(self) -> int:
        """Number of concurrent jobs of this process; 0 while its cluster is unavailable."""
        return self._renderer.slots

    @property
    def _free_slots(self) -> int:
        """Number of processes without a job or a reservation."""
        return 0 if self._stopping else self.slots - len(self._jobs) - self._reserved

    @property
    def _waiting_models(self) -> frozenset[str]:
        """Models whose jobs must wait now: those of resident engines if their slots are in use."""
        return frozenset() if self._resident_room > 0 else self._resident

    @property
    def _served_models(self) -> Collection[str] | None:
        """Models whose jobs are claimed if other services may have other models; None for all."""
        if self._renderer.models is not None:
            return self._renderer.models
        return self._engines.keys() if self._database.shared else None

    @property
    def _resident_room(self) -> int:
        """Number of further jobs of resident engines that can run now."""
        return self._renderer.resident_slots - len(self._resident_jobs)

    @contextmanager
    def reserve(self, model_id: str) -> Iterator[Reservation]:
        """Reserve an idle process, if there is one, for a job that is about to be started.

        If the caller sets no row, or after an error, the process is idle again.
        """
        served = self._served_models
        waits = model_id in self._waiting_models or (served is not None and model_id not in served)
        if self._wake.is_set() or self._free_slots <= 0 or waits:  # queued generations come first
            yield Reservation(None)
            self.wake()
            self.watchers.notify_others(_QUEUE_NOTICE)
            return
        reservation = Reservation(queue.Claim(self.name, self._lease_end(self._clock())))
        self._reserved += 1
        try:
            yield reservation
        except BaseException:
            reservation.row = None  # the start was rolled back
            raise
        finally:
            self._reserved -= 1
            if reservation.row is None:
                self.wake()
            else:
                self._start_job(reservation.row)

    def wake(self) -> None:
        """Check the queue as soon as a process is idle."""
        self._has_backlog = True
        if self._free_slots > 0:
            self._wake.set()

    def handle_notice(self, changed_id: str) -> None:
        """Handle a notification of another service."""
        if changed_id == _QUEUE_NOTICE:
            self.wake()
        else:
            self.watchers.wake(changed_id)

    def cancel(self, generation_id: str) -> None:
        """Stop the process of a canceled generation, if it runs here."""
        for job in self._jobs:
            if job[0] == generation_id:
                self._renderer.cancel(_job_name(*job))
        self.watchers.notify(generation_id)

    async def stop(self) -> None:
        """Wait a while for running jobs, release the rest, end the processes."""
        self._stopping = True
        if self._jobs:
            await asyncio.wait(self._jobs.values(), timeout=self._settings.grace_seconds)
        for task in [*self._loops, *self._jobs.values()]:
            task.cancel()
        await asyncio.gather(*self._loops, *self._jobs.values(), return_exceptions=True)
        with suppress(UnavailableError, TimeoutError):
            async with asyncio.timeout(_RELEASE_SECONDS):
                await self._database.write(idempotency.release_worker(self.name))
        await self._renderer.close()
        self._lock.release()

    async def _repeat(self, step: Callable[[], Any], every: float) -> None:
        while True:
            await attempt(step, f"the dispatcher could not {step.__name__.strip('_')}")
            with suppress(TimeoutError):
                async with asyncio.timeout(every):
                    await self._wake.wait() if step == self._fill else await asyncio.sleep(every)

    async def _fill(self) -> None:
        """Claim a generation for each idle process, until none is queued."""
        while (free := self._free_slots) > 0:
            self._wake.clear()
            rows = await self._database.write(self._claim(free), durable=False)
            if not rows:
                self._has_backlog = False
                return
            for row in rows:
                self._start_job(row)
        self._has_backlog = True
        self._wake.clear()

    def _claim(self, most: int) -> Transaction[list[Any]]:
        now, waiting = self._clock(), self._waiting_models
        if self._resident and self._resident_room > 0:
            most = min(most, self._resident_room)  # all of them may be of resident engines
        lease, served = self._lease_end(now), self._served_models
        return queue.claim(self.name, most, lease=lease, now=now, skipped=waiting, served=served)

    def _start_job(self, row: Any) -> None:
        job = row.id, row.attempt
        if row.model_id in self._resident:
            self._resident_jobs.add(job)
        self._jobs[job] = asyncio.create_task(self._run(row))

    async def _renew_claims(self) -> None:
        """Extend the claims of running jobs, and requeue expired ones."""
        if self._jobs:
            claims = queue.renew(list(self._jobs), lease=self._lease_end(self._clock()))
            await self._database.write(claims, durable=False)
        attempts, now = self._settings.attempts, self._clock()
        lease = self._lease_end(now)
        await self._settle_lost(queue.requeue_expired(attempts=attempts, now=now, lease=lease))

    async def _take_over(self) -> None:
        """Requeue immediately the jobs of killed workers of this machine."""
        owners = {
            *await self._database.read(queue.list_owners()),
            *await self._database.read(idempotency.list_owners()),
        }
        attempts = self._settings.attempts
        for name in self._lock.find_dead(owners):
            lost = queue.requeue_worker(name, attempts=attempts, now=self._clock())
            await self._settle_lost(lost)
            await self._database.write(idempotency.release_worker(name))

    async def _settle_lost(self, claims: Transaction[list[Any]]) -> None:
        """Requeue jobs of lost workers, or fail them after too many losses."""
        if lost := await self._database.write(claims):
            self._count_lost(lost)
            _log.warning("%(lost)d claims expired", {"event": "claims_expired", "lost": len(lost)})
            self.wake()

    def _count_lost(self, lost: Sequence[Any]) -> None:
        """Count lost jobs, and those that fail with this loss; rows are from before the loss."""
        self._metrics.lost.inc(by=len(lost))
        for row in lost:
            if row.losses + 1 >= self._settings.attempts:
                self._metrics.finished.inc(row.model_id, "failed")

    async def _sync_rows(self) -> None:
        """Store progress for other processes, and stop jobs that they have canceled."""
        if not (jobs := list(self._jobs)):  # of those that start meanwhile it reads no claims
            return
        claims = await self._database.read(queue.running_claims(self.name))
        now = self._clock()
        for job in jobs:
            generation_id, attempt = job
            fraction = self.progress.get(generation_id, 0.0)
            if job not in claims:
                self._renderer.cancel(_job_name(*job))
            elif fraction > claims[job]:
                report = queue.report(generation_id, attempt, fraction, now)
                await self._database.write(report, durable=False)
                self.watchers.notify(generation_id)

    async def _run(self, row: Any) -> None:
        job = row.id, row.attempt
        try:
            await self._render(row)
        except asyncio.CancelledError:
            await self._database.write(queue.release(*job, self._clock()))
            raise
        except Exception:  # noqa: BLE001 - logged
            # Not settled: the claim expires and the job is retried.
            _log.exception("generation %s could not be settled", row.id)
        finally:
            self._resident_jobs.discard(job)
            self._jobs.pop(job, None)
            self.progress.pop(row.id, None)
            self.watchers.notify(row.id)
            if self._has_backlog:
                self.wake()

    async def _render(self, row: Any) -> None:
        """Render a generation, settle it and start the next one."""
        attempt, started = row.attempt, time.perf_counter()
        _log_job("claimed", row, 0.0)
        result: dict[str, Any] = {}
        reason = ""

        def report(fraction: float) -> None:
            self.progress[row.id] = round(fraction, 4)
            self.watchers.wake(row.id)

        try:
            order = await self._build_order(row)
            resident = row.model_id in self._resident
            name = _job_name(row.id, attempt)
            result = await self._renderer.run(name, order, report, resident=resident)
            self._metrics.render_seconds.observe(result.pop("seconds"), row.model_id)
            settle = partial(queue.finish, row.id, attempt, result, self._clock())
            state = "completed"
        except JobError as error:
            settle = partial(queue.fail, row.id, attempt, str(error), error.code, self._clock())
            state, reason = "failed", error.code
        except LostError as error:
            state, reason, lost = "lost", str(error), (row.id, attempt, row.losses)
            again = partial(queue.requeue_lost, attempts=self._settings.attempts, reason=reason)
            settle = partial(again, *lost, now=self._clock())
        self._resident_jobs.discard((row.id, attempt))
        is_valid, claimed = await self._settle(settle)
        for next_row in claimed:
            self._start_job(next_row)
        # An attempt that no longer counts was canceled, or requeued for another worker.
        seconds = time.perf_counter() - started
        _log_job(state if is_valid else "canceled", row, seconds, reason if is_valid else "")
        if not is_valid:
            await self._discard(outputs.files_of(result) if result else [])
        elif state == "lost":
            self._count_lost([row])
        else:
            self._metrics.finished.inc(row.model_id, state)
        if state == "lost":
            self.wake()  # it may be queued again

    async def _discard(self, keys: list[str]) -> None:
        """Remove files of an attempt that no longer counts, unless a valid attempt has them."""
        for key in await self._database.read(outputs.find_orphans(keys)):
            with suppress(OSError):  # the sweeper retries
                await self._storage.remove(key)

    async def _settle(self, settle: Callable[[], Transaction[bool]]) -> tuple[bool, list[Any]]:
        """Settle a job and claim the next one; waits while the database is unavailable."""
        deadline = time.monotonic() + self._settings.lease_seconds
        while True:
            try:
                return await self._database.write(lambda: self._settle_and_claim(settle()))
            except UnavailableError:
                if self._stopping or time.monotonic() > deadline:
                    raise
                await asyncio.sleep(_POLL_SECONDS)

    def _settle_and_claim(self, settle: Transaction[bool]) -> Transaction[tuple[bool, list[Any]]]:
        """Settle a job and claim the next one for its process in one transaction."""
        is_valid = yield from settle
        is_full = self._stopping or self._free_slots < 0
        claimed = [] if is_full else (yield from self._claim(1))
        return is_valid, claimed

    async def _build_order(self, row: Any) -> dict[str, Any]:
        """Return the order of a generation; see `kit.service.worker.renderer`.

        Raises `JobError` if one of its uploads was removed.
        """
        files = await self._database.read(uploads.of_generations([row]))
        media: Mapping[str, list[str]] = orjson.loads(row.media)
        if any(upload_id not in files for group in media.values() for upload_id in group):
            raise JobError("an input file is gone; send it again", "input_gone")
        engine = self._engines.get(row.model_id)
        return {
            "do": "render",
            "generation_id": row.id,
            "model_id": row.model_id,
            "prompt": row.prompt,
            "parameters": orjson.loads(row.parameters),
            "seed": row.seed,
            "file_metadata": bool(self._settings.file_metadata and row.file_metadata),
            "inputs": sorted({one.generation_id for one in files.values() if one.generation_id}),
            "most_seconds": self._settings.job_seconds,
            # Names of variables from the environment of the machine that renders.
            "environment": list(engine.environment) if engine else [],
            "media": {name: [upload_key(files[i]) for i in group] for name, group in media.items()},
            "seconds": {
                name: [files[i].duration_ms / 1000 for i in group]
                for name, group in media.items()
                if all(files[i].duration_ms is not None for i in group)
            },
        }

    def _lease_end(self, now: int) -> int:
        return now + int(self._settings.lease_seconds * 1000)


def _job_name(generation_id: str, attempt: int) -> str:
    """Return the name of an attempt's job, unique among attempts of the same generation."""
    return f"{generation_id}-{attempt}"


def _log_job(what: str, row: Any, seconds: float, reason: str = "") -> None:
    """Log one line for a job, without its prompt or an engine's message, which may contain it."""
    level = logging.WARNING if what in ("failed", "lost") else logging.INFO
    if _log.isEnabledFor(level):
        facts = {
            "event": f"job_{what}",
            "what": f"{what} ({reason})" if reason else what,
            "generation": row.id,
            "attempt": row.attempt,
            "model": row.model_id,
            "seconds": round(seconds, 3),
        }
        line = "%(generation)s attempt %(attempt)d of %(model)s: %(what)s after %(seconds).3f s"
        _log.log(level, line, facts)
