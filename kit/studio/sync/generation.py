"""The blocking generation and its output; made by `tests/sync_face.py` of `aio`: change that."""

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

    from kit.client.sync import Client

T = TypeVar("T")


class Generation(BaseGeneration):
    """A generation; refreshing, waiting and canceling return a new object.

    Examples
    --------
    ``lake = studio.generate("poster", "a lake at dawn")`` and then ``lake.output.save("lake.png")``
    """

    __slots__ = ()
    client: Client

    @property
    def output(self) -> Output:
        """The media that came out; fetched when first asked for."""
        return Output(self)

    def save(self, file: Path | str, *, metadata: bool = True) -> Path:
        """Copy its file to another, or into a folder, and return where it is; see `Output.save`."""
        return self.output.save(file, metadata=metadata)

    def image(self) -> PIL.Image.Image:
        """Return its picture as one of Pillow; a video raises `ConfigError`."""
        path = self.output.path()
        return cast("PIL.Image.Image", read_picture(path, "output.path() is its file"))

    def array(self) -> NDArray[np.uint8]:
        """Return its picture as an array of (height, width, 3), or 4 with transparency."""
        import numpy as np

        picture = self.image()
        transparent = "A" in picture.getbands() or "transparency" in picture.info
        return np.asarray(picture.convert("RGBA" if transparent else "RGB"))

    def lineage(self) -> Lineage[Generation]:
        """Return the generations whose outputs went into it, and into those, with their costs."""
        found, inputs = self._run(trace_inputs(self.operations, self.facts))
        held = [Generation(one, self.operations, self.client) for one in found]
        return Lineage(held, inputs)

    def refresh(self) -> Generation:
        """Return it as it is now."""
        return self._new(self.operations.get(self.id))

    def wait(self, timeout: float | None = None) -> Generation:
        """Return it completed; raises `GenerationFailedError` when it ends without a result."""
        return self._new(self.operations.wait(self.id, timeout=timeout))

    def cancel(self) -> Generation:
        """Ask the service to stop it and return it as it is then."""
        return self._new(self.operations.cancel(self.id))

    def delete_outputs(self) -> Generation:
        """Delete its files at the service for good and return it as it is then.

        The generation, what it cost and copies on this computer stay. Doing so again is fine; one
        that is still processing is refused.
        """
        return self._new(self.operations.delete_outputs(self.id))

    def _new(self, flow: Flow[wire.Generation]) -> Generation:
        return Generation(self._run(flow), self.operations, self.client)

    def _run(self, flow: Flow[T]) -> T:
        """Run a flow about this generation; its errors say how to wait on."""
        try:
            return self.client.run(flow)
        except KitError as error:
            error.generation_id, error.resume = self.id, self.wait
            raise


class Output(BaseOutput):
    """The media of a completed generation: a file in the cache, fetched and verified once."""

    __slots__ = ()
    generation: Generation

    def path(self) -> Path:
        """Return the file in the cache; do not change it."""
        return self.generation._run(fetch_output(self.generation))

    def bytes(self) -> bytes:
        """Return the content of the file."""
        return (self.path()).read_bytes()

    def save(self, file: Path | str, *, metadata: bool = True) -> Path:
        """Copy it to a file, or into a folder, and return where it is.

        A picture becomes PNG, JPEG or WebP where the name ends so and it is another; any other
        conversion is a `ConfigError`. `metadata` is whether the copy says in itself what made it; a
        file that another service has signed stays as it is.
        """
        return self.generation._run(save_file(self.generation, file, metadata))
