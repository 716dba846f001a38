"""The picture that every measured service draws, in only 3 ms; and a pause."""

import time
from decimal import Decimal

from kit.engines.base import Asset, Definition, Engine, Job, Progress
from kit.wire import Parameter, Rule


class Gradient(Engine):
    """Calls the render function that the benchmark gives to every service."""

    definition = Definition(
        id="gradient",
        title="Gradient",
        asset_type="image",
        category="Fast",
        description="A gradient from a seed and a prompt.",
        pricing=Rule(base=Decimal("0.01")),
        settings=(Parameter(name="seed", type="integer", minimum=0, maximum=2**32 - 1),),
    )

    def render(self, job: Job, progress: Progress) -> Asset:
        """Draw the picture into the job's folder."""
        from gradient import render

        path = render(job.prompt, job.seed, job.folder)
        return Asset(path=path, content_type="image/png", width=256, height=256)


class Pause(Engine):
    """A render that takes a while and no processor: one pixel, as a file of 35 bytes."""

    definition = Definition(
        id="pause",
        title="Pause",
        asset_type="image",
        category="Fast",
        description="Waits.",
        pricing=Rule(base=Decimal("0.01")),
        settings=(Parameter(name="milliseconds", type="integer", minimum=0, maximum=10_000),),
    )

    def render(self, job: Job, progress: Progress) -> Asset:
        """Wait, and write a picture."""
        time.sleep(job.parameters["milliseconds"] / 1000)
        path = job.folder / "pixel.gif"
        path.write_bytes(_PIXEL)
        return Asset(path=path, content_type="image/gif", width=1, height=1)


_PIXEL = bytes.fromhex("47494638396101000100800000000000ffffff2c00000000010001000002024401003b")
