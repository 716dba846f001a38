"""Local pipelines as engines: nothing here loads torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kit.engines.base import Asset, Engine, Job, Progress
from kit.engines.configured.entries import read
from kit.engines.diffusers.entry import PipelineEntry
from kit.engines.diffusers.shape import definition_of, shape_of


class Pipeline(Engine):
    """Renders with a pipeline of the diffusers library; its weights stay loaded between jobs."""

    resident = True

    def __init__(self, entry: PipelineEntry) -> None:
        self._entry = entry
        self.environment = entry.variables()
        self._shape = shape_of(entry)
        entry.check_files()
        self.definition = definition_of(entry, self._shape)

    def render(self, job: Job, progress: Progress) -> Asset:
        """Run the pipeline on the job's prompt, settings and pictures."""
        from kit.engines.diffusers.drawing import draw

        return draw(self._entry, self._shape, job, progress)


def diffusers(data: Mapping[str, Any], copies: Path, refresh: bool) -> Sequence[Engine]:
    """Return the engine of one entry ``[[diffusers]]``.

    Raises
    ------
    ConfigError
        The entry makes no sense, or the library is not installed.
    """
    return (Pipeline(read(PipelineEntry, data)),)
