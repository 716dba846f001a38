"""Voxel space: a landscape of heights is seen from a point, every pixel with its true depth.

Slices of the ground are projected from near to far; what rises above everything nearer is seen.
The whole frame is worked out at once, without a loop over pixels, columns or slices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import Floats

#: World x and z (any equal shape) -> height there.
Heights: TypeAlias = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True, slots=True)
class Camera:
    """A level camera above the world's origin that looks along z.

    Parameters
    ----------
    focal : float
        Pixels that a length of 1 covers at a distance of 1.
    horizon : float
        Row of the horizon.
    height : float
        Of the eye above 0, in the world's unit.
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

    def across(self) -> Floats:
        """Return x at a distance of 1, by column."""
        columns = np.arange(self.columns, dtype=np.float32)
        return np.asarray((columns + 0.5 - self.columns / 2) / self.focal, np.float32)

    def row(self, height: float, z: float) -> float:
        """Return the row in which a point is seen."""
        return self.horizon - (height - self.height) * self.focal / z

    def column(self, x: float, z: float) -> float:
        """Return the column in which a point is seen."""
        return self.columns / 2 + x * self.focal / z


@dataclass(frozen=True, slots=True)
class Seen:
    """What each pixel shows, by rows and columns.

    Parameters
    ----------
    z : ndarray of float32
        Distance along the view; `FAR` where nothing is.
    x, height : ndarray of float32
        Where the point lies.
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


FAR = np.float32(1e6)


def seen(
    heights: Heights,
    camera: Camera,
    progress: Progress,
    *,
    far: float,
    slices: int = 760,
    near: float = 0.26,
    even: float = 0.38,
) -> Seen:
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
    across = camera.across()
    ground = heights(z[:, None] * across, np.broadcast_to(z[:, None], (slices, camera.columns)))
    progress.report(0.4)
    rows: Floats = (
        np.float32(camera.horizon)
        - (ground - np.float32(camera.height)) * (np.float32(camera.focal) * inverse)[:, None]
    )
    _sharpen(rows)
    tops = np.minimum.accumulate(rows, axis=0)
    progress.report(0.6)
    number = _slices_by_row(tops, camera.rows)
    progress.report(0.75)
    return _interpolated(camera, number, rows, inverse, progress)


def softened(planes: Floats, edge: Floats) -> None:
    """Smooth edges of ridges, in place.

    The first pixels under an edge may lie behind the crest, in another light: they take the color
    of the next one. The pixel above is blended with what covers a part of it.
    """
    rows, columns = np.nonzero(edge[:-3] > 0)
    share = edge[rows, columns]
    own = planes[:, rows + 3, columns]
    planes[:, rows + 2, columns] = own
    planes[:, rows + 1, columns] = own
    planes[:, rows, columns] += (own - planes[:, rows, columns]) * share


def _sharpen(rows: Floats) -> None:
    """Raise crests that lie between slices to their true height, in place.

    A parabola through a highest slice and its neighbors tells how high the ground is between them.
    """
    bend = rows[:-2] + rows[2:]
    bend -= 2 * rows[1:-1]
    tilt = rows[2:] - rows[:-2]
    crest = np.abs(tilt) < bend
    gain = tilt[crest] ** 2 / (8 * bend[crest])
    rows[1:-1][crest] -= np.minimum(gain, 3.0)


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


def _interpolated(
    camera: Camera,
    number: NDArray[np.int32],
    rows: Floats,
    inverse: Floats,
    progress: Progress,
) -> Seen:
    """Find the exact depth between two slices, and the edges where depth jumps."""
    count, columns = rows.shape
    sky = number >= count
    slice_ = np.clip(number, 1, count - 1)
    flat = slice_ * columns + np.arange(columns, dtype=np.int32)
    upper = np.take(rows, flat)
    lower = np.take(rows, flat - columns)  # below a crest where the ground comes out of hiding
    row = np.arange(camera.rows, dtype=np.float32)[:, None]
    share = np.clip((lower - row) / np.maximum(lower - upper, 1e-3), 0.0, 1.0)
    progress.report(0.9)
    before, here = inverse[slice_ - 1], inverse[slice_]
    z = 1.0 / (before + (here - before) * share)
    height = camera.height + (camera.horizon - row) * z / camera.focal
    x = z * camera.across()
    z[sky] = FAR
    edge = np.zeros_like(z)
    jump = (z[:-1] > 1.06 * z[1:]) & (number[:-1] > number[1:])
    covered = np.ceil(upper) - upper
    edge[:-1][jump] = np.maximum(covered[1:][jump], 1e-3)
    return Seen(z, np.asarray(x, np.float32), np.asarray(height, np.float32), sky, edge)
