"""Scaling: a plane is enlarged or reduced from a place that may lie between its pixels.

A resize is twice as fast as a warp, but starts at whole pixels. Started a few pixels early, though,
some pixel of its result falls nearly where the wanted one lies, whatever the scale; what comes
before it is cut off.
"""

from __future__ import annotations

import math

import cv2
import numpy as np

from kit.engines.media.color import Bytes

_EARLIEST = 28  # pixels of the result that may be cut off
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
    across = _start(corner[0], step, width, source.shape[1], error)
    down = _start(corner[1], step, height, source.shape[0], error)
    if across is None or down is None:
        _warp(source, target, step, corner)
        return
    (x, skip_x), (y, skip_y) = across, down
    # A scale is only exact if it is not worked out from rounded sizes.
    part = source[y : y + _needed(skip_y + height, step), x : x + _needed(skip_x + width, step)]
    big = cv2.resize(part, None, fx=1 / step, fy=1 / step, interpolation=cv2.INTER_LINEAR)
    target[:] = big[skip_y : skip_y + height, skip_x : skip_x + width]


def _start(
    corner: float, step: float, length: int, limit: int, error: float
) -> tuple[int, int] | None:
    """Return the whole pixel to start at and how much of the result to skip; None: none fits."""
    skip = np.arange(_EARLIEST)
    exact = corner - skip * step
    start = np.rint(exact)
    off = np.abs(exact - start)
    off[(start < 0) | (start + np.ceil((skip + length) * step) + 2 > limit)] = 1.0
    good = np.flatnonzero(off <= error)
    return (int(start[good[0]]), int(good[0])) if len(good) else None


def _needed(length: int, step: float) -> int:
    """Return pixels of the source that make a length of the result or a little more."""
    return math.ceil(length * step) + 2


def _warp(source: Bytes, target: Bytes, step: float, corner: tuple[float, float]) -> None:
    # Pixel centers stand at halves.
    matrix = np.array(
        [
            [step, 0.0, corner[0] + 0.5 * step - 0.5],
            [0.0, step, corner[1] + 0.5 * step - 0.5],
        ]
    )
    cv2.warpAffine(
        source,
        matrix,
        (target.shape[1], target.shape[0]),
        dst=target,
        flags=_FLAGS,
        borderMode=cv2.BORDER_REPLICATE,
    )
