"""Oases: a pool in a hollow of the desert, and what grows around it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Floats
from kit.engines.media.noise import smooth_step
from kit.engines.painting.land import air, grove, palmery, planting, water
from kit.engines.painting.land.grove import Grove
from kit.engines.painting.land.library import sprites
from kit.engines.painting.land.relief import Relief, grid
from kit.engines.painting.land.seasons import Mix
from kit.engines.painting.land.stand import plant
from kit.engines.painting.land.vista import Vista
from kit.engines.painting.land.voxel import Heights, Seen
from kit.engines.painting.noise import octave

_REEDS: Mix = (((0.52, 0.090, 122), 0.6), ((0.60, 0.085, 108), 0.4))
_DEEP = 1.6  # world units
_FLAT = 2.6  # how far around the pool the sand is level, in its reaches


@dataclass(frozen=True, slots=True)
class Pool:
    """Water in a desert: its middle, how far off its shore is, and its level; world units."""

    x: float
    z: float
    reach: float
    level: float = 1.0


def pool_of(scene: Vista) -> Pool | None:
    """Return the pool that palms in a desert stand around, if the prompt asks for them."""
    if "palms" not in scene.brief.things:
        return None
    camera, dice = scene.camera, scene.dice(50)
    away = max(4.4 * camera.height, 2.4 * camera.nearest) * dice.uniform(0.95, 1.15)
    x = 0.55 * scene.subject * camera.widest * away
    return Pool(x, away, away * min(0.30, 0.62 * camera.widest) * dice.uniform(0.9, 1.1))


def sunk(heights: Floats, pool: Pool, scene: Vista) -> Floats:
    """Return heights with the hollow of a pool, whose shore is no circle."""
    x, z = grid(scene.points)
    bend = octave(scene.dice(51), scene.points, 34)
    off = np.hypot((x - np.float32(pool.x)) / 1.25, z - np.float32(pool.z))
    off = off * np.float32(1 / pool.reach) + 0.22 * bend
    flat = smooth_step(_FLAT, 1.15, off)
    bowl = pool.level + 0.14 * pool.reach * np.maximum(off - 1.0, -1.0) * (0.35 + 0.65 * (off > 1))
    bowl = np.maximum(bowl, pool.level - _DEEP)
    return _open(np.asarray(heights + (bowl - heights) * flat, np.float32), pool, scene)


def _open(heights: Floats, pool: Pool, scene: Vista) -> Floats:
    """Lower what would stand between the eye and the water."""
    x, z = grid(scene.points)
    eye, shore = scene.camera.height, pool.z - 0.95 * pool.reach
    sight = eye + (pool.level - eye) * z / np.float32(shore) - 0.8
    sight = sight + 0.14 * np.maximum(np.abs(x - pool.x * z / pool.z) - 1.5 * pool.reach, 0.0)
    over = np.maximum(heights - sight, 0.0) * smooth_step(shore, 0.85 * shore, z)
    return np.asarray(heights - over, np.float32)


def surface(heights: Heights, pool: Pool) -> Heights:
    """Return heights to look at: the water's level in the pool, else the ground."""

    def found(x: Floats, z: Floats) -> Floats:
        own = heights(x, z)
        near = np.hypot(x - np.float32(pool.x), z - np.float32(pool.z)) < _FLAT * pool.reach
        return np.where(near, np.maximum(own, np.float32(pool.level)), own)

    return found


def grown(scene: Vista, land: Relief, pool: Pool) -> Grove:
    """Return the palms around a pool, whose shadows lie on the land from then on."""
    palms = grove.around(scene, land, (pool.x, pool.z), pool.reach)
    palmery.shaded(land, palms, scene.toward)
    return palms


def filled(
    scene: Vista,
    planes: Floats,
    depth: Floats,
    view: Seen,
    land: Relief,
    pool: Pool,
    palms: Grove,
    overhead: Floats,
    progress: Progress,
) -> None:
    """Plant what grows around a pool and let the water mirror it, in place."""
    # Water mirrors what stands behind it.
    behind, before = palms.parted(pool.z - 0.3 * pool.reach)
    palmery.planted(scene, planes, depth, land, behind, progress.part(0.0, 0.4))
    _reeds(scene, planes, depth, land, pool, progress.part(0.4, 0.6))
    ground = land.height(view.x, view.z)
    wet = ~view.sky & (ground < pool.level) & (depth > view.z * 0.999)
    wet &= np.hypot(view.x - np.float32(pool.x), view.z - np.float32(pool.z)) < 2 * pool.reach
    water.flooded(
        planes,
        depth,
        wet,
        scene.camera,
        scene.look,
        scene.sun,
        scene.dice(7),
        progress.part(0.6, 0.8),
        deep=(0.42, 0.060, 205),
        wind=0.5,
        level=pool.level,
        ground=pool.level - ground,
        overhead=overhead,
        motions=scene.motions,
    )
    palmery.planted(scene, planes, depth, land, before, progress.part(0.8, 1.0))


def _reeds(
    scene: Vista, planes: Floats, depth: Floats, land: Relief, pool: Pool, progress: Progress
) -> None:
    """Set grass along the shore, in place."""
    rng, count = scene.dice(52), 700
    turn, away = rng.uniform(0, 2 * np.pi, count), rng.uniform(0.95, 1.5, count)
    x = np.asarray(pool.x + 1.25 * pool.reach * away * np.cos(turn), np.float32)
    z = np.asarray(pool.z + pool.reach * away * np.sin(turn), np.float32)
    height, traits = land.height(x[None], z[None])[0], land.at(x[None], z[None])[0]
    keep = (height > pool.level + 0.05) & (height < pool.level + 4.0)
    tall = rng.uniform(0.6, 2.0, count)
    color = planting.drawn(_REEDS, rng.uniform(0.75, 1.2, count), rng)
    reeds = planting.standing(scene, keep, x, z, height, tall, traits, color)
    haze = air.haze_color(scene.look, scene.sun, scene.camera)
    right = scene.toward[0] > 0
    shapes = sprites("tuft")
    plant(planes, depth, reeds, shapes, scene.camera, haze, rng, progress, mirrored=right)
