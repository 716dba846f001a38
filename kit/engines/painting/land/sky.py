"""Skies: gradient, sun or moon, stars, clouds lit from where the sun is."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Floats
from kit.engines.media.noise import line, smooth_step
from kit.engines.painting.land.look import Look
from kit.engines.painting.land.milky import band
from kit.engines.painting.land.voxel import Camera
from kit.engines.painting.noise import sample, tile, warp
from kit.engines.painting.painting import Curtains, Motion
from kit.engines.painting.tone import blend, evenly, gradient, light


@dataclass(frozen=True, slots=True)
class Sun:
    """Where the sun or moon stands in the frame, in pixels, and which it is.

    Parameters
    ----------
    named : bool
        The prompt wants to see it: nothing is to hide it.
    size : float
        Factor on its disc.
    """

    x: float
    y: float
    moon: bool
    shown: bool
    crescent: bool = False
    named: bool = False
    size: float = 1.0


def sun_of(look: Look, camera: Camera, across: float, size: float = 1.0) -> Sun:
    """Return where the light of a look stands.

    Parameters
    ----------
    across : float
        0 to 1, from the left to the right side.
    size : float
        Factor on its disc.
    """
    y = camera.horizon * (1.0 - min(look.elevation, 1.05))
    shown = look.named or 0.0 < look.elevation < (0.95 if look.moon else 0.5)
    shown = shown and look.disc
    x = across * camera.columns
    return Sun(x, y, look.moon, shown, look.crescent, look.named and shown, size)


def painted(
    look: Look,
    camera: Camera,
    sun: Sun,
    rng: np.random.Generator,
    progress: Progress,
    motions: list[Motion],
) -> Floats:
    """Return the sky over the whole frame as planes of light; below the horizon it goes on.

    Shape (3, camera.rows, camera.columns).
    """
    depth = min(camera.rows, max(8, int(camera.horizon) + 2))
    # A wide frame shows little of the sky: it is given more of its colors than a lens would see.
    span = max(0.5 * (0.62 * camera.focal + camera.horizon), 1.0)
    rise = np.clip((camera.horizon - np.arange(depth)) / span, 0.0, 1.0)
    sky = gradient(evenly(look.sky), rise**0.75, rounding=0.0625)[:, :, None]
    near = _nearness(sun, camera, depth)
    color = light(look.sun)
    color = color / color.max()
    halo = look.glow * (0.50 * np.exp(-near * 8.0) + 0.34 * np.exp(-near * 2.8))
    sky = sky + color * halo * (0.5 if sun.crescent else 1.0)
    rise_map = np.asarray(rise, np.float32)[:, None]
    if look.stars > 0.05:
        stars = look.stars * _stars(rng, camera, depth) * smooth_step(0.02, 0.30, rise_map)
        if sun.shown and sun.moon:  # the dark part of a crescent hides them too
            stars *= _away(sun, camera, depth) > radius_of(sun, camera) + 1
        sky += stars
    progress.report(0.2)
    if look.milky:
        sky = sky + band(camera, depth, rng, progress.part(0.2, 0.6))
    if look.aurora:
        curtains = _aurora(camera, depth, rng, progress.part(0.2, 0.6))
        motions.append(Curtains(curtains.max(axis=0)))
        sky = sky + curtains
    progress.report(0.6)
    if sun.shown:
        sky = _disc(sky, sun, camera, color)
    sky = np.asarray(sky, np.float32)
    if look.clouds > 0.0:
        sky = _clouded(sky, look, camera, sun, near, rng, progress.part(0.6, 1.0))
    full = np.empty((3, camera.rows, camera.columns), np.float32)
    full[:, :depth] = sky
    full[:, depth:] = sky[:, -1:]
    return full


def glow_at(look: Look, sun: Sun, camera: Camera, width: float) -> Floats:
    """Return how strongly the air shines around the sun, shape (1, columns), 0 to about 1."""
    x = np.arange(camera.columns, dtype=np.float32)
    return np.asarray(look.glow * np.exp(-np.abs(x - sun.x) / camera.focal * width))[None]


def _nearness(sun: Sun, camera: Camera, depth: int) -> Floats:
    """Return the distance from the light, in focal lengths; a crescent shines from its limb."""
    limb = 0.72 * radius_of(sun, camera) if sun.crescent else 0.0
    return _away(replace(sun, x=sun.x - limb), camera, depth) / np.float32(camera.focal)


def _stars(rng: np.random.Generator, camera: Camera, depth: int) -> Floats:
    """Return points of light, few of them bright, a little colored; shape (3, depth, columns)."""
    width = camera.columns
    size = max(width, camera.rows) / 1024
    count = int(width * depth / 700 / size**2)
    field = np.zeros((depth, width), np.float32)
    y, x = rng.integers(0, depth, count), rng.integers(0, width, count)
    field[y, x] = np.minimum(rng.pareto(1.5, count) * 0.10, 3.0)
    field = cv2.GaussianBlur(field, (0, 0), 0.55 * max(1.0, size)) * 2.2 * size**2
    warm = sample(tile(rng, cells=32, octaves=1, side=128), *_grid(depth, width, 0.2))
    tint = np.clip(warm * 0.12, -0.25, 0.25)
    return np.stack([field * (1.0 + tint), field, field * (1.0 - tint)])


def _aurora(camera: Camera, depth: int, rng: np.random.Generator, progress: Progress) -> Floats:
    """Return three curtains of northern light: bright at the hem, rays upward, green to violet."""
    columns = np.arange(camera.columns, dtype=np.float32)
    y = np.arange(depth, dtype=np.float32)[:, None]
    tall = 0.60 * camera.horizon
    green, violet = light((0.82, 0.17, 155), 0.60), light((0.62, 0.17, 315), 0.75)
    total = np.zeros((3, depth, camera.columns), np.float32)
    for number in progress.over(range(3)):
        sway = line(rng, columns, camera.columns * 0.55, octaves=3)
        hem = camera.horizon * (0.72 - 0.16 * number) + 0.15 * camera.horizon * sway
        # Folds of the curtain may run back: noise is drawn beyond both sides, then looked up.
        beyond = np.arange(-camera.columns, 2 * camera.columns, dtype=np.float32)
        folds = line(rng, beyond, camera.columns * 0.03, octaves=4)
        rays = np.interp(columns + 0.25 * camera.columns * sway, beyond, folds)
        patches = line(rng, columns, camera.columns * 0.35, octaves=2)
        strength = np.clip(0.55 + 0.45 * rays, 0.05, 1.3) * np.clip(0.5 + 0.8 * patches, 0.0, 1.2)
        rise = (hem - y) / (tall * np.clip(0.75 + 0.35 * rays, 0.35, 1.3))
        shape = np.exp(-2.6 * np.maximum(rise, 0.0)) * smooth_step(-0.07, 0.05, rise)
        tint = np.clip(rise * 1.3, 0.0, 1.0)
        total += blend(green, violet, np.asarray(tint, np.float32)) * (shape * strength * 0.75)
    return total


def _disc(sky: Floats, sun: Sun, camera: Camera, color: Floats) -> Floats:
    depth = sky.shape[1]
    radius = radius_of(sun, camera)
    x = np.arange(camera.columns, dtype=np.float32)[None] - sun.x
    y = np.arange(depth, dtype=np.float32)[:, None] - sun.y
    away = _away(sun, camera, depth)
    disc = np.clip(radius - away + 0.5, 0.0, 1.0)
    if not sun.moon:
        return np.asarray(sky + disc * color * 7.0)
    seas = 0.86 + 0.14 * np.sin(x / radius * 3.1 + 1.0) * np.cos(y / radius * 2.7 + 0.6)
    seas -= 0.18 * np.exp(-(((x / radius - 0.25) ** 2) + (y / radius + 0.2) ** 2) * 5.0)
    rim = np.sqrt(np.clip(1.0 - (away / radius) ** 2, 0.0, 1.0)) * 0.35 + 0.65
    if sun.crescent:  # what a second disc leaves of it; the sky stands behind the rest
        dark = np.hypot(x - 0.46 * radius, y + 0.16 * radius)
        disc = disc * np.clip(dark - 0.93 * radius + 0.5, 0.0, 1.0)
        rim = rim * 1.25
    return blend(sky, np.asarray(light((0.97, 0.02, 90), 1.5) * (seas * rim), np.float32), disc)


def radius_of(sun: Sun, camera: Camera) -> float:
    """Return the radius of the disc in pixels."""
    return (0.026 if sun.moon else 0.032) * camera.focal * sun.size


def _away(sun: Sun, camera: Camera, depth: int) -> Floats:
    """Return how far each pixel is from the middle of the sun or moon, in pixels."""
    x = np.arange(camera.columns, dtype=np.float32)[None] - sun.x
    y = np.arange(depth, dtype=np.float32)[:, None] - sun.y
    return np.asarray(np.sqrt(x * x + y * y))


def _clouded(
    sky: Floats,
    look: Look,
    camera: Camera,
    sun: Sun,
    near: Floats,
    rng: np.random.Generator,
    progress: Progress,
) -> Floats:
    """Lay a ceiling of clouds over a sky, seen in perspective and lit toward the sun."""
    depth = sky.shape[1]
    y = np.arange(depth, dtype=np.float32)[:, None]
    rise = np.maximum(camera.horizon - y, 0.0) / camera.focal
    away = 1.0 / (rise + 0.055)
    x = (np.arange(camera.columns, dtype=np.float32)[None] - camera.columns / 2) / camera.focal
    base = tile(rng, cells=4, octaves=8, gain=0.56, side=1024)
    base = warp(
        base, tile(rng, octaves=4, side=1024), tile(rng, octaves=4, side=1024), 30, wrap=True
    )
    progress.report(0.3)
    u, v = 130.0 * x * away + 37.0, 150.0 * away + np.zeros_like(x)
    cloud = sample(base, u, v)
    toward_x = (sun.x - camera.columns / 2) / camera.focal - x
    shift = 11.0 / (0.25 + np.abs(toward_x))
    thick = sample(base, u + toward_x * shift, v + 13.0)
    thick += sample(base, u + toward_x * shift * 2.4, v + 30.0)
    progress.report(0.7)
    edge = 1.15 - 2.1 * look.clouds
    dense = smooth_step(edge, edge + 1.25, cloud) * smooth_step(0.0, 0.12, rise)
    if sun.named:
        away = _away(sun, camera, depth) * np.float32(0.4 / radius_of(sun, camera))
        dense = dense * (1.0 - 0.92 * np.exp(-(away**2)))
    lit = np.clip(
        0.62 + 0.30 * (cloud - 0.5 * thick) - 0.22 * np.maximum(cloud - edge - 0.6, 0), 0, 1.15
    )
    color = blend(light(look.cloud_shade), light(look.cloud_lit, 1.15), lit)
    shine = light(look.sun)
    color = color + (shine / shine.max()) * (look.glow * 1.2 * np.exp(-near * 5.0) * (1.1 - dense))
    return blend(sky, np.asarray(color, np.float32), dense * np.float32(0.94))


def _grid(height: int, width: int, step: float) -> tuple[Floats, Floats]:
    y, x = np.indices((height, width), np.float32)
    return x * np.float32(step), y * np.float32(step)
