"""A seat: the promise of a free render process to a generation that is about to be started."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kit.service.domain.queue import Claim


@dataclass(slots=True)
class Seat:
    """What a start takes with it and leaves behind.

    Parameters
    ----------
    claim : Claim or None
        What to start a generation with; None when no process is free.
    row : optional
        The row of the generation that was started with it.
    """

    claim: Claim | None
    row: Any = None
