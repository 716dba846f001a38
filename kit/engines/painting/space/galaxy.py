"""Galaxies: spiral arms of young stars and dust round a warm core."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kit.engines.base import Progress
from kit.engines.media.noise import smooth_step
from kit.engines.painting.noise import Plane, across, field, warp
from kit.engines.painting.space.gas import Cloud
from kit.engines.painting.tone import light


@dataclass(frozen=True, slots=True, kw_only=True)
class Spiral:
    """A galaxy to be painted.

    Parameters
    ----------
    x, y, radius : float
        In pixels; the arms fade out at about the radius.
    opening : float
        How much it faces the viewer: 1 is a circle, 0.2 nearly a line.
    turn : float
        Of its long axis in the picture, in radians.
    arms : int
        Number of main arms.
    pitch : float
        How steeply they wind outward, in radians; 0.2 is tight.
    hues : tuple of float
        Of the core, of the arms and of the glowing gas in them.
    """

    x: float
    y: float
    radius: float
    opening: float
    turn: float
    arms: int
    pitch: float
    hues: tuple[float, float, float]
    chroma: float


def spiral(
    rng: np.random.Generator, height: int, width: int, it: Spiral, octaves: int, progress: Progress
) -> Cloud:
    """Return the light and the thickness of a galaxy, each of shape (height, width, ...)."""
    size = max(height, width)

    def noise(cells: float, gain: float = 0.55) -> Plane:
        return field(
            rng, height, width, cells=across(cells, height, width), octaves=octaves, gain=gain
        )

    wind = noise(6.0)
    progress.report(0.08)
    drift = noise(6.0)
    progress.report(0.15)
    far, angle = _disc(height, width, it)
    progress.report(0.25)
    clumps = warp(noise(12.0, 0.62), wind, drift, 0.02 * size)
    progress.report(0.35)
    phase = it.arms * (angle - np.log(far + 0.03) / np.float32(np.tan(it.pitch)))
    phase = phase + np.float32(0.55) * wind
    wave = 0.5 + 0.5 * np.cos(phase)
    inner = 0.5 + 0.5 * np.cos(phase + 0.95)
    progress.report(0.45)
    spur = 0.5 + 0.5 * np.cos(2.0 * phase + 1.3 + 0.8 * drift)
    progress.report(0.5)
    disc = np.exp(-far * 3.1) * smooth_step(1.2, 0.55, far + 0.06 * wind)
    progress.report(0.55)
    body = (0.16 + 0.95 * wave**2.2 + 0.22 * spur**2) * np.clip(0.75 + 0.33 * clumps, 0.06, 2.4)
    progress.report(0.6)
    lanes = inner**3 * smooth_step(-0.7, 1.1, clumps + 0.4 * drift)
    dark = np.clip(lanes * 1.1, 0.0, 0.92) * smooth_step(0.05, 0.22, far)
    progress.report(0.65)
    fine = noise(46.0, 0.7)
    progress.report(0.7)
    knots = np.clip(fine + 0.6 * clumps - 1.35, 0.0, 2.0) * wave**3
    progress.report(0.75)
    young = smooth_step(0.04, 0.40, far + 0.02 * wind)
    old_light = light((0.86, 0.085 * it.chroma, it.hues[0]))
    new_light = light((0.74, 0.12 * it.chroma, it.hues[1]))
    shine = (old_light + (new_light - old_light) * young) * (disc * body * 2.6)
    progress.report(0.85)
    shine += light((0.68, 0.19 * it.chroma, it.hues[2])) * (knots * disc * 4.2)
    shine *= 1.0 - dark
    progress.report(0.93)
    bulge = np.exp(-far * 17.0) * 1.3 + np.exp(-far * 60.0) * 3.0
    shine += old_light * (bulge * (1.0 - 0.35 * dark))
    halo = np.exp(-far * 4.2) * 0.05
    shine += new_light * halo
    thickness = np.clip(disc * body * 1.4 + 0.3 * dark * disc, 0.0, 1.0)
    return Cloud(shine=np.asarray(shine, np.float32), thickness=np.asarray(thickness, np.float32))


def _disc(height: int, width: int, it: Spiral) -> tuple[Plane, Plane]:
    """Return distance from the core, in radii, and angle about it, both in the tilted disc."""
    y, x = np.ogrid[0:height, 0:width]
    dx = ((x - it.x) / it.radius).astype(np.float32)
    dy = ((y - it.y) / it.radius).astype(np.float32)
    cos, sin = np.float32(np.cos(it.turn)), np.float32(np.sin(it.turn))
    along = dx * cos + dy * sin
    off = (dy * cos - dx * sin) / np.float32(it.opening)
    return np.sqrt(along * along + off * off), np.arctan2(off, along)
