"""Sheets: planes as a video wants them, in the three planes of YUV and ready to be moved.

Colors are multiplied by the alpha beforehand, so that moving a sheet by a part of a pixel and
laying it over a frame needs no division, and everything stays in 8 bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.clip import Frame, views
from kit.engines.media.color import Bytes, Floats, noise_tile
from kit.engines.painting.poster.plane import Plane, Stage

Matrix: TypeAlias = NDArray[np.float64]

# Rows of BT.601 for encoded RGB of 0 to 1, in limited range; the offset rides on alpha.
_YUV = np.array(
    [
        [65.481, 128.553, 24.966],
        [-37.797, -74.203, 112.0],
        [112.0, -93.786, -18.214],
    ],
    np.float32,
)
_OFFSETS = (16.0, 128.0, 128.0)
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
    for number, (row, offset) in enumerate(zip(_YUV, _OFFSETS, strict=True)):
        plane = offset * alpha
        for weight, channel in zip(row, rgb, strict=True):
            plane += weight * channel
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
