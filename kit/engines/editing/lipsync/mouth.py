"""Mouths: where the lips part in a picture, and how they move; the inside is painted.

A closed mouth parts along the darkest path from side to side. A smile that shows teeth has two
edges: the teeth stay with the upper lip, and the mouth opens below them. The chin moves with the
lower lip. Moves are in face units and backward maps: from each place of the new picture to its
source in the old one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import cv2
import numpy as np

from kit.engines.editing.lipsync.face import MOUTH_WIDTH, Box, FacePose, Guess, crop
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.noise import smooth_step

Curve: TypeAlias = tuple[float, float, float]

#: The analyzed patch, one pixel per face unit: half its width, its extent above and below the
#: mouth, and its middle columns.
_HALF, _ABOVE, _BELOW, _MIDDLE = 75, 44, 66, slice(63, 88)
#: Rows near a detected or given mouth in which the lips may part, and rows of skin and lip next to
#: the parting that are compared with it.
_NEAR, _NEAR_GIVEN, _REACH = 11, 8, 14
#: Maximum distance of the center from that of the corners, and limits of the relative width.
_MAX_OFFSET, _WIDTH_RANGE = 4.0, (0.95, 1.22)
_MAX_HALF, _USUAL_SMILE = 62, 100.0
#: How far teeth take on the skin's own hue, their brightness in full light, and the skin's distance
#: from gray, as a share of its brightness, in a picture in full color.
_WARMTH, _TOOTH, _VIVID = 0.35, 201.0, 0.3


@dataclass(frozen=True, slots=True)
class Lips:
    """A mouth at rest, in face units."""

    #: Its center, and half its width.
    x: float
    half: float
    #: Coefficients of the lower edge of the upper lip and the upper edge of the lower lip, as ``a +
    #: b u + c u**2`` with ``u = (x - lips.x) / half``; equal for a closed mouth.
    upper: Curve
    lower: Curve
    #: Whether teeth are visible between the two.
    toothy: bool = False

    @property
    def y(self) -> float:
        """The height at which the mouth opens, in its center."""
        return self.lower[0]

    def lower_by(self, units: float) -> Lips:
        """Return the same mouth lower by some face units."""
        upper, lower = ((curve[0] + units, *curve[1:]) for curve in (self.upper, self.lower))
        return replace(self, upper=upper, lower=lower)


@dataclass(frozen=True, slots=True)
class Colors:
    """The colors of the inside of a mouth, float32 RGB, 0 to 255."""

    dark: Floats
    tooth: Floats
    tongue: Floats


def curve_at(curve: Curve, u: Any) -> Any:
    """Return the height of a lip's edge at ``u``, in half widths from the center."""
    level, slope, bend = curve
    return level + slope * u + bend * u * u


def find_lips(pixels: Bytes, pose: FacePose, guess: Guess) -> Lips:
    """Return the mouth of a face, near an estimate."""
    left, top = guess.x - _HALF, guess.y - _ABOVE
    patch = crop(pixels, pose, (left, top, left + 2 * _HALF, guess.y + _BELOW))
    lab = cv2.cvtColor(patch.astype(np.float32) / 255, cv2.COLOR_RGB2LAB)
    lab = cv2.GaussianBlur(lab, (0, 0), 1.2)
    middle = lab[:, _MIDDLE].mean(axis=1)
    near = _NEAR_GIVEN if guess.given[1] else _NEAR
    teeth = _find_teeth(middle, near)
    if teeth is None:
        lower = upper = _find_path(lab[:, :, 0] * 0.6, _find_seam(middle, near))
    else:
        # The redness of the lips falls at the upper and rises at the lower edge of the teeth.
        fall = cv2.Sobel(lab[:, :, 1], cv2.CV_32F, 0, 1, ksize=3)
        upper, lower = _find_path(fall, teeth[0]), _find_path(-fall, teeth[1])
    x, half = _find_sides(lab, lower, upper)
    x = guess.x + (0.0 if guess.given[0] else float(np.clip(x, -_MAX_OFFSET, _MAX_OFFSET)))
    narrow, wide = (1.0, 1.0) if guess.given[2] else _WIDTH_RANGE
    half = float(np.clip(half, guess.half * narrow, guess.half * wide))
    u = (np.arange(2 * _HALF) + left - x) / half
    opening = _fit_curve(u, lower + top)
    if teeth is None:
        return Lips(x, half, opening, opening)
    level, slope, bend = _fit_curve(u, upper + top)
    # Keep the upper edge above the lower one, and make them nearly meet at the corners.
    level = min(level, opening[0] - 1.0)
    bent = 0.25 * opening[2] + 0.75 * float(np.clip(level + bend - opening[0], -22, 0))
    return Lips(x, half, (level, slope, bend), (*opening[:2], bent), toothy=True)


def _find_teeth(middle: Floats, near: int) -> tuple[int, int] | None:
    """Return the first and last row of teeth: bright, and paler than both lips."""
    best, found = 1.0, None
    for row in range(_ABOVE - near + 4, _ABOVE + near + 1):
        above, below = middle[max(row - 22, 0) : row - 3], middle[row + 4 : row + 22]
        paler = min(above[:, 1].max(), below[:, 1].max()) - middle[row, 1]
        brighter = middle[row, 0] - max(above[:, 0].min(), below[:, 0].min())
        if (score := min(paler / 8, brighter / 12)) > best:
            best, found = score, row
    if found is None:
        return None
    # The redness rises half-way to that of the lips.
    sides = [middle[found : found + step * 22 : step, 1] for step in (-1, 1)]
    rows = [int(np.argmax(side >= (side[0] + side.max()) / 2)) for side in sides]
    return found - rows[0], found + rows[1]


def _find_seam(middle: Floats, near: int) -> int:
    """Return the row of the deepest dark valley; redder and more typical rows are preferred."""
    light, red = middle[:, 0], middle[:, 1]

    def score(row: int) -> float:
        walls = light[row - _REACH : row - 1].max(), light[row + 2 : row + _REACH].max()
        extra = 0.5 * (red[row - 4 : row + 5].max() - float(np.median(red)))
        return float(min(walls) - light[row] + extra - abs(row - _ABOVE))

    return max(range(_ABOVE - near, _ABOVE + near + 1), key=score)


def _find_path(cost: Floats, center: int) -> Floats:
    """Return the row of the cheapest path from left to right, for every column."""
    top = int(np.clip(center - 16, 0, len(cost) - 33))
    far = np.abs(np.arange(33) + top - center)
    # Near the center the height is known; smiles rise and droops fall toward the sides.
    columns = cost.shape[1]
    tightness = np.interp(np.abs(np.arange(columns) - _HALF), [0, 20, 50], [3.0, 1.0, 0.35])
    total = cost[top : top + 33] + far[:, None] * tightness
    steps = np.zeros(total.shape, np.int64)
    for column in range(1, columns):
        before = np.pad(total[:, column - 1], 1, constant_values=np.inf)
        choices = np.stack([before[:-2] + 1.0, before[1:-1], before[2:] + 1.0])
        steps[:, column] = choices.argmin(axis=0) - 1
        total[:, column] += choices.min(axis=0)
    rows = [int(total[:, -1].argmin())]
    for column in range(columns - 1, 0, -1):
        rows.append(int(np.clip(rows[-1] + steps[rows[-1], column], 0, 32)))
    return np.asarray(rows[::-1], np.float32) + top


def _find_sides(lab: Floats, lower: Floats, upper: Floats) -> tuple[float, float]:
    """Return the center and the half width: as far as the path differs from its surroundings."""
    at, columns = ((lower + upper) / 2).round().astype(int), np.arange(2 * _HALF)
    rows = {n: lab[np.clip(at + n, 0, len(lab) - 1), columns] for n in range(-22, 25)}
    around = np.mean([rows[n] for n in (-22, -18, 20, 24)], axis=0)
    unlike = [np.linalg.norm(rows[n] - around, axis=1) for n in range(-5, 7, 2)]
    contrast = cv2.GaussianBlur(np.max(unlike, axis=0)[None].astype(np.float32), (0, 0), 2)[0]
    outside = contrast < 0.55 * float(np.median(contrast[50:101]))
    # In a beard or a shadow the end may be invisible: then use the average width.
    usual = (_USUAL_SMILE if (lower > upper).any() else MOUTH_WIDTH) / 2
    ends = []
    for step in (-1, 1):
        three = np.convolve(outside[_HALF::step][:_MAX_HALF], np.ones(3), "valid") == 3
        ends.append(float(np.argmax(three)) if three.any() else usual)
    return (ends[1] - ends[0]) / 2, (ends[0] + ends[1]) / 2


def _fit_curve(u: Floats, path: Floats) -> Curve:
    bend, slope, level = np.polyfit(u, path, 2, w=np.exp(-(np.abs(u / 0.95) ** 4)))
    # A stronger bend is not a mouth but a wrong path.
    return float(level), float(np.clip(slope, -8, 8)), float(np.clip(bend, -16, 6))


def colors_of(pixels: Bytes, pose: FacePose, lips: Lips) -> Colors:
    """Return colors for the inside that match the light on a face."""
    below = (lips.x - 20, lips.y + 4, lips.x + 20, lips.y + 18)
    lip, skin = (np.median(crop(pixels, pose, b), axis=(0, 1)) for b in (below, (-45, 40, 45, 70)))
    light = float(np.clip(skin.mean() / 165, 0.3, 1.1))
    tint = skin / max(float(skin.mean()), 1.0)
    colors = np.stack(
        [
            0.10 * lip + light * np.array([44, 14, 13]),
            np.clip(light * _TOOTH * (1 + _WARMTH * (tint - 1)), 0, 240),
            0.45 * lip + light * np.array([82, 26, 30]),
        ]
    )
    # A faded or gray picture has a faded mouth; pale skin in a colored one does not.
    face = crop(pixels, pose, (-60, 20, 60, 130)).reshape(-1, 3).astype(np.float32)
    colored = np.ptp(face, axis=1) / np.maximum(face.mean(axis=1), 24)
    vivid = float(np.clip(np.percentile(colored, 80) / _VIVID, 0.1, 1))
    faded = colors.mean(axis=1, keepdims=True) * tint
    return Colors(*np.asarray(faded + (colors - faded) * vivid, np.float32))


#: From positions, x and y in face units, to fields of the same shape.
Fields: TypeAlias = Callable[[Floats, Floats], Sequence[Any]]

#: Opening at a jaw of 1, its maximum, and the share of the upper lip in it.
_OPENING, _MAX_OPENING, _UPPER_SHARE = 27.0, 46.0, 0.14
#: The chin follows the lower lip by this share; below the chin the motion fades out in the neck.
_CHIN, _CHIN_BELOW, _NECK_BELOW = 0.84, 58.0, 140.0
_ROUNDING, _SPREADING = 0.26, 0.11
_TEETH_SHOWN, _SMALLEST_GAP = 3.8, 0.8
_SPACING = 2.4  # maximum distance of sampled positions in face units, about


@dataclass(frozen=True, slots=True)
class MouthShape:
    """A mouth at one moment."""

    #: Between the lips in their center, in face units.
    opening: float = 0.0
    #: As a share of the width at rest.
    width: float = 1.0
    #: 0 to 1: how closed the teeth are.
    hiss: float = 0.0


def reach_of(lips: Lips, *, inner: bool = False) -> Box:
    """Return the area that a moving mouth may change, in face units, or that of its inside."""
    if inner:
        across = 1.2 * lips.half
        return lips.x - across, lips.y - 30, lips.x + across, lips.y + 52
    return lips.x - 150, lips.y - 75, lips.x + 150, lips.y + 190


def shape_of(lips: Lips, sound: Sequence[float], intensity: float) -> MouthShape:
    """Return the mouth shape of a sound: jaw, spread, hiss and closure, as in `Speech`."""
    jaw, spread, hiss, closure = sound
    opening = _OPENING * jaw * intensity * (1 - 0.22 * max(-spread, 0.0))
    opening += 3.5 * hiss * min(intensity, 1.0) * (1 - closure)
    change = (_SPREADING if spread > 0 else _ROUNDING) * spread * min(intensity, 1.2)
    # A smile opens less.
    return MouthShape(min((0.8 if lips.toothy else 1.0) * opening, _MAX_OPENING), 1 + change, hiss)


def step_for(unit: float) -> int:
    """Return the odd spacing in pixels at which fields are sampled, for pixels per face unit."""
    return 1 + 2 * max(0, min(int((_SPACING * unit - 1) / 2), 4))


def fill_fields(fields: Fields, x: Floats, y: Floats, step: int) -> list[Floats]:
    """Return fields, sampled at the center of each ``step x step`` pixels and enlarged."""
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


def warp(x: Floats, y: Floats, lips: Lips, shape: MouthShape, step: int) -> tuple[Floats, Floats]:
    """Return the source of each place of the picture with a moved mouth."""

    def fields(x: Floats, y: Floats) -> Sequence[Any]:
        moved = _move_corners(x, y, lips, shape)
        upper, lower = _edges(moved, lips, shape)
        aperture, up = _aperture(moved, lips), _upper_rise(lips, shape)
        below = np.maximum(y - lower, 0)
        near = np.exp(below * np.float32(-1 / 22))
        neck = smooth_step(_NECK_BELOW, _CHIN_BELOW, below)
        chin = _CHIN * np.exp(-(((moved - lips.x) / 70) ** 2)) * neck
        down = (shape.opening - up) * (aperture * near + chin * (1 - near))
        # The motion of the upper lip fades out below the nose.
        rise = up * aperture * smooth_step(26, 0, upper - y)
        return moved - x, down, rise, (upper + lower) / 2

    across, down, rise, parting = fill_fields(fields, x, y, step)
    return x + across, np.where(y >= parting, y - down, y + rise)


def paint_inside(
    x: Floats, y: Floats, lips: Lips, shape: MouthShape, colors: Colors, unit: float
) -> tuple[Floats, Floats] | None:
    """Return the inside of a mouth, RGB, and its coverage, 0 to 1; None if not visible.

    Positions are those before the mouth's motion; `unit` is in pixels.
    """
    if shape.opening < _SMALLEST_GAP or not x.size:
        return None
    x = _move_corners(x, y, lips, shape)
    u, soft = (x - lips.x) / lips.half, max(1.0, 1.1 / unit)
    upper, lower = _edges(x, lips, shape)
    gap = lower - upper
    cover = np.clip((y - upper) / soft + 0.3, 0, 1) * np.clip((lower - y) / soft + 0.3, 0, 1)
    cover *= np.clip(gap / 2.2 - 0.15, 0, 1)
    # From back to front: the dark, the tongue, lower teeth, upper teeth.
    depth = np.clip((y - upper) / np.maximum(gap, 1e-3), 0, 1)
    color = colors.dark * (0.62 + 0.5 * depth)[:, :, None]
    tongue = smooth_step(0.5, 0.9, depth - 0.25 * u * u) * np.clip((0.95 - np.abs(u)) * 2.5, 0, 1)
    tongue *= np.clip((gap - 5) / 8, 0, 1) * (1 - shape.hiss)
    color = _blend(color, colors.tongue, tongue * 0.92)
    # Light comes from the front: places farther back, toward the corners, are darker.
    shade = np.clip(1.05 - 0.6 * u * u, 0.3, 1)
    rim = lower - (1.2 + 2.8 * max(shape.hiss, 0.6 * lips.toothy)) * _aperture(x, lips)
    teeth = np.clip((y - rim) / soft, 0, 1) * np.clip((0.62 - np.abs(u)) * 4, 0, 1)
    teeth *= max(0.2 + 0.6 * shape.hiss, 0.75 * lips.toothy)
    color = _blend(color, colors.tooth * (0.74 * shade)[:, :, None], teeth)
    # The shadow of the upper lip or upper teeth on the parts behind.
    color *= (0.7 + 0.3 * np.clip((y - upper) / 5, 0, 1))[:, :, None]
    if not lips.toothy:
        fall = np.clip(1.1 - 0.9 * u * u, 0, 1)
        edge = curve_at(lips.lower, u) + (_TEETH_SHOWN + 3 * shape.hiss) * fall
        # Less light enters a less open mouth.
        light = shade * (0.7 + 0.3 * np.clip((y - upper) / 4, 0, 1))
        light = light * np.clip(0.8 + gap / 60, 0, 1)
        teeth = np.clip((edge - y) / soft + 0.5, 0, 1) * np.clip((0.8 - np.abs(u)) * 4, 0, 1)
        # Rounded lips hide the teeth.
        teeth *= 0.95 * min(1.0, max(0.0, 1 - (1 - shape.width) * 4))
        color = _blend(color, colors.tooth * light[:, :, None], teeth)
    return color, cv2.GaussianBlur(np.asarray(cover, np.float32), (0, 0), 0.6 * unit)


def _upper_rise(lips: Lips, shape: MouthShape) -> float:
    # The teeth of a smile hold the upper lip in place.
    return 0.0 if lips.toothy else _UPPER_SHARE * shape.opening


def _edges(x: Floats, lips: Lips, shape: MouthShape) -> tuple[Floats, Floats]:
    """Return the edges of the upper and the lower lip, for positions along the mouth."""
    # Past the corners the line is level; otherwise a smile's bend would reach the eyes.
    line = curve_at(lips.lower, np.clip((x - lips.x) / lips.half, -1, 1))
    aperture, up = _aperture(x, lips), _upper_rise(lips, shape)
    return line - up * aperture, line + (shape.opening - up) * aperture


def _aperture(x: Floats, lips: Lips) -> Floats:
    """Return the opening from corner to corner, as a share of that in the center."""
    corner = (0.9 if lips.toothy else 0.96) * lips.half
    return np.asarray(np.clip(1 - np.abs((x - lips.x) / corner) ** 2.2, 0, 1), np.float32)


def _move_corners(x: Floats, y: Floats, lips: Lips, shape: MouthShape) -> Floats:
    """Return the source of columns as the corners of the mouth move in or out."""
    away = x - lips.x
    weight = np.exp(-((away / (1.75 * lips.half)) ** 2) - ((y - lips.y) / 30) ** 2)
    weight *= np.float32(1 - 1 / shape.width) * smooth_step(140, 75, np.abs(away))
    return np.asarray(x - away * weight, np.float32)


def _blend(color: Any, other: Any, cover: Any) -> Floats:
    return np.asarray(color + (other - color) * cover[:, :, None], np.float32)
