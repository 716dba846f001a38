"""Erosion: rivers cut valleys into land that rises, until ridges and side valleys branch.

A whole map is worked out in a few array operations: along the tree of rivers, sums and heights
are passed on by pointer jumping, which doubles the distance with every step.
"""

from __future__ import annotations

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import Floats
from kit.engines.painting.heightfield.terrain import doubled

_Places = NDArray[np.intp]
_WAYS = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))
_LENGTHS = np.array([math.hypot(*way) for way in _WAYS], np.float32)
_AREA = 0.45  # how much more a river cuts where it drains more land
_STEEP = 0.03  # the rise of the first land from the sea inward, a cell
_NEXT = 0.62  # on a grid twice as fine, rivers cut by this much less


def carved(
    rise: Floats,
    sea: NDArray[np.bool_],
    rng: np.random.Generator,
    progress: Progress,
    *,
    rounds: tuple[int, ...],
    cut: float = 0.16,
    creep: float = 0.45,
) -> Floats:
    """Return land that rose while rivers cut into it: 0 in the sea, 1 at the highest summit.

    Parameters
    ----------
    rise : ndarray of float32
        How fast land rises, shape (n, n), repeating at its edges.
    sea : ndarray of bool
        Where water takes everything that rivers bring; at least one place.
    rounds : tuple of int
        Steps on the grid of `rise`, then on one twice as fine, and so on.
    cut : float
        How fast rivers cut: more leaves sharper and lower land.
    creep : float
        Width in cells to which ridges are rounded in each step.

    Returns
    -------
    ndarray of float32
        Shape (m, m) where m is n, doubled for each further grid.

    Notes
    -----
    Source: J. Braun and S. Willett, "A very efficient O(n), implicit and parallel method to solve
    the stream power equation" (2013), the implicit step.
    """
    heights = _first(sea) + np.float32(0.3 * _STEEP) * rng.random(rise.shape, np.float32)
    total, done = sum(4**number * count for number, count in enumerate(rounds)), 0
    for number, count in enumerate(rounds):
        if number:
            heights, rise = doubled(heights), doubled(rise)
            sea = doubled(sea.astype(np.float32)) > 0.5
            heights += _uneven(heights, rng)
            cut *= _NEXT
        heights[sea] = 0.0
        for _ in range(count):
            heights = _step(heights, rise, sea, cut)
            heights = blurred(heights, creep)
            done += 4**number
            progress.report(done / total)
    return np.asarray(heights / heights.max(), np.float32)


def blurred(plane: Floats, sigma: float) -> Floats:
    """Return a plane that repeats at its edges, blurred."""
    margin = int(3 * sigma) + 2
    blur = cv2.GaussianBlur(np.pad(plane, margin, mode="wrap"), (0, 0), sigma)
    return np.ascontiguousarray(blur[margin:-margin, margin:-margin])


def _uneven(heights: Floats, rng: np.random.Generator) -> Floats:
    """Return noise that new side valleys can start from, too weak to dam up a river."""
    right, down = (
        cv2.Sobel(np.pad(heights, 1, mode="wrap"), cv2.CV_32F, x, 1 - x, scale=1 / 8)[1:-1, 1:-1]
        for x in (1, 0)
    )
    return np.asarray(
        np.float32(0.3) * np.hypot(right, down) * rng.standard_normal(heights.shape, np.float32)
    )


def _first(sea: NDArray[np.bool_]) -> Floats:
    """Let land rise from every coast inward, so that no place is without a way to the sea."""
    side = sea.shape[0]
    margin = side // 2
    land = np.pad((~sea).astype(np.uint8), margin, mode="wrap")
    away = cv2.distanceTransform(land, cv2.DIST_L2, 5)[margin:-margin, margin:-margin]
    return np.asarray(away * np.float32(_STEEP), np.float32)


def _step(heights: Floats, rise: Floats, sea: NDArray[np.bool_], cut: float) -> Floats:
    """Let land rise, and each place be cut toward the one that it drains to."""
    next_, length, ends = _drains(heights, sea)
    power = np.float32(cut) * _drained(next_, ends) ** np.float32(_AREA) / length
    start = heights.ravel()
    share = np.where(ends, np.float32(0), power / (1 + power))
    rest = np.where(ends, start, (start + rise.ravel()) / (1 + power))
    place = next_
    # A height is `rest` and a share of the height below: both are put in until no share is left.
    while share.max() > 1e-5:
        rest = rest + share * rest[place]
        share = share * share[place]
        place = place[place]
    return np.asarray(rest.reshape(heights.shape), np.float32)


def _drains(heights: Floats, sea: NDArray[np.bool_]) -> tuple[_Places, Floats, NDArray[np.bool_]]:
    """Return the steepest neighbor of each place, how far it is, and where there is none."""
    side = heights.shape[0]
    padded = np.pad(heights, 1, mode="wrap")
    steepest = np.zeros_like(heights)
    way = np.full(heights.shape, -1, np.int8)
    for number, (down, right) in enumerate(_WAYS):
        other = padded[1 + down : 1 + down + side, 1 + right : 1 + right + side]
        fall = (heights - other) * np.float32(1 / _LENGTHS[number])
        better = fall > steepest
        np.copyto(steepest, fall, where=better)
        way[better] = number
    way[sea] = -1
    downs, rights = (np.array([step[axis] for step in _WAYS] + [0]) for axis in (0, 1))
    grid = np.arange(side)
    place = (grid[:, None] + downs[way]) % side * side + (grid[None] + rights[way]) % side
    lengths = np.append(_LENGTHS, np.float32(1))[way]
    return place.ravel().astype(np.intp), lengths.ravel(), (way < 0).ravel()


def _drained(next_: _Places, ends: NDArray[np.bool_]) -> Floats:
    """Return how many places drain through each, itself included."""
    count = len(next_)
    # What has arrived is passed on to a place that does not count.
    place = np.append(np.where(ends, count, next_), count)
    total = np.append(np.ones(count), 0.0)
    while place.min() < count:
        total += np.bincount(place, total, minlength=count + 1)
        total[count] = 0.0
        place = place[place]
    return total[:count].astype(np.float32)
