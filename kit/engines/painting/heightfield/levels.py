"""Levels of detail: the parts of a land that a flight sees, each as fine as from its distance.

They are cut without a seam out of what repeats for ever, so that a frame is looked up in one go.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import Bytes, Floats
from kit.engines.painting.camera import Camera, View, trace
from kit.engines.painting.heightfield.relief import TEXEL

NEAR, END = 5.0, 1300.0  # units; where the world ends, it is long lost in the air
_BAND = 64  # rows
_EDGE = 3  # texels around a level, which smooth enlarging looks at
_SHARP = 1.15  # pixels of a frame that a texel covers where the next coarser level begins
_STEPS = 200  # of nearness, up to where the finest level begins
_MOST = 9_000_000  # texels of a level; a long flight does without the finest one
#: Texels to a unit of colors; and of heights, up to a distance. Far slices lie apart: finer heights
#: between them would make crests flicker.
_COLORS = (8.0, 4.0, 2.0, 1.0, 0.5)
_HEIGHTS = ((45.0, 4.0), (280.0, 2.0), (560.0, 1.0), (math.inf, 0.5))

#: From a distance to the part of the world seen up to it: least x, least y, most x, most y.
Box: TypeAlias = Callable[[float], tuple[float, float, float, float]]
#: From x and y in the world, a row for each of rising distances, to the height of the ground.
WorldHeights: TypeAlias = Callable[[Floats, Floats, Floats], Floats]


@dataclass(frozen=True, slots=True)
class CameraPose:
    """Where a camera is, and how it looks ahead."""

    x: float
    y: float
    heading: float  # radians: 0 along y, a quarter turn along x
    height: float  # in units of the world
    horizon: float  # share of the frame's height at which it stands
    bank: float  # radians that the camera leans to the right

    def to_world(self, x: Floats, z: Floats) -> tuple[Floats, Floats]:
        """Return where in the world points lie, by x to the right and z ahead."""
        sine, cosine = math.sin(self.heading), math.cos(self.heading)
        return (
            np.asarray(cv2.addWeighted(z, sine, x, cosine, self.x)),
            np.asarray(cv2.addWeighted(z, cosine, x, -sine, self.y)),
        )


@dataclass(frozen=True, slots=True)
class Hits:
    """What each pixel shows from a row on, an even one: places of the world."""

    first: int
    camera: Camera
    view: View
    distance: Floats
    inverse: Floats
    x: Floats
    y: Floats
    height: Floats
    sky: NDArray[np.bool_]


def trace_land(at: CameraPose, camera: Camera, slices: Floats, land: WorldHeights) -> Hits:
    """Return what a camera sees from a place, looking for ground at rising distances."""

    def heights(x: Floats, z: Floats) -> Floats:
        return land(*at.to_world(x, np.ascontiguousarray(z)), slices)

    view = trace(heights, camera, slices, Progress())
    part = slice(view.first, None)
    z, (x, y) = view.z[part], at.to_world(view.x[part], view.z[part])
    inverse = np.asarray(np.float32(1) / z)
    return Hits(view.first, camera, view, z, inverse, x, y, view.height[part], view.sky[part])


def bands(rows: int) -> Iterator[slice]:
    """Yield rows a few at a time, so that all that is made of them stays in the cache."""
    for row in range(0, rows, _BAND):
        yield slice(row, min(row + _BAND, rows))


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


def height_levels(surface: Floats, box: Box) -> WorldHeights:
    """Return the heights of all that a flight sees, from a surface that repeats."""
    levels = [cut_level(surface, box(min(far, END)), fine) for far, fine in _HEIGHTS]
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
            area = box(END if fine == _COLORS[-1] else focal / (_SHARP * fine))
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


def box_of(poses: Sequence[CameraPose], widest: float) -> Box:
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
