"""Noise: fields and tiles of value noise, hills made of it, and their slopes.

A tile is periodic, so that one tile covers every distance; other fields are not periodic.
"""

from __future__ import annotations

from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Floats
from kit.engines.media.noise import field, smooth_step

#: One number per pixel, or three planes; painters use float32.
Plane: TypeAlias = NDArray[np.floating]

#: Side of a tile.
SIDE = 512
#: Steps of mesas: minimum mass at which one begins, and its height in meters.
_MESA_STEPS = ((0.20, 30.0), (0.34, 46.0), (0.55, 44.0))


def blobs(
    rng: np.random.Generator,
    shape: tuple[int, ...],
    cells: float,
    *,
    octaves: int = 4,
    gain: float = 0.5,
    zoom: float = 1.0,
) -> Floats:
    """Return noise of mean 0 and deviation 1 with `cells` blobs along the longer side.

    `zoom` is a factor on the scale.
    """
    size = max(shape) / (cells * max(1.0, zoom))
    down, across = (max(2, round(side / size)) for side in shape)
    plane = field(rng, *shape, cells=(down, across), octaves=octaves, gain=gain)
    if zoom >= 1.0:
        return plane
    rows, columns = (max(2, round(side * zoom)) for side in shape)
    top, left = (shape[0] - rows) // 2, (shape[1] - columns) // 2
    middle = plane[top : top + rows, left : left + columns]
    return np.asarray(cv2.resize(middle, shape[::-1], interpolation=cv2.INTER_CUBIC))


def tile(
    rng: np.random.Generator,
    *,
    cells: int = 4,
    octaves: int = 6,
    gain: float = 0.5,
    side: int = SIDE,
) -> Floats:
    """Return periodic noise of mean 0 and deviation 1, shape (side, side).

    It has `cells` blobs across, a power of two like `side`.
    """
    acc = rng.standard_normal((cells, cells), np.float32)
    weight, size = 1.0, cells
    while size < side and octaves > 1:
        size, weight, octaves = size * 2, weight * gain, octaves - 1
        acc = enlarge(acc, 2)
        acc = cv2.scaleAdd(rng.standard_normal((size, size), np.float32), weight, acc)
    # In one step: repeated doubling would make it wavy.
    acc = enlarge(acc, side // size) if size < side else acc
    mean, deviation = cv2.meanStdDev(acc)
    scale = 1 / float(deviation[0, 0])
    acc = acc * np.float32(scale)
    acc -= np.float32(scale * float(mean[0, 0]))
    return np.asarray(acc, np.float32)


def enlarge(plane: Floats, times: int) -> Floats:
    """Return a periodic plane enlarged by a factor."""
    padded = np.pad(plane, 2, mode="wrap")
    large = cv2.resize(padded, None, fx=times, fy=times, interpolation=cv2.INTER_CUBIC)
    inner = slice(2 * times, -2 * times)
    return np.ascontiguousarray(large[inner, inner])


def octave(rng: np.random.Generator, side: int, cells: float) -> Floats:
    """Return noise of one octave, shape (side, side), -1 to 1."""
    count, pixels = int(cells) + 4, side / cells
    values = rng.uniform(-1.0, 1.0, (count, count)).astype(np.float32)
    # Enlarged instead of remapped: a remap rounds positions to 1/32.
    large = round(count * pixels)
    plane = cv2.resize(values, (large, large), interpolation=cv2.INTER_CUBIC)
    left, top = (pixels * (rng.random(2) + 1.5)).astype(int)
    return np.asarray(plane[top : top + side, left : left + side])


def worn_hills(rng: np.random.Generator, side: int, *, cells: float = 4.0) -> Floats:
    """Return eroded hills, shape (side, side), 0 to 1: gullied slopes, smooth feet and valleys.

    Source: I. Quilez, "Value noise derivatives" (2008): octaves count less on slopes.
    """
    total = np.zeros((side, side), np.float32)
    steep_x, steep_y = np.zeros_like(total), np.zeros_like(total)
    weight = 1.0
    for _ in range(8):
        pixels = side / cells
        if pixels < 2:
            break
        rise = octave(rng, side, cells)
        for steep, way in zip((steep_x, steep_y), slopes(rise, pixels), strict=True):
            steep += way
        total += weight * rise / (1.0 + steep_x * steep_x + steep_y * steep_y)
        weight, cells = weight * 0.5, cells * 2.03
    return rescale(total)


def sharp_crests(
    rng: np.random.Generator, side: int, *, cells: float = 4.0, gain: float = 0.5
) -> Floats:
    """Return mountains, shape (side, side), 0 to 1: sharp branching crests, calm valleys.

    Source: F. K. Musgrave, ridged multifractal terrain, in "Texturing and Modeling" (1998).
    """
    total = np.zeros((side, side), np.float32)
    share, weight = np.ones_like(total), 1.0
    for _ in range(8):
        if side / cells < 2:
            break
        own = octave(rng, side, cells)
        crest = np.maximum(1.0 - np.abs(own) * 1.1, 0.0) ** 2 * share
        total += weight * crest
        share = np.minimum(crest * 1.6 + 0.12, 1.0)
        weight, cells = weight * gain, cells * 2.03
    return rescale(total)


def mesas(mass: Floats, tall: float = 1.0) -> Floats:
    """Return mesas with sheer walls over slopes of rubble where the mass is large enough."""
    heights = np.zeros_like(mass)
    for edge, step in _MESA_STEPS:
        sheer = smooth_step(edge, edge + 0.085, mass)
        rubble = smooth_step(edge - 0.17, edge + 0.01, mass)
        heights += np.float32(step * tall) * (0.62 * sheer + 0.38 * rubble)
    return heights


def dune_wave(turns: Plane) -> Floats:
    """Return waves of sand, 0 to 1: a gentle rise and a steep slip face behind each crest."""
    share = turns - np.floor(turns)
    lee = np.clip((1.0 - share) / 0.26, 0.0, 1.0)
    return np.asarray(np.minimum(np.clip(share / 0.74, 0.0, 1.0) ** 1.5, lee), np.float32)


def sample(plane: Floats, x: Plane, y: Plane) -> Floats:
    """Return a periodic tile, or several in channels, at positions in its own pixels."""
    height, width = plane.shape[:2]
    places: list[Floats] = []
    for place, length in ((x, width), (y, height)):
        turns = np.asarray(place, np.float32) * np.float32(1 / length)
        turns -= np.floor(turns)
        turns *= np.float32(length)
        places.append(np.asarray(turns, np.float32))
    return np.asarray(
        cv2.remap(plane, places[0], places[1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP)
    )


def warp(plane: Plane, dx: Plane, dy: Plane, amount: float, *, wrap: bool = False) -> Floats:
    """Return a plane remapped by `amount` pixels times (dx, dy).

    Without `wrap` it is extended by reflection.
    """
    height, width = plane.shape[:2]
    x = dx * np.float32(amount) + np.arange(width, dtype=np.float32)
    y = dy * np.float32(amount) + np.arange(height, dtype=np.float32)[:, None]
    if wrap:
        return sample(np.asarray(plane, np.float32), x, y)
    border = cv2.BORDER_REFLECT_101
    return np.asarray(cv2.remap(plane, x, y, cv2.INTER_LINEAR, borderMode=border))


def slopes(plane: Plane, reach: float = 1.0, *, wrap: bool = False) -> tuple[Floats, Floats]:
    """Return the slopes to the right and downward, per `reach` pixels."""
    padded = np.pad(plane, 1, mode="wrap") if wrap else plane
    inner = slice(1, -1) if wrap else slice(None)
    over, down = (
        np.ascontiguousarray(cv2.Scharr(padded, cv2.CV_32F, *way, scale=reach / 32)[inner, inner])
        for way in ((1, 0), (0, 1))
    )
    return over, down


def blur(plane: Plane, sigma: float, *, wrap: bool = False) -> Floats:
    """Return a plane with a Gaussian blur of `sigma` pixels; wide ones at reduced size."""
    if wrap:
        margin = int(3 * sigma) + 2
        inner = slice(margin, -margin)
        wide = blur(np.pad(plane, margin, mode="wrap"), sigma)
        return np.ascontiguousarray(wide[inner, inner])
    height, width = plane.shape[:2]
    step = int(sigma / 3)
    if step <= 1:
        return np.asarray(cv2.GaussianBlur(plane, (0, 0), max(sigma, 0.1)))
    size = (max(2, width // step), max(2, height // step))
    small = cv2.resize(plane, size, interpolation=cv2.INTER_AREA)
    small = cv2.GaussianBlur(small, (0, 0), sigma / step)
    return np.asarray(cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR))


def rescale(plane: Floats) -> Floats:
    """Return a plane rescaled to 0 to 1."""
    low, high = float(plane.min()), float(plane.max())
    return np.asarray((plane - low) / (high - low), np.float32)


def distances(
    shape: tuple[int, ...], x: float, y: float, unit: float = 1.0, turn: float = 0.0
) -> tuple[Plane, Plane]:
    """Return rotated pixel offsets to the right of and below a point, in units."""
    right = (np.arange(shape[1], dtype=np.float32)[None] - np.float32(x)) / np.float32(unit)
    below = (np.arange(shape[0], dtype=np.float32)[:, None] - np.float32(y)) / np.float32(unit)
    if not turn:
        return right, below
    cos, sin = np.float32(np.cos(turn)), np.float32(np.sin(turn))
    return right * cos + below * sin, below * cos - right * sin
