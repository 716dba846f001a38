"""Reliefs: a map of heights and what light makes of it: slopes, shadows, hollows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import cv2
import numpy as np

from kit.engines.media.color import Floats
from kit.engines.media.noise import smooth_step
from kit.engines.painting.noise import Plane, blur, slopes

#: To the light: right, along z, up; of length 1.
Direction: TypeAlias = tuple[float, float, float]
#: Lengths that a map spans: of a still x from -512 to 512 and z from 0 to 1024, in meters.
SPAN = 1024


@dataclass(frozen=True, slots=True)
class Relief:
    """A map of the world in front of the camera, by z (down) and x (right)."""

    heights: Floats
    #: Slope to the right, slope along z, openness to the sky (about 0.4 to 1.3), sunlight (0 to 1).
    traits: Floats

    def height(self, x: Plane, z: Plane) -> Floats:
        """Return heights at places."""
        return look_up(self.heights, x, z)

    def at(self, x: Plane, z: Plane) -> Floats:
        """Return the traits at places, shape (*x.shape, 4)."""
        return look_up(self.traits, x, z)


def grid(points: int) -> tuple[Floats, Floats]:
    """Return x and z of a map with so many points a side, shapes (1, n) and (n, 1)."""
    steps = np.arange(points, dtype=np.float32) * np.float32(SPAN / points)
    return (steps - np.float32(SPAN / 2))[None], steps[:, None]


def relief_of(
    heights: Floats, sun: Direction, *, hollow: float = 1.0, wrap: bool = False
) -> Relief:
    """Return a map with its traits; `hollow` is how dark hollows are; one may repeat for ever."""
    points = heights.shape[0]
    steep = slopes(heights, points / SPAN, wrap=wrap)
    # Light is softer than land: a map of one point a length is fine enough for it.
    side = min(points, SPAN)
    small = cv2.resize(heights, (side, side), interpolation=cv2.INTER_AREA)
    open_ = np.ones_like(small)
    for sigma, dark, least in ((14.0, 0.035, 0.40), (3.5, 0.09, 0.6)):
        above = small - blur(small, sigma * side / SPAN, wrap=wrap)
        above *= np.float32(dark * hollow)
        above += np.float32(1)
        open_ *= np.clip(above, least, 1.22, out=above)
    soft = (cv2.resize(plane, (points, points)) for plane in (open_, _sunlight(small, sun, wrap)))
    return Relief(heights, np.asarray(cv2.merge([*steep, *soft])))


def look_up(field: Floats, x: Plane, z: Plane) -> Floats:
    """Return a map's values at places, which may be none; beyond its sides they go on."""
    if not x.size:
        return np.zeros((*x.shape, *field.shape[2:]), np.float32)
    dense = np.float32(field.shape[0] / SPAN)
    across = np.asarray((x + np.float32(SPAN / 2)) * dense, np.float32)
    down = np.asarray(z * dense, np.float32)
    places = np.atleast_2d(across), np.atleast_2d(down)
    found = cv2.remap(field, *places, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(found if x.ndim > 1 else found[0])


def _sunlight(heights: Floats, sun: Direction, wrap: bool) -> Floats:
    """March toward the sun over a reduced map; the penumbra widens with distance."""
    points = heights.shape[0]
    half = min(points, SPAN // 2)
    small = cv2.resize(heights, (half, half), interpolation=cv2.INTER_AREA)
    flat = float(np.hypot(sun[0], sun[1]))
    right, along, tangent = sun[0] / flat, sun[1] / flat, sun[2] / flat
    block = np.full_like(small, -1e3)
    flags = cv2.INTER_NEAREST | cv2.WARP_INVERSE_MAP
    border = cv2.BORDER_WRAP if wrap else cv2.BORDER_REPLICATE
    for step in np.unique(np.geomspace(1, half / 4.6, 30).astype(int)):
        matrix = np.array([[1.0, 0.0, round(right * step)], [0.0, 1.0, round(along * step)]])
        other = cv2.warpAffine(small, matrix, (half, half), flags=flags, borderMode=border)
        other -= small
        other -= np.float32(step * SPAN / half * tangent)
        other *= np.float32(1.0 / (step**0.5 + 1.0))
        np.maximum(block, other, out=block)
    shadow = smooth_step(-0.25, 1.0, block)
    return np.asarray(1.0 - cv2.resize(shadow, (points, points)), np.float32)
