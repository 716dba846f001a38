"""Mountain lakes, ranges and hills: terrain that is laid out before the camera, then seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import Floats
from kit.engines.media.noise import smooth_step
from kit.engines.painting.land import ground, planting
from kit.engines.painting.land.falls import carve, falls_of, pour, raise_mist
from kit.engines.painting.land.ground import FOLIAGE, GRASS, GROUNDS, Ground, mixed_to
from kit.engines.painting.land.landscape import Landscape
from kit.engines.painting.land.volcano import (
    ashen,
    cone_of,
    paint_lava,
    paint_smoke,
    raise_cone,
)
from kit.engines.painting.land.water import flood
from kit.engines.painting.noise import eroded, octave, ridged, stretched, warp
from kit.engines.painting.painting import Painting
from kit.engines.painting.relief import grid
from kit.engines.painting.tints import of_land, of_water, turned
from kit.engines.prompt.brief import Brief
from kit.engines.prompt.vocabulary import Tint

_CLOUDY, _GRAY = 0.42, 0.03  # how cloudy water of a color is; chroma below which it has none
_DRY = -1e3  # level of the water in a dry valley


def paint(brief: Brief, progress: Progress) -> Painting:
    """Return a painted mountain lake, range or hill country.

    Words for hills make it rolling; words for water fill its valley.
    """
    dice = np.random.default_rng([brief.seed, 2])
    luck, wooded = float(dice.random()), float(dice.uniform(0.5, 1.0))
    hills = "hills" in brief.things and "heights" not in brief.things
    wet = not brief.things.isdisjoint(("open_water", "waterfall"))
    flooded = wet or (not hills and luck < 0.6)
    peaks = float(dice.uniform(0.24, 0.34)) if hills else float(dice.uniform(0.95, 1.25))
    height = 6.5 if flooded else 9.0
    scene = Landscape(brief, progress, horizon=0.46, height=height, raised=7.0)
    scene.paint_sky(0.15)
    cone = cone_of(scene, away=560.0)
    paint_smoke(scene, cone)
    heights = _heights(scene, peaks, flooded=flooded)
    progress.report(0.3)
    heights = raise_cone(scene, heights, cone) if cone else heights
    falls = falls_of(scene)
    heights = carve(scene, heights, falls) if falls else heights
    scene.lay_out(heights)
    scene.cast_cloud_shadows((9, 21), 0.55 if scene.look.elevation < 0.5 else 0.42)
    progress.report(0.42)
    grains = ground.grain(scene.dice(5))
    scene.see(ground.rough(scene, grains, lowest=0.0 if flooded else -1e6), 0.55)
    tint, level = of_land(brief), 0.0 if flooded else _DRY
    own = _ground_of(brief.season, float(heights.max())).tinted(tint)
    own = ashen(scene, own, cone) if cone else own
    if falls:  # rock in layers, dark with spray and overgrown where it can be
        own = replace(own, bands=0.25, rough=1.5, steep=0.26, rock=(0.36, 0.020, 70))
    ground.cover(scene, own, grains, 0.7, water=level)
    _plant(scene, wooded * (0.5 if hills else 1.0), tint, hills=hills, level=level)
    paint_lava(scene, cone)
    if falls:
        pour(scene, falls)
    if flooded:
        _flood(scene)
    if falls:
        raise_mist(scene, falls)
    if "palms" in brief.things:
        _plant_bank(scene)
    return scene.finish()


def _ground_of(season: str, peak: float) -> Ground:
    own = GROUNDS[season]
    line = own.top_line * peak if peak > 70 or season == "winter" else 1e4
    return replace(own, top_line=max(line, 12.0))


def _heights(scene: Landscape, peaks: float, *, flooded: bool) -> Floats:
    """Return a near bank, a basin, walls to both sides, and a range with one main peak."""
    points, rng, framing = scene.points, scene.dice(4), scene.framing
    x, z = grid(scene.points)
    bend_x, bend_z = octave(rng, points, 6), octave(rng, points, 6)
    worn = eroded(rng, points, cells=5.0)
    # Branching crests over worn slopes, bent so that no line is straight.
    crests = warp(ridged(rng, points, cells=4.4), bend_x, bend_z, points / 1024 * 30)
    mass = stretched(0.66 * crests + 0.44 * worn)
    side = scene.side()
    outward, away = np.abs(side), z * np.float32(framing.near)
    range_ = smooth_step(290, 600, away + 60 * bend_x)
    range_ *= 0.50 + 0.50 * np.exp(-((side - scene.subject) ** 2) / 0.30)
    walls = smooth_step(0.45, 1.25, outward + 0.25 * bend_z) * smooth_step(60, 330, away)
    main = np.exp(-((side - scene.subject) ** 2) / 0.045 - ((away - 690) / 170) ** 2)
    heights = mass**1.25 * 235 * np.maximum(range_, 0.62 * walls) * np.float32(framing.others)
    heights += main * np.float32(95 * framing.main) * (0.35 + 0.9 * mass)
    floor = _floor(scene, rng, side, (bend_x, bend_z, worn), flooded=flooded)
    floor += 14 * (worn - 0.45) * smooth_step(120, 420, z)
    if peaks < 0.5:
        swell = octave(rng, points, 4.3) + 0.55 * octave(rng, points, 9)
        floor += 30 * np.maximum(swell + 0.1, 0.0) ** 1.3 * smooth_step(50, 190, z)
    heights *= peaks
    # The highest peak takes its part of the sky.
    rise = scene.camera.rise
    part = rng.uniform(0.58, 0.86) * min(1.0, rise)
    part = min(part * framing.part, max(part, 0.95 * rise))
    shown = (np.abs(x) < 1.02 * scene.camera.widest * z) & (z > 50) & (heights > 4)
    room = part * z + scene.camera.height - floor
    fit = (room[shown] / heights[shown]).min(initial=1.6 * framing.part)
    return scene.part_for_sun(heights * np.float32(np.clip(fit, 0.15, 3.0)) + floor)


def _floor(
    scene: Landscape,
    rng: np.random.Generator,
    side: Floats,
    fields: tuple[Floats, Floats, Floats],
    *,
    flooded: bool,
) -> Floats:
    """Return a basin for the water or a meadow, and a bank on one side in front."""
    _, z = grid(scene.points)
    bend_x, bend_z, worn = fields
    camera = scene.camera
    floor = 6.0 * (worn - 0.5) + 1.5
    if flooded:
        back, beside = (24, 26) if "minimal" not in scene.words else (13, 0)
        away = z * np.float32(scene.framing.near)
        floor = floor - 10.0 + back * smooth_step(250, 470, away + 80 * bend_z + 60 * bend_x)
        outward = np.abs(side) + 0.22 * bend_x
        floor += beside * smooth_step(0.55, 1.05, outward) * smooth_step(40, 170, away)
        # From high up the frame begins far off: the bank lies as much farther away.
        wide = camera.nearest / 11.0 if "high" in scene.words else 1.0
        reach = float(rng.uniform(4, 22)) - 36 * float(np.sign(scene.subject)) * side + 12 * bend_x
        reach += 24.0 * scene.has("palms")  # they stand on a bank near by
        bank = 9.5 + 0.45 * min(camera.height, 12.0)
        floor += bank * smooth_step(10, -16, z / np.float32(wide) - reach)
    else:
        floor += 9.0 * bend_x * smooth_step(40, 200, z) + 3.0 * bend_z + 2.0
        floor = np.minimum(floor, 3.0 + 0.16 * z)
    # One looks down on ground before the camera.
    over = np.maximum(floor - np.float32(0.66 * camera.height) - z * np.float32(0.05), 0.0)
    return np.asarray(floor - 0.85 * over * smooth_step(120, 40, z), np.float32)


def _plant(
    scene: Landscape, wooded: float, tint: Tint | None, *, hills: bool, level: float
) -> None:
    """Plant forests on the slopes, and grass in front."""
    rng, season, framing = scene.dice(6), scene.brief.season, scene.framing
    low, high = (2.4, 8.2) if hills else (4.0, 7.5)
    clumps = 0.5 + 0.9 * octave(rng, 256, 22) + 0.6 * octave(rng, 256, 60)
    density = np.clip(clumps * wooded + 0.12, 0.03, 1.0).astype(np.float32)
    trees = planting.forest(
        scene,
        mixed_to(FOLIAGE[season], tint),
        rng,
        count=round(5200 * framing.plants),
        tall=(low * framing.grown, high * framing.grown),
        nearest=38.0 if hills else 30.0,
        shy=1.0 if hills else 0.0,
        density=density,
        line=max(40.0, 0.36 * float(scene.land.heights.max())),
    )
    tropical = scene.has("palms")
    planting.plant(scene, trees, "broadleaf" if hills or tropical else "spruce", 0.76)
    if tropical:
        some = trees.kept((np.arange(len(trees.z)) % 3 == 0) & (trees.z > 60))
        every = np.ones(len(some.z), bool)
        grove = planting.palms(scene, some.x, some.z, 1.6 * some.tall, every, scene.subject)
        planting.plant(scene, grove, "palm", 0.78)
    grass = planting.strew(
        scene,
        mixed_to(GRASS[season], tint),
        rng,
        count=round(1500 * min(1.0, framing.plants)),
        tall=0.62 * max(1.0, framing.grown),
        lowest=max(level, _DRY) + 0.5,
    )
    planting.plant(scene, grass, "tuft", 0.8)


def _plant_bank(scene: Landscape) -> None:
    """Plant a few palms between the eye and the lake; the middle of the view stays open."""
    rng, most = scene.dice(41), 2 if "minimal" in scene.words else 6
    z = rng.uniform(15.0, 60.0, 90)
    side = rng.choice([-1.0, 1.0], 90) * rng.uniform(0.35, 0.95, 90)
    x = side * scene.camera.widest * z
    keep = scene.land.height(x, z) > 0.4
    keep = planting.apart(side, keep, most)
    grove = planting.palms(scene, x, z, rng.uniform(9.0, 13.0, 90), keep, scene.subject)
    planting.plant(scene, grove, "palm", 0.9)


def _flood(scene: Landscape) -> None:
    view = scene.view
    depth = -scene.land.height(view.x, view.z)
    # Between two slices a sheer cliff is neither in nor out of the water.
    wet: NDArray[np.bool_] = ~view.sky & (depth > 0.0) & (view.height < 0.4)
    wet &= scene.depth > view.z * 0.999
    calm = scene.brief.mood == "calm" or scene.has("still_water")
    tint = of_water(scene.brief)
    cloudy = _CLOUDY if tint and tint[1] > _GRAY else 0.0
    shine = 0.26 * min(1.0, scene.look.sun_power / 3.0) if cloudy else 0.0
    deep = turned((0.40 + shine, 0.065, 215), tint, 0.9)
    rough = 2.2 if scene.brief.weather == "rain" else 0.35 if calm else 0.9
    flood(scene, wet, depth, deep=deep, cloudy=cloudy, wind=rough)
