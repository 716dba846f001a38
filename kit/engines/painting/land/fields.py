"""Fields: noise that terrain, clouds and waves are made of.

Tiles repeat without a seam, so that one tile serves every distance; `eroded` and `ridged` do not.
"""

from __future__ import annotations

from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Floats

#: Numbers of any precision, where a function takes what it is given.
Reals: TypeAlias = NDArray[np.floating]

#: Side of a tile.
SIDE = 512


def tile(
    rng: np.random.Generator,
    *,
    cells: int = 4,
    octaves: int = 6,
    gain: float = 0.5,
    side: int = SIDE,
) -> Floats:
    """Return noise of mean 0 and deviation 1, shape (side, side), that repeats without a seam.

    Parameters
    ----------
    cells : int
        Blobs across; a power of two, as `side` is.
    """
    acc = rng.standard_normal((cells, cells), np.float32)
    weight, size = 1.0, cells
    while size < side:
        acc = _doubled(acc)
        size, weight, octaves = size * 2, weight * gain, octaves - 1
        if octaves > 0:
            acc += weight * rng.standard_normal((size, size), np.float32)
    mean, deviation = cv2.meanStdDev(acc)
    return np.asarray((acc - float(mean[0, 0])) / float(deviation[0, 0]), np.float32)


def sampled(field: Floats, x: Reals, y: Reals) -> Floats:
    """Return a tile at positions in its own pixels, repeated without end."""
    height, width = field.shape[:2]
    return np.asarray(
        cv2.remap(
            field,
            _wrapped(x, width),
            _wrapped(y, height),
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_WRAP,
        )
    )


def slopes(field: Floats) -> tuple[Floats, Floats]:
    """Return how much a tile rises in a pixel to the right and in a pixel down."""
    padded = np.pad(field, 1, mode="wrap")
    right = 0.5 * (padded[1:-1, 2:] - padded[1:-1, :-2])
    down = 0.5 * (padded[2:, 1:-1] - padded[:-2, 1:-1])
    return np.ascontiguousarray(right), np.ascontiguousarray(down)


def warped(field: Floats, across: Floats, down: Floats, amount: float) -> Floats:
    """Return a tile pulled about by two others, `amount` pixels for a deviation of 1."""
    height, width = field.shape
    y, x = np.indices((height, width), np.float32)
    return sampled(field, x + amount * across, y + amount * down)


def eroded(
    rng: np.random.Generator, side: int, *, cells: float = 4.0, octaves: int = 8, wear: float = 1.0
) -> Floats:
    """Return worn hills, shape (side, side), 0 to 1: gullied slopes, smooth feet and valleys.

    Each octave of noise counts less where the coarser ones are already steep.

    Source: I. Quilez, "Value noise derivatives" (2008), the damping by accumulated slope.
    """
    total = np.zeros((side, side), np.float32)
    steep_x, steep_y = np.zeros_like(total), np.zeros_like(total)
    weight = 1.0
    for _ in range(octaves):
        pixels = side / cells
        if pixels < 2:
            break
        rise = _octave(rng, side, cells)
        steep_x += cv2.Sobel(rise, cv2.CV_32F, 1, 0, ksize=3, scale=pixels / 8)
        steep_y += cv2.Sobel(rise, cv2.CV_32F, 0, 1, ksize=3, scale=pixels / 8)
        total += weight * rise / (1.0 + wear * (steep_x * steep_x + steep_y * steep_y))
        weight, cells = weight * 0.5, cells * 2.03
    return _stretched(total)


def ridged(
    rng: np.random.Generator, side: int, *, cells: float = 4.0, octaves: int = 8, gain: float = 0.5
) -> Floats:
    """Return mountains, shape (side, side), 0 to 1: sharp crests that branch, calm valleys.

    Source: F. K. Musgrave, ridged multifractal terrain, in "Texturing and Modeling" (1998).
    """
    total = np.zeros((side, side), np.float32)
    share, weight = np.ones_like(total), 1.0
    for _ in range(octaves):
        if side / cells < 2:
            break
        crest = 1.0 - np.abs(_octave(rng, side, cells)) * 1.1
        np.maximum(crest, 0.0, out=crest)
        crest *= crest
        crest *= share
        total += weight * crest
        share = np.minimum(crest * 1.6 + 0.12, 1.0)
        weight, cells = weight * gain, cells * 2.03
    return _stretched(total)


def smooth(rng: np.random.Generator, side: int, cells: float) -> Floats:
    """Return noise of one octave, shape (side, side), -1 to 1."""
    return _octave(rng, side, cells)


def blurred(field: Floats, sigma: float) -> Floats:
    """Return a field blurred by a large Gaussian, worked out on a reduced copy."""
    step = max(1, int(sigma / 3))
    if step == 1:
        return np.asarray(cv2.GaussianBlur(field, (0, 0), sigma))
    height, width = field.shape[:2]
    size = (max(2, width // step), max(2, height // step))
    small = cv2.resize(field, size, interpolation=cv2.INTER_AREA)
    small = cv2.GaussianBlur(small, (0, 0), sigma / step)
    return np.asarray(cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR))


def _octave(rng: np.random.Generator, side: int, cells: float) -> Floats:
    """Return one octave, -1 to 1; enlarged, not warped, since warps round positions to 1/32."""
    count = int(cells) + 4
    values = rng.uniform(-1.0, 1.0, (count, count)).astype(np.float32)
    pixels = side / cells
    large = round(count * pixels)
    field = cv2.resize(values, (large, large), interpolation=cv2.INTER_CUBIC)
    left, top = (rng.random(2) * pixels + 1.5 * pixels).astype(int)
    return np.asarray(field[top : top + side, left : left + side])


def _stretched(field: Floats) -> Floats:
    low, high = float(field.min()), float(field.max())
    return np.asarray((field - low) / (high - low), np.float32)


def _doubled(acc: Floats) -> Floats:
    padded = np.pad(acc, 2, mode="wrap")
    large = cv2.resize(padded, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC)
    return np.ascontiguousarray(large[4:-4, 4:-4])


def _wrapped(position: Reals, length: int) -> Floats:
    turns = np.asarray(position, np.float32) * np.float32(1 / length)
    turns -= np.floor(turns)
    turns *= np.float32(length)
    return np.asarray(turns, np.float32)
