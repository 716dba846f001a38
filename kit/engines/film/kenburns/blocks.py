"""Blocks: planes whose pixels carry their neighbors, so that one look-up yields several pixels.

Looking up four bytes costs as much as looking up one. What is next to each other in a frame comes
from what is nearly next to each other in a picture, unless a camera zooms far: for a scale of 1.1
the pixels of a block are off their places by a twentieth of a pixel.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Bytes


def quads(plane: Bytes) -> Bytes:
    """Return a plane of which each pixel carries its neighbors to the right, below and both.

    Returns
    -------
    ndarray of uint8
        Shape (height, width, 4). A block's middle lies at the lower right corner of its pixel.
    """
    out = np.empty((*plane.shape, 4), np.uint8)
    fill_quads(bordered(plane), out)
    return out


def bordered(plane: Bytes) -> Bytes:
    """Return a plane with its last row and column once more, so that all pixels have neighbors."""
    return np.asarray(cv2.copyMakeBorder(plane, 0, 1, 0, 1, cv2.BORDER_REPLICATE))


def fill_quads(wide: Bytes, out: Bytes) -> None:
    """Write a plane, or some rows of it, into its blocks.

    Parameters
    ----------
    wide : ndarray of uint8
        One row and one column larger than the blocks.
    out : ndarray of uint8
        Shape (height, width, 4).
    """
    cv2.merge([wide[:-1, :-1], wide[:-1, 1:], wide[1:, :-1], wide[1:, 1:]], out)


def pairs(one: Bytes, other: Bytes) -> Bytes:
    """Return two planes as one, of which each pixel carries its neighbor to the right.

    Returns
    -------
    ndarray of uint8
        Shape (height, width, 4): twice of one plane, then twice of the other.
    """
    wide = [cv2.copyMakeBorder(plane, 0, 0, 0, 1, cv2.BORDER_REPLICATE) for plane in (one, other)]
    return np.asarray(cv2.merge([part for plane in wide for part in (plane[:, :-1], plane[:, 1:])]))


def spread_quads(blocks: Bytes, plane: Bytes) -> None:
    """Write blocks of two by two pixels into a plane.

    Parameters
    ----------
    blocks : ndarray of uint8
        Shape (height / 2, half the width or more, 4).
    plane : ndarray of uint8
        Shape (height, width), both even.
    """
    height, width = plane.shape
    rows = plane.view(np.uint16).reshape(height // 2, 2, width // 2)
    rows[:, 0], rows[:, 1] = _halves(blocks[:, : width // 2])


def spread_pairs(blocks: Bytes, one: Bytes, other: Bytes) -> None:
    """Write blocks of two pixels of each of two planes into these.

    Parameters
    ----------
    blocks : ndarray of uint8
        Shape (height, half the width or more, 4).
    """
    for plane, half in zip((one, other), _halves(blocks), strict=True):
        plane[:] = half.view(np.uint8)[:, : plane.shape[1]]


def _halves(blocks: Bytes) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """Return the first and the last two bytes of every block, as numbers of two bytes."""
    first, last = cv2.split(blocks.view(np.uint16))
    return np.asarray(first, np.uint16), np.asarray(last, np.uint16)
