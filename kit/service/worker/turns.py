"""Turns: models whose jobs are rendered one after another, each time in the same process.

They hold large weights, and two processes with the same ones would need the memory of both. Other
jobs do not wait for them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Turns:
    """Which models take turns, and which of their jobs are rendered here now.

    Parameters
    ----------
    models : iterable of str
        Ids of the models; see `kit.engines.base.Engine.resident`.
    """

    def __init__(self, models: Iterable[str]) -> None:
        self._models = frozenset(models)
        self._running: set[tuple[str, int]] = set()

    def takes(self, model_id: str) -> bool:
        """Whether a model's jobs take turns."""
        return model_id in self._models

    @property
    def later(self) -> frozenset[str]:
        """The models whose jobs have to wait now."""
        return self._models if self._running else frozenset()

    def at_once(self, free: int) -> int:
        """Return how many jobs may be claimed together for so many free processes."""
        # Of several that are claimed in one go more than one could be of these models.
        return 1 if self._models and not self._running else free

    def begin(self, row: Any) -> None:
        """Take note of a job that begins."""
        if row.model_id in self._models:
            self._running.add((row.id, row.attempt))

    def end(self, row: Any) -> None:
        """Take note of a job that has ended."""
        self._running.discard((row.id, row.attempt))
