"""Planes: flat layers one behind the other, their drawing and compositing.

The stage is the frame with a margin around it: none for a still, some for a moving camera. All
coordinates are pixels of the stage, row 0 at its top; colors are encoded sRGB, 0 to 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from kit.engines.media.color import Bytes, Floats, Oklch, noise_tile, srgb

_SHIFT = 4  # fractional bits of coordinates in OpenCV's drawing
_FULL = repeat(255)
_PIXELS, _MAX_ROWS = 1 << 15, 256  # of a strip: its approximate pixels, and its maximum rows
_PAPER_SEED = 99  # seed of the dithering noise
#: Fills a canvas of shape (3, rows, columns) that starts at a row of the stage.
Backdrop: TypeAlias = Callable[[Floats, int], None]
#: The row of the stage where it starts, and its color, shape (3, rows, columns).
Strip: TypeAlias = tuple[int, Floats]


@dataclass(frozen=True, slots=True)
class Stage:
    """The frame and the margin around it, in pixels."""

    width: int
    height: int
    margin_x: int = 0
    margin_y: int = 0

    @property
    def columns(self) -> int:
        """Width with the margins."""
        return self.width + 2 * self.margin_x

    @property
    def rows(self) -> int:
        """Height with the margins."""
        return self.height + 2 * self.margin_y

    @property
    def unit(self) -> float:
        """The unit of sizes: the side of a square with the frame's area."""
        return math.sqrt(self.width * self.height)

    def x(self, share: float) -> float:
        """Column of a share of the frame's width."""
        return self.margin_x + share * self.width

    def y(self, share: float) -> float:
        """Row of a share of the frame's height."""
        return self.margin_y + share * self.height

    def blank(self, top: int, bottom: int) -> Bytes:
        """Return an empty mask for the rows from `top` to `bottom`."""
        return np.zeros((max(1, bottom - top), self.columns), np.uint8)


@dataclass(frozen=True, slots=True)
class Touch:
    """Paint on a plane: its coverage of some rows and columns, 0 to 1; None: nowhere."""

    color: Oklch
    weights: Callable[[slice, slice], Floats | None]


@dataclass(frozen=True, slots=True)
class Plane:
    """One layer, from the row `top` of the stage down; `depth` is 0 far away and 1 nearby.

    Its color below the touches (lowest first) has shape (3, 1) or (3, rows), and its alpha (rows,
    columns), 8 bits.
    """

    name: str
    depth: float
    top: int
    color: Floats
    alpha: Bytes
    touches: tuple[Touch, ...] = ()

    @property
    def bottom(self) -> int:
        """Row of the stage after its last one."""
        return self.top + len(self.alpha)

    def solid_from(self) -> int:
        """Return the row of the stage from which it hides all planes behind, down to its bottom."""
        if int(self.alpha[-1].min()) < 255:
            return self.bottom
        open_rows = np.flatnonzero(cv2.reduce(self.alpha, 1, cv2.REDUCE_MIN) < 255)
        return self.top + (int(open_rows[-1]) + 1 if len(open_rows) else 0)

    def blend(self, canvas: Floats, rows: slice, columns: slice, weight: Floats | None) -> None:
        """Blend a part of it into a canvas of that size, in place; opaque without a weight.

        A fourth channel of the canvas accumulates the coverage. The weight is overwritten.
        """
        left = np.zeros(1, np.float32) if weight is None else np.subtract(1.0, weight)
        weight = np.ones(canvas.shape[1:], np.float32) if weight is None else weight
        for cover in canvas[3:]:
            cover *= left
            cover += weight
        shares = []
        # From the last touch down to the plane, each one reduces the weight of those below.
        for touch in reversed(self.touches):
            covers = touch.weights(rows, columns)
            if covers is not None:
                share = covers * weight
                cv2.subtract(weight, share, dst=weight)
                shares.append((srgb(touch.color), share))
        spare = np.empty_like(weight)
        for channel, target in enumerate(canvas[:3]):
            if left.ndim == 1:
                target[:] = 0.0
            else:
                cv2.multiply(target, left, dst=target)
            if self.color.shape[1] == 1:
                cv2.scaleAdd(weight, float(self.color[channel, 0]), target, dst=target)
            else:
                spare[:] = self.color[channel, rows, None]  # multiplying one column is slower
                cv2.accumulateProduct(spare, weight, target)
            for color, share in shares:
                cv2.scaleAdd(share, float(color[channel]), target, dst=target)


def solid(color: Oklch) -> Floats:
    """Return one color in the shape of a plane's color."""
    return srgb(color)[:, None]


def composite(canvas: Floats, plane: Plane, first: int) -> None:
    """Composite a plane on a canvas of shape (3 or 4, rows, columns) from a row on, in place."""
    start, stop = max(plane.top, first), min(plane.bottom, first + canvas.shape[1])
    if start >= stop:
        return
    alpha = plane.alpha[start - plane.top : stop - plane.top]
    left, above, wide, tall = cv2.boundingRect(alpha)
    if not wide:
        return
    columns = slice(left, left + wide)
    weight = alpha[above : above + tall, columns].astype(np.float32)
    weight *= np.float32(1 / 255)
    part = canvas[:, start - first + above : start - first + above + tall, columns]
    above += start - plane.top
    plane.blend(part, slice(above, above + tall), columns, weight)


def strips(
    stage: Stage,
    backdrop: Backdrop,
    planes: Sequence[Plane],
    *,
    until: int | None = None,
    into: Floats | None = None,
) -> Iterator[Strip]:
    """Yield composited planes, a few rows at a time, from the top down.

    This keeps intermediate results in the processor's cache, and skips what a nearer plane hides.
    The next strip reuses the memory, unless the canvas has room for all strips.
    """
    last = stage.rows if until is None else until
    # A power of 2, so that strips and noise are aligned.
    tall = min(_MAX_ROWS, 1 << (max(1, _PIXELS // stage.columns).bit_length() - 1))
    canvas = np.empty((3, tall, stage.columns), np.float32) if into is None else into
    solid_rows = [plane.solid_from() for plane in planes]
    for start in range(0, last, tall):
        stop = min(start + tall, last)
        first = 0 if into is None else start
        strip = canvas[:, first : first + stop - start]
        hiding = [
            number
            for number, (row, plane) in enumerate(zip(solid_rows, planes, strict=True))
            if row <= start and stop <= plane.bottom
        ]
        if hiding:
            nearest = planes[hiding[-1]]
            rows = slice(start - nearest.top, stop - nearest.top)
            nearest.blend(strip, rows, slice(None), None)
        else:
            backdrop(strip, start)
        for plane in planes[hiding[-1] + 1 if hiding else 0 :]:
            composite(strip, plane, start)
        yield start, strip


def print_strips(stage: Stage, painted: Iterable[Strip], *, grain: float = 0.0) -> Bytes:
    """Return strips as an 8-bit picture without banding, shape (rows, columns, 3), sRGB."""
    picture = np.empty((stage.rows, stage.columns, 3), np.uint8)
    noise = _paper(stage.columns, grain)
    side = noise.shape[1]
    for start, strip in painted:
        rows = slice(start % side, start % side + strip.shape[1])
        channels = [
            cv2.addWeighted(plane, 255.0, grains[rows], 1.0, 0.0, dtype=cv2.CV_8U)
            for plane, grains in zip(strip, noise, strict=True)
        ]
        cv2.merge(channels, picture[start : start + strip.shape[1]])
    return picture


@lru_cache(4)
def _paper(columns: int, grain: float) -> Floats:
    rng = np.random.default_rng(_PAPER_SEED)
    noise = noise_tile(rng)
    side = noise.shape[1]
    if grain:
        coarse = cv2.GaussianBlur(rng.standard_normal((side, side), np.float32), (0, 0), 0.7)
        noise = noise + grain * 1.6 * coarse
    paper = np.tile(noise, (1, 1, -(-columns // side)))[:, :, :columns].copy()
    paper.flags.writeable = False
    return paper


def fill(
    mask: Bytes, outlines: ArrayLike, *, top: float = 0.0, values: Iterable[int] = _FULL
) -> None:
    """Fill polygons in sequence: shape (n, corners, 2), or (corners, 2) for one."""
    places = np.asarray(outlines, np.float64)
    places = places[None] if places.ndim < 3 else places
    for corners, value in zip(_fixed(places, top), values, strict=False):
        cv2.fillPoly(mask, [corners], value, cv2.LINE_AA, _SHIFT)


def discs(
    mask: Bytes, circles: ArrayLike, *, top: float = 0.0, values: Iterable[int] = _FULL
) -> None:
    """Fill antialiased circles in sequence, shape (n, 3) of x, y and radius."""
    places = _fixed(np.asarray(circles, np.float64).reshape(-1, 3), top).tolist()
    for (x, y, radius), value in zip(places, values, strict=False):
        cv2.circle(mask, (x, y), radius or 1, value, -1, cv2.LINE_AA, _SHIFT)


def _fixed(places: NDArray[np.float64], top: float) -> NDArray[np.intc]:
    fixed = places * float(1 << _SHIFT)
    fixed[..., 1] -= top * (1 << _SHIFT)
    return np.asarray(np.rint(fixed, out=fixed), np.intc, order="C")


def outline(*lines: tuple[ArrayLike, ArrayLike]) -> NDArray[np.float64]:
    """Return lines of x and y in sequence as the corners of a polygon, shape (n, 2)."""
    across, down = zip(*lines, strict=True)
    return np.stack([np.concatenate(across), np.concatenate(down)], axis=1)


def enlarge(small: NDArray[np.floating], size: tuple[int, int]) -> Bytes:
    """Return smooth alpha, 0 to 255, enlarged to its size (columns, rows)."""
    alpha = cv2.convertScaleAbs(np.asarray(small))
    return np.asarray(cv2.resize(alpha, size, interpolation=cv2.INTER_LINEAR))
