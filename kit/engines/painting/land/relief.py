"""Relief: a map of heights and what light makes of it: slopes, shadows, hollows."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.media.color import Floats
from kit.engines.media.noise import smooth_step
from kit.engines.painting.noise import Plane, blur

#: World units that a map spans: x from -512 to 512, z from 0 to 1024.
SPAN = 1024
_NORTH = SPAN / 2


@dataclass(frozen=True, slots=True)
class Relief:
    """A map of the world in front of the camera.

    Parameters
    ----------
    heights : ndarray of float32, shape (n, n)
        By z (down) and x (right), in world units.
    traits : ndarray of float32, shape (n, n, 4)
        Slope to the right, slope along z, openness to the sky (about 0.4 to 1.3), sunlight
        (0 shadow to 1).
    """

    heights: Floats
    traits: Floats

    def height(self, x: Plane, z: Plane) -> Floats:
        """Return heights at points of the world."""
        return looked_up(self.heights, x, z)

    def at(self, x: Plane, z: Plane) -> Floats:
        """Return the traits at points of the world, shape (*x.shape, 4)."""
        return looked_up(self.traits, x, z)


def grid(points: int) -> tuple[Floats, Floats]:
    """Return x and z of a map with so many points a side, shapes (1, n) and (n, 1)."""
    steps = (np.arange(points, dtype=np.float32)) * np.float32(SPAN / points)
    return (steps - np.float32(_NORTH))[None], steps[:, None]


def relief(heights: Floats, sun: tuple[float, float, float], *, hollow: float = 1.0) -> Relief:
    """Return a map with its traits.

    Parameters
    ----------
    sun : tuple of float
        Direction toward the light: right, along z, up.
    hollow : float
        How dark hollows are.
    """
    dense = heights.shape[0] / SPAN
    across = cv2.Scharr(heights, cv2.CV_32F, 1, 0, scale=dense / 32)
    along = cv2.Scharr(heights, cv2.CV_32F, 0, 1, scale=dense / 32)
    wide, narrow = (heights - blur(heights, sigma * dense) for sigma in (14.0, 3.5))
    open_ = np.clip(1.0 + wide * np.float32(0.035 * hollow), 0.40, 1.2)
    open_ *= np.clip(1.0 + narrow * np.float32(0.09 * hollow), 0.6, 1.25)
    traits = cv2.merge([across, along, open_, _sunlight(heights, sun)])
    return Relief(heights, np.asarray(traits))


def looked_up(field: Floats, x: Plane, z: Plane) -> Floats:
    """Return a map's values at points of the world; beyond its sides they go on."""
    dense = np.float32(field.shape[0] / SPAN)
    across = np.asarray((x + np.float32(_NORTH)) * dense, np.float32)
    down = np.asarray(z * dense, np.float32)
    border = cv2.BORDER_REPLICATE
    return np.asarray(cv2.remap(field, across, down, cv2.INTER_LINEAR, borderMode=border))


def _sunlight(heights: Floats, sun: tuple[float, float, float]) -> Floats:
    """March toward the sun over a reduced map; the penumbra widens with distance."""
    points = heights.shape[0]
    half = min(points, SPAN // 2)
    unit = SPAN / half
    small = cv2.resize(heights, (half, half), interpolation=cv2.INTER_AREA)
    flat = float(np.hypot(sun[0], sun[1]))
    right, along, tangent = sun[0] / flat, sun[1] / flat, sun[2] / flat
    block = np.full_like(small, -1e3)
    for step in np.unique(np.geomspace(1, half / 4.6, 30).astype(int)):
        matrix = np.array([[1.0, 0.0, round(right * step)], [0.0, 1.0, round(along * step)]])
        flags = cv2.INTER_NEAREST | cv2.WARP_INVERSE_MAP
        other = cv2.warpAffine(
            small, matrix, (half, half), flags=flags, borderMode=cv2.BORDER_REPLICATE
        )
        other -= small
        other -= np.float32(step * unit * tangent)
        other *= np.float32(1.0 / (step**0.5 + 1.0))
        np.maximum(block, other, out=block)
    shadow = smooth_step(-0.25, 1.0, block)
    large = cv2.resize(shadow, (points, points), interpolation=cv2.INTER_LINEAR)
    return np.asarray(1.0 - large, np.float32)
