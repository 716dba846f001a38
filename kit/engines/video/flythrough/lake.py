"""Water: a surface that mirrors the land behind it and the sky, broken by moving ripples."""

from __future__ import annotations

import math

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats
from kit.engines.video.flythrough.eye import Eye, Seen
from kit.engines.video.flythrough.route import Station
from kit.engines.video.flythrough.terrain import SIDE, noise

_ROUNDS = 2  # refinements of where a mirrored ray ends
_RIPPLE = 0.020  # slope of the ripples


class Lake:
    """The water of a land, as high everywhere.

    Parameters
    ----------
    deep : ndarray
        Color of deep water, encoded sRGB, 0 to 255.
    shine : ndarray
        Color of the light that dances on it.
    sun : float
        Azimuth of the light, in radians.
    glitter : float
        Strength of that dance, 0 to 1.
    """

    def __init__(
        self,
        level: float,
        rng: np.random.Generator,
        *,
        deep: Floats,
        shine: Floats,
        sun: float,
        glitter: float,
    ) -> None:
        self._level, self._deep, self._shine = level, deep, shine
        self._sun, self._glitter = sun, glitter
        self._waves = noise(rng, 48, 4, 0.62)

    def mirrored(
        self, picture: Bytes, seen: Seen, eye: Eye, at: Station, seconds: float, top: int
    ) -> tuple[int, Bytes]:
        """Return the water's colors from about a row on.

        Parameters
        ----------
        picture : ndarray of uint8
            Shape (rows, columns, 3): land and sky as they are seen.
        top : int
            First row in which there is water.

        Returns
        -------
        int
            The first row.
        ndarray of uint8
            Shape (rows - first, columns, 3).
        """
        horizon = at.horizon * eye.rows
        first = max(0, min(eye.rows - 2, top)) & ~1
        # Half the size is enough for what ripples blur anyway.
        inverse = seen.inverse[::2, ::2]
        below = inverse[first // 2 :]
        drop = np.float32(max(at.height - self._level, 0.5) * eye.focal)
        rows = 2 * np.arange(first // 2, inverse.shape[0], dtype=np.float32)[:, None]
        waves = self._rippled(seen, first, seconds)
        target = self._target(inverse, below, rows, horizon, drop)
        reach = np.clip(np.float32(_RIPPLE * eye.focal) * (0.12 + 60.0 * below), 0, 0.09 * eye.rows)
        target += waves * reach
        columns = 2 * np.arange(below.shape[1], dtype=np.float32)[None]
        mirror = cv2.remap(
            picture,
            columns + 0.35 * waves * reach,
            np.clip(target, 0, eye.rows - 1),
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REFLECT,
        )
        water = self._tinted(mirror, below, drop / np.float32(eye.focal))
        if self._glitter > 0:
            self._sparkle(water, self._crests(seen, first, seconds), below, eye, at)
        size = (eye.columns, 2 * below.shape[0])
        full = cv2.resize(water, size, interpolation=cv2.INTER_LINEAR)
        return first, full[: eye.rows - first]

    def _rippled(self, seen: Seen, first: int, seconds: float) -> Floats:
        """Two sets of waves run against each other, so that none seems to travel as a whole."""
        one, other = (
            self._drifting(seen, first, scale, drift * seconds)
            for scale, drift in ((6.0, 17.0), (2.7, -11.0))
        )
        return np.asarray(0.5 * (one + other))

    def _crests(self, seen: Seen, first: int, seconds: float) -> Floats:
        """Two sets of fine waves light up where both stand high: small, and never for long."""
        one, other = (
            self._drifting(seen, first, scale, drift * seconds)
            for scale, drift in ((21.0, 60.0), (13.0, -37.0))
        )
        return np.asarray(np.clip(one * other * np.sign(one) - np.float32(0.55), 0.0, 1.0))

    def _drifting(self, seen: Seen, first: int, scale: float, far: float) -> Floats:
        return np.asarray(
            cv2.remap(
                self._waves,
                seen.x[first::2, ::2] * np.float32(scale) + np.float32(far % SIDE),
                seen.y[first::2, ::2] * np.float32(scale) + np.float32(-0.6 * far % SIDE),
                cv2.INTER_LINEAR,
                borderMode=cv2.BORDER_WRAP,
            )
        )

    @staticmethod
    def _target(
        inverse: Floats, below: Floats, rows: Floats, horizon: float, drop: np.float32
    ) -> Floats:
        """Return the row that each water pixel mirrors.

        What stands at a distance is mirrored at the row that water has at that distance. The first
        guess is the shore above a pixel; looking at the depth found there leads on, up the slope.
        """
        height = inverse.shape[0]
        # The waterline of each distance is a row of its own, so water stands where the two agree.
        row = 2 * np.arange(height, dtype=np.float32)[:, None]
        water = np.abs(horizon + drop * inverse - row) < 2.5
        index = np.where(water, 0, np.arange(height, dtype=np.int32)[:, None])
        shore = np.maximum.accumulate(index, axis=0)[height - below.shape[0] :]
        column = np.arange(inverse.shape[1], dtype=np.int32)[None]
        target = 2 * (horizon + drop * inverse[shore, column]) - rows
        for _ in range(_ROUNDS):
            at = np.clip(target * 0.5, 0, height - 1).astype(np.int32)
            target = 2 * (horizon + drop * inverse[at, column]) - rows
        return np.asarray(target, np.float32)

    def _tinted(self, mirror: Bytes, inverse: Floats, above: np.float32) -> Bytes:
        """Mix in the water's own color: steep looks see into it, flat ones only the mirror."""
        steep = np.clip(above * inverse, 0.0, 1.0)
        own = np.clip(0.10 + 1.15 * steep, 0.0, 0.72)[..., None]
        return np.asarray(mirror + (self._deep - mirror) * own, np.uint8)

    def _sparkle(self, water: Bytes, crest: Floats, inverse: Floats, eye: Eye, at: Station) -> None:
        turn = (self._sun - at.heading + math.pi) % (2 * math.pi) - math.pi
        away = np.abs(np.arctan(eye.across[::2]) - np.float32(turn))
        path = np.exp(-away * np.float32(9.0)) * np.float32(self._glitter)
        share = np.clip(crest * path * np.clip(0.25 + 26.0 * inverse, 0, 1), 0, 1)[..., None]
        water[:] = water + (self._shine - water) * share
