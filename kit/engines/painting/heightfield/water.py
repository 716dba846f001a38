"""Water: a surface that mirrors the land behind it and the sky, broken by moving ripples."""

from __future__ import annotations

import math

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats
from kit.engines.painting.camera import accumulate
from kit.engines.painting.heightfield.detail import repeat_tile
from kit.engines.painting.heightfield.ground import OPEN
from kit.engines.painting.heightfield.levels import CameraPose, ColorLevels, Hits
from kit.engines.painting.noise import tile

SWING = 10  # smooth enlarging of marks swings so far to the other side of what is neither
_FOOT = 0.3  # units above the water from which there can be none
#: Shares of the distance behind a place at which dry land is looked for: slices lie so far apart.
_BEHIND = (0.012, 0.020, 0.030, 0.042)
_MOST = 30_000  # places that are looked up in one go
_ROUNDS = 2  # refinements of where a mirrored ray ends
_RIPPLE = 0.018  # slope of the ripples
_TILTED = 0.05  # ripples show steeper water than a level surface would be seen at
_POINTS = 130.0  # units from which light dances on the largest waves
#: From 8 times how much nearer than that a place is to how much smaller its waves are.
_FINER: Floats = np.exp2(np.floor(np.log2(np.clip(np.arange(256) / 8, 1, 16)))).astype(np.float32)


def dry_shores(
    colors: Bytes, levels: ColorLevels, hits: Hits, at: CameraPose, water: float
) -> None:
    """Give what rises from water the colors of the land behind, in place.

    Land is seen as if it rose evenly from one slice of the ground to the next; where the first lies
    in water and the next on a shore, the foot of the shore would be as wet as what lies below it.
    """
    # A pixel's four bytes are one number, whose highest one is the fourth channel.
    wet = colors.view("<u4")[..., 0] >= np.uint32((OPEN + SWING + 1) << 24)
    wet &= (hits.height > np.float32(water + _FOOT)) & ~hits.sky
    place = np.flatnonzero(wet)[:_MOST]
    for far in _BEHIND:
        x, y, inverse = (np.take(plane, place)[None] for plane in (hits.x, hits.y, hits.inverse))
        # What stands higher than a beach is looked for beyond it.
        rise = np.clip((np.take(hits.height, place) - water) / 2, 0.3, 1) * np.float32(far)
        x += rise * (x - np.float32(at.x))
        y += rise * (y - np.float32(at.y))
        if not len(place):
            return
        found = levels.look_up(x, y, inverse)[0]
        dry = found[:, 3] <= OPEN + SWING
        colors.reshape(-1, 4)[place[dry]] = found[dry]
        place = place[~dry]


class FlightWater:
    """The water of a land, as high everywhere.

    Parameters
    ----------
    shine : ndarray
        Color of the light that dances on it.
    sun : float
        Azimuth of the light, in radians.
    glitter : float
        Strength of that dance, 0 to 1.
    """

    def __init__(
        self, level: float, rng: np.random.Generator, *, shine: Bytes, sun: float, glitter: float
    ) -> None:
        self.level, self._shine, self._sun, self._glitter = level, shine, sun, glitter
        self._waves = np.pad(tile(rng, cells=64, octaves=4, gain=0.62, side=1024), 1, mode="wrap")
        # Small ones, in a tile that fits into the processor's cache.
        self._wavelets = np.pad(tile(rng, cells=16, octaves=4, gain=0.62, side=256), 1, mode="wrap")

    def mirror(
        self,
        picture: Bytes,
        hits: Hits,
        at: CameraPose,
        seconds: float,
        top: int,
    ) -> tuple[int, Bytes]:
        """Return the first row, about `top`, and the water's colors from it on, at half the size.

        Parameters
        ----------
        picture : ndarray of uint8
            Land and sky, at half the size; where there is water, what is under its surface.
        """
        camera, inverse = hits.camera, hits.inverse[::2, ::2]
        skip = min(max(0, top - hits.first) // 2, len(inverse) - 1)
        first = hits.first + 2 * skip
        below = inverse[skip:]
        drop = np.float32(max(at.height - self.level, 0.5) * camera.focal)
        x, y = hits.x[2 * skip :: 2, ::2], hits.y[2 * skip :: 2, ::2]
        # Ripples are as soft as they are wide: every other place is enough for them. Two sets run
        # against each other, so that none seems to travel as a whole.
        waves = _drift(self._waves, x[::2, ::2], y[::2, ::2], 6.0, 17.0 * seconds)
        waves += _drift(self._waves, x[::2, ::2], y[::2, ::2], 2.7, -11.0 * seconds)
        waves = cv2.resize(waves, x.shape[::-1], interpolation=cv2.INTER_LINEAR)
        reach = np.float32(_RIPPLE * camera.focal) * (np.float32(0.12) + np.float32(40.0) * below)
        waves *= np.clip(reach, 0, 0.05 * camera.rows, out=reach)
        waves *= np.float32(0.25)
        rows = np.float32(hits.first) + 2 * np.arange(len(inverse), dtype=np.float32)[:, None]
        target = _mirrored_rows(inverse, rows, camera.horizons[::2], drop, skip)
        target *= np.float32(0.5)
        target += waves
        np.maximum(target, 0.0, out=target)
        waves *= np.float32(0.35)
        waves += np.arange(below.shape[1], dtype=np.float32)
        image = cv2.remap(picture, waves, target, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
        # C. Schlick, "An inexpensive BRDF model for physically-based rendering" (1994).
        steep = below * (drop / np.float32(camera.focal))
        sine = steep / np.sqrt(1 + steep * steep) + np.float32(_TILTED)
        share = np.float32(0.04) + np.float32(0.96) * (1 - np.minimum(sine, 1)) ** 5
        water = cv2.blendLinear(image, picture[first // 2 :], share, np.float32(1) - share)
        turn = (self._sun - at.heading + math.pi) % (2 * math.pi) - math.pi
        away = np.abs(np.arctan(camera.across[::2]) - np.float32(turn))
        path = np.exp(-away * np.float32(9.0)) * np.float32(self._glitter)
        lit = np.flatnonzero(path > 0.03)
        if len(lit):
            part = slice(int(lit[0]), int(lit[-1]) + 1)
            share = self._sparkle(x[:, part], y[:, part], below[:, part], seconds) * path[part]
            shine = np.empty((*share.shape, 3), np.uint8)
            shine[:] = self._shine
            dull = np.ascontiguousarray(water[:, part])
            water[:, part] = cv2.blendLinear(dull, shine, np.float32(1) - share, share)
        return first, np.asarray(water)

    def _sparkle(self, x: Floats, y: Floats, inverse: Floats, seconds: float) -> Floats:
        """Return how much light dances on places, 0 to 1: small, and nowhere for long."""
        # Seen from nearer, waves that are smaller by half send the light: it never lies in pools.
        finer = cv2.LUT(cv2.convertScaleAbs(inverse, alpha=8 * _POINTS), _FINER)
        x, y = x * finer, y * finer
        # It is seen where two sets of waves both stand high.
        share = np.abs(_drift(self._wavelets, x, y, 21.0, 60.0 * seconds))
        share *= _drift(self._wavelets, x, y, 13.0, -37.0 * seconds)
        share *= np.float32(1.4)
        share -= np.float32(1.1)
        np.clip(share, 0.0, 1.0, out=share)
        share *= np.clip(np.float32(0.25) + np.float32(26.0) * inverse, 0.0, 1.0)
        return np.asarray(share)


def _mirrored_rows(
    inverse: Floats, rows: Floats, horizon: Floats, drop: np.float32, skip: int
) -> Floats:
    """Return the row that each water pixel mirrors.

    What stands at a distance is mirrored at the row that water has at that distance. The first
    guess is the shore above a pixel; looking at the depth found there leads on, up the slope.
    """
    height, columns = inverse.shape
    # The waterline of each distance is a row of its own, so water stands where the two agree.
    waterline = horizon + drop * inverse
    water = np.abs(waterline - rows) < 2.5
    index = np.where(water, np.float32(0), np.arange(height, dtype=np.float32)[:, None])
    place = accumulate(np.maximum, index, index)[skip:]
    for again in range(_ROUNDS + 1):
        flat = place.astype(np.int32)
        flat *= np.int32(columns)
        flat += np.arange(columns, dtype=np.int32)
        target = np.take(waterline, flat, mode="clip")
        target *= np.float32(2)
        target -= rows[skip:]
        if again < _ROUNDS:
            np.subtract(target, rows[0], out=place)
            place *= np.float32(0.5)
            np.clip(place, 0, height - 1, out=place)
    return np.asarray(target)


def _drift(plane: Floats, x: Floats, y: Floats, scale: float, far: float) -> Floats:
    """Return waves that have moved so many texels."""
    side = plane.shape[0] - 2
    across, down = x * np.float32(scale), y * np.float32(scale)
    across += np.float32(far % side)
    down += np.float32(-0.6 * far % side)
    return np.asarray(repeat_tile(plane, across, down))
