"""Deserts: sand dunes, mesas of layered rock on a plain, a pool with palms in a hollow."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Floats, Oklch
from kit.engines.media.noise import smooth_step
from kit.engines.painting.camera import unit
from kit.engines.painting.land import ground, planting, volcano
from kit.engines.painting.land.ground import FRONDS, NO_WOODS, ROCK, SAND, Ground, Land, Mix, Woods
from kit.engines.painting.land.landscape import Landscape, grid
from kit.engines.painting.land.water import flood
from kit.engines.painting.noise import dune_wave, mesas, octave, sharp_crests, worn_hills
from kit.engines.painting.painting import Painting
from kit.engines.painting.tints import of_land
from kit.engines.prompt.brief import Brief

_SCRUB: Mix = (((0.56, 0.055, 92), 0.6), ((0.50, 0.050, 112), 0.4))
_REEDS: Mix = (((0.52, 0.090, 122), 0.6), ((0.60, 0.085, 108), 0.4))
_BUSHES: Mix = (((0.34, 0.045, 108), 0.6), ((0.42, 0.055, 92), 0.4))
#: Both under snow.
_SNOW = replace(ROCK, low=(0.90, 0.012, 245), low_other=(0.95, 0.010, 245), steep=0.2, bands=0.7)


def _is_rocky(brief: Brief) -> bool:
    if brief.things.isdisjoint(("rocks", "dunes")):
        return bool(np.random.default_rng([brief.seed, 2]).random() < 0.4)
    return "rocks" in brief.things


def lay_out(brief: Brief, progress: Progress) -> Land:
    """Return a desert's land.

    Words for rock give mesas, words for sand dunes; otherwise the seed decides.
    """
    rocky = _is_rocky(brief)
    sandy = not rocky or "dunes" in brief.things
    height = 17.0 if not rocky else 14.0 if sandy else 8.0
    if "close" in brief.composition:
        height *= 0.55 if rocky or "palms" in brief.things else 0.22
    horizon = 0.44 if rocky else 0.40
    scene = Landscape(brief, progress, horizon=horizon, height=height, raised=2.6)
    scene.mist = 0.18
    if not rocky:  # low light from the side, which leaves the far side of each crest dark
        scene.toward = unit(float(np.sign(scene.toward[0])) * 0.85, 0.25, 0.36)
    cone, pool = volcano.cone_of(scene), _pool_of(scene)
    heights = _mesas(scene, sandy=sandy) if rocky else _dunes(scene)
    heights = scene.lower_at_sun(heights)
    heights = heights if rocky else np.asarray(cv2.GaussianBlur(heights, (0, 0), 2.4))
    heights = volcano.raise_cone(scene, heights, cone)
    heights = _carve_hollow(scene, heights, pool) if pool else heights
    own = volcano.ash_ground(scene, _ground_of(brief, rocky=rocky), cone)
    if pool:
        return Land(scene, heights, own, pool.level, _palms_around(scene, pool))
    scrub = np.clip(0.9 * octave(scene.rng(16), 256, 44) - 0.25, 0.0, 1.0).astype(np.float32)
    bushes = Woods(scrub, _BUSHES, (1.0, 2.9), "broadleaf", nearest=24.0)
    return Land(scene, heights, own, woods=NO_WOODS if sandy else bushes)


def paint(brief: Brief, progress: Progress) -> Painting:
    """Return a painted desert."""
    land = lay_out(brief, progress)
    scene, level = land.scene, np.float32(land.level)
    pool = _pool_of(scene)
    sandy = not _is_rocky(brief) or "dunes" in brief.things
    scene.paint_sky(0.2)
    volcano.paint_smoke(scene)
    scene.lay_out(land.heights)
    grains = ground.ripples(scene.rng(5)) if sandy else ground.grain(scene.rng(5))
    scene.trace_view(lambda x, z: np.maximum(scene.land.height(x, z), level), 0.6)
    ground.paint_ground(scene, land.ground, grains, 0.75)
    if not sandy:
        _strew(scene, land.ground)
    volcano.paint_lava(scene)
    if pool:
        _plant_pool(land, pool)
    return scene.finish()


def _ground_of(brief: Brief, *, rocky: bool) -> Ground:
    if brief.season == "winter":
        return _SNOW
    own = ROCK if rocky else SAND
    if rocky and "dunes" in brief.things:
        own = replace(ROCK, low=SAND.low, low_other=SAND.low_other, fine=0.55, rough=0.3)
    if "mars" in brief.things:
        own = replace(ROCK, low=(0.50, 0.085, 44), low_other=(0.58, 0.085, 52))
    return own.with_tint(of_land(brief), rocks=0.6)


def _dunes(scene: Landscape) -> Floats:
    """Return long waves of sand, and the main dune, if the picture has a subject's place."""
    rng, points, words, part = scene.rng(4), scene.points, scene.words, scene.framing["part"]
    x, z = grid(scene.points)
    bend = octave(rng, points, 5) + 0.6 * octave(rng, points, 3)
    turn = rng.uniform(0.35, 1.0) * (1 if scene.toward[0] < 0 else -1)
    way = x * np.float32(np.sin(turn)) - z * np.float32(abs(np.cos(turn)))
    heights = np.zeros((points, points), np.float32)
    for length, tall, wander in ((205.0, 70.0, 80.0), (88.0, 21.0, 36.0), (39.0, 5.0, 14.0)):
        phase = (way + wander * bend + rng.uniform(0, length)) / np.float32(length)
        uneven = np.clip(0.66 + 0.50 * octave(rng, points, 1024 / length), 0.08, 1.3)
        heights += np.float32(tall) * dune_wave(phase) * uneven
    heights *= np.float32(scene.framing["others"]) * (0.40 + 0.60 * smooth_step(30, 380, z))
    placed = not {"centered", "thirds", "minimal", "dramatic"}.isdisjoint(words)
    near, rise = (0.40, 0.14) if placed else (0.60, 0.21)
    room = near * scene.camera.height + z * np.float32(rise) - heights
    heights = heights + 0.5 * (room - np.sqrt(room * room + 9.0))  # rounded off at the ceiling
    if not placed:
        return np.asarray(heights, np.float32)
    side = (x / (scene.camera.widest * z.clip(40.0)) - np.float32(scene.subject)) * 1.25
    away = (z * scene.framing["near"] - 330.0) * (1 / 240)
    # Wind bent its arms: no side is straight.
    side = side + 0.30 * octave(rng, points, 9) + 0.35 * np.sin(away * 2.2)
    away = away + 0.35 * octave(rng, points, 7)
    lean = np.abs(side) + 0.25 * side * np.sign(scene.toward[0])
    tall = 74.0 * part ** (2.6 if part > 1.0 else 0.5)
    tall = min(tall, scene.camera.height + 300.0 * scene.camera.rise)
    main = tall * np.maximum(1.0 - np.hypot(lean, away), 0.0) ** 1.6
    return np.asarray(np.maximum(heights, main), np.float32)


def _mesas(scene: Landscape, *, sandy: bool) -> Floats:
    """Return mesas and buttes with sheer walls over slopes of rubble, on a plain."""
    rng, points, framing = scene.rng(4), scene.points, scene.framing
    _, z = grid(scene.points)
    worn, cracked = worn_hills(rng, points, cells=7.0), sharp_crests(rng, points, cells=9.0)
    side, far = scene.side(), z * np.float32(framing["near"])
    mass = octave(rng, points, 5.5) * 0.55 + octave(rng, points, 11) * 0.25
    if framing["others"] < 1.0:
        mass = mass * framing["others"] - 0.35 * (1.0 - framing["others"])
    bulk = np.exp(-((side - scene.subject) ** 2) / 0.05 - ((far - 420) / 160) ** 2)
    mass = mass + 0.75 * framing["main"] ** 0.4 * bulk
    aside = 0.35 * framing["others"] * smooth_step(0.5, 1.2, np.abs(side))
    mass += aside - 0.16 * cracked + 0.20 * (worn - 0.5)
    heights = mesas(np.asarray(mass, np.float32), framing["part"])
    # They end below the upper edge of the frame.
    shown = (np.abs(side) < 1.0) & (heights > 20.0) & (z > 200.0)
    room = scene.camera.height + 0.86 * scene.camera.rise * z + np.zeros_like(side)
    heights *= np.float32(np.clip((room[shown] / heights[shown]).min(initial=1.0), 0.4, 1.0))
    floor = 7.0 * (worn - 0.5) + 2.0
    if sandy:  # low dunes on the plain before the rocks
        floor = 0.3 * floor + 0.6 * _dunes(scene) * smooth_step(420, 300, z)
    base = heights * smooth_step(140, 330, far) + floor
    return np.asarray(np.minimum(base, 3.5 + 0.9 * z), np.float32)


def _strew(scene: Landscape, own: Ground) -> None:
    """Place stones, dry tufts and, if asked for, cacti on the plain."""
    rng = scene.rng(6)
    few = 0.3 if "close" in scene.words else min(1.0, scene.framing["plants"])

    def dusty(one: Oklch) -> Oklch:
        return (0.5 * (one[0] + own.low[0]), 0.5 * (one[1] + own.low[1]), one[2])

    stones: Mix = ((dusty(own.rock), 0.6), (dusty(own.rock_other), 0.4))
    green: Mix = (((0.44, 0.065, 135), 0.6), ((0.50, 0.065, 125), 0.4))
    for kind, colors, count, tall, near, even in (
        ("stone", stones, 420 * few, 1.15, 0.4, 4.5),
        ("tuft", _SCRUB, 300 * few * (not scene.has("mars")), 0.9, 0.22, 1.5),
        ("cactus", green, max(3, 46 * few) * scene.has("cacti"), 6.0, 1.9, 0.8),
    ):
        between = near, 240.0
        plants = planting.strew(
            scene, colors, rng, count=count, tall=tall, between=between, even=even, lowest=-9.0
        )
        planting.plant(scene, plants, kind, 0.8)


@dataclass(frozen=True, slots=True)
class _Pool:
    """Water in a hollow: its center, distance of its shore, and level, in meters."""

    x: float
    z: float
    reach: float
    level: float = 1.0


def _pool_of(scene: Landscape) -> _Pool | None:
    """Return the pool among palms in a desert, if the prompt asks for it."""
    if not scene.has("palms"):
        return None
    camera, rng = scene.camera, scene.rng(50)
    away = max(4.4 * camera.height, 2.4 * camera.nearest) * rng.uniform(0.95, 1.15)
    x = 0.55 * scene.subject * camera.widest * away
    return _Pool(x, away, away * min(0.30, 0.62 * camera.widest) * rng.uniform(0.9, 1.1))


def _palms_around(scene: Landscape, pool: _Pool) -> Woods:
    """Return palms around a pool; the view over it stays open."""
    x, z = grid(256)
    ring = np.hypot((x - pool.x) / 1.1, z - pool.z) / pool.reach - 1.5
    density = np.exp(-((ring / 0.3) ** 2)) * (0.3 if "minimal" in scene.words else 1.0)
    open_ = (z < pool.z - 0.3 * pool.reach) & (np.abs(x - pool.x) < 0.95 * pool.reach)
    density = np.where(open_, 0.0, density).astype(np.float32)
    return Woods(density, FRONDS, (10.0, 17.0), "palm", clearing=-9.0)


def _carve_hollow(scene: Landscape, heights: Floats, pool: _Pool) -> Floats:
    """Return heights with the hollow of a pool with an irregular shore."""
    x, z = grid(scene.points)
    eye, shore = scene.camera.height, pool.z - 0.95 * pool.reach
    off = np.hypot((x - pool.x) / 1.25, z - pool.z) / pool.reach
    off = off + 0.22 * octave(scene.rng(51), scene.points, 34)
    rim = 0.14 * pool.reach * np.maximum(off - 1.0, -1.0) * (0.35 + 0.65 * (off > 1))
    bowl = pool.level + np.maximum(rim, -1.6)
    heights = heights + (bowl - heights).astype(np.float32) * smooth_step(2.6, 1.15, off)
    # Ground between the eye and the water is lowered.
    sight = eye + (pool.level - eye) * z / np.float32(shore) - 0.8
    sight = sight + 0.14 * np.maximum(np.abs(x - pool.x * z / pool.z) - 1.5 * pool.reach, 0.0)
    over = np.maximum(heights - sight, 0.0) * smooth_step(shore, 0.85 * shore, z)
    return np.asarray(np.maximum(heights - over, np.where(off > 1.6, pool.level + 0.1, -9)), "f4")


def _plant_pool(land: Land, pool: _Pool) -> None:
    """Plant vegetation around a pool and add the water with its reflections."""
    scene = land.scene
    rng = scene.rng(52)
    turn, away = rng.uniform(0.0, 2 * np.pi, 520), pool.reach * rng.uniform(1.0, 1.4, 520)
    x, z = pool.x + away * np.cos(turn), pool.z + away * np.sin(turn)
    tufts = planting.plants_at(scene, rng, x, z, rng.uniform(0.6, 2.0, 520), _REEDS)
    planting.plant(scene, tufts.keep(tufts.foot > pool.level + 0.05), "tuft", 0.82)
    palms = planting.forest(scene, land.woods, scene.rng(36), count=1800)
    behind = palms.z >= pool.z - 0.3 * pool.reach
    planting.plant(scene, palms.keep(behind), "palm", 0.86)
    flood(scene, deep=(0.42, 0.060, 205), wind=0.5, level=pool.level)
    planting.plant(scene, palms.keep(~behind), "palm", 0.9)
