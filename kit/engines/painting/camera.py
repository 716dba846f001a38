"""Cameras: a landscape of heights is seen from a point, every pixel with its true depth.

Slices of the ground are projected from near to far; what rises above everything nearer is seen.
The whole frame is worked out at once, without a loop over pixels, columns or slices. Lengths are
meters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import Floats

#: x and z (any equal shape) -> height there.
Heights: TypeAlias = Callable[[Floats, Floats], Floats]
#: Distance of the sky.
FAR = np.float32(1e6)


@dataclass(frozen=True, slots=True)
class Camera:
    """A level camera above the origin that looks along z.

    Parameters
    ----------
    focal : float
        Pixels that a length of 1 covers at a distance of 1.
    horizon : float
        Row of the horizon.
    height : float
        Above the level of the water.
    """

    columns: int
    rows: int
    focal: float
    horizon: float
    height: float

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
        """Return the row in which a point is seen."""
        return self.horizon - (height - self.height) * self.focal / z

    def column(self, x: float, z: float) -> float:
        """Return the column in which a point is seen."""
        return self.columns / 2 + x * self.focal / z

    def away(self, spot: tuple[float, float], rows: int) -> Floats:
        """Return how far each pixel of the upper rows is from a column and a row, in pixels."""
        x = np.arange(self.columns, dtype=np.float32)[None] - np.float32(spot[0])
        y = np.arange(rows, dtype=np.float32)[:, None] - np.float32(spot[1])
        return np.asarray(np.sqrt(x * x + y * y))


@dataclass(frozen=True, slots=True)
class View:
    """What each pixel shows, by rows and columns.

    Parameters
    ----------
    z, x, height : ndarray of float32
        Where the point lies; z is `FAR` where nothing is.
    sky : ndarray of bool
        Nothing but sky.
    edge : ndarray of float32
        How much of a pixel is covered by what the next row shows, where that is nearer; else 0.
    """

    z: Floats
    x: Floats
    height: Floats
    sky: NDArray[np.bool_]
    edge: Floats


def trace(
    heights: Heights,
    camera: Camera,
    progress: Progress,
    *,
    far: float,
    slices: int = 760,
    near: float = 0.26,
    even: float = 0.38,
) -> View:
    """Return what a camera sees of a landscape.

    Parameters
    ----------
    far : float
        Where the world ends.
    slices : int
        More of them show finer ridges.
    near : float
        Distance of the first slice, as a share of that of flat ground in the lowest row.
    even : float
        Share of the slices that are spread evenly over the depth, for ridges far away.
    """
    z = _distances(near * camera.nearest, far, slices, even)
    inverse = (1.0 / z).astype(np.float32)
    columns = np.arange(camera.columns, dtype=np.float32)
    across = ((columns + np.float32(0.5 - camera.columns / 2)) / camera.focal).astype(np.float32)
    ground = heights(z[:, None] * across, np.broadcast_to(z[:, None], (slices, camera.columns)))
    progress.report(0.4)
    drop = (ground - np.float32(camera.height)) * (np.float32(camera.focal) * inverse)[:, None]
    rows = np.float32(camera.horizon) - drop
    # A parabola through a highest slice and its neighbors tells how high it is between them.
    bend = rows[:-2] + rows[2:] - 2 * rows[1:-1]
    tilt = rows[2:] - rows[:-2]
    crest = np.abs(tilt) < bend
    rows[1:-1][crest] -= np.minimum(tilt[crest] ** 2 / (8 * bend[crest]), 3.0)
    tops = np.minimum.accumulate(rows, axis=0)
    progress.report(0.6)
    number = _slices_by_row(tops, camera.rows)
    progress.report(0.75)
    sky = number >= slices
    slice_ = np.clip(number, 1, slices - 1)
    first = np.arange(camera.columns, dtype=np.int32)
    flat = np.asarray(slice_ * np.int32(camera.columns) + first, np.int32)
    upper = np.take(rows, flat)
    lower = np.take(rows, flat - camera.columns)  # below a crest where ground comes out of hiding
    row = np.arange(camera.rows, dtype=np.float32)[:, None]
    share = np.clip((lower - row) / np.maximum(lower - upper, 1e-3), 0.0, 1.0)
    progress.report(0.9)
    before, here = inverse[slice_ - 1], inverse[slice_]
    z = 1.0 / (before + (here - before) * share)
    height = camera.height + (camera.horizon - row) * z / camera.focal
    x = z * across
    z[sky] = FAR
    edge = np.zeros_like(z)
    jump = (z[:-1] > 1.06 * z[1:]) & (number[:-1] > number[1:])
    covered = np.ceil(upper) - upper
    edge[:-1][jump] = np.maximum(covered[1:][jump], 1e-3)
    return View(z, np.asarray(x, np.float32), np.asarray(height, np.float32), sky, edge)


def soften_edges(light: Floats, edge: Floats) -> None:
    """Smooth edges of ridges, in place.

    The first pixels under an edge may lie behind the crest, in another light: they take the color
    of the next one. The pixel above is blended with what covers a part of it.
    """
    rows, columns = np.nonzero(edge[:-3] > 0)
    own = light[:, rows + 3, columns]
    light[:, rows + 2, columns] = own
    light[:, rows + 1, columns] = own
    light[:, rows, columns] += (own - light[:, rows, columns]) * edge[rows, columns]


def _distances(near: float, far: float, count: int, even: float) -> Floats:
    """Spread slices so that near ground and far ridges both get their part."""
    fine = np.geomspace(near, far, 4096)
    density = 0.64 / fine**2 / (1 / near - 1 / far) + 0.36 / fine / np.log(far / near)
    density = (1.0 - even) * density + even / (far - near)
    share = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]) * np.diff(fine))])
    return np.interp(np.linspace(0.0, share[-1], count), share, fine).astype(np.float32)


def _slices_by_row(tops: Floats, rows: int) -> NDArray[np.int32]:
    """Return for each pixel the first slice that reaches it; as many as there are: none does."""
    count, columns = tops.shape
    first = np.clip(np.ceil(tops), 0, rows).astype(np.int32)
    first *= columns
    first += np.arange(columns, dtype=np.int32)
    starts = np.bincount(first.ravel(), minlength=(rows + 1) * columns)
    reached = np.cumsum(starts.reshape(rows + 1, columns)[:rows], axis=0, dtype=np.int32)
    return np.asarray(count - reached, np.int32)
