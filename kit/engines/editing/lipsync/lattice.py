"""Lattices: smooth fields are worked out at every few pixels only, and filled in between.

A field over a face costs some forty operations a place; its values change little from pixel to
pixel, so a ninth or a twenty-fifth of the places is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import cv2
import numpy as np

from kit.engines.media.color import Floats

#: From places, x and y in face units, to fields of the same shape.
Fields: TypeAlias = Callable[[Floats, Floats], Sequence[Floats]]
#: Places are at most about so many face units apart.
_SPACING = 2.4


def step_for(unit: float) -> int:
    """Return how many pixels apart the places are, an odd number, for pixels per face unit."""
    return 1 + 2 * min(int((_SPACING * unit - 1) / 2), 4) if unit * _SPACING > 1 else 1


def filled(fields: Fields, x: Floats, y: Floats, step: int) -> list[Floats]:
    """Return fields over places, worked out at the middle of each ``step x step`` pixels.

    Parameters
    ----------
    x, y : ndarray of float32
        Places in face units, equal shapes.
    step : int
        Odd.
    """
    if step == 1 or not x.size:
        return [np.asarray(field, np.float32) for field in fields(x, y)]
    height, width = x.shape
    rows, columns = (
        np.minimum(np.arange(step // 2, size + step // 2, step), size - 1)
        for size in (height, width)
    )
    at = np.ix_(rows, columns)
    size = (len(columns) * step, len(rows) * step)
    return [
        np.asarray(cv2.resize(np.asarray(field, np.float32), size)[:height, :width])
        for field in fields(x[at], y[at])
    ]
