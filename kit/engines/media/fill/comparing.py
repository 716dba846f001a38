"""Comparing: patches of a picture as rows of numbers, and how unlike two of them are.

A patch is the square of pixels around a place. Only whole ones are compared: those that lie in the
picture, where nothing is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import cv2
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import Bytes, Floats

#: Rows and columns of places.
Places: TypeAlias = NDArray[np.int64]
#: Patches, shape (n, pixels, 3), and how much each of their values counts, shape (n, pixels * 3).
Own: TypeAlias = tuple[Floats, Floats]
#: Returns what it costs to fill places from other places.
Toll: TypeAlias = Callable[[Places, Places], Floats]

RADIUS = 3
SIZE = 2 * RADIUS + 1

_FAR = 60.0  # added to a difference for a find that lies as far away as the picture is long
_LAYERED = 3.0  # how much more a step up or down costs than one to the side
_BLOCK = 256


def far(here: Places, there: Places, shape: tuple[int, ...]) -> Floats:
    """Return what a find costs for lying far away, and more so for lying higher or lower.

    Pictures lie in layers: at the same height there is more of the same.
    """
    away = np.float32(_FAR / max(shape[:2]))
    (high, left), (other_high, other_left) = here.astype(np.float32), there.astype(np.float32)
    down = np.abs(other_high - high)
    down *= np.float32(_LAYERED) * away
    across = np.abs(other_left - left)
    across *= away
    down += across
    return np.asarray(down)


def whole_patches(gap: Bytes, barred: Bytes) -> NDArray[np.bool_]:
    """Return around which places a whole patch lies in the picture, known and not barred."""
    closed = cv2.dilate(gap | barred, np.ones((SIZE, SIZE), np.uint8)) > 0
    return np.asarray(inside_of(gap.shape) & ~closed)


def inside_of(shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return around which places of a picture a whole patch lies in it."""
    inside = np.zeros(shape, bool)
    inside[RADIUS:-RADIUS, RADIUS:-RADIUS] = True
    return inside


def patches(canvas: Floats, places: Places) -> Floats:
    """Return the pixels around places that a whole patch fits around, shape (n, pixels, 3)."""
    depth = canvas.shape[2]
    # A row of a patch is one stretch of memory.
    rows = sliding_window_view(canvas.reshape(len(canvas), -1), (SIZE, SIZE * depth))[:, ::depth]
    found = rows[places[0] - RADIUS, places[1] - RADIUS]
    return np.asarray(found.reshape(-1, SIZE * SIZE, depth))


def nearest(
    canvas: Floats,
    at: Places,
    own: Own,
    known: Places,
    progress: Progress,
    toll: Toll | None = None,
) -> tuple[Places, Floats]:
    """Return for each place the known place that looks most like it, and how much they differ.

    Parameters
    ----------
    canvas : ndarray of float32
        Shape (height, width, 3).
    at, known : ndarray of int
        Shapes (2, n) and (2, m).
    own : pair of ndarray of float32
        The patches at the places, shape (n, pixels, 3), and how much each of their values counts,
        shape (n, pixels * 3).
    toll : Toll, optional
        What finds cost beside looking different; without it that is `far`.
    """
    toll = toll or partial(far, shape=canvas.shape)
    found = patches(canvas, known)
    both = np.hstack([np.einsum("nij,nij->ni", found, found), found.reshape(len(found), -1)]).T
    best, cost = np.empty_like(at), np.empty(at.shape[1], np.float32)
    for start in range(0, len(cost), _BLOCK):
        progress.report(start / len(cost))
        part = slice(start, start + _BLOCK)
        here = at[:, part]
        pixels = own[0][part].reshape(here.shape[1], -1)
        weight = own[1][part]
        off = np.hstack([weight[:, :: canvas.shape[2]], -2 * weight * pixels]) @ both
        off += (weight * pixels * pixels).sum(axis=1, keepdims=True)
        off += toll(here[:, :, None], known[:, None])
        which = off.argmin(axis=1)
        best[:, part] = known[:, which]
        cost[part] = off[np.arange(len(which)), which]
    return best, np.maximum(cost, 0.0)
