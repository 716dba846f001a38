"""The async generation and its output; `tests/sync_face.py` generates the blocking one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from kit import wire
from kit.client.calls import Flow
from kit.errors import KitError
from kit.studio.generation import (
    BaseGeneration,
    BaseOutput,
    fetch_output,
    note_interrupt,
    read_picture,
    save_file,
)
from kit.studio.lineage import Lineage, trace_inputs

if TYPE_CHECKING:
    import numpy as np
    import PIL.Image
    from numpy.typing import NDArray

    from kit.client.aio import AsyncClient

T = TypeVar("T")


class AsyncGeneration(BaseGeneration):
    """A generation, immutable: `refresh`, `wait` and `cancel` return a new object.

    Examples
    --------
    ``lake = studio.generate("poster", "a lake at dawn")`` and then ``lake.output.save("lake.png")``
    """

    __slots__ = ()
    client: AsyncClient

    @property
    def output(self) -> AsyncOutput:
        """The output file; downloaded when first used."""
        return AsyncOutput(self)

    async def save(self, file: Path | str, *, metadata: bool = True) -> Path:
        """Save the file under a name or into a folder and return its path; see `Output.save`."""
        return await self.output.save(file, metadata=metadata)

    async def image(self) -> PIL.Image.Image:
        """Return the picture as a Pillow image; a video raises `ConfigError`."""
        path = await self.output.path()
        return cast("PIL.Image.Image", read_picture(path, "output.path() is its file"))

    async def array(self) -> NDArray[np.uint8]:
        """Return the picture as an array (height, width, 3), or 4 with transparency."""
        import numpy as np

        picture = await self.image()
        transparent = "A" in picture.getbands() or "transparency" in picture.info
        return np.asarray(picture.convert("RGBA" if transparent else "RGB"))

    async def lineage(self) -> Lineage[AsyncGeneration]:
        """Return the generations whose outputs are its inputs, directly or not, with costs."""
        found, inputs = await self._run(trace_inputs(self.operations, self.facts))
        generations = [AsyncGeneration(one, self.operations, self.client) for one in found]
        return Lineage(generations, inputs)

    async def refresh(self) -> AsyncGeneration:
        """Fetch and return its current state."""
        return await self._new(self.operations.get(self.id))

    async def wait(self, timeout: float | None = None) -> AsyncGeneration:
        """Wait until it is completed; raises `GenerationFailedError` if it fails or is canceled."""
        with note_interrupt(self.client):
            return await self._new(self.operations.wait(self.id, timeout=timeout))

    async def cancel(self) -> AsyncGeneration:
        """Ask the service to cancel it, and return its new state."""
        return await self._new(self.operations.cancel(self.id))

    async def delete_outputs(self) -> AsyncGeneration:
        """Delete its files at the service permanently, and return its new state.

        The generation, its costs and copies on this computer remain. Deleting again has no effect;
        a generation that is still processing is refused.
        """
        return await self._new(self.operations.delete_outputs(self.id))

    async def _new(self, flow: Flow[wire.Generation]) -> AsyncGeneration:
        return AsyncGeneration(await self._run(flow), self.operations, self.client)

    async def _run(self, flow: Flow[T]) -> T:
        """Run a flow about this generation; its errors have its id and ``resume``."""
        try:
            return await self.client.run(flow)
        except KitError as error:
            error.generation_id, error.resume = self.id, self.wait
            raise


class AsyncOutput(BaseOutput):
    """The file of a completed generation: downloaded and verified once, then cached."""

    __slots__ = ()
    generation: AsyncGeneration

    async def path(self) -> Path:
        """Return the path of the cached file; do not modify it."""
        return await self.generation._run(fetch_output(self.generation))

    async def bytes(self) -> bytes:
        """Return the content of the file."""
        return (await self.path()).read_bytes()

    async def save(self, file: Path | str, *, metadata: bool = True) -> Path:
        """Save it under a name or into a folder, such as ``"lakes/"``, and return the path.

        A picture is converted to PNG, JPEG or WebP if the file name says so; any other conversion
        raises `ConfigError`. `metadata` is whether the copy contains the request that made it; a
        file signed by another service is not changed.
        """
        return await self.generation._run(save_file(self.generation, file, metadata))
