"""What a script is asked to be, what it costs, and whoever writes it. It loads no widget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

from kit import wire

#: Credits for a title, and for each variation of a script. Source: API document, "Limits".
TITLE, SCRIPT = Decimal("0.05"), Decimal("0.15")
#: Seconds that a script may take to speak. Source: contract, "Titles and scripts".
SHORTEST, LONGEST, USUAL = 10, 180, 30


@dataclass(frozen=True, slots=True)
class WritingOrder:
    """What a script is asked to be."""

    topic: str
    title: wire.Title
    duration: int = USUAL
    use_hook: bool = False
    use_cta: bool = False
    use_ragebait: bool = False
    variations: int = 1


class WritingBackend(Protocol):
    """Whoever writes, as the panel sees it; every call may block, none is made in a callback."""

    def title(self, topic: str) -> wire.Title:
        """Return a title; it is charged for."""

    def scripts(self, brief: WritingOrder) -> Sequence[wire.Script]:
        """Return one script a variation; they are charged for."""

    def balance(self) -> Decimal | None:
        """Return what there is to spend; None where the service does not say."""

    def captions(self, text: str) -> Any:
        """Return a widget that puts these captions on a video."""
