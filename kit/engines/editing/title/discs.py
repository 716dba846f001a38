"""Discs: suns and moons near a text, each of which its shade spares or covers as a whole.

A shade that ends inside a disc would leave half of one.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Bytes, Floats

_SMALL = 384  # pixels of the longer side of the copy that is searched
_LEAST, _MOST = 0.007, 0.06  # shares of a picture that a disc takes; less is a snowy slope
_FULL = 0.55  # share of its bounding box that it fills
_OBLONG = 2.6  # how much longer one side may be: hills hide parts of a low sun
_SURE = 0.8  # how far a disc stands out


@dataclass(frozen=True, slots=True)
class Discs:
    """Where suns and moons are, as masks of 0 and 1 that reach a little beyond them.

    Parameters
    ----------
    beside, behind : ndarray of uint8, shape (height, width)
        Those that no text stands on, and those that some does.
    """

    beside: Bytes
    behind: Bytes

    def spared(
        self, shining: Floats, reach: Floats, close: Floats, rows: slice
    ) -> tuple[Floats, Floats]:
        """Return how far shade goes in some rows, far and close to the text, sparing what shines.

        Parameters
        ----------
        shining : ndarray of float32
            How far pixels stand out from their surroundings, 0 to 1.
        reach, close : ndarray of float32
            The shades that a picture without lights would get.
        """
        free = 1.0 - shining * np.maximum(1.0 - close**4, self.beside[rows])
        return reach * free, close * free


def found(shining: Floats, box: tuple[int, int, int, int], size: tuple[int, int]) -> Discs:
    """Return the discs among what shines.

    Parameters
    ----------
    shining : ndarray of float32
        How far pixels of a small copy stand out from their surroundings, 0 to 1.
    box : tuple of int
        Left, top, right and bottom of the text in the picture.
    size : tuple of int
        Height and width of the picture.
    """
    rows, columns = shining.shape
    scale = columns / size[1], rows / size[0]
    left, top, right, bottom = (round(edge * scale[number % 2]) for number, edge in enumerate(box))
    count, labels, stats, _ = cv2.connectedComponentsWithStats((shining > _SURE).astype(np.uint8))
    masks = np.zeros((2, rows, columns), np.uint8)
    for number in range(1, count):
        if _round(stats[number], rows * columns):
            own = labels == number
            hidden = bool(own[max(0, top) : bottom, max(0, left) : right].any())
            masks[int(hidden)] |= own
    grown = [cv2.dilate(mask, np.ones((5, 5), np.uint8)) for mask in masks]
    beside, behind = (
        cv2.resize(mask, size[::-1], interpolation=cv2.INTER_NEAREST) for mask in grown
    )
    return Discs(np.asarray(beside), np.asarray(behind))


def small_size(height: int, width: int) -> tuple[int, int]:
    """Return the width and height of the copy in which discs are looked for."""
    scale = min(1.0, _SMALL / max(height, width))
    return max(1, round(width * scale)), max(1, round(height * scale))


def _round(stats: NDArray[np.int32], whole: int) -> bool:
    wide, tall, area = (int(stats[at]) for at in (2, 3, 4))
    compact = area >= _FULL * wide * tall and max(wide, tall) <= _OBLONG * min(wide, tall)
    return compact and _LEAST * whole <= area <= _MOST * whole
