"""Nebulae: clouds of glowing gas with dust before them, lit by the stars inside."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Oklch, mix
from kit.engines.media.noise import smooth_step
from kit.engines.painting.framing import pool
from kit.engines.painting.noise import Plane, across, blur, enlarge_middle, field, warp
from kit.engines.painting.tone import gradient, light


@dataclass(frozen=True, slots=True, kw_only=True)
class Gas:
    """What a nebula looks like.

    Parameters
    ----------
    hues : tuple of float
        OKLCH hue in degrees of the main gas, of its hottest parts and of the second gas.
    chroma : float
        Factor on the strength of the colors.
    amount : float
        How much of the sky it fills, 0 (a breath) to 1 (all of it).
    core : tuple of float
        Where the stars that light it stand, as shares of width and height.
    zoom : float
        How many times smaller than usual it is.
    alone : float
        Reach of a single cloud with nothing around it, as a share of the shorter side; 0 where
        there is more of it everywhere.
    glow : float
        Factor on its light.
    """

    hues: tuple[float, float, float]
    chroma: float
    amount: float
    core: tuple[float, float]
    zoom: float = 1.0
    alone: float = 0.0
    glow: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cloud:
    """A painted nebula: its light, and how thick it is (0 to 1), which hides stars behind it."""

    shine: Plane
    thickness: Plane


def nebula(
    rng: np.random.Generator, height: int, width: int, gas: Gas, octaves: int, progress: Progress
) -> Cloud:
    """Return the light and the thickness of a nebula, each of shape (height, width, ...)."""
    size = max(height, width)

    def noise(cells: float, gain: float = 0.5) -> Plane:
        far = cells * max(1.0, gas.zoom)
        plane = field(
            rng, height, width, cells=across(far, height, width), octaves=octaves, gain=gain
        )
        return plane if gas.zoom >= 1.0 else enlarge_middle(plane, 1.0 / gas.zoom)

    reach = size / gas.zoom
    wind, drift = noise(2.5), noise(2.5)
    progress.report(0.1)
    cloud = noise(3.0, 0.54)
    progress.report(0.14)
    body = warp(cloud, wind, drift, 0.085 * reach)
    progress.report(0.18)
    cloud = noise(4.0, 0.57)
    progress.report(0.22)
    veil = warp(cloud, drift, body, 0.065 * reach)
    progress.report(0.25)
    cloud = ridges(noise(4.0, 0.55), noise(9.0, 0.6))
    progress.report(0.35)
    threads = warp(cloud, wind, body, 0.05 * reach)
    progress.report(0.4)
    cloud = noise(5.0, 0.56)
    progress.report(0.45)
    dust = warp(cloud, veil, wind, 0.07 * reach)
    progress.report(0.5)
    place = _place(rng, height, width, gas, wind)
    near = _falloff(height, width, gas)
    # The stars inside were born of the gas: it is densest round them.
    mass = body + 1.3 * near - 0.25
    if gas.alone:  # a single cloud is there whatever the noise says, and no dust hides it
        heart = pool(height, width, gas.core, gas.alone)
        mass, dust = mass + 1.2 * heart, dust - 1.4 * heart
    density = place * smooth_step(-1.5, 1.7, mass) * (0.62 + 0.75 * threads)
    progress.report(0.6)
    dark = smooth_step(0.15, 1.5, dust + 0.35 * body) * np.clip(place * 1.4, 0.0, 1.0)
    relief = _relief(density + 0.25 * dark, gas.core, size)
    progress.report(0.7)
    first = gradient(_stops(gas.hues[0], gas.hues[1], gas.chroma), np.clip(density * 0.82, 0, 1))
    progress.report(0.75)
    shine = first * (0.30 + 1.5 * near)
    progress.report(0.8)
    second = smooth_step(-0.3, 2.1, veil) * (0.15 + place) * (1.1 - near)
    shine += gradient(
        _stops(gas.hues[2], gas.hues[2] - 18, gas.chroma), 0.88 * second
    ) * np.float32(0.5)
    progress.report(0.85)
    shine *= relief * (1.0 - 0.86 * dark)
    progress.report(0.9)
    haze = blur(place * near, 0.05 * size)
    shine += haze * light((0.55, 0.13 * gas.chroma, gas.hues[1])) * np.float32(0.16)
    thickness = np.clip(0.75 * density + 0.8 * dark, 0.0, 1.0)
    progress.report(0.95)
    lit = np.maximum(shine, 0.0)
    if gas.alone:
        lit *= place
    if gas.glow != 1.0:
        lit, thickness = lit * np.float32(gas.glow), thickness * np.float32(gas.glow)
    progress.report(1.0)
    return Cloud(shine=np.asarray(lit), thickness=np.asarray(thickness, np.float32))


def _place(rng: np.random.Generator, height: int, width: int, gas: Gas, wind: Plane) -> Plane:
    """Return where the gas lies: a band through the core with ragged edges."""
    y, x = np.ogrid[0:height, 0:width]
    size = max(height, width) / gas.zoom
    dx = ((x - gas.core[0] * width) / size).astype(np.float32)
    dy = ((y - gas.core[1] * height) / size).astype(np.float32)
    turn = rng.uniform(0.0, np.pi)
    along = dx * np.float32(np.cos(turn)) + dy * np.float32(np.sin(turn))
    off = dy * np.float32(np.cos(turn)) - dx * np.float32(np.sin(turn)) + wind * np.float32(0.07)
    wide = 0.07 + 0.33 * gas.amount
    band = np.exp(-((off / wide) ** 2) - (along / (0.30 + 0.9 * gas.amount)) ** 2)
    breath = 0.10 + 0.14 * gas.amount
    place = np.asarray(np.clip(band * (0.55 + 0.5 * gas.amount) + breath, 0.0, 1.0), np.float32)
    if gas.alone:
        ragged = np.clip(1.0 + np.float32(0.62) * wind, 0.5, 1.6)
        place *= smooth_step(0.10, 1.15, pool(height, width, gas.core, gas.alone) * ragged)
        place /= max(float(place.max()), 0.1)
    return place


def _relief(density: Plane, core: tuple[float, float], size: int) -> Plane:
    """Return brightness by how far each slope of the gas faces the stars inside."""
    height, width = density.shape
    soft = cv2.GaussianBlur(density, (0, 0), 0.0022 * size)
    down = cv2.Scharr(soft, cv2.CV_32F, 0, 1, scale=size / 32)
    over = cv2.Scharr(soft, cv2.CV_32F, 1, 0, scale=size / 32)
    y, x = np.ogrid[0:height, 0:width]
    dx = (core[0] * width - x).astype(np.float32)
    dy = (core[1] * height - y).astype(np.float32)
    facing = (over * dx + down * dy) / np.sqrt(dx * dx + dy * dy + (0.06 * size) ** 2)
    return np.asarray(np.clip(1.0 - 0.034 * facing, 0.35, 1.8), np.float32)


def _falloff(height: int, width: int, gas: Gas) -> Plane:
    y, x = np.ogrid[0:height, 0:width]
    core, size = gas.core, max(height, width) / gas.zoom
    square = ((x - core[0] * width) / size) ** 2 + ((y - core[1] * height) / size) ** 2
    return np.asarray(1.0 / (1.0 + 26.0 * square), np.float32)


def _stops(cool: float, hot: float, chroma: float) -> list[tuple[float, Oklch]]:
    return [
        (0.0, (0.0, 0.0, cool)),
        (0.16, (0.13, 0.06 * chroma, cool)),
        (0.38, (0.33, 0.15 * chroma, cool)),
        (0.62, mix((0.56, 0.19 * chroma, cool), (0.68, 0.17 * chroma, hot), 0.55)),
        (0.84, (0.84, 0.13 * chroma, hot)),
        (1.0, (0.98, 0.04 * chroma, hot)),
    ]


def ridges(coarse: Plane, fine: Plane) -> Plane:
    """Return ridges, 0 to 1, where the coarse field crosses zero, broken up by the fine one."""
    sharp = np.clip(1.0 - np.abs(coarse) * 0.9, 0.0, 1.0) ** 2
    small = np.clip(1.0 - np.abs(fine) * 0.9, 0.0, 1.0) ** 2
    return np.asarray(sharp * (0.55 + 0.45 * small), np.float32)
