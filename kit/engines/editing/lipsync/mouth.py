"""Mouths: the picture's own lips part, the chin goes down, and what is between them is painted.

Everything is in face units and backward: for each place of the new picture, where it comes from in
the old one. The lower lip takes the chin along; the upper teeth belong to the skull and stay.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.editing.lipsync.lips import Colors, Lips, curve_at
from kit.engines.editing.lipsync.pose import Box, filled
from kit.engines.media.color import Floats

#: How far a mouth opens at a jaw of 1, and the shares of it that the two lips take.
_OPENING = 27.0
_UP, _DOWN = 0.14, 0.86
#: The chin follows the lower lip by this share; below the chin the neck gives way.
_CHIN = 0.84
_CHIN_BELOW, _NECK_BELOW = 58.0, 140.0
_ROUNDING, _SPREADING = 0.26, 0.11
_TEETH_SHOWN = 3.8
_SMALLEST_GAP = 0.8


@dataclass(frozen=True, slots=True)
class Shape:
    """A mouth at one moment.

    Parameters
    ----------
    opening : float
        Between the lips in their middle, in face units; less than 0 closes a smile that shows
        teeth.
    width : float
        As a share of the width at rest.
    hiss : float
        0 to 1, how much the teeth are together.
    """

    opening: float = 0.0
    width: float = 1.0
    hiss: float = 0.0


@dataclass(frozen=True, slots=True)
class Inside:
    """What is seen between the lips: colors to lay over the picture.

    Parameters
    ----------
    color : ndarray of float32
        Shape (height, width, 3), RGB.
    cover : ndarray of float32
        Shape (height, width), 0 to 1.
    """

    color: Floats
    cover: Floats


def reach_of(lips: Lips) -> Box:
    """Return all that a moving mouth may touch, in face units."""
    return lips.x - 150, lips.y - 75, lips.x + 150, lips.y + 190


def inner_reach_of(lips: Lips) -> Box:
    """Return where the inside of a mouth may be seen, in face units."""
    return lips.x - 1.2 * lips.half, lips.y - 30, lips.x + 1.2 * lips.half, lips.y + 52


def shape_of(
    lips: Lips, *, jaw: float, spread: float, hiss: float, closure: float, intensity: float
) -> Shape:
    """Return the mouth that makes a sound; see `kit.engines.editing.lipsync.voice.Speech`."""
    opening = _OPENING * jaw * intensity * (1 - 0.22 * max(-spread, 0.0))
    opening += 3.5 * hiss * min(intensity, 1.0) * (1 - closure)
    if lips.toothy:
        # A smile speaks with less; pressing the lips together lowers them over the teeth.
        pressed = max(closure - jaw, 0.0) * min(intensity, 1.0)
        opening = 0.8 * opening - 0.55 * lips.gap * pressed
    # A wider mouth than that would leave the face.
    opening = min(opening, 46.0)
    change = (_SPREADING if spread > 0 else _ROUNDING) * spread * min(intensity, 1.2)
    return Shape(opening, 1 + change, hiss)


def pull(x: Floats, y: Floats, lips: Lips, shape: Shape, *, step: int = 1) -> tuple[Floats, Floats]:
    """Return where each place of the picture with a moved mouth comes from.

    Parameters
    ----------
    x, y : ndarray of float32
        Places in face units, equal shapes.
    step : int
        Pixels from one place at which it is worked out to the next.
    """

    def fields(x: Floats, y: Floats) -> tuple[Floats, ...]:
        moved = _narrowed(x, y, lips, shape)
        upper, lower = _edges(moved, lips, shape)
        down, up = _down(moved, y, lower, lips, shape), _up(moved, y, upper, lips, shape)
        return np.asarray(moved - x, np.float32), down, up, np.asarray((upper + lower) / 2)

    across, down, up, parting = filled(fields, x, y, step)
    return x + across, np.where(y >= parting, y - down, y + up)


def inside(
    x: Floats, y: Floats, lips: Lips, shape: Shape, colors: Colors, *, sharp: float
) -> Inside | None:
    """Return what is between parted lips, or None where nothing is to be seen.

    Parameters
    ----------
    x, y : ndarray of float32
        Places in face units, not yet moved by the mouth.
    sharp : float
        Pixels per face unit.
    """
    if abs(shape.opening) < _SMALLEST_GAP or not x.size:
        return None
    x = _narrowed(x, y, lips, shape)
    u = (x - lips.x) / lips.half
    upper, lower = _edges(x, lips, shape)
    if shape.opening < 0:
        # The lower lip lies over the teeth: only the shadow where they touch.
        cover = 0.4 * np.exp(-(((y - lower) / max(0.9, 0.8 / sharp)) ** 2)) * _aperture(u, lips)
        return Inside(_plain(colors.dark, x), np.asarray(cover, np.float32))
    soft = max(1.0, 1.1 / sharp)
    cover = np.clip((y - upper) / soft + 0.3, 0, 1) * np.clip((lower - y) / soft + 0.3, 0, 1)
    cover *= np.clip((lower - upper) / 2.2 - 0.15, 0, 1)
    color = _painted(u, y, (upper, lower), lips, shape, colors, soft)
    return Inside(color, cv2.GaussianBlur(np.asarray(cover, np.float32), (0, 0), 0.6 * sharp))


def _painted(
    u: Floats,
    y: Floats,
    edges: tuple[Floats, Floats],
    lips: Lips,
    shape: Shape,
    colors: Colors,
    soft: float,
) -> Floats:
    """Return the inside from back to front: the dark, the tongue, lower teeth, upper teeth."""
    upper, lower = edges
    gap = lower - upper
    depth = np.clip((y - upper) / np.maximum(gap, 1e-3), 0, 1)
    color = colors.dark * (0.62 + 0.5 * depth)[:, :, None]
    color = _over(color, colors.tongue, _tongue(u, depth, gap, shape) * 0.92)
    # Light falls in from the front: what is farther back, toward the corners, is darker.
    shade = np.clip(1.05 - 0.6 * u * u, 0.3, 1)
    rim = lower - (1.2 + 2.8 * max(shape.hiss, 0.6 * lips.toothy)) * _aperture(u, lips)
    teeth = np.clip((y - rim) / soft, 0, 1) * np.clip((0.62 - np.abs(u)) * 4, 0, 1)
    light = shade * 0.74 * _divided(u * 1.25)
    shown = max(0.2 + 0.6 * shape.hiss, 0.75 * lips.toothy)
    color = _over(color, colors.tooth * light[:, :, None], teeth * shown)
    # The shadow that the upper lip or the upper teeth throw on what is behind them.
    color *= (0.7 + 0.3 * np.clip((y - upper) / 5, 0, 1))[:, :, None]
    if lips.toothy:
        return np.asarray(color, np.float32)
    edge = curve_at(lips.lower, u) + _teeth_shown(u, shape)
    # The less a mouth is open, the less light gets in.
    light = shade * (0.7 + 0.3 * np.clip((y - upper) / 4, 0, 1)) * _divided(u)
    light = light * np.clip(0.8 + gap / 60, 0, 1)
    teeth = np.clip((edge - y) / soft + 0.5, 0, 1) * np.clip((0.8 - np.abs(u)) * 4, 0, 1)
    # Round lips hide the teeth.
    shown = 0.95 * min(1.0, max(0.0, 1 - (1 - shape.width) * 4))
    return _over(color, colors.tooth * light[:, :, None], teeth * shown)


def _teeth_shown(u: Floats, shape: Shape) -> Floats:
    """Return how far the upper teeth reach below the line of the closed lips."""
    tooth = 0.25 * np.cos(2 * np.pi * _phase(u))
    fall = np.clip(1.1 - 0.9 * u * u, 0, 1)
    return np.asarray((_TEETH_SHOWN + tooth + 3 * shape.hiss) * fall, np.float32)


def _edges(x: Floats, lips: Lips, shape: Shape) -> tuple[Floats, Floats]:
    """Return where the upper lip ends and the lower one begins, for places along the mouth."""
    u = (x - lips.x) / lips.half
    # Past the corners the line goes on level, or the bend of a smile would reach the eyes.
    line, aperture = curve_at(lips.lower, np.clip(u, -1, 1)), _aperture(u, lips)
    top, bottom = _lips_moved(lips, shape)
    lower = line + bottom * aperture
    # Over the teeth of a smile the lower lip is all there is.
    return (lower if bottom < 0 else line - top * aperture), lower


def _down(x: Floats, y: Floats, edge: Floats, lips: Lips, shape: Shape) -> Floats:
    """Return how far each place has gone down: lip and chin together, the neck giving way."""
    bottom = _lips_moved(lips, shape)[1]
    below = np.maximum(y - edge, 0)
    near = np.exp(below * np.float32(-1 / 22))
    neck = 1 - _smooth((below - _CHIN_BELOW) / (_NECK_BELOW - _CHIN_BELOW))
    chin = np.exp(-(((x - lips.x) / 70) ** 2)) * neck * (_CHIN if bottom > 0 else 0.25)
    aperture = _aperture((x - lips.x) / lips.half, lips)
    return np.asarray(bottom * (aperture * near + chin * (1 - near)), np.float32)


def _up(x: Floats, y: Floats, edge: Floats, lips: Lips, shape: Shape) -> Floats:
    """Return how far each place has gone up: the upper lip, fading out below the nose."""
    top = _lips_moved(lips, shape)[0]
    fade = 1 - _smooth(np.maximum(edge - y, 0) / 26)
    return np.asarray(top * _aperture((x - lips.x) / lips.half, lips) * fade, np.float32)


def _lips_moved(lips: Lips, shape: Shape) -> tuple[float, float]:
    """Return how far the upper lip goes up and the lower one down, in the middle."""
    if shape.opening < 0 or lips.toothy:
        return 0.0, shape.opening
    return _UP * shape.opening, _DOWN * shape.opening


def _narrowed(x: Floats, y: Floats, lips: Lips, shape: Shape) -> Floats:
    """Return where columns come from as the corners of the mouth go in or out."""
    if shape.width == 1.0:
        return x
    across = (x - lips.x) / (1.75 * lips.half)
    along = (y - lips.y) / 30
    weight = np.exp(-(across**2) - along**2) * np.float32(1 - 1 / shape.width)
    weight = weight * (1 - _smooth((np.abs(x - lips.x) - 75) / 65))
    return np.asarray(x - (x - lips.x) * weight, np.float32)


def _aperture(u: Floats, lips: Lips) -> Floats:
    """Return how open the mouth is from corner (-1) to corner (1), as a share of the middle."""
    corner = 0.9 if lips.toothy else 0.96
    return np.asarray(np.clip(1 - np.abs(u / corner) ** 2.2, 0, 1), np.float32)


def _tongue(u: Floats, depth: Floats, gap: Floats, shape: Shape) -> Floats:
    rise = _smooth(np.asarray((depth - 0.5 - 0.25 * u * u) / 0.4)) * np.clip(
        (0.95 - np.abs(u)) * 2.5, 0, 1
    )
    return np.asarray(rise * np.clip((gap - 5) / 8, 0, 1) * (1 - shape.hiss), np.float32)


def _phase(u: Floats) -> Floats:
    """Return a number that is whole between two teeth; the ones in the middle are wider."""
    return np.asarray(4.6 * np.sign(u) * np.abs(u) ** 0.85, np.float32)


def _divided(u: Floats) -> Floats:
    """Return faint dark lines between teeth, 1 elsewhere."""
    phase = _phase(u)
    near = np.abs(phase - np.round(phase))
    return np.asarray(1 - 0.08 * np.exp(-((near / 0.1) ** 2)), np.float32)


def _plain(color: Floats, like: Floats) -> Floats:
    return np.asarray(np.broadcast_to(color, (*like.shape, 3)), np.float32)


def _over(color: Floats, other: Floats, cover: Floats) -> Floats:
    return np.asarray(color + (other - color) * cover[:, :, None], np.float32)


def _smooth(share: NDArray[np.floating]) -> Floats:
    share = np.clip(share, 0, 1)
    return np.asarray(share * share * (3 - 2 * share), np.float32)
