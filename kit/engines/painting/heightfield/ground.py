"""The ground's colors: what grows where, lit once by the sun and the sky, with soft shadows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import YUV, Bytes, Floats
from kit.engines.media.noise import smooth_step
from kit.engines.painting import tone
from kit.engines.painting.heightfield.covers import Cover, Pair
from kit.engines.painting.heightfield.relief import (
    CROWNS,
    GRID,
    SHARES,
    SIDE,
    TEXEL,
    Terrain,
    blurred,
    doubled,
)  # fmt: skip
from kit.engines.painting.looks import HourLook
from kit.engines.painting.noise import tile

#: In the fourth channel of ground colors: neither under water (more) nor under trees (less).
OPEN = 128
#: A film's brightness and colors have 219 and 224 steps: from full range to those, and their start.
RANGES = ((219 / 255, 16.0), (224 / 255, 128 * (1 - 224 / 255)), (224 / 255, 128 * (1 - 224 / 255)))
#: From RGB to brightness, red and blue in full range: mixing them is the same as mixing RGB, and
#: what makes ground lighter and darker leaves its color alone.
_FULL = np.column_stack(
    [YUV[[0, 2, 1], :3] / np.array([[scale] for scale, _ in RANGES]), [0, 128, 128]]
).astype(np.float32)
_STRIP = 64  # rows, so that what is worked on stays in the processor's cache
_COLOR = 0.86  # air and distance make land paler than what stands close by
_MOONLIT = 0.6  # share of their color that things keep by moonlight
_THROUGH = 0.86  # share of their slope that crowns do not show to the sun
_GAP = 0.30  # brightness between trees
_SNOW = (0.975, 0.010, 245)
_REACH = 160  # units that a shadow falls


@dataclass(frozen=True, slots=True)
class GroundLight:
    """What falls on the land: linear colors of sun and sky, and the way to the sun: x, y, up."""

    sun: Floats
    sky: Floats
    way: tuple[float, float, float]


def light_of(look: HourLook, azimuth: float, *, outlined: bool = False) -> GroundLight:
    """Return the light of a look that comes from an azimuth; outlined land stands dark."""
    # The weaker the sun, the more the film is exposed for the light of the sky.
    lift = 1.35 * (1.0 + 0.5 * max(0.0, 1.0 - look.sun_power / 2.4))
    lift *= (1.35 if look.elevation < 0.4 else 1.0) * (0.62 if look.clouds > 0.9 else 1.0)
    darkest = 0.16 if outlined else 0.40 - 0.25 * look.sun_power
    length = math.hypot(1.0, look.high_light)
    way = (math.sin(azimuth) / length, math.cos(azimuth) / length, look.high_light / length)
    sun = tone.light(look.sun, look.sun_power * (1.45 if look.moon else 1.0))
    return GroundLight(sun, tone.light(look.shade, max(look.shade_power, darkest) * lift), way)


def develop(light: Floats, look: HourLook, color: float = 1.0) -> Bytes:
    """Return planes of light as brightness, red and blue of a film, shape (rows, columns, 3)."""
    film = replace(look.film, vignette=0.0, grain=0.0, bloom=0.0)
    # The gaps of woods are dark and air is pale: less contrast is left to the film.
    contrast = 1.0 + 0.7 * (film.contrast - 1.0)
    saturation = color * film.saturation / contrast
    film = replace(film, contrast=contrast, saturation=saturation, lift=0.7 * film.lift)
    return np.asarray(cv2.transform(tone.develop(light, film), _FULL))


def paint_ground(
    terrain: Terrain,
    cover: Cover,
    look: HourLook,
    light: GroundLight,
    rng: np.random.Generator,
    progress: Progress,
) -> Bytes:
    """Return the lit colors of land, shape (GRID, GRID, 4), uint8.

    The first channels are brightness, red and blue; the fourth tells water and trees from `OPEN`.
    """
    heights, water = terrain.heights, terrain.water
    lit, open_ = _sunlit(heights, light.way), _openness(heights)
    patches = tile(rng, cells=16, octaves=7, gain=0.6, side=GRID)
    rough = tile(rng, cells=128, octaves=5, gain=0.75, side=GRID)
    colors = np.concatenate([tone.light(color)[:, 0] for color in cover.fields], axis=1)
    fields = colors[:, rng.integers(0, len(cover.fields), 256)]
    fields *= rng.uniform(0.88, 1.12, 256).astype(np.float32)
    high = np.float32(1 / heights.max())
    out = np.empty((GRID, GRID, 4), np.uint8)
    for row in progress.part(0.3, 1.0).over(range(0, GRID, _STRIP)):
        rows = slice(row, row + _STRIP)
        around = np.pad(
            heights.take(range(row - 1, row + _STRIP + 1), 0, mode="wrap"), ((0, 0), (1, 1)), "wrap"
        )
        right, down = (
            cv2.Scharr(around, cv2.CV_32F, x, 1 - x, scale=1 / 32 / TEXEL)[1:-1, 1:-1]
            for x in (1, 0)
        )
        upright = 1 / np.sqrt(right * right + down * down + np.float32(1))
        woods = terrain.woods[rows] * np.float32(1 / 255)
        noise = patches[rows], rough[rows]
        albedo = _albedo(terrain, rows, cover, fields, heights[rows] * high, upright, woods, noise)
        if look.moon:
            gray = albedo.mean(axis=0)
            albedo = gray + (albedo - gray) * np.float32(_MOONLIT)
        # Leaves let light through to all sides.
        sides = np.float32(1) - np.float32(_THROUGH) * woods
        right, down = right * sides, down * sides
        facing = np.float32(light.way[2]) - right * light.way[0] - down * light.way[1]
        facing /= np.sqrt(right * right + down * down + np.float32(1))
        direct = np.maximum(facing, np.float32(0)) * lit[rows]
        ambient = open_[rows] * (np.float32(0.55) + np.float32(0.45) * upright)
        planes = np.asarray(albedo * (light.sun * direct + light.sky * ambient), np.float32)
        mark = np.float32(OPEN) - np.float32(OPEN) * woods
        if water is not None:
            mark += np.float32(255 - OPEN) * _flood(planes, water - heights[rows], cover, light)
        out[rows, :, :3] = develop(planes, look, _COLOR)
        out[rows, :, 3] = mark
    return out


def _albedo(
    terrain: Terrain,
    rows: slice,
    cover: Cover,
    fields: Floats,
    high: Floats,
    upright: Floats,
    woods: Floats,
    noise: tuple[Floats, Floats],
) -> Floats:
    """Return the color of some rows, by share of height, uprightness and two kinds of noise."""
    patches, rough = noise
    slope = (1.0 - upright) * (1.0 - woods)
    vary = np.clip(0.5 + 0.15 * rough + 0.26 * patches, 0.0, 1.0)
    if terrain.fields is None:
        albedo = _blend(cover.growth, vary)
    else:
        albedo = np.asarray(fields[:, terrain.fields[rows]] * (0.88 + 0.24 * vary), np.float32)

    def lay(color: Floats, share: NDArray[np.floating]) -> None:
        albedo[:] += (color - albedo) * share

    # Toward the summits less and less grows.
    thin = 0.55 * np.maximum(high - 0.5, 0.0) * (cover.snow < 1.5)
    bare = smooth_step(cover.steep - 0.07, cover.steep + 0.09, slope + 0.035 * patches + thin)
    stone = _blend(cover.rock, np.clip(0.42 + 0.20 * rough + 0.6 * (high - 0.5), 0.0, 1.0))
    lay(stone, bare * (1.0 - 0.8 * woods))
    if terrain.water is not None:
        above = terrain.heights[rows] - np.float32(terrain.water) + 0.3 * rough
        sand = smooth_step(cover.beach, 0.4 * cover.beach, above)
        lay(tone.light(cover.sand), sand * (1.0 - woods))
    # Each tree has its own color, dark between them and light toward their tips; at the rim of a
    # wood one looks in among the trunks.
    crowns = terrain.crowns.take(range(rows.start, rows.stop), axis=0, mode="wrap")
    tip, tree = (np.tile(plane, (1, GRID // CROWNS)) for plane in cv2.split(crowns))
    tip = tip * np.float32(1 / 255)
    which = 0.05 + 0.9 * SHARES[tree] + 0.16 * rough + 0.10 * patches
    deep = smooth_step(0.05, 0.8, tip * smooth_step(0.35, 1.0, woods))
    deep = (_GAP + (1.18 - _GAP) * deep) * (0.78 + 0.44 * SHARES[255 - tree])
    lay(_blend(cover.wood, np.clip(which, 0.0, 1.0)) * deep, smooth_step(0.15, 0.6, woods))
    if cover.snow < 2:
        white = high + 0.05 * patches - 0.22 * slope
        lies = smooth_step(cover.snow - 0.07, cover.snow + 0.07, white)
        lies *= smooth_step(0.60, 0.36, slope + 0.02 * rough)
        # Of trees, only the tips carry much of it.
        lay(tone.light(_SNOW), lies * (1.0 - woods * (1.0 - 0.45 * tip)))
    return albedo


def _flood(planes: Floats, depth: Floats, cover: Cover, light: GroundLight) -> Floats:
    """Lay the water's own color over what is under it, in place; return where water is, 0 to 1."""
    wet = smooth_step(-0.12, 0.22, depth)
    if wet.any():
        shallow = np.exp(np.maximum(depth, 0.0) * np.float32(-1 / cover.clear))
        body = _blend(cover.water[::-1], shallow)
        body *= light.sun * np.float32(0.75 * light.way[2]) + light.sky
        body += (planes - body) * (shallow ** np.float32(1.6) * np.float32(0.45))
        planes += (body - planes) * wet
    return wet


def _blend(colors: Pair, share: Floats) -> Floats:
    return tone.blend(tone.light(colors[0]), tone.light(colors[1]), np.asarray(share, np.float32))


def _sunlit(heights: Floats, way: tuple[float, float, float]) -> Floats:
    """Return where the sun reaches, 0 to 1: no land toward it stands above its ray of light."""
    half = cv2.resize(heights, (SIDE, SIDE), interpolation=cv2.INTER_AREA)
    flat = math.hypot(way[0], way[1])
    highest = np.full_like(half, -np.inf)
    for step in np.unique(np.geomspace(1, _REACH, 24).round()):
        away = tuple(round(-part / flat * step) for part in (way[1], way[0]))
        ray = np.roll(half, away, (0, 1)) - np.float32(step * way[2] / flat)
        np.maximum(highest, ray, out=highest)
    return doubled(blurred(smooth_step(1.0, -0.8, highest - half), 0.8))


def _openness(heights: Floats) -> Floats:
    """Return how much of the sky each place sees, about 0.3 to 1.5: hollows are dark."""
    small = cv2.resize(heights, (GRID // 4, GRID // 4), interpolation=cv2.INTER_AREA)
    valleys = np.clip(1 + (small - blurred(small, 7.0)) * np.float32(0.030), 0.45, 1.25)
    valleys *= np.clip(1 + (small - blurred(small, 2.2)) * np.float32(0.07), 0.6, 1.25)
    gaps = np.clip(1 + (heights - blurred(heights, 2.5)) * np.float32(0.22), 0.5, 1.25)
    return np.asarray(doubled(doubled(valleys)) * gaps, np.float32)
