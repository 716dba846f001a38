"""Mixing: colors are laid over a canvas by how strongly they cover it.

Parts of a canvas are mixed by OpenCV: numpy takes four times as long for rows that do not follow
each other in memory.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Bytes, Floats


def weight_of(alpha: Bytes) -> Floats:
    """Return alpha of 0 to 255 as a weight of 0 to 1, in memory of its own."""
    weight = alpha.astype(np.float32)
    weight *= np.float32(1 / 255)
    return weight


def spread(values: NDArray[np.generic], shape: tuple[int, int]) -> Floats:
    """Return values, a row or a column or as many as fit, in full, in memory of their own."""
    full = np.empty(shape, np.float32)
    full[:] = values
    return full


def lay(
    canvas: Floats,
    ground: Floats,
    weight: Floats,
    shares: Sequence[tuple[Floats, Floats]],
    *,
    left: Floats | None,
) -> None:
    """Mix a ground and what is painted upon it into a canvas, in place.

    Parameters
    ----------
    canvas : ndarray of float32
        Shape (3, rows, columns).
    ground : ndarray of float32
        Its color, of a shape that fits the canvas.
    weight : ndarray of float32
        How strongly it is seen, 0 to 1, shape (rows, columns).
    shares : sequence of (color, weight)
        What is painted upon it: colors of shape (3, 1, 1), and how strongly each is seen.
    left : ndarray of float32, optional
        How much is left of what the canvas shows; nothing if left out.
    """
    plain = ground.shape[1:] == (1, 1)
    if plain:
        shares = [*shares, (ground, weight)]
    spare = np.empty_like(weight)
    for channel, target in enumerate(canvas):
        if left is None:
            target[:] = 0.0
        else:
            cv2.multiply(target, left, dst=target)
        if not plain:
            spare[:] = ground[channel]  # a single column is multiplied far more slowly
            cv2.accumulateProduct(spare, weight, target)
        for color, share in shares:
            cv2.scaleAdd(share, float(color[channel, 0, 0]), target, dst=target)


def blend(canvas: Floats, color: Floats, alpha: Bytes | Floats) -> None:
    """Mix a color, shape (3, 1, 1), into a canvas of the same rows, in place.

    Parameters
    ----------
    alpha : ndarray
        How strongly it covers: 8 bits, or floats of 0 to 1 in a shape that fits (rows, columns).
    """
    if alpha.dtype == np.uint8:
        weight = weight_of(np.asarray(alpha, np.uint8))
    else:
        weight = spread(alpha, canvas.shape[1:])
    lay(canvas, color, weight, (), left=np.subtract(1.0, weight))
