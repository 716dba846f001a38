"""Seas: waves to the horizon, with islands, cliffs, a beach, a sail or a lighthouse."""

from __future__ import annotations

import math
from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import Floats, Oklch
from kit.engines.media.noise import smooth_step
from kit.engines.painting.camera import soften_edges
from kit.engines.painting.land import ground, planting, volcano
from kit.engines.painting.land.ground import CLIFF, FOLIAGE, Ground, Land, Woods, tint_mix
from kit.engines.painting.land.landscape import HORIZON, Landscape, grid
from kit.engines.painting.land.water import Sea, colors_of, light_sea, sea_of
from kit.engines.painting.noise import octave, sharp_crests, worn_hills
from kit.engines.painting.painting import Painting
from kit.engines.painting.tints import of_land
from kit.engines.painting.tone import blend, light
from kit.engines.prompt.brief import Brief

_WAVE_HEIGHTS = {"calm": 0.16, "pastel": 0.30, "vivid": 0.6, "gloomy": 0.7, "dramatic": 1.05}
#: Colors of sand, dry and in patches: coral sand where there are palms.
_CORAL_SAND: tuple[Oklch, Oklch] = (0.77, 0.045, 82), (0.80, 0.045, 84)
_SAND: tuple[Oklch, Oklch] = (0.72, 0.055, 80), (0.74, 0.055, 82)
_BEACH: Oklch = (0.84, 0.035, 84)
_BOTTOM = -12.0  # height of an open sea's bottom
#: Composition -> factor on the size of a boat or a tower.
_BOAT_SIZES = {"close": 1.7, "wide": 0.7, "minimal": 2.4, "dramatic": 0.8}
_TOWER_SIZES = {"close": 2.0, "wide": 0.75, "minimal": 1.25, "dramatic": 1.5}


def lay_out(brief: Brief, progress: Progress) -> Land:
    """Return the land in or by a sea, if any, and the bottom around it."""
    shore = shore_of(brief)
    near = shore == "none" and "close" in brief.composition  # only waves are near
    height = (6.5 if shore == "cliffs" else 4.6) * (0.45 if near else 1.0)
    horizon = 0.47 - 0.40 * near
    scene = Landscape(brief, progress, horizon=horizon, height=height, raised=6.0)
    scene.mist = 0.2
    cone = volcano.cone_of(scene)
    heights = scene.lower_at_sun(_heights(scene, shore, cone))
    heights = volcano.raise_cone(scene, heights, cone)
    woods = ground.NO_WOODS
    if shore == "beach" and scene.has("palms"):  # on the side that recedes along the shore
        hand = -float(np.sign(scene.subject or 1.0))
        aside = cv2.resize(scene.side(1.0), (256, 256), interpolation=cv2.INTER_AREA) * hand
        density = smooth_step(0.06, 0.25, aside) * smooth_step(1.4, 1.0, aside)
        density *= 0.1 if "minimal" in scene.words else 0.75
        woods = Woods(density, ground.FRONDS, (8.0, 13.0), "palm", 1e3, 0.75, 15.0, -9.0)
    if shore in ("islands", "cliffs"):
        density = np.clip(0.35 + 0.9 * octave(scene.rng(16), 128, 20), 0.0, 1.0)
        leaves = tint_mix(FOLIAGE[brief.season], of_land(brief))
        woods = Woods(density.astype(np.float32), leaves, (2.4, 4.6), "broadleaf", 70.0, 2.5, 60.0)
    return Land(scene, heights, _ground_of(scene, shore, cone), 0.0, woods)


def paint(brief: Brief, progress: Progress) -> Painting:
    """Return a painted sea; words for land, sails and storms add them, the mood sets the waves."""
    land, shore = lay_out(brief, progress), shore_of(brief)
    scene, open_ = land.scene, shore == "none"
    scene.paint_sky(0.2)
    volcano.paint_smoke(scene)
    scene.lay_out(land.heights)
    mood = "dramatic" if "dramatic" in scene.words else brief.mood
    rough = 2.1 if scene.has("rough") or brief.weather == "rain" else 1.0
    swell = min(1.5, _WAVE_HEIGHTS.get(mood, 0.55) * scene.framing["swell"] * rough)
    water = sea_of(scene.rng(8), 0.12 if scene.has("glassy") else swell)
    progress.report(0.4)
    scene.trace_view(
        lambda x, z: np.maximum(scene.land.height(x, z), water.height(x, z)),
        0.55,
        far=4 * HORIZON if open_ else 1.6 * HORIZON,
        near=0.55,
        even=0.02 if open_ else 0.2,
    )
    if not open_:
        ground.paint_ground(scene, land.ground, ground.grain(scene.rng(5)), 0.63)
        count = 500 if land.woods.kind == "palm" else 2600
        trees = planting.forest(scene, land.woods, scene.rng(6), count=count)
        planting.plant(scene, trees, land.woods.kind, 0.68)
    volcano.paint_lava(scene)
    _paint_sea(scene, water, colors_of(brief))
    if "lighthouse" in brief.things:
        _draw_lighthouse(scene)
    if "sailboat" in brief.things:
        _draw_sailboat(scene)
    return scene.finish()


def shore_of(brief: Brief) -> str:
    """Return the land that a brief's words name, else the seed's choice, or none."""
    things, words = brief.things, brief.composition
    named = [land for land in ("cliffs", "beach", "islands") if land in things]
    if "palms" in things and "lighthouse" not in things:  # the viewpoint is among them
        return "beach"
    if named:
        return named[0]
    rng = np.random.default_rng([brief.seed, 2])
    land = str(rng.choice(["none", "none", "islands", "cliffs"]))
    if "minimal" in words:
        land = "none" if "sailboat" in things else "islands"
    return "islands" if land == "none" and ("volcano" in things or "dramatic" in words) else land


def _ground_of(scene: Landscape, shore: str, cone: volcano.Cone | None) -> Ground:
    brief = scene.brief
    own, winter = ground.GROUNDS[brief.season].with_tint(of_land(brief)), brief.season == "winter"
    if shore != "beach":
        own = replace(own, top_line=20.0 if winter else 1e4, **CLIFF)  # type: ignore[arg-type]
        if shore == "islands" and not winter:
            own = replace(own, shore=_BEACH)
        return volcano.ash_ground(scene, own, cone)
    low, sand = _CORAL_SAND if scene.has("palms") else _SAND
    low = own.low if winter else low
    beach = replace(own, low=low, low_other=sand, shore=(0.56, 0.05, 75), top_line=1e4, rough=0.4)
    if cone or scene.has("islands"):  # their distant flanks are overgrown
        flanks = volcano.ash_ground(scene, beach, cone)
        beach = replace(flanks, rock=own.low, rock_other=own.rock, steep=0.07)
    return beach


def _heights(scene: Landscape, shore: str, cone: volcano.Cone | None) -> Floats:
    """Return heights of the bottom and the land, below 0 under the sea."""
    points, rng, framing = scene.points, scene.rng(4), scene.framing
    heights = np.full((points, points), _BOTTOM, np.float32)
    if shore == "none":
        return heights
    _, z = grid(points)
    side, bend = scene.side(40.0), octave(rng, points, 7)
    hand, far = np.float32(np.sign(scene.subject or 1.0)), z * np.float32(framing["near"])
    worn = worn_hills(rng, points, cells=8.0)
    if shore == "beach":
        reach = 20.0 - 62.0 * hand * side + 9.0 * bend
        if scene.has("palms"):  # a grove needs ground that recedes along the shore
            reach += 150.0 * smooth_step(0.22, 0.95, -hand * side)
        flat = (reach - z) * np.float32(0.055) + 0.5 * (worn - 0.5)
        dunes = 9.0 * smooth_step(0.55, 1.15, -hand * side) * smooth_step(20, 130, z)
        heights = np.minimum(flat, 1.4 + 0.01 * (reach - z)) + dunes * (0.4 + worn)
        if not scene.has("islands"):
            return np.asarray(heights, np.float32)
    rock = 0.55 * sharp_crests(rng, points, cells=8.0) + 0.6 * worn
    few, tower = framing["others"] <= 0.5, scene.has("lighthouse")
    if shore == "cliffs":  # a headland that recedes into the distance, a stack before it
        own = side * hand
        back = 0.34 * (few and not tower)  # of the headland, beyond the side
        back -= 0.16 * ("dramatic" in scene.words) + 0.3 * (framing["near"] > 1.0)
        tall = 1.0 if tower else max(1.0, framing["part"]) ** 2.2
        edge = own - (0.42 + back) + 0.24 * bend + 0.34 * (rock - 0.5)
        wall = smooth_step(0.0, 0.13, edge) * smooth_step(36, 90, far)
        heights = -9.0 + wall * (26 + 30 * rock) * tall + 14 * smooth_step(0.1, 0.6, edge)
        stack = np.exp(-((own - 0.16) ** 2) / 0.0022 - ((far - 190) / 17) ** 2)
        heights += smooth_step(0.25, 0.5, stack * (0.6 + 0.8 * rock)) * (18 + 26 * rock) * tall
        # A wide frame shows less of the height; a tower needs room above the cliff.
        room = 0.70 / _size_of(_TOWER_SIZES, scene) ** 0.5 if tower else 0.90
        steep = min(0.40 * framing["part"] ** 0.8, room * scene.camera.rise)
        heights = np.minimum(heights, steep * np.maximum(z, 10.0))
    if shore == "islands" or scene.has("islands"):
        rock *= np.float32(0.35 if cone else 1.0)  # land around a volcano is low
        # With fewer other islands, the main one is farther out.
        mass = octave(rng, points, 8) + 0.32 * bend
        mass = mass * (0.3 + 0.7 * framing["others"]) - 0.5 * (1.0 - framing["others"])
        main = (side - scene.subject) ** 2
        bulk = np.exp(-main / (0.035 if few else 0.05) - ((far - 420.0) / 120) ** 2)
        mass = mass + 0.9 * framing["main"] * bulk
        mass += 0.3 * framing["others"] * smooth_step(500.0, 760.0, far)
        lift = smooth_step(0.45, 1.1, mass) * smooth_step(130.0, 260.0, far)
        power = 3.2 if "dramatic" in scene.words else 1.0
        stature = 1.0 + (framing["part"] ** power - 1.0) * np.exp(-main / 0.03)
        # Their feet are shallow water and a beach.
        shelf = -9.0 + 10.4 * smooth_step(0.0, 0.22, lift)
        raised = 84 * rock**1.3 * np.maximum(lift - 0.18, 0.0) * 1.22 * stature
        heights = np.maximum(heights, shelf + raised)
    return np.asarray(heights, np.float32)


def _paint_sea(scene: Landscape, water: Sea, colors: tuple[Oklch, Oklch]) -> None:
    """Paint the visible sea."""
    view, bands = scene.view, scene.bands()
    edge, wet = np.zeros_like(view.edge), np.zeros_like(view.sky)
    through = np.float32(1.0 if scene.brief.weather == "fog" else 0.45)
    scene.mist = 0.08
    for rows in scene.progress.part(0.7, 0.84).over(bands):
        z = view.z[rows]
        wet[rows], shoal = _visible_water(scene, water, rows)
        color = light_sea(scene, water, rows, shoal, *colors)
        color = blend(color, scene.air, scene.haze(through * z, view.height[rows]))
        scene.light[:, rows] = np.where(wet[rows], color, scene.light[:, rows])
        # Distant waves are as fine as the edge itself: smoothed, they would become bars.
        edge[rows][:-1] = view.edge[rows][:-1] * (wet[rows] & (z < 30.0))[1:]
    soften_edges(scene.light, edge)
    # The farthest water blends into the sky.
    first = bands[0].start
    rows = slice(max(0, first - 1), min(scene.camera.rows, first + 3))
    for plane in scene.light:
        plane[rows] = cv2.GaussianBlur(plane[rows], (1, 3), 0.7)
    scene.water = wet.astype(np.float32)


def _visible_water(scene: Landscape, water: Sea, rows: slice) -> tuple[NDArray[np.bool_], Floats]:
    """Return a mask of visible sea in some rows, and the nearness of bottom or shore."""
    view, land = scene.view, scene.land
    x, z, height = view.x[rows], view.z[rows], view.height[rows]
    bottom = land.height(x, z)
    wet = ~view.sky[rows] & (scene.depth[rows] > z * 0.999)
    wet &= (bottom < height - 0.02) & (height < 3.0 * water.swell + 0.4)
    # Between two slices a steep cliff is neither in nor out of the water: points above the waves
    # with land directly beside them are its foot.
    step = z * np.float32(0.012) + np.float32(1.0)
    beside = np.maximum(land.height(x - step, z), land.height(x + step, z))
    beside = np.maximum(beside, land.height(x, z + 2 * step))
    wet &= (beside < height) | (height < water.height(x, z) + np.float32(0.2))
    # Only a gentle shore has room for foam.
    return wet, smooth_step(-2.6, 0.1, bottom) * smooth_step(4.0, 1.0, beside - bottom)


#: Outline in meters (right, up), color, share of sunlight.
_SLOOP: tuple[tuple[tuple[tuple[float, float], ...], Oklch, float], ...] = (
    (((-2.0, 0.7), (2.2, 0.8), (1.7, 0.0), (-1.7, 0.0)), (0.32, 0.05, 250), 0.5),
    (((0.12, 0.9), (0.22, 0.9), (0.20, 7.4), (0.14, 7.4)), (0.45, 0.05, 60), 0.6),
    (((0.05, 1.3), (0.10, 7.2), (-0.55, 4.8), (-1.45, 2.4), (-2.0, 1.35)), (0.96, 0.015, 85), 1.0),
    (((0.32, 1.2), (0.26, 6.4), (0.9, 4.0), (1.6, 2.2), (2.15, 1.1)), (0.93, 0.02, 80), 0.75),
)
#: Half widths at the foot and at the top, their heights, color.
_TOWER: tuple[tuple[float, float, float, float, Oklch], ...] = (
    (1.7, 1.15, 0.0, 15.5, (0.93, 0.010, 90)),
    (1.55, 1.42, 4.0, 7.4, (0.52, 0.16, 27)),
    (1.3, 1.18, 11.0, 14.2, (0.52, 0.16, 27)),
    (1.6, 1.6, 15.5, 16.0, (0.30, 0.02, 250)),
    (0.85, 0.85, 16.0, 18.0, (0.80, 0.06, 95)),
    (1.2, 0.0, 18.0, 19.8, (0.45, 0.15, 27)),
)


def _size_of(sizes: dict[str, float], scene: Landscape) -> float:
    return math.prod(sizes.get(word, 1.0) for word in scene.words)


def _draw_sailboat(scene: Landscape) -> None:
    """Draw a sloop under sail with its reflection."""
    camera, rng = scene.camera, scene.rng(20)
    z = float(rng.uniform(48, 95)) / _size_of(_BOAT_SIZES, scene)
    unit = camera.focal / z
    foot = np.array([camera.columns * (0.5 + 0.32 * scene.subject), camera.row(-0.15, z)])
    lean = float(rng.uniform(0.03, 0.10)) * np.sign(scene.subject or 1.0)
    for points, tone, glow in _SLOOP:
        color = scene.shade(tone, 0.45 * glow, 0.9, z)
        shape = np.array(points, float)
        shape[:, 0] += lean * shape[:, 1]
        mirror = foot + shape * unit * (1.0, 0.62)
        mirror[:, 0] += 0.10 * unit * np.sin(shape[:, 1] * 5)
        scene.fill(mirror, color * 0.6, 0.42)
        scene.fill(foot + shape * unit * (1.0, -1.0), color, 1.0, z)


def _draw_lighthouse(scene: Landscape) -> None:
    """Draw a lighthouse on the subject's highest land; its lamp is on in the dark."""
    camera, size = scene.camera, _size_of(_TOWER_SIZES, scene)
    z, across = np.mgrid[110.0:240.0:40j, 0.35:0.8:40j].reshape(2, -1)
    x = np.sign(scene.subject or 0.4) * across * camera.widest * z
    height = scene.land.height(x, z)
    above = (height + 19.8 * size - camera.height) * camera.focal / z
    cut = np.maximum(above - 0.94 * camera.horizon, 0.0)  # rows above the frame
    spot = int(np.argmax(height - 0.05 * z - 10.0 * cut))
    far = float(z[spot])
    foot = np.array([camera.column(float(x[spot]), far), camera.row(float(height[spot]) - 1, far)])
    unit = size * camera.focal / far
    for wide, narrow, low, high, tone in _TOWER:
        for left, shade in ((-1.0, 1.0), (0.06, 0.72)):  # the side away from the light
            outline = [(left * wide, low), (wide, low), (narrow, high), (left * narrow, high)]
            color = scene.shade(tone, 0.4 * shade, 0.85 * shade, far)
            scene.fill(foot + np.array(outline) * unit * (1.0, -1.0), color, 1.0, far)
    if scene.brief.hour == "day":
        return
    lamp, (_, rows, columns) = foot - (0.0, 17.2 * unit), scene.light.shape
    beams, reach = np.zeros((rows, columns), np.float32), 0.9 * max(rows, columns)
    for way in (-1.0, 1.0):
        ends = lamp + np.array([(0, 0), (way, -0.02), (way, 0.09)]) * reach
        cv2.fillPoly(beams, [np.round(ends * 16).astype(np.int32)], 1.0, cv2.LINE_AA, 4)
    away = camera.distances((float(lamp[0]), float(lamp[1])), rows)
    glow = cv2.GaussianBlur(beams, (0, 0), 0.006 * columns) * np.exp(-away / (0.30 * reach)) * 0.30
    glow += 1.6 * np.exp(-((away / (1.1 * unit)) ** 2)) + 0.5 * np.exp(-away / (4.5 * unit))
    scene.light += light((0.95, 0.09, 90), 1.0 if scene.brief.dark else 0.35) * glow
