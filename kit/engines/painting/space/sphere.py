"""Planets and moons: spheres in sunlight, with atmospheres and rings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Oklch
from kit.engines.media.noise import field, line, smooth_step
from kit.engines.painting.noise import Plane, slopes, warp
from kit.engines.painting.painting import Canvas
from kit.engines.painting.space.bodies import CelestialBody
from kit.engines.painting.tone import blend, gradient, light

#: Position, lightness, chroma and hue offset.
Tones: TypeAlias = tuple[tuple[float, float, float, float], ...]

_SIDE = 640  # pixels of a texture
_REACH = 1.5  # half the side of a texture, in radii; the rim of the sphere is at 1.41
_RING_INNER, _RING_OUTER = 1.26, 2.22
_STRIP_PIXELS = 900_000  # pixels painted at a time
_BODY_DISTANCE = 30.0  # distance of a body as tall as the frame, which sets its parallax in a film


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """A planet's material; a deviation of its height covers `span` of its tones."""

    tones: Tones
    span: float = 0.22
    middle: float = 0.5
    relief: float = 0.0
    air: float = 0.5  # density, 0 to 1
    frost: float = 9.0  # latitude from which there is ice, in radians
    belts: bool = False
    craters: bool = False
    living: bool = False
    cracks: tuple[tuple[int, float], ...] = ()  # cells and sharpness of two networks of lines
    molten: Tones = ()  # glow in the cracks


SURFACES = {
    "banded": Surface(
        tones=((0, 0.31, 0.09, -24), (0.3, 0.52, 0.115, -9), (0.55, 0.74, 0.085, 6),
               (0.8, 0.88, 0.05, 20), (1, 0.96, 0.02, 30)),
        belts=True, air=0.55,
    ),
    "rocky": Surface(
        tones=((0, 0.26, 0.06, -12), (0.35, 0.44, 0.10, -4), (0.65, 0.62, 0.11, 8),
               (1, 0.80, 0.06, 22)),
        relief=0.085, air=0.4, frost=1.08,
    ),
    "ocean": Surface(
        tones=((0, 0.20, 0.09, 0), (0.7, 0.33, 0.10, -8), (1, 0.58, 0.09, -40)),
        span=0.55, middle=0.9, relief=0.06, air=1.0, living=True, frost=1.02,
    ),
    "moon": Surface(
        tones=((0, 0.22, 0.015, 0), (0.5, 0.58, 0.02, 10), (1, 0.90, 0.012, 20)),
        span=0.10, relief=0.42, air=0.0, craters=True,
    ),
    "lava": Surface(
        tones=((0, 0.12, 0.02, 0), (1, 0.36, 0.03, 15)), span=0.25, relief=0.10, air=0.25,
        cracks=((7, 9.0), (14, 9.0)),
        molten=((0, 0.0, 0.0, 0), (0.3, 0.40, 0.17, -6), (0.7, 0.72, 0.18, 16), (1, 0.95, 0.1, 45)),
    ),
    "icy": Surface(
        tones=((0, 0.60, 0.07, 0), (0.5, 0.82, 0.04, -10), (1, 0.97, 0.01, 0)),
        span=0.20, middle=0.55, relief=0.05, air=0.6, cracks=((4, 26.0), (6, 30.0)),
    ),
}  # fmt: skip
#: Tones of vegetation and of dry land, by height.
_GREEN: list[tuple[float, Oklch]] = [(0.0, (0.40, 0.07, 138)), (1.0, (0.56, 0.05, 100))]
_DRY: list[tuple[float, Oklch]] = [(0.0, (0.58, 0.08, 75)), (1.0, (0.74, 0.06, 70))]


class Globe:
    """Pixels as points on a sphere of radius 1, x right, y down, z toward the viewer.

    For pixels outside the sphere, `far`, their distance from the center, is above 1.
    """

    def __init__(self, it: CelestialBody, at: tuple[slice, slice], size: int) -> None:
        y, x = np.mgrid[at].astype(np.float32)
        self.x, self.y = (x - np.float32(it.x)) / it.radius, (y - np.float32(it.y)) / it.radius
        # Only a corner of a very large globe is visible: its texture repeats more often.
        self.grain = max(1.0, 3.2 * it.radius / size - 1.0)
        self.far = np.sqrt(self.x * self.x + self.y * self.y)
        self.z = np.sqrt(np.clip(1.0 - self.far * self.far, 0.0, 1.0))
        cos, sin = np.float32(np.cos(it.tilt)), np.float32(np.sin(it.tilt))
        self.latitude = np.arcsin(np.clip(self.y * cos - self.x * sin, -1.0, 1.0))
        self.longitude = np.arctan2(self.x * cos + self.y * sin, self.z)

        self._wide = np.sqrt(2.0 / (1.0 + self.z)) * np.float32(_SIDE * self.grain / 2 / _REACH)

    def wrap(self, texture: Plane, times: float = 1.0) -> Plane:
        """Return a texture mapped to the visible half with equal areas, extended by reflection."""
        scale = self._wide * np.float32(times)
        return _look_up(texture, self.x * scale, self.y * scale)

    def belt(self, texture: Plane, around: float, along: float) -> Plane:
        """Return a texture stretched along the parallels, by its pixels per radian."""
        x, y = self.longitude * (around * self.grain), self.latitude * (along * self.grain)
        return _look_up(texture, x, y)


def _look_up(texture: Plane, x: Plane, y: Plane) -> Plane:
    half, border = np.float32(_SIDE / 2), cv2.BORDER_REFLECT_101
    return np.asarray(cv2.remap(texture, x + half, y + half, cv2.INTER_LINEAR, borderMode=border))


def add_planet(
    rng: np.random.Generator, canvas: Canvas, it: CelestialBody, octaves: int, progress: Progress
) -> None:
    """Paint a planet, its air and its rings, in strips, so that cancellation is fast."""
    seed, reach = int(rng.integers(2**62)), it.radius * (_RING_OUTER + 0.05 if it.opening else 1.45)
    side = round(2 * reach) + 1
    (rows, columns), _ = canvas.clip(int(it.x - reach), int(it.y - reach), side, side)
    step = _STRIP_PIXELS // (columns.stop - columns.start + 1) + 1
    for first in range(rows.start, rows.stop, step):
        at = slice(first, min(rows.stop, first + step)), columns
        if columns.start < columns.stop:
            _add_strip(np.random.default_rng(seed), canvas, it, octaves, at)
        progress.report((at[0].stop - rows.start) / (rows.stop - rows.start))


def _add_strip(
    rng: np.random.Generator, canvas: Canvas, it: CelestialBody, octaves: int,
    at: tuple[slice, slice],
) -> None:  # fmt: skip
    globe, surface = Globe(it, at, max(canvas.depth.shape)), SURFACES[it.kind]
    depth = _BODY_DISTANCE * min(canvas.depth.shape) / (2.0 * it.radius)
    facing = globe.x * it.sun[0] + globe.y * it.sun[1] + globe.z * it.sun[2]
    color, (over, down), shine = _surface(rng, globe, it, octaves)
    day = smooth_step(-0.06, 0.22, facing)
    amount = np.clip(facing - over * it.sun[0] - down * it.sun[1], 0.0, 1.6) * day
    air = light((0.80, 0.11, it.hues[-1]), 1.5)
    lit = color * (amount * 1.75 + 0.003)
    if surface.air:  # warm where day turns to night, bluish toward the rim
        warm = np.exp(-(((facing - 0.06) / 0.10) ** 2)) * surface.air
        lit += color * (light((0.72, 0.13, 50), 0.16) * warm)
        rim = np.clip(1.0 - globe.z, 0.0, 1.0) ** 2.6 * smooth_step(-0.18, 0.45, facing)
        lit = blend(lit, air, rim * (0.8 * surface.air))
    rings = _rings(rng, globe, it) if it.opening else None
    if rings:
        tone, cover, front, shadow = rings
        lit *= 1.0 - 0.75 * shadow
        canvas.blend(at, tone, cover * (1.0 - front), depth * 1.02)
    # The air above the rim on the sunlit side.
    toward = (globe.x * it.sun[0] + globe.y * it.sun[1]) / (np.hypot(*it.sun[:2]).item() + 0.05)
    sunny = smooth_step(-0.45, 0.95, toward / np.maximum(globe.far, 0.5) + 0.3 * it.sun[2])
    off = np.maximum(globe.far - 1.0, 0.0)
    glow = (0.30 * np.exp(-16.0 * off) + 0.55 * np.exp(-60.0 * off)) * sunny
    canvas.light[:, *at] += glow * light((0.74, 0.12, it.hues[-1]), 0.3 + 0.7 * surface.air)
    canvas.blend(at, lit + shine, np.clip((1.0 - globe.far) * it.radius + 0.5, 0.0, 1.0), depth)
    if rings:
        canvas.blend(at, tone, cover * front, depth * 0.98)


def _surface(
    rng: np.random.Generator, globe: Globe, it: CelestialBody, octaves: int
) -> tuple[Plane, tuple[Plane, Plane], Plane]:
    """Return the albedo, its slopes to the right and down, and the emitted light."""
    surface = SURFACES[it.kind]

    def texture(cells: int, gain: float = 0.5) -> Plane:
        return field(rng, _SIDE, _SIDE, cells=(cells, cells), octaves=octaves, gain=gain)

    ground = texture(9 if surface.belts else 4, 0.56)
    if surface.belts:
        color = _tones_of(it, surface.tones, _belts(rng, globe, ground))
        return color, (0.0 * globe.x, 0.0 * globe.x), 0.0 * globe.x
    ground = warp(ground, np.rot90(ground), ground[:, ::-1], 22.0)
    if surface.craters:
        ground = 0.30 * ground + _craters(rng)
    height = globe.wrap(ground) + 0.16 * globe.wrap(ground, 4.3)
    over, down = (
        (globe.wrap(way) + 0.45 * globe.wrap(way, 4.3)) * np.float32(surface.relief)
        for way in slopes(ground, _SIDE / 60)
    )
    place = surface.middle + surface.span * height
    if surface.craters:  # dark plains
        place = place - 0.22 * globe.wrap(smooth_step(0.1, 1.0, texture(3)))
    color, shine = _tones_of(it, surface.tones, place), 0.0 * height
    white = smooth_step(surface.frost, surface.frost + 0.14, np.abs(globe.latitude) + 0.08 * height)
    if surface.living:
        shore = smooth_step(0.26, 0.32, height)
        dry = smooth_step(-0.25, 0.35, 0.4 - np.abs(globe.latitude) + 0.25 * height)
        green, arid = (gradient(tones, 0.3 + 0.3 * height) for tones in (_GREEN, _DRY))
        color = blend(color, blend(green, arid, dry), shore)
        bend, clouds = texture(6), texture(9, 0.66)
        swirls = globe.wrap(warp(clouds, bend, np.rot90(bend), 26.0))
        white = np.maximum(white, smooth_step(0.1, 2.0, swirls + 0.35 * globe.wrap(clouds, 3.1)))
        towns = smooth_step(1.1, 2.6, globe.wrap(texture(40, 0.8), 2.0)) * (1.0 - white)
        shine = light((0.8, 0.13, 70), 0.5) * (towns * smooth_step(0.3, 1.6, height))
        over, down = over * shore, down * shore
    color = blend(color, light((0.96, 0.008, 240)), white)
    if surface.cracks:
        (broad, first), (small, second) = ((texture(it), sharp) for it, sharp in surface.cracks)
        net = np.maximum(np.exp(-np.abs(broad) * first), 0.7 * np.exp(-np.abs(small) * second))
        cut = globe.wrap(warp(net, small, broad, 9.0))
        if surface.molten:
            hot = cut**1.5 * smooth_step(1.1, -0.7, height)
            shine = _tones_of(it, surface.molten, hot) * ((0.35 + 0.65 * globe.z) * 1.9)
        else:
            color = blend(color, light((0.48, 0.09 * it.chroma, it.hues[0] + 100)), 0.6 * cut)
    return color, (over, down), shine


def _tones_of(it: CelestialBody, tones: Tones, place: Plane) -> Plane:
    ground, strength = it.hues[0], it.chroma
    return gradient([(at, (level, c * strength, ground + h)) for at, level, c, h in tones], place)


def _belts(rng: np.random.Generator, globe: Globe, eddies: Plane) -> Plane:
    curls = warp(eddies, np.rot90(eddies), eddies[:, ::-1], 14.0)
    coarse, fine = globe.belt(curls, 70.0, 260.0), globe.belt(curls, 190.0, 620.0)
    belts = 0.52 + 0.27 * line(rng, np.linspace(-2.0, 2.0, 2048), 0.26, octaves=4, gain=0.72)
    latitude = globe.latitude + 0.020 * coarse + 0.009 * fine
    tone = cv2.remap(belts[None], (latitude + 2.0) * (2047 / 4), 0 * latitude, cv2.INTER_LINEAR)
    tone = tone + 0.028 * fine + 0.012 * coarse
    off = (globe.longitude - rng.uniform(-0.7, 0.7)) / 0.24
    north = (globe.latitude - float(rng.choice([-1, 1])) * rng.uniform(0.25, 0.45)) / 0.095
    oval = np.sqrt(off * off + north * north) + 0.06 * fine
    storm = smooth_step(1.05, 0.55, oval) * (0.7 + 0.2 * np.sin(oval * 11.0))
    return np.asarray(tone + (0.30 - tone) * storm)


def _craters(rng: np.random.Generator) -> Plane:
    texture = np.zeros((_SIDE, _SIDE), np.float32)
    for _ in range(420):
        radius = min(2.2 + 2.4 * float(rng.pareto(1.5)), 52.0)
        x, y = rng.uniform(0, _SIDE, 2)
        left, top = max(0, int(x - 1.5 * radius)), max(0, int(y - 1.5 * radius))
        part = texture[top : int(y + 1.5 * radius) + 1, left : int(x + 1.5 * radius) + 1]
        rows, columns = np.ogrid[0 : part.shape[0], 0 : part.shape[1]]
        off = np.sqrt((columns + left - x) ** 2 + (rows + top - y) ** 2) / radius
        bowl = 0.45 * np.exp(-(((off - 1.0) / 0.17) ** 2)) - np.clip(1.0 - off**2.4, 0.0, 1.0)
        part += bowl * (radius / 52.0) ** 0.62
    return texture


def _rings(
    rng: np.random.Generator, globe: Globe, it: CelestialBody
) -> tuple[Plane, Plane, Plane, Plane]:
    """Return light and coverage of the rings, where before the planet, and their shadow."""
    cos, sin, flat = (float(part) for part in (np.cos(it.tilt), np.sin(it.tilt), it.opening))
    deep = float(np.sqrt(1.0 - flat * flat))
    # Dense from the inside out, with fine grooves and wide gaps, no finer than the pixels.
    at = np.linspace(0.0, 1.0, 768)
    dense = 0.62 + 0.20 * line(rng, at, 0.22, octaves=3) + 0.13 * line(rng, at, 0.03, octaves=4)
    for place, wide in ((rng.uniform(0.55, 0.66), 0.018), (rng.uniform(0.82, 0.9), 0.007)):
        dense = dense * (1.0 - 0.92 * np.exp(-(((at - place) / wide) ** 2)))
    dense = dense * smooth_step(-0.10, 0.30, at) * smooth_step(1.0, 0.97, at)
    dense[0] = dense[-1] = 0.0
    rough = np.clip(dense, 0.0, 0.96).astype(np.float32)[None]
    profile = cv2.GaussianBlur(rough, (0, 0), max(0.5, 900.0 / it.radius))

    def covered(far: Plane) -> Plane:
        place = (far - _RING_INNER) * np.float32(767 / (_RING_OUTER - _RING_INNER))
        return np.asarray(cv2.remap(profile, place, 0 * place, cv2.INTER_LINEAR, borderValue=0))

    x, y, z, (right, down, near) = globe.x, globe.y, globe.z, it.sun
    a, b = x * cos + y * sin, (y * cos - x * sin) / flat
    cover = covered(np.sqrt(a * a + b * b))
    # They are dark in the cylinder of the planet's shadow.
    turned = down * cos - right * sin
    toward = a * (right * cos + down * sin) + b * (turned * flat + near * deep)
    off = np.sqrt(np.maximum(a * a + b * b - toward * toward, 0.0))
    shade = 1.25 - 1.21 * smooth_step(1.02, 0.96, off) * smooth_step(0.0, -0.1, toward)
    tones = ((0.0, 0.30, 0.03, 0.0), (0.5, 0.66, 0.05, 0.0), (1.0, 0.92, 0.035, 8.0))
    # A ray from each point of the planet toward the sun may meet their plane.
    tilt = near * flat - turned * deep
    way = -(z * flat - (y * cos - x * sin) * deep) / (tilt if abs(tilt) > 1e-3 else 1e-3)
    far = np.sqrt((x + way * right) ** 2 + (y + way * down) ** 2 + (z + way * near) ** 2)
    color = _tones_of(it, tones, 0.25 + 0.75 * cover) * shade
    return color, cover, smooth_step(-0.004, 0.004, b), covered(far) * (way > 0.0)
