"""Cameras: projects a height field, with the true depth of every pixel.

Slices of the ground are projected from near to far; what rises above all nearer slices is visible.
The whole frame is computed at once, without a loop over pixels, columns or slices. Lengths are in
meters.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import Floats

#: x and z (any equal shape) -> height there.
Heights: TypeAlias = Callable[[Floats, Floats], Floats]
#: Distance of the sky.
FAR = np.float32(1e6)
_BAND = 64  # rows, so that intermediate results stay in the processor's cache
_TREE_REACH, _TREE_FADE = 300.0, 150.0  # meters: single trees are visible up to it; fade over it


@dataclass(frozen=True, slots=True)
class Camera:
    """A level camera above the origin that looks along z."""

    columns: int
    rows: int
    focal: float  # pixels of a length of 1 at a distance of 1
    horizon: float  # row
    height: float  # above the water level
    lean: float = 0.0  # tangent by which the horizon falls to the left
    aside: float = 0.0  # columns from the middle to the right of the forward direction

    @property
    def middle(self) -> float:
        """Column of the forward direction."""
        return self.columns / 2 + self.aside

    @property
    def across(self) -> Floats:
        """Tangent of each column relative to the forward direction."""
        columns = np.arange(self.columns, dtype=np.float32) + np.float32(0.5 - self.middle)
        return np.asarray(columns / np.float32(self.focal), np.float32)

    @property
    def horizons(self) -> Floats:
        """Row of the horizon in each column."""
        level = np.full(self.columns, self.horizon, np.float32)
        return level - np.float32(self.lean * self.focal) * self.across

    @property
    def nearest(self) -> float:
        """Distance of flat ground at height 0 in the lowest row."""
        return self.height * self.focal / max(1.0, self.rows - self.horizon)

    @property
    def widest(self) -> float:
        """Tangent from the middle to a side."""
        return 0.5 * self.columns / self.focal

    @property
    def rise(self) -> float:
        """Tangent from the horizon to the upper edge."""
        return self.horizon / self.focal

    def row(self, height: float, z: float) -> float:
        """Return the row of a point."""
        return self.horizon - (height - self.height) * self.focal / z

    def column(self, x: float, z: float) -> float:
        """Return the column of a point."""
        return self.middle + x * self.focal / z

    def distances(self, spot: tuple[float, float], rows: int) -> Floats:
        """Return the distance in pixels of each pixel of the upper rows from a column and a row."""
        x = np.arange(self.columns, dtype=np.float32)[None] - np.float32(spot[0])
        y = np.arange(rows, dtype=np.float32)[:, None] - np.float32(spot[1])
        return np.asarray(np.sqrt(x * x + y * y))


@dataclass(frozen=True, slots=True)
class View:
    """The visible points, by rows and columns."""

    z: Floats  # position of the point; `FAR` in the sky
    x: Floats
    height: Floats
    sky: NDArray[np.bool_]
    edge: Floats  # coverage by the next row's point, if nearer; else 0
    first: int  # row above which there is only sky


def trace(heights: Heights, camera: Camera, slices: Floats, progress: Progress) -> View:
    """Return the view of a landscape, sampled at rising distances."""
    shape, inverse = (len(slices), camera.columns), (1 / slices).astype(np.float32)
    across, horizon = camera.across, camera.horizons
    ground = heights(slices[:, None] * across, np.broadcast_to(slices[:, None], shape))
    progress.report(0.4)
    rows = ground - np.float32(camera.height)
    rows *= np.float32(-camera.focal) * inverse[:, None]
    rows += horizon
    # A parabola through a highest slice and its neighbors gives the height between them.
    step = rows[1:] - rows[:-1]
    crest = np.flatnonzero((step[:-1] < 0) & (step[1:] > 0))
    below, above = np.take(step, crest), np.take(step, crest + camera.columns)
    gain = (above + below) ** 2 / (8 * (above - below))
    rows.reshape(-1)[crest + camera.columns] -= np.minimum(gain, 3.0)
    tops = accumulate(np.minimum, rows, np.empty_like(rows))
    progress.report(0.6)
    first = int(np.clip(np.floor(tops[-1].min()), 0, camera.rows - 2)) & ~1
    number = _slices_by_row(tops, first, camera.rows)
    progress.report(0.75)
    z, x, height = (np.zeros((camera.rows, camera.columns), np.float32) for _ in range(3))
    edge, sky = np.zeros_like(z), np.ones(z.shape, np.bool_)
    z[:first] = FAR
    start, change = _lines(rows, inverse)
    for row in range(first, camera.rows, _BAND):
        part = slice(row, min(row + _BAND, camera.rows))
        which, down = number[row - first :][:_BAND], np.arange(row, part.stop, dtype=np.float32)
        near = np.take(change, which, mode="clip")
        near *= down[:, None]
        near += np.take(start, which, mode="clip")
        np.clip(near, inverse[-1], inverse[0], out=near)
        np.divide(np.float32(1), near, out=z[part])
        np.multiply(z[part], across, out=x[part])
        np.subtract(horizon, down[:, None], out=height[part])
        height[part] *= np.float32(1 / camera.focal)
        height[part] *= z[part]
        height[part] += np.float32(camera.height)
        np.greater_equal(which, tops.size, out=sky[part])
    np.copyto(z, FAR, where=sky)
    progress.report(0.9)
    jump = np.flatnonzero(z[first:-1] > np.float32(1.06) * z[first + 1 :])
    upper = np.take(tops, np.take(number, jump + camera.columns), mode="clip")
    edge.reshape(-1)[jump + first * camera.columns] = np.clip(np.ceil(upper) - upper, 1e-3, 1)
    return View(z, x, height, sky, edge, first)


def unit(x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return a vector of length 1 in the same direction."""
    length = math.hypot(x, y, z)
    return x / length, y / length, z / length


def accumulate(ufunc: np.ufunc, rows: NDArray[Any], out: NDArray[Any]) -> NDArray[Any]:
    """Return a ufunc accumulated along rows, four times as fast as its own method."""
    out[0] = rows[0]
    for number in range(1, len(rows)):
        ufunc(out[number - 1], rows[number], out=out[number])
    return out


def soften_edges(light: NDArray[Any], edge: Floats) -> None:
    """Smooth edges of ridges in planes of light, in place.

    The first pixels under an edge may be behind the crest, in another light: they get the color of
    the next one. The pixel above is blended with the part of it that is covered.
    """
    place = np.flatnonzero(edge[:-3] > 0)
    rows, columns = np.divmod(place, edge.shape[1])
    share, own = np.take(edge, place), light[:, rows + 3, columns]
    light[:, rows + 2, columns] = own
    light[:, rows + 1, columns] = own
    light[:, rows, columns] = own * share + light[:, rows, columns] * (1 - share)


def spread_slices(near: float, far: float, count: int, even: float, wooded: float = 0.0) -> Floats:
    """Return rising distances that sample both near ground and far ridges.

    A share of them is even, another one is at distances with visible trees.
    """
    fine = np.geomspace(near, far, 4096)
    density = 0.64 / fine**2 / (1 / near - 1 / far) + 0.36 / fine / np.log(far / near)
    density = (1.0 - even) * density + even / (far - near)
    trees = np.clip((_TREE_REACH - fine) / _TREE_FADE, 0.0, 1.0)
    density += wooded / (1 - wooded) * trees / max(float((trees * np.gradient(fine)).sum()), 1e-6)
    share = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]) * np.diff(fine))])
    return np.interp(np.linspace(0.0, share[-1], count), share, fine).astype(np.float32)


def _slices_by_row(tops: Floats, first: int, rows: int) -> NDArray[np.intp]:
    """Return the first slice that reaches each pixel from a row on, numbered over all columns.

    The number after the last slice is the sky.
    """
    columns = tops.shape[1]
    column = np.arange(columns, dtype=np.int32)
    row = np.clip(np.ceil(tops - np.float32(first)), 0, rows - first).astype(np.int32)
    row *= np.int32(columns)
    row += column
    starts = np.bincount(row.ravel(), minlength=(rows - first + 1) * columns)
    number = starts[: (rows - first) * columns].reshape(rows - first, columns)
    number *= columns
    np.subtract(tops.size + column, number[0], out=number[0])
    return accumulate(np.subtract, number, number)


def _lines(rows: Floats, inverse: Floats) -> tuple[Floats, Floats]:
    """Return, for each slice in each column, a line along the rows up from the previous slice.

    The inverse distance changes by the same amount with every row: its value in row 0 of the
    frame, and that amount.
    """
    start, change = (np.empty((len(rows) + 1, rows.shape[1]), np.float32) for _ in range(2))
    start[0], start[-1] = inverse[0], inverse[-1]
    change[0] = change[-1] = 0.0
    # A previous slice may be hidden by a crest, where land reappears.
    rise, inner = change[1:-1], start[1:-1]
    np.minimum(rows[1:] - rows[:-1], np.float32(-1e-3), out=inner)
    np.divide(np.diff(inverse)[:, None], inner, out=rise)
    np.multiply(rise, rows[:-1], out=inner)
    np.subtract(inverse[:-1, None], inner, out=inner)
    return start, change
