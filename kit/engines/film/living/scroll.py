"""Scrolls: noise that runs on for as long as a clip lasts, and in a loop comes back unseen."""

from __future__ import annotations

import math

import cv2
import numpy as np

from kit.engines.film.filming import Take
from kit.engines.media.color import Floats

_AWAY = 211.0  # units of a tile beside the first look, where it shows something else


class Turns:
    """Two runs of the same way by turns, each of which is unseen where it starts anew.

    Parameters
    ----------
    period : float
        Seconds of a run; a loop takes the next period that goes into the clip.
    """

    def __init__(self, take: Take, period: float) -> None:
        rounds = take.seconds / period
        self._rounds = max(1, round(rounds)) if take.loop else rounds
        self.seconds = take.seconds / self._rounds

    def at(self, moment: float) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return for both runs how far from their middle they are, in seconds, and their shares.

        At moment 0 the first run is in its middle, and the other one is unseen.
        """
        first = (self._rounds * moment + 0.5) % 1.0
        other = (first + 0.5) % 1.0
        share = 1.0 - abs(2.0 * first - 1.0)
        return ((first - 0.5) * self.seconds, share), ((other - 0.5) * self.seconds, 1.0 - share)


def sharpness(share: float) -> float:
    """Return by how much a blend of two unlike things lost its contrast, 1 to 1.41.

    Source: E. Heitz and F. Neyret, "High-Performance By-Example Noise" (2018), the blending that
    keeps the variance.
    """
    return 1.0 / math.sqrt(share * share + (1.0 - share) ** 2)


class Scroll:
    """A tile of noise, looked up at places that run against it.

    Parameters
    ----------
    tile : ndarray of float32
        Noise of mean 0 without a seam.
    x, y : ndarray of float32
        Places in the tile at moment 0.
    speed : float
        Units of the tile that what is seen goes toward larger `y` in a second.
    """

    def __init__(self, tile: Floats, x: Floats, y: Floats, speed: float, take: Take) -> None:
        self._tile = tile
        self._x, self._y = x % np.float32(tile.shape[1]), y
        self._speed, self._seconds = speed, take.seconds
        self._turns = Turns(take, min(4.0, take.seconds)) if take.loop else None

    def at(self, moment: float) -> Floats:
        """Return the noise of a moment."""
        if self._turns is None:
            return self._seen(self._speed * self._seconds * moment)
        (before, share), (after, rest) = self._turns.at(moment)
        one, other = self._seen(self._speed * before), self._seen(self._speed * after + _AWAY)
        keep = sharpness(share)
        return np.asarray(cv2.addWeighted(one, share * keep, other, rest * keep, 0.0))

    def _seen(self, gone: float) -> Floats:
        rows = (self._y - np.float32(gone)) % np.float32(self._tile.shape[0])
        return np.asarray(
            cv2.remap(self._tile, self._x, rows, cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP)
        )
