"""Planets and moons: spheres in sunlight, with air around them and rings."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import Oklch
from kit.engines.media.noise import line, smooth_step
from kit.engines.painting.noise import Plane
from kit.engines.painting.space.globes import Globe
from kit.engines.painting.space.surfaces import SURFACES, Surface
from kit.engines.painting.tone import blend, gradient, light

_RING_INNER, _RING_OUTER = 1.26, 2.22
_STRIP = 900_000  # pixels


@dataclass(frozen=True, slots=True, kw_only=True)
class Planet:
    """A planet to be painted.

    Parameters
    ----------
    kind : str
        A key of `SURFACES`.
    x, y, radius : float
        In pixels; it may lie outside the picture.
    sun : tuple of float
        Unit vector toward the light: right, down, toward the viewer.
    tilt : float
        Of its axis and rings, in radians.
    opening : float
        How far its rings open: 0 seen from the side, 1 from above; 0 also for no rings.
    hues : tuple of float
        Of the ground and of the air.
    """

    kind: str
    x: float
    y: float
    radius: float
    sun: tuple[float, float, float]
    tilt: float
    opening: float
    hues: tuple[float, float]
    chroma: float


def add_planet(
    rng: np.random.Generator,
    picture: Plane,
    planet: Planet,
    octaves: int,
    progress: Progress,
    *,
    strip: int = _STRIP,
) -> None:
    """Paint a planet over a picture of linear light, where the two meet.

    Parameters
    ----------
    strip : int
        Pixels painted at a time; it changes nothing in the picture.
    """
    seed = int(rng.integers(2**62))
    reach = planet.radius * (_RING_OUTER + 0.05 if planet.opening else 1.45)
    height, width = picture.shape[1:]
    left, right = max(0, int(planet.x - reach)), min(width, int(planet.x + reach) + 1)
    top, bottom = max(0, int(planet.y - reach)), min(height, int(planet.y + reach) + 1)
    if left >= right or top >= bottom:
        return
    # Large ones in strips, each from the same dice, so that a canceled job need not wait.
    step = max(1, strip // (right - left))
    for first in range(top, bottom, step):
        rows = slice(first, min(bottom, first + step))
        _add_strip(
            np.random.default_rng(seed),
            picture,
            planet,
            octaves,
            (rows, slice(left, right)),
            progress.part((rows.start - top) / (bottom - top), (rows.stop - top) / (bottom - top)),
        )


def _add_strip(
    rng: np.random.Generator,
    picture: Plane,
    planet: Planet,
    octaves: int,
    at: tuple[slice, slice],
    progress: Progress,
) -> None:
    rows, columns = at
    height, width = picture.shape[1:]
    y, x = np.mgrid[rows, columns].astype(np.float32)
    # Of a globe larger than the picture only a corner shows: its texture repeats more often.
    grain = max(1.0, 3.2 * planet.radius / max(height, width) - 1.0)
    globe = Globe.seen(
        (x - planet.x) / planet.radius, (y - planet.y) / planet.radius, planet.tilt, grain
    )
    part = picture[:, rows, columns]
    rings = _Rings(rng, globe, planet) if planet.opening else None
    if rings:
        _lay(part, rings.color, rings.cover * rings.behind)
    _add_glow(part, globe, planet)
    progress.report(0.3)
    surface = SURFACES[planet.kind](rng, globe, planet.hues, planet.chroma, octaves)
    progress.report(0.7)
    lit = _lit(globe, surface, planet)
    if rings:
        lit *= 1.0 - 0.75 * rings.shadow(globe)
    _lay(part, lit + surface.shine, np.clip((1.0 - globe.far) * planet.radius + 0.5, 0.0, 1.0))
    if rings:
        _lay(part, rings.color, rings.cover * (1.0 - rings.behind))
    progress.report(1.0)


def _lay(part: Plane, color: Plane, share: Plane) -> None:
    part += (color - part) * share


def _lit(globe: Globe, surface: Surface, planet: Planet) -> Plane:
    """Return the surface in sunlight, warm where day turns to night, air toward the rim."""
    sun = planet.sun
    facing = globe.x * sun[0] + globe.y * sun[1] + globe.z * sun[2]
    over, down = surface.slopes
    raking = facing - over * sun[0] - down * sun[1]
    day = smooth_step(-0.06, 0.22, facing)
    amount = np.clip(raking, 0.0, 1.6) * day
    color = surface.color * (amount * np.float32(1.75) + np.float32(0.003))
    if not surface.air:
        return np.asarray(color)
    warm = np.exp(-(((facing - 0.06) / 0.10) ** 2)) * surface.air
    color += (surface.color * light((0.72, 0.13, 50)) * np.float32(0.16)) * warm
    rim = np.clip(1.0 - globe.z, 0.0, 1.0) ** 2.6 * smooth_step(-0.18, 0.45, facing)
    air = light((0.80, 0.11, planet.hues[1]))
    return np.asarray(blend(color, air * np.float32(1.5), np.asarray(rim * surface.air * 0.8)))


def _add_glow(part: Plane, globe: Globe, planet: Planet) -> None:
    """Add the air that stands above the rim on the sunlit side."""
    off = np.maximum(globe.far - 1.0, 0.0)
    aside = np.hypot(planet.sun[0], planet.sun[1])
    toward = (globe.x * planet.sun[0] + globe.y * planet.sun[1]) / (aside + 0.05)
    lit = smooth_step(-0.45, 0.95, toward / np.maximum(globe.far, 0.5) + 0.3 * planet.sun[2])
    glow = np.exp(-off * 16.0) * 0.30 + np.exp(-off * 60.0) * 0.55
    color = light((0.74, 0.12, planet.hues[1]))
    part += (glow * lit * (0.35 if planet.kind in ("moon", "lava") else 1.0)) * color


class _Rings:
    """The rings of a planet, cut by its shadow."""

    def __init__(self, rng: np.random.Generator, globe: Globe, planet: Planet) -> None:
        cos, sin = np.cos(planet.tilt), np.sin(planet.tilt)
        flat, deep = planet.opening, np.sqrt(1.0 - planet.opening**2)
        self._sun = np.array(planet.sun)
        self._along = np.array([cos, sin, 0.0])
        self._across = np.array([-sin * flat, cos * flat, deep])
        self._profile = _profile(rng, planet.radius)
        a = globe.x * cos + globe.y * sin
        b = (globe.y * cos - globe.x * sin) / np.float32(flat)
        self.cover = self._covered(np.sqrt(a * a + b * b))
        self.behind = smooth_step(0.004, -0.004, b)
        shade = self._shaded(a, b)
        tone = np.clip(0.25 + 0.75 * self.cover, 0.0, 1.0)
        self.color = gradient(_ring_stops(planet), tone) * shade

    def shadow(self, globe: Globe) -> Plane:
        """Return how much sunlight the rings take from each point of the globe."""
        normal = np.cross(self._along, self._across)
        toward = float(normal @ self._sun)
        if abs(toward) < 1e-3:
            return np.zeros_like(globe.x)
        height = globe.x * normal[0] + globe.y * normal[1] + globe.z * normal[2]
        way = (-height / toward).astype(np.float32)
        hit = [p + way * s for p, s in zip((globe.x, globe.y, globe.z), self._sun, strict=True)]
        far = np.sqrt(hit[0] ** 2 + hit[1] ** 2 + hit[2] ** 2).astype(np.float32)
        return np.asarray(self._covered(far) * (way > 0.0), np.float32)

    def _covered(self, far: Plane) -> Plane:
        place = (far - _RING_INNER) / (_RING_OUTER - _RING_INNER) * (self._profile.shape[1] - 1)
        place = place.astype(np.float32)
        found = cv2.remap(
            self._profile,
            place,
            np.zeros_like(place),
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_CONSTANT,
            borderValue=0,
        )
        return np.asarray(found)

    def _shaded(self, a: Plane, b: Plane) -> Plane:
        """Return the light on the rings: none in the cylinder of the planet's shadow."""
        toward = a * (self._along @ self._sun) + b * (self._across @ self._sun)
        off = np.sqrt(np.maximum(a * a + b * b - toward * toward, 0.0))
        dark = smooth_step(1.02, 0.96, off) * smooth_step(0.0, -0.1, toward)
        return np.asarray(1.25 * (1.0 - 0.97 * dark), np.float32)


def _profile(rng: np.random.Generator, radius: float) -> Plane:
    """Return how dense the rings are from the inside out, with fine grooves and wide gaps.

    Grooves finer than the pixels of a planet of this radius are smoothed away, or they would break
    up into dashes.
    """
    at = np.linspace(0.0, 1.0, 768)
    dense = 0.62 + 0.20 * line(rng, at, 0.22, octaves=3) + 0.13 * line(rng, at, 0.03, octaves=4)
    for place, wide in ((rng.uniform(0.55, 0.66), 0.018), (rng.uniform(0.82, 0.9), 0.007)):
        dense = dense * (1.0 - 0.92 * np.exp(-(((at - place) / wide) ** 2)))
    inner = 0.35 + 0.65 * smooth_step(0.05, 0.30, at)
    edges = smooth_step(0.0, 0.02, at) * smooth_step(1.0, 0.97, at)
    profile = np.asarray(np.clip(dense * inner * edges, 0.0, 0.96), np.float32)[None]
    return np.asarray(cv2.GaussianBlur(profile, (0, 0), max(0.5, 900.0 / radius)))


def _ring_stops(planet: Planet) -> list[tuple[float, Oklch]]:
    hue, chroma = planet.hues[0], planet.chroma
    return [
        (0.0, (0.30, 0.03 * chroma, hue)),
        (0.5, (0.66, 0.05 * chroma, hue)),
        (1.0, (0.92, 0.035 * chroma, hue + 8)),
    ]


def unit(x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return a vector scaled to length 1."""
    vector: NDArray[np.float64] = np.array([x, y, z]) / np.sqrt(x * x + y * y + z * z)
    return float(vector[0]), float(vector[1]), float(vector[2])
