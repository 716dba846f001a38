"""Planes: what a landscape is made of, like the sheets of a paper theater.

The stage is the frame with a margin around it: none for a picture, some for a camera that moves.
 All coordinates are pixels of the stage, row 0 at its top.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from kit.engines.media.color import Bytes, Floats

_SHIFT = 4  # binary places of a pixel that OpenCV draws to


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
        return float(np.sqrt(self.width * self.height))

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
    color : ndarray of float32
        Encoded sRGB, 0 to 1, shape (3, rows, columns), (3, rows, 1) or (3, 1, 1).
    alpha : ndarray of uint8
        Shape (rows, columns).
    """

    name: str
    depth: float
    top: int
    color: Floats
    alpha: Bytes


def over(canvas: Floats, plane: Plane) -> None:
    """Paint a plane over a canvas of shape (3, rows, columns), in place."""
    below = canvas[:, plane.top : plane.top + plane.alpha.shape[0]]
    edge = plane.alpha.shape[0]
    if plane.color.shape[1] == edge:
        # From some row on, most ridges hide all that lies behind: no need to mix there.
        open_rows = np.flatnonzero(plane.alpha.min(axis=1) < 255)
        edge = int(open_rows[-1]) + 1 if len(open_rows) else 0
        below[:, edge:] = plane.color[:, edge:]
    blend(below[:, :edge], plane.color[:, :edge], plane.alpha[:edge])


def blend(canvas: Floats, color: Floats, alpha: Bytes | Floats) -> None:
    """Mix a color into a canvas of the same rows, in place; float weights are 0 to 1."""
    weight = alpha
    if alpha.dtype == np.uint8:
        weight = np.multiply(alpha, np.float32(1 / 255), dtype=np.float32)
    change = np.empty(canvas.shape[1:], np.float32)
    for target, source in zip(canvas, color, strict=True):
        np.subtract(source, target, out=change)
        change *= weight
        target += change


def fill(mask: Bytes, points: ArrayLike, *, top: float = 0.0, value: int = 255) -> None:
    """Fill a polygon, its edges smooth; `points` has shape (n, 2), as (x, y) of the stage."""
    corners = np.array(points, np.float64)
    corners[:, 1] -= top
    corners *= 1 << _SHIFT
    fixed = np.rint(corners).astype(np.int32)
    cv2.fillPoly(mask, [fixed], value, cv2.LINE_AA, _SHIFT)


def disc(
    mask: Bytes, x: float, y: float, radius: float, *, top: float = 0.0, value: int = 255
) -> None:
    """Fill a circle, its edge smooth."""
    scale = 1 << _SHIFT
    center = (round(x * scale), round((y - top) * scale))
    cv2.circle(mask, center, max(1, round(radius * scale)), value, -1, cv2.LINE_AA, _SHIFT)


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
