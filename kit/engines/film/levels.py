"""Levels of detail: the visible land of a flight, at a resolution that fits its distance.

Levels are cut seamlessly from periodic planes, so that a frame needs a single lookup.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.noise import smooth_step
from kit.engines.painting.camera import Camera
from kit.engines.painting.land.ground import grain, ripples
from kit.engines.painting.land.landscape import Landscape
from kit.engines.painting.land.terrain import TEXEL, Terrain, develop_colors, mirror_texels
from kit.engines.painting.noise import enlarge, sample, tile
from kit.engines.painting.sky import paint_sky

END = 1300.0  # end of the world, long faded in the air
#: Overshoot of smoothly enlarged masks on the other side of neutral.
OVERSHOOT = 10
_BAND = 64  # rows
_EDGE_TEXELS = 3  # texels around a level, for the interpolation
#: Detail points on near ground per length of 1, each at least a pixel; their strength.
_FINE, _STRENGTH = 32.0, 0.15
_TEXEL_PIXELS = 1.15  # pixels per texel at which the next coarser level begins
_STEPS = 200  # of nearness, up to the start of the finest level
_MAX_TEXELS = 9_000_000  # maximum texels of a level; long flights omit the finest one
#: Texels per length of 1 of colors; and of heights, up to a distance. Far slices are sparse: finer
#: heights between them would make crests flicker.
_COLORS = (8.0, 4.0, 2.0, 1.0, 0.5)
_HEIGHTS = ((45.0, 4.0), (280.0, 2.0), (560.0, 1.0), (math.inf, 0.5))
_WOODED, _WET = 49, 227  # in the fourth channel of colors: less forest, or less water, is ground
#: Texels per length of 1 of levels with grain, and its strength: its end must not be a visible
#: line.
_GRAIN = {8.0: 1.0, 4.0: 1.0, 2.0: 0.45}
_BUMPS, _SPECKS, _LEAVES = 0.075, 0.045, 0.40  # relative changes of light
_LOWEST_SKY = 0.12  # tangent of the lowest painted sky
_MAX_FOCAL = 900.0  # pixels per radian: soft skies need no more, and wide strips cost seconds

#: From a distance to the part of the world visible up to it: min x, min y, max x, max y.
Box: TypeAlias = Callable[[float], tuple[float, float, float, float]]
#: From x and y in the world, a row for each of rising distances, to the height of the ground.
WorldHeights: TypeAlias = Callable[[Floats, Floats, Floats], Floats]


@dataclass(frozen=True, slots=True)
class CameraPose:
    """The position and direction of a camera."""

    x: float
    y: float
    heading: float  # radians: 0 along y, a quarter turn along x
    height: float
    horizon: float  # share of the frame's height
    bank: float  # roll to the right in radians

    def to_world(self, x: Floats, z: Floats) -> tuple[Floats, Floats]:
        """Return the world position of points, from x to the right and z ahead."""
        sine, cosine = math.sin(self.heading), math.cos(self.heading)
        return (
            np.asarray(cv2.addWeighted(z, sine, x, cosine, self.x)),
            np.asarray(cv2.addWeighted(z, cosine, x, -sine, self.y)),
        )


def row_bands(rows: int) -> Iterator[slice]:
    """Yield rows a few at a time, so that intermediate results stay in the cache."""
    for row in range(0, rows, _BAND):
        yield slice(row, min(row + _BAND, rows))


@dataclass(frozen=True, slots=True)
class Level:
    """A part of the world: world x `x` is in column `x * scale + across`."""

    plane: NDArray[Any]
    scale: float
    across: float
    down: float


def cut_level(plane: NDArray[Any], box: tuple[float, float, float, float], fine: float) -> Level:
    """Cut a part of the world from a plane, at `fine` texels (a power of 2) per length of 1."""
    factor = fine * TEXEL
    whole = max(1, round(1 / factor))  # so that the level starts and ends with a whole texel
    left, upper = (int(np.floor(v / TEXEL / whole)) * whole - _EDGE_TEXELS * whole for v in box[:2])
    right, lower = (int(np.ceil(v / TEXEL / whole)) * whole + _EDGE_TEXELS * whole for v in box[2:])
    cut = plane.take(mirror_texels(np.arange(upper, lower)), axis=0)
    cut = cut.take(mirror_texels(np.arange(left, right)), axis=1)
    if factor != 1:
        way = cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC
        cut = cv2.resize(cut, None, fx=factor, fy=factor, interpolation=way)
    return Level(cut, fine, (0.5 - left) * factor - 0.5, (0.5 - upper) * factor - 0.5)


def height_levels(surface: Floats, box: Box) -> WorldHeights:
    """Return the heights of all visible land of a flight, from a periodic surface."""
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
    """Colors of all visible land of a flight, in one picture of several levels.

    A level gets its grain in place before it is added to the others.
    """

    def __init__(
        self, colors: Bytes, box: Box, focal: float, roughen: Callable[[Level], None]
    ) -> None:
        levels, limits = [], []
        for fine in _COLORS:
            area = box(END if fine == _COLORS[-1] else focal / (_TEXEL_PIXELS * fine))
            if (area[2] - area[0]) * (area[3] - area[1]) * fine * fine <= _MAX_TEXELS:
                levels.append(cut_level(colors, area, fine))
                roughen(levels[-1])
                limits.append(math.floor(_STEPS * fine / _COLORS[0]) + 1)
        self._code = _STEPS / _COLORS[0] * focal / _TEXEL_PIXELS
        rows = [0, *np.cumsum([len(level.plane) for level in levels])]
        width = max(level.plane.shape[1] for level in levels)
        picture = np.zeros((rows[-1], width, 4), np.uint8)
        # From a code of nearness to the position of its level in the picture.
        self._scale, self._across, self._down = (np.empty(256, np.float32) for _ in range(3))
        for level, row, start, end in zip(
            levels, rows, [*limits[:-1], 0], [256, *limits], strict=False
        ):
            picture[row : row + len(level.plane), : level.plane.shape[1]] = level.plane
            self._scale[start:end] = level.scale
            self._across[start:end], self._down[start:end] = level.across, level.down + row
        self._close = np.float32(focal / _FINE)
        self._picture, self._fine = picture, tile(np.random.default_rng(0), cells=64)

    def look_up(self, x: Floats, y: Floats, inverse: Floats) -> Bytes:
        """Return the colors at places, by their inverse distance; shape (rows, columns, 4)."""
        out = np.empty((*inverse.shape, 4), np.uint8)
        for band in row_bands(len(out)):
            near = cv2.convertScaleAbs(inverse[band], alpha=self._code)
            scale, *starts = (
                cv2.LUT(near, table) for table in (self._scale, self._across, self._down)
            )
            across, down = (
                start + scale * places[band] for start, places in zip(starts, (x, y), strict=True)
            )
            border = cv2.BORDER_REPLICATE
            cv2.remap(self._picture, across, down, cv2.INTER_LINEAR, out[band], border)
            # Where a texel covers several pixels, fine detail is added.
            if inverse[band].max() * self._close > 1.0:
                share = np.clip(inverse[band] * self._close - np.float32(1), 0.0, 1.0)
                fine = sample(self._fine, x[band] * np.float32(_FINE), y[band] * np.float32(_FINE))
                lit = np.float32(_STRENGTH) * share * fine + np.float32(1)
                luma = cv2.multiply(cv2.extractChannel(out[band], 0), lit, dtype=cv2.CV_8U)
                cv2.insertChannel(luma, out[band], 0)
        return out


def box_of(poses: Sequence[CameraPose], widest: float) -> Box:
    """Return a function from a distance to the part of the world visible up to it."""
    places = np.array([(at.x, at.y) for at in poses])
    forward = np.array([(math.sin(at.heading), math.cos(at.heading)) for at in poses])
    side = np.stack([forward[:, 1], -forward[:, 0]], axis=1)

    def box(reach: float) -> tuple[float, float, float, float]:
        corners = [places + reach * (forward + turn * side) for turn in (-widest, widest)]
        points = np.concatenate([places, *corners])
        (left, upper), (right, lower) = points.min(axis=0), points.max(axis=0)
        return float(left), float(upper), float(right), float(lower)

    return box


def make_grain(terrain: Terrain, rng: np.random.Generator) -> Callable[[Level], None]:
    """Return a function that multiplies the brightness of a level, in place, by fine detail."""
    sun, sandy = terrain.land.scene.toward, terrain.land.ground.rough < 0.2
    bumps = ripples(rng, waves=88, side=1024) if sandy else grain(rng, cells=64, side=1024)
    height, right, down = cv2.split(bumps)
    facing = -right * np.float32(sun[0]) - down * np.float32(sun[1])
    soil = np.float32(_BUMPS / facing.std()) * facing + np.float32(_SPECKS) * height
    soil *= np.float32(0.5 if sandy else 1.0)
    # The ground between crowns is mostly in the shade.
    crown = enlarge(terrain.crowns[..., 0].astype(np.float32), 2)
    shady = np.float32(0.35) * smooth_step(56, 10, crown)
    leaves = enlarge(np.float32(_LEAVES) * height - shady, 2)
    leaves -= leaves.mean()
    tiles = {}
    for fine, strength in _GRAIN.items():
        tiles[fine] = tuple(
            cv2.convertScaleAbs(np.clip(1 + plane, 0.3, 1.9), alpha=128.0)
            for plane in (np.float32(strength) * soil, leaves)
        )
        soil, leaves = (
            np.asarray(cv2.resize(plane, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA))
            for plane in (soil, leaves)
        )

    def roughen(level: Level) -> None:
        if level.scale not in tiles:
            return
        own, foliage = tiles[level.scale]
        for axis, offset in enumerate((level.down, level.across)):  # aligned with the world
            start = round(0.5 * (level.scale / 2 - 1) - offset)
            part = range(start, start + level.plane.shape[axis])
            own, foliage = (plane.take(part, axis, mode="wrap") for plane in (own, foliage))
        luma, marks = (cv2.extractChannel(level.plane, channel) for channel in (0, 3))
        cv2.copyTo(foliage, cv2.compare(marks, _WOODED, cv2.CMP_LT), own)
        # Under water it would glitter, and ripples are drawn there.
        faint = cv2.convertScaleAbs(own, alpha=0.4, beta=128 * 0.6)
        cv2.copyTo(faint, cv2.compare(marks, _WET, cv2.CMP_GT), own)
        cv2.insertChannel(cv2.multiply(luma, own, scale=1 / 128), level.plane, 0)

    return roughen


class SkyStrip:
    """The sky of a landscape between two azimuths, painted once on a cylinder.

    Frames have `focal` pixels per tangent of 1, and tangents up to `top`.
    """

    def __init__(
        self, scene: Landscape, span: tuple[float, float], focal: float, top: float
    ) -> None:
        self._scale = scale = min(focal, _MAX_FOCAL)
        self._start, self._horizon = span[0], round(top * scale)
        columns, rows = int((span[1] - span[0]) * scale) + 2, int((top + _LOWEST_SKY) * scale)
        middle = -span[0] * scale - columns / 2
        camera = Camera(columns, rows, scale, self._horizon, 0.0, aside=middle)
        seen, sun, size = scene.camera, scene.sun, scale / scene.camera.focal
        sun = replace(
            sun,
            x=camera.middle + math.atan((sun.x - seen.middle) / seen.focal) * scale,
            y=camera.horizon - (seen.horizon - sun.y) * size,
            radius=sun.radius * size,
        )
        sky = paint_sky(scene.look, camera, sun, scene.rng(3), Progress())
        bloom = scene.look.film.bloom
        self._picture = develop_colors(sky.light, scene.look, bloom=bloom)
        aside = np.arange(columns, dtype=np.float32) - np.float32(sun.x)
        air = scene.air_beside_sun(aside * np.float32(1 / scale))
        self._air = develop_colors(air, scene.look)[0]

    def look_up(self, heading: float, camera: Camera, rows: int) -> Bytes:
        """Return the sky in the upper rows of a frame, shape (rows, columns, 3)."""
        angles = np.arctan(camera.across)
        x = np.empty((rows, camera.columns), np.float32)
        x[:] = (angles + np.float32(heading - self._start)) * np.float32(self._scale)
        # On a cylinder, columns aside are farther away and so less high.
        step = np.cos(angles) * np.float32(self._scale / camera.focal)
        y = np.arange(rows, dtype=np.float32)[:, None] * step
        y += np.float32(self._horizon) - camera.horizons * step
        return np.asarray(
            cv2.remap(self._picture, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        )

    def air(self, heading: float, across: Floats) -> Bytes:
        """Return the fog color of each column, shape (columns, 3)."""
        x = (np.arctan(across) + np.float32(heading - self._start)) * np.float32(self._scale)
        return np.asarray(self._air[np.clip(np.rint(x), 0, len(self._air) - 1).astype(np.intp)])
