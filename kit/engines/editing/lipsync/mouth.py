"""Mouths: the picture's own lips part, the chin goes down, and what is between them is painted.

Everything is in face units and backward: for each place of the new picture, where it comes from in
the old one. The lower lip takes the chin along; the upper teeth belong to the skull and stay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.editing.lipsync.face import Box
from kit.engines.editing.lipsync.lips import Colors, Lips, curve_at
from kit.engines.media.color import Floats

#: From places, x and y in face units, to fields of the same shape.
Fields: TypeAlias = Callable[[Floats, Floats], Sequence[Any]]

#: How far a mouth opens at a jaw of 1 and at most, and the share of it that the upper lip takes.
_OPENING, _MOST, _UP = 27.0, 46.0, 0.14
#: The chin follows the lower lip by this share; below the chin the neck gives way.
_CHIN, _CHIN_BELOW, _NECK_BELOW = 0.84, 58.0, 140.0
_ROUNDING, _SPREADING = 0.26, 0.11
_TEETH_SHOWN, _SMALLEST_GAP = 3.8, 0.8
_SPACING = 2.4  # places are at most about so many face units apart


@dataclass(frozen=True, slots=True)
class MouthShape:
    """A mouth at one moment."""

    #: Between the lips in their middle, in face units.
    opening: float = 0.0
    #: As a share of the width at rest.
    width: float = 1.0
    #: 0 to 1, how much the teeth are together.
    hiss: float = 0.0


def reach_of(lips: Lips, *, inner: bool = False) -> Box:
    """Return all that a moving mouth may touch, in face units, or where its inside may be seen."""
    if inner:
        across = 1.2 * lips.half
        return lips.x - across, lips.y - 30, lips.x + across, lips.y + 52
    return lips.x - 150, lips.y - 75, lips.x + 150, lips.y + 190


def shape_of(lips: Lips, sound: Sequence[float], intensity: float) -> MouthShape:
    """Return the mouth that makes a sound: jaw, spread, hiss and closure, as `Speech` has them."""
    jaw, spread, hiss, closure = sound
    opening = _OPENING * jaw * intensity * (1 - 0.22 * max(-spread, 0.0))
    opening += 3.5 * hiss * min(intensity, 1.0) * (1 - closure)
    change = (_SPREADING if spread > 0 else _ROUNDING) * spread * min(intensity, 1.2)
    # A smile speaks with less.
    return MouthShape(min((0.8 if lips.toothy else 1.0) * opening, _MOST), 1 + change, hiss)


def step_for(unit: float) -> int:
    """Return how many pixels apart fields are worked out, an odd number, for pixels a face unit."""
    return 1 + 2 * max(0, min(int((_SPACING * unit - 1) / 2), 4))


def fill_fields(fields: Fields, x: Floats, y: Floats, step: int) -> list[Floats]:
    """Return fields over places, worked out at the middle of each ``step x step`` pixels."""
    if step == 1 or not x.size:
        return [np.asarray(field, np.float32) for field in fields(x, y)]
    height, width = x.shape
    rows, columns = (
        np.minimum(np.arange(step // 2, size + step // 2, step), size - 1)
        for size in (height, width)
    )
    at, size = np.ix_(rows, columns), (len(columns) * step, len(rows) * step)
    return [
        np.asarray(cv2.resize(np.asarray(field, np.float32), size)[:height, :width])
        for field in fields(x[at], y[at])
    ]


def smooth(share: NDArray[np.floating]) -> Floats:
    """Return an S-curve from 0 at 0 to 1 at 1."""
    share = np.clip(share, 0, 1)
    return np.asarray(share * share * (3 - 2 * share), np.float32)


def pull(x: Floats, y: Floats, lips: Lips, shape: MouthShape, step: int) -> tuple[Floats, Floats]:
    """Return where each place of the picture with a moved mouth comes from."""

    def fields(x: Floats, y: Floats) -> Sequence[Any]:
        moved = _narrowed(x, y, lips, shape)
        upper, lower = _edges(moved, lips, shape)
        aperture, up = _aperture(moved, lips), _up(lips, shape)
        below = np.maximum(y - lower, 0)
        near = np.exp(below * np.float32(-1 / 22))
        neck = 1 - smooth((below - _CHIN_BELOW) / (_NECK_BELOW - _CHIN_BELOW))
        chin = _CHIN * np.exp(-(((moved - lips.x) / 70) ** 2)) * neck
        down = (shape.opening - up) * (aperture * near + chin * (1 - near))
        # The upper lip fades out below the nose.
        rise = up * aperture * (1 - smooth(np.maximum(upper - y, 0) / 26))
        return moved - x, down, rise, (upper + lower) / 2

    across, down, rise, parting = fill_fields(fields, x, y, step)
    return x + across, np.where(y >= parting, y - down, y + rise)


def inside(
    x: Floats, y: Floats, lips: Lips, shape: MouthShape, colors: Colors, unit: float
) -> tuple[Floats, Floats] | None:
    """Return what is between parted lips, RGB, and its cover, 0 to 1; None where nothing is seen.

    Places are not yet moved by the mouth; `unit` is in pixels.
    """
    if shape.opening < _SMALLEST_GAP or not x.size:
        return None
    x = _narrowed(x, y, lips, shape)
    u, soft = (x - lips.x) / lips.half, max(1.0, 1.1 / unit)
    upper, lower = _edges(x, lips, shape)
    gap = lower - upper
    cover = np.clip((y - upper) / soft + 0.3, 0, 1) * np.clip((lower - y) / soft + 0.3, 0, 1)
    cover *= np.clip(gap / 2.2 - 0.15, 0, 1)
    # From back to front: the dark, the tongue, lower teeth, upper teeth.
    depth = np.clip((y - upper) / np.maximum(gap, 1e-3), 0, 1)
    color = colors.dark * (0.62 + 0.5 * depth)[:, :, None]
    tongue = smooth((depth - 0.5 - 0.25 * u * u) / 0.4) * np.clip((0.95 - np.abs(u)) * 2.5, 0, 1)
    tongue *= np.clip((gap - 5) / 8, 0, 1) * (1 - shape.hiss)
    color = _over(color, colors.tongue, tongue * 0.92)
    # Light falls in from the front: what is farther back, toward the corners, is darker.
    shade = np.clip(1.05 - 0.6 * u * u, 0.3, 1)
    rim = lower - (1.2 + 2.8 * max(shape.hiss, 0.6 * lips.toothy)) * _aperture(x, lips)
    teeth = np.clip((y - rim) / soft, 0, 1) * np.clip((0.62 - np.abs(u)) * 4, 0, 1)
    teeth *= max(0.2 + 0.6 * shape.hiss, 0.75 * lips.toothy)
    color = _over(color, colors.tooth * (0.74 * shade)[:, :, None], teeth)
    # The shadow that the upper lip or the upper teeth throw on what is behind them.
    color *= (0.7 + 0.3 * np.clip((y - upper) / 5, 0, 1))[:, :, None]
    if not lips.toothy:
        fall = np.clip(1.1 - 0.9 * u * u, 0, 1)
        edge = curve_at(lips.lower, u) + (_TEETH_SHOWN + 3 * shape.hiss) * fall
        # The less a mouth is open, the less light gets in.
        light = shade * (0.7 + 0.3 * np.clip((y - upper) / 4, 0, 1))
        light = light * np.clip(0.8 + gap / 60, 0, 1)
        teeth = np.clip((edge - y) / soft + 0.5, 0, 1) * np.clip((0.8 - np.abs(u)) * 4, 0, 1)
        # Round lips hide the teeth.
        teeth *= 0.95 * min(1.0, max(0.0, 1 - (1 - shape.width) * 4))
        color = _over(color, colors.tooth * light[:, :, None], teeth)
    return color, cv2.GaussianBlur(np.asarray(cover, np.float32), (0, 0), 0.6 * unit)


def _up(lips: Lips, shape: MouthShape) -> float:
    # The teeth of a smile hold the upper lip.
    return 0.0 if lips.toothy else _UP * shape.opening


def _edges(x: Floats, lips: Lips, shape: MouthShape) -> tuple[Floats, Floats]:
    """Return where the upper lip ends and the lower one begins, for places along the mouth."""
    # Past the corners the line goes on level, or the bend of a smile would reach the eyes.
    line = curve_at(lips.lower, np.clip((x - lips.x) / lips.half, -1, 1))
    aperture, up = _aperture(x, lips), _up(lips, shape)
    return line - up * aperture, line + (shape.opening - up) * aperture


def _aperture(x: Floats, lips: Lips) -> Floats:
    """Return how open the mouth is from corner to corner, as a share of the middle."""
    corner = (0.9 if lips.toothy else 0.96) * lips.half
    return np.asarray(np.clip(1 - np.abs((x - lips.x) / corner) ** 2.2, 0, 1), np.float32)


def _narrowed(x: Floats, y: Floats, lips: Lips, shape: MouthShape) -> Floats:
    """Return where columns come from as the corners of the mouth go in or out."""
    away = x - lips.x
    weight = np.exp(-((away / (1.75 * lips.half)) ** 2) - ((y - lips.y) / 30) ** 2)
    weight *= np.float32(1 - 1 / shape.width) * (1 - smooth((np.abs(away) - 75) / 65))
    return np.asarray(x - away * weight, np.float32)


def _over(color: Any, other: Any, cover: Any) -> Floats:
    return np.asarray(color + (other - color) * cover[:, :, None], np.float32)
