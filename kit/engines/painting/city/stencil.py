"""Stencils: small things drawn in meters, larger than needed, and set into the street by depth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.painting.city.directing import Hour
from kit.engines.painting.city.view import View
from kit.engines.painting.noise import Plane
from kit.engines.painting.tone import light

Points: TypeAlias = Plane | Sequence[tuple[float, float]]

_LARGEST = 760  # pixels of a canvas's longer side
_GRAY_DAY = 0.4  # light from the sky in which no sign outlines what stands before it
_LEAST = 5.0  # pixels of height below which nothing is drawn


class Stencil:
    """A canvas of some meters: x from -wide / 2 to wide / 2, y from 0, the ground, to `tall`.

    Parameters
    ----------
    pixels : float
        Pixels that a meter has in the picture.
    """

    def __init__(self, wide: float, tall: float, pixels: float) -> None:
        self.wide, self.tall, self.pixels = wide, tall, pixels
        # Drawn larger and reduced, since OpenCV smooths no edges in planes of light.
        self.scale = max(1.0, min(3.0, _LARGEST / (max(wide, tall) * pixels))) * pixels
        size = (int(np.ceil(tall * self.scale)) + 1, int(np.ceil(wide * self.scale)) + 1)
        # Color and cover lie in one sheet, so that a shape is drawn once.
        self.body = np.zeros((*size, 4), np.float32)
        self.shine: Plane | None = None

    @property
    def color(self) -> Plane:
        """The share of light that it throws back, shape (rows, columns, 3)."""
        return self.body[..., :3]

    @property
    def alpha(self) -> Plane:
        """How much of each pixel it covers, 0 to 1, shape (rows, columns)."""
        return self.body[..., 3]

    def fill(self, points: Points, color: Plane, *, cover: float = 1.0) -> None:
        """Fill a polygon with the share of light that it throws back."""
        cv2.fillPoly(self.body, [self._placed(points)], [*color.ravel().tolist(), cover])

    def fill_all(self, outlines: Plane, colors: Plane) -> None:
        """Fill convex outlines, shape (n, corners, 2), each in its color, the first one lowest."""
        inks = np.pad(colors, ((0, 0), (0, 1)), constant_values=1.0).tolist()
        for outline, ink in zip(self._placed(outlines), inks, strict=True):
            cv2.fillConvexPoly(self.body, outline, ink)

    def glow(self, points: Points, shine: Plane) -> None:
        """Give a polygon light of its own."""
        if self.shine is None:
            self.shine = np.zeros((*self.body.shape[:2], 3), np.float32)
        cv2.fillPoly(self.shine, [self._placed(points)], shine.ravel().tolist())

    def trace(self, points: Points, wide: float, color: Plane) -> None:
        """Draw a line `wide` meters thick."""
        thick = max(1, round(wide * self.scale))
        ink = [*color.ravel().tolist(), 1.0]
        cv2.polylines(self.body, [self._placed(points)], False, ink, thick)

    def _placed(self, points: Points) -> NDArray[np.int32]:
        at = np.asarray(points, np.float64)
        placed = at * (self.scale, -self.scale)
        placed += (self.wide / 2 * self.scale, self.body.shape[0] - 1)
        return np.round(placed).astype(np.int32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Where something stands: meters right of the middle of the street, and ahead."""

    x: float
    z: float


def curve(points: Points, *, steps: int = 8) -> NDArray[np.float64]:
    """Return a smooth closed outline through points, by Catmull and Rom."""
    at = np.asarray(points, np.float64)
    before, after, beyond = np.roll(at, 1, 0), np.roll(at, -1, 0), np.roll(at, -2, 0)
    t = np.linspace(0.0, 1.0, steps, endpoint=False)[None, :, None]
    a, b, c, d = (part[:, None] for part in (before, at, after, beyond))
    smooth = 0.5 * (
        2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3
    )
    return np.asarray(smooth.reshape(-1, 2))


def ellipse(x: float, y: float, wide: float, tall: float) -> NDArray[np.float64]:
    """Return an ellipse by its middle and half its sizes."""
    turn = np.linspace(0.0, 2.0 * np.pi, 36, endpoint=False)
    return np.stack([x + wide * np.cos(turn), y + tall * np.sin(turn)], axis=1)


def visible(view: View, spot: Spot, wide: float, tall: float) -> bool:
    """Return whether something of this size would be seen at all, and is not too near."""
    if spot.z < 2.5 or tall * view.focal / spot.z < _LEAST:
        return False
    middle = view.column(spot.x, spot.z)
    return -wide * view.focal / spot.z < middle < view.width + wide * view.focal / spot.z


def stand(
    picture: Plane, view: View, spot: Spot, hour: Hour, haze: Plane, stencil: Stencil
) -> None:
    """Set a drawing into the street: lit by the hour, veiled by the air, mirrored in the wet."""
    size = (
        max(1, round(stencil.wide * stencil.pixels)),
        max(1, round(stencil.tall * stencil.pixels)),
    )
    *planes, alpha = cv2.split(cv2.resize(stencil.body, size, interpolation=cv2.INTER_AREA))
    color = np.stack(planes)
    left = round(view.column(spot.x, spot.z) - size[0] / 2)
    foot = round(view.row(0.0, spot.z))
    lit = light(hour.ambient) * np.float32(0.75 * hour.fill)
    lit = lit + light(hour.sun) * np.float32(hour.power * (0.08 if hour.ahead else 0.45))
    lit = lit + light(hour.haze[0]) * np.float32(0.10 * hour.neon)
    solid = np.clip(2.0 * alpha - 1.0, 0.0, 1.0)  # a shadow on the ground has no rim
    rim = solid * (1.0 - cv2.GaussianBlur(solid, (0, 0), max(0.7, 0.012 * size[1])))
    dark = hour.power == 0.0 and hour.fill < _GRAY_DAY
    back = light(hour.haze[0]) * np.float32(0.9 * min(1.0, hour.neon) * dark)
    back = back + light(hour.sun) * np.float32(0.16 * hour.power * hour.ahead)
    # Premultiplied: the reduced color already holds only the covered share of each pixel.
    body = color * lit + back * rim
    glow = _shining(stencil, size) * np.float32(hour.neon)
    fade = np.float32(1.0 - np.exp(-spot.z * hour.thick))
    if hour.wet or hour.neon > 0.3:
        mirror = np.float32(0.12 + 0.5 * hour.wet)
        _mirror(picture, (left, foot), alpha, body * (1.0 - fade), mirror)
        _streak(picture, (left, foot), glow * ((1.0 - fade) * mirror))
    _over(picture, haze, (left, foot - size[1]), alpha, body + glow, fade)


def _shining(stencil: Stencil, size: tuple[int, int]) -> Plane:
    """Return the light of a drawing itself, in a shape that fits (3, height, width)."""
    if stencil.shine is None:
        return np.zeros((3, 1, 1), np.float32)
    return np.stack(cv2.split(cv2.resize(stencil.shine, size, interpolation=cv2.INTER_AREA)))


def _over(
    picture: Plane, haze: Plane, at: tuple[int, int], alpha: Plane, body: Plane,
    fade: np.floating,
) -> None:  # fmt: skip
    window = _window(picture, at, alpha.shape)
    if window is None:
        return
    rows, columns, part = window
    cover = alpha[part]
    below = picture[:, rows, columns]
    below *= 1.0 - cover
    below += body[(slice(None), *part)] * (1.0 - fade) + haze[:, rows, columns] * (cover * fade)


def _mirror(
    picture: Plane, foot: tuple[int, int], alpha: Plane, body: Plane, strength: np.floating
) -> None:
    tall = alpha.shape[0]
    reach = 2 * max(1, tall // 9) + 1
    flipped = cv2.blur(np.ascontiguousarray(alpha[::-1]), (3, reach))
    away = np.exp(-np.arange(tall, dtype=np.float32) / np.float32(0.6 * tall))[:, None] * strength
    window = _window(picture, foot, alpha.shape)
    if window is None:
        return
    rows, columns, part = window
    cover = (flipped * away)[part]
    below = picture[:, rows, columns]
    below *= 1.0 - cover
    for plane, sheet in zip(below, body, strict=True):
        turned = cv2.blur(np.ascontiguousarray(sheet[::-1]), (3, reach))
        plane += (turned * away)[part]


def _streak(picture: Plane, foot: tuple[int, int], glow: Plane) -> None:
    """Add lights to the ground below them, drawn out toward the viewer."""
    if not glow.any():
        return
    tall = glow.shape[1]
    window = _window(picture, foot, (2 * tall, glow.shape[2]))
    if window is None:
        return
    rows, columns, part = window
    reach = 2 * max(1, tall // 2) + 1
    wide = max(1.0, 0.018 * glow.shape[2])
    # Ripples break the light up into short bars, wider apart the nearer they are.
    rows_of = np.arange(2 * tall, dtype=np.float32)[:, None] / np.float32(tall)
    broken = 0.62 + 0.38 * np.sin(34.0 * np.sqrt(rows_of + 0.02) + 3.0 * np.sin(9.0 * rows_of))
    broken = broken * np.exp(-1.6 * rows_of)
    for plane, sheet in zip(picture[:, rows, columns], glow, strict=True):
        turned = np.zeros((2 * tall, sheet.shape[1]), np.float32)
        turned[:tall] = sheet[::-1]
        turned = cv2.GaussianBlur(cv2.blur(turned, (1, reach)), (0, 0), wide, sigmaY=2.0)
        plane += (np.float32(2.4) * turned * broken)[part]


def _window(
    picture: Plane, at: tuple[int, int], shape: tuple[int, ...]
) -> tuple[slice, slice, tuple[slice, slice]] | None:
    """Return the rows and columns that a sheet covers, and the part of it that lies inside."""
    _, height, width = picture.shape
    left, top = at
    rows = slice(max(0, top), min(height, top + shape[0]))
    columns = slice(max(0, left), min(width, left + shape[1]))
    if rows.start >= rows.stop or columns.start >= columns.stop:
        return None
    part = (
        slice(rows.start - top, rows.stop - top),
        slice(columns.start - left, columns.stop - left),
    )
    return rows, columns, part
