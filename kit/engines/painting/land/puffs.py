"""Puffs: smoke as a heap of spheres that grow on their way up, torn about by noise."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.media.color import Floats
from kit.engines.media.noise import line, smooth_step
from kit.engines.painting.noise import sample, tile


@dataclass(frozen=True, slots=True)
class Plume:
    """How smoke rises: puffs, their size at the crater and how it grows, wind, and cover."""

    puffs: int
    start: float
    grown: float
    wind: float
    cover: float


ASH = Plume(420, 0.55, 2.3, 0.5, 0.97)
STEAM = Plume(110, 0.24, 1.25, 1.15, 0.62)


def heap(
    rng: np.random.Generator,
    shape: tuple[int, int],
    crater: tuple[float, float],
    unit: float,
    plume: Plume,
    side: float,
) -> tuple[Floats, Floats, float]:
    """Return how far a heap of spheres bulges toward the viewer, how much it covers, its lean.

    The lean is how far the heap goes aside on its way up, for each pixel of its height.
    """
    depth, cover = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    tall = height_of(crater[1], unit)
    sway = line(rng, np.linspace(0.0, 1.0, plume.puffs), 0.35, octaves=2)
    wind = -np.sign(side) * plume.wind * rng.uniform(0.7, 1.2)
    for share, bent in zip(np.linspace(0.0, 1.0, plume.puffs), sway, strict=True):
        size = unit * (plume.start + plume.grown * share**0.85)
        x = crater[0] + tall * wind * 0.45 * share**1.6 + 0.5 * size * bent * share
        x += 0.62 * size * rng.standard_normal()
        y = crater[1] + 0.3 * unit - tall * share + 0.3 * size * rng.standard_normal()
        radius = size * rng.uniform(0.30, 0.66)
        near = radius * rng.uniform(-0.4, 0.8)
        thin = 1.0 - smooth_step(0.45, 1.0, share) * (0.9 if plume is STEAM else 0.25)
        _puff(depth, cover, (x, y), radius, near, plume.cover * float(thin))
    return depth, cover, float(0.45 * wind)


def height_of(room: float, unit: float) -> float:
    """Return how high a heap rises over a crater with some room above it."""
    return max(1.15 * room, 6.0 * unit)


def _puff(
    depth: Floats,
    cover: Floats,
    at: tuple[float, float],
    radius: float,
    near: float,
    share: float,
) -> None:
    height, width = depth.shape
    left, right = max(0, int(at[0] - radius)), min(width, int(at[0] + radius) + 2)
    top, bottom = max(0, int(at[1] - radius)), min(height, int(at[1] + radius) + 2)
    if left >= right or top >= bottom:
        return
    x = (np.arange(left, right, dtype=np.float32) - np.float32(at[0]))[None]
    y = (np.arange(top, bottom, dtype=np.float32) - np.float32(at[1]))[:, None]
    inside = np.maximum(np.float32(radius * radius) - x * x - y * y, 0.0)
    window = (slice(top, bottom), slice(left, right))
    bulge = np.sqrt(inside)
    shown = (bulge + np.float32(near)) * (inside > 0.0)
    depth[window] = np.maximum(depth[window], shown)
    soft = smooth_step(0.0, 0.75, bulge / np.float32(radius)) * np.float32(share)
    cover[window] += (1.0 - cover[window]) * soft * np.float32(0.8)


def torn(
    rng: np.random.Generator, depth: Floats, cover: Floats, unit: float
) -> tuple[Floats, Floats, Floats]:
    """Return a heap of puffs pulled about by noise, and fine billows that lie on it."""
    y, x = (np.asarray(part, np.float32) for part in np.indices(depth.shape))
    noise = tile(rng, cells=8, octaves=6, gain=0.55)
    other = tile(rng, cells=8, octaves=6, gain=0.55)
    fine = np.float32(40.0 / max(unit, 2.0))
    right, down = sample(noise, x * fine, y * fine), sample(other, x * fine, y * fine)
    reach = np.float32(0.13 * unit)
    moved = (x + reach * right, y + reach * down)
    depth, cover = (cv2.remap(part, *moved, cv2.INTER_LINEAR) for part in (depth, cover))
    billows = 1.0 - np.abs(sample(noise, x * 2.3 * fine, y * 2.3 * fine))
    bumps = np.asarray(np.float32(0.085 * unit) * billows * (cover > 0.02), np.float32)
    return np.asarray(depth), np.asarray(cover), bumps
