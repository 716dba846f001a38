"""The camera above a heightfield: slices of the ground, near to far, with the depth of each pixel.

What rises above everything nearer is seen. A frame is worked out in a few operations on whole
arrays, without a loop over pixels or columns. Land is looked up in levels of detail, each as fine
as it is seen from its distance, cut without a seam out of what repeats for ever.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Bytes, Floats
from kit.engines.painting.heightfield.relief import TEXEL

NEAR, FAR = 5.0, 1300.0  # units; where the world ends, it is long lost in the air
WIDEST = 0.62  # tangent from the middle of a wide frame to its sides
_BAND = 64  # rows
_JUMP = 1.05  # nearer by this much than the row above: a ridge hides what lies between
_TREES, _FEWER = 300.0, 150.0  # units up to which trees can be told apart, and fewer and fewer
_EDGE = 3  # texels around a level, which smooth enlarging looks at
_SHARP = 1.15  # pixels of a frame that a texel covers where the next coarser level begins
_STEPS = 200  # of nearness, up to where the finest level begins
_MOST = 9_000_000  # texels of a level; a long flight does without the finest one
#: Texels to a unit of colors; and of heights, up to a distance. Far slices lie apart: finer heights
#: between them would make crests flicker.
_COLORS = (8.0, 4.0, 2.0, 1.0, 0.5)
_HEIGHTS = ((45.0, 4.0), (280.0, 2.0), (560.0, 1.0), (math.inf, 0.5))

#: From x and y in the world, a row for each of rising distances, to the height of the ground.
Heights: TypeAlias = Callable[[Floats, Floats, Floats], Floats]
#: From a distance to the part of the world seen up to it: least x, least y, most x, most y.
Box: TypeAlias = Callable[[float], tuple[float, float, float, float]]


@dataclass(frozen=True, slots=True)
class Pose:
    """Where the camera is, and how it looks ahead."""

    x: float
    y: float
    heading: float  # radians: 0 along y, a quarter turn along x
    height: float  # in units of the world
    horizon: float  # share of the frame's height at which it stands
    bank: float = 0.0  # radians that the camera leans to the right


@dataclass(frozen=True, slots=True)
class Hits:
    """What each pixel shows, by rows from above the highest land on, and by columns."""

    first: int  # of these rows, an even one
    distance: Floats  # along the view, in units of the world
    inverse: Floats  # one over it
    x: Floats
    y: Floats
    height: Floats
    sky: NDArray[np.bool_]
    #: Row (of the frame) and column of every pixel under which a ridge ends, and how many rows
    #: below the ridge's true edge that row lies, 0 to 1.
    edges: tuple[NDArray[np.intp], NDArray[np.intp], Floats]

    def smooth_edges(self, plane: NDArray[Any]) -> None:
        """Blend every ridge with what lies behind it in the two rows of its edge, in place."""
        rows, columns, share = self.edges
        land, behind = (plane[at, columns].astype(np.float32) for at in (rows, rows - 1))
        for at, offset in ((rows, 0.5), (rows - 1, -0.5)):
            covered = np.clip(share + np.float32(offset), 0.0, 1.0)
            plane[at, columns] = behind + (land - behind) * covered


class HeightfieldCamera:
    """A camera that sees `widest` to its sides, a tangent, and looks for ground at `slices`."""

    def __init__(self, columns: int, rows: int, widest: float, slices: Floats) -> None:
        self.columns, self.rows = columns, rows
        self.focal = columns / 2 / widest
        self.across: Floats = np.linspace(-widest, widest, 2 * columns + 1, dtype=np.float32)[1::2]
        self._slices, self._inverse = slices, (1 / slices).astype(np.float32)

    def horizon(self, at: Pose) -> Floats:
        """Return the row of the horizon in each column; a camera that leans sees it slanted."""
        slant = np.float32(math.tan(at.bank) * self.focal)
        return np.asarray(np.float32(at.horizon * self.rows) - slant * self.across, np.float32)

    def look(self, at: Pose, heights: Heights) -> Hits:
        """Return what is seen of the ground from a place."""
        forward, aside = np.float32(math.sin(at.heading)), np.float32(math.cos(at.heading))
        ways = (forward + self.across * aside, at.x), (aside - self.across * forward, at.y)
        horizon = self.horizon(at)
        # A matrix product takes a third of the time of a product and a sum.
        rows = np.stack([self._slices, np.ones_like(self._slices)], axis=1)
        x, y = (rows @ np.stack([way, np.full_like(way, start)]) for way, start in ways)
        ground = heights(x, y, self._slices)
        ground -= np.float32(at.height)
        ground *= np.float32(-self.focal) * self._inverse[:, None]
        ground += horizon
        _raise_crests(ground)
        tops = accumulate(np.minimum, ground, np.empty_like(ground))
        # With a row of sky above the highest land, which its edge is blended with.
        first = int(np.clip(math.floor(float(tops[-1].min())), 0, self.rows - 2)) & ~1
        number = self._number(tops, first)
        sky = number >= len(tops) * self.columns
        start, change = self._lines(ground)
        row = np.arange(first, self.rows, dtype=np.float32)[:, None]
        planes = [np.empty(number.shape, np.float32) for _ in range(5)]
        for band in bands(len(number)):
            inverse, distance, x, y, height = (plane[band] for plane in planes)
            np.take(change, number[band], out=inverse, mode="clip")
            inverse *= row[band]
            inverse += np.take(start, number[band], mode="clip")
            np.clip(inverse, self._inverse[-1], self._inverse[0], out=inverse)
            np.divide(np.float32(1), inverse, out=distance)
            for out, (way, begin) in zip((x, y), ways, strict=True):
                np.multiply(distance, way, out=out)
                out += np.float32(begin)
            np.subtract(horizon, row[band], out=height)
            height *= np.float32(1 / self.focal)
            height *= distance
            height += np.float32(at.height)
        inverse, distance, x, y, height = planes
        jump = inverse[1:] > inverse[:-1] * np.float32(_JUMP)
        jump |= sky[:-1] > sky[1:]
        place = np.flatnonzero(jump) + self.columns
        edge_row, column = np.divmod(place, self.columns)
        edge_row += first
        below = edge_row - np.take(tops, np.take(number, place))
        edges = edge_row, column, np.clip(below, 0.0, 1.0).astype(np.float32)
        return Hits(first, distance, inverse, x, y, height, sky, edges)

    def _number(self, tops: Floats, top: int) -> NDArray[np.intp]:
        """Return the first slice that reaches each pixel, numbered through all columns.

        What would be the one after the last is sky.
        """
        columns, rows = self.columns, self.rows - top
        column = np.arange(columns, dtype=np.int32)
        first = np.clip((tops + np.float32(1 - top)).astype(np.int32), 0, rows)
        first *= np.int32(columns)
        first += column
        starts = np.bincount(first.ravel(), minlength=(rows + 1) * columns)
        number = starts[: rows * columns].reshape(rows, columns)
        number *= columns
        np.subtract(tops.size + column, number[0], out=number[0])
        return accumulate(np.subtract, number, number)

    def _lines(self, ground: Floats) -> tuple[Floats, Floats]:
        """Return, for each slice in each column, a line along the rows up from the one before it.

        One over the distance changes by the same amount with every row: what it is in row 0 of
        the frame, and that amount.
        """
        start, change = (np.empty((len(ground) + 1, self.columns), np.float32) for _ in range(2))
        start[0], start[-1] = self._inverse[0], self._inverse[-1]
        change[0] = change[-1] = 0.0
        # A slice before may be hidden by a crest, where land comes into view again.
        rise, inner = change[1:-1], start[1:-1]
        np.minimum(ground[1:] - ground[:-1], np.float32(-1e-3), out=inner)
        np.divide(np.diff(self._inverse)[:, None], inner, out=rise)
        np.multiply(rise, ground[:-1], out=inner)
        np.subtract(self._inverse[:-1, None], inner, out=inner)
        return start, change


def spread_slices(count: int, near: float, wooded: float) -> Floats:
    """Return rising distances, a share of them where trees can be told apart."""
    fine = np.geomspace(near, FAR, 4096)
    density = 0.32 / fine**2 / (1 / near - 1 / FAR) + 0.38 / fine / math.log(FAR / near)
    density += 0.30 / (FAR - near)
    trees = np.clip((_TREES - fine) / _FEWER, 0.0, 1.0)
    density += wooded / (1 - wooded) * trees / (trees * np.gradient(fine)).sum()
    share = np.cumsum(density * np.gradient(fine))
    return np.interp(np.linspace(share[0], share[-1], count), share, fine).astype(np.float32)


def bands(rows: int) -> Iterator[slice]:
    """Yield rows a few at a time, so that all that is made of them stays in the cache."""
    for row in range(0, rows, _BAND):
        yield slice(row, min(row + _BAND, rows))


def accumulate(way: np.ufunc, rows: NDArray[Any], out: NDArray[Any]) -> NDArray[Any]:
    """Return what a ufunc makes of all rows up to each one, four times as fast as its own way."""
    out[0] = rows[0]
    for number in range(1, len(rows)):
        way(out[number - 1], rows[number], out=out[number])
    return out


def _raise_crests(ground: Floats) -> None:
    """Raise crests that lie between slices to their true height, in place.

    A parabola through a highest slice and its neighbors tells how high the ground is between them.
    """
    bend = ground[:-2] + ground[2:]
    bend -= 2 * ground[1:-1]
    tilt = ground[2:] - ground[:-2]
    crest = np.flatnonzero(np.abs(tilt) < bend)
    gain = np.take(tilt, crest) ** 2 / (8 * np.take(bend, crest))
    ground.reshape(-1)[crest + ground.shape[1]] -= np.minimum(gain, 3.0)


@dataclass(frozen=True, slots=True)
class Level:
    """A part of the world: world x `x` lies in its column `x * scale + across`."""

    plane: NDArray[Any]
    scale: float
    across: float
    down: float


def cut_level(plane: NDArray[Any], box: tuple[float, float, float, float], fine: float) -> Level:
    """Cut a part of the world out of a plane of the land, so many texels (a power of 2) a unit."""
    factor = fine * TEXEL
    whole = max(1, round(1 / factor))  # so that the level begins and ends with a whole texel
    left, upper = (int(np.floor(v / TEXEL / whole)) * whole - _EDGE * whole for v in box[:2])
    right, lower = (int(np.ceil(v / TEXEL / whole)) * whole + _EDGE * whole for v in box[2:])
    cut = plane.take(range(upper, lower), axis=0, mode="wrap")
    cut = cut.take(range(left, right), axis=1, mode="wrap")
    if factor != 1:
        way = cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC
        cut = cv2.resize(cut, None, fx=factor, fy=factor, interpolation=way)
    return Level(cut, fine, (0.5 - left) * factor - 0.5, (0.5 - upper) * factor - 0.5)


def height_levels(surface: Floats, box: Box) -> Heights:
    """Return the heights of all that a flight sees, from a surface that repeats."""
    levels = [cut_level(surface, box(min(far, FAR)), fine) for far, fine in _HEIGHTS]
    reaches = [far for far, _ in _HEIGHTS]

    def heights(x: Floats, y: Floats, distance: Floats) -> Floats:
        out, start = np.empty_like(x), 0
        for level, end in zip(levels, np.searchsorted(distance, reaches), strict=True):
            part = slice(start, start := max(start, int(end)))
            if part.start < part.stop:
                across = x[part] * np.float32(level.scale) + np.float32(level.across)
                down = y[part] * np.float32(level.scale) + np.float32(level.down)
                border = cv2.BORDER_REPLICATE
                cv2.remap(level.plane, across, down, cv2.INTER_LINEAR, out[part], border)
        return out

    return heights


class ColorLevels:
    """Colors of all that a flight sees, in one picture of several levels.

    Parameters
    ----------
    colors : ndarray of uint8
        Of the land, shape (GRID, GRID, 4), repeating at its edges.
    focal : float
        Pixels that a unit covers at a distance of one unit.
    roughen : callable
        Changes a level in place, before it is joined to the others.
    turned : bool
        Whether flights go rather along x than along y: it is faster to know, nothing else.
    """

    def __init__(
        self,
        colors: Bytes,
        box: Box,
        focal: float,
        roughen: Callable[[Level], None],
        *,
        turned: bool,
    ) -> None:
        levels, limits = [], []
        for fine in _COLORS:
            area = box(FAR if fine == _COLORS[-1] else focal / (_SHARP * fine))
            if (area[2] - area[0]) * (area[3] - area[1]) * fine * fine <= _MOST:
                levels.append(cut_level(colors, area, fine))
                roughen(levels[-1])
                limits.append(math.floor(_STEPS * fine / _COLORS[0]) + 1)
        self._code = _STEPS / _COLORS[0] * focal / _SHARP
        rows = [0, *np.cumsum([len(level.plane) for level in levels])]
        width = max(level.plane.shape[1] for level in levels)
        picture = np.zeros((rows[-1], width, 4), np.uint8)
        # From a code of nearness to where its level lies in the picture.
        self._scale, self._across, self._down = (np.empty(256, np.float32) for _ in range(3))
        for level, row, start, end in zip(
            levels, rows, [*limits[:-1], 0], [256, *limits], strict=False
        ):
            picture[row : row + len(level.plane), : level.plane.shape[1]] = level.plane
            self._scale[start:end] = level.scale
            self._across[start:end], self._down[start:end] = level.across, level.down + row
        # A row of a frame is looked up along a row of memory, or each pixel would wait for its own.
        self._turned = turned
        self._picture = np.ascontiguousarray(picture.transpose(1, 0, 2)) if turned else picture

    def look_up(self, x: Floats, y: Floats, inverse: Floats) -> Bytes:
        """Return the colors at places, by one over their distance; shape (rows, columns, 4)."""
        out = np.empty((*inverse.shape, 4), np.uint8)
        for band in bands(len(out)):
            near = cv2.convertScaleAbs(inverse[band], alpha=self._code)
            scale, *starts = (
                cv2.LUT(near, table) for table in (self._scale, self._across, self._down)
            )
            for start, places in zip(starts, (x, y), strict=True):
                start += scale * places[band]
            across, down = starts[::-1] if self._turned else starts
            border = cv2.BORDER_REPLICATE
            cv2.remap(self._picture, across, down, cv2.INTER_LINEAR, out[band], border)
        return out


def box_of(poses: Sequence[Pose], widest: float) -> Box:
    """Return the function that says what part of the world a flight sees up to a distance."""
    places = np.array([(at.x, at.y) for at in poses])
    forward = np.array([(math.sin(at.heading), math.cos(at.heading)) for at in poses])
    side = np.stack([forward[:, 1], -forward[:, 0]], axis=1)

    def box(reach: float) -> tuple[float, float, float, float]:
        corners = [places + reach * (forward + turn * side) for turn in (-widest, widest)]
        points = np.concatenate([places, *corners])
        (left, upper), (right, lower) = points.min(axis=0), points.max(axis=0)
        return float(left), float(upper), float(right), float(lower)

    return box
