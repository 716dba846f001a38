"""Eruptions: smoke over a crater, the fountain in it, and lava that runs down and shines."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Floats, Oklch
from kit.engines.media.noise import line, smooth_step
from kit.engines.painting import painting as motion
from kit.engines.painting.land import air
from kit.engines.painting.land.puffs import ASH, STEAM, Plume, heap, height_of, torn
from kit.engines.painting.land.vista import Vista
from kit.engines.painting.land.volcano import Cone, activity
from kit.engines.painting.land.voxel import Seen
from kit.engines.painting.noise import blur, sample, tile
from kit.engines.painting.tone import blend, evenly, gradient, light

#: From cooling lava to what comes out of the crater.
_LAVA: list[Oklch] = [(0.42, 0.17, 27), (0.60, 0.20, 36), (0.76, 0.175, 52), (0.92, 0.12, 85)]
_SIDE = 1024  # points of the map of lava a side
#: Hour -> how far the shine of lava reaches into the air.
_GLOWS = {"night": 1.0, "dusk": 0.6, "sunset": 0.35, "dawn": 0.35}
_HALF = 2  # smoke is drawn at half the size
_STEPS = 6  # points of a stone's trail


def smoke(scene: Vista, planes: Floats, cone: Cone | None) -> None:
    """Let smoke rise behind the rim of a volcano's crater, in place, before land is painted."""
    does = activity(scene.brief)
    if cone is None or does == "asleep":
        return
    erupts = does == "erupting"
    camera = scene.camera
    spot = (camera.column(cone.x, cone.z), camera.row(cone.top, cone.z))
    unit = cone.crater * camera.focal / cone.z
    glowing = (1.0 if erupts else 0.35) * _GLOWS.get(scene.brief.hour, 0.22)
    _halo(planes, spot, unit, glowing)
    _rising(scene, planes, ASH if erupts else STEAM, spot, unit, glowing * float(erupts))
    if erupts:
        _fountain(scene, planes, spot, unit)


def lava(scene: Vista, planes: Floats, cone: Cone | None, view: Seen, depth: Floats) -> None:
    """Let lava shine in the crater and run down the flank, in place, after land is painted."""
    does = activity(scene.brief)
    if cone is None or does == "asleep":
        return
    erupts = does == "erupting"
    if not erupts and not scene.brief.dark:
        return
    top, bottom = (
        min(max(round(scene.camera.row(height, cone.z - part * cone.radius)), 0), planes.shape[1])
        for height, part in ((cone.top * 1.06, 0.0), (cone.foot, 0.9))
    )
    rows = slice(top, max(bottom, top + 1))
    hot, around = _streams(scene, cone) if erupts else _embers(scene)
    scale = np.float32(0.5 * _SIDE / cone.radius)
    u = (view.x[rows] - np.float32(cone.x)) * scale + np.float32(_SIDE / 2)
    v = (view.z[rows] - np.float32(cone.z)) * scale + np.float32(_SIDE / 2)
    own = ~view.sky[rows] & (depth[rows] > view.z[rows] * 0.985)
    heat, glow = (_found(part, u, v) * own for part in (hot, around))
    scene.motions.append(_lava(scene, cone, rows, (heat, glow), (u, v)))
    rough = sample(tile(scene.dice(34), cells=64, octaves=4, gain=0.7), u * 2.2, v * 2.2)
    heat *= np.clip(0.85 + 0.35 * rough, 0.25, 1.3)
    lost = air.haze(scene.look, view.z[rows], view.height[rows])
    power = np.float32(2.6 if scene.brief.dark else 1.5) * (1.0 - 0.6 * lost)
    table = gradient(evenly(_LAVA), np.linspace(0.0, 1.0, 256, dtype=np.float32))
    index = np.clip(heat * 255, 0, 255).astype(np.uint8)
    cover = smooth_step(0.05, 0.22, heat)
    for plane, stops, warm in zip(planes, table, light((0.62, 0.19, 38)).ravel(), strict=True):
        plane[rows] *= 1.0 - cover
        plane[rows] += stops[index] * (cover * power) + glow * (warm * np.float32(0.5) * power)


def _lava(
    scene: Vista, cone: Cone, rows: slice, shine: tuple[Floats, Floats], at: tuple[Floats, Floats]
) -> motion.Lava:
    """Return lava in motion; `at` are places on the map of lava."""
    camera, middle = scene.camera, np.float32(_SIDE / 2)
    u, v = at[0] - middle, at[1] - middle
    return motion.Lava(
        window=(rows, slice(0, camera.columns)),
        heat=np.asarray(np.clip(shine[0], 0.0, 1.0), np.float32),
        glow=np.asarray(np.clip(shine[1], 0.0, 1.0), np.float32),
        along=np.asarray(np.hypot(u, v) / middle, np.float32),
        around=np.asarray(np.arctan2(v, u) / np.float32(2 * np.pi), np.float32),
        crater=(camera.column(cone.x, cone.z), camera.row(cone.top, cone.z)),
        unit=cone.crater * camera.focal / cone.z,
    )


def _halo(planes: Floats, spot: tuple[float, float], unit: float, power: float) -> None:
    """Add the shine that a crater throws on the air above it."""
    rows = min(planes.shape[1], round(spot[1] + 4 * unit) + 1)
    x = np.arange(planes.shape[2], dtype=np.float32)[None] - np.float32(spot[0])
    y = np.arange(max(rows, 0), dtype=np.float32)[:, None] - np.float32(spot[1])
    away = np.sqrt(x * x + y * y) * np.float32(1 / unit)
    shine = 0.55 * np.exp(-away / 1.3) + 0.16 * np.exp(-away / 4.5)
    planes[:, : max(rows, 0)] += light((0.66, 0.19, 38)) * (shine * np.float32(power))


def _rising(
    scene: Vista,
    planes: Floats,
    plume: Plume,
    spot: tuple[float, float],
    unit: float,
    glowing: float,
) -> None:
    """Paint a plume as a heap of puffs whose hollows and edges noise has torn."""
    rng = scene.dice(32)
    rows = min(planes.shape[1], max(2 * _HALF, round(spot[1] + 0.4 * unit)))
    shape = (-(-rows // _HALF), -(-planes.shape[2] // _HALF))
    crater = (spot[0] / _HALF, spot[1] / _HALF)
    small = unit / _HALF
    depth, cover, lean = heap(rng, shape, crater, small, plume, scene.toward[0])
    depth, cover, bumps = torn(rng, depth, cover, small)
    scene.motions.append(
        motion.Smoke(
            cover=cover,
            step=_HALF,
            crater=spot,
            unit=unit,
            tall=_HALF * height_of(crater[1], small),
            lean=lean,
            start=plume.start,
            grown=plume.grown,
        )
    )
    surface = cv2.GaussianBlur(depth + bumps, (0, 0), max(0.6, 0.05 * small))
    right = cv2.Scharr(surface, cv2.CV_32F, 1, 0, scale=1 / 32)
    down = cv2.Scharr(surface, cv2.CV_32F, 0, 1, scale=1 / 32)
    flat = 1.0 / np.sqrt(right * right + down * down + 1.0)
    sun = scene.toward
    # Clouds are lit through: what faces the viewer is never all dark.
    facing = (-right * sun[0] + down * sun[2] + max(-sun[1], 0.25)) * flat
    lit = np.clip(0.42 + 0.58 * facing, 0.0, 1.0)
    lit *= 0.72 + 0.28 * smooth_step(0.0, 0.5 * small, depth)
    look, pale = scene.look, plume is STEAM
    shares = (0.95, 1.05) if pale else (0.16, 0.42)
    color = blend(light(look.cloud_shade, shares[0]), light(look.cloud_lit, shares[1]), lit)
    lost = air.haze(look, np.full((1, 1), scene.camera.focal, np.float32), np.full((1, 1), 150.0))
    haze = air.haze_color(look, scene.sun, scene.camera)[:, :, ::_HALF][:, :, : shape[1]]
    color = blend(color, haze, np.asarray(0.55 * lost, np.float32))
    if glowing:
        y = np.arange(shape[0], dtype=np.float32)[:, None] - crater[1]
        x = np.arange(shape[1], dtype=np.float32)[None] - crater[0]
        near = np.exp(-np.sqrt(x * x + y * y) / (3.2 * small))
        under = np.clip(0.42 - 0.75 * down * flat, 0.04, 1.1)
        color = color + light((0.64, 0.19, 37), 2.2 * glowing) * (near * under)
    for plane, part in zip(planes, color, strict=True):
        own, share = (
            cv2.resize(np.asarray(p, np.float32), (shape[1] * _HALF, shape[0] * _HALF))
            for p in (part, cover)
        )
        own, share = own[:rows, : plane.shape[1]], share[:rows, : plane.shape[1]]
        plane[:rows] += (own - plane[:rows]) * share


def _fountain(scene: Vista, planes: Floats, spot: tuple[float, float], unit: float) -> None:
    """Throw glowing stones out of the crater, in place, where what falls is painted."""
    power = 3.2 if scene.brief.dark else 1.6
    stones = _stones(scene.dice(33))
    scene.motions.append(motion.Fountain(crater=spot, unit=unit, stones=stones, power=power))
    if not scene.brief.falling:
        return
    layer = np.zeros(planes.shape[1:], np.float32)
    size = max(planes.shape[1:]) / 1024
    first, long, heat, thick = stones.T[3:]
    times = np.linspace(first, first + long, _STEPS, axis=1)
    points = np.round(motion.trails(stones, times, spot, unit) * 16).astype(np.int32, order="C")
    for line_, shine, wide in zip(points, heat * (1.1 - 0.6 * first), thick, strict=True):
        width = 2 if wide < 0.2 * size else 1
        cv2.polylines(layer, [line_], False, float(shine), width, cv2.LINE_AA, shift=4)
    glow = cv2.GaussianBlur(layer, (0, 0), max(0.4, 0.55 * size))
    planes += light((0.72, 0.18, 48), power) * glow


def _stones(rng: np.random.Generator, count: int = 150) -> NDArray[np.float64]:
    stones = np.empty((count, 7))
    for stone in stones:
        lean = 0.22 * rng.standard_normal()
        pace = rng.uniform(0.9, 4.6) ** (1.0 - 0.3 * abs(lean))
        first = rng.uniform(0.0, 0.8)
        long = rng.uniform(0.05, 0.16)
        aside = rng.standard_normal()
        stone[:] = (aside, lean, pace, first, long, rng.uniform(0.3, 1.0), rng.random())
    return stones


def _streams(scene: Vista, cone: Cone) -> tuple[Floats, Floats]:
    """Return the heat of lava on a map of the cone, and the light that it throws around."""
    rng = scene.dice(35)
    hot = np.zeros((_SIDE, _SIDE), np.float32)
    rim = cone.crater / cone.radius
    cv2.circle(hot, (_SIDE // 2, _SIDE // 2), round(0.42 * rim * _SIDE), 1.0, -1)
    toward = float(np.arctan2(-cone.z, -cone.x))
    spread = np.linspace(-0.95, 0.95, int(rng.integers(4, 7)))
    for turn in spread + rng.uniform(-0.16, 0.16, len(spread)):
        end = float(rng.uniform(0.34, 0.88))
        _stream(rng, hot, toward + float(turn), rim, end, float(rng.uniform(0.6, 1.25)))
    wide = 0.7 * blur(hot, 6.0) + 0.9 * blur(hot, 22.0)
    return cv2.GaussianBlur(hot, (0, 0), 0.9), np.asarray(wide)


def _stream(
    rng: np.random.Generator, hot: Floats, turn: float, rim: float, end: float, wide: float
) -> None:
    """Draw one stream, in place; half way down a part of it goes its own way."""
    along = np.linspace(0.5 * rim, end, 60)
    sway = np.cumsum(rng.standard_normal(60)) * 0.012 + 0.06 * line(rng, along, 0.12, octaves=3)
    angle = turn + sway * smooth_step(0.0, 0.3, along)
    points = _SIDE / 2 * (1.0 + along * np.stack([np.cos(angle), np.sin(angle)]))
    steps = np.round(points.T * 16).astype(np.int32)
    for number in range(59):
        share = number / 59
        heat = 1.0 - 0.72 * share**1.2
        thick = max(1, round(wide * (7.5 * (1.0 - share) ** 1.4 + 1.3)))
        pair = (tuple(map(int, steps[number])), tuple(map(int, steps[number + 1])))
        cv2.line(hot, *pair, float(max(heat, 0.2)), thick, cv2.LINE_AA, shift=4)
    if wide > 0.75 and end > 0.45:
        branch = turn + float(sway[24]) + float(rng.choice([-1, 1])) * 0.22
        _stream(rng, hot, branch, 0.7 * end, min(0.92, end * 1.15), 0.35)


def _embers(scene: Vista) -> tuple[Floats, Floats]:
    """Return the heat of a crater that only glows: none is seen but its light."""
    glow = np.zeros((_SIDE, _SIDE), np.float32)
    cv2.circle(glow, (_SIDE // 2, _SIDE // 2), round(0.05 * _SIDE), 0.8, -1)
    return np.zeros_like(glow), blur(glow, 16.0)


def _found(plane: Floats, u: Floats, v: Floats) -> Floats:
    return np.asarray(
        cv2.remap(plane, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=0)
    )
