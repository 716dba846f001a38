"""Air: what distance takes away, and what it gives instead."""

from __future__ import annotations

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats
from kit.engines.scene.land.look import Look
from kit.engines.video.flythrough.eye import Seen
from kit.engines.video.flythrough.patches import FAR

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
        self._haze = np.float32(0.00042 + 0.00085 * min(look.haze + look.mist, _MOST) ** 1.5)
        self._ground = np.float32(ground)

    def fog(self, seen: Seen, height: float) -> Floats:
        """Return how much of each point is lost in the air, 0 to 1, seen from a height."""
        away = np.float32(1) / seen.inverse
        away -= np.float32(_CLEAR)
        np.maximum(away, 0.0, out=away)
        # Half of the way to a point lies in air as dense as at its height, half as at the eye's.
        low = seen.height - self._ground
        np.maximum(low, 0.0, out=low)
        low *= np.float32(-1 / _THIN)
        np.exp(low, out=low)
        low *= np.float32(0.45)
        low += np.float32(0.4 + 0.25 * np.exp(-max(height - float(self._ground), 0.0) / _THIN))
        low *= away
        low *= -self._haze
        np.exp(low, out=low)
        # The world ends in air: whatever the weather, its last ridges fade out.
        away *= np.float32(1 / ((1 - _END) * FAR - _CLEAR))
        away -= np.float32(_END * FAR / ((1 - _END) * FAR - _CLEAR))
        np.clip(away, 0.0, 1.0, out=away)
        away *= away
        low *= np.float32(1) - away
        return np.asarray(np.float32(1) - low)


def faded(picture: Bytes, fog: Floats, air: Bytes, out: Bytes | None = None) -> Bytes:
    """Return a picture behind air, of which each column has its color."""
    far = np.empty_like(picture)
    far[:] = air
    return np.asarray(cv2.blendLinear(picture, far, np.float32(1) - fog, fog, dst=out))
