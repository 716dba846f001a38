"""Ground: what grows where, and how it looks in the light of the hour."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np

from kit.engines.media.color import Floats, Oklch
from kit.engines.media.noise import smooth_step
from kit.engines.painting.land.look import Look
from kit.engines.painting.land.relief import Relief
from kit.engines.painting.land.voxel import Camera, Seen
from kit.engines.painting.noise import sample, slopes, tile
from kit.engines.painting.tints import turned
from kit.engines.painting.tone import blend, light
from kit.engines.prompt.vocabulary import Tint

Direction = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Ground:
    """The colors of a ground, and where each lies.

    Parameters
    ----------
    low, low_other : Oklch
        What covers gentle slopes, in patches.
    rock, rock_other : Oklch
        What steep slopes show.
    top : Oklch
        Snow, or whatever lies on high and gentle ground.
    shore : Oklch
        A strip above the water.
    top_line : float
        Height from which `top` lies, in world units.
    steep : float
        Slope (1 - cosine) at which rock shows.
    bands : float
        Strength of layers in the rock.
    rough, fine : float
        Depth of large and of small bumps, 1 is stony.
    """

    low: Oklch
    low_other: Oklch
    rock: Oklch
    rock_other: Oklch
    top: Oklch
    shore: Oklch
    top_line: float
    steep: float = 0.17
    bands: float = 0.0
    rough: float = 1.0
    fine: float = 1.0


def tinted(ground: Ground, tint: Tint | None, *, rocks: float = 0.0) -> Ground:
    """Return a ground whose gentle slopes, and to a share its rocks, turn to a tint."""
    return replace(
        ground,
        low=turned(ground.low, tint),
        low_other=turned(ground.low_other, tint),
        rock=turned(ground.rock, tint, rocks),
        rock_other=turned(ground.rock_other, tint, rocks),
    )


def overgrown(low: Oklch, other: Oklch, *, rough: float, fine: float) -> Ground:
    """Return a ground of two colors all over: without rock, snow and shore of their own."""
    return Ground(
        low=low,
        low_other=other,
        rock=other,
        rock_other=low,
        top=low,
        shore=other,
        top_line=1e4,
        rough=rough,
        fine=fine,
    )


@dataclass(frozen=True, slots=True)
class Grain:
    """Small structure of a ground: a tile of bumps with its slopes, shape (side, side, 3)."""

    bumps: Floats

    def at(self, seen: Seen, rows: slice, camera: Camera, *, scale: float, deep: float) -> Floats:
        """Return bumps and their slopes, shape (3, ...), fading where a pixel covers too many.

        Parameters
        ----------
        scale : float
            Points of the tile in a world unit.
        deep : float
            World units that a deviation of 1 rises.
        """
        x, z = seen.x[rows], seen.z[rows]
        down = z + seen.height[rows]  # on a wall the height tells points apart, not the distance
        out = np.zeros((3, *z.shape), np.float32)
        step = np.float32(1.1 * scale / camera.focal)
        near = np.flatnonzero(z.min(axis=1) * step < 1.5)
        if len(near):
            x, z, down = x[near[0] :], z[near[0] :], down[near[0] :]
            share = np.clip(1.5 - z * step, 0.0, 1.0)
            looked = sample(self.bumps, x * np.float32(scale), down * np.float32(scale))
            for plane, part, factor in zip(
                out, cv2.split(looked), (1, *[deep * scale] * 2), strict=True
            ):
                np.multiply(part, share * np.float32(factor), out=plane[near[0] :])
        return out


def grain(rng: np.random.Generator, *, gain: float = 0.62) -> Grain:
    """Return bumps for a ground."""
    bumps = tile(rng, cells=8, octaves=7, gain=gain)
    return Grain(np.asarray(cv2.merge([bumps, *slopes(bumps, wrap=True)])))


def shaded(
    seen: Seen,
    rows: slice,
    relief: Relief,
    ground: Ground,
    grains: Grain,
    look: Look,
    sun: Direction,
    camera: Camera,
    *,
    water: float = 0.0,
) -> Floats:
    """Return what the ground looks like, planes of light of some rows, before any haze.

    Parameters
    ----------
    sun : tuple of float
        Direction toward the light: right, along z, up; of length 1.
    water : float
        Height of the water, for the strip of shore above it.
    """
    traits = cv2.split(relief.at(seen.x[rows], seen.z[rows]))
    across, along, openness, shadow = traits
    fine = grains.at(seen, rows, camera, scale=61.0, deep=0.010 * ground.fine)
    fine += grains.at(seen, rows, camera, scale=17.0, deep=0.034 * ground.fine)
    coarse = grains.at(seen, rows, camera, scale=3.1, deep=0.24 * ground.rough)
    crags = grains.at(seen, rows, camera, scale=0.83, deep=2.6 * ground.rough)
    coarse += crags * np.clip(np.sqrt(across * across + along * along) - 0.12, 0.10, 1.1)
    across = across + fine[1] + coarse[1]
    along = along + fine[2] + coarse[2]
    flat = 1.0 / np.sqrt(across * across + along * along + 1.0)
    facing = np.clip((sun[2] - across * sun[0] - along * sun[1]) * flat, 0.0, 1.0)
    broad = sample(
        grains.bumps[..., 0], seen.x[rows] * 0.55, (seen.z[rows] + seen.height[rows]) * 0.55
    )
    speck = 0.6 * broad + 0.5 * coarse[0] + 0.4 * fine[0]
    albedo = _albedo(ground, seen.height[rows], 1.0 - flat, speck, water)
    rough = 0.20 * min(ground.rough, 1.0) * coarse[0] + 0.13 * min(ground.fine, 1.0) * fine[0]
    albedo *= np.clip(1.0 + rough, 0.45, 1.6)
    if look.moon:  # by moonlight the eye sees little color
        gray = 0.3 * albedo[0] + 0.6 * albedo[1] + 0.1 * albedo[2]
        albedo = blend(albedo, gray[None], np.full((1, 1), 0.6, np.float32))
    direct = facing * shadow
    around = openness * (0.45 + 0.55 * flat)
    sunlight = light(look.sun, look.sun_power)
    skylight = light(look.shade, look.shade_power)
    bounced = 0.075 * openness  # what sunlit ground throws into shadows is warm
    return np.asarray(albedo * (sunlight * (direct + bounced) + skylight * around), np.float32)


def _albedo(ground: Ground, height: Floats, slope: Floats, speck: Floats, water: float) -> Floats:
    patches = np.clip(0.5 + 0.42 * speck, 0.0, 1.0)
    low = blend(light(ground.low), light(ground.low_other), patches)
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
    cover = smooth_step(line - 9.0, line + 11.0, height + 9.0 * speck - 40.0 * slope)
    cover *= 1.0 - smooth_step(0.34, 0.55, slope + 0.03 * speck)
    return blend(albedo, light(ground.top), cover)
