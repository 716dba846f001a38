"""Mountain lakes, ranges and hills: terrain that is laid out before the camera, then seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import Floats
from kit.engines.media.noise import smooth_step
from kit.engines.painting.land import (
    air,
    eruption,
    falls,
    grove,
    palmery,
    planting,
    sky,
    volcano,
    water,
)
from kit.engines.painting.land.cover import covered
from kit.engines.painting.land.ground import Grain, grain, tinted
from kit.engines.painting.land.library import sprites
from kit.engines.painting.land.relief import Relief, grid, relief
from kit.engines.painting.land.seasons import FOLIAGE, GRASS, ground_of, mixed_to
from kit.engines.painting.land.stand import plant
from kit.engines.painting.land.valley import Country, country_of, laid_out
from kit.engines.painting.land.vista import FAR, Vista, finished, vista
from kit.engines.painting.land.voxel import Heights, Seen, seen
from kit.engines.painting.noise import octave
from kit.engines.painting.painting import Painting
from kit.engines.painting.tints import of_land, of_water, turned
from kit.engines.prompt.brief import Brief

_CLOUDY, _GRAY = 0.42, 0.03  # how cloudy water of a color is; chroma below which it has none
_LOW = -1e3  # as high as any ground of a dry valley


def paint(brief: Brief, progress: Progress) -> Painting:
    """Return a painted mountain lake, range or hill country.

    Parameters
    ----------
    brief : Brief
        Words for hills make it rolling; words for water fill its valley.
    """
    country = country_of(brief, np.random.default_rng([brief.seed, 2]))
    height = 6.5 if country.flooded else 9.0
    scene = vista(brief, horizon=0.46, height=height, raised=7.0)
    painting = progress.part(0.0, 0.15)
    planes = sky.painted(
        scene.look, scene.camera, scene.sun, scene.dice(3), painting, scene.motions
    )
    cone = volcano.cone_of(scene, away=560.0)
    eruption.smoke(scene, planes, cone)
    overhead = water.sky_over(planes)
    progress.report(0.15)
    heights = laid_out(scene, country, progress.part(0.15, 0.35))
    heights = volcano.raised(heights, cone, scene) if cone else heights
    drop = falls.falls_of(scene)
    heights = falls.carved(heights, drop, scene) if drop else heights
    progress.report(0.35)
    land = relief(heights, scene.toward)
    _cloud_shadows(scene, land)
    progress.report(0.45)
    grains = grain(scene.dice(5))
    looking = progress.part(0.45, 0.55)
    view = seen(
        _surface(land, grains, country), scene.camera, looking, far=FAR, slices=scene.slices
    )
    progress.report(0.55)
    tint = of_land(brief)
    ground = tinted(ground_of(brief.season, peak=float(heights.max())), tint, rocks=0.25)
    ground = volcano.ground_with(ground, cone, brief) if cone else ground
    ground = falls.ground_with(ground) if drop else ground
    level = 0.0 if country.flooded else -1e3
    covered(scene, progress.part(0.55, 0.7), planes, view, land, ground, grains, water=level)
    depth = view.z.copy()
    _grow(scene, planes, depth, land, country, progress.part(0.7, 0.8))
    eruption.lava(scene, planes, cone, view, depth)
    if drop:
        falls.poured(scene, planes, depth, land, drop)
    progress.report(0.8)
    wet = None
    if country.flooded:
        wet = _flood(scene, planes, depth, view, land, overhead, progress.part(0.8, 0.86))
    if drop:
        falls.foaming(scene, planes, depth, land, drop)
    if "palms" in brief.things:
        near = grove.on_bank(scene, land)
        palmery.planted(scene, planes, depth, land, near, progress.part(0.86, 0.88))
    progress.report(0.88)
    return finished(scene, progress.part(0.88, 1.0), planes, depth, view.sky, wet)


def _cloud_shadows(scene: Vista, land: Relief) -> None:
    """Let clouds lay their shadows over the land, in place: pools of light lead the eye."""
    rng, points = scene.dice(9), scene.points
    gaps = octave(rng, points, 9) + 0.5 * octave(rng, points, 21)
    # What stands right before the camera is lit, as a stage is.
    reach = smooth_step(50, 150, grid(points)[1])
    strength = np.float32(0.55 if scene.look.elevation < 0.5 else 0.42)
    land.traits[..., 3] *= 1.0 - strength * smooth_step(0.0, -0.5, gaps) * reach


def _surface(land: Relief, grains: Grain, country: Country) -> Heights:
    """Return heights to look at: the map, stones and tussocks near by, the water's level."""
    lowest = np.float32(0.0 if country.flooded else -1e6)
    bumps = grains.bumps[..., 0]

    def heights(x: Floats, z: Floats) -> Floats:
        ground = land.height(x, z)
        near = int(np.searchsorted(z[:, 0], 130.0))
        fine = planting.tussocks(bumps, x[:near], z[:near])
        ground[:near] += fine
        return np.maximum(ground, lowest)

    return heights


def _grow(
    scene: Vista,
    planes: Floats,
    depth: Floats,
    land: Relief,
    country: Country,
    progress: Progress,
) -> None:
    """Plant forests on the slopes, and grass in front."""
    rng, season = scene.dice(6), scene.brief.season
    staging, (low, high) = scene.staging, (2.4, 8.2) if country.peaks < 0.5 else (4.0, 7.5)
    color = air.haze_color(scene.look, scene.sun, scene.camera)
    clumps = 0.5 + 0.9 * octave(rng, 256, 22) + 0.6 * octave(rng, 256, 60)
    density = np.clip(clumps * country.wooded + 0.12, 0.03, 1.0).astype(np.float32)
    trees = planting.forest(
        scene,
        land,
        mixed_to(FOLIAGE[season], of_land(scene.brief)),
        rng,
        count=round(5200 * staging.plants),
        tall=(low * staging.grown, high * staging.grown),
        nearest=38.0 if country.peaks < 0.5 else 30.0,
        shy=1.0 if country.peaks < 0.5 else 0.0,
        density=density,
        line=max(40.0, 0.36 * float(land.heights.max())),
    )
    palms = "palms" in scene.brief.things
    shapes = sprites("broadleaf" if country.peaks < 0.5 or palms else "spruce")
    right = scene.toward[0] > 0
    standing, lying = progress.part(0.0, 0.5), progress.part(0.7, 1.0)
    plant(planes, depth, trees, shapes, scene.camera, color, rng, standing, mirrored=right)
    if palms:
        palmery.in_valley(scene, planes, depth, land, density, progress.part(0.5, 0.7))
    grass = planting.strewn(
        scene,
        land,
        mixed_to(GRASS[season], of_land(scene.brief)),
        rng,
        count=round(1500 * min(1.0, staging.plants)),
        tall=0.62 * max(1.0, staging.grown),
        lowest=0.5 if country.flooded else _LOW,
    )
    tufts = sprites("tuft")
    plant(planes, depth, grass, tufts, scene.camera, color, rng, lying, mirrored=right)


def _flood(
    scene: Vista,
    planes: Floats,
    depth: Floats,
    view: Seen,
    land: Relief,
    overhead: Floats,
    progress: Progress,
) -> NDArray[np.bool_]:
    ground = land.height(view.x, view.z)
    # Between two slices a sheer cliff is neither in nor out of the water.
    wet = ~view.sky & (ground < 0.0) & (view.height < 0.4) & (depth > view.z * 0.999)
    calm = scene.brief.mood == "calm" or "still_water" in scene.brief.things
    rough = 2.2 if scene.brief.weather == "rain" else 0.35 if calm else 0.9
    tint = of_water(scene.brief)
    cloudy = _CLOUDY if tint and tint[1] > _GRAY else 0.0
    shine = 0.26 * min(1.0, scene.look.sun_power / 3.0) if cloudy else 0.0
    water.flooded(
        planes,
        depth,
        wet,
        scene.camera,
        scene.look,
        scene.sun,
        scene.dice(7),
        progress,
        deep=turned((0.40 + shine, 0.065, 215), tint, 0.9),
        cloudy=cloudy,
        wind=rough,
        ground=-ground,
        overhead=overhead,
        motions=scene.motions,
    )
    return wet
