"""Framing: what composition words make of a flight: its height, its tilt and its lens.

A prompt without such words is flown as its camera flies.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Share of the frame's height between which a horizon that was moved stays.
_HIGHEST, _LOWEST = 0.14, 0.72
_THIRDS = {True: 1 / 3, False: 2 / 3}  # seen from high above, and else
#: Far down in a tall frame there is only what lies right below, often nothing but water.
_TALL, _LOWERED = 1.4, 0.08  # from which height to a width on, and how far its horizon moves
_LEAST = 6.0  # units: words bring a flight no closer to what it flies over


@dataclass(frozen=True, slots=True, kw_only=True)
class Framing:
    """How words change a flight.

    Parameters
    ----------
    height : float
        Factor on its height above the ground.
    lower : float
        How far down the horizon moves, as a share of the frame's height.
    lens : float
        Factor on how much it sees to the sides: a long lens below 1, a wide one above.
    third : float or None
        Where in the frame the horizon stands in the middle of the flight, whatever else is said.
    """

    height: float = 1.0
    lower: float = 0.0
    lens: float = 1.0
    third: float | None = None

    def clearance(self, own: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return heights above the ground, in units, from those that a camera has of its own."""
        return np.maximum(own * self.height, np.minimum(own, _LEAST))

    def horizon(self, own: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return where horizons stand, 0 to 1, from where a camera has them of its own."""
        lower = self.lower if self.third is None else self.third - float(np.median(own))
        return np.clip(own + lower, _HIGHEST, _LOWEST) if lower else own


PLAIN = Framing()
#: Word -> what it makes of a flight; those of several words add up.
_WORDS = {
    "wide": Framing(height=1.35, lens=1.2),
    "close": Framing(lens=0.62),
    "low": Framing(height=0.5, lower=0.13),
    "minimal": Framing(height=1.15, lower=0.19),
    "dramatic": Framing(height=0.72, lower=0.10, lens=1.1),
    "outline": Framing(height=1.5, lower=0.10),
}


def framing_of(words: Collection[str], *, high: bool = False, shape: float = 1.0) -> Framing:
    """Return what words of composition and tone make of a flight.

    Parameters
    ----------
    words : collection of str
        Of a brief's composition and tones; others say nothing of it.
    high : bool
        Whether the flight is one from high above.
    shape : float
        Height of the frame to its width.
    """
    told = [framing for word, framing in _WORDS.items() if word in words]
    return Framing(
        height=math.prod(framing.height for framing in told),
        lower=sum(framing.lower for framing in told) + _LOWERED * (shape > _TALL),
        lens=math.prod(framing.lens for framing in told),
        third=_THIRDS[high] if "thirds" in words else None,
    )
