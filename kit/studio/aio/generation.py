"""The awaited generation and its output; `tests/sync_face.py` makes the blocking face of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from kit import wire
from kit.client.calls import Flow
from kit.errors import KitError
from kit.studio.generation import BaseGeneration, BaseOutput, fetch_output, read_picture, save_file
from kit.studio.lineage import Lineage, trace_inputs

if TYPE_CHECKING:
    import numpy as np
    import PIL.Image
    from numpy.typing import NDArray

    from kit.client.aio import AsyncClient

T = TypeVar("T")


class AsyncGeneration(BaseGeneration):
    """A generation; refreshing, waiting and canceling return a new object.

    Examples
    --------
    ``lake = studio.generate("poster", "a lake at dawn")`` and then ``lake.output.save("lake.png")``
    """

    __slots__ = ()
    client: AsyncClient

    @property
    def output(self) -> AsyncOutput:
        """The media that came out; fetched when first asked for."""
        return AsyncOutput(self)

    async def save(self, file: Path | str, *, metadata: bool = True) -> Path:
        """Copy its file to another, or into a folder, and return where it is; see `Output.save`."""
        return await self.output.save(file, metadata=metadata)

    async def image(self) -> PIL.Image.Image:
        """Return its picture as one of Pillow; a video raises `ConfigError`."""
        path = await self.output.path()
        return cast("PIL.Image.Image", read_picture(path, "output.path() is its file"))

    async def array(self) -> NDArray[np.uint8]:
        """Return its picture as an array of (height, width, 3), or 4 with transparency."""
        import numpy as np

        picture = await self.image()
        transparent = "A" in picture.getbands() or "transparency" in picture.info
        return np.asarray(picture.convert("RGBA" if transparent else "RGB"))

    async def lineage(self) -> Lineage[AsyncGeneration]:
        """Return the generations whose outputs went into it, and into those, with their costs."""
        found, inputs = await self._run(trace_inputs(self.operations, self.facts))
        held = [AsyncGeneration(one, self.operations, self.client) for one in found]
        return Lineage(held, inputs)

    async def refresh(self) -> AsyncGeneration:
        """Return it as it is now."""
        return await self._new(self.operations.get(self.id))

    async def wait(self, timeout: float | None = None) -> AsyncGeneration:
        """Return it completed; raises `GenerationFailedError` when it ends without a result."""
        return await self._new(self.operations.wait(self.id, timeout=timeout))

    async def cancel(self) -> AsyncGeneration:
        """Ask the service to stop it and return it as it is then."""
        return await self._new(self.operations.cancel(self.id))

    async def delete_outputs(self) -> AsyncGeneration:
        """Delete its files at the service for good and return it as it is then.

        The generation, what it cost and copies on this computer stay. Doing so again is fine; one
        that is still processing is refused.
        """
        return await self._new(self.operations.delete_outputs(self.id))

    async def _new(self, flow: Flow[wire.Generation]) -> AsyncGeneration:
        return AsyncGeneration(await self._run(flow), self.operations, self.client)

    async def _run(self, flow: Flow[T]) -> T:
        """Run a flow about this generation; its errors say how to wait on."""
        try:
            return await self.client.run(flow)
        except KitError as error:
            error.generation_id, error.resume = self.id, self.wait
            raise


class AsyncOutput(BaseOutput):
    """The media of a completed generation: a file in the cache, fetched and verified once."""

    __slots__ = ()
    generation: AsyncGeneration

    async def path(self) -> Path:
        """Return the file in the cache; do not change it."""
        return await self.generation._run(fetch_output(self.generation))

    async def bytes(self) -> bytes:
        """Return the content of the file."""
        return (await self.path()).read_bytes()

    async def save(self, file: Path | str, *, metadata: bool = True) -> Path:
        """Copy it to a file, or into a folder, and return where it is.

        A picture becomes PNG, JPEG or WebP where the name ends so and it is another; any other
        conversion is a `ConfigError`. `metadata` is whether the copy says in itself what made it; a
        file that another service has signed stays as it is.
        """
        return await self.generation._run(save_file(self.generation, file, metadata))
