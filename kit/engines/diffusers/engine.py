"""Local pipelines as engines; this module does not import torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kit.engines.base import Asset, Engine, Job, Progress
from kit.engines.configured.entries import read
from kit.engines.diffusers.entry import PipelineEntry
from kit.engines.diffusers.library import INSTALLED, Library
from kit.engines.diffusers.shape import definition_of, shape_of


class Pipeline(Engine):
    """Renders with a pipeline of the diffusers library; its weights stay loaded between jobs.

    `load` takes the entry and returns the `LoadedPipeline`; by default it loads the weights.
    """

    resident = trained = True

    def __init__(
        self,
        entry: PipelineEntry,
        *,
        library: Library = INSTALLED,
        load: Callable[[PipelineEntry], Any] | None = None,
    ) -> None:
        self.entry = entry
        self.environment = entry.variables()
        self._load = load
        self._shape = shape_of(entry, library)
        entry.check_files()
        self.definition = definition_of(entry, self._shape, library)

    def render(self, job: Job, progress: Progress) -> Asset:
        """Run the pipeline with the job's prompt, settings and pictures."""
        from kit.engines.diffusers.drawing import draw
        from kit.engines.diffusers.pipelines import load

        return draw(self.entry, self._shape, job, progress, self._load or load)


def diffusers(data: Mapping[str, Any], copies: Path, refresh: bool) -> Sequence[Engine]:
    """Return the engine of an entry ``[[diffusers]]``, or raise ConfigError."""
    return (Pipeline(read(PipelineEntry, data)),)
