"""Forests from within: trunks in layers of haze, leaves above, ferns below, light between."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import Floats, Oklch
from kit.engines.media.noise import smooth_step
from kit.engines.painting.land import air, canopy, sky
from kit.engines.painting.land.cover import covered
from kit.engines.painting.land.ground import grain, overgrown
from kit.engines.painting.land.library import sprites
from kit.engines.painting.land.look import Look
from kit.engines.painting.land.relief import Relief, grid, relief
from kit.engines.painting.land.sky import radius_of
from kit.engines.painting.land.sprites import Sprite
from kit.engines.painting.land.stand import Trees, plant
from kit.engines.painting.land.vista import Vista, finished, vista
from kit.engines.painting.land.voxel import seen
from kit.engines.painting.land.woods import LEAVES, Wood, leaves_of, wood_of
from kit.engines.painting.noise import Plane, eroded, octave
from kit.engines.painting.painting import Painting
from kit.engines.painting.tints import of_land, turned
from kit.engines.painting.tone import light
from kit.engines.prompt.brief import Brief

_FAR = 260.0
_BARE = 0.10  # share of the trees that a minimal picture keeps
_BOUGHS, _FEW_BOUGHS = 7, 3  # of a tree; in a minimal picture
_GIANTS = 0.55  # share of them of which an epic one makes giants
_SIZES = {"dramatic": 1.8}  # factor on trunks
_NEARER = 0.55  # factor on the distance of the nearest trunk
_AWAY, _TALL = 13.0, (40.0, 46.0)  # of the one tree of a picture that has a place for it
_OPENING = 2.2  # radii of a sun on both sides of which nothing stands
_NEAR = 7.0  # the air begins here
_AIR = 8.5  # under trees the air is looked at through more leaves, dust and damp
_FLOORS = {
    "summer": ((0.40, 0.060, 122), (0.34, 0.035, 75)),
    "spring": ((0.46, 0.080, 125), (0.38, 0.040, 80)),
    "autumn": ((0.52, 0.105, 58), (0.42, 0.075, 48)),
    "winter": ((0.92, 0.010, 245), (0.86, 0.014, 245)),
}


def paint(brief: Brief, progress: Progress) -> Painting:
    """Return a painted forest, seen from within or from above.

    Parameters
    ----------
    brief : Brief
        Names of trees choose needles or leaves; from high up the forest is seen from above.
    """
    if "high" in brief.composition:
        return canopy.paint(brief, progress)
    wood = wood_of(brief)
    scene = vista(brief, horizon=0.56, height=2.4, focal=0.80, lowered=0.42)
    scene = replace(scene, look=_inside(scene))
    painting = progress.part(0.0, 0.15)
    planes = sky.painted(
        scene.look, scene.camera, scene.sun, scene.dice(3), painting, scene.motions
    )
    color = air.haze_color(scene.look, scene.sun, scene.camera)
    planes = air.hazed(planes, _dimness(scene, planes.shape[1:]), color)
    progress.report(0.15)
    land = _floor(scene)
    grains = grain(scene.dice(5))
    progress.report(0.25)
    looking = progress.part(0.25, 0.35)
    view = seen(land.height, scene.camera, looking, far=_FAR, slices=scene.slices // 2)
    progress.report(0.35)
    shading = progress.part(0.35, 0.5)
    ground = overgrown(*_FLOORS[brief.season], rough=0.6, fine=1.6)
    covered(scene, shading, planes, view, land, ground, grains, mist=0.12, start=_NEAR)
    depth = view.z.copy()
    layers, planting = _layers(scene, land, wood), progress.part(0.5, 0.85)
    for step, (trees, shapes) in enumerate(layers):
        plant(
            planes,
            depth,
            trees,
            shapes,
            scene.camera,
            color,
            scene.dice(40 + step),
            planting.part(step / len(layers), (step + 1) / len(layers)),
            mirrored=scene.toward[0] > 0,
        )
    progress.report(0.85)
    far = depth > 110.0
    shine = light(scene.look.sun)
    rays = "rays" in brief.things or "dramatic" in brief.composition
    shine = shine / shine.max() * (0.45 + 0.55 * scene.look.glow) * (1.9 if rays else 1.0)
    air.beams(planes, planes * far, scene.sun, shine, floor=0.28)
    return finished(scene, progress.part(0.9, 1.0), planes, depth, np.zeros_like(view.sky))


def _dimness(scene: Vista, shape: tuple[int, ...]) -> Floats:
    """Return how much of the sky is lost in the air: less around a sun that is asked for."""
    lost = np.full(shape, 0.55, np.float32)
    if scene.sun.named:
        y, x = np.indices(shape, np.float32)
        away = np.hypot(x - scene.sun.x, y - scene.sun.y) / radius_of(scene.sun, scene.camera)
        lost *= smooth_step(0.2, 3.0, away)
    return lost


def _inside(scene: Vista) -> Look:
    """Return the look under trees: thick bright air, little direct light."""
    look = scene.look
    return replace(
        look,
        air=_greened(look.air) if look.elevation > 0.5 and not look.moon else look.air,
        haze=_AIR * (0.55 + 0.45 * look.haze),
        sun=(0.89, 0.110, 68) if 0 < look.elevation < 0.5 else look.sun,
        sun_power=0.8 * look.sun_power,
        clouds=0.5 * look.clouds,
        glow=max(look.glow, 0.30),
        exposure=look.exposure * (1.9 if look.moon else 1.35),
    )


def _greened(air: Oklch) -> Oklch:
    """Return the color of air that is lit through leaves."""
    return (air[0] + 0.02, 0.045, 150.0)


def _floor(scene: Vista) -> Relief:
    """Return gentle ground with sunlight that falls through leaves in patches."""
    rng, points = scene.dice(4), scene.points
    x, z = grid(points)
    heights = 5.5 * (eroded(rng, points, cells=26.0) - 0.5) * smooth_step(4, 40, z)
    heights += 5.0 * octave(rng, points, 15) * smooth_step(10, 80, z)
    heights += 0.0006 * np.maximum(np.abs(x) - 4.0, 0.0) ** 2
    heights = np.minimum(heights, 0.5 + 0.045 * z)
    land = relief(np.asarray(heights, np.float32), scene.toward)
    dapple = smooth_step(0.05, 0.75, octave(rng, points, 210) + 0.5 * octave(rng, points, 60))
    land.traits[..., 3] = 0.08 + 0.92 * dapple
    return land


def _layers(scene: Vista, land: Relief, wood: Wood) -> list[tuple[Trees, tuple[Sprite, ...]]]:
    """Return what stands in the forest in the order it is drawn: far trees to near ferns."""
    season, rng = scene.brief.season, scene.dice(6)
    words, plants = scene.brief.composition, min(1.0, scene.staging.plants)
    few = _BARE if "minimal" in words else _GIANTS if "dramatic" in words else plants
    large = _SIZES["dramatic"] if "dramatic" in words else 1.0
    nearer = _NEARER if "close" in words else 1.0
    bark = (0.80, 0.012, 85) if wood.birch else (0.43, 0.032, 58)
    near = sprites("birch" if wood.birch else "trunk")
    crowns = sprites("bough" if wood.needles else "leaves")
    tint = of_land(scene.brief)
    leaves = leaves_of(scene.brief, wood)
    far = sprites("spruce" if wood.needles else "broadleaf")
    layers: list[tuple[Trees, tuple[Sprite, ...]]] = []
    if not wood.bare:
        back = round(260 * _BARE) if few == _BARE else 260
        layers.append((_placed(scene, land, rng, leaves, back, (55, 190), (11, 24)), far))
    tall, clear = (26 * large, 38 * large), 0.24 * nearer
    count = round(110 * few)
    boles = _placed(scene, land, rng, (bark,), count, (11.5 * nearer, 160), tall, clear=clear)
    if {"centered", "thirds"}.intersection(words) and not scene.sun.named:
        spot = np.array([scene.subject * scene.camera.widest * _AWAY]), np.array([_AWAY])
        boles = boles.joined(_grown(scene, land, scene.dice(12), (bark,), spot, _TALL))
    layers.append((boles, near))
    if not wood.bare:
        layers.append((_canopy(scene, boles, rng, leaves), crowns))
    count = round(26 * min(few, 1.0))
    young = _placed(scene, land, rng, leaves, count, (14, 60), (1.6, 5.0), clear=0.35)
    layers.append((young, far))
    green: tuple[Oklch, ...] = ((0.50, 0.095, 124), (0.44, 0.080, 130))
    green = LEAVES[season] if season in ("autumn", "winter") else green
    green = tuple(turned(color, tint, 0.6) for color in green)
    fronds = sprites("tuft") if season == "winter" else (*sprites("fern"), *sprites("tuft")[:2])
    count = round(min(few, plants) * (160 if season == "winter" else 620))
    low = _placed(scene, land, rng, green, count, (2.6, 70), (0.25, 0.95), clear=0.10)
    layers.append((low, fronds))
    return layers


def _placed(
    scene: Vista,
    land: Relief,
    rng: np.random.Generator,
    colors: tuple[Oklch, ...],
    count: int,
    between: tuple[float, float],
    tall: tuple[float, float],
    *,
    clear: float = 0.0,
) -> Trees:
    """Return plants scattered over the floor, with a path left free through the middle."""
    share = rng.uniform(0, 1, count)
    z = 1.0 / (1.0 / between[1] + (1.0 / between[0] - 1.0 / between[1]) * share**1.6)
    x = rng.uniform(-1.15, 1.15, count) * scene.camera.widest * z
    path = scene.camera.widest * 30.0 * clear * (0.35 + 0.65 * np.minimum(z / 30.0, 1.5))
    bend = 0.10 * z * np.sin(z / 24.0 + scene.subject * 6)
    keep = np.abs(x - bend) > path
    keep &= _apart(scene, x, z)
    return _grown(scene, land, rng, colors, (x[keep], z[keep]), tall)


def _grown(
    scene: Vista,
    land: Relief,
    rng: np.random.Generator,
    colors: tuple[Oklch, ...],
    places: tuple[Plane, Plane],
    tall: tuple[float, float],
) -> Trees:
    """Return plants as they stand at places, x and z, in the light."""
    right, away = (place.astype(np.float32) for place in places)
    foot = land.height(right[None], away[None])[0] - np.float32(0.15)
    lit = land.at(right[None], away[None])[0][:, 3]
    high = rng.uniform(*tall, len(away)).astype(np.float32)
    color = _colored(scene, rng, colors, lit)
    return Trees(right, away, foot, high, color, _lost(scene, away, foot))


def _apart(scene: Vista, x: Plane, z: Plane) -> NDArray[np.bool_]:
    """Return which plants do not stand before a sun or moon that is asked for."""
    sun = scene.sun
    if not sun.named:
        return np.ones(x.shape, np.bool_)
    column = scene.camera.columns / 2 + x * scene.camera.focal / z
    return np.abs(column - sun.x) > _OPENING * radius_of(sun, scene.camera)


def _canopy(
    scene: Vista, boles: Trees, rng: np.random.Generator, colors: tuple[Oklch, ...]
) -> Trees:
    """Return boughs and leaves around the upper parts of trunks, open toward the middle."""
    per = _FEW_BOUGHS if "minimal" in scene.brief.composition else _BOUGHS
    which = np.repeat(np.arange(len(boles.z)), per)
    z = boles.z[which] + rng.uniform(-1.5, 1.5, len(which)).astype(np.float32)
    x = boles.x[which] + rng.uniform(-3.4, 3.4, len(which)).astype(np.float32)
    foot = boles.foot[which] + rng.uniform(5.5, 20.0, len(which)).astype(np.float32)
    z = np.maximum(z, 7.0).astype(np.float32)
    tall = rng.uniform(2.4, 5.2, len(z)).astype(np.float32)
    lit = rng.uniform(0.1, 1.0, len(z)).astype(np.float32)
    boughs = Trees(x, z, foot, tall, _colored(scene, rng, colors, lit), _lost(scene, z, foot))
    return boughs.kept(_apart(scene, x, z)) if scene.sun.named else boughs


def _colored(
    scene: Vista, rng: np.random.Generator, colors: tuple[Oklch, ...], lit: Floats
) -> Floats:
    palette = np.stack([light(color)[:, 0, 0] for color in colors], axis=1)
    own = palette[:, rng.integers(0, len(colors), len(lit))] * rng.uniform(0.75, 1.2, len(lit))
    sunny = light(scene.look.sun, 0.34 * scene.look.sun_power)[:, 0]
    shady = light(scene.look.shade, 0.95 * scene.look.shade_power)[:, 0]
    return np.asarray(own * (sunny * lit + shady), np.float32)


def _lost(scene: Vista, z: Floats, height: Floats) -> Floats:
    return air.haze(scene.look, z, height + 2.0, mist=0.12, start=_NEAR)
