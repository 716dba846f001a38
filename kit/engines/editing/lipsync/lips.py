"""Lips: where they part in a picture, how wide they are, and whether teeth show between them.

A closed mouth parts along the darkest path from side to side. A smile that shows teeth has two
edges: the teeth stay with the upper lip, and the mouth opens below them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.editing.lipsync.pose import MOUTH_WIDTH, Pose, Window
from kit.engines.media.color import Bytes, Floats

Curve: TypeAlias = tuple[float, float, float]

#: One pixel for each face unit round the mouth.
_WINDOW = Window(left=-75, top=60, width=150, height=110)
_MIDDLE = slice(63, 88)
#: Where lips part: below any two eyes, and where the corners are known and brought to their height.
_ROWS, _NEAR, _CORNERS = (84, 130), (93, 115), 101.0
#: What a row costs that far from the middle of those.
_PULL, _NEAR_PULL = 0.25, 1.0
#: How far the middle and the width may be from those of the corners.
_ASTRAY, _WIDER = 4.0, (0.95, 1.22)
_REACH = 14
#: Half the width of a mouth is taken to be within these.
_PLAIN, _SMILING = (33.0, 46.0), (42.0, 56.0)
_FARTHEST = 62
_USUAL_SMILE = 100.0


@dataclass(frozen=True, slots=True)
class Lips:
    """A mouth at rest, in face units.

    Parameters
    ----------
    x : float
        Where its middle is.
    half : float
        Half its width.
    upper, lower : triple of float
        Coefficients of the lower edge of the upper lip and the upper edge of the lower lip, as
        ``a + b u + c u**2`` with ``u = (x - lips.x) / half``; the same where the mouth is closed.
    toothy : bool
        Whether teeth show between the two.
    """

    x: float
    half: float
    upper: Curve
    lower: Curve
    toothy: bool = False

    @property
    def y(self) -> float:
        """The height at which the mouth opens, in its middle."""
        return self.lower[0]

    @property
    def gap(self) -> float:
        """How far the lips are apart at rest, in the middle."""
        return max(self.lower[0] - self.upper[0], 0.0)


@dataclass(frozen=True, slots=True)
class Hint:
    """What is known of a mouth beforehand, in face units; None is not known."""

    x: float | None = None
    y: float | None = None
    width: float | None = None


@dataclass(frozen=True, slots=True)
class Glance:
    """A mouth as a detector of faces has it: the middle between its corners, in face units."""

    x: float
    y: float
    half: float


def curve_at(curve: Curve, u: Any) -> Any:
    """Return the height of a lip's edge at ``u``, in half widths from the middle."""
    level, slope, bend = curve
    return level + slope * u + bend * u * u


def find_lips(
    pixels: Bytes, pose: Pose, hint: Hint | None = None, glance: Glance | None = None
) -> Lips:
    """Return the mouth of a face.

    Parameters
    ----------
    pixels : ndarray of uint8
        Shape (height, width, 3), RGB.
    hint : Hint, optional
        Overrides what would be found; the line is still looked for near a height that is given.
    glance : Glance, optional
        Where it is, roughly; without it that is taken from the pose.
    """
    hint = hint or Hint()
    if glance is None:
        return _found(pixels, pose, hint, _ROWS, _PULL)
    # The mouth is brought to where mouths are, found there, and brought back.
    x, y = glance.x, glance.y - _CORNERS
    middle = pose.to_pixels((x, y))
    told = Hint(_less(hint.x, x), _less(hint.y, y), hint.width)
    lips = _found(pixels, replace(pose, x=middle[0], y=middle[1]), told, _NEAR, _NEAR_PULL)
    if hint.x is None:
        lips = replace(lips, x=float(np.clip(lips.x, -_ASTRAY, _ASTRAY)))
    if hint.width is None:
        least, most = (glance.half * share for share in _WIDER)
        lips = replace(lips, half=float(np.clip(lips.half, least, most)))
    upper, lower = ((curve[0] + y, *curve[1:]) for curve in (lips.upper, lips.lower))
    return replace(lips, x=lips.x + x, upper=upper, lower=lower)


def _less(value: float | None, by: float) -> float | None:
    return None if value is None else value - by


def _found(pixels: Bytes, pose: Pose, hint: Hint, usual: tuple[int, int], strictly: float) -> Lips:
    """Return the mouth that parts between two heights, or near the one that is told."""
    patch = _WINDOW.cut(pixels, pose)
    lab = cv2.cvtColor(patch.astype(np.float32) / 255, cv2.COLOR_RGB2LAB)
    lab = cv2.GaussianBlur(lab, (0, 0), 1.2)
    rows = usual if hint.y is None else (round(hint.y) - 8, round(hint.y) + 9)
    middle = lab[:, _MIDDLE].mean(axis=1)
    teeth = _teeth(middle, rows)
    seam = _seam(middle, rows, strictly) if teeth is None else teeth[1]
    path = _path(_darkness(lab) if teeth is None else _fall(lab, -1.0), seam)
    upper = path if teeth is None else _path(_fall(lab, 1.0), teeth[0])
    x, half = _sides(lab, path, upper)
    x = x if hint.x is None else hint.x
    half = half if hint.width is None else hint.width / 2
    lower = _fit(path, x, half)
    if teeth is None:
        return Lips(x, half, lower, lower)
    return _smile(Lips(x, half, _fit(upper, x, half), lower, toothy=True))


def _smile(lips: Lips) -> Lips:
    """Keep the upper edge over the lower one, and let the two meet at the corners."""
    level, slope, bend = lips.lower
    upper = (min(lips.upper[0], level - 1.0), *lips.upper[1:])
    meeting = upper[0] + upper[2] - level
    bent = 0.25 * bend + 0.75 * float(np.clip(meeting, -22, 0))
    return replace(lips, upper=upper, lower=(level, slope, bent))


def _row(y: float) -> int:
    return int(np.clip(round(y - _WINDOW.top), _REACH + 2, _WINDOW.height - _REACH - 3))


def _teeth(middle: Floats, rows: tuple[int, int]) -> tuple[float, float] | None:
    """Return the upper and lower edge of a row of teeth: bright, and paler than both lips."""
    best, found = 1.0, None
    for row in range(_row(rows[0] + 4), _row(rows[1])):
        above, below = middle[row - 22 if row > 22 else 0 : row - 3], middle[row + 4 : row + 22]
        paler = min(above[:, 1].max(), below[:, 1].max()) - middle[row, 1]
        brighter = middle[row, 0] - max(above[:, 0].min(), below[:, 0].min())
        score = min(paler / 8, brighter / 12)
        if score > best:
            best, found = score, row
    return None if found is None else _edges(middle[:, 1], found)


def _edges(redness: Floats, row: int) -> tuple[float, float]:
    """Return where the redness has risen half-way to that of the lips, above and below a row."""
    edges = []
    for step in (-1, 1):
        reach = redness[row : row + step * 22 : step]
        half = (redness[row] + reach.max()) / 2
        edges.append(row + step * int(np.argmax(reach >= half)) + _WINDOW.top)
    return edges[0], edges[1]


def _seam(middle: Floats, rows: tuple[int, int], strictly: float) -> float:
    """Return the row of the deepest dark valley; redder and more usual rows are preferred."""
    usual = (rows[0] + rows[1]) / 2
    light, red = middle[:, 0], middle[:, 1]

    def score(row: int) -> float:
        walls = light[row - _REACH : row - 1].max(), light[row + 2 : row + _REACH].max()
        extra = 0.5 * (red[row - 4 : row + 5].max() - float(np.median(red)))
        return float(min(walls) - light[row] + extra - strictly * abs(row + _WINDOW.top - usual))

    first = _row(rows[0])
    return max(range(first, max(first + 1, _row(rows[1]))), key=score) + _WINDOW.top


def _darkness(lab: Floats) -> Floats:
    return np.asarray(lab[:, :, 0] * 0.6)


def _fall(lab: Floats, sign: float) -> Floats:
    """Return what is low where the redness falls (1) or rises (-1) from above to below."""
    return np.asarray(sign * cv2.Sobel(lab[:, :, 1], cv2.CV_32F, 0, 1, ksize=3))


def _path(cost: Floats, level: float) -> Floats:
    """Return the cheapest path from left to right near a height, for every column of the window."""
    center = level - _WINDOW.top
    top = int(np.clip(round(center) - 16, 0, cost.shape[0] - 33))
    band = cost[top : top + 33]
    far = np.abs(np.arange(33) + top - center)
    # Near the middle the height is known; smiles rise and droops fall toward the sides.
    tightness = np.interp(np.abs(np.arange(cost.shape[1]) - 75), [0, 20, 50], [3.0, 1.0, 0.35])
    total = band + far[:, None] * tightness
    steps = np.zeros(total.shape, np.int64)
    for column in range(1, total.shape[1]):
        before = np.pad(total[:, column - 1], 1, constant_values=np.inf)
        choices = np.stack([before[:-2] + 1.0, before[1:-1], before[2:] + 1.0])
        steps[:, column] = choices.argmin(axis=0) - 1
        total[:, column] += choices.min(axis=0)
    rows = list(_backward(steps, int(total[:, -1].argmin())))[::-1]
    return np.asarray(rows, np.float32) + top + _WINDOW.top


def _backward(steps: Any, row: int) -> Iterator[int]:
    for column in range(steps.shape[1] - 1, -1, -1):
        yield row
        row = int(np.clip(row + steps[row, column], 0, steps.shape[0] - 1))


def _sides(lab: Floats, lower: Floats, upper: Floats) -> tuple[float, float]:
    """Return the middle and the half width: as far as the path looks unlike what is round it."""
    columns = np.arange(lab.shape[1])
    at = ((lower + upper) / 2 - _WINDOW.top).round().astype(int)

    def along(offset: int) -> Floats:
        return np.asarray(lab[np.clip(at + offset, 0, lab.shape[0] - 1), columns])

    around = np.stack([along(offset) for offset in (-22, -18, 20, 24)]).mean(axis=0)
    unlike = np.stack(
        [np.linalg.norm(along(offset) - around, axis=1) for offset in range(-5, 7, 2)]
    )
    contrast = cv2.GaussianBlur(unlike.max(axis=0)[None].astype(np.float32), (0, 0), 2)[0]
    least = 0.55 * float(np.median(contrast[50:101]))
    smiling = bool((lower - upper).max() > 0)
    usual = (_USUAL_SMILE if smiling else MOUTH_WIDTH) / 2
    left, right = (_extent(contrast[75::step] >= least, usual) for step in (-1, 1))
    half = float(np.clip((left + right) / 2, *(_SMILING if smiling else _PLAIN)))
    return float(np.clip((right - left) / 2, -10, 10)), half


def _extent(inside: Any, usual: float) -> float:
    """Return how many columns there are before three in a row are outside.

    In a beard or a shadow there may be no end to see: then a mouth is as wide as they usually are.
    """
    outside = np.convolve(~inside[:_FARTHEST], np.ones(3), "valid") == 3
    return float(np.argmax(outside)) if outside.any() else usual


def _fit(path: Floats, x: float, half: float) -> Curve:
    columns = np.arange(len(path)) + _WINDOW.left
    u = (columns - x) / half
    bend, slope, level = np.polyfit(u, path, 2, w=np.exp(-(np.abs(u / 0.95) ** 4)))
    # A bend beyond this is no mouth but a path that went astray.
    return float(level), float(np.clip(slope, -8, 8)), float(np.clip(bend, -16, 6))


#: Skin and mouth of a face as far as they tell how colored the picture is, in face units.
_FACE = Window(left=-60, top=20, width=120, height=110)
#: How much of the skin's own hue teeth take on, and how bright they are in full light.
_WARMTH, _TOOTH = 0.35, 201.0
#: How far skin is from gray, as a share of its brightness, from which on nothing is faded.
_VIVID = 0.3


@dataclass(frozen=True, slots=True)
class Colors:
    """What the inside of a mouth is painted with, float32 RGB, 0 to 255."""

    dark: Floats
    tooth: Floats
    tongue: Floats


def colors_of(pixels: Bytes, pose: Pose, lips: Lips) -> Colors:
    """Return colors for the inside that fit the light on a face."""
    low, high = Window(lips.x - 20, lips.y + 4, 40, 14), Window(-45, 40, 90, 30)
    lip, skin = (np.median(w.cut(pixels, pose), axis=(0, 1)) for w in (low, high))
    light = float(np.clip(skin.mean() / 165, 0.3, 1.1))
    tint = skin / max(float(skin.mean()), 1.0)
    dark = 0.10 * lip + light * np.array([44, 14, 13])
    tooth = np.clip(light * _TOOTH * (1 + _WARMTH * (tint - 1)), 0, 240)
    tongue = 0.45 * lip + light * np.array([82, 26, 30])
    # A faded or gray picture has a faded mouth; pale skin in a colored one does not.
    vivid = float(np.clip(_vividness(_FACE.cut(pixels, pose)) / _VIVID, 0.1, 1))
    return Colors(*(_faded(color, vivid, tint) for color in (dark, tooth, tongue)))


def _vividness(patch: Bytes) -> float:
    """Return how far the more colored parts of a patch are from gray."""
    colors = patch.reshape(-1, 3).astype(np.float32)
    spread = colors.max(axis=1) - colors.min(axis=1)
    return float(np.percentile(spread / np.maximum(colors.mean(axis=1), 24), 80))


def _faded(color: NDArray[np.floating], vivid: float, tint: NDArray[np.floating]) -> Floats:
    """Return a color with less of its own hue, and as much of the skin's instead."""
    faded = color.mean() * tint
    return np.asarray(faded + (color - faded) * vivid, np.float32)
