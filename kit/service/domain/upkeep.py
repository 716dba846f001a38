"""Upkeep: readiness probes, and regular removal of data that is no longer needed.

A probe writes, because a full disk or a read-only folder can still be read. The database is
examined daily, and more often if it is small and probes arrive.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from kit.errors import UnavailableError
from kit.service.domain import idempotency, outputs, uploads, webhooks
from kit.service.settings import ServiceSettings
from kit.service.storage import Storage
from kit.service.storage.keys import OUTPUTS
from kit.service.store import Database, checks
from kit.service.store.database import Transaction, attempt, one

T = TypeVar("T")
_log = logging.getLogger("kit.service")

_DAY_MS = 24 * 3600 * 1000
_STEADY_MS = 3600 * 1000
#: Seconds for which the result of a probe is reused.
_REUSE_SECONDS = 1.0
#: Seconds that a probe waits for an examination; if it takes longer, a later probe reports it.
_WAIT_SECONDS = 0.5
#: Pause after an examination as a multiple of its time: probes cost at most 1 % of a processor.
_PAUSE_FACTOR = 100
_READY, _EXAMINED, _SWEPT, _JUMPED = "ready", "examined", "swept", "jumped"
ROUND_SECONDS = 600.0
_OLD_SCRATCH_SECONDS = 24 * 3600
#: Stored outputs that are checked at a time, by one query.
_BATCH_FILES = 50


@dataclass(eq=False, slots=True)
class Readiness:
    """Checks whether a service can work."""

    database: Database
    storage: Storage
    #: Wall clock in milliseconds since 1970; below, a monotonic clock in seconds.
    clock: Callable[[], int]
    seconds: Callable[[], float]
    #: Time limit in seconds for the database to answer or write a row, and for the storage to write
    #: a file: clients of probes usually wait 10 s.
    timeout: float = 5.0
    _probe: asyncio.Task[None] | None = field(default=None, init=False)
    _probed_at: float = field(default=0.0, init=False)
    _examination: asyncio.Task[None] | None = field(default=None, init=False)
    #: When probes may examine the database again.
    _examination_due: float = field(default=0.0, init=False)

    async def probe(self) -> None:
        """Write a row and a file, or reuse the result of the last second."""
        now = self.seconds()
        if self._probe is None or (self._probe.done() and now - self._probed_at >= _REUSE_SECONDS):
            self._probe, self._probed_at = _start_task(self._write_probe()), now
        await asyncio.shield(self._probe)
        if self.database.damage:
            raise UnavailableError("the database is damaged; see the log, and restore a backup")

    async def read(self, work: Transaction[T]) -> T:
        """Return the result of a query; raises an error after the time limit."""
        return await self._limit_time("database", self.database.read(work))

    async def examine(self) -> None:
        """Examine the database if the last examination was more than a day ago."""
        last = await self.database.read(one(checks.find(name=_EXAMINED)))
        if last is None or not 0 <= self.clock() - last.at < _DAY_MS:
            await asyncio.shield(self._start_examination())

    def stop(self) -> None:
        """Cancel running probes and examinations."""
        for task in (self._probe, self._examination):
            if task is not None:
                task.cancel()

    async def _write_probe(self) -> None:
        mark = _mark(_READY, self.clock())
        await self._limit_time("database", self.database.write(mark, durable=False))
        if not await self._limit_time("storage", self.storage.is_writable()):
            raise UnavailableError("the storage cannot be written")
        if self.seconds() >= self._examination_due:
            with suppress(TimeoutError):
                async with asyncio.timeout(_WAIT_SECONDS):
                    await asyncio.shield(self._start_examination())

    async def _limit_time(self, what: str, work: Coroutine[Any, Any, T]) -> T:
        try:
            async with asyncio.timeout(self.timeout):
                return await work
        except TimeoutError:
            raise UnavailableError(f"the {what} does not answer") from None

    def _start_examination(self) -> asyncio.Task[None]:
        """Return the running examination, or start one."""
        if self._examination is None or self._examination.done():
            self._examination = _start_task(self._run_examination())
        return self._examination

    async def _run_examination(self) -> None:
        problem, seconds = await self.database.examine()
        self._examination_due = self.seconds() + max(_REUSE_SECONDS, _PAUSE_FACTOR * seconds)
        if problem:
            _log.error("the database is damaged: %s; restore a backup with 'kit restore'", problem)
        else:
            await self.database.write(_mark(_EXAMINED, self.clock()), durable=False)


def _mark(name: str, now: int) -> Transaction[None]:
    yield checks.mark(name=name, at=now)


def _start_task(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """Return a task whose error is ignored unless it is awaited."""
    task = asyncio.create_task(work)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return task


@dataclass(eq=False, slots=True)
class Sweeper:
    """Removes unused uploads, old outputs, files without a row, stored responses, scratch files."""

    database: Database
    storage: Storage
    settings: ServiceSettings
    readiness: Readiness
    clock: Callable[[], int]
    #: Maximum of stored outputs that are checked in a round.
    max_files: int = 20_000
    #: The last generation whose outputs were checked: each is checked once in a run.
    _last_checked: str = field(default="", init=False)
    #: Keys of outputs that are not checked yet in this pass, in batches.
    _unchecked: AsyncIterator[list[str]] | None = field(default=None, init=False)

    async def run(self) -> None:
        """Sweep in rounds until canceled; examine the database daily."""
        while True:
            for step in (self.sweep, self.readiness.examine):
                await attempt(step, "the sweeper failed")
            await asyncio.sleep(ROUND_SECONDS)

    async def sweep(self) -> None:
        """Run one round."""
        now = self.clock()
        # If clients send files directly to the storage, a ticket may have its file already.
        grace = uploads.UNUSED_MS if self.storage.direct else uploads.GRACE_MS
        while await self.database.write(uploads.remove_unused(now, grace=grace)):
            pass
        for prune in idempotency.prune, webhooks.prune:
            while await self.database.write(prune(now), durable=False):  # in short transactions
                pass
        if self.database.shared:
            await self.database.shared.prune()
        await self._expire(now)
        while keys := await self.database.read(outputs.keys_to_delete()):
            if not await outputs.remove_files(self.database, self.storage, keys):
                break
        await self._remove_orphans()
        await tidy(self.storage, self.settings.scratch, now / 1000)

    async def _remove_orphans(self) -> None:
        """Check a limited number of stored outputs, and remove those without a generation."""
        self._unchecked = self._unchecked or self._list_outputs()
        for _ in range(self.max_files // _BATCH_FILES):
            keys = await anext(self._unchecked, None)
            if keys is None:
                self._unchecked = None  # the next round begins again
                break
            for key in await self.database.read(outputs.find_orphans(keys)):
                with suppress(OSError):  # the next round tries again
                    await self.storage.remove(key)

    async def _list_outputs(self) -> AsyncIterator[list[str]]:
        """Yield the keys of all outputs in batches, the newest folder first."""
        for folder in reversed(await self.storage.names(OUTPUTS)):
            async for keys in self.storage.list_files(OUTPUTS + folder, _BATCH_FILES):
                yield keys

    async def _expire(self, now: int) -> None:
        """Delete outputs and unused uploads that are older than their retention in days."""
        database, days = self.database, self.settings.keep_outputs_days
        if days is None or not await self._is_steady(now):
            return
        while (
            last := await database.write(outputs.delete_old(self._last_checked, days, now))
        ) != self._last_checked:
            self._last_checked = last
        while await database.write(uploads.remove_old(days, now)):
            pass

    async def _is_steady(self, now: int) -> bool:
        """Whether an hour has passed since the clock jumped or the service was off for a day.

        While the clock may be wrong, nothing is deleted by age.
        """
        read, write = self.database.read, self.database.write
        last, jump = [await read(one(checks.find(name=name))) for name in (_SWEPT, _JUMPED)]
        await write(_mark(_SWEPT, now), durable=False)
        if last and abs(now - last.at) > _DAY_MS:
            await write(_mark(_JUMPED, now))
            return False
        return jump is None or now - jump.at >= _STEADY_MS


async def tidy(storage: Storage, scratch: Path, now: float) -> None:
    """Remove scratch files of jobs and transfers that were not used for a day."""
    await asyncio.to_thread(_sweep_scratch, scratch, now)
    await storage.tidy()


def _sweep_scratch(folder: Path, now: float) -> None:
    for path in folder.glob("*"):
        with suppress(OSError):  # its job has just ended, or a program on Windows has it open
            if now - path.stat().st_mtime > _OLD_SCRATCH_SECONDS:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
