"""Sheets: flat layers with alpha, moved by subpixels and composited on the frames of a film.

Their colors are premultiplied by alpha, so that compositing needs no division and stays in 8
bits.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.clip import Frame
from kit.engines.media.color import YUV, Bytes, Floats, noise_tile

#: Shape (2, 3), from a position on a sheet's stage to its position in the frame.
Matrix: TypeAlias = NDArray[np.float64]


class Overlay(NamedTuple):
    """A layer from an even row and column of its stage on; `small` is both chromas and alpha.

    An endless layer continues below its last row, and at the sides if it is as wide as the stage.
    """

    luma: Bytes
    alpha: Bytes
    small: Bytes
    top: int = 0
    left: int = 0
    wide: bool = True
    endless: bool = False


def sheet_of(
    color: Floats, alpha: Floats, rng: np.random.Generator, *, top: int, endless: bool
) -> Overlay:
    """Return a sheet of encoded RGB, shape (3, rows, columns), premultiplied by alpha; 0 to 1."""
    used = np.flatnonzero(cv2.reduce(alpha, 0, cv2.REDUCE_MAX) > 0)
    left, right = (int(used[0]), int(used[-1])) if len(used) else (0, 0)
    left, right = max(0, left - 4) & ~1, min(alpha.shape[1], right + 5 & ~1)
    wide = endless or not (left > 0 and right < alpha.shape[1])
    if not wide:
        color, alpha = color[:, :, left:right], np.ascontiguousarray(alpha[:, left:right])
    full, half = (np.rint(255 * cover).astype(np.uint8) for cover in (alpha, halve(alpha)))
    luma, *chromas = to_yuv(color, alpha, rng)
    return Overlay(luma, full, cv2.merge([*chromas, half]), top, 0 if wide else left, wide, endless)


def draw_sheet(
    frame: Frame, sheet: Overlay, matrix: Matrix, stop: int, shine: Bytes | None = None
) -> None:
    """Composite a sheet on a frame, in place, down to a row, with the brightness of a shimmer."""
    most, count = frame[0].shape[::-1], sheet.alpha.shape[::-1]
    spans = []
    for axis, start in enumerate((sheet.left, sheet.top)):
        scale, shift = matrix[axis, axis], matrix[axis, 2]
        begin = int(np.clip(np.floor(start * scale + shift) - 1, 0, most[axis])) & ~1
        end = np.ceil((start + count[axis]) * scale + shift) + 1
        last = int(np.clip(end, 0, most[axis]))
        spans.append((begin, last + last % 2))
    (left, right), (top, bottom) = spans
    left, right = (0, most[0]) if sheet.wide else (left, right)
    bottom = stop + stop % 2 if sheet.endless else min(bottom, stop + stop % 2)
    if bottom <= top or right <= left:
        return
    origin, first = (sheet.left, sheet.top), (left, top)
    size = right - left, bottom - top
    planes = [warp_sheet(plane, size, matrix, origin, first) for plane in (sheet.luma, sheet.alpha)]
    if shine is not None:
        for plane in planes:
            cv2.multiply(plane, shine[top:bottom, left:right], dst=plane, scale=1 / 255)
    half = size[0] // 2, size[1] // 2
    *chromas, small = cv2.split(warp_sheet(sheet.small, half, matrix, origin, first, 2))
    parts = zip(frame, (planes[0], *chromas), (planes[1], small, small), (1, 2, 2), strict=True)
    for target, color, cover, share in parts:
        piece = target[top // share : bottom // share, left // share : right // share]
        cv2.multiply(piece, cv2.bitwise_not(cover), dst=piece, scale=1 / 255)
        cv2.add(piece, color, dst=piece)


def warp_sheet(
    source: Bytes | Floats,
    size: tuple[int, int],
    matrix: Matrix,
    origin: tuple[int, int],
    first: tuple[int, int],
    share: int = 1,
) -> Any:
    """Return the visible part of a plane with an origin on its stage, from a pixel of the frame on.

    Pixel centers are at halves, so that reduced planes stay aligned.
    """
    scale = matrix[0, 0]
    x, y = (
        0.5 / scale - 0.5 + ((first[axis] - matrix[axis, 2]) / scale - origin[axis]) / share
        for axis in (0, 1)
    )
    back = np.array([[1 / scale, 0.0, x], [0.0, 1 / scale, y]])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return cv2.warpAffine(source, back, size, flags=flags, borderMode=cv2.BORDER_REPLICATE)


def to_yuv(rgb: Floats, alpha: Floats, rng: np.random.Generator) -> Frame:
    """Return planes of 0 to 1, premultiplied by alpha, as luma and chromas, dithered."""
    tile, planes = noise_tile(rng), []
    for number, (*row, offset) in enumerate(YUV):
        plane, cover = offset * alpha, alpha  # premultiplied too
        for weight, channel in zip(row, rgb, strict=True):
            plane += 255 * weight * channel
        if number:
            plane, cover = halve(plane), halve(alpha)
        height, width = plane.shape
        repeats = -(-height // tile.shape[1]), -(-width // tile.shape[2])
        # Only where there is coverage: empty pixels must stay exactly zero.
        plane += 0.5 * np.tile(tile[number], repeats)[:height, :width] * (cover > 0.5)
        planes.append(np.clip(np.rint(plane), 0, 255).astype(np.uint8))
    return planes[0], planes[1], planes[2]


def halve(plane: Floats) -> Floats:
    """Return a plane at half the size, rounded up."""
    height, width = plane.shape
    size = ((width + 1) // 2, (height + 1) // 2)
    return np.asarray(cv2.resize(plane, size, interpolation=cv2.INTER_AREA))
