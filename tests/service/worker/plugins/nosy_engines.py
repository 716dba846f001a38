"""Engines that report their environment variables."""

import os
from dataclasses import replace
from decimal import Decimal

from demo_engines import _PIXEL

from kit.engines.base import Asset, Definition, Engine, Job, Progress
from kit.wire import Rule


class Nosy(Engine):
    """Renders one pixel, with every environment variable as metadata."""

    environment = ("NOSY_KEY", "NOSY_NOT_SET")
    definition = Definition(
        id="nosy",
        title="Nosy",
        asset_type="image",
        category="Low Cost",
        description="What it sees, for tests.",
        pricing=Rule(base=Decimal("0.5")),
    )

    def render(self, job: Job, progress: Progress) -> Asset:
        """Return all variables in the metadata."""
        path = job.folder / "pixel.png"
        path.write_bytes(_PIXEL)
        facts = {"seen": dict(os.environ), "process": os.getpid()}
        return Asset(path=path, content_type="image/png", width=1, height=1, metadata=facts)


class Nosier(Nosy):
    """Another engine, which names no variable."""

    environment = ()
    definition = replace(Nosy.definition, id="nosier", title="Nosier")
