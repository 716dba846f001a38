"""Gloss: how light falls on a wet or woven surface."""

from __future__ import annotations

import numpy as np

from kit.engines.base import Progress
from kit.engines.painting.noise import Plane, blur, slopes

_LIGHT = np.array([-0.53, -0.62, 0.58], np.float32)


def relit(
    base: Plane,
    height: Plane,
    progress: Progress,
    *,
    depth: float,
    gloss: float,
    shine: float,
    rough: float,
) -> Plane:
    """Return a surface in light from the upper left: shaded, glossy, darker in its hollows.

    Parameters
    ----------
    base : ndarray
        The light that it throws back where it faces the lamp, shape (3, height, width).
    height : ndarray
        How high it stands, shape (height, width).
    depth : float
        How steep a height of 1 is, as a share of the longer side.
    gloss, shine : float
        How narrow its highlights are, and how bright.
    rough : float
        Light in its shadows.
    """
    size = max(height.shape)
    right, down = slopes(height, depth * size)
    inverse = 1.0 / np.sqrt(right * right + down * down + 1.0)
    facing = (-right * _LIGHT[0] - down * _LIGHT[1] + _LIGHT[2]) * inverse
    half = _LIGHT + np.array([0.0, 0.0, 1.0], np.float32)
    half /= np.sqrt(float(half @ half))
    mirror = np.clip((-right * half[0] - down * half[1] + half[2]) * inverse, 0.0, 1.0)
    progress.report(0.35)
    hollow = np.clip(1.0 + 0.32 * (height - blur(height, 0.02 * size)), 0.55, 1.25)
    shaded = (rough + (1.45 - rough) * np.clip(facing, 0.0, 1.0)) * hollow
    bounce = np.clip(-facing, 0.0, 1.0) * np.float32(0.22)
    progress.report(0.6)
    sheen = mirror**gloss * np.float32(shine)
    progress.report(0.85)
    return np.asarray(base * (shaded + bounce) + sheen, np.float32)
