"""Engines that claim to keep large weights: the prompt selects their behavior."""

import os
import time
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from demo_engines import _PIXEL

from kit.engines.base import Asset, Definition, Engine, Job, Progress, SpentError
from kit.errors import EngineError
from kit.wire import Rule


class Heavy(Engine):
    """Renders one pixel, with the id and limits of its process as metadata."""

    resident = trained = True
    environment = ("HEAVY_MARKER", "HEAVY_SPENT")
    definition = Definition(
        id="heavy",
        title="Heavy",
        asset_type="image",
        category="Low Cost",
        description="Weights, for tests.",
        pricing=Rule(base=Decimal("0.5")),
    )

    def render(self, job: Job, progress: Progress) -> Asset:
        """Render, or fail if another process renders at the same time."""
        marker = Path(os.environ["HEAVY_MARKER"])
        try:
            marker.touch(exist_ok=False)
        except FileExistsError:
            raise EngineError("two of them at a time") from None
        try:
            _behave(job.prompt, progress)
        finally:
            marker.unlink()
        path = job.folder / "pixel.png"
        path.write_bytes(_PIXEL)
        facts = {"process": os.getpid(), "limits": _limits()}
        return Asset(path=path, content_type="image/png", width=1, height=1, metadata=facts)


class Heavier(Heavy):
    """Another engine of the same kind."""

    definition = replace(Heavy.definition, id="heavier", title="Heavier")


def _behave(prompt: str, progress: Progress) -> None:
    if prompt == "waits":
        for _ in range(1000):
            progress.report(0.5)
            time.sleep(0.02)
    elif prompt == "is slow":
        time.sleep(0.1)
    elif prompt == "is spent once" and not (spent := Path(os.environ["HEAVY_SPENT"])).exists():
        spent.touch()
        raise SpentError("the driver says no")


def _limits() -> dict[str, int]:
    try:
        import resource
    except ImportError:
        return {}
    names = ("RLIMIT_AS", "RLIMIT_FSIZE", "RLIMIT_CPU")
    return {name: resource.getrlimit(getattr(resource, name))[0] for name in names}
