"""Planes: what a landscape is made of, like the sheets of a paper theater.

The stage is the frame with a margin around it: none for a picture, some for a camera that moves.
 All coordinates are pixels of the stage, row 0 at its top.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import repeat
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from kit.engines.media.color import Bytes, Floats, Oklch, encode, linear, oklab
from kit.engines.painting.poster.mixing import lay, spread, weight_of

_SHIFT = 4  # binary places of a pixel that OpenCV draws to
_FULL = repeat(255)
#: Places along a line: x and y.
Line: TypeAlias = tuple[NDArray[np.number], NDArray[np.number]]


@dataclass(frozen=True, slots=True)
class Stage:
    """The frame and the margin around it, in pixels."""

    width: int
    height: int
    margin_x: int = 0
    margin_y: int = 0

    @property
    def columns(self) -> int:
        """Width of the stage with its margins."""
        return self.width + 2 * self.margin_x

    @property
    def rows(self) -> int:
        """Height of the stage with its margins."""
        return self.height + 2 * self.margin_y

    @property
    def unit(self) -> float:
        """The length that sizes are given in: the side of a square as large as the frame."""
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
    """Paint upon a plane: light on a slope, snow, shadow.

    Parameters
    ----------
    color : ndarray of float32
        Encoded sRGB, 0 to 1, shape (3, 1, 1).
    weights : callable
        From rows and columns of the plane to how strongly the touch covers them: 0 to 1, of a
        shape that fits them, or None where it covers nothing.
    """

    color: Floats
    weights: Callable[[slice, slice], Floats | None]


@dataclass(frozen=True, slots=True)
class Plane:
    """One sheet: where it starts, its color and how much of it covers what lies behind.

    Parameters
    ----------
    name : str
        What it shows: haze, stars, glare, sun, cloud, birds, ridge, mist or weather.
    depth : float
        0 for infinitely far, 1 for the nearest.
    top : int
        Row of the stage where it begins.
    ground : ndarray of float32
        Its color before the touches: encoded sRGB, 0 to 1, shape (3, rows, columns), (3, rows, 1)
        or (3, 1, 1).
    alpha : ndarray of uint8
        Shape (rows, columns).
    touches : tuple of Touch
        What is painted upon the ground, the first one lowest.
    """

    name: str
    depth: float
    top: int
    ground: Floats
    alpha: Bytes
    touches: tuple[Touch, ...] = ()

    @property
    def bottom(self) -> int:
        """Row of the stage after its last one."""
        return self.top + len(self.alpha)

    @property
    def color(self) -> Floats:
        """Its color with all touches, in a shape that fits (3, rows, columns)."""
        return self.colors(0, self.alpha.shape[0])

    def colors(self, first: int, last: int) -> Floats:
        """Return the color of its rows from `first` up to `last`, counted from its top."""
        if not self.touches:
            return self._ground(slice(first, last), slice(None))
        canvas = np.empty((3, last - first, self.alpha.shape[1]), np.float32)
        self.lay(canvas, slice(first, last), slice(None))
        return canvas

    def lay(
        self, canvas: Floats, rows: slice, columns: slice, weight: Floats | None = None
    ) -> None:
        """Mix a part of it into a canvas of the part's size, in place.

        Parameters
        ----------
        weight : ndarray of float32, optional
            How strongly it covers the canvas, 0 to 1; wholly if left out. It is used as scratch
            space.
        """
        left = None if weight is None else np.subtract(1.0, weight)
        if weight is None:
            weight = np.ones(canvas.shape[1:], np.float32)
        shares = []
        # From the last touch down to the ground, each one leaves less for what lies below it.
        for touch in reversed(self.touches):
            covers = touch.weights(rows, columns)
            if covers is not None:
                full = covers.shape == weight.shape
                covers = covers if full else spread(covers, weight.shape)
                share = np.asarray(cv2.multiply(covers, weight))
                cv2.subtract(weight, share, dst=weight)
                shares.append((touch.color, share))
        lay(canvas, self._ground(rows, columns), weight, shares, left=left)

    def _ground(self, rows: slice, columns: slice) -> Floats:
        ground = self.ground if self.ground.shape[1] == 1 else self.ground[:, rows]
        return ground if ground.shape[2] == 1 else ground[:, :, columns]

    def solid_from(self) -> int:
        """Return the row of the stage from which it hides all behind it, down to its bottom."""
        if int(self.alpha[-1].min()) < 255:
            return self.bottom
        open_rows = np.flatnonzero(cv2.reduce(self.alpha, 1, cv2.REDUCE_MIN) < 255)
        return self.top + (int(open_rows[-1]) + 1 if len(open_rows) else 0)


def over(canvas: Floats, plane: Plane, *, first: int = 0) -> None:
    """Paint a plane over a canvas of shape (3, rows, columns), in place.

    Parameters
    ----------
    first : int
        Row of the stage where the canvas begins; what lies beyond it is not painted.
    """
    start, stop = max(plane.top, first), min(plane.bottom, first + canvas.shape[1])
    if start >= stop:
        return
    alpha = plane.alpha[start - plane.top : stop - plane.top]
    left, above, wide, tall = cv2.boundingRect(alpha)
    if not wide:
        return
    columns = slice(left, left + wide)
    part = canvas[:, start - first + above : start - first + above + tall, columns]
    alpha = alpha[above : above + tall, columns]
    above += start - plane.top
    plane.lay(part, slice(above, above + tall), columns, weight_of(alpha))


def outline(*parts: Line) -> NDArray[np.float64]:
    """Return lines, one after the other, as the corners of a polygon, shape (n, 2)."""
    across, down = zip(*parts, strict=True)
    return np.array([np.concatenate(across), np.concatenate(down)], np.float64).T


def backward(line: Line) -> Line:
    """Return a line from its end to its start."""
    return line[0][::-1], line[1][::-1]


def fill(mask: Bytes, points: ArrayLike, *, top: float = 0.0, value: int = 255) -> None:
    """Fill a polygon, its edges smooth; `points` has shape (n, 2), as (x, y) of the stage."""
    fill_all(mask, np.asarray(points, np.float64)[None], top=top, values=(value,))


def fill_all(
    mask: Bytes,
    outlines: NDArray[np.floating],
    *,
    top: float = 0.0,
    values: Iterable[int] = _FULL,
    convex: bool = False,
) -> None:
    """Fill polygons of as many corners each, their edges smooth, one after the other.

    Parameters
    ----------
    outlines : ndarray of float
        Shape (n, corners, 2).
    values : iterable of int
        What each is filled with.
    convex : bool
        Whether all of them are: then it takes half the time.
    """
    for corners, value in zip(_fixed(outlines, top), values, strict=False):
        if convex:
            cv2.fillConvexPoly(mask, corners, value, cv2.LINE_AA, _SHIFT)
        else:
            cv2.fillPoly(mask, [corners], value, cv2.LINE_AA, _SHIFT)


def disc(
    mask: Bytes, x: float, y: float, radius: float, *, top: float = 0.0, value: int = 255
) -> None:
    """Fill a circle, its edge smooth."""
    scale = 1 << _SHIFT
    center = (round(x * scale), round((y - top) * scale))
    cv2.circle(mask, center, max(1, round(radius * scale)), value, -1, cv2.LINE_AA, _SHIFT)


def discs(
    mask: Bytes, circles: NDArray[np.floating], *, top: float = 0.0, values: Iterable[int] = _FULL
) -> None:
    """Fill circles, their edges smooth, one after the other.

    Parameters
    ----------
    circles : ndarray of float
        Shape (n, 3): x, y and radius.
    values : iterable of int
        What each is filled with.
    """
    for (x, y, radius), value in zip(_fixed(circles, top).tolist(), values, strict=False):
        cv2.circle(mask, (x, y), radius or 1, value, -1, cv2.LINE_AA, _SHIFT)


def _fixed(places: NDArray[np.floating], top: float) -> NDArray[np.intc]:
    """Return places of shape (..., x and y and maybe more) as OpenCV draws them."""
    fixed = places * float(1 << _SHIFT)
    fixed[..., 1] -= top * (1 << _SHIFT)
    return np.asarray(np.rint(fixed, out=fixed), np.intc, order="C")


def ellipse(
    mask: Bytes,
    center: tuple[float, float],
    radii: tuple[float, float],
    *,
    top: float = 0.0,
    value: int = 255,
) -> None:
    """Fill an upright ellipse, its edge smooth."""
    turn = np.linspace(0.0, 2 * np.pi, 48, endpoint=False)
    points = np.stack(
        [center[0] + radii[0] * np.cos(turn), center[1] + radii[1] * np.sin(turn)], axis=1
    )
    fill(mask, points, top=top, value=value)


def solid(color: NDArray[np.float32]) -> Floats:
    """Return one color, shape (3,), in the shape that a plane takes."""
    return color.reshape(3, 1, 1)


def fade(one: Oklch, other: Oklch, shares: NDArray[np.floating]) -> Floats:
    """Return the colors that lie shares of the way from one to another, shape (3, n)."""
    start, end = oklab(one), oklab(other)
    return encode(linear(start + (end - start) * shares[:, None])).T


def enlarged(small: NDArray[np.floating], size: tuple[int, int]) -> Bytes:
    """Return smooth alpha, 0 to 255 and painted small, at its size (columns, rows)."""
    return np.asarray(
        cv2.resize(cv2.convertScaleAbs(np.asarray(small)), size, interpolation=cv2.INTER_LINEAR)
    )
