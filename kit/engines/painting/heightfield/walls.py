"""Walls: what rock is like from aside, looked up by its height.

Colors that lie on a map are drawn out to streaks on whatever stands upright: cracks and layers are
found by height instead, and along the map.
"""

from __future__ import annotations

import cv2
import numpy as np

from kit.engines.media.color import Bytes
from kit.engines.painting.heightfield.patches import repeated
from kit.engines.painting.heightfield.terrain import noise
from kit.engines.painting.heightfield.visible import Seen

_SIDE = 512  # texels of the tile
#: Land with walls of rock -> how strongly they are layered, and how much broken.
_LAYERED = {"canyon": (0.115, 0.035), "alps": (0.007, 0.075), "islands": (0.010, 0.065)}
_LAYERS, _ALONG = 3.0, 1.4  # texels to a unit of height, and of way


class Walls:
    """The rock of a kind of land; of most kinds there is none."""

    def __init__(self, kind: str, rng: np.random.Generator) -> None:
        self._tile = rock(kind, rng) if kind in _LAYERED else None

    def lay(self, luma: Bytes, wet: Bytes, seen: Seen) -> None:
        """Multiply brightness with the rock's, in place; water is left alone.

        Parameters
        ----------
        luma, wet : ndarray of uint8
            Shape (rows, columns): brightness, and how much of each point is water.
        """
        if self._tile is None:
            return
        # Half the size is enough: what is near has its grain already.
        along = seen.x[::2, ::2] - seen.y[::2, ::2]
        along *= np.float32(_ALONG)
        rough = repeated(self._tile, along, seen.height[::2, ::2] * np.float32(_LAYERS))
        cv2.copyTo(np.full_like(rough, 128), np.ascontiguousarray(wet[::2, ::2]), rough)
        rough = cv2.resize(rough, luma.shape[::-1], interpolation=cv2.INTER_LINEAR)
        cv2.multiply(luma, rough, dst=luma, scale=1 / 128)


def rock(kind: str, rng: np.random.Generator) -> Bytes:
    """Return layers and cracks, about 128: down the height, and along.

    A border of one texel repeats the other side.
    """
    strength, cracked = _LAYERED[kind]
    rows = np.arange(_SIDE, dtype=np.float32)[:, None]
    line = cv2.GaussianBlur(rng.standard_normal((1, _SIDE), np.float32), (0, 0), 3.0)[0]
    line += 0.35 * cv2.GaussianBlur(rng.standard_normal((1, _SIDE), np.float32), (0, 0), 0.9)[0]
    line /= line.std()
    place = (rows + 3.0 * noise(rng, 4, 5, side=_SIDE)) % _SIDE
    layer = np.interp(place, np.arange(_SIDE), line).astype(np.float32)
    rough = 1.0 + strength * layer + cracked * noise(rng, 24, 5, 0.75, _SIDE)
    tile = cv2.convertScaleAbs(np.clip(rough, 0.3, 1.9), alpha=128.0)
    return np.pad(tile, 1, mode="wrap")
