"""Coasts: what land a sea has, how it lies and what it is made of."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kit.engines.media.color import Floats, Oklch
from kit.engines.media.noise import smooth_step
from kit.engines.painting.land import grove, volcano
from kit.engines.painting.land.ground import Ground, tinted
from kit.engines.painting.land.relief import grid
from kit.engines.painting.land.seasons import GROUNDS
from kit.engines.painting.land.staging import Staging, parted
from kit.engines.painting.land.vessels import tower_size
from kit.engines.painting.land.vista import Vista
from kit.engines.painting.land.volcano import Cone
from kit.engines.painting.noise import eroded, octave, ridged
from kit.engines.painting.tints import of_land, of_water, turned
from kit.engines.prompt.brief import Brief

_BOTTOM = -12.0  # height of the bottom of an open sea
_AWAY = 430.0  # of a volcano in the sea


@dataclass(frozen=True, slots=True)
class Coast:
    """What besides water there is.

    Parameters
    ----------
    land : str
        none, isles, cliffs or beach.
    sail, tower, palms : bool
        There is a sailing boat, a lighthouse; palms stand on the land.
    isles : bool
        Islands lie off a beach.
    """

    land: str
    sail: bool
    tower: bool
    palms: bool
    isles: bool


def coast_of(brief: Brief) -> Coast:
    """Return the coast that a brief's words name, else what its seed draws."""
    dice = np.random.default_rng([brief.seed, 2])
    open_ = str(dice.choice(["none", "none", "isles", "cliffs"]))
    named = [thing for thing in ("cliffs", "islands", "beach") if thing in brief.things]
    said = {"islands": "isles"}.get(named[0], named[0]) if named else open_
    sail = "sailboat" in brief.things
    if "minimal" in brief.composition and not named:
        said = "none" if sail else "isles"
    if "dramatic" in brief.composition and said == "none":
        said = "isles"  # something that towers
    tower, palms = "lighthouse" in brief.things, "palms" in brief.things
    if palms and not tower:  # whoever wants palms wants to stand among them
        said = "beach"
    if "volcano" in brief.things and said == "none":
        said = "isles"
    isles = said == "beach" and "islands" in brief.things
    return Coast(said, sail, tower, palms, isles)


def cone_of(scene: Vista) -> Cone | None:
    """Return the volcano that rises out of the sea, if one is asked for."""
    return volcano.cone_of(scene, away=_AWAY, foot=_BOTTOM)


def ground_of(brief: Brief, coast: Coast, cone: Cone | None) -> Ground:
    """Return what a coast is made of."""
    ground = tinted(GROUNDS[brief.season], of_land(brief), rocks=0.25)
    sand: Oklch = (0.74, 0.055, 82)
    if coast.land == "beach":
        low: Oklch = (0.72, 0.055, 80)
        if brief.season == "winter":
            low = ground.low
        elif coast.palms:  # the sand of corals
            low, sand = (0.77, 0.045, 82), (0.80, 0.045, 84)
        beach = replace(
            ground, low=low, low_other=sand, shore=(0.56, 0.05, 75), top_line=1e4, rough=0.4
        )
        return _far_land(beach, ground, cone, brief) if cone or coast.isles else beach
    rocky = replace(
        ground,
        top_line=1e4 if brief.season != "winter" else 20.0,
        shore=(0.40, 0.02, 70),
        rock=(0.40, 0.022, 60),
        rock_other=(0.64, 0.030, 75),
        bands=0.55,
        rough=1.5,
        steep=0.24,
    )
    return volcano.ground_with(rocky, cone, brief) if cone else rocky


def _far_land(beach: Ground, own: Ground, cone: Cone | None, brief: Brief) -> Ground:
    """Return a beach whose steep land, far off, is overgrown."""
    if cone:
        dark = volcano.ground_with(beach, cone, brief)
        return replace(dark, rock=own.low, rock_other=own.rock, steep=0.07)
    return replace(beach, rock=own.low, rock_other=own.low_other, steep=0.07)


def laid_out(scene: Vista, coast: Coast, cone: Cone | None) -> Floats:
    """Return heights of the bottom and the land, below 0 where the sea lies over it."""
    heights = parted(_heights(scene, coast, cone), scene, *grid(scene.points))
    return volcano.raised(heights, cone, scene) if cone else heights


def _heights(scene: Vista, coast: Coast, cone: Cone | None) -> Floats:
    points, rng = scene.points, scene.dice(4)
    x, z = grid(points)
    bottom = np.full((points, points), _BOTTOM, np.float32)
    if coast.land == "none":
        return bottom
    side = x / (scene.camera.widest * (z + 40.0))
    bend = octave(rng, points, 7)
    worn = eroded(rng, points, cells=8.0)
    if coast.land == "beach":
        hand = np.float32(grove.hand_of(scene))
        reach = 20.0 + 62.0 * hand * side + 9.0 * bend
        if coast.palms:  # a grove wants ground that runs off along the shore
            reach += 150.0 * smooth_step(0.22, 0.95, hand * side)
        heights = (reach - z) * np.float32(0.055) + 0.5 * (worn - 0.5)
        dunes = 9.0 * smooth_step(0.55, 1.15, hand * side) * smooth_step(20, 130, z)
        beach = np.minimum(heights, 1.4 + 0.01 * (reach - z)) + dunes * (0.4 + worn)
        if not coast.isles or cone:
            return np.asarray(beach, np.float32)
        isles = _isles(scene, scene.dice(14), (side, bend, worn), away=520.0)
        return np.asarray(np.maximum(beach, isles), np.float32)
    rock = 0.55 * ridged(rng, points, cells=8.0) + 0.6 * worn
    if coast.land == "isles":
        if cone:  # what lies around it is low
            rock = rock * np.float32(0.35)
        return _isles(scene, rng, (side, bend, rock), away=420.0)
    return _cliffs(scene, side, bend, rock)


def _isles(
    scene: Vista,
    rng: np.random.Generator,
    fields: tuple[Floats, Floats, Floats],
    *,
    away: float,
) -> Floats:
    side, bend, rock = fields
    _, z = grid(scene.points)
    staging = scene.staging
    far = z * np.float32(staging.near)
    mass = octave(rng, scene.points, 8)
    mass += 0.8 * bend * 0.4
    if staging.others < 1.0:  # fewer of the others come out of the water
        mass = mass * np.float32(0.3 + 0.7 * staging.others) - np.float32(1.0 - staging.others) / 2
    bulk = np.float32(0.9 * staging.main ** (0.9 if staging.others > 0.5 else 1.25))
    wide = 0.05 if staging.others > 0.5 else 0.035
    mass += bulk * np.exp(-((side - scene.subject) ** 2) / wide - ((far - away) / 120) ** 2)
    lift = smooth_step(0.45, 1.1, mass) * smooth_step(away - 290.0, away - 160.0, far)
    tall = 10 + 84 * rock**1.3
    if staging.part != 1.0:
        tall = tall * _stature(scene, side, staging)
    return np.asarray(-9.0 + lift * tall, np.float32)


def _stature(scene: Vista, side: Floats, staging: Staging) -> Floats:
    """Return the factor on the height of islands: most for the one that is the subject."""
    main = np.exp(-((side - scene.subject) ** 2) / 0.03)
    towering = "dramatic" in scene.brief.composition
    part = np.float32(staging.part ** (3.2 if towering else 1.0 - 0.7 * (staging.near > 1.0)))
    return np.asarray(1.0 + (part - 1.0) * main)


def _cliffs(scene: Vista, side: Floats, bend: Floats, rock: Floats) -> Floats:
    """Return a headland on one side that runs back into the distance, with a stack before it."""
    _, z = grid(scene.points)
    hand = np.float32(np.sign(scene.subject or 1.0))
    staging = scene.staging
    tower = "lighthouse" in scene.brief.things
    back = 0.34 * (staging.others < 0.5 and not tower)  # of the headland, beyond the side
    back -= 0.16 * ("dramatic" in scene.brief.composition) + 0.3 * (staging.near > 1.0)
    tall = np.float32(1.0 if tower else max(1.0, staging.part) ** 2.2)
    far = z * np.float32(staging.near)
    edge = hand * side - np.float32(0.42 + back) + 0.24 * bend + 0.34 * (rock - 0.5)
    wall = smooth_step(0.0, 0.13, edge) * smooth_step(36, 90, far)
    heights = -9.0 + wall * (26 + 30 * rock) * tall + 14 * smooth_step(0.1, 0.6, edge)
    stack = np.exp(-((hand * side - 0.16) ** 2) / 0.0022 - ((far - 190) / 17) ** 2)
    heights += smooth_step(0.25, 0.5, stack * (0.6 + 0.8 * rock)) * (18 + 26 * rock) * tall
    # A wide frame shows less of the height; a tower wants room above the cliff.
    room = 0.70 / tower_size(scene) ** 0.5 if tower else 0.90
    steep = min(0.40 * staging.part**0.8, room * scene.camera.horizon / scene.camera.focal)
    ceiling = np.float32(steep) * np.maximum(z, 10.0)
    return np.asarray(np.minimum(heights, ceiling), np.float32)


def colors_of(brief: Brief, coast: Coast) -> tuple[Oklch, Oklch]:
    """Return the colors of deep and of shallow water."""
    tint = of_water(brief)
    tropical = coast.palms or "tropical" in brief.things
    if tropical:
        deep, shallow = (0.46, 0.090, 220), (0.76, 0.110, 195)
    elif brief.covered:
        deep, shallow = (0.43, 0.055, 222), (0.64, 0.080, 190)
    else:
        deep, shallow = (0.33, 0.060, 238), (0.60, 0.085, 198)
    return turned(deep, tint, 0.8), turned(shallow, tint, 0.6)
