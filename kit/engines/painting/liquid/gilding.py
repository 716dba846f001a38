"""Gilding: veins of gold that run where two currents meet, and catch the light."""

from __future__ import annotations

import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Oklch
from kit.engines.media.noise import smooth_step
from kit.engines.painting.liquid.currents import Currents
from kit.engines.painting.noise import Plane, slopes
from kit.engines.painting.tone import blend, gradient

_THINNEST = np.float32(1.0)  # half width of a vein in pixels
_GOLD: list[tuple[float, Oklch]] = [
    (0.0, (0.30, 0.07, 58)),
    (0.35, (0.56, 0.11, 72)),
    (0.65, (0.80, 0.13, 86)),
    (1.0, (0.98, 0.07, 98)),
]


def gilded(picture: Plane, currents: Currents, progress: Progress, *, stone: bool) -> Plane:
    """Return a picture with veins of gold.

    Parameters
    ----------
    stone : bool
        Thin branching cracks, as in mended marble, rather than broad flowing ribbons.
    """
    size = max(picture.shape[1:])
    course = currents.middle + np.float32(0.35) * currents.drift
    off = _distance(course - np.float32(0.25), size)
    wide = (0.0042 if stone else 0.0065) * size
    # A line thinner than this breaks into dots.
    swell = np.maximum(wide * np.clip(0.65 + 0.55 * currents.slow, 0.12, 1.8), _THINNEST)
    share = smooth_step(1.0, 0.72, off / swell) * smooth_step(-1.6, -0.9, currents.drift)
    progress.report(0.3)
    other = _distance(currents.fast + np.float32(0.8), size)
    share = np.maximum(share, smooth_step(1.0, 0.6, other / np.maximum(0.4 * swell, _THINNEST)))
    progress.report(0.5)
    ridge = np.sqrt(np.clip(1.0 - (off / swell) ** 2, 0.0, 1.0)).astype(np.float32)
    right, down = slopes(ridge * swell, 1.0)
    tilt = np.clip(0.5 - 0.55 * right - 0.65 * down, 0.0, 1.2)
    glint = np.clip(tilt + 0.10 * currents.fast, 0.0, 1.0)
    gold = gradient(_GOLD, glint) * (1.0 + 1.1 * glint**4)
    progress.report(0.8)
    shadow = smooth_step(2.6, 1.0, off / swell) * np.float32(0.35)
    return blend(picture * (1.0 - shadow), gold, share)


def _distance(level: Plane, size: int) -> Plane:
    """Return about how many pixels away the nearest zero of a field is."""
    right, down = slopes(level, 1.0)
    steep = np.sqrt(right * right + down * down)
    # Where the field is flat the line would grow into a lake: it counts as steeper than it is.
    return np.asarray(np.abs(level) / np.maximum(steep, 3.2 / size), np.float32)
