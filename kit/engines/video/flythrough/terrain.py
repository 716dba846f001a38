"""Terrain: heights on a square that repeats, and what grows or lies on them.

One texel is one unit of the world. The square continues at its opposite edge, so a flight never
comes to an end of the land.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats
from kit.engines.media.noise import smooth_step

SIDE = 1024
_WARP = 18.0


@dataclass(frozen=True, slots=True)
class Land:
    """A square of land.

    Parameters
    ----------
    heights : ndarray of float32
        Shape (SIDE, SIDE), in units of the world, 0 and up; under water the bottom.
    water : float or None
        Height of the water's surface; None where there is none.
    rough : ndarray of float32
        Small unevenness for colors, mean 0, about -2 to 2.
    """

    kind: str
    heights: Floats
    water: float | None
    rough: Floats

    @property
    def surface(self) -> Floats:
        """Heights of what is seen from above: land or water."""
        if self.water is None:
            return self.heights
        return np.asarray(np.maximum(self.heights, np.float32(self.water)))


def land(kind: str, rng: np.random.Generator) -> Land:
    """Return land of a kind: alps, hills, forest, islands, desert or canyon."""
    heights, share = _KINDS[kind](rng)
    water = float(np.quantile(heights, share)) if share else None
    return Land(kind, heights, water, noise(rng, 64, 5, 0.7))


def noise(rng: np.random.Generator, cells: int, octaves: int, gain: float = 0.5) -> Floats:
    """Return noise without seams, mean 0 and deviation about 1, shape (SIDE, SIDE)."""
    total = np.zeros((SIDE, SIDE), np.float32)
    weight, loudness = 1.0, 0.0
    for octave in _octaves(rng, cells, octaves):
        cv2.scaleAdd(octave, weight, total, dst=total)
        loudness += weight * weight
        weight *= gain
    return np.asarray(total / np.float32(np.sqrt(loudness)))


def detail(kind: str, rng: np.random.Generator) -> tuple[Bytes, float]:
    """Return the grain of the ground, a tile about 128, and how strongly it shows."""
    if kind == "desert":
        down = np.arange(SIDE, dtype=np.float32)[:, None] * np.float32(2 * np.pi * 72 / SIDE)
        waves = np.sin(down + 3.0 * noise(rng, 4, 4)) * (0.7 + 0.3 * noise(rng, 6, 2))
        return np.clip(np.rint(128 + 50 * waves), 0, 255).astype(np.uint8), 0.13
    grain = noise(rng, 128, 3, 0.7)
    return np.clip(np.rint(128 + 46 * grain), 0, 255).astype(np.uint8), 0.22


def _alps(rng: np.random.Generator) -> tuple[Floats, float]:
    bulk = smooth_step(-1.1, 1.3, noise(rng, 2, 3))
    crests = _bent(_ridged(rng, 4, 9), rng, _WARP)
    heights = crests**1.15 * (0.25 + 0.9 * bulk) + 0.18 * bulk + 0.010 * noise(rng, 64, 4, 0.55)
    return _scaled(_worn(heights, 0.7), 168.0), 0.30


def _hills(rng: np.random.Generator) -> tuple[Floats, float]:
    bulk = noise(rng, 4, 4, 0.42)
    heights = 0.5 + 0.28 * bulk + 0.10 * np.abs(_bent(noise(rng, 8, 4), rng, 12.0))
    return _scaled(np.asarray(heights), 62.0), 0.14


def _forest(rng: np.random.Generator) -> tuple[Floats, float]:
    bulk = noise(rng, 4, 5, 0.45)
    ground = _scaled(_bent(0.5 + 0.3 * bulk, rng, 14.0), 84.0)
    low = float(np.quantile(ground, 0.16))
    stand = smooth_step(low + 0.6, low + 3.5, ground) * smooth_step(-1.5, -0.6, noise(rng, 24, 3))
    return np.asarray(ground + stand * _crowns(rng)), 0.14


def _islands(rng: np.random.Generator) -> tuple[Floats, float]:
    bulk = smooth_step(-0.6, 2.6, noise(rng, 4, 4, 0.5))
    crests = _bent(_ridged(rng, 6, 8), rng, _WARP)
    heights = bulk * (0.30 + 0.95 * crests) + 0.05 * noise(rng, 8, 6)
    return _scaled(_worn(heights, 1.1), 120.0), 0.62


def _desert(rng: np.random.Generator) -> tuple[Floats, float]:
    along = np.arange(SIDE, dtype=np.float32)[:, None] * np.float32(2 * np.pi / SIDE)
    bend, size = noise(rng, 3, 4, 0.45), smooth_step(-1.4, 1.2, noise(rng, 4, 3))
    dunes = np.zeros((SIDE, SIDE), np.float32)
    for waves, weight in ((9, 1.0), (21, 0.32)):
        phase = (along * waves + bend * (1.5 + waves * 0.17)) % np.float32(2 * np.pi)
        share = phase / np.float32(2 * np.pi)
        # A long windward side and a short steep one behind the crest.
        dunes += weight * np.where(share < 0.74, share / 0.74, (1 - share) / 0.26) ** 1.25
    dunes = cv2.GaussianBlur(_padded(dunes * (0.35 + 0.9 * size), 8), (0, 0), 1.3)[8:-8, 8:-8]
    return _scaled(np.asarray(dunes) + 0.5 * size, 44.0), 0.0


def _canyon(rng: np.random.Generator) -> tuple[Floats, float]:
    river = np.abs(_bent(noise(rng, 3, 4, 0.45), rng, 26.0))
    bulk = np.clip(river * 1.15, 0.0, 1.0) + 0.16 * noise(rng, 6, 5)
    steps = 5.0
    level = np.clip(bulk, 0.0, 1.4) * steps
    whole = np.floor(level)
    terraces = (whole + smooth_step(0.52, 0.98, level - whole)) / steps
    heights = 0.82 * terraces + 0.18 * bulk + 0.012 * noise(rng, 48, 5, 0.6)
    return _scaled(np.asarray(heights), 128.0), 0.07


_KINDS: dict[str, Callable[[np.random.Generator], tuple[Floats, float]]] = {
    "alps": _alps,
    "hills": _hills,
    "forest": _forest,
    "islands": _islands,
    "desert": _desert,
    "canyon": _canyon,
}


def _octaves(rng: np.random.Generator, cells: int, count: int) -> list[Floats]:
    sizes = [cells << octave for octave in range(count) if cells << octave <= SIDE]
    return [_enlarged(rng.standard_normal((size, size), np.float32)) for size in sizes]


def _enlarged(lattice: Floats) -> Floats:
    """Enlarge a lattice that repeats to the square, by an exact factor where there is one."""
    cells = lattice.shape[0]
    if cells == SIDE:
        return lattice
    margin = 2
    padded = np.pad(lattice, margin, mode="wrap")
    step = -(-SIDE // cells)
    size = step * padded.shape[0]
    big = cv2.resize(padded, (size, size), interpolation=cv2.INTER_CUBIC)
    inside = big[step * margin : size - step * margin, step * margin : size - step * margin]
    if inside.shape[0] == SIDE:
        return np.ascontiguousarray(inside)
    return np.asarray(cv2.resize(inside, (SIDE, SIDE), interpolation=cv2.INTER_LINEAR))


def _ridged(rng: np.random.Generator, cells: int, octaves: int) -> Floats:
    """Return crests, 0 to 1: each octave is rough only where the one before it stood high.

    Source: F. K. Musgrave, "Procedural fractal terrains", in "Texturing and Modeling" (1994).
    """
    total = np.zeros((SIDE, SIDE), np.float32)
    high = np.ones((SIDE, SIDE), np.float32)
    weight = 1.0
    for octave in _octaves(rng, cells, octaves):
        crest = np.clip(1.0 - np.abs(octave) * np.float32(0.9), 0.0, 1.0) ** 2 * high
        total += np.float32(weight) * crest
        high = np.clip(crest * np.float32(1.6), 0.0, 1.0)
        weight *= 0.5
    return np.asarray(total / total.max())


def _bent(plane: Floats, rng: np.random.Generator, amount: float) -> Floats:
    """Return a field taken from places that noise leads astray, so that nothing runs straight."""
    grid = np.arange(SIDE, dtype=np.float32)
    x = noise(rng, 4, 5) * np.float32(amount) + grid
    y = noise(rng, 4, 5) * np.float32(amount) + grid[:, None]
    return np.asarray(cv2.remap(plane, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP))


def _crowns(rng: np.random.Generator) -> Floats:
    """Return pointed trees, in units: one in each cell of a shaken grid."""
    cell = 6
    count = SIDE // cell
    crowns = np.zeros((SIDE, SIDE), np.float32)
    corner = np.arange(count) * (SIDE / count)
    x = (corner[None] + rng.uniform(0, cell, (count, count))).astype(int) % SIDE
    y = (corner[:, None] + rng.uniform(0, cell, (count, count))).astype(int) % SIDE
    crowns[y, x] = rng.uniform(0.55, 1.0, (count, count))
    grown = np.zeros_like(crowns)
    for reach in range(4):
        size = 2 * reach + 1
        disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size))
        ring = cv2.dilate(_padded(crowns, 4), disc)[4:-4, 4:-4]
        np.maximum(grown, ring * np.float32(7.5 - 2.0 * reach), out=grown)
    return np.asarray(cv2.GaussianBlur(_padded(grown, 4), (0, 0), 0.55)[4:-4, 4:-4])


def _worn(heights: Floats, sigma: float) -> Floats:
    """Return land whose crests are wider than a texel: thinner ones are seen as rows of teeth."""
    return np.asarray(cv2.GaussianBlur(_padded(heights, 8), (0, 0), sigma)[8:-8, 8:-8])


def _padded(plane: Floats, margin: int) -> Floats:
    return np.pad(plane, margin, mode="wrap")


def _scaled(heights: Floats, most: float) -> Floats:
    low, high = float(heights.min()), float(heights.max())
    return np.asarray((heights - low) * np.float32(most / (high - low)), np.float32)
