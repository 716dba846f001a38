"""Near: the fine structure of what is close to the camera, fixed to where it lies in the world.

Colors that lie on a map are drawn out to streaks on whatever stands upright, as trees do. What is
near is multiplied with a tile that lies across the flight, and along it or up: whatever is seen
turns to the camera, so that up the frame a way leads on over the tile, never along a streak. It is
left out where one step down the frame is a long one: it would be finer than a pixel, and glitter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats
from kit.engines.painting.heightfield.terrain import Station, noise
from kit.engines.painting.heightfield.visible import Seen

_TILE = 512  # texels after which it repeats
_BLOB = 4.0  # texels of the smallest thing that it shows
_CLOSER = 3.0  # times as fine, and as near, is what is laid over it
_FLAT = 0.9  # a way along the ground leads so far over the tile as one up does
#: From how much of a place is under trees to how much of the structure it shows.
_STANDING: Floats = np.linspace(0.45, 1.0, 256, dtype=np.float32)
_DRY: Floats = np.linspace(1.0, 0.0, 256, dtype=np.float32)
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
    high : float
        Units above and below the camera in which things are looked up.
    """

    fine: float
    reach: float
    strength: float
    high: float = 45.0

    def closer(self) -> _Kind:
        """Return what shows still closer by: leaves, blades and grains."""
        return replace(
            self,
            fine=self.fine * _CLOSER,
            reach=self.reach / _CLOSER,
            strength=0.9 * self.strength,
            high=self.high / _CLOSER,
        )


_KINDS = {
    "alps": _Kind(12.0, 60.0, 0.28),
    "hills": _Kind(14.0, 45.0, 0.17),
    "forest": _Kind(13.0, 80.0, 0.40),
    "islands": _Kind(12.0, 60.0, 0.28),
    "desert": _Kind(24.0, 24.0, 0.07),
    "canyon": _Kind(12.0, 60.0, 0.20),
}


class Near:
    """Fine structure for a kind of land.

    Parameters
    ----------
    heading : float
        Where flights go, in radians, about.
    """

    def __init__(self, kind: str, rng: np.random.Generator, heading: float) -> None:
        own = _KINDS[kind]
        self._layers = [_Layer(each, rng, heading) for each in (own, own.closer())]

    def lay(self, luma: Bytes, cover: tuple[Bytes, Bytes], seen: Seen, at: Station) -> None:
        """Multiply brightness, shape (rows, columns), with what is near, in place.

        Parameters
        ----------
        cover : tuple of two ndarrays of uint8
            How much of each point is under water, and under trees, 0 to 255.
        """
        for layer in self._layers:
            layer.lay(luma, cover, seen, at)


class _Layer:
    """What can be told apart up to a distance."""

    def __init__(self, kind: _Kind, rng: np.random.Generator, heading: float) -> None:
        self._kind = kind
        ways = np.array([[math.cos(heading), -math.sin(heading), 0.0], [0.0, 0.0, 1.0]])
        ways[1, :2] = _FLAT * math.sin(heading), _FLAT * math.cos(heading)
        self._ways = kind.fine * ways
        rough = noise(rng, 128, 3, 0.85, _TILE)
        rough -= np.float32(0.35) * np.maximum(-rough, 0.0)  # gaps are darker than tips are light
        plane = 1.0 + np.float32(kind.strength) * (rough - rough.mean())
        tile = np.asarray(cv2.convertScaleAbs(np.clip(plane, 0.25, 1.9), alpha=128.0))
        # Laid out as often as one look needs it: wrapping places around would cost more.
        self._span = [kind.fine * span for span in (kind.reach, _FLAT * kind.reach + kind.high)]
        across, down = (1 + math.ceil(2 * span / _TILE) for span in self._span)
        self._tile = np.tile(tile, (down, across))

    def lay(self, luma: Bytes, cover: tuple[Bytes, Bytes], seen: Seen, at: Station) -> None:
        """Multiply brightness, see `Near.lay`."""
        rows = _rows(seen.inverse, cover[0], self._kind.reach)
        if rows.stop - rows.start < _FEWEST:
            return
        share = seen.inverse[rows][::2, ::2] * np.float32(self._kind.reach) - np.float32(1)
        np.clip(share, 0.0, 1.0, out=share)
        clear = _steps(seen, rows) * np.float32(-self._kind.fine / _BLOB) + np.float32(1.6)
        share *= np.clip(clear, 0.0, 1.0)
        wet, woods = (np.ascontiguousarray(plane[rows][::2, ::2]) for plane in cover)
        share *= cv2.LUT(woods, _STANDING)
        share *= cv2.LUT(wet, _DRY)
        x, y = (self._places(number, seen, rows, at) for number in range(2))
        rough = cv2.remap(self._tile, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        share = cv2.resize(share, rough.shape[::-1], interpolation=cv2.INTER_LINEAR)
        flat = np.full_like(rough, 128)
        rough = cv2.blendLinear(rough, flat, share, np.float32(1) - share)
        part = luma[rows]
        cv2.multiply(part, rough, dst=part, scale=1 / 128)

    def _places(self, number: int, seen: Seen, rows: slice, at: Station) -> Floats:
        """Return the columns or rows of the tile that places are looked up in."""
        over_x, over_y, up = self._ways[number]
        middle = over_x * at.x + over_y * at.y + up * at.height
        start = math.floor((middle - self._span[number]) / _TILE) * _TILE
        places = cv2.addWeighted(seen.x[rows], over_x, seen.y[rows], over_y, -float(start))
        if up:
            cv2.scaleAdd(seen.height[rows], up, places, dst=places)
        return np.asarray(places)


def _rows(inverse: Floats, wet: Bytes, reach: float) -> slice:
    """Return the rows, from an even one on, in which dry land is nearer than a distance."""
    near = inverse[::2, ::4] > np.float32(1 / reach)
    near &= wet[::2, ::4] < _WET
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
