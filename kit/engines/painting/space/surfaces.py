"""Surfaces of planets: bands of gas, seas and continents, craters, ice and lava."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import cv2
import numpy as np

from kit.engines.media.color import Oklch
from kit.engines.media.noise import line, smooth_step
from kit.engines.painting.noise import Plane, field, slopes, warp
from kit.engines.painting.space.globes import Globe
from kit.engines.painting.tone import blend, gradient, light

_SHEET = 640


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """What a globe is made of.

    Parameters
    ----------
    color : ndarray
        Share of the light it throws back, shape (3, height, width).
    slopes : tuple
        How much the ground rises to the right and downward.
    shine : ndarray or float
        Light of its own.
    air : float
        How thick the air is, 0 to 1.
    """

    color: Plane
    slopes: tuple[Plane | float, Plane | float] = (0.0, 0.0)
    shine: Plane | float = 0.0
    air: float = 1.0


Painter: TypeAlias = Callable[
    [np.random.Generator, Globe, tuple[float, float], float, int], Surface
]


def banded(
    rng: np.random.Generator, globe: Globe, hues: tuple[float, float], chroma: float, octaves: int
) -> Surface:
    """Return a giant of gas: belts that shear into eddies, and a storm."""
    eddies = field(rng, _SHEET, _SHEET, cells=(9, 9), octaves=octaves, gain=0.55)
    curls = warp(eddies, _turned(eddies), eddies[:, ::-1], 14.0)
    coarse = globe.belted(curls, 70.0, 260.0)
    fine = globe.belted(curls, 190.0, 620.0)
    at = np.linspace(-2.0, 2.0, 2048)
    belts = 0.52 + 0.27 * line(rng, at, 0.26, octaves=4, gain=0.72)
    latitude = globe.latitude + np.float32(0.020) * coarse + np.float32(0.009) * fine
    place = ((latitude + 2.0) / 4.0 * 2047).astype(np.float32)
    tone = cv2.remap(belts[None], place, np.zeros_like(place), cv2.INTER_LINEAR)
    tone = tone + np.float32(0.028) * fine + np.float32(0.012) * coarse
    hue, _ = hues
    stops: list[tuple[float, Oklch]] = [
        (0.0, (0.31, 0.09 * chroma, hue - 24)),
        (0.30, (0.52, 0.115 * chroma, hue - 9)),
        (0.55, (0.74, 0.085 * chroma, hue + 6)),
        (0.80, (0.88, 0.05 * chroma, hue + 20)),
        (1.0, (0.96, 0.02 * chroma, hue + 30)),
    ]
    color = gradient(stops, tone)
    off = (globe.longitude - np.float32(rng.uniform(-0.7, 0.7))) / 0.24
    north = (globe.latitude - np.float32(rng.choice([-1, 1]) * rng.uniform(0.25, 0.45))) / 0.095
    oval = np.sqrt(off * off + north * north) + np.float32(0.06) * fine
    storm = light((0.58, 0.13 * chroma, hue - 26))
    share = smooth_step(1.05, 0.55, oval) * (0.7 + 0.2 * np.sin(oval * 11.0))
    return Surface(color=blend(color, storm, share), air=0.55)


def rocky(
    rng: np.random.Generator, globe: Globe, hues: tuple[float, float], chroma: float, octaves: int
) -> Surface:
    """Return dry ground: plains, highlands, canyons and a cap of frost."""
    ground, height = _ground(rng, globe, octaves)
    hue, _ = hues
    stops: list[tuple[float, Oklch]] = [
        (0.0, (0.26, 0.06 * chroma, hue - 12)),
        (0.35, (0.44, 0.10 * chroma, hue - 4)),
        (0.65, (0.62, 0.11 * chroma, hue + 8)),
        (1.0, (0.80, 0.06 * chroma, hue + 22)),
    ]
    color = gradient(stops, 0.5 + 0.22 * height)
    frost = smooth_step(1.08, 1.2, np.abs(globe.latitude) + 0.06 * height)
    color = blend(color, light((0.95, 0.01, 240)), frost)
    return Surface(color=color, slopes=_scaled(ground, 0.085), air=0.4)


def ocean(
    rng: np.random.Generator, globe: Globe, hues: tuple[float, float], chroma: float, octaves: int
) -> Surface:
    """Return a living world: seas, green and dry land, ice at the poles, weather above."""
    ground, height = _ground(rng, globe, octaves)
    hue, _ = hues
    sea = gradient(
        [(0.0, (0.20, 0.09 * chroma, hue)), (0.7, (0.33, 0.10 * chroma, hue - 8)),
         (1.0, (0.58, 0.09 * chroma, hue - 40))],
        np.clip(0.9 + 0.55 * height, 0.0, 1.0),
    )  # fmt: skip
    dry = smooth_step(-0.25, 0.35, 0.55 - np.abs(globe.latitude) + 0.25 * height)
    land = blend(
        gradient([(0.0, (0.40, 0.07, 138)), (1.0, (0.56, 0.05, 100))], 0.3 + 0.3 * height),
        gradient([(0.0, (0.58, 0.08, 75)), (1.0, (0.74, 0.06, 70))], 0.3 + 0.3 * height),
        dry,
    )
    shore = smooth_step(0.14, 0.20, height)
    color = blend(sea, land, shore)
    ice = smooth_step(1.02, 1.16, np.abs(globe.latitude) + 0.09 * height)
    clouds = _clouds(rng, globe, octaves)
    white = np.clip(np.maximum(ice, clouds), 0.0, 1.0)
    color = blend(color, light((0.97, 0.006, 240)), white)
    raised = (ground[0] * shore * np.float32(0.06), ground[1] * shore * np.float32(0.06))
    towns = field(rng, _SHEET, _SHEET, cells=(40, 40), octaves=4, gain=0.8)
    lamps = smooth_step(1.1, 2.6, globe.wrapped(towns, times=2.0)) * shore * (1.0 - white)
    shine = light((0.8, 0.13, 70)) * (lamps * smooth_step(0.5, 0.9, 0.4 + 0.3 * height))
    return Surface(color=color, slopes=raised, shine=shine * np.float32(0.5), air=1.0)


def moon(
    rng: np.random.Generator, globe: Globe, hues: tuple[float, float], chroma: float, octaves: int
) -> Surface:
    """Return bare ground with dark plains and craters of all sizes."""
    sheet = field(rng, _SHEET, _SHEET, cells=(5, 5), octaves=octaves, gain=0.58)
    plains = field(rng, _SHEET, _SHEET, cells=(3, 3), octaves=4)
    height = sheet * np.float32(0.30) + _craters(rng)
    over, down = slopes(height, _SHEET / 60)
    tone = 0.52 + 0.05 * sheet + 0.10 * np.clip(height, -1.0, 1.0)
    tone -= 0.22 * smooth_step(0.1, 1.0, plains)
    hue, _ = hues
    stops: list[tuple[float, Oklch]] = [
        (0.0, (0.22, 0.015 * chroma, hue)),
        (0.5, (0.58, 0.02 * chroma, hue + 10)),
        (1.0, (0.90, 0.012 * chroma, hue + 20)),
    ]
    color = gradient(stops, globe.wrapped(np.asarray(tone, np.float32)))
    raised = (globe.wrapped(over) * np.float32(0.42), globe.wrapped(down) * np.float32(0.42))
    return Surface(color=color, slopes=raised, air=0.0)


def lava(
    rng: np.random.Generator, globe: Globe, hues: tuple[float, float], chroma: float, octaves: int
) -> Surface:
    """Return black crust, broken by rivers that glow on the night side too."""
    ground, height = _ground(rng, globe, octaves)
    sheet = field(rng, _SHEET, _SHEET, cells=(7, 7), octaves=octaves, gain=0.5)
    other = field(rng, _SHEET, _SHEET, cells=(14, 14), octaves=octaves, gain=0.55)
    lines = np.exp(-np.abs(sheet) * 9.0) + 0.7 * np.exp(-np.abs(other) * 9.0)
    cracks = globe.wrapped(warp(np.asarray(lines, np.float32), other, sheet, 9.0)) ** 1.5
    hot = np.clip(cracks * smooth_step(1.1, -0.7, height), 0.0, 1.0)
    hue, _ = hues
    crust = gradient([(0.0, (0.12, 0.02, hue)), (1.0, (0.36, 0.03, hue + 15))], 0.5 + 0.25 * height)
    glow = gradient(
        [(0.0, (0.0, 0.0, hue)), (0.3, (0.40, 0.17 * chroma, hue - 6)),
         (0.7, (0.72, 0.18 * chroma, hue + 16)), (1.0, (0.95, 0.1 * chroma, hue + 45))],
        hot,
    )  # fmt: skip
    limb = 0.35 + 0.65 * globe.z
    return Surface(
        color=crust, slopes=_scaled(ground, 0.10), shine=glow * limb * np.float32(1.9), air=0.25
    )


def icy(
    rng: np.random.Generator, globe: Globe, hues: tuple[float, float], chroma: float, octaves: int
) -> Surface:
    """Return a frozen sea, crossed by long colored cracks."""
    ground, height = _ground(rng, globe, octaves)
    one = field(rng, _SHEET, _SHEET, cells=(4, 4), octaves=octaves, gain=0.42)
    other = field(rng, _SHEET, _SHEET, cells=(6, 6), octaves=octaves, gain=0.45)
    cracks = np.maximum(np.exp(-np.abs(one) * 26.0), 0.7 * np.exp(-np.abs(other) * 30.0))
    cut = globe.wrapped(np.asarray(cracks, np.float32))
    hue, _ = hues
    color = gradient(
        [(0.0, (0.60, 0.07 * chroma, hue)), (0.5, (0.82, 0.04 * chroma, hue - 10)),
         (1.0, (0.97, 0.01, hue))],
        0.55 + 0.2 * height,
    )  # fmt: skip
    dark = light((0.48, 0.09 * chroma, hue + 100))
    return Surface(
        color=blend(color, dark, cut * np.float32(0.6)), slopes=_scaled(ground, 0.05), air=0.6
    )


#: Kind of planet -> what paints its surface.
SURFACES: dict[str, Painter] = {
    "banded": banded,
    "rocky": rocky,
    "ocean": ocean,
    "moon": moon,
    "lava": lava,
    "icy": icy,
}


def _ground(
    rng: np.random.Generator, globe: Globe, octaves: int
) -> tuple[tuple[Plane, Plane], Plane]:
    """Return the slopes and the height of uneven ground, in deviations."""
    sheet = field(rng, _SHEET, _SHEET, cells=(4, 4), octaves=octaves, gain=0.56)
    bent = warp(sheet, _turned(sheet), sheet[:, ::-1], 22.0)
    over, down = slopes(bent, _SHEET / 60)
    height = globe.wrapped(bent) + np.float32(0.16) * globe.wrapped(bent, times=4.3)
    fine = np.float32(0.45)
    right = globe.wrapped(over) + fine * globe.wrapped(over, times=4.3)
    below = globe.wrapped(down) + fine * globe.wrapped(down, times=4.3)
    return (right, below), height


def _clouds(rng: np.random.Generator, globe: Globe, octaves: int) -> Plane:
    sheet = field(rng, _SHEET, _SHEET, cells=(10, 7), octaves=octaves, gain=0.66)
    bend = field(rng, _SHEET, _SHEET, cells=(6, 6), octaves=3)
    swirls = warp(sheet, bend, _turned(bend), 26.0)
    fine = globe.wrapped(sheet, times=3.1)
    return smooth_step(0.1, 2.0, globe.wrapped(swirls) + np.float32(0.35) * fine)


def _craters(rng: np.random.Generator) -> Plane:
    """Return a sheet of craters: bowls with raised rims, in the depth of the largest."""
    sheet = np.zeros((_SHEET, _SHEET), np.float32)
    for _ in range(420):
        radius = min(2.2 + 2.4 * float(rng.pareto(1.5)), 52.0)
        x, y = rng.uniform(0, _SHEET, 2)
        left, top = max(0, int(x - 1.5 * radius)), max(0, int(y - 1.5 * radius))
        part = sheet[top : int(y + 1.5 * radius) + 1, left : int(x + 1.5 * radius) + 1]
        rows, columns = np.ogrid[0 : part.shape[0], 0 : part.shape[1]]
        off = np.sqrt((columns + left - x) ** 2 + (rows + top - y) ** 2) / radius
        bowl = -np.clip(1.0 - off**2.4, 0.0, 1.0) + 0.45 * np.exp(-(((off - 1.0) / 0.17) ** 2))
        part += (bowl * (radius / 52.0) ** 0.62).astype(np.float32)
    return sheet


def _scaled(pair: tuple[Plane, Plane], factor: float) -> tuple[Plane, Plane]:
    return pair[0] * np.float32(factor), pair[1] * np.float32(factor)


def _turned(sheet: Plane) -> Plane:
    """Return another sheet of the same kind: a quarter turn leaves no seam, a shift would."""
    return np.ascontiguousarray(np.rot90(sheet))
