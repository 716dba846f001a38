"""The dispatcher: claims generations, has them rendered, settles them.

It holds no truth of its own: every claim, report and result is a transaction that is fenced by the
attempt. Whatever is killed, the rows say what to do next.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from kit.service.domain import queue, uploads
from kit.service.settings import Settings
from kit.service.storage.base import Storage
from kit.service.storage.keys import output_key, upload_key
from kit.service.store.database import Database
from kit.service.worker.pool import JobError, LostError, Pool

_log = logging.getLogger("kit.worker")

#: Seconds between two looks at the queue when nobody says that there is something.
_LOOK_EVERY = 1.0


class Dispatcher:
    """Keeps a pool of render processes busy with what is in the queue.

    Parameters
    ----------
    clock : callable
        Milliseconds since 1970.
    """

    def __init__(
        self,
        database: Database,
        storage: Storage,
        pool: Pool,
        settings: Settings,
        clock: Callable[[], int],
    ) -> None:
        self.name = secrets.token_hex(8)
        #: How far the jobs of this process are, by generation id; newer than the rows.
        self.progress: dict[str, float] = {}
        self._database = database
        self._storage = storage
        self._pool = pool
        self._settings = settings
        self._clock = clock
        self._wake = asyncio.Event()
        self._jobs: dict[tuple[str, int], asyncio.Task[None]] = {}
        self._loops: list[asyncio.Task[None]] = []
        self._stopping = False

    def start(self) -> None:
        """Begin to work, in the running event loop."""
        if self._pool.slots:
            self._loops = [
                asyncio.create_task(self._forever(self._fill, _LOOK_EVERY)),
                asyncio.create_task(self._forever(self._watch, _LOOK_EVERY)),
                asyncio.create_task(self._forever(self._beat, self._settings.lease_seconds / 3)),
            ]

    def wake(self) -> None:
        """Say that something was queued."""
        self._wake.set()

    def cancel(self, generation_id: str) -> None:
        """Kill the process of a generation that was canceled, if it runs here."""
        self._pool.cancel(generation_id)

    async def stop(self) -> None:
        """Let running jobs finish for a while, hand the rest back, end the processes."""
        self._stopping = True
        if self._jobs:
            await asyncio.wait(self._jobs.values(), timeout=self._settings.grace_seconds)
        for task in [*self._loops, *self._jobs.values()]:
            task.cancel()
        await asyncio.gather(*self._loops, *self._jobs.values(), return_exceptions=True)
        self._pool.close()

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
        while not self._stopping and (free := self._pool.slots - len(self._jobs)) > 0:
            self._wake.clear()
            now = self._clock()
            rows = await self._database.write(
                queue.claim(self.name, free, lease=self._lease(now), now=now)
            )
            if not rows:
                return
            for row in rows:
                self._jobs[row.id, row.attempt] = asyncio.create_task(self._one(row))
        self._wake.clear()

    async def _beat(self) -> None:
        """Prolong the claims of running jobs and take over what others lost."""
        now = self._clock()
        if self._jobs:
            await self._database.write(queue.renew(list(self._jobs), lease=self._lease(now)))
        attempts = self._settings.attempts
        if await self._database.write(queue.expire(attempts=attempts, now=now)):
            self.wake()

    async def _watch(self) -> None:
        """Write progress down for other processes, and stop jobs that were canceled by them."""
        if not self._jobs:
            return
        held = await self._database.read(queue.held(self.name))
        now = self._clock()
        for generation_id, attempt in list(self._jobs):
            if (generation_id, attempt) not in held:
                self._pool.cancel(generation_id)
            elif fraction := self.progress.get(generation_id):
                await self._database.write(queue.report(generation_id, attempt, fraction, now))

    async def _one(self, row: Any) -> None:
        folder = self._settings.scratch / f"{row.id}.{row.attempt}"
        try:
            await self._settle(row, folder)
        except asyncio.CancelledError:
            now = self._clock()
            await self._database.write(queue.hand_back(row.id, row.attempt, now))
            raise
        except Exception:  # noqa: BLE001 - logged
            # Not settled: the claim runs out and the job is tried again.
            _log.exception("generation %s could not be settled", row.id)
        finally:
            self._jobs.pop((row.id, row.attempt), None)
            self.progress.pop(row.id, None)
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
            self.wake()

    async def _settle(self, row: Any, folder: Path) -> None:
        attempt = row.attempt
        try:
            task = await self._task(row, folder)
            result = await self._pool.run(row.id, task, self._reporter(row.id))
            output = await self._keep(row.id, result)
            done = queue.finish(row.id, attempt, output, self._clock())
        except JobError as error:
            done = queue.fail(row.id, attempt, str(error), error.code, self._clock())
        except LostError:
            attempts = self._settings.attempts
            now = self._clock()
            await self._database.write(
                queue.lose(row.id, attempt, row.losses, attempts=attempts, now=now)
            )
            return
        await self._database.write(done)

    async def _task(self, row: Any, folder: Path) -> dict[str, Any]:
        await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        media: Mapping[str, list[str]] = orjson.loads(row.media)
        wanted = [upload_id for group in media.values() for upload_id in group]
        files = await self._database.read(uploads.of_generation(wanted))
        paths = {
            upload_id: str(await self._storage.local(upload_key(file), folder))
            for upload_id, file in files.items()
        }
        return {
            "do": "render",
            "model_id": row.model_id,
            "prompt": row.prompt,
            "parameters": orjson.loads(row.parameters),
            "seed": row.seed,
            "media": {name: [paths[i] for i in group] for name, group in media.items()},
            "folder": str(folder),
        }

    async def _keep(self, generation_id: str, result: dict[str, Any]) -> dict[str, Any]:
        """Move the files of a finished job into the storage; return what the row says of them."""
        output = {
            k: v for k, v in result.items() if k not in ("path", "thumbnail") and v is not None
        }
        digest = result["sha256"]
        path = Path(result["path"])
        output["key"] = output_key(generation_id, digest, path.suffix)
        await self._storage.keep(path, output["key"])
        if result["thumbnail"]:
            thumbnail = Path(result["thumbnail"])
            output["thumbnail"] = output_key(
                generation_id, f"{digest[:16]}-small", thumbnail.suffix
            )
            await self._storage.keep(thumbnail, output["thumbnail"])
        return output

    def _reporter(self, generation_id: str) -> Callable[[float], None]:
        def report(fraction: float) -> None:
            self.progress[generation_id] = fraction

        return report

    def _lease(self, now: int) -> int:
        return now + int(self._settings.lease_seconds * 1000)
