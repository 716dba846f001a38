"""Sheets: planes as a video wants them, in the three planes of YUV and ready to be moved.

Colors are multiplied by the alpha beforehand, so that moving a sheet by a part of a pixel and
laying it over a frame needs no division, and everything stays in 8 bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.clip import Frame, views
from kit.engines.media.color import YUV, Bytes, Floats, noise_tile
from kit.engines.painting.poster.plane import Plane, Stage

Matrix: TypeAlias = NDArray[np.float64]

_EMPTY = 2


@dataclass(frozen=True, slots=True)
class Sheet:
    """Planes of one depth, merged.

    Parameters
    ----------
    name : str
        Of its first plane.
    top : int
        First row of the stage; even, as chroma has half the rows, and empty. It may lie above it.
    color : Frame
        Luma and chromas, multiplied by alpha.
    alpha, half : ndarray of uint8
        Alpha at full and at half size.
    solid : int or None
        Row of the stage from which the sheet hides everything behind it.
    endless : bool
        Whether it goes on below its last row.
    """

    name: str
    depth: float
    top: int
    color: Frame
    alpha: Bytes
    half: Bytes
    solid: int | None
    endless: bool


def backdrop(sky: Floats, stage: Stage, rng: np.random.Generator) -> Bytes:
    """Return an opaque picture, without the stage's margins, as an I420 frame without bands."""
    x, y = stage.margin_x, stage.margin_y
    inside = np.ascontiguousarray(sky[:, y : y + stage.height, x : x + stage.width])
    frame = np.empty((stage.height * 3 // 2, stage.width), np.uint8)
    opaque = np.ones(inside.shape[1:], np.float32)
    for target, source in zip(
        views(frame, stage.width, stage.height), yuv(inside, opaque, rng), strict=True
    ):
        target[:] = source
    return frame


def sheet(planes: Sequence[Plane], stage: Stage, rng: np.random.Generator) -> Sheet:
    """Merge planes of one depth, the first one lowest."""
    # Empty rows above, and below what ends, so that nothing bleeds over the edges.
    ridge = planes[0].name == "ridge"
    top = (min(plane.top for plane in planes) & ~1) - _EMPTY
    bottom = max(plane.top + plane.alpha.shape[0] for plane in planes)
    rows = bottom - top + (bottom - top) % 2 + (0 if ridge else _EMPTY)
    rgb = np.zeros((3, rows, stage.columns), np.float32)
    cover = np.zeros((rows, stage.columns), np.float32)
    for plane in planes:
        start = plane.top - top
        part = slice(start, start + plane.alpha.shape[0])
        weight = plane.alpha * np.float32(1 / 255)
        for target, source in zip(rgb[:, part], plane.color, strict=True):
            target += weight * (source - target)
        cover[part] += weight * (1.0 - cover[part])
    if ridge:
        _continue(rgb, cover, bottom - top)
    alpha = np.rint(cover * 255).astype(np.uint8)
    half = np.rint(_halved(cover) * 255).astype(np.uint8)
    full = np.flatnonzero(alpha.min(axis=1) == 255)
    hides = top + int(full[0]) if len(full) and ridge else None
    color = yuv(rgb, cover, rng)
    return Sheet(planes[0].name, planes[0].depth, top, color, alpha, half, hides, ridge)


def lay(
    frame: Frame, moved: Sheet, matrix: Matrix, *, stop: int, twinkle: Bytes | None = None
) -> None:
    """Lay a sheet over a frame, in place.

    Parameters
    ----------
    matrix : ndarray
        Shape (2, 3): from a place on the stage to its place in the frame.
    stop : int
        Row of the frame from which something nearer hides it.
    twinkle : ndarray of uint8, optional
        Brightness at every pixel of the frame, for stars.
    """
    height, width = frame[0].shape
    scale, shift = matrix[0, 0], matrix[1, 2]
    first = int(np.clip(np.floor(moved.top * scale + shift) - 1, 0, height)) & ~1
    last = height
    if not moved.endless:
        end = moved.top + moved.alpha.shape[0]
        last = int(np.clip(np.ceil(end * scale + shift) + 1, 0, height))
    last = min(last, stop)
    last += last % 2
    if last <= first:
        return
    full = back(matrix, moved.top, first, 1.0)
    half = back(matrix, moved.top, first, 0.5)
    alpha = warped(moved.alpha, full, (width, last - first))
    small = warped(moved.half, half, (width // 2, (last - first) // 2))
    if twinkle is not None:
        part = twinkle[first:last]
        alpha = cv2.multiply(alpha, part, scale=1 / 255)
    for number, (target, source) in enumerate(zip(frame, moved.color, strict=True)):
        piece = target[first:last] if number == 0 else target[first // 2 : last // 2]
        size = (piece.shape[1], piece.shape[0])
        cover = alpha if number == 0 else small
        moving = warped(source, full if number == 0 else half, size)
        if twinkle is not None and number == 0:
            moving = cv2.multiply(moving, twinkle[first:last], scale=1 / 255)
        cv2.multiply(piece, cv2.bitwise_not(cover), dst=piece, scale=1 / 255)
        cv2.add(piece, moving, dst=piece)


def warped(source: Bytes | Floats, inverse: Matrix, size: tuple[int, int]) -> Any:
    """Return a plane as it is seen in a frame, of the source's type.

    Parameters
    ----------
    inverse : ndarray
        Shape (2, 3): from a place in the frame to one in the plane, see `back`.
    size : tuple of int
        Width and height.
    """
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return cv2.warpAffine(source, inverse, size, flags=flags, borderMode=cv2.BORDER_REPLICATE)


def back(matrix: Matrix, top: int, first: int, share: float) -> Matrix:
    """Return the way back, from the frame's rows from `first` on to a sheet's rows.

    Pixel centers stand at halves, so that planes of half the size stay where they belong.

    Parameters
    ----------
    matrix : ndarray
        Shape (2, 3): from a place on the stage to its place in the frame.
    top : int
        First row of the sheet on the stage.
    share : float
        Of the size, that planes have: 0.5 for chroma.
    """
    scale = matrix[0, 0]
    x = -matrix[0, 2] / scale * share
    y = ((first - matrix[1, 2]) / scale - top) * share
    center = 0.5 / scale - 0.5
    return np.array([[1 / scale, 0.0, x + center], [0.0, 1 / scale, y + center]])


def _continue(rgb: Floats, cover: Floats, rows: int) -> None:
    """Let the last row of a ridge go on through the row that was added to make them even."""
    rgb[:, rows:] = rgb[:, rows - 1 : rows]
    cover[rows:] = cover[rows - 1 : rows]


def yuv(rgb: Floats, alpha: Floats, rng: np.random.Generator) -> Frame:
    """Return planes multiplied by alpha as luma and chromas, dithered where they cover.

    Parameters
    ----------
    rgb : ndarray of float32
        Shape (3, rows, columns), encoded sRGB of 0 to 1, multiplied by alpha.
    """
    tile = noise_tile(rng)
    planes = []
    for number, (*row, offset) in enumerate(YUV):
        plane = offset * alpha  # it rides on alpha
        for weight, channel in zip(row, rgb, strict=True):
            plane += 255 * weight * channel
        cover = alpha
        if number:
            plane, cover = _halved(plane), _halved(alpha)
        height, width = plane.shape
        size = tile.shape[1]
        spread = np.tile(tile[number], (-(-height // size), -(-width // size)))[:height, :width]
        # Dither only where something covers: what is empty must stay exactly zero.
        plane = plane + 0.5 * spread * (cover > 0.5)
        planes.append(np.clip(np.rint(plane), 0, 255).astype(np.uint8))
    return planes[0], planes[1], planes[2]


def _halved(plane: Floats) -> Floats:
    height, width = plane.shape
    size = ((width + 1) // 2, (height + 1) // 2)
    return np.asarray(cv2.resize(plane, size, interpolation=cv2.INTER_AREA))


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


_NEUTRAL = 128


def brighten(frame: Frame, patch: Bytes) -> None:
    """Lay what has no color of its own over a frame: it is brighter there."""
    cv2.add(frame[0], patch, dst=frame[0])


def whiten(frame: Frame, patch: Bytes) -> None:
    """Snow and dust are white: they take the color of what they cover away."""
    cv2.add(frame[0], patch, dst=frame[0])
    cover = _small(patch, frame)
    white = cv2.convertScaleAbs(cover, alpha=_NEUTRAL / 255)
    rest = cv2.bitwise_not(cover, dst=cover)
    for chroma in frame[1:]:
        cv2.multiply(chroma, rest, dst=chroma, scale=1 / 255)
        cv2.add(chroma, white, dst=chroma)


def glow(frame: Frame, patch: Bytes) -> None:
    """Lay yellow lights over a frame."""
    cv2.add(frame[0], patch, dst=frame[0])
    cv2.subtract(frame[1], cv2.convertScaleAbs(_small(patch, frame), alpha=0.4), dst=frame[1])


def burn(frame: Frame, patch: Bytes) -> None:
    """Lay sparks over a frame."""
    cv2.add(frame[0], cv2.convertScaleAbs(patch, alpha=0.75), dst=frame[0])
    # Color has half the size: a spark smaller than its pixels would be white.
    cover = cv2.convertScaleAbs(_small(patch, frame), alpha=1.9)
    for chroma, color in zip(frame[1:], (58, 196), strict=True):
        _mixed(chroma, cover, color)


def veil(frame: Frame, patch: Bytes) -> None:
    """Lay fog over a frame, denser toward the ground."""
    height, width = patch.shape
    ramp = np.repeat(np.linspace(0.35, 1.0, height, dtype=np.float32)[:, None], width, axis=1)
    cover = cv2.multiply(patch, ramp, dtype=cv2.CV_8U)
    # Fog is as bright as the picture allows: a night must not turn gray.
    bright = min(226.0, float(cv2.mean(frame[0])[0]) * 1.15 + 42.0)
    _mixed(frame[0], cover, bright)
    small = _small(cover, frame)
    for chroma in frame[1:]:
        # It takes the light's color, paler: neutral fog looks pasted on at sunset.
        _mixed(chroma, small, 0.4 * _NEUTRAL + 0.6 * float(cv2.mean(chroma)[0]))


def _mixed(plane: Bytes, cover: Bytes, value: float) -> None:
    cv2.multiply(plane, cv2.bitwise_not(cover), dst=plane, scale=1 / 255)
    cv2.add(plane, cv2.convertScaleAbs(cover, alpha=value / 255), dst=plane)


def _small(patch: Bytes, frame: Frame) -> Bytes:
    return np.asarray(cv2.resize(patch, frame[1].shape[::-1], interpolation=cv2.INTER_AREA))
