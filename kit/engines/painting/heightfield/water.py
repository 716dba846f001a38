"""Water: a surface that mirrors the land behind it and the sky, broken by moving ripples."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats
from kit.engines.painting.heightfield.camera import Eye, running
from kit.engines.painting.heightfield.patches import repeated
from kit.engines.painting.heightfield.terrain import Station, noise
from kit.engines.painting.heightfield.visible import Seen

_ROUNDS = 2  # refinements of where a mirrored ray ends
_RIPPLE = 0.018  # slope of the ripples
_FAINT = 0.03  # light that is weaker is not drawn
_POINTS = 130.0  # units from which light dances on the largest waves
#: From 8 times how much nearer than that a place is to how much smaller its waves are.
_FINER: Floats = np.exp2(np.floor(np.log2(np.clip(np.arange(256) / 8, 1, 16)))).astype(np.float32)
_TILTED = 0.05  # ripples show steeper water than a level surface would be seen at


@dataclass(frozen=True, slots=True)
class View:
    """What water mirrors.

    Parameters
    ----------
    picture : ndarray of uint8
        At half the size of a frame, shape (rows, columns, 3): land and sky as they are seen; where
        there is water, the color of what is under its surface.
    fog : ndarray of float32
        How much of each point of `seen` is lost in the air, at half the size too.
    air : ndarray of uint8
        And what is seen instead, by column, shape (columns, 3).
    """

    picture: Bytes
    seen: Seen
    fog: Floats
    air: Bytes


class Lake:
    """The water of a land, as high everywhere.

    Parameters
    ----------
    level : float
        That height.
    shine : ndarray
        Color of the light that dances on it, as the picture's.
    sun : float
        Azimuth of the light, in radians.
    glitter : float
        Strength of that dance, 0 to 1.
    """

    def __init__(
        self, level: float, rng: np.random.Generator, *, shine: Floats, sun: float, glitter: float
    ) -> None:
        self._level, self._shine = level, shine
        self._sun, self._glitter = sun, glitter
        self._waves = np.pad(noise(rng, 48, 4, 0.62), 1, mode="wrap")
        # Small ones, in a tile that fits into the processor's cache.
        self._wavelets = np.pad(noise(rng, 12, 4, 0.62, 256), 1, mode="wrap")

    def mirrored(
        self, view: View, eye: Eye, at: Station, seconds: float, top: int
    ) -> tuple[int, Bytes]:
        """Return the water's colors from about a row on.

        Parameters
        ----------
        seconds : float
            Since the clip began.
        top : int
            First row in which there is water.

        Returns
        -------
        int
            The first row.
        ndarray of uint8
            At half the size, shape ((rows - first) / 2, columns / 2, 3).
        """
        seen, picture = view.seen, view.picture
        # Half the size is enough for what ripples blur anyway.
        inverse = seen.inverse[::2, ::2]
        skip = min(max(0, top - seen.first) // 2, len(inverse) - 1)
        first = seen.first + 2 * skip
        below = inverse[skip:]
        drop = np.float32(max(at.height - self._level, 0.5) * eye.focal)
        horizon = eye.horizon(at)[::2]
        rows = np.float32(seen.first) + 2 * np.arange(len(inverse), dtype=np.float32)[:, None]
        x, y = seen.x[2 * skip :: 2, ::2], seen.y[2 * skip :: 2, ::2]
        # Ripples are as soft as they are wide: every other place is enough for them.
        waves = self._rippled(x[::2, ::2], y[::2, ::2], seconds)
        waves = cv2.resize(waves, x.shape[::-1], interpolation=cv2.INTER_LINEAR)
        target = self._target(inverse, rows, horizon, drop, skip)
        reach = np.clip(np.float32(_RIPPLE * eye.focal) * (0.12 + 40.0 * below), 0, 0.05 * eye.rows)
        waves *= reach
        target += waves
        waves *= np.float32(0.35)
        waves += 2 * np.arange(below.shape[1], dtype=np.float32)
        waves *= np.float32(0.5)
        np.maximum(target, 0.0, out=target)
        target *= np.float32(0.5)
        mirror = cv2.remap(picture, waves, target, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
        body = picture[first // 2 :]
        water = _mixed(mirror, body, below * (drop / np.float32(eye.focal)))
        self._sparkle(water, (x, y, seconds), below, eye, at)
        # The mirror already holds the fog of what it shows; a part of the way to it is left.
        fog = np.float32(0.45) * view.fog[skip:]
        far = np.empty_like(water)
        far[:] = view.air
        return first, np.asarray(cv2.blendLinear(water, far, np.float32(1) - fog, fog))

    def _rippled(self, x: Floats, y: Floats, seconds: float) -> Floats:
        """Two sets of waves run against each other, so that none seems to travel as a whole."""
        waves = _drifting(self._waves, x, y, 6.0, 17.0 * seconds)
        waves += _drifting(self._waves, x, y, 2.7, -11.0 * seconds)
        waves *= np.float32(0.5)
        return waves

    def _crests(self, x: Floats, y: Floats, seconds: float) -> Floats:
        """Two sets of fine waves light up where both stand high: small, and never for long."""
        one = _drifting(self._wavelets, x, y, 21.0, 60.0 * seconds)
        other = _drifting(self._wavelets, x, y, 13.0, -37.0 * seconds)
        crests = np.sign(one)
        crests *= np.float32(1.4)
        crests *= one
        crests *= other
        crests -= np.float32(1.1)
        return np.asarray(np.clip(crests, 0.0, 1.0, out=crests))

    @staticmethod
    def _target(
        inverse: Floats, rows: Floats, horizon: Floats, drop: np.float32, skip: int
    ) -> Floats:
        """Return the row that each water pixel mirrors.

        What stands at a distance is mirrored at the row that water has at that distance. The first
        guess is the shore above a pixel; looking at the depth found there leads on, up the slope.
        """
        height = len(inverse)
        # The waterline of each distance is a row of its own, so water stands where the two agree.
        waterline = horizon + drop * inverse
        water = np.abs(waterline - rows) < 2.5
        index = np.where(water, np.float32(0), np.arange(height, dtype=np.float32)[:, None])
        place = running(np.maximum, index, index)[skip:]
        column = np.arange(inverse.shape[1], dtype=np.int32)
        own = rows[skip:]
        for again in range(_ROUNDS + 1):
            flat = place.astype(np.int32)
            flat *= np.int32(inverse.shape[1])
            flat += column
            target = np.take(waterline, flat, mode="clip")
            target *= np.float32(2)
            target -= own
            if again < _ROUNDS:
                np.subtract(target, rows[0], out=place)
                place *= np.float32(0.5)
                np.clip(place, 0, height - 1, out=place)
        return np.asarray(target)

    def _sparkle(
        self,
        water: Bytes,
        where: tuple[Floats, Floats, float],
        inverse: Floats,
        eye: Eye,
        at: Station,
    ) -> None:
        """Let light dance on the water toward the sun, in place.

        Parameters
        ----------
        where : tuple
            Places of the world, and seconds.
        """
        x, y, seconds = where
        turn = (self._sun - at.heading + math.pi) % (2 * math.pi) - math.pi
        away = np.abs(np.arctan(eye.across[::2]) - np.float32(turn))
        path = np.exp(-away * np.float32(9.0)) * np.float32(self._glitter)
        seen = np.flatnonzero(path > _FAINT)
        if not len(seen):
            return
        part = slice(int(seen[0]), int(seen[-1]) + 1)
        near = inverse[:, part]
        # Seen from nearer, waves that are smaller by half send the light: it never lies in pools.
        finer = cv2.LUT(cv2.convertScaleAbs(near, alpha=8 * _POINTS), _FINER)
        share = self._crests(x[:, part] * finer, y[:, part] * finer, seconds)
        share *= path[part]
        share *= np.clip(np.float32(0.25) + np.float32(26.0) * near, 0.0, 1.0)
        shine = np.empty((*share.shape, 3), np.uint8)
        shine[:] = np.clip(np.rint(self._shine), 0, 255)
        lit = np.ascontiguousarray(water[:, part])
        water[:, part] = cv2.blendLinear(lit, shine, np.float32(1) - share, share)


def _drifting(tile: Floats, x: Floats, y: Floats, scale: float, far: float) -> Floats:
    """Return waves that have moved so many texels."""
    side = tile.shape[0] - 2
    across, down = x * np.float32(scale), y * np.float32(scale)
    across += np.float32(far % side)
    down += np.float32(-0.6 * far % side)
    return np.asarray(repeated(tile, across, down))


def _mixed(mirror: Bytes, body: Bytes, steep: Floats) -> Bytes:
    """Mix a mirror image with what is under the surface, by how steeply it is looked upon.

    Source: C. Schlick, "An inexpensive BRDF model for physically-based rendering" (1994).
    """
    sine = steep / np.sqrt(1 + steep * steep) + np.float32(_TILTED)
    share = np.float32(0.04) + np.float32(0.96) * (1 - np.minimum(sine, 1)) ** 5
    return np.asarray(cv2.blendLinear(mirror, np.ascontiguousarray(body), share, 1 - share))
