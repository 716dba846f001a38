"""The eye: what a camera above the land sees, drawn as the slices of its ground, near to far.

Slices are projected; what rises above everything nearer is seen. A frame is worked out in a few
operations on whole arrays, without a loop over pixels or columns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Bytes, Floats
from kit.engines.video.flythrough.patches import FAR, Box, Patch, patch
from kit.engines.video.flythrough.route import Station

WIDEST = 0.62  # tangent from the middle of the frame to the nearer sides
_NEAR = 5.0
#: Slices up to a distance are looked up in heights of so many texels to a unit: far slices lie
#: apart, and finer heights between them would make crests flicker.
_FINENESS = ((130.0, 2.0), (420.0, 1.0), (FAR + 1.0, 0.5))
_JUMP = 1.05  # nearer by this much than the row above: a ridge hides what lies between
#: Where crests are looked for between the slices before and behind the highest one.
_BETWEEN: Floats = np.linspace(0.125, 0.875, 7, dtype=np.float32)[None]

#: Along x and along y: how far each column goes with a unit of distance, and from where.
_Ways: TypeAlias = tuple[tuple[Floats, np.float32], tuple[Floats, np.float32]]


@dataclass(frozen=True, slots=True)
class Seen:
    """What each pixel shows, by columns and by rows, from the one above the highest land on.

    Parameters
    ----------
    first : int
        That row.
    inverse : ndarray of float32
        One over the distance along the view.
    x, y : ndarray of float32
        Where in the world the point lies.
    height : ndarray of float32
        And how high.
    sky : ndarray of bool
        Nothing but sky.
    edges : tuple of three ndarrays
        Row (of the frame) and column of every pixel under which a ridge ends, and how many rows
        below the ridge's true edge that row lies, 0 to 1.
    """

    first: int
    inverse: Floats
    x: Floats
    y: Floats
    height: Floats
    sky: NDArray[np.bool_]
    edges: tuple[NDArray[np.intp], NDArray[np.intp], Floats]


class Eye:
    """A camera of a fixed size.

    Parameters
    ----------
    slices : int
        More of them show finer ridges.
    """

    def __init__(self, columns: int, rows: int, slices: int) -> None:
        self.columns, self.rows = columns, rows
        # A tall frame sees as much upward as a wide one sees to the sides, a little less.
        self.widest = WIDEST * min(1.0, (columns / rows) ** 0.6)
        self.focal = columns / 2 / self.widest
        self.across: Floats = np.linspace(
            -self.widest, self.widest, 2 * columns + 1, dtype=np.float32
        )[1::2]
        self._distance = _distances(slices)
        self._inverse = (1.0 / self._distance).astype(np.float32)
        self._scale = (np.float32(-self.focal) * self._inverse)[:, None]
        self._column = np.arange(columns, dtype=np.intp)
        self._row = np.arange(rows, dtype=np.float32)[:, None]
        self._patches: list[tuple[slice, Patch]] = []

    def over(self, surface: Floats, box: Box) -> None:
        """Take off over a land.

        Parameters
        ----------
        surface : ndarray of float32
            Heights of land and water, shape (GRID, GRID), repeating at their edges.
        box : function of float
            Returns the part of the world that a flight sees up to a distance.
        """
        start = 0
        self._patches = []
        for reach, fineness in _FINENESS:
            end = int(np.searchsorted(self._distance, reach))
            part = patch(surface, box(min(reach, FAR)), fineness)
            self._patches.append((slice(start, end), part))
            start = end

    def horizon(self, at: Station) -> Floats:
        """Return the row of the horizon in each column; a camera that leans sees it slanted."""
        slant = np.float32(math.tan(at.bank) * self.focal)
        return np.asarray(np.float32(at.horizon * self.rows) - slant * self.across, np.float32)

    def look(self, at: Station) -> Seen:
        """Return what is seen from a place."""
        forward = (math.sin(at.heading), math.cos(at.heading))
        over_x = np.float32(forward[0]) + self.across * np.float32(forward[1])
        over_y = np.float32(forward[1]) - self.across * np.float32(forward[0])
        ways: _Ways = ((over_x, np.float32(at.x)), (over_y, np.float32(at.y)))
        horizon = self.horizon(at)
        ground = self._heights(ways)
        ground -= np.float32(at.height)
        ground *= self._scale
        ground += horizon
        tops = _running(np.minimum, ground, np.empty_like(ground))
        depths = self._sharpen(ground, tops, ways, at, horizon)
        _running(np.minimum, ground, tops)
        # With a row of sky above the highest land, which its edge is blended with.
        first = int(np.clip(math.floor(float(tops[-1].min())), 0, self.rows - 1))
        number, sky = self._slices(tops, first)
        inverse = self._depth(ground, depths, number, first)
        away = np.asarray(np.float32(1) / inverse)
        x, y = (_gone(away, *way) for way in ways)
        below = self._row[first:] - horizon
        below *= np.float32(-1 / self.focal)
        height = _gone(away, below, np.float32(at.height))
        return Seen(first, inverse, x, y, height, sky, _edges(inverse, sky, tops, number, first))

    def _heights(self, ways: _Ways) -> Floats:
        out = np.empty((len(self._distance), self.columns), np.float32)
        for part, heights in self._patches:
            x, y = (_gone(self._distance[part, None], *way) for way in ways)
            heights.into(out[part], x, y)
        return out

    def _sharpen(
        self, ground: Floats, tops: Floats, ways: _Ways, at: Station, horizon: Floats
    ) -> Floats:
        """Raise crests that lie between slices to their true height, in place.

        Only crests that are seen are looked at once more, in several places between the slices
        around them: without it a crest is seen as a row of teeth.

        Returns
        -------
        ndarray of float32
            One over the distance of each slice and column: at a crest, its own.
        """
        columns = self.columns
        crest = ground[1:-1] <= tops[:-2]
        crest &= ground[1:-1] < ground[2:]
        place = np.flatnonzero(crest)
        slice_, column = np.divmod(place.astype(np.int32), np.int32(columns))
        place += columns
        before = np.take(self._distance, slice_)[:, None]
        after = np.take(self._distance, slice_ + 2)[:, None]
        away = before + (after - before) * _BETWEEN
        x, y = (_gone(away, np.take(way, column)[:, None], start) for way, start in ways)
        height = np.empty_like(away)
        bounds = [0, *np.searchsorted(slice_ + 1, [part.stop for part, _ in self._patches])]
        for (_, heights), start, end in zip(self._patches, bounds, bounds[1:], strict=False):
            if start < end:
                heights.into(height[start:end], x[start:end], y[start:end])
        height -= np.float32(at.height)
        height *= np.float32(-self.focal)
        height /= away
        best = height.argmin(axis=1)
        chosen = np.arange(len(best)), best
        ground.reshape(-1)[place] = height[chosen] + np.take(horizon, column)
        depths = np.repeat(self._inverse[:, None], columns, axis=1)
        # A step before the crest: its far side, in another light, is not seen.
        depths.reshape(-1)[place] = 1 / away[chosen[0], np.maximum(best - 1, 0)]
        return depths

    def _slices(self, tops: Floats, top: int) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return the first slice that reaches each pixel, and where none does."""
        count, columns = tops.shape
        rows = self.rows - top
        first = (tops + np.float32(1 - top)).clip(0, rows).astype(np.intp)
        first *= columns
        first += self._column
        starts = np.bincount(first.ravel(), minlength=(rows + 1) * columns)
        starts = starts[: rows * columns].reshape(rows, columns)
        number = np.subtract(count, _running(np.add, starts, starts), out=starts)
        sky = number >= count
        np.clip(number, 1, count - 1, out=number)
        return number, sky

    def _depth(
        self, ground: Floats, depths: Floats, number: NDArray[np.intp], first: int
    ) -> Floats:
        """Return one over the distance of each pixel, between the two slices around it."""
        flat = number * self.columns
        flat += self._column
        upper, depth = (np.take(plane, flat, mode="clip") for plane in (ground, depths))
        flat -= self.columns
        # A slice before may be hidden by a crest, where land comes into view again.
        lower, before = (np.take(plane, flat, mode="clip") for plane in (ground, depths))
        share = lower - self._row[first:]
        lower -= upper
        np.maximum(lower, np.float32(1e-3), out=lower)
        share /= lower
        np.clip(share, 0.0, 1.0, out=share)
        depth -= before
        depth *= share
        depth += before
        return depth


def softened(picture: Bytes, seen: Seen) -> None:
    """Blend every ridge with what lies behind it in the two rows that its edge runs through.

    It is done in place.
    """
    rows, columns, share = seen.edges
    land = picture[rows, columns].astype(np.float32)
    behind = picture[rows - 1, columns].astype(np.float32)
    land -= behind
    for row, offset in ((rows, 0.5), (rows - 1, -0.5)):
        covered = np.clip(share + np.float32(offset), 0.0, 1.0)[:, None]
        picture[row, columns] = behind + land * covered


def _gone(away: Floats, way: Floats, start: np.float32) -> Floats:
    """Return where something is that went a way, so far, from a start."""
    where = away * way
    where += start
    return np.asarray(where)


def _running(way: np.ufunc, rows: NDArray[Any], out: NDArray[Any]) -> NDArray[Any]:
    """Return what a ufunc makes of all rows up to each one.

    Row by row it takes a quarter of the time of the ufunc's own `accumulate`.
    """
    out[0] = rows[0]
    for number in range(1, len(rows)):
        way(out[number - 1], rows[number], out=out[number])
    return out


def _edges(
    inverse: Floats, sky: NDArray[np.bool_], tops: Floats, number: NDArray[np.intp], first: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """Return the pixels in which a ridge begins, and how far they lie below its edge."""
    jump = inverse[1:] > inverse[:-1] * np.float32(_JUMP)
    jump |= sky[:-1] & ~sky[1:]
    row, column = np.nonzero(jump)
    row += 1
    edge = np.take(tops, number[row, column] * tops.shape[1] + column)
    row += first
    share = np.clip(row - edge, 0.0, 1.0).astype(np.float32)
    return row, column, share


def _distances(count: int) -> Floats:
    """Spread slices so that near ground and far ridges both get their part."""
    fine = np.geomspace(_NEAR, FAR, 4096)
    density = 0.34 / fine**2 / (1 / _NEAR - 1 / FAR) + 0.38 / fine / math.log(FAR / _NEAR)
    density += 0.28 / (FAR - _NEAR)
    share = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]) * np.diff(fine))])
    return np.interp(np.linspace(0.0, share[-1], count), share, fine).astype(np.float32)
