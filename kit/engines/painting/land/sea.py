"""Seas: waves to the horizon, with an island, cliffs, a beach or a sail where words ask for one."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import Floats, Oklch
from kit.engines.media.noise import smooth_step
from kit.engines.painting.land import air, eruption, grove, palmery, planting, sky
from kit.engines.painting.land.coast import coast_of, colors_of, cone_of, ground_of, laid_out
from kit.engines.painting.land.cover import bands, covered, land_rows
from kit.engines.painting.land.ground import grain
from kit.engines.painting.land.library import sprites
from kit.engines.painting.land.relief import Relief, relief
from kit.engines.painting.land.seasons import FOLIAGE, mixed_to
from kit.engines.painting.land.staging import staging_of
from kit.engines.painting.land.stand import plant
from kit.engines.painting.land.vessels import lighthouse, sailboat
from kit.engines.painting.land.vista import FAR, Vista, finished, vista
from kit.engines.painting.land.voxel import Seen, seen, softened
from kit.engines.painting.land.waves import Sea, lit_sea, sea
from kit.engines.painting.noise import octave
from kit.engines.painting.painting import Painting
from kit.engines.painting.tints import of_land
from kit.engines.prompt.brief import Brief

_SWELLS = {"calm": 0.16, "pastel": 0.30, "vivid": 0.6, "gloomy": 0.7, "dramatic": 1.05}
_SWELL = 0.55
_DOWN, _CLOSE = 0.40, 0.45  # how far up the horizon goes and the eye down for waves near by
_SOFT = 30.0  # distance up to which crests of waves are softened


def paint(brief: Brief, progress: Progress) -> Painting:
    """Return a painted sea.

    Parameters
    ----------
    brief : Brief
        Words for land, sails and storms add them; the mood sets the waves.
    """
    coast = coast_of(brief)
    open_ = coast.land == "none"
    height = 6.5 if coast.land == "cliffs" else 4.6
    near = open_ and "close" in brief.composition  # of waves there is nothing nearer than waves
    scene = vista(
        brief,
        horizon=0.47 - _DOWN * near,
        height=height * (_CLOSE if near else 1.0),
        raised=6.0,
    )
    painting = progress.part(0.0, 0.2)
    sky_planes = sky.painted(
        scene.look, scene.camera, scene.sun, scene.dice(3), painting, scene.motions
    )
    cone = cone_of(scene)
    eruption.smoke(scene, sky_planes, cone)
    progress.report(0.2)
    heights = laid_out(scene, coast, cone)
    progress.report(0.3)
    land = relief(heights, scene.toward)
    palms = grove.on_beach(scene, land, grove.hand_of(scene)) if coast.palms else None
    if palms:
        palmery.shaded(land, palms, scene.toward)
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
        ground, grains = ground_of(brief, coast, cone), grain(scene.dice(5))
        covered(scene, progress.part(0.55, 0.63), planes, view, land, ground, grains, mist=0.2)
    depth = view.z.copy()
    if coast.land in ("isles", "cliffs"):
        _wooded(scene, planes, depth, land, progress.part(0.63, 0.68))
    if palms and coast.land == "beach":
        palmery.planted(scene, planes, depth, land, palms, progress.part(0.63, 0.68))
    eruption.lava(scene, planes, cone, view, depth)
    place = _Place(view, land, depth, colors_of(brief, coast))
    top = land_rows(view)
    edge, open_water = np.zeros_like(view.edge), np.zeros_like(view.sky)
    for rows in progress.part(0.68, 0.84).over(bands(top, brief.width)):
        wet = _flood(scene, planes, sky_planes, place, water, rows)
        open_water[rows] = wet
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
    return finished(scene, progress.part(0.86, 1.0), planes, depth, view.sky, open_water)


def _swell(brief: Brief) -> float:
    bold = "dramatic" in brief.composition
    swell = _SWELLS["dramatic"] if bold else _SWELLS.get(brief.mood, _SWELL)
    if "glassy" in brief.things:
        return 0.12
    rough = "rough" in brief.things or brief.weather == "rain"
    swell *= staging_of(brief.composition).swell
    return min(1.5, swell * (2.1 if rough else 1.0))


@dataclass(frozen=True, slots=True)
class _Place:
    """What is seen, the land it may be, how far it is with all that stands there, the water."""

    view: Seen
    land: Relief
    depth: Floats
    colors: tuple[Oklch, Oklch]


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
    deep, shallow = place.colors
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
        density=np.clip(0.35 + 0.9 * octave(rng, 128, 20), 0.0, 1.0).astype(np.float32),
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
