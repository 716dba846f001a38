"""A progress line that records what it shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class ShownLine:
    """The shown labels; closing the line shows an empty one."""

    labels: list[str] = field(default_factory=list)
    pictures: list[int] = field(default_factory=list)

    def show(
        self, label: str, fraction: float | None, seconds: float, pictures: Sequence[str] = ()
    ) -> None:
        self.labels.append(label)
        self.pictures.append(len(pictures))

    def close(self) -> None:
        self.labels.append("")
