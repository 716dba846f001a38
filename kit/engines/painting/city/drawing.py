"""Drawings of what stands in a street, in meters, and how one is set into the picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.painting.canvas import Canvas
from kit.engines.painting.city.light import Hour
from kit.engines.painting.city.street import View
from kit.engines.painting.noise import Plane

Points: TypeAlias = NDArray[np.float64] | Sequence[tuple[float, float]]

_LARGEST = 760  # pixels of a drawing's longer side
_LEAST = 5.0  # pixels of height below which nothing is drawn


class Drawing:
    """A sheet of some meters: x from -wide / 2 to wide / 2, y from 0, the ground, to `tall`.

    Drawn larger than shown and reduced, since OpenCV smooths no edges in planes of light.
    """

    def __init__(self, wide: float, tall: float, pixels: float) -> None:
        self._wide, self.pixels = wide, pixels
        self.scale = max(1.0, min(3.0, _LARGEST / (max(wide, tall) * pixels))) * pixels
        self._size = int(np.ceil(tall * self.scale)) + 1, int(np.ceil(wide * self.scale)) + 1
        self.small = max(1, round(wide * pixels)), max(1, round(tall * pixels))
        # Share of light that it throws back, and cover; then light of its own.
        self.body = np.zeros((*self._size, 4), np.float32)
        self.shine: Plane | None = None

    def fill(self, points: Points, color: Plane, cover: float = 1.0) -> None:
        """Fill a polygon with the share of light that it throws back."""
        cv2.fillPoly(self.body, [self.placed(points)], [*color.ravel().tolist(), cover])

    def glow(self, points: Points, shine: Plane) -> None:
        """Give a polygon light of its own."""
        if self.shine is None:
            self.shine = np.zeros((*self._size, 3), np.float32)
        cv2.fillPoly(self.shine, [self.placed(points)], shine.ravel().tolist())

    def trace(self, points: Points, wide: float, color: Plane) -> None:
        """Draw a line `wide` meters thick."""
        thick = max(1, round(wide * self.scale))
        ink = [*color.ravel().tolist(), 1.0]
        cv2.polylines(self.body, [self.placed(points)], False, ink, thick)

    def fill_all(self, outlines: NDArray[np.float64], colors: Plane) -> None:
        """Fill convex outlines, shape (n, corners, 2), each in its color, the first one lowest."""
        inks = np.pad(colors, ((0, 0), (0, 1)), constant_values=1.0).tolist()
        for outline, ink in zip(self.placed(outlines), inks, strict=True):
            cv2.fillConvexPoly(self.body, outline, ink)

    def placed(self, points: Points) -> NDArray[np.int32]:
        """Return points in pixels of the sheet."""
        placed = np.asarray(points, np.float64) * (self.scale, -self.scale)
        placed += (self._wide / 2 * self.scale, self._size[0] - 1)
        return np.round(placed).astype(np.int32)


def curve(points: Points, steps: int = 8) -> NDArray[np.float64]:
    """Return a smooth closed outline through points, by Catmull and Rom."""
    at = np.asarray(points, np.float64)
    a, b, c, d = (np.roll(at, -turn, 0)[:, None] for turn in (-1, 0, 1, 2))
    t = np.linspace(0.0, 1.0, steps, endpoint=False)[None, :, None]
    smooth = 2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2
    smooth = 0.5 * (smooth + (3 * b - a - 3 * c + d) * t**3)
    return np.asarray(smooth.reshape(-1, 2))


def ellipse(x: float, y: float, wide: float, tall: float) -> NDArray[np.float64]:
    """Return an ellipse by its middle and half its sizes."""
    turn = np.linspace(0.0, 2.0 * np.pi, 36, endpoint=False)
    return np.stack([x + wide * np.cos(turn), y + tall * np.sin(turn)], axis=1)


def seen(view: View, x: float, z: float, wide: float, tall: float) -> bool:
    """Return whether something of this size is in the frame, large enough and not too near."""
    reach = wide * view.focal / z
    inside = -reach < view.column(x, z) < view.width + reach
    return z > 2.5 and tall * view.focal / z > _LEAST and inside


def add_drawing(
    canvas: Canvas, view: View, hour: Hour, air: Plane, x: float, z: float, it: Drawing
) -> None:
    """Set a drawing into the street: lit by the hour, veiled by the air, mirrored in the wet."""
    wide, tall = it.small
    *planes, cover = cv2.split(cv2.resize(it.body, it.small, interpolation=cv2.INTER_AREA))
    left, foot = round(view.column(x, z) - wide / 2), round(view.row(0.0, z))
    lit = 0.75 * hour.ambient + hour.sun * (0.08 if hour.ahead else 0.45)
    lit = lit + hour.glow * (0.10 * hour.neon)
    solid = np.clip(2.0 * cover - 1.0, 0.0, 1.0)  # a shadow on the ground has no rim
    rim = solid * (1.0 - cv2.GaussianBlur(solid, (0, 0), max(0.7, 0.012 * tall)))
    dark = hour.power == 0.0 and hour.fill < 0.4  # on a gray day no sign outlines what is before it
    back = hour.glow * (0.9 * min(1.0, hour.neon) * dark) + hour.sun * (0.16 * hour.ahead)
    # Premultiplied: the reduced color already holds only the covered share of each pixel.
    body, glow = np.stack(planes) * lit + back * rim, np.zeros((3, tall, wide), np.float32)
    if it.shine is not None:
        shine = cv2.resize(it.shine, it.small, interpolation=cv2.INTER_AREA)
        glow = np.stack(cv2.split(shine)) * np.float32(hour.neon)
    clear = np.float32(np.exp(-z * hour.thick))
    if hour.wet or hour.neon > 0.3:
        share = float(clear) * (0.12 + 0.5 * hour.wet)
        _mirror(canvas, (left, foot), cover, body, glow, share)
    at, part = _clipped(canvas, left, foot - tall, tall, wide)
    color = ((body + glow) / np.maximum(cover, 1e-3))[:, *part]
    color = color * clear + air[:, *at] * (1.0 - clear)
    shining = np.minimum(glow.max(axis=0)[part], 1.0) * clear
    canvas.lay(at, color, cover[part], z, shining)


def _mirror(
    canvas: Canvas, foot: tuple[int, int], cover: Plane, body: Plane, glow: Plane, share: float
) -> None:
    """Mirror a drawing in the ground below it; its lights are drawn out toward the viewer."""
    tall, wide = cover.shape
    rows = np.arange(2 * tall, dtype=np.float32)[:, None] / tall
    fade = np.exp(-rows / 0.6) * share * (rows < 1.0)
    # Ripples break lights up into short bars, wider apart the nearer they are.
    broken = 0.62 + 0.38 * np.sin(34.0 * np.sqrt(rows + 0.02) + 3.0 * np.sin(9.0 * rows))
    broken = 2.4 * share * broken * np.exp(-1.6 * rows)

    def turned(plane: Plane, reach: int, sideways: int) -> Plane:
        below = np.zeros((2 * tall, wide), np.float32)
        below[:tall] = plane[::-1]
        return np.asarray(cv2.blur(below, (sideways, 2 * max(1, reach) + 1)))

    at, part = _clipped(canvas, *foot, 2 * tall, wide)
    below = canvas.light[:, *at]
    below *= (1.0 - turned(cover, tall // 9, 3) * fade)[part]
    for plane, sheet, shine in zip(below, body, glow, strict=True):
        plane += (turned(sheet, tall // 9, 3) * fade)[part]
        if shine.any():
            spread = cv2.GaussianBlur(turned(shine, tall // 2, 1), (0, 0), max(1.0, 0.018 * wide))
            plane += (spread * broken)[part]


def _clipped(
    canvas: Canvas, left: int, top: int, tall: int, wide: int
) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
    """Return the rows and columns that a sheet covers, and the part of it that lies inside."""
    height, width = canvas.depth.shape
    first, low = (min(max(0, it), of) for it, of in ((top, height), (top + tall, height)))
    near, far = (min(max(0, it), of) for it, of in ((left, width), (left + wide, width)))
    part = slice(first - top, low - top), slice(near - left, far - left)
    return (slice(first, low), slice(near, far)), part
