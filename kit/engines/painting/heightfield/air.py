"""Air: what distance takes away, and what it gives instead."""

from __future__ import annotations

import math

import cv2
import numpy as np

from kit.engines.media.color import Floats
from kit.engines.painting.heightfield.canvas import bands
from kit.engines.painting.heightfield.patches import FAR
from kit.engines.painting.heightfield.visible import Seen
from kit.engines.painting.looks import Look

_CLEAR = 45.0  # units in front of the camera without any haze
_THIN = 60.0  # units upward in which low haze thins out to a third
_MOST = 5.5  # of haze and mist: more of it, and a flight in fog would see nothing
_END = 0.68  # share of the farthest distance from which the land's end dissolves


class Air:
    """The air over a land.

    Parameters
    ----------
    ground : float
        Height at which it is densest.
    """

    def __init__(self, look: Look, ground: float) -> None:
        self._haze = 0.00042 + 0.00085 * min(look.haze + look.mist, _MOST) ** 1.5
        self._ground = ground

    def fog(self, seen: Seen, height: float) -> Floats:
        """Return how much of each point is lost in the air, 0 to 1, seen from a height."""
        # Half of the way to a point lies in air as dense as at its height, half as at the eye's.
        own = 0.4 + 0.25 * math.exp(-max(height - self._ground, 0.0) / _THIN)
        out = np.empty_like(seen.away)
        for band in bands(len(out)):
            part = out[band]
            np.multiply(seen.height[band], np.float32(-1 / _THIN), out=part)
            part += np.float32(self._ground / _THIN)
            np.minimum(part, np.float32(0), out=part)
            cv2.exp(part, dst=part)
            part *= np.float32(-0.45 * self._haze)
            part -= np.float32(own * self._haze)
            away = seen.away[band] - np.float32(_CLEAR)
            np.maximum(away, np.float32(0), out=away)
            part *= away
            cv2.exp(part, dst=part)
            _ended(part, away)
            np.subtract(np.float32(1), part, out=part)
        return out


def _ended(left: Floats, away: Floats) -> None:
    """Let the world end in air, in place: whatever the weather, its last ridges fade out.

    Parameters
    ----------
    away : ndarray of float32
        Units of air in front of each point, which are used as scratch space.
    """
    if float(away.max()) <= _END * FAR:
        return
    away -= np.float32(_END * FAR)
    away *= np.float32(1 / ((1 - _END) * FAR - _CLEAR))
    np.clip(away, 0.0, 1.0, out=away)
    away *= away
    np.subtract(np.float32(1), away, out=away)
    left *= away
