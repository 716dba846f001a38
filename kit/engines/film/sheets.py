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

from kit.engines.media.clip import Frame
from kit.engines.media.color import YUV, Bytes, Floats, noise_tile
from kit.engines.painting.poster.planes import Plane, Stage, over

#: Shape (2, 3), from a place on the stage to its place in the frame.
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


def sheet(planes: Sequence[Plane], stage: Stage, rng: np.random.Generator) -> Sheet:
    """Merge planes of one depth, the first one lowest."""
    # Empty rows above, and below what ends, so that nothing bleeds over the edges.
    endless = planes[0].name in ("ridge", "water")
    top = (min(plane.top for plane in planes) & ~1) - _EMPTY
    bottom = max(plane.bottom for plane in planes)
    rows = bottom - top + (bottom - top) % 2 + (0 if endless else _EMPTY)
    canvas = np.zeros((4, rows, stage.columns), np.float32)
    for plane in planes:
        over(canvas, plane, top)
    if endless:  # through the row that was added to make them even
        canvas[:, bottom - top :] = canvas[:, bottom - top - 1 : bottom - top]
    cover = canvas[3]
    alpha = np.rint(cover * 255).astype(np.uint8)
    half = np.rint(_halved(cover) * 255).astype(np.uint8)
    full = np.flatnonzero(cv2.reduce(alpha, 1, cv2.REDUCE_MIN) == 255)
    solid = top + int(full[0]) if len(full) and planes[0].name == "ridge" else None
    color = yuv(canvas[:3], cover, rng)
    return Sheet(planes[0].name, planes[0].depth, top, color, alpha, half, solid, endless)


def lay(
    frame: Frame, moved: Sheet, matrix: Matrix, *, stop: int, twinkle: Bytes | None = None
) -> None:
    """Lay a sheet over a frame, in place.

    Parameters
    ----------
    stop : int
        Row of the frame from which something nearer hides it.
    twinkle : ndarray of uint8, optional
        Brightness at every pixel of the frame, for stars.
    """
    height, width = frame[0].shape
    scale, shift = matrix[0, 0], matrix[1, 2]
    first = int(np.clip(np.floor(moved.top * scale + shift) - 1, 0, height)) & ~1
    end = np.inf if moved.endless else np.ceil((moved.top + len(moved.alpha)) * scale + shift) + 1
    last = int(np.clip(min(end, stop), 0, height))
    last += last % 2
    if last <= first:
        return
    full, half = (back(matrix, moved.top, first, share) for share in (1.0, 0.5))
    small = warped(moved.half, half, (width // 2, (last - first) // 2))
    for number, (target, source) in enumerate(zip(frame, moved.color, strict=True)):
        if number:
            piece, inverse, cover = target[first // 2 : last // 2], half, small
        else:
            piece, inverse = target[first:last], full
            cover = warped(moved.alpha, full, (width, last - first))
        moving = warped(source, inverse, (piece.shape[1], piece.shape[0]))
        if twinkle is not None and not number:
            cover = cv2.multiply(cover, twinkle[first:last], scale=1 / 255)
            moving = cv2.multiply(moving, twinkle[first:last], scale=1 / 255)
        cv2.multiply(piece, cv2.bitwise_not(cover), dst=piece, scale=1 / 255)
        cv2.add(piece, moving, dst=piece)


def warped(source: Bytes | Floats, inverse: Matrix, size: tuple[int, int]) -> Any:
    """Return a plane as it is seen in a frame of a width and height, see `back`."""
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return cv2.warpAffine(source, inverse, size, flags=flags, borderMode=cv2.BORDER_REPLICATE)


def back(matrix: Matrix, top: int, first: int, share: float) -> Matrix:
    """Return the way back, from the frame's rows from `first` on to a sheet's rows.

    Pixel centers stand at halves, so that planes of half the size stay where they belong.

    Parameters
    ----------
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
        plane, cover = offset * alpha, alpha  # it rides on alpha
        for weight, channel in zip(row, rgb, strict=True):
            plane += 255 * weight * channel
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
