"""Rain before a picture: thin streaks that lie along their way, in light that is a little duller.

A streak is thinner than a pixel of a small clip: there it is fainter, not wider. Each layer is a
tile without seams; in a loop it goes around a whole number of times.
"""

from __future__ import annotations

from itertools import product

import cv2
import numpy as np

from kit.engines.media.color import Bytes
from kit.engines.video.filming import Take
from kit.engines.video.sheets import Frame

_LAYERS = 3
_COUNT, _FEWER = 420, 0.7  # drops on a square frame's layer farthest away, and nearer
#: Farthest away and one layer nearer: shares of the height; heights in a second; steps of 8 bits.
_LONG, _WIDE, _SPEED, _LIGHT = (0.018, 0.013), (0.0010, 0.0005), (1.3, 0.6), (44, 8)
_LEAN = -0.15  # columns to the side for each row down
_FINE = 4  # bits of a pixel's place
_ENDS = 0.22  # of a streak, at both ends, that are fainter, by half
_DULL, _GRAY = 0.93, 0.86  # shares of light and of color that are left
_BLACK, _NEUTRAL = 16, 128


class Rain:
    """Rain over the frames of a take."""

    def __init__(self, take: Take, rng: np.random.Generator) -> None:
        self._take = take
        self._tiles = [np.tile(_tile(take, near, rng), (2, 2)) for near in range(_LAYERS)]

    def draw(self, frame: Frame, moment: float) -> None:
        """Draw the rain over a frame, in place; `moment` is 0 to 1 of the clip."""
        cv2.convertScaleAbs(frame[0], dst=frame[0], alpha=_DULL, beta=(1 - _DULL) * _BLACK)
        for chroma in frame[1:]:
            cv2.convertScaleAbs(chroma, dst=chroma, alpha=_GRAY, beta=(1 - _GRAY) * _NEUTRAL)
        for near, tile in enumerate(self._tiles):
            cv2.add(frame[0], self._seen(tile, near, moment), dst=frame[0])

    def _seen(self, tile: Bytes, near: int, moment: float) -> Bytes:
        """Cut a frame out of a tile that has fallen for a while."""
        width, height = self._take.width, self._take.height
        down = _at(_SPEED, near) * self._take.seconds
        across = down * _LEAN * height / width
        if self._take.loop:
            down, across = float(max(1, round(down))), float(round(across))
        left, top = (-across * moment * width) % width, (-down * moment * height) % height
        center = (left + (width - 1) / 2, top + (height - 1) / 2)
        return np.asarray(cv2.getRectSubPix(tile, (width, height), center))


def _tile(take: Take, near: int, rng: np.random.Generator) -> Bytes:
    """Draw a layer; its streaks go on at the opposite edge."""
    width, height = take.width, take.height
    tile = np.zeros((height, width), np.uint8)
    count = round(_COUNT * _FEWER**near * width / height)
    long, wide = (_at(pair, near) * height for pair in (_LONG, _WIDE))
    for x, y, bright in rng.random((count, 3)) * (width, height, 1.0):
        light = _at(_LIGHT, near) * (0.35 + 0.65 * bright) * min(1.0, wide)
        for step in product((-width, 0, width), (-height, 0)):
            _streak(tile, (x + step[0], y + step[1]), long * (0.6 + 0.4 * bright), wide, light)
    return tile


def _streak(
    tile: Bytes, place: tuple[float, float], long: float, wide: float, light: float
) -> None:
    if not -long < place[0] < tile.shape[1] + long:
        return
    for end, share in ((0.0, 0.5), (_ENDS, 1.0)):
        first, last = (_fine(place, long * at) for at in (end, 1.0 - end))
        thick = max(1, round(wide))
        cv2.line(tile, first, last, round(light * share), thick, cv2.LINE_AA, _FINE)


def _fine(place: tuple[float, float], far: float) -> tuple[int, int]:
    """Return a place some rows down a streak, in parts of a pixel."""
    return round((place[0] + _LEAN * far) * 2**_FINE), round((place[1] + far) * 2**_FINE)


def _at(pair: tuple[float, float], near: int) -> float:
    """Return a measure of a layer: of the farthest one, and what each nearer one adds."""
    return pair[0] + pair[1] * near
