"""The eye: what a camera above the land sees, drawn as the slices of its ground, near to far.

Slices are projected; what rises above everything nearer is seen. A frame is worked out in a few
operations on whole arrays, without a loop over pixels or columns.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Floats
from kit.engines.painting.heightfield.canvas import bands
from kit.engines.painting.heightfield.patches import FAR, Box, Patch, patch
from kit.engines.painting.heightfield.slices import FINENESS, Fineness
from kit.engines.painting.heightfield.terrain import Station
from kit.engines.painting.heightfield.visible import Seen

WIDEST = 0.62  # tangent from the middle of the frame to the nearer sides
_JUMP = 1.05  # nearer by this much than the row above: a ridge hides what lies between
#: Where crests are looked for between the slices before and behind the highest one.
_BETWEEN: Floats = np.linspace(0.125, 0.875, 7, dtype=np.float32)[None]

#: Along x and along y: how far each column goes with a unit of distance, and from where.
_Ways: TypeAlias = tuple[tuple[Floats, float], tuple[Floats, float]]


class Eye:
    """A camera of a fixed size; its lens sees so many times as much to the sides as usual."""

    def __init__(self, columns: int, rows: int, lens: float = 1.0) -> None:
        self.columns, self.rows = columns, rows
        # A tall frame sees as much upward as a wide one sees to the sides, a little less.
        self.widest = lens * WIDEST * min(1.0, (columns / rows) ** 0.6)
        self.focal = columns / 2 / self.widest
        self.across: Floats = np.linspace(
            -self.widest, self.widest, 2 * columns + 1, dtype=np.float32
        )[1::2]
        self._column = np.arange(columns, dtype=np.int32)
        self._row = np.arange(rows, dtype=np.float32)[:, None]
        self._patches: list[tuple[slice, Patch]] = []

    def over(
        self, surface: Floats, box: Box, slices: Floats, fineness: Fineness = FINENESS
    ) -> None:
        """Take off over a land.

        Parameters
        ----------
        slices : ndarray of float32
            At which distances ground is looked for; more of them show finer ridges.
        fineness : sequence of tuples
            Distances, and texels to a unit of the heights of all slices up to them.
        surface : ndarray of float32
            Heights of land and water, shape (GRID, GRID), repeating at their edges.
        box : function of float
            Returns the part of the world that a flight sees up to a distance.
        """
        self._distance = slices
        self._inverse = (1.0 / slices).astype(np.float32)
        self._scale = (np.float32(-self.focal) * self._inverse)[:, None]
        fineness = tuple(pair for pair in fineness if pair[0] > slices[0])
        self._reaches = [reach for reach, _ in fineness[:-1]]
        start = 0
        self._patches = []
        for reach, level in fineness:
            end = int(np.searchsorted(slices, reach))
            part = patch(surface, box(min(reach, FAR)), level)
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
        ways: _Ways = ((over_x, at.x), (over_y, at.y))
        horizon = self.horizon(at)
        ground = self._heights(ways)
        ground -= np.float32(at.height)
        ground *= self._scale
        ground += horizon
        tops = running(np.minimum, ground, np.empty_like(ground))
        depths = self._sharpen(ground, tops, ways, at, horizon)
        running(np.minimum, ground, tops)
        # With a row of sky above the highest land, which its edge is blended with; an even one,
        # so that colors at half the size begin with a whole row.
        first = int(np.clip(math.floor(float(tops[-1].min())), 0, self.rows - 2)) & ~1
        number, sky = self._slices(tops, first)
        lines = self._lines(ground, depths)
        planes = [np.empty(number.shape, np.float32) for _ in range(5)]
        for band in bands(len(number)):
            inverse, away, x, y, height = (plane[band] for plane in planes)
            row = self._row[first:][band]
            self._depth(lines, number[band], row, inverse)
            np.divide(np.float32(1), inverse, out=away)
            for out, (way, start) in zip((x, y), ways, strict=True):
                np.multiply(away, way, out=out)
                out += np.float32(start)
            np.subtract(horizon, row, out=height)
            height *= np.float32(1 / self.focal)
            height *= away
            height += np.float32(at.height)
        inverse, away, x, y, height = planes
        edges = _edges(inverse, sky, tops, number, first)
        return Seen(first, away, inverse, x, y, height, sky, edges)

    def ground(self, x: Floats, y: Floats, away: Floats) -> Floats:
        """Return the height of land or water at some places, by their distances; shape (n,)."""
        out = np.empty_like(away)
        which = np.searchsorted(self._reaches, away, side="right")
        for number, (_, heights) in enumerate(self._patches):
            part = np.flatnonzero(which == number)
            if len(part):
                found = np.empty((1, len(part)), np.float32)
                heights.into(found, x[part][None], y[part][None])
                out[part] = found[0]
        return out

    def _heights(self, ways: _Ways) -> Floats:
        out = np.empty((len(self._distance), self.columns), np.float32)
        for part, heights in self._patches:
            x, y = (
                _outer(self._distance[part], way * np.float32(heights.scale), start)
                for (way, _), start in zip(ways, heights.start(ways[0][1], ways[1][1]), strict=True)
            )
            cv2.remap(
                heights.plane,
                x,
                y,
                cv2.INTER_LINEAR,
                dst=out[part],
                borderMode=cv2.BORDER_REPLICATE,
            )
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
        """Return the first slice that reaches each pixel, and where none does.

        Slices are numbered through all their columns; what would be the one after the last is sky.
        """
        count, columns = tops.shape
        rows = self.rows - top
        first = (tops + np.float32(1 - top)).astype(np.int32)
        np.clip(first, 0, rows, out=first)
        first *= np.int32(columns)
        first += self._column
        starts = np.bincount(first.ravel(), minlength=(rows + 1) * columns)
        number = starts[: rows * columns].reshape(rows, columns)
        number *= columns
        np.subtract(count * columns + self._column, number[0], out=number[0])
        running(np.subtract, number, number)
        return number, number >= count * columns

    def _lines(self, ground: Floats, depths: Floats) -> tuple[Floats, Floats]:
        """Return, for each slice in each column, a line along the rows up from the one before it.

        One over the distance changes by the same amount with every row: what it is in row 0 of
        the frame, and that amount.
        """
        count, columns = ground.shape
        start, change = (np.empty((count + 1, columns), np.float32) for _ in range(2))
        start[0], start[-1] = self._inverse[0], self._inverse[-1]
        change[0] = change[-1] = 0.0
        # A slice before may be hidden by a crest, where land comes into view again.
        rise, inner = change[1:-1], start[1:-1]
        np.subtract(ground[1:], ground[:-1], out=inner)
        np.minimum(inner, np.float32(-1e-3), out=inner)
        np.subtract(depths[1:], depths[:-1], out=rise)
        rise /= inner
        np.multiply(rise, ground[:-1], out=inner)
        np.subtract(depths[:-1], inner, out=inner)
        return start, change

    def _depth(
        self, lines: tuple[Floats, Floats], number: NDArray[np.intp], row: Floats, out: Floats
    ) -> None:
        """Tell one over the distance of each pixel in some rows, between the slices around it."""
        start, change = lines
        np.take(change, number, out=out, mode="clip")
        out *= row
        out += np.take(start, number, mode="clip")
        np.clip(out, self._inverse[-1], self._inverse[0], out=out)


def _gone(away: Floats, way: Floats, start: float) -> Floats:
    """Return where something is that went a way, so far, from a start."""
    where = away * way
    where += np.float32(start)
    return np.asarray(where)


def _outer(away: Floats, way: Floats, start: float) -> Floats:
    """Return the same for each distance in each column: a matrix product takes a third as long."""
    rows = np.stack([away, np.ones_like(away)], axis=1)
    return np.asarray(rows @ np.stack([way, np.full_like(way, start)]))


def running(way: np.ufunc, rows: NDArray[Any], out: NDArray[Any]) -> NDArray[Any]:
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
    columns = inverse.shape[1]
    jump = inverse[1:] > inverse[:-1] * np.float32(_JUMP)
    jump |= sky[:-1] > sky[1:]
    place = np.flatnonzero(jump)
    place += columns
    row, column = np.divmod(place, columns)
    edge = np.take(tops, np.take(number, place))
    row += first
    share = np.clip(row - edge, 0.0, 1.0).astype(np.float32)
    return row, column, share
