"""Mountain lakes, ranges, hills and waterfalls."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Floats, Oklch
from kit.engines.media.noise import smooth_step
from kit.engines.painting.land import ground, planting, volcano
from kit.engines.painting.land.ground import DRY, Land, Woods, tint_mix
from kit.engines.painting.land.landscape import Landscape, grid, window
from kit.engines.painting.land.planting import Plants
from kit.engines.painting.land.water import flood
from kit.engines.painting.noise import octave, rescale, sample, sharp_crests, tile, warp, worn_hills
from kit.engines.painting.painting import Motion, Painting
from kit.engines.painting.tints import of_land, of_water, turn_hue
from kit.engines.prompt.brief import Brief

_TURBIDITY, _GRAY_CHROMA = 0.42, 0.03  # of colored water; less chroma is no color
_FALLS_COLOR: Oklch = (0.97, 0.012, 230)  # of falling water
_FRONT_METERS, _PALM_STEP = 60.0, 6  # palms up to it are before a lake; one of so many is kept
_POOL_BOTTOM = -3.0  # height of the bottom below falls


def lay_out(brief: Brief, progress: Progress) -> Land:
    """Return the land of a mountain lake, range or hill country.

    Words for hills make it rolling; words for water fill its valley.
    """
    rng = np.random.default_rng([brief.seed, 2])
    luck, wooded = float(rng.random()), float(rng.uniform(0.5, 1.0))
    hills = _is_hilly(brief)
    wet = not brief.things.isdisjoint(("open_water", "waterfall"))
    flooded = wet or (not hills and luck < 0.6)
    peaks = float(rng.uniform(0.24, 0.34)) if hills else float(rng.uniform(0.95, 1.25))
    height = 6.5 if flooded else 9.0
    scene = Landscape(brief, progress, horizon=0.46, height=height, raised=7.0)
    cone, falls = volcano.cone_of(scene), _falls_of(scene)
    heights = volcano.raise_cone(scene, _heights(scene, peaks, flooded=flooded), cone)
    heights = _carve(scene, heights, falls) if falls else heights
    own, peak = ground.GROUNDS[brief.season].with_tint(of_land(brief)), float(heights.max())
    line = own.top_line * peak if peak > 70 or brief.season == "winter" else 1e4
    own = volcano.ash_ground(scene, replace(own, top_line=max(line, 12.0)), cone)
    if falls:  # layered rock, dark with spray and overgrown where possible
        own = replace(own, bands=0.25, rough=1.5, steep=0.26, rock=(0.36, 0.020, 70))
    woods = _woods_of(scene, wooded * (0.5 if hills else 1.0), peak)
    clouds = 0.55 if scene.look.elevation < 0.5 else 0.42
    return Land(scene, heights, own, 0.0 if flooded else DRY, woods, clouds)


def paint(brief: Brief, progress: Progress) -> Painting:
    """Return a painted mountain lake, range or hill country."""
    land = lay_out(brief, progress)
    scene, level = land.scene, np.float32(land.level)
    falls = _falls_of(scene)
    scene.paint_sky(0.15)
    volcano.paint_smoke(scene)
    scene.lay_out(land.heights, clouds=land.clouds)
    progress.report(0.42)
    scene.trace_view(lambda x, z: np.maximum(scene.land.height(x, z), level), 0.55)
    ground.paint_ground(scene, land.ground, ground.grain(scene.rng(5)), 0.7, water=land.level)
    near = _plant(land)
    volcano.paint_lava(scene)
    if falls:
        _pour(scene, falls)
    if land.level > DRY:
        _flood(scene)
    if falls:
        _raise_mist(scene, falls)
    planting.plant(scene, near, land.woods.kind, 0.9)
    return scene.finish()


def _is_hilly(brief: Brief) -> bool:
    return "hills" in brief.things and "heights" not in brief.things


def _heights(scene: Landscape, peaks: float, *, flooded: bool) -> Floats:
    """Return a near bank, a basin, walls on both sides, and a range with one main peak."""
    points, rng, framing = scene.points, scene.rng(4), scene.framing
    x, z = grid(scene.points)
    bend_x, bend_z = octave(rng, points, 6), octave(rng, points, 6)
    worn = worn_hills(rng, points, cells=5.0)
    # Branching crests over eroded slopes, warped so that no line is straight.
    crests = warp(sharp_crests(rng, points, cells=4.4), bend_x, bend_z, points / 1024 * 30)
    mass = rescale(0.66 * crests + 0.44 * worn)
    side = scene.side()
    outward, away = np.abs(side), z * np.float32(framing["near"])
    range_ = smooth_step(290, 600, away + 60 * bend_x)
    range_ *= 0.50 + 0.50 * np.exp(-((side - scene.subject) ** 2) / 0.30)
    walls = smooth_step(0.45, 1.25, outward + 0.25 * bend_z) * smooth_step(60, 330, away)
    main = np.exp(-((side - scene.subject) ** 2) / 0.045 - ((away - 690) / 170) ** 2)
    heights = mass**1.25 * 235 * np.maximum(range_, 0.62 * walls) * np.float32(framing["others"])
    heights += main * np.float32(95 * framing["main"]) * (0.35 + 0.9 * mass)
    floor = _floor(scene, rng, side, (bend_x, bend_z, worn), flooded=flooded)
    floor += 14 * (worn - 0.45) * smooth_step(120, 420, z)
    if peaks < 0.5:
        swell = octave(rng, points, 4.3) + 0.55 * octave(rng, points, 9)
        floor += 30 * np.maximum(swell + 0.1, 0.0) ** 1.3 * smooth_step(50, 190, z)
    heights *= peaks
    # The highest peak fills its share of the sky.
    rise = scene.camera.rise
    part = rng.uniform(0.58, 0.86) * min(1.0, rise)
    part = min(part * framing["part"], max(part, 0.95 * rise))
    shown = (np.abs(x) < 1.02 * scene.camera.widest * z) & (z > 50) & (heights > 4)
    room = part * z + scene.camera.height - floor
    fit = (room[shown] / heights[shown]).min(initial=1.6 * framing["part"])
    return scene.lower_at_sun(heights * np.float32(np.clip(fit, 0.15, 3.0)) + floor)


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
        away = z * np.float32(scene.framing["near"])
        floor = floor - 10.0 + back * smooth_step(250, 470, away + 80 * bend_z + 60 * bend_x)
        outward = np.abs(side) + 0.22 * bend_x
        floor += beside * smooth_step(0.55, 1.05, outward) * smooth_step(40, 170, away)
        # From high up, the frame starts far away: the bank is farther away in proportion.
        wide = camera.nearest / 11.0 if "high" in scene.words else 1.0
        reach = float(rng.uniform(4, 22)) - 36 * float(np.sign(scene.subject)) * side + 12 * bend_x
        bank = 9.5 + 0.45 * min(camera.height, 12.0)
        floor += bank * smooth_step(10, -16, z / np.float32(wide) - reach)
    else:
        floor += 9.0 * bend_x * smooth_step(40, 200, z) + 3.0 * bend_z + 2.0
        floor = np.minimum(floor, 3.0 + 0.16 * z)
    # The view is down on ground before the camera.
    over = np.maximum(floor - np.float32(0.66 * camera.height) - z * np.float32(0.05), 0.0)
    return np.asarray(floor - 0.85 * over * smooth_step(120, 40, z), np.float32)


def _woods_of(scene: Landscape, wooded: float, peak: float) -> Woods:
    rng, grown, hills = scene.rng(16), scene.framing["grown"], _is_hilly(scene.brief)
    low, high = (2.4, 8.2) if hills else (4.0, 7.5)
    clumps = 0.5 + 0.9 * octave(rng, 256, 22) + 0.6 * octave(rng, 256, 60)
    woods = Woods(
        density=np.clip(clumps * wooded + 0.12, 0.03, 1.0).astype(np.float32),
        leaves=tint_mix(ground.FOLIAGE[scene.brief.season], of_land(scene.brief)),
        tall=(low * grown, high * grown),
        kind="broadleaf" if hills else "spruce",
        line=max(40.0, 0.36 * peak),
        nearest=38.0 if hills else 30.0,
    )
    if not scene.has("palms"):
        return woods
    tall, nearest = (8.0 * grown, 13.0 * grown), 15.0
    return replace(
        woods,
        kind="palm",
        leaves=ground.FRONDS,
        tall=tall,
        lowest=0.4,
        nearest=nearest,
        clearing=0.35,
    )


def _plant(land: Land) -> Plants:
    """Plant forests on the slopes, and grass in front; return trees before the water, if any."""
    scene = land.scene
    rng, framing, hills = scene.rng(6), scene.framing, _is_hilly(scene.brief)
    trees = planting.forest(
        scene, land.woods, rng, count=round(5200 * framing["plants"]), shy=1.0 if hills else 0.0
    )
    near = trees.z < _FRONT_METERS if scene.has("palms") else np.zeros(len(trees.z), bool)
    planting.plant(scene, trees.keep(~near), land.woods.kind, 0.76)
    grass = planting.strew(
        scene,
        tint_mix(ground.GRASS[scene.brief.season], of_land(scene.brief)),
        rng,
        count=round(1500 * min(1.0, framing["plants"])),
        tall=0.62 * max(1.0, framing["grown"]),
        lowest=land.level + 0.5,
    )
    planting.plant(scene, grass, "tuft", 0.8)
    return trees.keep(near & (np.arange(len(near)) % _PALM_STEP == 0))


def _flood(scene: Landscape) -> None:
    calm = scene.brief.mood == "calm" or scene.has("still_water")
    tint = of_water(scene.brief)
    cloudy = _TURBIDITY if tint and tint[1] > _GRAY_CHROMA else 0.0
    shine = 0.26 * min(1.0, scene.look.sun_power / 3.0) if cloudy else 0.0
    deep = turn_hue((0.40 + shine, 0.065, 215), tint, 0.9)
    rough = 2.2 if scene.brief.weather == "rain" else 0.35 if calm else 0.9
    flood(scene, deep=deep, cloudy=cloudy, wind=rough)


@dataclass(frozen=True, slots=True)
class Falls:
    """A cliff with a waterfall, in meters."""

    x: float
    z: float
    tall: float
    broad: float  # of the cliff
    wide: float  # of the water

    def near(self, x: Floats, reach: float, least: float) -> Floats:
        """Return the proximity of places to the water, 0 to 1."""
        off = (x - self.x) / np.float32(reach * self.wide + least)
        return np.asarray(np.exp(-(off**2)), np.float32)

    def ends(self, scene: Landscape) -> tuple[float, float]:
        """Return the heights of its top and its bottom."""
        lip, foot = scene.land.height(
            np.array([self.x, self.x]), np.array([self.z + 9.0, self.z - 9.0])
        )
        return float(lip), max(float(foot), 0.0)


def _falls_of(scene: Landscape) -> Falls | None:
    """Return the waterfall of a prompt, if any, as high as fits in the frame."""
    if not scene.has("waterfall"):
        return None
    rng, framing = scene.rng(60), scene.framing
    z = float(rng.uniform(165.0, 205.0))
    half = scene.camera.widest * z
    room = rng.uniform(0.34, 0.46) * scene.camera.rise * z + scene.camera.height
    tall = min(room, 1.5 * half) * framing["part"] * framing["near"] ** 0.6
    wide = rng.uniform(0.15, 0.22) * tall
    return Falls(0.62 * scene.subject * half, z, tall, max(0.50 * half, 0.9 * tall), wide)


def _carve(scene: Landscape, heights: Floats, falls: Falls) -> Floats:
    """Return heights with a cliff across them, notched by the water, and a pool at its foot."""
    rng, points = scene.rng(61), scene.points
    x, z = grid(points)
    broad, bend, fine = (octave(rng, points, cells) for cells in (13, 30, 75))
    worn, cracks = (
        worn_hills(rng, points, cells=20.0),
        sharp_crests(rng, points, cells=34.0, gain=0.62),
    )
    aside = (x - falls.x) / falls.broad
    # Near the water the cliff is eroded to one edge; away from it, it rises in terraces.
    near = falls.near(x, 1.1, 3.0)
    front = z - falls.z + 22.0 * np.minimum(aside * aside, 1.6) * (1.0 - near)
    jagged = 11.0 * broad + 6.0 * bend + 3.0 * fine + 26.0 * (cracks - 0.5)
    edges = front + jagged * (1.0 - 0.85 * near)
    total = 0.12 * smooth_step(-8.0, 24.0, edges)
    for share, back in ((0.42, 0.0), (0.28, 9.0), (0.18, 21.0)):
        shift = (back + 7.0 * octave(rng, points, 17)) * (1.0 - near)
        total += share * smooth_step(-4.5, 4.0, edges - shift)
    top = falls.tall * (0.90 + 0.16 * broad) + 0.14 * np.clip(front, 0.0, 160.0)
    top = top * smooth_step(1.75, 0.75, np.abs(aside) + 0.40 * broad) + 5.0 * (worn - 0.5)
    top = top - 4.5 * falls.near(x, 0.8, 1.0) * smooth_step(-3.0, 0.0, front)  # the river's bed
    pool = np.exp(-((aside / 0.8) ** 2)) * smooth_step(-90.0, -25.0, front)
    low = heights + np.minimum(_POOL_BOTTOM - heights, 0.0) * np.clip(1.6 * pool, 0.0, 1.0)
    return np.asarray(np.maximum(low, top * total + _POOL_BOTTOM * (1.0 - total)), np.float32)


def _pour(scene: Landscape, falls: Falls) -> None:
    """Paint the falling water: strands that start together and spread on the way down."""
    noise = tile(scene.rng(62), cells=16, octaves=6, gain=0.66)
    camera, z = scene.camera, falls.z - 3.0
    lip, foot = falls.ends(scene)
    middle, top, bottom = camera.column(falls.x, z), camera.row(lip + 0.4, z), camera.row(foot, z)
    tall, half = max(bottom - top, 2.0), 0.5 * falls.wide * camera.focal / z
    at = np.array([middle, 0.5 * (top + bottom)])
    box = window(scene.light.shape, at, 1.8 * half + 2.0, 0.5 * tall)
    rows, columns = np.mgrid[box].astype(np.float32)
    down = (rows - np.float32(top)) / np.float32(tall)
    if not down.size:
        return
    sway = sample(noise, np.zeros_like(down), down * 60.0)
    u = (columns - middle) / half - 0.16 * sway * smooth_step(0.0, 0.4, down)
    u = np.asarray(u / (0.72 + 0.42 * np.maximum(down, 0.0) ** 0.7), np.float32)
    seconds = math.sqrt(2.0 * max(lip - foot, 1.0) / 9.8)
    # Water accelerates: its strands get longer the farther it has fallen.
    long = np.sqrt(np.clip(down, 0.0, 1.0))
    mask = smooth_step(1.05, 0.55, np.abs(u)) * smooth_step(1.0, 0.8, long)
    threads = (26.0, 22.0, 22.0 / seconds, 0.14), (70.0, 44.0, 44.0 / seconds, 0.14)
    scene.motions.append(Motion("fall", box, mask, u, long, threads, distance=z))
    broad, fine = sample(noise, u * 9.0, long * 26.0), sample(noise, u * 34.0, long * 44.0)
    cover = smooth_step(1.05, 0.55, np.abs(u) + 0.16 * broad + 0.10 * fine)
    cover *= np.clip(0.86 + 0.16 * broad + 0.13 * fine, 0.25, 1.0)
    cover *= smooth_step(-0.01, 0.02, down) * smooth_step(1.03, 0.95, down)
    bright = np.clip(0.80 + 0.15 * fine + 0.10 * broad + 0.16 * down, 0.4, 1.25)
    white = scene.shade(_FALLS_COLOR, 0.30, 0.85, z)
    scene.blend(box, white * bright, cover, 1.07 * z)


def _raise_mist(scene: Landscape, falls: Falls) -> None:
    """Add mist that rises from the foot of the falls and spreads over the water."""
    noise = tile(scene.rng(63), cells=8, octaves=5, gain=0.6)
    camera, z, away = scene.camera, falls.z - 5.0, falls.z - 60.0
    at = np.array([camera.column(falls.x, z), camera.row(falls.ends(scene)[1], z)])
    reach = (2.0 + 1.5 * falls.wide) * camera.focal / z
    box = window(scene.light.shape, at, 4.0 * reach, 3.2 * reach)
    rows, columns = np.mgrid[box].astype(np.float32)
    if not rows.size:
        return
    across, up = (columns - np.float32(at[0])) / reach, (np.float32(at[1]) - rows) / reach
    off = np.hypot(across / 1.15, np.where(up > 0, up / 1.25, up / 0.30))
    thick = np.asarray(0.78 * np.exp(-1.8 * off * off), np.float32)
    waves = ((26.0, 26.0, 9.0, 0.16),)
    scene.motions.append(Motion("spray", box, thick, across, up, waves, distance=away))
    mist = np.clip(0.62 + 0.28 * sample(noise, across * 26.0, up * 26.0), 0.1, 1.0)
    scene.blend(box, scene.shade(_FALLS_COLOR, 0.30, 0.85, falls.z), thick * mist, 1.02 * away)
