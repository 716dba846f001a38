"""Patches: the parts of a land that a flight sees, each as fine as it is seen from its distance.

The land repeats for ever, and a patch is cut out of it without a seam, so that a frame is looked
up in one go. Finer patches than the land itself get the grain of their ground on top.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Bytes, Floats
from kit.engines.painting.heightfield.canvas import bands
from kit.engines.painting.heightfield.grain import Grains
from kit.engines.painting.heightfield.terrain import GRID, TEXEL, Station

#: From a distance to the part of the world seen up to it: least x, least y, most x, most y.
Box: TypeAlias = Callable[[float], tuple[float, float, float, float]]

FAR = 1300.0  # units at which the world ends, long lost in the air
_EDGE = 3  # texels around what is asked for, which smooth enlarging looks at
_SHARP = 1.15  # pixels of a frame that a texel covers where the next coarser patch begins
_STEPS = 200  # of nearness, up to where the finest patch begins
_LEVELS = (8.0, 4.0, 2.0, 1.0, 0.5)  # texels to a unit
_WOODED = 90  # of 255: more trees than this hide the ground
_WET = 200  # of 255: in the fourth channel this or more is water
_SUNK = 0.4  # share of its grain that shows through water
_MOST = 9_000_000  # texels of a patch; a long flight does without the finest one


@dataclass(frozen=True, slots=True)
class Patch:
    """A part of the world: world x `x` lies in its column `x * scale + across`."""

    plane: NDArray[Any]
    scale: float
    across: float
    down: float

    def start(self, x: float, y: float) -> tuple[float, float]:
        """Return the column and the row in which a place of the world lies."""
        return x * self.scale + self.across, y * self.scale + self.down

    def into(self, out: NDArray[Any], x: Floats, y: Floats) -> None:
        """Look up places of the world, which are used as scratch space."""
        for axis, start in ((x, self.across), (y, self.down)):
            axis *= np.float32(self.scale)
            axis += np.float32(start)
        cv2.remap(self.plane, x, y, cv2.INTER_LINEAR, dst=out, borderMode=cv2.BORDER_REPLICATE)


class Atlas:
    """The colors of all that a flight sees, in one picture of several patches.

    Parameters
    ----------
    colors : ndarray of uint8
        Of the land, shape (GRID, GRID, 4): of which grain makes the first channel, brightness,
        lighter and darker.
    focal : float
        Pixels that a unit covers at a distance of one unit.
    woods : ndarray of uint8
        How much of a texel is under trees.
    grains : mapping of float to Grains
        From texels to a unit to the tiles that the land is grained with; see `grain.grains`.
    turned : bool
        Whether flights go rather along x than along y: it is faster to know, nothing else.
    """

    def __init__(
        self,
        colors: Bytes,
        box: Box,
        focal: float,
        woods: Bytes,
        grains: Mapping[float, Grains],
        *,
        turned: bool = False,
    ) -> None:
        parts, limits = [], []
        for level in _LEVELS:
            reach = FAR if level == _LEVELS[-1] else focal / (_SHARP * level)
            area = box(reach)
            if _texels(area, level) > _MOST:
                continue
            part = patch(colors, area, level)
            if level in grains:
                _grained(part, grains[level], patch(woods, area, level).plane)
            parts.append(part)
            limits.append(_STEPS * level / _LEVELS[0])
        self._code = _STEPS / _LEVELS[0] * focal / _SHARP
        self._picture = self._join(parts, limits)
        # A row of a frame is looked up along a row of memory, or each pixel would wait for its own.
        self._turned = turned
        if turned:
            self._picture = np.ascontiguousarray(self._picture.transpose(1, 0, 2))

    def _join(self, parts: Sequence[Patch], limits: Sequence[float]) -> Bytes:
        width = max(part.plane.shape[1] for part in parts)
        height = sum(part.plane.shape[0] for part in parts)
        picture = np.zeros((height, width, 4), np.uint8)
        row = 0
        downs = []
        for part in parts:
            rows, columns = part.plane.shape[:2]
            picture[row : row + rows, :columns] = part.plane
            downs.append(part.down + row)
            row += rows
        self._scale, self._across, self._down = (
            _table(values, limits)
            for values in ([part.scale for part in parts], [part.across for part in parts], downs)
        )
        return picture

    def seen(self, x: Floats, y: Floats, inverse: Floats) -> Bytes:
        """Return the colors at places of the world, shape (rows, columns, 4).

        Parameters
        ----------
        inverse : ndarray of float32
            One over the distance from which each place is seen.
        """
        out = np.empty((*inverse.shape, 4), np.uint8)
        for band in bands(len(out)):
            near = cv2.convertScaleAbs(inverse[band], alpha=self._code)
            scale, across, down = (
                cv2.LUT(near, table) for table in (self._scale, self._across, self._down)
            )
            across += x[band] * scale
            scale *= y[band]
            down += scale
            if self._turned:
                across, down = down, across
            cv2.remap(self._picture, across, down, cv2.INTER_LINEAR, dst=out[band])
        return out


def repeated(tile: NDArray[Any], x: Floats, y: Floats) -> NDArray[Any]:
    """Return a square tile without end, looked up at places that are used as scratch space.

    Parameters
    ----------
    tile : ndarray
        Shape (n + 2, n + 2) or with channels: with a border of one texel from its other side.
    """
    side = tile.shape[0] - 2
    # OpenCV's own way to repeat a picture is three times as slow.
    for axis in (x, y):
        whole = np.floor(axis * np.float32(1 / side))
        whole *= np.float32(-side)
        axis += whole
        axis += np.float32(1)
    return np.asarray(cv2.remap(tile, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE))


def patch(plane: NDArray[Any], box: tuple[float, float, float, float], fineness: float) -> Patch:
    """Cut a part of the world out of a plane of the land.

    Parameters
    ----------
    plane : ndarray
        Shape (GRID, GRID) or (GRID, GRID, channels), repeating at its edges.
    fineness : float
        Texels to a unit: a power of two.
    """
    factor = fineness * TEXEL
    whole = max(1, round(1 / factor))  # so that the patch begins and ends with a whole texel
    left, upper = (int(np.floor(v / TEXEL / whole)) * whole - _EDGE * whole for v in box[:2])
    right, lower = (int(np.ceil(v / TEXEL / whole)) * whole + _EDGE * whole for v in box[2:])
    rows, columns = np.arange(upper, lower) % GRID, np.arange(left, right) % GRID
    cut = plane.take(rows, axis=0).take(columns, axis=1)
    if factor != 1:
        way = cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC
        cut = cv2.resize(cut, None, fx=factor, fy=factor, interpolation=way)
    return Patch(cut, fineness, (0.5 - left) * factor - 0.5, (0.5 - upper) * factor - 0.5)


def _table(values: Sequence[float], limits: Sequence[float]) -> Floats:
    """Return the value of each patch for all codes of nearness from its limit on."""
    table = np.full(256, values[-1], np.float32)
    for value, limit in zip(values[-2::-1], limits[-2::-1], strict=True):
        table[math.floor(limit) + 1 :] = value
    return table


def _texels(area: tuple[float, float, float, float], fineness: float) -> float:
    return (area[2] - area[0]) * (area[3] - area[1]) * fineness * fineness


def _grained(part: Patch, tiles: Grains, woods: Bytes) -> None:
    """Lay tiles over a patch, in place, wherever in the world the patch begins."""
    spread, leaves = (_spread(tile, part) for tile in (tiles.ground, tiles.leaves))
    cv2.copyTo(leaves, np.asarray(cv2.compare(woods, _WOODED, cv2.CMP_GT)), spread)
    # Under water it would glitter, and there are ripples.
    wet = cv2.compare(cv2.extractChannel(part.plane, 3), _WET, cv2.CMP_GT)
    cv2.copyTo(cv2.convertScaleAbs(spread, alpha=_SUNK, beta=128 * (1 - _SUNK)), wet, spread)
    luma = cv2.extractChannel(part.plane, 0)
    cv2.insertChannel(cv2.multiply(luma, spread, scale=1 / 128), part.plane, 0)


def _spread(tile: Bytes, part: Patch) -> Bytes:
    """Return a tile laid out over a patch."""
    starts = (round(0.5 * (part.scale / 2 - 1) - offset) for offset in (part.down, part.across))
    rows, columns = (
        (np.arange(length) + start) % tile.shape[0]
        for length, start in zip(part.plane.shape[:2], starts, strict=True)
    )
    return np.asarray(tile.take(rows, axis=0).take(columns, axis=1))


def box_of(stations: Sequence[Station], widest: float) -> Box:
    """Return the function that tells what a flight sees up to a distance."""
    places = np.array([(at.x, at.y) for at in stations])
    heading = np.array([at.heading for at in stations])
    forward = np.stack([np.sin(heading), np.cos(heading)], axis=1)
    side = np.stack([forward[:, 1], -forward[:, 0]], axis=1)

    def box(reach: float) -> tuple[float, float, float, float]:
        corners = [places + reach * (forward + turn * side) for turn in (-widest, widest)]
        points = np.concatenate([places, *corners])
        low, high = points.min(axis=0), points.max(axis=0)
        return float(low[0]), float(low[1]), float(high[0]), float(high[1])

    return box
