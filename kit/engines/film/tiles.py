"""Tiles: drifting clouds and scattered specks that continue at the opposite edge."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats


def tileable(
    rng: np.random.Generator,
    height: int,
    width: int,
    *,
    cells: tuple[int, int],
    octaves: int = 5,
    gain: float = 0.5,
) -> Floats:
    """Return noise without seams, mean 0 and deviation 1, shape (height, width).

    Parameters
    ----------
    cells : tuple of int
        Blobs down and across; each octave has twice as many.
    """
    total = np.zeros((height, width), np.float32)
    weight = 1.0
    for octave in range(octaves):
        rows, columns = (max(2, count << octave) for count in cells)
        if octave and (rows >= height or columns >= width):
            break
        lattice = rng.standard_normal((rows, columns), np.float32)
        total += weight * _enlarged(lattice, height, width)
        weight *= gain
    mean, deviation = cv2.meanStdDev(total)
    return np.asarray((total - mean[0, 0]) / max(deviation[0, 0], 1e-6), np.float32)


def clouds(
    rng: np.random.Generator,
    height: int,
    width: int,
    *,
    cells: tuple[int, int],
    most: int,
    octaves: int = 4,
    floor: int = 0,
) -> Bytes:
    """Return soft clouds without seams, from `floor` to `most`."""
    # Drawn small: clouds have no edges, and enlarging them is much quicker.
    scale = min(1.0, 256 / max(height, width))
    small = (max(8, round(height * scale)), max(8, round(width * scale)))
    noise = tileable(rng, *small, cells=cells, octaves=octaves)
    share = np.clip(0.42 + 0.34 * noise, 0.0, 1.0)
    share = share * share * (3 - 2 * share)
    big = _enlarged(share, height, width)
    return np.clip(np.rint(floor + (most - floor) * big), 0, 255).astype(np.uint8)


def fitted(tile: Bytes, size: tuple[int, int]) -> Bytes:
    """Return what a tile shows as one that continues after another width and height.

    Parameters
    ----------
    size : tuple of int
        Width and height, at least 32 pixels each, or those that the tile has.
    """
    if size == tile.shape[::-1]:
        return tile
    turned = _after(np.ascontiguousarray(_after(tile, size[1]).T), size[0])
    return np.ascontiguousarray(turned.T)


def spread_out(tile: Bytes, size: tuple[int, int]) -> Bytes:
    """Return a tile as often as it takes to cut out a frame of a size wherever one likes."""
    height, width = tile.shape
    rows, columns = height + size[1], width + size[0]
    whole = np.tile(tile, (-(-rows // height), -(-columns // width)))
    return np.ascontiguousarray(whole[:rows, :columns])


def wrapped(
    size: tuple[int, int], x: float, y: float, reach: float
) -> Iterator[tuple[float, float]]:
    """Yield a place, and again beyond the opposite edge wherever it is near one."""
    width, height = size
    across = (0,) if reach < x < width - reach else (-1, 0, 1)
    down = (0,) if reach < y < height - reach else (-1, 0, 1)
    for step_x, step_y in product(across, down):
        yield x + step_x * width, y + step_y * height


def _after(tile: Bytes, rows: int) -> Bytes:
    """Return a tile that continues after another number of rows; its seam is blended over."""
    if rows == tile.shape[0]:
        return tile
    soft = max(2, min(rows, tile.shape[0]) // 16)
    long = tile[np.arange(rows + soft) % tile.shape[0]]
    share = ((np.arange(soft, dtype=np.float32) + 0.5) / soft)[:, None]
    seam = long[:soft] * share + long[rows:] * (1 - share)
    return np.vstack([np.rint(seam).astype(np.uint8), long[soft:rows]])


def _enlarged(lattice: Floats, height: int, width: int) -> Floats:
    """Enlarge with cubic interpolation that knows what lies beyond the edges."""
    down, across = _weights(lattice.shape[0], height), _weights(lattice.shape[1], width)
    return np.asarray(down @ lattice @ across.T, np.float32)


def _weights(cells: int, length: int) -> Floats:
    """Return how much each value of a ring counts at each place, shape (length, cells)."""
    place = (np.arange(length, dtype=np.float64) + 0.5) * (cells / length) - 0.5
    first = np.floor(place).astype(int)
    share = place - first
    weights = np.zeros((length, cells), np.float32)
    square, cube = share**2, share**3
    # Catmull-Rom, which passes through its values without corners.
    parts = (
        0.5 * (2 * square - share - cube),
        0.5 * (2 - 5 * square + 3 * cube),
        0.5 * (share + 4 * square - 3 * cube),
        0.5 * (cube - square),
    )
    for step, part in enumerate(parts, start=-1):
        np.add.at(weights, (np.arange(length), (first + step) % cells), part)
    return weights
