"""Parallax: a picture with a depth map, seen by a camera that moves slightly.

The YUV planes are remapped in blocks of pixels: near blocks move more than far ones. The maps for
that are sums of fields that are computed once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import cv2
import numpy as np

from kit.engines.film.filming import MAX_SHIFT, FilmView, Take
from kit.engines.media.clip import Frame, rgb_frame, views
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.scaling import resize


@dataclass(frozen=True, slots=True)
class Blocks:
    """The planes of a picture in blocks, shape (height, width, 4) each."""

    luma: Bytes
    chroma: Bytes

    def spread(self, frame: Frame) -> None:
        """Write the pixels into a frame, which has two columns and rows per block."""
        height, width = frame[0].shape
        rows = frame[0].view(np.uint16).reshape(height // 2, 2, width // 2)
        for number, half in enumerate(cv2.split(self.luma[:, : width // 2].view(np.uint16))):
            rows[:, number] = half
        for plane, half in zip(frame[1:], cv2.split(self.chroma.view(np.uint16)), strict=True):
            plane[:] = half.view(np.uint8)[:, : plane.shape[1]]


def blocks_of(planes: Frame) -> Blocks:
    """Return the planes of a picture as blocks."""
    luma = np.empty((*planes[0].shape, 4), np.uint8)
    fill_quads(add_border(planes[0]), luma)
    return Blocks(luma, pair_columns(planes[1], planes[2]))


def add_border(plane: Bytes) -> Bytes:
    """Return a plane with its last row and column repeated, so that all pixels have neighbors."""
    return np.asarray(cv2.copyMakeBorder(plane, 0, 1, 0, 1, cv2.BORDER_REPLICATE))


def fill_quads(wide: Bytes, out: Bytes) -> None:
    """Write a plane, or some rows of it, one row and one column larger, into its blocks."""
    cv2.merge([wide[:-1, :-1], wide[:-1, 1:], wide[1:, :-1], wide[1:, 1:]], out)


def pair_columns(one: Bytes, other: Bytes) -> Bytes:
    """Return two planes as one whose pixels include their right neighbors."""
    wide = [cv2.copyMakeBorder(plane, 0, 0, 0, 1, cv2.BORDER_REPLICATE) for plane in (one, other)]
    return np.asarray(cv2.merge([part for plane in wide for part in (plane[:, :-1], plane[:, 1:])]))


#: The parallax limit of an estimated depth: more would tear the picture.
STRENGTH = 0.42
#: The same for a zoom, which uncovers less.
GROWTH = 0.62
# Far parts move closer too, but less: a push without them looks unnatural.
_FAR_SHARE = 0.30

#: Adds displacements, in pixels, to the source columns and rows of a frame's blocks.
Displace: TypeAlias = Callable[[tuple[Floats, Floats]], None]


class DepthRelief:
    """A depth map, to view a picture from places near its own."""

    def __init__(self, depth: Floats, take: Take, focus: tuple[float, float] = (0.5, 0.52)) -> None:
        self.take = take
        self.width, self.height = width, height = padded_size(take)
        edge = ((width - take.width) // 2, (height - take.height) // 2)
        near = cv2.resize(depth, (width, height), interpolation=cv2.INTER_LINEAR)
        near = near[edge[1] : edge[1] + take.height, edge[0] : edge[0] + take.width]
        near = cv2.GaussianBlur(near, (0, 0), 0.004 * max(take.width, take.height))
        half = cv2.resize(near, (take.width // 2, take.height // 2), interpolation=cv2.INTER_AREA)
        # An even number of blocks per row, as chroma has one for two of them.
        odd = half.shape[1] % 2
        half = np.asarray(cv2.copyMakeBorder(half, 0, 0, 0, odd, cv2.BORDER_REPLICATE))
        # Centers of blocks, in pixels from the upper left corner of the frame.
        columns = np.broadcast_to(2.0 * np.arange(half.shape[1]) + 1.0, half.shape)
        rows = np.broadcast_to(2.0 * np.arange(half.shape[0])[:, None] + 1.0, half.shape)
        grow = _FAR_SHARE + (1.0 - _FAR_SHARE) * half
        # The source of each block, and its change by a shift and a zoom of 1. A block's center
        # is one pixel to the right of its left edge, and below its upper one.
        self._near = half
        self._columns, self._rows, self._across, self._down = (
            np.ascontiguousarray(part, np.float32)
            for part in (
                columns + edge[0] - 1.0,
                rows + edge[1] - 1.0,
                (columns - focus[0] * take.width) * grow,
                (rows - focus[1] * take.height) * grow,
            )
        )
        self.shape = shape = (half.shape[0], half.shape[1])
        self._maps = np.empty(shape, np.float32), np.empty(shape, np.float32)
        self._seen = Blocks(
            np.empty((*shape, 4), np.uint8), np.empty((shape[0], shape[1] // 2, 4), np.uint8)
        )

    def planes(self, pixels: Bytes) -> Frame:
        """Return the planes of a picture, larger than the frame by the camera's margin."""
        size = (self.width, self.height)
        return views(rgb_frame(resize(pixels, *size)), *size)

    def view(self, blocks: Blocks, seen: FilmView, displace: Displace | None = None) -> Blocks:
        """Return a picture as the camera sees it, valid until the next call."""
        shift_x = -seen.x * STRENGTH * self.take.width
        shift_y = -seen.y * STRENGTH * self.take.height
        zoom = -seen.zoom * GROWTH
        columns, rows = self._maps
        _sum(columns, self._columns, (shift_x, self._near), (zoom, self._across))
        _sum(rows, self._rows, (shift_y, self._near), (zoom, self._down))
        if displace is not None:
            displace(self._maps)
        luma, chroma = self._seen.luma, self._seen.chroma
        _look_up(blocks.luma, columns, rows, luma)
        # Chroma has half the size, and its blocks two columns and one row.
        size = (chroma.shape[1], chroma.shape[0])
        columns, rows = (cv2.resize(part, size) for part in (columns, rows))
        columns *= 0.5
        columns -= 0.5
        rows *= 0.5
        _look_up(blocks.chroma, columns, rows, chroma)
        return self._seen


def padded_size(take: Take) -> tuple[int, int]:
    """Return the even width and height of a picture with the camera's margins."""
    over = 1 + 2 * (0.01 + STRENGTH * take.motion * max(MAX_SHIFT))
    return 2 * round(take.width * over / 2), 2 * round(take.height * over / 2)


def _sum(out: Floats, base: Floats, *parts: tuple[float, Floats]) -> None:
    for amount, field in parts:
        if amount:
            cv2.scaleAdd(field, amount, base, dst=out)
            base = out
    if base is not out:
        out[:] = base


def _look_up(blocks: Bytes, columns: Floats, rows: Floats, out: Bytes) -> None:
    cv2.remap(blocks, columns, rows, cv2.INTER_LINEAR, dst=out, borderMode=cv2.BORDER_REPLICATE)
