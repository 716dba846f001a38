"""Bursts: a star that blew up, and a comet with its tails."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kit.engines.base import Progress
from kit.engines.media.noise import smooth_step
from kit.engines.painting.noise import Plane, across, field
from kit.engines.painting.space.stars import add_flare
from kit.engines.painting.tone import blend, light


@dataclass(frozen=True, slots=True)
class Nova:
    """A shell of gas around what is left of a star.

    Parameters
    ----------
    x, y, radius : float
        In pixels.
    hues : tuple of float
        Of the shell and of the gas within, degrees.
    chroma : float
        Factor on the strength of its colors.
    """

    x: float
    y: float
    radius: float
    hues: tuple[float, float]
    chroma: float


@dataclass(frozen=True, slots=True)
class Comet:
    """A comet: its head in pixels, length of its tails, and where they point, in radians."""

    x: float
    y: float
    length: float
    angle: float
    hue: float


def add_nova(
    rng: np.random.Generator, picture: Plane, nova: Nova, octaves: int, progress: Progress
) -> None:
    """Add a shell in filaments, the gas that fills it and the star in its middle, in place."""
    _, height, width = picture.shape
    y, x = (axis.astype(np.float32) for axis in np.ogrid[0:height, 0:width])
    dx, dy = (x - np.float32(nova.x)) / nova.radius, (y - np.float32(nova.y)) / nova.radius
    away = np.sqrt(dx * dx + dy * dy)
    cells = across(7.0, height, width)
    broad = field(rng, height, width, cells=cells, octaves=octaves)
    fine = field(rng, height, width, cells=across(15.0, height, width), octaves=octaves, gain=0.6)
    progress.report(0.3)
    bent = away * (1.0 + 0.10 * broad + 0.05 * fine)
    # Light of a thin shell gathers at its rim, where the eye looks along it.
    rim = np.exp(-(((bent - 0.92) / 0.11) ** 2)) + 0.35 * smooth_step(1.0, 0.5, bent)
    threads = np.exp(np.abs(broad + 0.5 * fine) * -3.2) + 0.5 * np.exp(np.abs(fine) * -4.5)
    inner = smooth_step(0.95, 0.15, bent) * np.clip(0.55 + 0.45 * broad, 0.0, 1.4)
    progress.report(0.6)
    shell, gas = (light((0.72, 0.17 * nova.chroma, hue)) for hue in nova.hues)
    color = blend(gas, shell, smooth_step(0.45, 0.95, bent))
    picture += color * (rim * (0.25 + 1.5 * threads) * 0.85).astype(np.float32)
    picture += gas * (inner * 0.30).astype(np.float32)
    heart = np.exp(away * away * -14.0)
    picture += light((0.95, 0.05, 75)) * (heart * 0.9).astype(np.float32)
    add_flare(picture, (nova.x, nova.y), 2.6 * max(height, width) / 1024, light((0.98, 0.02, 90)))


def add_comet(rng: np.random.Generator, picture: Plane, comet: Comet, octaves: int) -> None:
    """Add a comet's head, its narrow blue tail and its wide bent one of dust, in place."""
    _, height, width = picture.shape
    y, x = (axis.astype(np.float32) for axis in np.ogrid[0:height, 0:width])
    dx, dy = (x - np.float32(comet.x)) / comet.length, (y - np.float32(comet.y)) / comet.length
    cos, sin = np.float32(np.cos(comet.angle)), np.float32(np.sin(comet.angle))
    along, aside = dx * cos + dy * sin, dy * cos - dx * sin
    rough = field(rng, height, width, cells=across(20.0, height, width), octaves=octaves)
    behind = smooth_step(-0.02, 0.05, along)
    ions = _tail(along, aside, 0.010, 0.045) * np.exp(np.maximum(along, 0.0) * -1.9)
    ions *= 1.0 + 0.22 * rough
    dust = _tail(along, aside - 0.16 * along * np.abs(along), 0.016, 0.17)
    dust *= np.exp(np.maximum(along, 0.0) * -2.9) * (1.0 + 0.12 * rough)
    picture += light((0.78, 0.10, comet.hue)) * (ions * behind * 1.1).astype(np.float32)
    picture += light((0.90, 0.05, 80)) * (dust * behind * 0.75).astype(np.float32)
    near = (dx * dx + dy * dy) * np.float32(1 / 0.022**2)
    picture += light((0.96, 0.03, 200)) * (np.exp(-near) * 2.6 + 0.55 * np.exp(-(near**0.5)))


def _tail(along: Plane, aside: Plane, thin: float, spread: float) -> Plane:
    """Return a tail that widens behind its head, and thins out as much."""
    wide = np.float32(thin) + np.float32(spread) * np.maximum(along, 0.0)
    return np.asarray(np.exp(-((aside / wide) ** 2)) * (np.float32(thin) / wide) ** 0.45)
