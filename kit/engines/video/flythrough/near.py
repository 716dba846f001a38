"""Near: the fine structure of what is close to the camera, fixed to where it lies in the world.

Colors that lie on a map are drawn out to streaks on whatever stands upright, as trees do. What is
near is multiplied with a tile that is looked up by height too, wherever one step down the frame is
a small step over the ground: elsewhere it would be finer than a pixel, and glitter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats
from kit.engines.video.flythrough.eye import Seen
from kit.engines.video.flythrough.route import Station
from kit.engines.video.flythrough.terrain import noise

_TILE = 512  # texels after which it repeats
_BLOB = 4.0  # texels of the smallest thing that it shows
_HIGH = 45.0  # units above and below the camera in which things are looked up
_FEWEST = 8  # rows that are worth the work
_WET = 250  # of 255: what lies under so much water is not looked at
_HALF = np.float32(0.5)


@dataclass(frozen=True, slots=True)
class _Kind:
    """How a kind of land looks from near.

    Parameters
    ----------
    fine : float
        Texels to a unit.
    reach : float
        Units up to which it shows.
    strength : float
        How much lighter and darker it is than the land's own color.
    standing : tuple of float
        How far height leads on over the tile, across and down: more leaves layers.
    """

    fine: float
    reach: float
    strength: float
    standing: tuple[float, float] = (0.75, -0.6)


_KINDS = {
    "alps": _Kind(12.0, 60.0, 0.24),
    "hills": _Kind(14.0, 45.0, 0.17),
    "forest": _Kind(13.0, 80.0, 0.40, (0.35, -0.8)),
    "islands": _Kind(12.0, 60.0, 0.26),
    "desert": _Kind(24.0, 24.0, 0.07),
    "canyon": _Kind(12.0, 60.0, 0.20),
}


class Near:
    """Fine structure for a kind of land."""

    def __init__(self, kind: str, rng: np.random.Generator) -> None:
        self._kind = own = _KINDS[kind]
        rough = noise(rng, 128, 3, 0.85, _TILE)
        rough -= np.float32(0.35) * np.maximum(-rough, 0.0)  # gaps are darker than tips are light
        plane = 1.0 + np.float32(own.strength) * (rough - rough.mean())
        tile = np.asarray(cv2.convertScaleAbs(np.clip(plane, 0.25, 1.9), alpha=128.0))
        # Laid out as often as one look needs it: wrapping places around would cost more.
        self._span = [own.reach + abs(way) * _HIGH for way in own.standing]
        across, down = (1 + math.ceil(2 * span * own.fine / _TILE) for span in self._span)
        self._tile = np.tile(tile, (down, across))

    def lay(self, colors: Bytes, seen: Seen, at: Station) -> None:
        """Multiply colors, four channels of which the last stays, with what is near, in place."""
        rows = _rows(seen.inverse, colors, self._kind.reach)
        if rows.stop - rows.start < _FEWEST:
            return
        share = seen.inverse[rows][::2, ::2] * np.float32(self._kind.reach) - np.float32(1)
        np.clip(share, 0.0, 1.0, out=share)
        clear = _steps(seen, rows) * np.float32(-self._kind.fine / _BLOB) + np.float32(1.6)
        share *= np.clip(clear, 0.0, 1.0)
        x, y = (
            self._places(axis[rows], seen.height[rows], (middle, at.height), number)
            for number, (axis, middle) in enumerate(((seen.x, at.x), (seen.y, at.y)))
        )
        rough = cv2.remap(self._tile, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        share = cv2.resize(share, rough.shape[::-1], interpolation=cv2.INTER_LINEAR)
        flat = np.full_like(rough, 128)
        rough = cv2.blendLinear(rough, flat, share, np.float32(1) - share)
        part = colors[rows]
        cv2.multiply(part, cv2.merge([rough, rough, rough, flat]), dst=part, scale=1 / 128)

    def _places(
        self, axis: Floats, height: Floats, middle: tuple[float, float], number: int
    ) -> Floats:
        """Return the columns or rows of the tile that places are looked up in."""
        fine = self._kind.fine
        up = fine * self._kind.standing[number]
        least = fine * middle[0] + up * middle[1] - fine * self._span[number]
        start = math.floor(least / _TILE) * _TILE
        return np.asarray(cv2.addWeighted(axis, fine, height, up, -float(start)))


def _rows(inverse: Floats, colors: Bytes, reach: float) -> slice:
    """Return the rows, from an even one on, in which dry land is nearer than a distance."""
    near = inverse[::2, ::4] > np.float32(1 / reach)
    near &= colors[::2, ::4, 3] < _WET
    found = np.flatnonzero(near.any(axis=1))
    return slice(2 * int(found[0]), 2 * int(found[-1]) + 2) if len(found) else slice(0, 0)


def _steps(seen: Seen, rows: slice) -> Floats:
    """Return how far over the ground, in units, one row leads; at half the size."""
    x, y, height = (
        np.ascontiguousarray(plane[rows][::2, ::2]) for plane in (seen.x, seen.y, seen.height)
    )
    total = np.zeros(x.shape, np.float32)
    for plane in (x, y, height):
        total[:-1] += cv2.absdiff(plane[1:], plane[:-1])
    total[-1] = total[-2]
    total *= _HALF
    return total
