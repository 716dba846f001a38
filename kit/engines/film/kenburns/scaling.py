"""Scaling: a plane is enlarged or reduced from a place that may lie between its pixels.

A resize is twice as fast as a warp, but starts at whole pixels. Started a few pixels early, though,
some pixel of its result falls nearly where the wanted one lies, whatever the scale; what comes
before it is cut off. A plane that keeps its size is only shifted, which is faster still.
"""

from __future__ import annotations

import math

import cv2
import numpy as np

from kit.engines.film.kenburns.blocks import spread_pairs
from kit.engines.media.color import Bytes

_EARLIEST = 40  # pixels of the result that may be cut off
_FLAGS = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP


def scale(
    source: Bytes, target: Bytes, step: float, corner: tuple[float, float], *, error: float
) -> None:
    """Fill a plane from a part of another one.

    Parameters
    ----------
    target : ndarray of uint8
        Written to.
    step : float
        Pixels of the source to a pixel of the target.
    corner : tuple of float
        Where the target's left and upper edges lie in the source, in pixels.
    error : float
        Pixels of the source by which the result may be off.
    """
    height, width = target.shape
    if step == 1.0:
        center = (corner[0] + (width - 1) / 2, corner[1] + (height - 1) / 2)
        cv2.getRectSubPix(source, (width, height), center, target)
    else:
        target[:] = _scaled(source, (width, height), (step, step), corner, error)


def scale_pairs(
    source: Bytes,
    targets: tuple[Bytes, Bytes],
    step: float,
    corner: tuple[float, float],
    *,
    error: float,
) -> None:
    """Fill two planes from a part of two others that stand in blocks.

    Parameters
    ----------
    source : ndarray of uint8
        See `kit.engines.film.kenburns.blocks.pairs`.
    """
    height, width = targets[0].shape
    # A block's middle lies half a pixel to the right of its pixel's.
    corner = (corner[0] - 0.5, corner[1])
    size = (width + 1) // 2, height
    spread_pairs(_scaled(source, size, (2 * step, step), corner, error), *targets)


def _scaled(
    source: Bytes,
    size: tuple[int, int],
    steps: tuple[float, float],
    corner: tuple[float, float],
    error: float,
) -> Bytes:
    """Return a part of a plane at a size, width and height; everything else goes the same way."""
    starts = [
        _start(*place, error)
        for place in zip(corner, steps, size, source.shape[1::-1], strict=True)
    ]
    if None in starts:
        return _warped(source, size, steps, corner)
    (x, skip_x), (y, skip_y) = (start for start in starts if start is not None)
    width, height = size
    across, down = skip_x + width, skip_y + height
    # A scale is only exact if it is not worked out from rounded sizes.
    part = source[y : y + _needed(down, steps[1]), x : x + _needed(across, steps[0])]
    big = cv2.resize(part, None, fx=1 / steps[0], fy=1 / steps[1], interpolation=cv2.INTER_LINEAR)
    return np.asarray(big[skip_y:down, skip_x:across])


def _start(
    corner: float, step: float, length: int, limit: int, error: float
) -> tuple[int, int] | None:
    """Return the whole pixel to start at and how much of the result to skip; None: none fits."""
    for skip in range(_EARLIEST):
        exact = corner - skip * step
        start = round(exact)
        ends = start + _needed(skip + length, step)
        if abs(exact - start) <= error and start >= 0 and ends <= limit:
            return start, skip
    return None


def _needed(length: int, step: float) -> int:
    """Return pixels of the source that make a length of the result or a little more."""
    return math.ceil(length * step) + 2


def _warped(
    source: Bytes, size: tuple[int, int], steps: tuple[float, float], corner: tuple[float, float]
) -> Bytes:
    # Pixel centers stand at halves.
    moves = [place + 0.5 * step - 0.5 for place, step in zip(corner, steps, strict=True)]
    matrix = np.array([[steps[0], 0.0, moves[0]], [0.0, steps[1], moves[1]]])
    return np.asarray(
        cv2.warpAffine(source, matrix, size, flags=_FLAGS, borderMode=cv2.BORDER_REPLICATE)
    )
