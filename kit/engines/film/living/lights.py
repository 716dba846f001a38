"""Lights: signs and windows that waver, and stars that glimmer, as they are found in a painting."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.film.filming import Take
from kit.engines.film.living.life import turns
from kit.engines.media.color import Bytes, Floats

_GROUPS = 24


@dataclass(frozen=True, slots=True)
class Lights:
    """What wavers, and how.

    Parameters
    ----------
    contrast, least : int
        Steps of 8 bits by which a spot is brighter than what is around it, and how bright it is.
    calm : float
        Share of the groups that do not waver.
    dim : float
        Share of its light that a spot lacks on the average.
    waves : tuple of (turns, share)
        How often each wave goes up and down in about five seconds, and by how much.
    """

    contrast: int
    least: int
    calm: float
    dim: float
    waves: tuple[tuple[int, float], ...]


#: Signs, windows and lamps of a street.
LAMPS = Lights(26, 120, 0.45, 0.30, ((1, 0.32), (3, 0.24), (7, 0.16)))
#: Stars over land: air is never still, so that all of them glimmer, and quickly.
STARS = Lights(9, 40, 0.15, 0.34, ((3, 0.20), (7, 0.24), (13, 0.16)))


class Flicker:
    """Lights that waver: small bright spots, in groups that each go their own way.

    Parameters
    ----------
    within : ndarray of float32, optional
        Where they are, 0 to 1, of any size; everywhere without it.

    Attributes
    ----------
    rows : int
        Below which there are none.
    """

    def __init__(
        self,
        luma: Bytes,
        take: Take,
        rng: np.random.Generator,
        lights: Lights = LAMPS,
        within: Floats | None = None,
    ) -> None:
        self._take, self._lights = take, lights
        self.rows, width = luma.shape
        reach = max(3, width // 60) | 1
        around = cv2.blur(luma, (reach, reach))
        spots = cv2.subtract(luma, around)
        spots[(spots < lights.contrast) | (luma < lights.least)] = 0
        if within is not None:
            spots = _kept(cv2.min(spots, _points(luma)), within, reach)
            self.rows = len(spots)
        self._spots = cv2.GaussianBlur(spots, (0, 0), 0.8)
        self._groups = _groups(self._spots, rng)
        self._phases = rng.random((len(lights.waves), _GROUPS))
        self._calm = rng.random(_GROUPS) < lights.calm

    def draw(self, luma: Bytes, moment: float, share: float = 1.0) -> None:
        """Dim the lights as they are at a moment, in place, by a share of what they dim."""
        rounds = turns(self._take)
        dim = np.zeros(256, np.uint8)
        level = np.full(_GROUPS, self._lights.dim)
        for (count, far), phase in zip(self._lights.waves, self._phases, strict=True):
            level = level + far * np.sin(2 * np.pi * (count * rounds * moment + phase))
        dim[:_GROUPS] = np.where(self._calm, 0, 255 * np.clip(level, 0.0, 1.0)).astype(np.uint8)
        amount = cv2.multiply(self._spots, cv2.LUT(self._groups, dim), scale=share / 255)
        over = luma[: self.rows]
        cv2.subtract(over, amount, dst=over)


def _points(luma: Bytes) -> Bytes:
    """Return by how much what is as small as a star is brighter than what is around it."""
    side = max(5, luma.shape[1] // 160) | 1
    shape = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side))
    return np.asarray(cv2.morphologyEx(luma, cv2.MORPH_TOPHAT, shape))


def _kept(spots: Bytes, within: Floats, reach: int) -> Bytes:
    """Return the rows of spots down to the last one that lies well within a mask."""
    inside = cv2.resize(within, spots.shape[::-1], interpolation=cv2.INTER_LINEAR)
    # Sky right over a dark ridge is brighter than what is around it, too.
    inside = cv2.erode(inside, np.ones((reach, reach), np.uint8))
    spots = np.where(inside > 0.9, spots, np.uint8(0))
    rows = np.flatnonzero(spots.any(axis=1))
    return spots[: int(rows[-1]) + 3] if len(rows) else spots[:1]


def _groups(spots: Bytes, rng: np.random.Generator) -> Bytes:
    """Return the group of each pixel: what is lit together, like the letters of a sign, is one."""
    near = cv2.getStructuringElement(cv2.MORPH_RECT, (max(3, spots.shape[0] // 90) | 1,) * 2)
    count, labels = cv2.connectedComponents(cv2.dilate(spots, near), connectivity=8)
    groups = rng.integers(0, _GROUPS, max(1, count)).astype(np.uint8)
    return np.asarray(groups[labels])
