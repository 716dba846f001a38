"""Volcanoes: a cone with a crater, its smoke, lava fountain, and lava streams."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import cv2
import numpy as np

from kit.engines.media.color import Floats, Oklch
from kit.engines.media.noise import line, smooth_step
from kit.engines.painting.land.ground import Ground
from kit.engines.painting.land.landscape import Landscape, grid, window
from kit.engines.painting.noise import blur, distances, octave, sample, slopes, tile
from kit.engines.painting.painting import Motion
from kit.engines.painting.tone import blend, even_stops, gradient, light

_POWER = 1.62  # exponent of the slope, which is steeper toward the top
#: Family -> its distance, and the height of the ground at its foot.
_PLACES = {"lake": (560.0, 0.0), "desert": (620.0, 0.0), "sea": (430.0, -12.0)}
#: Activity -> its share of the sky: smoke needs room above it.
_SKY_SHARES = {"asleep": 0.70, "smoking": 0.56, "erupting": 0.48}
#: From cooling to fresh lava.
_LAVA: list[Oklch] = [(0.42, 0.17, 27), (0.60, 0.20, 36), (0.76, 0.175, 52), (0.92, 0.12, 85)]
_MAP_SIDE = 1024  # points per side of the map of lava
#: Hour -> extent of the glow of lava in the air.
_GLOW_EXTENTS = {"night": 1.0, "dusk": 0.6, "sunset": 0.35, "dawn": 0.35}
_SMOKE_SCALE = 2  # smoke is drawn at half size
_RISE_SECONDS = 13.0  # seconds from the crater to the top of a plume
#: Activity -> number of puffs, their size at the crater and its growth, wind, coverage, thinning,
#: and the light of their dark and bright sides.
_PLUMES = {
    "erupting": (420, 0.55, 2.3, 0.5, 0.97, 0.25, (0.16, 0.42)),
    "smoking": (110, 0.24, 1.25, 1.15, 0.62, 0.9, (0.95, 1.05)),
}


@dataclass(frozen=True, slots=True)
class Cone:
    """The position, size (in meters) and activity of a volcano."""

    x: float
    z: float
    foot: float  # height of the ground at its foot
    rise: float  # height of the crater's rim above the foot
    radius: float  # of the foot
    crater: float  # radius of it
    activity: str  # asleep, smoking or erupting
    snowy: bool


def cone_of(scene: Landscape) -> Cone | None:
    """Return the volcano of a prompt, if any, as large as fits in the frame."""
    if not scene.has("volcano"):
        return None
    away, foot = _PLACES[scene.brief.family]
    camera, rng, grown = scene.camera, scene.rng(30), scene.framing["part"]
    erupts = scene.has("eruption")
    snowy = not erupts and (scene.brief.season == "winter" or scene.has("snowcapped"))
    asleep = scene.has("asleep") or (snowy and not scene.has("smoke"))
    activity = "erupting" if erupts else "asleep" if asleep else "smoking"
    half = camera.widest * away
    part = rng.uniform(0.85, 1.05) * _SKY_SHARES[activity]
    part = min(part * grown, max(part, 0.95))
    broad = rng.uniform(1.75, 2.1)
    rise = min(part * camera.rise * away, 1.15 * half / broad * grown) + camera.height - foot
    radius = min(broad * rise, away - 120.0)
    shift = (0.72 if camera.rows < 1.2 * camera.columns else 0.4) * scene.subject
    crater = radius * rng.uniform(0.085, 0.11)
    return Cone(shift * half, away, foot, rise, radius, crater, activity, snowy)


def raise_cone(scene: Landscape, heights: Floats, cone: Cone | None) -> Floats:
    """Return heights with a volcano, if any; mountains around it are lowered."""
    if cone is None:
        return heights
    rng, points = scene.rng(31), scene.points
    x, z = grid(points)
    eye = scene.camera.height
    off_x, off_z = x - np.float32(cone.x), z - np.float32(cone.z)
    away = np.hypot(off_x, off_z) * np.float32(1 / cone.radius)
    turn = np.arctan2(off_z, off_x + 0 * off_z) * np.float32(512 / np.pi)  # twice around a tile
    # Flanks are steeper upward, cut by gullies of varying depth that branch downward.
    bend, noise = octave(rng, points, 22), tile(rng, cells=16, octaves=4, gain=0.6)
    bent = turn + 9.0 * bend + 3.0 * octave(rng, points, 60)
    cut = 0.055 * np.clip(0.55 + 0.9 * bend, 0.15, 1.2) * np.abs(sample(noise, bent, 40.0 * away))
    cut += 0.030 * np.abs(sample(noise, 2.0 * bent + 90.0, 90.0 * away))
    cut *= smooth_step(0.05, 0.22, away) * smooth_step(1.0, 0.55, away)
    flank = np.maximum(1.0 - away * (1.0 + 0.06 * bend), 0.0) ** _POWER
    rim = cone.crater / cone.radius
    edge = 1.0 + 0.022 * np.clip(sample(noise, 0.5 * turn, np.full_like(turn, 7.0)), -1.3, 1.3)
    own = np.minimum((flank - cut + 0.04 * smooth_step(0.5, 0.1, away)) / (1 - rim) ** _POWER, edge)
    own -= 0.30 * smooth_step(1.02 * rim, 0.45 * rim, away)
    rise = cone.rise * own - 6.0 * smooth_step(0.92, 1.05, away)
    # Gullies finer than a map's points would become stairs.
    rise = cv2.GaussianBlur(np.asarray(rise, np.float32), (0, 0), 0.8) + np.float32(cone.foot)
    heights = heights - 0.72 * np.maximum(heights - 14.0, 0.0) * smooth_step(90.0, 260.0, z)
    # Only its foot may be hidden; beside it the land may rise.
    share = z * np.float32(1 / cone.z)
    sight = eye + (cone.foot + 0.22 * cone.rise - eye) * share
    beside = np.maximum(np.abs(x - cone.x * share) - 0.8 * cone.radius * share, 0.0)
    heights = np.minimum(heights, np.maximum(sight + 0.35 * beside, 0.5 * eye))
    apart = heights - rise  # the higher of both, without a crease
    return np.asarray(0.5 * (heights + rise + np.sqrt(apart * apart + 36.0)), np.float32)


def ash_ground(scene: Landscape, ground: Ground, cone: Cone | None) -> Ground:
    """Return a ground with a volcano's steep and high parts: lava and ash, or snow."""
    if cone is None:
        return ground
    dark = replace(
        ground,
        rock=(0.31, 0.022, 40),
        rock_other=(0.44, 0.030, 48),
        bands=min(ground.bands, 0.25),
        steep=min(ground.steep, 0.17),
    )
    if scene.brief.season == "winter" and scene.brief.family == "lake":
        return dark
    top: Oklch = (0.97, 0.010, 250) if cone.snowy else (0.37, 0.022, 38)
    return replace(dark, top=top, top_line=cone.foot + 0.5 * cone.rise)


def paint_smoke(scene: Landscape) -> None:
    """Paint smoke behind the rim of a crater, before the land is painted."""
    cone = cone_of(scene)
    if cone is None or cone.activity == "asleep":
        return
    camera, erupts = scene.camera, cone.activity == "erupting"
    spot = camera.column(cone.x, cone.z), camera.row(cone.foot + cone.rise, cone.z)
    unit = cone.crater * camera.focal / cone.z
    glowing = (1.0 if erupts else 0.35) * _GLOW_EXTENTS.get(scene.brief.hour, 0.22)
    rows = max(min(camera.rows, round(spot[1] + 4 * unit) + 1), 0)
    away = camera.distances(spot, rows) / np.float32(unit)
    shine = 0.55 * np.exp(-away / 1.3) + 0.16 * np.exp(-away / 4.5)
    scene.light[:, :rows] += light((0.66, 0.19, 38)) * (shine * np.float32(glowing))
    _paint_plume(scene, cone.activity, spot, unit, glowing * float(erupts))
    if erupts:  # a fountain of lava
        at = window(scene.light.shape, np.array(spot), 3.0 * unit, 7.0 * unit)
        aside, below = (
            it[at] for it in np.broadcast_arrays(*distances(scene.light.shape[1:], *spot, unit))
        )
        wide = 0.35 + 0.24 * np.clip(-below, 0.0, 4.0)
        jet = np.exp(-((aside / wide) ** 2) - np.clip(-below, 0.0, 9.0) / 1.1) * (below < 0.6)
        scene.light[:, *at] += light((0.76, 0.175, 52), 3.0) * jet


def paint_lava(scene: Landscape) -> None:
    """Paint lava in the crater and down the flank, after the land is painted."""
    cone = cone_of(scene)
    if cone is None or cone.activity != "erupting":
        return
    camera, view, dark = scene.camera, scene.view, scene.brief.dark
    top, bottom = (
        min(max(round(camera.row(height, cone.z - part * cone.radius)), 0), camera.rows)
        for height, part in ((cone.foot + 1.06 * cone.rise, 0.0), (cone.foot, 0.9))
    )
    rows = slice(top, max(bottom, top + 1))
    hot, around = _streams(scene, cone)
    x, z, middle = view.x[rows], view.z[rows], np.float32(_MAP_SIDE / 2)
    u, v = ((x - np.float32(cone.x)) / cone.radius, (z - np.float32(cone.z)) / cone.radius)
    places = [np.asarray((1.0 + part) * middle, np.float32) for part in (u, v)]
    own = ~view.sky[rows] & (scene.depth[rows] > z * 0.985)
    heat, glow = (
        cv2.remap(part, places[0], places[1], cv2.INTER_LINEAR) * own for part in (hot, around)
    )
    mask = np.maximum(smooth_step(0.04, 0.30, heat), np.clip(glow, 0.0, 1.0))
    turn = np.asarray(np.arctan2(v, u) / np.float32(2 * np.pi), np.float32)
    along, waves = np.asarray(np.hypot(u, v), np.float32), ((900.0, 420.0, 12.0, 0.30),)
    at = rows, slice(0, camera.columns)
    scene.motions.append(Motion("lava", at, mask, turn, along, waves, distance=0.0, flicker=0.05))
    noise = tile(scene.rng(34), cells=64, octaves=4, gain=0.7)
    rough = sample(noise, *(2.2 * place for place in places))
    heat = heat * np.clip(0.85 + 0.35 * rough, 0.25, 1.3)
    power = np.float32(2.6 if dark else 1.5) * (1.0 - 0.6 * scene.haze(z, view.height[rows]))
    cover = smooth_step(0.05, 0.22, heat)
    shine = gradient(even_stops(_LAVA), heat) * (cover * power)
    shine += light((0.62, 0.19, 38), 0.5) * (glow * power)
    scene.light[:, rows] = scene.light[:, rows] * (1.0 - cover) + shine


def _paint_plume(
    scene: Landscape, does: str, spot: tuple[float, float], unit: float, glowing: float
) -> None:
    """Paint a plume as a heap of spheres that grow on their way up, distorted by noise."""
    puffs, start, grown, wind, thickness, thin, (low, high) = _PLUMES[does]
    camera, look, rng = scene.camera, scene.look, scene.rng(32)
    rows = min(camera.rows, max(2 * _SMOKE_SCALE, round(spot[1] + 0.4 * unit)))
    shape = (-(-rows // _SMOKE_SCALE), -(-camera.columns // _SMOKE_SCALE))
    x, y, small = spot[0] / _SMOKE_SCALE, spot[1] / _SMOKE_SCALE, unit / _SMOKE_SCALE
    tall = max(1.15 * y, 6.0 * small)
    lean = -0.45 * float(np.sign(scene.toward[0])) * wind * rng.uniform(0.7, 1.2)
    depth, cover = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    shares = np.linspace(0.0, 1.0, puffs)
    for share, bent in zip(shares, line(rng, shares, 0.35, octaves=2), strict=True):
        size = small * (start + grown * share**0.85)
        aside = tall * lean * share**1.6 + 0.5 * size * bent * share
        at = np.array([x + aside, y + 0.3 * small - tall * share])
        at += size * np.array([0.62, 0.3]) * rng.standard_normal(2)
        thick = thickness * (1.0 - thin * float(smooth_step(0.45, 1.0, np.array(share))))
        radius, near = size * rng.uniform(0.30, 0.66), rng.uniform(-0.4, 0.8)
        box = window(shape, at, radius, radius)
        down, right = np.ogrid[box]
        off = ((right - at[0]) ** 2 + (down - at[1]) ** 2).astype(np.float32)
        bulge = np.sqrt(np.maximum(1.0 - off / np.float32(radius * radius), 0.0))
        depth[box] = np.maximum(depth[box], np.float32(radius) * (bulge + near) * (bulge > 0.0))
        cover[box] += (1.0 - cover[box]) * smooth_step(0.0, 0.75, bulge) * np.float32(0.8 * thick)
    rise, across = (np.asarray(part, np.float32) for part in np.indices(shape))
    noise = tile(rng, cells=8, octaves=6, gain=0.55)
    fine, reach = np.float32(40.0 / max(small, 2.0)), np.float32(0.13 * small)
    moved_x = across + reach * sample(noise, across * fine, rise * fine)
    moved_y = rise + reach * sample(noise, rise * fine + 200.0, across * fine)
    depth, cover = (cv2.remap(part, moved_x, moved_y, cv2.INTER_LINEAR) for part in (depth, cover))
    billows = 1.0 - np.abs(sample(noise, across * 2.3 * fine, rise * 2.3 * fine))
    surface = depth + np.float32(0.085 * small) * billows * (cover > 0.02)
    up, speed = (np.float32(y) - rise) / np.float32(small), tall / small / _RISE_SECONDS
    aside = (across - np.float32(x)) / np.float32(small) - np.float32(lean) * up
    aside /= start + grown * np.clip(up * small / tall, 0.0, 1.5)
    waves = (12.0, 6.0, 6.0 * speed, 0.11), (28.0, 14.0, 14.0 * speed, 0.08)
    over = slice(0, rows), slice(0, camera.columns)
    scene.motions.append(Motion("smoke", over, cover, aside, up, waves))
    right, down = slopes(cv2.GaussianBlur(surface, (0, 0), max(0.6, 0.05 * small)))
    flat, sun = 1.0 / np.sqrt(right * right + down * down + 1.0), scene.toward
    # Clouds are translucent: the side toward the viewer is never all dark.
    facing = (-right * sun[0] + down * sun[2] + max(-sun[1], 0.25)) * flat
    lit = np.clip(0.42 + 0.58 * facing, 0.0, 1.0)
    lit *= 0.72 + 0.28 * smooth_step(0.0, 0.5 * small, depth)
    color = blend(light(look.cloud_shade, low), light(look.cloud_lit, high), lit)
    lost = scene.haze(np.full((1, 1), camera.focal, np.float32), np.full((1, 1), 150.0))
    color = blend(color, scene.air[:, :, ::_SMOKE_SCALE], np.asarray(0.55 * lost, np.float32))
    if glowing:
        near = np.exp(-np.hypot(rise - np.float32(y), across - np.float32(x)) / (3.2 * small))
        under = np.clip(0.42 - 0.75 * down * flat, 0.04, 1.1)
        color = color + light((0.64, 0.19, 37), 2.2 * glowing) * (near * under)
    size = (shape[1] * _SMOKE_SCALE, shape[0] * _SMOKE_SCALE)
    share, *own = (
        cv2.resize(np.asarray(part, np.float32), size)[:rows, : camera.columns]
        for part in (cover, *color)
    )
    scene.light[:, :rows] += (np.stack(own) - scene.light[:, :rows]) * share


def _streams(scene: Landscape, cone: Cone) -> tuple[Floats, Floats]:
    """Return the heat of lava on a map of the cone, and the light around it."""
    rng, rim = scene.rng(35), cone.crater / cone.radius
    hot = np.zeros((_MAP_SIDE, _MAP_SIDE), np.float32)
    cv2.circle(hot, (_MAP_SIDE // 2, _MAP_SIDE // 2), round(0.42 * rim * _MAP_SIDE), 1.0, -1)
    spread = np.linspace(-0.95, 0.95, int(rng.integers(6, 9)))
    spread = spread + math.atan2(-cone.z, -cone.x) + rng.uniform(-0.16, 0.16, len(spread))
    for turn in spread:
        wide = rng.uniform(0.35, 1.25)
        along = np.linspace(0.5 * rim, rng.uniform(0.34, 0.88), 60)
        sway = np.cumsum(rng.standard_normal(60)) * 0.012
        sway += 0.06 * line(rng, along, 0.12, octaves=3)
        angle = turn + sway * smooth_step(0.0, 0.3, along)
        points = _MAP_SIDE / 2 * (1.0 + along * np.stack([np.cos(angle), np.sin(angle)]))
        steps = np.round(points.T * 16).astype(np.int32)
        for number, share in enumerate(np.linspace(0.0, 1.0, 59)):
            heat = max(1.0 - 0.72 * float(share) ** 1.2, 0.2)
            thick = max(1, round(wide * (7.5 * (1.0 - share) ** 1.4 + 1.3)))
            cv2.polylines(hot, [steps[number : number + 2]], False, heat, thick, cv2.LINE_AA, 4)
    wide_glow = 0.7 * blur(hot, 6.0) + 0.9 * blur(hot, 22.0)
    return cv2.GaussianBlur(hot, (0, 0), 0.9), np.asarray(wide_glow)
