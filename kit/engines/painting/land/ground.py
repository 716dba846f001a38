"""Ground: its materials by season, and its appearance in the light of the hour.

Stills shade every pixel of a picture, flights every texel of a map; both use this module.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import cv2
import numpy as np

from kit.engines.media.color import Floats, Oklch
from kit.engines.media.noise import smooth_step
from kit.engines.painting.camera import soften_edges
from kit.engines.painting.land.landscape import Direction, Landscape
from kit.engines.painting.looks import HourLook
from kit.engines.painting.noise import SIDE, Plane, sample, slopes, tile
from kit.engines.painting.tints import turn_hue
from kit.engines.painting.tone import blend, light
from kit.engines.prompt.vocabulary import Tint

#: Colors with their shares.
Mix: TypeAlias = tuple[tuple[Oklch, float], ...]


#: Water level of dry land.
DRY = -1e3


@dataclass(frozen=True, slots=True)
class Woods:
    """The trees of a land and their distribution."""

    density: Floats  # a density map, 0 to 1
    leaves: Mix
    tall: tuple[float, float]  # minimum and maximum height
    kind: str  # spruce, broadleaf or palm
    line: float = 1e3  # maximum height of the ground under trees
    lowest: float = 1.2
    nearest: float = 30.0  # meters
    clearing: float = 0.55  # size before the camera, 1 for the whole view, negative for none


#: Without trees.
NO_WOODS = Woods(np.zeros((2, 2), np.float32), (((0.5, 0.0, 0.0), 1.0),), (0.0, 0.0), "broadleaf")


@dataclass(frozen=True, slots=True)
class Ground:
    """The materials of a ground, with the places of each."""

    low: Oklch  # on gentle slopes, in patches
    low_other: Oklch
    rock: Oklch = (0.42, 0.016, 62)  # on steep slopes
    rock_other: Oklch = (0.62, 0.018, 72)
    top: Oklch = (0.97, 0.010, 250)  # snow or other cover on high and gentle ground
    shore: Oklch = (0.55, 0.025, 80)  # a strip above the water
    top_line: float = 1e4  # height from which there is top cover
    steep: float = 0.17  # slope (1 - cosine) from which there is rock
    bands: float = 0.0  # strength of layers in the rock
    rough: float = 1.0  # depth of large and of small bumps, 1 is stony
    fine: float = 1.0

    def with_tint(self, tint: Tint | None, rocks: float = 0.25) -> Ground:
        """Return the ground shifted to a tint, its rocks only by a share."""
        low, other = (turn_hue(color, tint) for color in (self.low, self.low_other))
        rock, pale = (turn_hue(color, tint, rocks) for color in (self.rock, self.rock_other))
        return replace(self, low=low, low_other=other, rock=rock, rock_other=pale)


#: Season -> the ground of mountains; the snow line is a share of the highest peak.
GROUNDS = {
    "summer": Ground((0.45, 0.075, 128), (0.54, 0.080, 112), top_line=0.52),
    "spring": Ground((0.52, 0.095, 128), (0.62, 0.095, 118), top_line=0.38),
    "autumn": Ground((0.50, 0.095, 70), (0.60, 0.100, 84), (0.42, 0.020, 55), top_line=0.56),
    "winter": Ground(
        (0.83, 0.014, 248),
        (0.89, 0.010, 248),
        (0.38, 0.016, 255),
        (0.56, 0.014, 250),
        (0.92, 0.008, 248),
        (0.82, 0.015, 245),
        top_line=0.16,
        steep=0.24,
    ),
}
SAND = Ground(
    (0.70, 0.085, 68),
    (0.77, 0.085, 74),
    (0.66, 0.095, 62),
    (0.72, 0.090, 68),
    shore=(0.70, 0.085, 68),
    steep=0.30,
    rough=0.05,
    fine=0.55,
)
ROCK = Ground(
    (0.58, 0.085, 55),
    (0.66, 0.080, 66),
    (0.46, 0.105, 38),
    (0.66, 0.095, 56),
    shore=(0.6, 0.085, 60),
    steep=0.16,
    bands=0.8,
)
#: Bare rock at the sea.
CLIFF = {
    "shore": (0.40, 0.02, 70),
    "rock": (0.40, 0.022, 60),
    "rock_other": (0.64, 0.030, 75),
    "bands": 0.55,
    "rough": 1.5,
    "steep": 0.24,
}
#: Season -> colors of foliage, each with its share of the trees.
FOLIAGE: dict[str, Mix] = {
    "summer": (((0.36, 0.050, 145), 0.7), ((0.41, 0.060, 135), 0.3)),
    "spring": (((0.40, 0.055, 142), 0.6), ((0.52, 0.095, 125), 0.4)),
    "autumn": (((0.37, 0.045, 138), 0.36), ((0.64, 0.125, 80), 0.36), ((0.56, 0.125, 64), 0.28)),
    "winter": (((0.42, 0.022, 190), 0.55), ((0.68, 0.015, 235), 0.45)),
}
#: Colors of palms.
FRONDS: Mix = (((0.46, 0.085, 128), 0.6), ((0.52, 0.092, 118), 0.4))
#: Season -> colors of the grass in front.
GRASS: dict[str, Mix] = {
    "summer": (((0.50, 0.085, 124), 0.5), ((0.58, 0.085, 108), 0.3), ((0.66, 0.075, 90), 0.2)),
    "spring": (((0.58, 0.115, 126), 0.6), ((0.66, 0.115, 116), 0.4)),
    "autumn": (((0.60, 0.090, 80), 0.5), ((0.54, 0.095, 58), 0.3), ((0.70, 0.070, 92), 0.2)),
    "winter": (((0.74, 0.030, 90), 1.0),),
}


@dataclass(frozen=True, slots=True)
class Land:
    """The unpainted land before a camera, for a still and the start of a flight."""

    scene: Landscape
    heights: Floats
    ground: Ground
    level: float = DRY  # height of the water
    woods: Woods = NO_WOODS
    clouds: float = 0.0  # darkness of their shadows


def tint_mix(colors: Mix, tint: Tint | None) -> Mix:
    """Return colors of plants shifted to a tint, each by a slightly different amount."""
    return tuple((turn_hue(color, tint, 0.55), share) for color, share in colors)


def grain(rng: np.random.Generator, *, cells: int = 8, side: int = SIDE) -> Floats:
    """Return small bumps of a ground with their slopes, a tile of shape (side, side, 3)."""
    return _add_slopes(tile(rng, cells=cells, octaves=7, gain=0.62, side=side))


def ripples(rng: np.random.Generator, *, waves: int = 22, side: int = SIDE) -> Floats:
    """Return wind ripples in sand, like `grain`: wavy lines with a little noise."""
    noise = tile(rng, cells=4, octaves=4, side=side)
    fine = tile(rng, cells=32, octaves=4, gain=0.7, side=side)
    down, right = np.indices((side, side), np.float32) * np.float32(2 * np.pi / side)
    lines = np.sin(np.float32(waves) * down + 5.0 * right + 2.6 * noise)
    return _add_slopes(np.asarray(0.85 * lines + 0.25 * fine, np.float32))


def paint_ground(
    scene: Landscape, ground: Ground, grains: Floats, end: float, *, water: float = DRY
) -> None:
    """Paint the visible ground on the sky, with a shore at the water, and the haze."""
    view = scene.view
    for rows in scene.progress.part(end - 0.12, end).over(scene.bands()):
        own = _shade_rows(scene, rows, ground, grains, water)
        own = blend(own, scene.air, scene.haze(view.z[rows], view.height[rows]))
        scene.light[:, rows] = np.where(view.sky[rows], scene.light[:, rows], own)
    soften_edges(scene.light, view.edge)


def _shade_rows(
    scene: Landscape, rows: slice, ground: Ground, grains: Floats, water: float
) -> Floats:
    """Return the shaded ground in some rows, as planes of light, before any haze."""
    view = scene.view
    x, z, height = view.x[rows], view.z[rows], view.height[rows]
    across, along, *lit = cv2.split(scene.land.at(x, z))
    # On a wall, points differ in height, not in distance.
    places, focal = (x, z, z + height), scene.camera.focal
    fine = _bumps(grains, places, focal, 61.0, 0.010 * ground.fine)
    fine += _bumps(grains, places, focal, 17.0, 0.034 * ground.fine)
    coarse = _bumps(grains, places, focal, 3.1, 0.24 * ground.rough)
    crags = _bumps(grains, places, focal, 0.83, 2.6 * ground.rough)
    coarse += crags * np.clip(np.sqrt(across * across + along * along) - 0.12, 0.10, 1.1)
    across = across + fine[1] + coarse[1]
    along = along + fine[2] + coarse[2]
    flat = 1.0 / np.sqrt(across * across + along * along + 1.0)
    broad = sample(grains[..., 0], x * 0.55, places[2] * 0.55)
    speck = 0.6 * broad + 0.5 * coarse[0] + 0.4 * fine[0]
    albedo = albedo_of(ground, height, 1.0 - flat, speck, water)
    bumpy = 0.20 * min(ground.rough, 1.0) * coarse[0] + 0.13 * min(ground.fine, 1.0) * fine[0]
    albedo *= np.clip(1.0 + bumpy, 0.45, 1.6)
    return illuminate(albedo, scene.look, scene.toward, (across, along, *lit))


def illuminate(
    albedo: Floats,
    look: HourLook,
    sun: Direction,
    traits: tuple[Plane, ...],
    shade: Plane | float = 1.0,
) -> Floats:
    """Return the light reflected by an albedo, by the four traits of a relief.

    `shade` is a factor on the light of the sky.
    """
    across, along, openness, sunny = traits
    flat = 1.0 / np.sqrt(across * across + along * along + 1.0)
    facing = np.clip((sun[2] - across * sun[0] - along * sun[1]) * flat, 0.0, 1.0)
    if look.moon:  # the eye sees little color by moonlight
        gray = 0.3 * albedo[0] + 0.6 * albedo[1] + 0.1 * albedo[2]
        albedo = blend(albedo, gray[None], np.full((1, 1), 0.6, np.float32))
    # Light reflected by sunlit ground into shadows is warm.
    direct = facing * sunny + 0.075 * openness
    around = openness * (0.45 + 0.55 * flat)
    sunlight, skylight = light(look.sun, look.sun_power), light(look.shade, look.shade_power)
    return np.asarray(albedo * (sunlight * direct + skylight * (shade * around)))


def _bumps(
    grains: Floats, places: tuple[Floats, Floats, Floats], focal: float, scale: float, deep: float
) -> Floats:
    """Return bumps and their slopes, shape (3, ...), faded out where they alias.

    The tile has `scale` points per meter; a deviation of 1 is `deep` meters.
    """
    x, z, down = places
    out = np.zeros((3, *z.shape), np.float32)
    step = np.float32(1.1 * scale / focal)
    near = np.flatnonzero(z.min(axis=1) * step < 1.5)
    if len(near):
        part = slice(near[0], None)
        share = np.clip(1.5 - z[part] * step, 0.0, 1.0)
        looked = sample(grains, x[part] * np.float32(scale), down[part] * np.float32(scale))
        for plane, own, factor in zip(
            out, cv2.split(looked), (1, *[deep * scale] * 2), strict=True
        ):
            np.multiply(own, share * np.float32(factor), out=plane[part])
    return out


def albedo_of(ground: Ground, height: Floats, slope: Floats, speck: Floats, water: float) -> Floats:
    """Return the albedo of ground by height, slope (1 - cosine) and noise of deviation 1."""
    patch = np.clip(0.5 + 0.42 * speck, 0.0, 1.0)
    low = blend(light(ground.low), light(ground.low_other), patch)
    stone = np.clip(0.45 + 0.38 * speck, 0.0, 1.0)
    if ground.bands:
        level = height + 1.3 * speck
        layers = np.sin(level * np.float32(0.31)) + 0.8 * np.sin(level * np.float32(0.83) + 1.0)
        layers += 0.5 * np.sin(level * np.float32(2.17))
        stone = np.clip(stone + ground.bands * 0.33 * layers, 0.0, 1.0)
    rock = blend(light(ground.rock), light(ground.rock_other), stone)
    line = ground.top_line
    bare = smooth_step(ground.steep - 0.07, ground.steep + 0.09, slope + 0.035 * speck)
    bare = np.maximum(bare, smooth_step(0.62 * line, 0.95 * line, height + 5.0 * speck) * 0.85)
    albedo = blend(low, rock, bare)
    shore = 1.0 - smooth_step(0.15, 1.1, height - water + 0.25 * speck)
    albedo = blend(albedo, light(ground.shore), shore * 0.85)
    top = smooth_step(line - 9.0, line + 11.0, height + 9.0 * speck - 40.0 * slope)
    top *= 1.0 - smooth_step(ground.steep + 0.17, ground.steep + 0.38, slope + 0.03 * speck)
    return blend(albedo, light(ground.top), top)


def _add_slopes(bumps: Floats) -> Floats:
    return np.asarray(cv2.merge([bumps, *slopes(bumps, wrap=True)]))
