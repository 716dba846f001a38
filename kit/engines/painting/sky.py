"""Skies and weather: sun or moon, stars, northern lights, clouds, precipitation and birds."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Bytes, Floats, Oklch
from kit.engines.media.noise import line, smooth_step
from kit.engines.painting.camera import Camera
from kit.engines.painting.falling import draw_air, kind_of
from kit.engines.painting.looks import HourLook
from kit.engines.painting.noise import sample, tile, warp
from kit.engines.painting.tone import blend, even_stops, gradient, light
from kit.engines.prompt.brief import Brief

#: Glowing particles in the air -> their color.
_SPARK_COLORS: dict[str, Oklch] = {"fireflies": (0.90, 0.17, 105), "embers": (0.74, 0.18, 48)}
_TILE_SIDE = 1024  # of the tiles of clouds and gas
#: Extent of the sky around (as far as a camera may turn) and up, in tangents or radians.
_SPAN_AROUND, _SPAN_UP = 4.0, 2.2
_STAR_DENSITY = 1250  # per square of tangent 1
_USUAL_FOCAL = 942.0  # usual focal length in pixels


@dataclass(frozen=True, slots=True)
class Sun:
    """The sun or moon in the frame, in pixels."""

    x: float
    y: float
    radius: float
    moon: bool
    shown: bool
    crescent: bool
    named: bool  # the prompt asks for it: nothing may hide it


@dataclass(frozen=True, slots=True)
class Sky:
    """A painted sky."""

    light: Floats  # planes over the whole frame; extended below the horizon
    stars: Floats | None  # their light alone, one plane from the upper edge down
    curtains: Floats | None  # the same for northern lights


def sun_of(look: HourLook, camera: Camera, across: float, size: float = 1.0) -> Sun:
    """Return the light of a look, `across` from 0 left to 1 right."""
    shown = look.named or 0.0 < look.elevation < (0.95 if look.moon else 0.5)
    shown = shown and look.disc
    return Sun(
        x=across * camera.columns,
        y=camera.horizon * (1.0 - min(look.elevation, 1.05)),
        radius=(0.026 if look.moon else 0.032) * camera.focal * size,
        moon=look.moon,
        shown=shown,
        crescent=look.crescent,
        named=look.named and shown,
    )


def paint_sky(
    look: HourLook, camera: Camera, sun: Sun, rng: np.random.Generator, progress: Progress
) -> Sky:
    """Return the sky of a look over a whole frame."""
    depth = min(camera.rows, max(8, int(camera.horizon) + 2))
    # A wide frame shows little of the sky: it gets more of the sky's colors than in a real lens.
    span = max(0.5 * (0.62 * camera.focal + camera.horizon), 1.0)
    rise = np.clip((camera.horizon - np.arange(depth)) / span, 0.0, 1.0).astype(np.float32)[:, None]
    sky = gradient(even_stops(look.sky), rise**0.75, rounding=0.0625)
    limb = 0.72 * sun.radius if sun.crescent else 0.0
    near = camera.distances((sun.x - limb, sun.y), depth) / np.float32(camera.focal)
    away = camera.distances((sun.x, sun.y), depth)
    color = light(look.sun)
    color = color / color.max()
    halo = look.glow * (0.50 * np.exp(-near * 8.0) + 0.34 * np.exp(-near * 2.8))
    sky = sky + color * halo * np.float32(0.5 if sun.crescent else 1.0)
    stars = curtains = None
    if look.stars > 0.05:
        points = look.stars * _stars(rng, camera, depth) * smooth_step(0.02, 0.30, rise)
        if sun.shown and sun.moon:  # the dark part of a crescent hides them too
            points *= away > sun.radius + 1
        sky += points
        stars = points.max(axis=0)
    progress.report(0.2)
    if look.milky:
        sky = sky + _milky_way(camera, depth, rng, progress.part(0.2, 0.6))
    if look.aurora:
        bands = _aurora(camera, depth, rng, progress.part(0.2, 0.6))
        sky, curtains = sky + bands, bands.max(axis=0)
    progress.report(0.6)
    below = np.asarray(sky[:, -1:], np.float32)
    if sun.shown:
        sky = _add_disc(np.asarray(sky, np.float32), sun, away, color)
    sky = np.asarray(sky, np.float32)
    if look.clouds > 0.0:
        sky = _add_clouds(sky, look, camera, sun, near, away, rng, progress.part(0.6, 1.0))
    full = np.empty((3, camera.rows, camera.columns), np.float32)
    full[:, :depth] = sky
    full[:, depth:] = below
    return Sky(full, stars, curtains)


def _stars(rng: np.random.Generator, camera: Camera, depth: int) -> Floats:
    """Return points of light, few of them bright; shape (3, depth, columns)."""
    size, count = camera.focal / _USUAL_FOCAL, int(2 * _SPAN_AROUND * _SPAN_UP * _STAR_DENSITY)
    x = (camera.middle + camera.focal * rng.uniform(-_SPAN_AROUND, _SPAN_AROUND, count)).astype(int)
    y = (camera.horizon - camera.focal * rng.uniform(0.0, _SPAN_UP, count)).astype(int)
    bright = np.minimum(rng.pareto(1.5, count) * 0.10, 3.0)
    seen = (x >= 0) & (x < camera.columns) & (y >= 0) & (y < depth)
    points = np.zeros((depth, camera.columns), np.float32)
    points[y[seen], x[seen]] = bright[seen]
    points = cv2.GaussianBlur(points, (0, 0), 0.55 * max(1.0, size)) * 2.2 * size**2
    return np.stack([points, points, 1.06 * points])


def _aurora(camera: Camera, depth: int, rng: np.random.Generator, progress: Progress) -> Floats:
    """Return three curtains of northern light: bright lower edges, rays upward, green to violet."""
    around, across = np.linspace(-_SPAN_AROUND, _SPAN_AROUND, 4096), camera.across
    y = np.arange(depth, dtype=np.float32)[:, None]
    green, violet = light((0.82, 0.17, 155), 0.60), light((0.62, 0.17, 315), 0.75)
    total = np.zeros((3, depth, camera.columns), np.float32)
    for number in progress.over(range(3)):
        waves = ((0.6, 3), (0.033, 4), (0.38, 2))
        bends, folds, spots = (line(rng, around, size, octaves=count) for size, count in waves)
        sway, patches = (np.interp(across, around, one) for one in (bends, spots))
        hem = camera.horizon * (0.72 - 0.16 * number + 0.15 * sway)
        rays = np.interp(across + 0.27 * sway, around, folds)  # may be folded
        strength = np.clip(0.55 + 0.45 * rays, 0.05, 1.3) * np.clip(0.5 + 0.8 * patches, 0.0, 1.2)
        rise = (hem - y) / (0.60 * camera.horizon * np.clip(0.75 + 0.35 * rays, 0.35, 1.3))
        shape = np.exp(-2.6 * np.maximum(rise, 0.0)) * smooth_step(-0.07, 0.05, rise)
        tint = np.asarray(np.clip(rise * 1.3, 0.0, 1.0), np.float32)
        total += blend(green, violet, tint) * (shape * strength * 0.75)
    return total


def _milky_way(camera: Camera, depth: int, rng: np.random.Generator, progress: Progress) -> Floats:
    """Return a tilted band of unresolved stars with dark lanes of dust."""
    # Gas and dust are soft: they are drawn at half size, single stars at full size.
    rows, columns = -(-depth // 2), -(-camera.columns // 2)
    tilt = float(rng.choice([-1, 1])) * float(rng.uniform(0.50, 0.85))
    foot = camera.middle + float(rng.uniform(-0.11, 0.11)) * camera.focal
    size = np.float32(1.09 * camera.focal)
    x = (2.0 * np.arange(columns, dtype=np.float32)[None] - foot) / size
    y = (camera.horizon - 2.0 * np.arange(rows, dtype=np.float32)[:, None]) / size
    off = x * np.float32(np.cos(tilt)) - y * np.float32(np.sin(tilt))
    along = x * np.float32(np.sin(tilt)) + y * np.float32(np.cos(tilt))
    gas = _bent_tile(rng, 0.60, 34)
    progress.report(0.3)
    cloud = sample(gas, 900 * off + 300, 620 * along + 90)
    fine = sample(gas, 2400 * off + 11, 1700 * along + 500)
    wide = off + 0.020 * cloud
    body = np.exp(-((wide / 0.105) ** 2)) * np.clip(0.62 + 0.30 * cloud + 0.12 * fine, 0.05, 1.4)
    # Dust is along the middle and branches; the core behind it is the warmest.
    dust = np.exp(-(((off + 0.045 * cloud) / 0.026) ** 2)) * smooth_step(-0.9, 0.9, cloud + fine)
    core = np.exp(-((wide / 0.050) ** 2)) * np.exp(-(((along - 0.16) / 0.30) ** 2))
    tone = blend(light((0.62, 0.055, 275)), light((0.86, 0.060, 65)), np.clip(1.3 * core, 0.0, 1.0))
    shine = (0.34 * body + 0.55 * core * np.clip(0.8 + 0.3 * cloud, 0.2, 1.3)) * (1.0 - 0.86 * dust)
    fade = smooth_step(0.0, 0.12, y)
    progress.report(0.7)
    *soft, dense = (
        cv2.resize(np.asarray(plane, np.float32), (camera.columns, depth))
        for plane in (*(tone * (shine * fade)), body * fade)
    )
    stars = np.maximum(rng.standard_normal(dense.shape, np.float32) - 1.9, 0.0)
    return np.asarray(np.stack(soft) + stars * dense * np.float32(0.38))


def _add_disc(sky: Floats, sun: Sun, away: Floats, color: Floats) -> Floats:
    radius = sun.radius
    disc = np.clip(radius - away + 0.5, 0.0, 1.0)
    if not sun.moon:
        return np.asarray(sky + disc * color * 7.0)
    x = (np.arange(sky.shape[2], dtype=np.float32)[None] - sun.x) / radius
    y = (np.arange(sky.shape[1], dtype=np.float32)[:, None] - sun.y) / radius
    seas = 0.86 + 0.14 * np.sin(x * 3.1 + 1.0) * np.cos(y * 2.7 + 0.6)
    rim = np.sqrt(np.clip(1.0 - (away / radius) ** 2, 0.0, 1.0)) * 0.35 + 0.65
    if sun.crescent:  # minus a second disc, with the sky behind the rest
        dark = np.hypot(x - 0.46, y + 0.16) * radius
        disc = disc * np.clip(dark - 0.93 * radius + 0.5, 0.0, 1.0)
        rim = rim * 1.25
    return blend(sky, np.asarray(light((0.97, 0.02, 90), 1.5) * (seas * rim), np.float32), disc)


def _add_clouds(
    sky: Floats,
    look: HourLook,
    camera: Camera,
    sun: Sun,
    near: Floats,
    away: Floats,
    rng: np.random.Generator,
    progress: Progress,
) -> Floats:
    """Composite a ceiling of clouds on a sky, in perspective and lit toward the sun."""
    y = np.arange(sky.shape[1], dtype=np.float32)[:, None]
    rise = np.maximum(camera.horizon - y, 0.0) / camera.focal
    far = 1.0 / (rise + 0.055)
    x = (np.arange(camera.columns, dtype=np.float32)[None] - camera.middle) / camera.focal
    base = _bent_tile(rng, 0.56, 30)
    progress.report(0.3)
    u, v = 130.0 * x * far + 37.0, 150.0 * far + np.zeros_like(x)
    cloud = sample(base, u, v)
    toward = (sun.x - camera.middle) / camera.focal - x
    shift = toward * 11.0 / (0.25 + np.abs(toward))
    thick = sample(base, u + shift, v + 13.0) + sample(base, u + 2.4 * shift, v + 30.0)
    progress.report(0.7)
    edge = 1.15 - 2.1 * look.clouds
    dense = smooth_step(edge, edge + 1.25, cloud) * smooth_step(0.0, 0.12, rise)
    if sun.named:
        dense = dense * (1.0 - 0.92 * np.exp(-((away * np.float32(0.4 / sun.radius)) ** 2)))
    lit = np.clip(
        0.62 + 0.30 * (cloud - 0.5 * thick) - 0.22 * np.maximum(cloud - edge - 0.6, 0), 0, 1.15
    )
    color = blend(light(look.cloud_shade), light(look.cloud_lit, 1.15), lit)
    shine = light(look.sun)
    color += (shine / shine.max()) * (look.glow * 1.2 * np.exp(-near * 5.0) * (1.1 - dense))
    return blend(sky, color, dense * np.float32(0.94))


def _bent_tile(rng: np.random.Generator, gain: float, amount: float) -> Floats:
    base = tile(rng, cells=4, octaves=8, gain=gain, side=_TILE_SIDE)
    across, down = (tile(rng, octaves=4, side=_TILE_SIDE) for _ in range(2))
    return warp(base, across, down, amount, wrap=True)


def draw_falling(
    planes: Floats, brief: Brief, bright: Floats, rng: np.random.Generator, share: float = 0.8
) -> None:
    """Draw rain or snow in a light, fireflies or embers, in place."""
    kind = kind_of(brief)
    if not kind or (kind != "fireflies" and not brief.falling):
        return
    cover = draw_air(kind, rng, (planes.shape[2], planes.shape[1])).astype(np.float32)
    cover *= np.float32(1 / 255)
    if kind in _SPARK_COLORS:
        planes += light(_SPARK_COLORS[kind], 2.4) * (cover * cover)
    else:
        planes += (bright - planes) * (np.float32(share) * cover)


def draw_flock(
    mask: Bytes, rng: np.random.Generator, middle: tuple[float, float], unit: float
) -> None:
    """Draw a distant flock in a wedge, with bent wings; the unit is a width."""
    wing = np.linspace(-1.0, 1.0, 15)
    arc = np.sin(np.pi * np.abs(wing) ** 0.8) * (1.25 - 0.55 * np.abs(wing))
    side = float(rng.choice([-1, 1]))
    for number in range(int(rng.integers(5, 10))):
        step = side * 0.020 * number, 0.011 * abs(number - 2)
        spot = middle + unit * (step + rng.uniform(-0.010, 0.010, 2))
        span, beat = unit * rng.uniform(0.007, 0.012), rng.uniform(0.25, 0.6)
        points = spot + span * np.stack([wing, -beat * arc], axis=1)
        fixed = np.round(points * 8).astype(np.int32)
        cv2.polylines(mask, [fixed], False, 255, max(1, round(unit / 480)), cv2.LINE_AA, 3)
