"""Terrain: heights on a square that repeats, and what stands on them.

The square is `SIDE` units of the world wide and continues at its opposite edges, so a flight never
comes to an end of the land. Planes are made of `GRID` texels each way, finer than a unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Bytes, Floats

SIDE = 1024
GRID = 2048
TEXEL = SIDE / GRID


@dataclass(frozen=True, slots=True)
class Station:
    """Where the camera is.

    Parameters
    ----------
    heading : float
        Azimuth that it looks to, in radians: 0 along y, a quarter turn along x.
    height : float
        In units of the world.
    horizon : float
        Share of the frame's height at which the horizon stands.
    bank : float
        How far the camera leans to the right, in radians.
    """

    x: float
    y: float
    heading: float
    height: float
    horizon: float
    bank: float


@dataclass(frozen=True, slots=True)
class Land:
    """A square of land.

    Parameters
    ----------
    heights : ndarray of float32
        Shape (GRID, GRID), in units of the world, trees included; under water the bottom.
    water : float or None
        Height of the water's surface; None where there is none.
    woods : ndarray of uint8
        How much of a place is under trees, 0 to 255.
    crowns : ndarray of uint8
        Shape (n, n, 2), repeating: where in its crown each place would be under trees, 0 between
        them to 255 at their tips, and the number of the tree.
    plots : ndarray of uint8 or None
        Which field a place belongs to, as a number that says nothing else; None: no fields.
    """

    kind: str
    heights: Floats
    water: float | None
    woods: Bytes
    crowns: Bytes
    plots: Bytes | None = None

    @property
    def surface(self) -> Floats:
        """Heights of what is seen from above, land or water, shape (GRID, GRID)."""
        if self.water is None:
            return self.heights
        return np.asarray(np.maximum(self.heights, np.float32(self.water)))

    def top(self, x: NDArray[Any], y: NDArray[Any]) -> Floats:
        """Return the height of what is seen from above, land or water, at places of the world."""
        column, row = (np.floor(axis / TEXEL).astype(np.int64) % GRID for axis in (x, y))
        ground = self.heights[row, column]
        return ground if self.water is None else np.maximum(ground, np.float32(self.water))

    def wet(self, x: NDArray[Any], y: NDArray[Any]) -> NDArray[np.bool_]:
        """Return whether places of the world are under water."""
        if self.water is None:
            return np.zeros(np.broadcast(x, y).shape, np.bool_)
        column, row = (np.floor(axis / TEXEL).astype(np.int64) % GRID for axis in (x, y))
        return np.asarray(self.heights[row, column] < self.water)


def noise(
    rng: np.random.Generator, cells: int, octaves: int, gain: float = 0.5, side: int = SIDE
) -> Floats:
    """Return noise without seams, mean 0 and deviation about 1, shape (side, side).

    Parameters
    ----------
    cells : int
        Blobs across the square; each octave has twice as many as the one before it.
    side : int
        A power of two.
    """
    # A pyramid costs little more than its last enlargement.
    total = rng.standard_normal((cells, cells), np.float32)
    weight, loudness = 1.0, 1.0
    for _ in range(octaves - 1):
        if 2 * total.shape[0] > side:
            break
        weight *= gain
        loudness += weight * weight
        total = doubled(total)
        cv2.scaleAdd(rng.standard_normal(total.shape, np.float32), weight, total, dst=total)
    return np.asarray(_enlarged(total, side) * np.float32(1.15 / np.sqrt(loudness)))


def doubled(plane: Floats) -> Floats:
    """Return a plane that repeats at its edges with twice as many cells each way."""
    padded = np.pad(plane, 2, mode="wrap")
    return np.ascontiguousarray(
        cv2.resize(padded, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC)[4:-4, 4:-4]
    )


def bent(plane: Floats, rng: np.random.Generator, amount: float) -> Floats:
    """Return a field taken from places that noise leads astray, so that nothing runs straight.

    Parameters
    ----------
    amount : float
        How far, in units of the world.
    """
    side = plane.shape[0]
    grid = np.arange(side, dtype=np.float32)
    far = np.float32(amount * side / SIDE)
    x, y = (noise(rng, 4, 6, side=side) for _ in range(2))
    x *= far
    y *= far
    x += grid
    y += grid[:, None]
    return np.asarray(cv2.remap(plane, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP))


def ridged(rng: np.random.Generator, cells: int, octaves: int, side: int = SIDE) -> Floats:
    """Return crests, 0 to 1: each octave is rough only where the one before it stood high.

    Source: F. K. Musgrave, "Procedural fractal terrains", in "Texturing and Modeling" (1994).
    """
    work = 1 << (4 * cells - 1).bit_length()  # no finer than an octave needs
    total, high = np.zeros((work, work), np.float32), np.ones((work, work), np.float32)
    weight = 1.0
    for octave in range(octaves):
        lattice = rng.standard_normal((cells << octave, cells << octave), np.float32)
        while work < min(side, 4 * (cells << octave)):
            total, high, work = doubled(total), doubled(high), 2 * work
        crest = _enlarged(lattice, work)
        np.abs(crest, out=crest)
        crest *= np.float32(-0.9)
        crest += np.float32(1)
        np.maximum(crest, 0.0, out=crest)
        crest *= crest
        crest *= high
        cv2.scaleAdd(crest, weight, total, dst=total)
        high = np.minimum(crest * np.float32(1.6), np.float32(1))
        weight *= 0.5
    # Smooth enlarging swings below 0.
    return np.asarray(np.maximum(total, 0.0) / total.max())


def _enlarged(lattice: Floats, side: int) -> Floats:
    """Enlarge a lattice that repeats to the square, by an exact factor where there is one."""
    cells = lattice.shape[0]
    if cells == side:
        return lattice
    margin = 2
    padded = np.pad(lattice, margin, mode="wrap")
    step = -(-side // cells)
    size = step * padded.shape[0]
    big = cv2.resize(padded, (size, size), interpolation=cv2.INTER_CUBIC)
    inside = big[step * margin : size - step * margin, step * margin : size - step * margin]
    if inside.shape[0] == side:
        return np.ascontiguousarray(inside)
    return np.asarray(cv2.resize(inside, (side, side), interpolation=cv2.INTER_LINEAR))
