"""A place where progress is shown, as a test reads it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class ShownLine:
    """What was shown; closing it shows the empty text."""

    labels: list[str] = field(default_factory=list)

    def show(self, label: str, fraction: float | None, seconds: float) -> None:
        self.labels.append(label)

    def close(self) -> None:
        self.labels.append("")
