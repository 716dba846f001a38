"""The ground's colors: what grows where, lit once by the sun and the sky, with soft shadows.

The land is painted in strips, so that what is worked on fits into the processor's cache.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Bytes, Floats, Oklch
from kit.engines.media.noise import smooth_step
from kit.engines.painting import tone
from kit.engines.painting.heightfield.covers import Cover, Pair
from kit.engines.painting.heightfield.erosion import blurred
from kit.engines.painting.heightfield.light import Light, film_of
from kit.engines.painting.heightfield.terrain import GRID, SIDE, TEXEL, Land, doubled, noise
from kit.engines.painting.heightfield.woods import OWN
from kit.engines.painting.looks import Look

_STRIP = 64  # rows
_COLOR = 0.86  # air and distance make land paler than what stands close by
_MOONLIT = 0.6  # share of their color that things keep by moonlight
_THROUGH = 0.86  # share of their slope that crowns do not show to the sun
_GAP = 0.30  # brightness between trees
_RIM = (
    0.35,
    1.0,
)  # how much of a place is under trees where these are dark, and where they are not
_SNOW: Oklch = (0.975, 0.010, 245)
_REACH = 256  # units that a shadow falls, rounded up to a power of two


@dataclass(frozen=True, slots=True)
class Strip:
    """Rows of the land while they are painted; slopes are tangents, noise has a deviation of 1."""

    heights: Floats
    right: Floats
    down: Floats
    upright: Floats
    patches: Floats
    rough: Floats
    woods: Floats
    crown: Floats
    tree: Bytes
    plots: Bytes | None


def colored(
    ground: Land,
    cover: Cover,
    look: Look,
    light: Light,
    rng: np.random.Generator,
    progress: Progress,
) -> Bytes:
    """Return the lit colors of land, shape (GRID, GRID, 4), uint8.

    The first three channels are encoded sRGB, the fourth says how much of a texel is water.
    """
    lit, open_ = _lit(ground.heights, light.way), _open(ground.heights)
    progress.report(0.2)
    patches, rough = noise(rng, 16, 7, 0.6, GRID), noise(rng, 96, 5, 0.75, GRID)
    progress.report(0.3)
    fields = _field_colors(cover, rng)
    highest = float(ground.heights.max())
    contrast, lift, saturation = film_of(look)
    film = tone.Film(
        exposure=look.film.exposure,
        saturation=_COLOR * saturation,
        vignette=0.0,
        grain=0.0,
        contrast=contrast,
        lift=lift,
    )
    out = np.empty((GRID, GRID, 4), np.uint8)
    for row in progress.part(0.3, 1.0).over(range(0, GRID, _STRIP)):
        rows = slice(row, row + _STRIP)
        strip = _strip(ground, rows, patches[rows], rough[rows])
        albedo = _albedo(strip, cover, fields, highest, ground.water)
        if look.moon:
            gray = albedo.mean(axis=0)
            albedo = gray + (albedo - gray) * np.float32(_MOONLIT)
        direct = _facing(strip, light.way) * lit[rows]
        around = open_[rows] * (0.55 + 0.45 * strip.upright)
        planes = np.asarray(albedo * (light.sun * direct + light.sky * around), np.float32)
        wet = _flooded(planes, strip, cover, light, ground.water)
        out[rows, :, :3] = tone.develop(planes, film)
        out[rows, :, 3] = wet
    return out


def _strip(ground: Land, rows: slice, patches: Floats, rough: Floats) -> Strip:
    around = ground.heights.take(range(rows.start - 1, rows.stop + 1), axis=0, mode="wrap")
    padded = np.pad(around, ((0, 0), (1, 1)), mode="wrap")
    right, down = (
        cv2.Scharr(padded, cv2.CV_32F, x, 1 - x, scale=1 / 32 / TEXEL)[1:-1, 1:-1] for x in (1, 0)
    )
    return Strip(
        ground.heights[rows],
        right,
        down,
        np.asarray(1.0 / np.sqrt(right * right + down * down + 1.0)),
        patches,
        rough,
        ground.woods[rows] * np.float32(1 / 255),
        _repeated(ground.crowns[..., 0], rows) * np.float32(1 / 255),
        _repeated(ground.crowns[..., 1], rows),
        None if ground.plots is None else ground.plots[rows],
    )


def _facing(strip: Strip, way: tuple[float, float, float]) -> Floats:
    """Return how directly light falls on the ground, 0 to 1; leaves let it through to all sides."""
    sides = np.float32(1) - np.float32(_THROUGH) * strip.woods
    right, down = strip.right * sides, strip.down * sides
    facing = right * np.float32(-way[0])
    facing -= down * np.float32(way[1])
    facing += np.float32(way[2])
    facing /= np.sqrt(right * right + down * down + np.float32(1))
    return np.maximum(facing, np.float32(0))


def _repeated(tile: Bytes, rows: slice) -> Bytes:
    """Return some rows of a tile that repeats, as wide as the land."""
    own = tile.take(range(rows.start, rows.stop), axis=0, mode="wrap")
    return np.tile(own, (1, GRID // tile.shape[1]))


def _albedo(
    strip: Strip,
    cover: Cover,
    fields: Floats | None,
    highest: float,
    water: float | None,
) -> Floats:
    high = strip.heights * np.float32(1 / highest)
    slope = (1.0 - strip.upright) * (1.0 - strip.woods)
    vary = np.clip(0.5 + 0.15 * strip.rough + 0.26 * strip.patches, 0.0, 1.0)
    albedo = _blend(cover.growth, vary)
    if fields is not None and strip.plots is not None:
        albedo = fields[:, strip.plots] * (np.float32(0.88) + np.float32(0.24) * vary)
    _lay(albedo, _blend(cover.rock, _stone(strip, high)), _bare(strip, cover, slope, high))
    if water is not None:
        above = strip.heights - np.float32(water) + 0.3 * strip.rough
        _lay(
            albedo,
            tone.light(cover.sand),
            smooth_step(cover.beach, 0.4 * cover.beach, above) * (1.0 - strip.woods),
        )
    _lay(albedo, _trees(strip, cover), smooth_step(0.15, 0.6, strip.woods))
    lies = smooth_step(
        cover.snow - 0.07, cover.snow + 0.07, high + 0.05 * strip.patches - 0.22 * slope
    )
    lies *= smooth_step(0.60, 0.36, slope + 0.02 * strip.rough)
    # Of trees, only the tips carry much of it.
    lies *= 1.0 - strip.woods * (1.0 - 0.45 * strip.crown)
    _lay(albedo, tone.light(_SNOW), lies)
    return albedo


def _trees(strip: Strip, cover: Cover) -> Floats:
    """Return the color of trees: each its own, dark between them and light toward their tips."""
    own = np.float32(0.9) * OWN[strip.tree] - np.float32(0.45)
    which = np.clip(0.5 + own + 0.16 * strip.rough + 0.10 * strip.patches, 0.0, 1.0)
    # At the rim of a wood one looks in among the trunks.
    inside = strip.crown * smooth_step(*_RIM, strip.woods)
    deep = _GAP + np.float32(1.18 - _GAP) * smooth_step(0.05, 0.8, inside)
    deep *= np.float32(0.78) + np.float32(0.44) * OWN[255 - strip.tree]
    return np.asarray(_blend(cover.wood, which) * deep, np.float32)


def _bare(strip: Strip, cover: Cover, slope: Floats, high: Floats) -> Floats:
    # Toward the summits less and less grows.
    thin = 0.55 * np.maximum(high - 0.5, 0.0) * (cover.snow < 1.5)
    return smooth_step(
        cover.steep - 0.07, cover.steep + 0.09, slope + 0.035 * strip.patches + thin
    ) * (1.0 - 0.8 * strip.woods)


def _stone(strip: Strip, high: Floats) -> Floats:
    return np.clip(0.42 + 0.20 * strip.rough + 0.6 * (high - 0.5), 0.0, 1.0)


def _flooded(
    planes: Floats, strip: Strip, cover: Cover, light: Light, water: float | None
) -> Bytes:
    """Lay the water's own color over what is under it, in place; return where water is."""
    if water is None:
        return np.zeros(strip.heights.shape, np.uint8)
    depth = np.float32(water) - strip.heights
    wet = smooth_step(-0.12, 0.22, depth)
    sunk = np.maximum(depth, 0.0)
    shallow = np.exp(sunk * np.float32(-1 / cover.clear))
    bottom = np.exp(sunk * np.float32(-1.6 / cover.clear)) * np.float32(0.45)
    body = tone.blend(tone.light(cover.water[1]), tone.light(cover.water[0]), shallow)
    body *= light.sun * np.float32(0.75 * light.way[2]) + light.sky
    body += (planes - body) * bottom
    planes += (body - planes) * wet
    return np.asarray(cv2.convertScaleAbs(wet, alpha=255.0))


def _field_colors(cover: Cover, rng: np.random.Generator) -> Floats | None:
    """Return the color of each field by its number, linear light, shape (3, 256)."""
    if not cover.fields:
        return None
    colors = np.concatenate([tone.light(color)[:, :, 0] for color in cover.fields], axis=1)
    chosen = colors[:, rng.integers(0, len(cover.fields), 256)]
    return np.asarray(chosen * rng.uniform(0.88, 1.12, 256), np.float32)


def _blend(colors: Pair, share: Floats) -> Floats:
    one, other = (tone.light(color) for color in colors)
    return np.asarray(one + (other - one) * share, np.float32)


def _lay(albedo: Floats, color: Floats, share: Floats) -> None:
    albedo += (color - albedo) * share


def _lit(heights: Floats, way: tuple[float, float, float]) -> Floats:
    """Return where the sun reaches, 0 to 1, shape (GRID, GRID).

    Each place asks how high the land toward the sun stands above its ray of light; asking the
    place that asked as far ahead doubles the distance with every step.
    """
    half = cv2.resize(heights, (SIDE, SIDE), interpolation=cv2.INTER_AREA)
    flat = math.hypot(way[0], way[1])
    right, down, rise = way[0] / flat, way[1] / flat, way[2] / flat
    highest = _shifted(half, right, down) - np.float32(rise)
    step = 1
    while step < _REACH:
        other = _shifted(highest, right * step, down * step)
        other -= np.float32(rise * step)
        np.maximum(highest, other, out=highest)
        step *= 2
    highest -= half
    return doubled(blurred(smooth_step(1.0, -0.8, highest), 0.8))


def _shifted(plane: Floats, right: float, down: float) -> Floats:
    """Return what lies to the right of and below each place, between places too."""
    whole = (math.floor(right), math.floor(down))
    moved = np.roll(plane, (-whole[1], -whole[0]), (0, 1))
    part = (right - whole[0], down - whole[1])
    matrix = np.array([[1.0, 0.0, part[0]], [0.0, 1.0, part[1]]])
    padded = np.pad(moved, ((0, 1), (0, 1)), mode="wrap")
    return np.asarray(
        cv2.warpAffine(padded, matrix, (SIDE, SIDE), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP)
    )


def _open(heights: Floats) -> Floats:
    """Return how much of the sky each place sees: hollows are darker than crests."""
    gaps = heights - blurred(heights, 2.5)
    small = cv2.resize(heights, (GRID // 4, GRID // 4), interpolation=cv2.INTER_AREA)
    valleys = np.clip(1 + (small - blurred(small, 7.0)) * np.float32(0.030), 0.45, 1.25)
    valleys *= np.clip(1 + (small - blurred(small, 2.2)) * np.float32(0.07), 0.6, 1.25)
    return np.asarray(
        doubled(doubled(valleys)) * np.clip(1 + gaps * np.float32(0.22), 0.5, 1.25), np.float32
    )
