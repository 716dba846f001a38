"""Deserts: dunes with sharp crests and ripples, or tables of layered rock over a plain."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Floats, Oklch
from kit.engines.media.noise import smooth_step
from kit.engines.painting.land import air, dunes, eruption, oasis, planting, sky, volcano, water
from kit.engines.painting.land.cover import covered
from kit.engines.painting.land.ground import Grain, Ground, grain, tinted
from kit.engines.painting.land.library import sprites
from kit.engines.painting.land.relief import Relief, grid, relief
from kit.engines.painting.land.staging import parted
from kit.engines.painting.land.stand import plant
from kit.engines.painting.land.vista import FAR, Vista, finished, vista
from kit.engines.painting.land.voxel import Heights, seen
from kit.engines.painting.noise import eroded, octave, ridged
from kit.engines.painting.painting import Painting
from kit.engines.painting.tints import of_land
from kit.engines.prompt.brief import Brief

_SAND = Ground(
    low=(0.70, 0.085, 68),
    low_other=(0.77, 0.085, 74),
    rock=(0.66, 0.095, 62),
    rock_other=(0.72, 0.090, 68),
    top=(0.78, 0.080, 75),
    shore=(0.70, 0.085, 68),
    top_line=1e4,
    steep=0.30,
    rough=0.05,
    fine=0.55,
)
_ROCK = Ground(
    low=(0.58, 0.085, 55),
    low_other=(0.66, 0.080, 66),
    rock=(0.46, 0.105, 38),
    rock_other=(0.66, 0.095, 56),
    top=(0.62, 0.080, 60),
    shore=(0.6, 0.085, 60),
    top_line=1e4,
    steep=0.16,
    bands=0.8,
)
_SCRUB = 300
_CLOSE, _CLOSER = 0.55, 0.22  # of the eye's height: it is near the ground as well
#: Where stones lie and cacti stand; see `planting.strewn`.
_STONY: dict[str, Any] = {"between": (0.4, 260.0), "even": 4.5, "lowest": -9.0}
_UPRIGHT: dict[str, Any] = {"between": (1.9, 230.0), "even": 0.8, "lowest": -9.0}
#: Either of them under snow.
_SNOW = Ground(
    low=(0.90, 0.012, 245),
    low_other=(0.95, 0.010, 245),
    rock=(0.46, 0.080, 40),
    rock_other=(0.64, 0.070, 56),
    top=(0.97, 0.006, 245),
    shore=(0.9, 0.010, 245),
    top_line=1e4,
    steep=0.2,
    bands=0.7,
)


def paint(brief: Brief, progress: Progress) -> Painting:
    """Return a painted desert.

    Parameters
    ----------
    brief : Brief
        Words for rock make mesas, words for sand dunes; otherwise the seed decides.
    """
    rocky = _rocky(brief)
    sandy = not rocky or "dunes" in brief.things
    height = 17.0 if not rocky else 14.0 if sandy else 8.0
    if "close" in brief.composition:
        height *= _CLOSE if rocky or "palms" in brief.things else _CLOSER
    scene = vista(brief, horizon=0.44 if rocky else 0.40, height=height, raised=2.6)
    if not rocky:
        scene = replace(scene, toward=dunes.raking(scene.toward))
    painting = progress.part(0.0, 0.2)
    planes = sky.painted(
        scene.look, scene.camera, scene.sun, scene.dice(3), painting, scene.motions
    )
    cone, pool = volcano.cone_of(scene, away=620.0), oasis.pool_of(scene)
    eruption.smoke(scene, planes, cone)
    overhead = water.sky_over(planes)
    progress.report(0.2)
    heights = _tables(scene) if rocky else dunes.waves(scene)
    heights = volcano.raised(heights, cone, scene) if cone else heights
    heights = oasis.sunk(heights, pool, scene) if pool else heights
    progress.report(0.38)
    land = relief(heights, scene.toward, hollow=0.7)
    palms = oasis.grown(scene, land, pool) if pool else None
    progress.report(0.45)
    grains = dunes.rippled(scene.dice(5)) if sandy else grain(scene.dice(5))
    surface = land.height if sandy else _surface(land, grains)
    surface = oasis.surface(surface, pool) if pool else surface
    looking = progress.part(0.45, 0.6)
    view = seen(surface, scene.camera, looking, far=FAR, slices=scene.slices)
    progress.report(0.6)
    ground = _ground(brief, rocky)
    ground = volcano.ground_with(ground, cone, brief) if cone else ground
    covered(scene, progress.part(0.6, 0.75), planes, view, land, ground, grains, mist=0.18)
    depth = view.z.copy()
    if not sandy:
        _strew(scene, planes, depth, land, progress.part(0.75, 0.82))
    eruption.lava(scene, planes, cone, view, view.z)
    if pool and palms:
        flooding = progress.part(0.82, 0.88)
        oasis.filled(scene, planes, depth, view, land, pool, palms, overhead, flooding)
    progress.report(0.88)
    return finished(scene, progress.part(0.88, 1.0), planes, depth, view.sky)


def _rocky(brief: Brief) -> bool:
    # A mesa that is asked for is seen, even where there are dunes as well.
    if not brief.things.isdisjoint(("rocks", "dunes")):
        return "rocks" in brief.things
    return bool(np.random.default_rng([brief.seed, 2]).random() < 0.4)


def _ground(brief: Brief, rocky: bool) -> Ground:
    if brief.season == "winter":
        return _SNOW
    ground = _ROCK if rocky else _SAND
    if rocky and "dunes" in brief.things:
        ground = replace(_ROCK, low=_SAND.low, low_other=_SAND.low_other, fine=0.55, rough=0.3)
    if "mars" in brief.things:
        ground = replace(_ROCK, low=(0.50, 0.085, 44), low_other=(0.58, 0.085, 52))
    return tinted(ground, of_land(brief), rocks=0.6)


def _tables(scene: Vista) -> Floats:
    """Return mesas and buttes with sheer walls over slopes of rubble, on a plain."""
    rng, points = scene.dice(4), scene.points
    x, z = grid(points)
    worn = eroded(rng, points, cells=7.0)
    cracked = ridged(rng, points, cells=9.0)
    staging = scene.staging
    side = x / (scene.camera.widest * (z + 60.0))
    far = z * np.float32(staging.near)
    mass = octave(rng, points, 5.5) * 0.55 + octave(rng, points, 11) * 0.25
    if staging.others < 1.0:
        mass = mass * np.float32(staging.others) - np.float32(0.35 * (1.0 - staging.others))
    bulk = np.float32(0.75 * staging.main**0.4)
    mass += bulk * np.exp(-((side - scene.subject) ** 2) / 0.05 - ((far - 480) / 170) ** 2)
    aside = np.float32(0.35 * staging.others)
    mass += aside * smooth_step(0.5, 1.2, np.abs(side)) - 0.16 * cracked + 0.20 * (worn - 0.5)
    away = smooth_step(140, 330, far)
    heights = np.zeros((points, points), np.float32)
    for edge, tall in ((0.20, 30.0), (0.34, 46.0), (0.55, 44.0)):
        wall = smooth_step(edge, edge + 0.035, mass)
        rubble = smooth_step(edge - 0.17, edge + 0.01, mass)
        heights += np.float32(tall) * (0.62 * wall + 0.38 * rubble)
    heights *= np.float32(staging.part) * _fitting(
        scene, heights * np.float32(staging.part), side, z
    )
    floor = 7.0 * (worn - 0.5) + 2.0
    if "dunes" in scene.brief.things:
        floor = floor * np.float32(0.3) + dunes.drifts(scene, x, z)
    else:
        floor += _washes(scene, z)
    laid = np.asarray(np.minimum(heights * away + floor, 3.5 + 0.9 * z), np.float32)
    return parted(laid, scene, x, z)


def _fitting(scene: Vista, heights: Floats, side: Floats, z: Floats) -> np.float32:
    """Return the factor with which the tables end below the upper edge of the frame."""
    rise = 0.86 * scene.camera.horizon / scene.camera.focal
    shown = (np.abs(side) < 1.0) & (heights > 20.0) & (z > 200.0)
    room = scene.camera.height + rise * z + np.zeros_like(side)
    return np.float32(np.clip((room[shown] / heights[shown]).min(initial=1.0), 0.4, 1.0))


def _half(one: Oklch, other: Oklch) -> Oklch:
    """Return a color that is half as strong and half as light as another: dust lies on stones."""
    return (0.5 * (one[0] + other[0]), 0.5 * (one[1] + other[1]), one[2])


def _washes(scene: Vista, z: Floats) -> Floats:
    """Return dry river beds that wind through the plain, below its level."""
    rng, points = scene.dice(10), scene.points
    line = octave(rng, points, 7) + 0.35 * octave(rng, points, 19)
    return np.asarray(-2.6 * smooth_step(0.16, 0.03, np.abs(line)) * smooth_step(12, 50, z))


def _surface(land: Relief, grains: Grain) -> Heights:
    bumps = grains.bumps[..., 0]

    def heights(x: Floats, z: Floats) -> Floats:
        ground = land.height(x, z)
        near = int(np.searchsorted(z[:, 0], 130.0))
        ground[:near] += planting.tussocks(bumps, x[:near], z[:near])
        return ground

    return heights


def _strew(scene: Vista, planes: Floats, depth: Floats, land: Relief, progress: Progress) -> None:
    """Set stones, dry tufts and, where they are asked for, cacti on the plain."""
    rng, brief = scene.dice(6), scene.brief
    color = air.haze_color(scene.look, scene.sun, scene.camera)
    ground = _ground(brief, rocky=True)
    few = 0.3 if "close" in brief.composition else min(1.0, scene.staging.plants)
    stones = ((_half(ground.rock, ground.low), 0.6), (_half(ground.rock_other, ground.low), 0.4))
    scrub = (((0.56, 0.055, 92), 0.6), ((0.50, 0.050, 112), 0.4))
    things = [
        (
            "stone",
            planting.strewn(scene, land, stones, rng, count=round(420 * few), tall=1.15, **_STONY),
        ),
    ]
    if "mars" not in brief.things:
        things.append(
            ("tuft", planting.strewn(scene, land, scrub, rng, count=round(_SCRUB * few), tall=0.9))
        )
    if "cacti" in brief.things:
        green = (((0.44, 0.065, 135), 0.6), ((0.50, 0.065, 125), 0.4))
        cacti = planting.strewn(
            scene, land, green, rng, count=max(3, round(46 * few)), tall=6.0, **_UPRIGHT
        )
        things.append(("cactus", cacti))
    for step, (kind, what) in enumerate(things):
        plant(
            planes,
            depth,
            what,
            sprites(kind),
            scene.camera,
            color,
            rng,
            progress.part(step / len(things), (step + 1) / len(things)),
            mirrored=scene.toward[0] > 0,
        )
