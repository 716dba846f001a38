"""Rain: thin streaks that lie along their way, nearer ones longer and faster.

A streak is thinner than a pixel of a small clip: there it is fainter, not wider.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import cv2
import numpy as np

from kit.engines.media.clip import Frame
from kit.engines.media.color import Bytes

_LAYERS = 3
_COUNT, _FEWER = 420, 0.7  # drops on a square frame's layer farthest away, and nearer
#: Farthest away and one layer nearer: shares of the height; heights in a second; steps of 8 bits.
_LONG, _WIDE, _SPEED, _LIGHT = (0.018, 0.013), (0.0010, 0.0005), (1.3, 0.6), (44, 8)
_LEAN = -0.15  # columns to the side for each row down
_FINE = 4  # bits of a pixel's place
_ENDS = 0.22  # of a streak, at both ends, that are fainter, by half
_DULL, _GRAY = 0.93, 0.86  # shares of light and of color that are left
_BLACK, _NEUTRAL = 16, 128


def streaks(
    rng: np.random.Generator, size: tuple[int, int]
) -> Iterator[tuple[Bytes, tuple[float, float]]]:
    """Yield the layers of a rain, the farthest first: each a tile without seams, and its speed.

    Parameters
    ----------
    size : tuple of int
        Width and height of the frame, which are also those of a tile.

    Yields
    ------
    tile : ndarray of uint8
        Light to add.
    speed : tuple of float
        Frame widths and heights in a second.
    """
    for near in range(_LAYERS):
        down = _at(_SPEED, near)
        yield _tile(rng, size, near), (down * _LEAN * size[1] / size[0], down)


def dull(frame: Frame) -> None:
    """Take light and color from a frame that was not made for rain, in place."""
    cv2.convertScaleAbs(frame[0], dst=frame[0], alpha=_DULL, beta=(1 - _DULL) * _BLACK)
    for chroma in frame[1:]:
        cv2.convertScaleAbs(chroma, dst=chroma, alpha=_GRAY, beta=(1 - _GRAY) * _NEUTRAL)


def _tile(rng: np.random.Generator, size: tuple[int, int], near: int) -> Bytes:
    """Draw a layer; its streaks go on at the opposite edge."""
    width, height = size
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
