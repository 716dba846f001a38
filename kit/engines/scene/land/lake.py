"""Mountain lakes, ranges and hills: terrain that is laid out before the camera, then seen."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.noise import smooth_step
from kit.engines.scene.brief import Brief
from kit.engines.scene.land import air, planting, sky, water
from kit.engines.scene.land.cover import covered
from kit.engines.scene.land.fields import eroded, ridged, smooth
from kit.engines.scene.land.ground import Grain, grain, tinted
from kit.engines.scene.land.library import sprites
from kit.engines.scene.land.relief import Relief, grid, relief
from kit.engines.scene.land.seasons import FOLIAGE, GRASS, ground_of, mixed_to
from kit.engines.scene.land.stand import plant
from kit.engines.scene.land.tinting import of_land, of_water, turned
from kit.engines.scene.land.vista import FAR, Vista, finished, vista
from kit.engines.scene.land.voxel import Heights, Seen, seen

_HILLS = ("hill", "meadow", "countryside", "field", "tuscany", "pasture", "vineyard", "farm")
_WATERS = ("lake", "pond", "river", "mirror", "lagoon", "loch", "water", "tarn", "fjord")
_HEIGHTS = ("mountain", "alp", "alpine", "peak", "summit", "range", "himalaya", "rocky", "volcano")
_BANK = 0.66  # of the eye's height: no bank before the camera is higher
_EYE, _NEAREST = 12.0, 11.0  # height of an eye on the shore, and the nearest ground it sees
_CLOUDY, _GRAY = 0.42, 0.03  # how cloudy water of a color is; chroma below which it has none
_LOW = -1e3  # as high as any ground of a dry valley


@dataclass(frozen=True, slots=True)
class Country:
    """How the land lies: heights of the mountains (1 alpine), of the water, trees from 0 to 1."""

    peaks: float
    flooded: bool
    wooded: float


def paint(brief: Brief, progress: Progress) -> Bytes:
    """Return a painted mountain lake, range or hill country.

    Parameters
    ----------
    brief : Brief
        Words for hills make it rolling; words for water fill its valley.

    Returns
    -------
    ndarray of uint8, shape (brief.height, brief.width, 3), sRGB
    """
    country = _country(brief, np.random.default_rng([brief.seed, 2]))
    height = 6.5 if country.flooded else 9.0
    scene = vista(brief, horizon=0.46, height=height, raised=7.0)
    painting = progress.part(0.0, 0.15)
    planes = sky.painted(scene.look, scene.camera, scene.sun, scene.dice(3), painting)
    overhead = water.sky_over(planes)
    progress.report(0.15)
    heights = _laid_out(scene, country, progress.part(0.15, 0.35))
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
    level = 0.0 if country.flooded else -1e3
    covered(scene, progress.part(0.55, 0.7), planes, view, land, ground, grains, water=level)
    depth = view.z.copy()
    _grow(scene, planes, depth, land, country, progress.part(0.7, 0.8))
    progress.report(0.8)
    if country.flooded:
        _flood(scene, planes, depth, view, land, overhead, progress.part(0.8, 0.88))
    progress.report(0.88)
    return finished(scene, progress.part(0.88, 1.0), planes, view.sky)


def _country(brief: Brief, dice: np.random.Generator) -> Country:
    luck, wooded = float(dice.random()), float(dice.uniform(0.5, 1.0))
    hills = brief.says(*_HILLS) and not brief.says(*_HEIGHTS)
    flooded = brief.says(*_WATERS) or (not hills and luck < 0.6)
    peaks = float(dice.uniform(0.24, 0.34)) if hills else float(dice.uniform(0.95, 1.25))
    return Country(peaks, flooded, wooded * (0.5 if hills else 1.0))


def _laid_out(scene: Vista, country: Country, progress: Progress) -> Floats:
    """Return heights: a near bank, a basin, walls to both sides, a range with one main peak."""
    points, rng = scene.points, scene.dice(4)
    x, z = grid(points)
    bend_x, bend_z = smooth(rng, points, 6), smooth(rng, points, 6)
    worn = eroded(rng, points, cells=5.0)
    mass = _mountains(rng, points, worn, bend_x, bend_z)
    progress.report(0.5)
    side = x / (scene.camera.widest * (z + 60.0))
    outward = np.abs(side)
    range_ = smooth_step(290, 600, z + 60 * bend_x)
    range_ *= 0.50 + 0.50 * np.exp(-((side - scene.subject) ** 2) / 0.30)
    walls = smooth_step(0.45, 1.25, outward + 0.25 * bend_z) * smooth_step(60, 330, z)
    main = np.exp(-((side - scene.subject) ** 2) / 0.045 - ((z - 690) / 170) ** 2)
    heights = mass**1.25 * 235 * np.maximum(range_, 0.62 * walls)
    heights += main * 95 * (0.35 + 0.9 * mass)
    floor = _valley(scene, country, rng, (bend_x, bend_z, worn))
    floor += 14 * (worn - 0.45) * smooth_step(120, 420, z)
    if country.peaks < 0.5:
        swell = smooth(rng, points, 4.3) + 0.55 * smooth(rng, points, 9)
        floor += 30 * np.maximum(swell + 0.1, 0.0) ** 1.3 * smooth_step(50, 190, z)
    heights *= country.peaks
    return np.asarray(heights * _fitting(scene, heights, floor, rng) + floor, np.float32)


def _cloud_shadows(scene: Vista, land: Relief) -> None:
    """Let clouds lay their shadows over the land, in place: pools of light lead the eye."""
    rng, points = scene.dice(9), scene.points
    gaps = smooth(rng, points, 9) + 0.5 * smooth(rng, points, 21)
    # What stands right before the camera is lit, as a stage is.
    reach = smooth_step(50, 150, grid(points)[1])
    strength = np.float32(0.55 if scene.look.elevation < 0.5 else 0.42)
    land.traits[..., 3] *= 1.0 - strength * smooth_step(0.0, -0.5, gaps) * reach


def _fitting(scene: Vista, peaks: Floats, floor: Floats, rng: np.random.Generator) -> float:
    """Return the factor with which the highest peak takes its part of the sky."""
    x, z = grid(scene.points)
    part = rng.uniform(0.58, 0.86) * min(1.0, scene.camera.horizon / scene.camera.focal)
    shown = (np.abs(x) < 1.02 * scene.camera.widest * z) & (z > 50) & (peaks > 4)
    room = part * z + scene.camera.height - floor
    return float(np.clip((room[shown] / peaks[shown]).min(initial=1.6), 0.15, 1.6))


def _mountains(
    rng: np.random.Generator, points: int, worn: Floats, bend_x: Floats, bend_z: Floats
) -> Floats:
    """Return branching crests over worn slopes, 0 to 1, bent so that no line is straight."""
    crests = ridged(rng, points, cells=4.4)
    y, x = np.indices((points, points), np.float32)
    reach = np.float32(points / 1024 * 30)
    crests = cv2.remap(
        crests,
        x + reach * bend_x,
        y + reach * bend_z,
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REFLECT,
    )
    mass = 0.66 * crests + 0.44 * worn
    return np.asarray((mass - mass.min()) / np.ptp(mass))


def _valley(
    scene: Vista, country: Country, rng: np.random.Generator, fields: tuple[Floats, Floats, Floats]
) -> Floats:
    """Return the floor: a basin for the water or a meadow, and a bank on one side in front."""
    x, z = grid(scene.points)
    bend_x, bend_z, worn = fields
    side = x / (scene.camera.widest * (z + 60.0))
    outward = np.abs(side)
    floor = 6.0 * (worn - 0.5) + 1.5
    if country.flooded:
        floor = floor - 10.0 + 24 * smooth_step(250, 470, z + 80 * bend_z + 60 * bend_x)
        floor += 26 * smooth_step(0.55, 1.05, outward + 0.22 * bend_x) * smooth_step(40, 170, z)
        near = -float(np.sign(scene.subject)) * side
        # From high up the frame begins far off: the bank lies as much farther away.
        wide = scene.camera.nearest / _NEAREST if "high" in scene.brief.composition else 1.0
        reach = float(rng.uniform(4, 22)) + 36 * near + 12 * bend_x
        rise = 9.5 + 0.45 * min(scene.camera.height, _EYE)
        floor += rise * smooth_step(10, -16, z / np.float32(wide) - reach)
    else:
        floor += 9.0 * bend_x * smooth_step(40, 200, z) + 3.0 * bend_z + 2.0
        floor = np.minimum(floor, 3.0 + 0.16 * z)
    return np.asarray(floor - _too_high(scene, floor, z), np.float32)


def _too_high(scene: Vista, floor: Floats, z: Floats) -> Floats:
    """Return by how much ground before the camera is lowered, so that one looks down on it."""
    most = np.float32(_BANK * scene.camera.height) + z * np.float32(0.05)
    near = smooth_step(120, 40, z)
    return np.asarray(np.float32(0.85) * np.maximum(floor - most, 0.0) * near)


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
    color = air.haze_color(scene.look, scene.sun, scene.camera)
    clumps = 0.5 + 0.9 * smooth(rng, 256, 22) + 0.6 * smooth(rng, 256, 60)
    density = np.clip(clumps * country.wooded + 0.12, 0.03, 1.0).astype(np.float32)
    trees = planting.forest(
        scene,
        land,
        mixed_to(FOLIAGE[season], of_land(scene.brief)),
        rng,
        count=5200,
        tall=(2.4, 8.2) if country.peaks < 0.5 else (4.0, 7.5),
        nearest=38.0 if country.peaks < 0.5 else 30.0,
        shy=1.0 if country.peaks < 0.5 else 0.0,
        density=density,
        line=max(40.0, 0.36 * float(land.heights.max())),
    )
    shapes = sprites("broadleaf" if country.peaks < 0.5 else "spruce")
    right = scene.toward[0] > 0
    standing, lying = progress.part(0.0, 0.7), progress.part(0.7, 1.0)
    plant(planes, depth, trees, shapes, scene.camera, color, rng, standing, mirrored=right)
    grass = planting.strewn(
        scene,
        land,
        mixed_to(GRASS[season], of_land(scene.brief)),
        rng,
        count=1500,
        tall=0.62,
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
) -> None:
    ground = land.height(view.x, view.z)
    wet = ~view.sky & (ground < 0.0) & (depth > view.z * 0.999)
    calm = scene.brief.mood == "calm" or scene.brief.says("mirror", "reflection", "still")
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
    )
