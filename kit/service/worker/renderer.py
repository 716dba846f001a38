"""Rendering on one machine: inputs and results go through the storage, jobs run in the pool.

An order holds nothing of the machine that wrote it, and no secret, so it is rendered alike by the
service and by a worker of a cluster: places and variables are those of whoever renders.
"""

from __future__ import annotations

import asyncio
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


class Renderer:
    """Renders orders in a pool of this machine; see also `kit.service.worker.cluster.Cluster`."""

    resident_slots = 1
    #: Every model of the service; see `Cluster.models`.
    models = None

    def __init__(self, storage: Storage, pool: Pool, settings: ServiceSettings) -> None:
        self._storage = storage
        self._pool = pool
        self._settings = settings
        #: What tasks say of this machine.
        self._places = {
            "outputs": str(storage.outputs.folder),
            "engines": [str(settings.engines_file), str(settings.engine_copies)],
        }
        self._signer: ResultSigner | None = None
        if settings.signing_cert:  # what signs, and it alone, loads Pillow into the service
            from kit.service.worker.signing import ResultSigner

            self._signer = ResultSigner(settings)

    @property
    def slots(self) -> int:
        """Jobs at the same time."""
        return self._pool.slots

    async def run(
        self,
        name: str,
        order: Mapping[str, Any],
        on_progress: Callable[[float], None],
        *,
        resident: bool = False,
    ) -> dict[str, Any]:
        """Render an order, store its files and return the facts about them.

        Raises `JobError`: it failed for good, as it does where an input is gone or the storage
        takes no result; or `LostError`: the process ended during it.
        """
        task = await self._complete(order)
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
        """Ask the process of a job to stop; see `Pool.cancel`."""
        return self._pool.cancel(name)

    async def close(self) -> None:
        """Kill every process."""
        self._pool.close()

    async def _complete(self, order: Mapping[str, Any]) -> dict[str, Any]:
        """Return the task of a render process: an order with what is where on this machine."""
        try:
            media = {
                name: [str(await self._storage.local(key, self._settings.scratch)) for key in keys]
                for name, keys in order["media"].items()
            }
        except NotFoundError:
            raise JobError("an input file is gone; send it again", "input_gone") from None
        except UnavailableError:
            sentence = "an input file could not be read; try again later"
            raise JobError(sentence, "input_unread") from None
        return {
            **order,
            **self._places,
            "media": media,
            "environment": pick_variables(order["environment"]),
        }
