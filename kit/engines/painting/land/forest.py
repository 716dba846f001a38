"""Forests from within: trunks in layers of haze, ferns below, light between; or from above."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import Oklch
from kit.engines.media.noise import smooth_step
from kit.engines.painting.land import ground, planting
from kit.engines.painting.land.ground import DRY, FOLIAGE, Ground, Land, Mix, Woods
from kit.engines.painting.land.landscape import Landscape, grid
from kit.engines.painting.noise import Plane, octave, worn_hills
from kit.engines.painting.painting import Painting
from kit.engines.painting.tints import of_land, turn_hue
from kit.engines.painting.tone import blend, light
from kit.engines.prompt.brief import Brief

#: Season -> colors of the floor, and of near leaves and ferns.
_SEASON_COLORS: dict[str, tuple[tuple[Oklch, ...], tuple[Oklch, ...], tuple[Oklch, ...]]] = {
    "summer": (
        ((0.40, 0.060, 122), (0.34, 0.035, 75)),
        ((0.47, 0.095, 128), (0.42, 0.080, 136)),
        ((0.50, 0.095, 124), (0.44, 0.080, 130)),
    ),
    "spring": (
        ((0.46, 0.080, 125), (0.38, 0.040, 80)),
        ((0.60, 0.120, 124), (0.52, 0.110, 130)),
        ((0.50, 0.095, 124), (0.44, 0.080, 130)),
    ),
    "autumn": (
        ((0.52, 0.105, 58), (0.42, 0.075, 48)),
        ((0.66, 0.135, 72), (0.58, 0.145, 52), (0.52, 0.140, 38)),
        ((0.66, 0.135, 72), (0.58, 0.145, 52), (0.52, 0.140, 38)),
    ),
    "winter": (
        ((0.92, 0.010, 245), (0.86, 0.014, 245)),
        ((0.80, 0.012, 235), (0.70, 0.014, 230)),
        ((0.80, 0.012, 235), (0.70, 0.014, 230)),
    ),
}
_BLOSSOMS: tuple[Oklch, ...] = ((0.86, 0.075, 355), (0.79, 0.105, 352), (0.92, 0.035, 10))
_AIR_DENSITY = 8.5  # density factor of the air under trees, with leaves, dust and damp
_TREE_COUNTS = {"low": 2600, "standard": 4000, "high": 6400}  # trees seen from above


@dataclass(frozen=True, slots=True)
class Wood:
    """The kind of a forest."""

    needles: bool
    bare: bool  # leafless trees in winter
    leaves: Mix
    ferns: Mix
    floor: tuple[Oklch, ...]


def paint(brief: Brief, progress: Progress) -> Painting:
    """Return a painted forest, seen from within, or from above with a high camera.

    Tree names choose needles or leaves.
    """
    wood = _wood_of(brief)
    if "high" in brief.composition:
        return _paint_canopy(brief, progress)
    scene = Landscape(brief, progress, horizon=0.56, height=2.4, focal=0.80, lowered=0.42)
    scene.mist, scene.clear = 0.12, 7.0
    look = scene.look
    green = (look.air[0] + 0.02, 0.045, 150.0)  # air lit through leaves
    scene.look = look = replace(
        look,
        air=green if look.elevation > 0.5 and not look.moon else look.air,
        haze=_AIR_DENSITY * (0.55 + 0.45 * look.haze),
        sun=(0.89, 0.110, 68) if 0 < look.elevation < 0.5 else look.sun,
        sun_power=0.8 * look.sun_power,
        clouds=0.5 * look.clouds,
        glow=max(look.glow, 0.30),
        film=replace(look.film, exposure=look.film.exposure * (1.9 if look.moon else 1.35)),
    )
    scene.paint_sky(0.15)
    dim = np.full(scene.light.shape[1:], 0.55, np.float32)
    if scene.sun.named:  # less of the sky is covered around a sun that is asked for
        away = scene.camera.distances((scene.sun.x, scene.sun.y), len(dim)) / scene.sun.radius
        dim *= smooth_step(0.2, 3.0, away)
    scene.light = blend(scene.light, scene.air, dim)
    rng, points = scene.rng(4), scene.points
    x, z = grid(points)
    heights = 5.5 * (worn_hills(rng, points, cells=26.0) - 0.5) * smooth_step(4, 40, z)
    heights += 5.0 * octave(rng, points, 15) * smooth_step(10, 80, z)
    heights += 0.0006 * np.maximum(np.abs(x) - 4.0, 0.0) ** 2
    scene.lay_out(np.asarray(np.minimum(heights, 0.5 + 0.045 * z), np.float32))
    # Sunlight through leaves is patchy.
    gaps = octave(rng, points, 210) + 0.5 * octave(rng, points, 60)
    scene.land.traits[..., 3] = 0.08 + 0.92 * smooth_step(0.05, 0.75, gaps)
    scene.trace_view(scene.land.height, 0.35, far=260.0, slices=scene.slices // 2)
    ground.paint_ground(scene, _floor(wood.floor, 0.6), ground.grain(scene.rng(5)), 0.5)
    _plant(scene, wood)
    rays = "rays" in brief.things or "dramatic" in scene.words
    shine = light(look.sun)
    shine = shine / shine.max() * (0.45 + 0.55 * look.glow) * (1.9 if rays else 1.0)
    scene.add_beams(scene.depth > 110.0, shine, 0.28)
    return scene.finish(beams=False)


def _wood_of(brief: Brief) -> Wood:
    """Return the trees that a brief names, or else those of its season and seed."""
    luck = float(np.random.default_rng([brief.seed, 2]).random())
    winter, tint = brief.season == "winter", of_land(brief)
    leafy = "leaves" in brief.things or (brief.season in ("autumn", "spring") and luck < 0.75)
    needles = "needles" in brief.things or not (leafy or luck < 0.4)
    needles = needles or (winter and "leaves" not in brief.things)
    floor, colors, ferns = _SEASON_COLORS[brief.season]
    if needles:
        colors = tuple(color for color, _ in FOLIAGE["winter" if winter else "summer"])
    colors = tuple(turn_hue(color, tint, 0.75) for color in colors)
    colors = _BLOSSOMS if "blossom" in brief.things and not needles else colors
    leaves, low = (
        tuple((color, 1.0) for color in own)
        for own in (colors, (turn_hue(color, tint, 0.6) for color in ferns))
    )
    return Wood(needles, winter and not needles, leaves, low, floor)


def _floor(colors: tuple[Oklch, ...], rough: float) -> Ground:
    """Return a ground of two colors."""
    low, other = colors
    return Ground(low, other, other, low, low, other, rough=rough, fine=1.6)


def _plant(scene: Landscape, wood: Wood) -> None:
    """Plant the forest in drawing order: far trees to near ferns."""
    rng, words, widest = scene.rng(6), scene.words, scene.camera.widest
    minimal, epic, birches = "minimal" in words, "dramatic" in words, scene.has("birches")
    plants = min(1.0, scene.framing["plants"])
    few = 0.10 if minimal else 0.55 if epic else plants  # a dramatic one has few giants
    nearer, winter = 0.55 if "close" in words else 1.0, scene.brief.season == "winter"
    bark: Mix = (((0.80, 0.012, 85) if birches else (0.43, 0.032, 58), 1.0),)
    far, trunk = "spruce" if wood.needles else "broadleaf", "birch" if birches else "trunk"

    def grow(colors: Mix, x: Plane, z: Plane, tall: tuple[float, float]) -> planting.Plants:
        high = rng.uniform(*tall, len(z))
        return planting.plants_at(scene, rng, x, z, high, colors, light_of=(0.34, 0.95)).sink(0.01)

    def scatter(
        colors: Mix,
        count: float,
        between: tuple[float, float],
        tall: tuple[float, float],
        clear: float = 0.0,
    ) -> planting.Plants:
        """Return plants all over the floor, except on a path through the middle."""
        near, end = between
        z = 1.0 / (1.0 / end + (1.0 / near - 1.0 / end) * rng.uniform(0, 1, round(count)) ** 1.6)
        x = rng.uniform(-1.15, 1.15, len(z)) * widest * z
        path = widest * 30.0 * clear * (0.35 + 0.65 * np.minimum(z / 30.0, 1.5))
        keep = np.abs(x - 0.10 * z * np.sin(z / 24.0 + scene.subject * 6)) > path
        keep &= _is_beside_sun(scene, x, z)
        return grow(colors, x[keep], z[keep], tall)

    if not wood.bare:
        back = scatter(wood.leaves, 26 if minimal else 260, (55, 190), (11, 24))
        planting.plant(scene, back, far, 0.56)
    tall = (47.0, 68.0) if epic else (26.0, 38.0)
    trunks = scatter(bark, 110 * few, (11.5 * nearer, 160.0), tall, 0.24 * nearer)
    planting.plant(scene, trunks, trunk, 0.68)
    if {"centered", "thirds"}.intersection(words) and not scene.sun.named:
        main = grow(bark, np.array([scene.subject * widest * 13.0]), np.array([13.0]), (40, 46))
        planting.plant(scene, main, trunk, 0.7)
    if not wood.bare:  # boughs and leaves around the upper parts of trunks
        which = np.repeat(np.arange(len(trunks.z)), 3 if minimal else 7)
        z = np.maximum(trunks.z[which] + rng.uniform(-1.5, 1.5, len(which)), 7.0)
        x = trunks.x[which] + rng.uniform(-3.4, 3.4, len(which))
        high = rng.uniform(2.4, 5.2, len(z))
        crowns = planting.plants_at(
            scene, rng, x, z, high, wood.leaves, light_of=(0.34, 0.95), least=0.5
        )
        foot = crowns.foot + rng.uniform(5.5, 20.0, len(z)).astype(np.float32)
        crowns = replace(crowns, foot=foot).keep(_is_beside_sun(scene, x, z))
        planting.plant(scene, crowns, "bough" if wood.needles else "leaves", 0.76)
    young = scatter(wood.leaves, 26 * min(few, 1.0), (14, 60), (1.6, 5.0), 0.35)
    planting.plant(scene, young, far, 0.78)
    count = min(few, plants) * (160 if winter else 620)
    low = scatter(wood.ferns, count, (2.6, 70), (0.25, 0.95), 0.10)
    planting.plant(scene, low, "tuft" if winter else "undergrowth", 0.85)


def _is_beside_sun(scene: Landscape, x: Plane, z: Plane) -> NDArray[np.bool_]:
    """Return a mask of plants that do not hide a sun or moon that is asked for."""
    column = scene.camera.columns / 2 + x * scene.camera.focal / z
    away = np.abs(column - scene.sun.x) > 2.2 * scene.sun.radius
    return np.asarray(away | (not scene.sun.named))


def lay_out(brief: Brief, progress: Progress) -> Land:
    """Return the land of a forest seen from above, up to hills in the haze."""
    scene = Landscape(brief, progress, horizon=0.42, height=20.0, raised=2.4)
    scene.look = replace(scene.look, haze=0.62 * scene.look.haze)  # the haze is thinner high up
    rng, points, wood = scene.rng(4), scene.points, _wood_of(brief)
    _, z = grid(points)
    swell = octave(rng, points, 5) + 0.6 * octave(rng, points, 11)
    heights = 26.0 * (worn_hills(rng, points, cells=6.0) - 0.5) + 15.0 * swell
    heights += (1.6 * heights + 40.0) * smooth_step(300, 720, z)
    most = 0.30 * scene.camera.height + 0.13 * z  # the view is down on near ground
    heights = np.minimum(heights, most - 0.25 * np.maximum(most - heights, 0.0))
    # Between crowns are other leaves in their shadow, or snow.
    (lightness, chroma, hue), winter = wood.leaves[0][0], brief.season == "winter"
    deep = (0.72 * lightness, 0.8 * chroma, hue), (0.72 * lightness + 0.1, chroma, hue - 18.0)
    floor = ((0.80, 0.014, 245.0), (0.88, 0.010, 245.0)) if winter else deep
    density = np.clip(0.80 + 1.1 * octave(scene.rng(16), 256, 22), 0.06, 1.0)
    kind = "spruce" if wood.needles else "broadleaf"
    woods = Woods(
        density.astype(np.float32),
        wood.leaves,
        (8.5, 15.0),
        kind,
        lowest=DRY,
        nearest=0.45 * scene.camera.nearest,
        clearing=-9.0,
    )
    raised = np.asarray(heights, np.float32)
    return Land(scene, raised, _floor(floor, 1.6), woods=woods, clouds=0.8)


def _paint_canopy(brief: Brief, progress: Progress) -> Painting:
    """Paint a forest from above, crown by crown."""
    land = lay_out(brief, progress)
    scene = land.scene
    scene.paint_sky(0.15)
    scene.lay_out(land.heights, clouds=land.clouds)
    scene.trace_view(scene.land.height, 0.45)
    ground.paint_ground(scene, land.ground, ground.grain(scene.rng(5)), 0.6)
    trees = planting.forest(scene, land.woods, scene.rng(6), count=_TREE_COUNTS[brief.detail])
    if brief.season != "winter":  # stands of one age have one color; snow is the same on all
        age = smooth_step(-0.6, 0.9, np.sin(trees.x / 41.0 + 2.0 * np.sin(trees.z / 67.0)))
        trees = replace(trees, color=np.asarray(trees.color * (0.68 + 0.65 * age), np.float32))
    # Only crowns are visible: their feet are below the ground, which represents the undergrowth.
    planting.plant(scene, trees.sink(0.32), land.woods.kind, 0.88)
    return scene.finish()
