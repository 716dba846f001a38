"""Seas: waves to the horizon, with an island, cliffs, a beach or a sail where words ask for one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.noise import smooth_step
from kit.engines.scene.brief import Brief
from kit.engines.scene.land import air, planting, sky
from kit.engines.scene.land.cover import bands, covered, land_rows
from kit.engines.scene.land.fields import eroded, ridged, smooth
from kit.engines.scene.land.ground import Ground, grain, tinted
from kit.engines.scene.land.library import sprites
from kit.engines.scene.land.relief import Relief, grid, relief
from kit.engines.scene.land.seasons import FOLIAGE, GROUNDS, mixed_to
from kit.engines.scene.land.stand import plant
from kit.engines.scene.land.tinting import of_land, of_water, turned
from kit.engines.scene.land.vessels import lighthouse, sailboat
from kit.engines.scene.land.vista import FAR, Vista, finished, vista
from kit.engines.scene.land.voxel import Seen, seen, softened
from kit.engines.scene.land.waves import Sea, lit_sea, sea

_COASTS = ("cliff", "coast", "fjord", "bay", "lighthouse", "harbor", "surf")
_ISLES = ("island", "archipelago")
_BEACHES = ("beach", "shore")
_SAILS = ("sail", "boat", "ship", "sailboat", "yacht", "harbor")
_SWELLS = {"calm": 0.16, "pastel": 0.30, "vivid": 0.6, "gloomy": 0.7, "dramatic": 1.05}
_SWELL = 0.55
_SOFT = 30.0  # distance up to which crests of waves are softened
_STORMS = ("storm", "stormy", "thunderstorm", "rough", "wild", "wave", "surf")


@dataclass(frozen=True, slots=True)
class Coast:
    """What besides water there is."""

    land: str  # none, isles, cliffs or beach
    sail: bool
    tower: bool


def paint(brief: Brief, progress: Progress) -> Bytes:
    """Return a painted sea.

    Parameters
    ----------
    brief : Brief
        Words for land, sails and storms add them; the mood sets the waves.

    Returns
    -------
    ndarray of uint8, shape (brief.height, brief.width, 3), sRGB
    """
    coast = _coast(brief)
    scene = vista(brief, horizon=0.47, height=4.6 if coast.land != "cliffs" else 6.5, raised=6.0)
    painting = progress.part(0.0, 0.2)
    sky_planes = sky.painted(scene.look, scene.camera, scene.sun, scene.dice(3), painting)
    progress.report(0.2)
    heights = _laid_out(scene, coast)
    progress.report(0.3)
    land = relief(heights, scene.toward)
    water = sea(scene.dice(8), _swell(brief))
    progress.report(0.4)
    view = seen(
        lambda x, z: np.maximum(land.height(x, z), water.height(x, z)),
        scene.camera,
        progress.part(0.4, 0.55),
        far=4 * FAR if coast.land == "none" else 1.6 * FAR,
        slices=scene.slices,
        near=0.55,
        even=0.02 if coast.land == "none" else 0.2,
    )
    progress.report(0.55)
    planes = sky_planes.copy()
    if coast.land != "none":
        ground, grains = _ground(brief, coast), grain(scene.dice(5))
        covered(scene, progress.part(0.55, 0.63), planes, view, land, ground, grains, mist=0.2)
    depth = view.z.copy()
    if coast.land in ("isles", "cliffs"):
        _wooded(scene, planes, depth, land, progress.part(0.63, 0.68))
    place = _Place(view, land, depth)
    top = land_rows(view)
    edge = np.zeros_like(view.edge)
    for rows in progress.part(0.68, 0.84).over(bands(top, brief.width)):
        wet = _flood(scene, planes, sky_planes, place, water, rows)
        # Far waves are as fine as the edge itself: softened, they would turn into bars.
        edge[rows][:-1] = view.edge[rows][:-1] * (wet & (view.z[rows] < _SOFT))[1:]
    softened(planes, edge)
    _soften_horizon(planes, top.start)
    if coast.tower:
        progress.report(0.845)
        lighthouse(scene, planes, land)
    progress.report(0.85)
    if coast.sail:
        sailboat(scene, planes, view)
    progress.report(0.86)
    return finished(scene, progress.part(0.86, 1.0), planes, view.sky)


def _coast(brief: Brief) -> Coast:
    dice = np.random.default_rng([brief.seed, 2])
    open_ = str(dice.choice(["none", "none", "isles", "cliffs"]))
    words = {"cliffs": _COASTS, "isles": _ISLES, "beach": _BEACHES}
    said = next((land for land, names in words.items() if brief.says(*names)), open_)
    bare = "minimal" in brief.composition and not brief.says(*_COASTS, *_ISLES, *_BEACHES)
    return Coast("none" if bare else said, brief.says(*_SAILS), brief.says("lighthouse"))


def _swell(brief: Brief) -> float:
    bold = "dramatic" in brief.composition
    swell = _SWELLS["dramatic"] if bold else _SWELLS.get(brief.mood, _SWELL)
    if brief.says("calm", "still", "quiet", "glassy"):
        return 0.12
    rough = brief.says(*_STORMS) or brief.weather == "rain"
    return min(1.5, swell * (2.1 if rough else 1.0))


def _ground(brief: Brief, coast: Coast) -> Ground:
    ground = tinted(GROUNDS[brief.season], of_land(brief), rocks=0.25)
    sand = (0.74, 0.055, 82)
    if coast.land == "beach":
        low, other = ((0.72, 0.055, 80), sand) if brief.season != "winter" else (ground.low, sand)
        return replace(
            ground, low=low, low_other=other, shore=(0.56, 0.05, 75), top_line=1e4, rough=0.4
        )
    return replace(
        ground,
        top_line=1e4 if brief.season != "winter" else 20.0,
        shore=(0.40, 0.02, 70),
        rock=(0.40, 0.022, 60),
        rock_other=(0.64, 0.030, 75),
        bands=0.55,
        rough=1.5,
        steep=0.24,
    )


def _laid_out(scene: Vista, coast: Coast) -> Floats:
    """Return heights of the bottom and the land, below 0 where the sea lies over it."""
    points, rng = scene.points, scene.dice(4)
    x, z = grid(points)
    bottom = np.full((points, points), -12.0, np.float32)
    if coast.land == "none":
        return bottom
    side = x / (scene.camera.widest * (z + 40.0))
    bend = smooth(rng, points, 7)
    worn = eroded(rng, points, cells=8.0)
    if coast.land == "beach":
        hand = np.float32(-np.sign(scene.subject or 1.0))
        reach = 20.0 + 62.0 * hand * side + 9.0 * bend
        heights = (reach - z) * np.float32(0.055) + 0.5 * (worn - 0.5)
        dunes = 9.0 * smooth_step(0.55, 1.15, hand * side) * smooth_step(20, 130, z)
        return np.asarray(np.minimum(heights, 1.4 + 0.01 * (reach - z)) + dunes * (0.4 + worn))
    rock = 0.55 * ridged(rng, points, cells=8.0) + 0.6 * worn
    if coast.land == "isles":
        mass = smooth(rng, points, 8) + 0.8 * bend * 0.4
        mass += 0.9 * np.exp(-((side - scene.subject) ** 2) / 0.05 - ((z - 420) / 120) ** 2)
        lift = smooth_step(0.45, 1.1, mass) * smooth_step(130, 260, z)
        return np.asarray(-9.0 + lift * (10 + 84 * rock**1.3), np.float32)
    return _cliffs(scene, side, bend, rock)


def _cliffs(scene: Vista, side: Floats, bend: Floats, rock: Floats) -> Floats:
    """Return a headland on one side that runs back into the distance, with a stack before it."""
    _, z = grid(scene.points)
    hand = np.float32(np.sign(scene.subject or 1.0))
    edge = hand * side - 0.42 + 0.24 * bend + 0.34 * (rock - 0.5)
    wall = smooth_step(0.0, 0.13, edge) * smooth_step(36, 90, z)
    heights = -9.0 + wall * (26 + 30 * rock) + 14 * smooth_step(0.1, 0.6, edge)
    stack = np.exp(-((hand * side - 0.16) ** 2) / 0.0022 - ((z - 190) / 17) ** 2)
    heights += smooth_step(0.25, 0.5, stack * (0.6 + 0.8 * rock)) * (18 + 26 * rock)
    # A wide frame shows less of the height; a tower wants room above the cliff.
    room = 0.70 if scene.brief.says("lighthouse") else 0.90
    steep = min(0.40, room * scene.camera.horizon / scene.camera.focal)
    ceiling = np.float32(steep) * np.maximum(z, 10.0)
    return np.asarray(np.minimum(heights, ceiling), np.float32)


@dataclass(frozen=True, slots=True)
class _Place:
    """What is seen, the land it may be, and how far it is with all that stands on the land."""

    view: Seen
    land: Relief
    depth: Floats


def _flood(
    scene: Vista, planes: Floats, mirrored: Floats, place: _Place, water: Sea, rows: slice
) -> NDArray[np.bool_]:
    """Paint the sea where it is what is seen in some rows, in place, and return where it is."""
    view = place.view
    x, z, height = view.x[rows], view.z[rows], view.height[rows]
    bottom = place.land.height(x, z)
    wet = ~view.sky[rows] & (place.depth[rows] > z * 0.999)
    wet &= (bottom < height - 0.02) & (height < 3.0 * water.swell + 0.4)
    # Between two slices a steep cliff is neither in nor out of the water: what stands above the
    # waves, and has land right beside it, is its foot.
    beside = _land_beside(place.land, x, z)
    wet &= (beside < height) | (height < water.height(x, z) + np.float32(0.2))
    deep, shallow = _colors(scene.brief)
    color = lit_sea(
        water,
        x,
        z,
        height,
        mirrored,
        scene.camera,
        scene.look,
        scene.sun,
        deep=deep,
        shallow=shallow,
        # Only a gentle shore has room for foam.
        shoal=smooth_step(-2.6, 0.1, bottom) * smooth_step(4.0, 1.0, beside - bottom),
    )
    through = np.float32(1.0 if scene.brief.weather == "fog" else 0.45)
    lost = air.haze(scene.look, through * z, height, mist=0.08)
    color = air.hazed(color, lost, air.haze_color(scene.look, scene.sun, scene.camera))
    planes[:, rows] = np.where(wet, color, planes[:, rows])
    return wet


def _land_beside(land: Relief, x: Floats, z: Floats) -> Floats:
    """Return the highest land a little behind places and to both sides of them."""
    step = z * np.float32(0.012) + np.float32(1.0)
    sides = np.maximum(land.height(x - step, z), land.height(x + step, z))
    return np.maximum(sides, land.height(x, z + 2 * step))


def _soften_horizon(planes: Floats, row: int) -> None:
    """Let the farthest water run into the sky."""
    rows = slice(max(0, row - 1), min(planes.shape[1], row + 3))
    for plane in planes:
        plane[rows] = cv2.GaussianBlur(plane[rows], (1, 3), 0.7)


def _wooded(scene: Vista, planes: Floats, depth: Floats, land: Relief, progress: Progress) -> None:
    """Plant low woods on the land, in place."""
    rng = scene.dice(6)
    trees = planting.forest(
        scene,
        land,
        mixed_to(FOLIAGE[scene.brief.season], of_land(scene.brief)),
        rng,
        count=2600,
        tall=(2.4, 4.6),
        line=70.0,
        lowest=2.5,
        nearest=60.0,
        density=np.clip(0.35 + 0.9 * smooth(rng, 128, 20), 0.0, 1.0).astype(np.float32),
    )
    color = air.haze_color(scene.look, scene.sun, scene.camera)
    plant(
        planes,
        depth,
        trees,
        sprites("broadleaf"),
        scene.camera,
        color,
        rng,
        progress,
        mirrored=scene.toward[0] > 0,
    )


def _colors(brief: Brief) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    tint = of_water(brief)
    if brief.says("tropical", "turquoise", "lagoon", "caribbean"):
        deep, shallow = (0.46, 0.090, 220), (0.76, 0.110, 195)
    elif brief.covered:
        deep, shallow = (0.43, 0.055, 222), (0.64, 0.080, 190)
    else:
        deep, shallow = (0.33, 0.060, 238), (0.60, 0.085, 198)
    return turned(deep, tint, 0.8), turned(shallow, tint, 0.6)
