"""The picture that every measured service draws, as an engine: 3 ms, so that the rest shows."""

from decimal import Decimal
from pathlib import Path

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
        """Draw, and move the file where it belongs."""
        from common.render import render

        path = Path(render(job.prompt, job.seed))
        kept = path.replace(job.folder / path.name)
        return Asset(path=kept, content_type="image/png", width=256, height=256)
