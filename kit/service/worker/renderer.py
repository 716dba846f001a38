"""Rendering on one machine: inputs and results are transferred by the storage, jobs run in a pool.

Orders contain no paths of a machine and no secrets, so the service and the workers of a cluster
render them alike: paths and variables are those of the machine that renders.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kit.errors import NotFoundError, UnavailableError
from kit.service.domain import outputs
from kit.service.settings import ServiceSettings
from kit.service.storage import Storage
from kit.service.worker.environment import pick_variables
from kit.service.worker.pool import JobError, Pool

if TYPE_CHECKING:
    from kit.service.worker.signing import ResultSigner

_log = logging.getLogger("kit.worker")

#: Bytes that should be free on a disk for the files of a job.
_FREE_BYTES = 32 << 20


def has_room(folder: str | Path) -> bool:
    """Whether the disk of a folder has room for the files of a job."""
    try:
        return shutil.disk_usage(folder).free >= _FREE_BYTES
    except OSError:  # it is gone
        return False


class Renderer:
    """Renders orders in a pool of this machine; see also `kit.service.worker.cluster.Cluster`."""

    resident_slots = 1
    #: None for all models of the service; see `Cluster.models`.
    models = None

    def __init__(self, storage: Storage, pool: Pool, settings: ServiceSettings) -> None:
        self._storage = storage
        self._pool = pool
        self._settings = settings
        self.max_slots, self._had_room = pool.slots, True
        #: The part of all tasks that depends on this machine.
        self._paths = {
            "outputs": str(storage.outputs.folder),
            "engines": [str(settings.engines_file), str(settings.engine_copies)],
        }
        self._signer: ResultSigner | None = None
        if settings.signing_cert:  # only signing imports Pillow into the service
            from kit.service.worker.signing import ResultSigner

            self._signer = ResultSigner(settings)

    @property
    def slots(self) -> int:
        """Number of concurrent jobs; 0 while the disk is full and other machines may have room."""
        room = not self._storage.direct or has_room(self._settings.data)
        if self._had_room and not room:
            _log.warning("the disk of %s is full: jobs wait for room", self._settings.data)
        self._had_room = room
        return self.max_slots if room else 0

    async def run(
        self,
        name: str,
        order: Mapping[str, Any],
        on_progress: Callable[[float], None],
        *,
        resident: bool = False,
    ) -> dict[str, Any]:
        """Render an order, store its files and return their facts.

        Raises `JobError` if it failed permanently, also if an input is missing or the storage
        accepts no result; `LostError` if the process ended meanwhile.
        """
        task = await self._build_task(order)
        result = await self._pool.run(name, task, on_progress, resident=resident)
        if self._signer:
            media = [Path(path) for group in task["media"].values() for path in group]
            facts = order["generation_id"], result, self._storage.outputs, media
            result = await asyncio.to_thread(self._signer.sign, *facts)
        try:
            await self._storage.publish(outputs.files_of(result))
        except UnavailableError:
            sentence = "the result could not be stored; try again later"
            raise JobError(sentence, "not_stored") from None
        return result

    def cancel(self, name: str) -> bool:
        """Request the process of a job to stop; see `Pool.cancel`."""
        return self._pool.cancel(name)

    async def close(self) -> None:
        """Kill all processes."""
        self._pool.close()

    async def _build_task(self, order: Mapping[str, Any]) -> dict[str, Any]:
        """Return the task for a render process: the order with the paths of this machine."""
        try:
            media = {
                name: [
                    str(await self._storage.fetch_local(key, self._settings.scratch))
                    for key in keys
                ]
                for name, keys in order["media"].items()
            }
        except NotFoundError:
            raise JobError("an input file is gone; send it again", "input_gone") from None
        except UnavailableError:
            sentence = "an input file could not be read; try again later"
            raise JobError(sentence, "input_unread") from None
        return {
            **order,
            **self._paths,
            "media": media,
            "environment": pick_variables(order["environment"]),
        }
