"""Openings: where an even background is seen through a subject, and what else stands before it.

The handle of a mug, the space between arm and body, the gaps between leaves: a color model that
begins inside of a thing takes them for it. They are opened only where nothing speaks against it,
for a hole in a shirt is worse than a handle that is filled.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.backdrops import Backdrop, in_lab
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.outlines import outlined

__all__ = ["company", "opened"]

_ALIKE, _ROUGHLY = 4.5, 1.6  # from the background, in CIELAB, and in what that differs itself
_OFFSET, _STEADY = 2.2, 0.7  # likewise of the mean of an opening: a shirt is a little darker
_CLEAR = 12.0  # from the background, in CIELAB: the rim of an opening
_RIM, _AROUND = 3, 0.8  # pixels of that rim, and its share that must be clear
_BIT = 0.0005  # a smaller opening is none, as a share of the picture
_EVEN = 0.8  # of the background must be as it is told, or nothing is opened
_NEARLY = 0.75  # likewise, or nothing else is told from it
_FINE = 4.0  # a rougher background is seen through larger openings only
_GRAIN = (0.45, 2.2)  # how rough an opening may be, in parts of the background
_GRAINED = 120  # pixels in which that can be told
_DISTINCT, _OUTLYING = 14.0, 3.5  # from the background: another thing
_COMPARABLE = 0.2  # of the first thing's size
_OUTLINED = 0.85  # share of its outline along which the color changes
_SHARP = 0.2  # slope at its outline, as a share of how distinct it is: what is blurred is behind
_ATTACHED = 0.04  # likewise of what touches it
_CRUMB = 0.002  # of the picture: what is smaller is no thing, next to whatever
_SHADOW, _SAME_HUE = 28.0, 6.0  # by which a shadow is darker, and may differ in color
_MOST = 0.5  # of the picture that further things may cover


def opened(
    small: Bytes, found: Bytes, back: Backdrop, never: NDArray[np.bool_] | None = None
) -> Bytes:
    """Return a subject without the places where its background is seen through it.

    Parameters
    ----------
    small : ndarray of uint8
        Shape (height, width, 3), RGB.
    found : ndarray of uint8
        Shape (height, width), 1 where the subject is and 0 elsewhere.
    never : ndarray of bool, optional
        Shape (height, width), where the subject surely is, as a face.
    """
    alike = (found > 0) & (back.away < max(_ALIKE, _ROUGHLY * back.rough))
    if never is not None:
        alike &= ~never
    if back.even < _EVEN:
        return found
    count, labels, facts, _ = cv2.connectedComponentsWithStats(
        alike.astype(np.uint8), connectivity=4
    )
    grain, rest = _grain(small), _rest(small, back)
    usual = float(np.median(grain[found == 0])) if (found == 0).any() else 0.0
    least = _BIT * found.size * (1.0 if back.rough < _FINE else 4.0)
    out = found.copy()
    for number in range(1, count):
        if facts[number, cv2.CC_STAT_AREA] < least:
            continue
        x, y, wide, high = facts[number, : cv2.CC_STAT_AREA]
        part = np.s_[max(0, y - 9) : y + high + 9, max(0, x - 9) : x + wide + 9]
        piece = labels[part] == number
        seen = _framed(piece, found[part], back.away[part])
        seen = seen and _steady(rest[part][piece], back.rough)
        if seen and _grained(grain[part][piece], usual):
            out[part][piece] = 0
    return out


def company(small: Bytes, found: Bytes, back: Backdrop) -> Bytes:
    """Return 1 on other things that are as large and as clear as the one that was found.

    What touches it may be smaller: legs in another color than the shirt above.
    """
    if back.even < _NEARLY or back.rough > _FINE:
        return np.zeros_like(found)
    rest = _rest(small, back)
    clear = (back.away > max(_DISTINCT, _OUTLYING * back.rough)) & ~_shaded(rest) & (found == 0)
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (3, 3))
    bits = cv2.morphologyEx(clear.astype(np.uint8), cv2.MORPH_OPEN, disc)
    count, labels, facts, _ = cv2.connectedComponentsWithStats(bits)
    near = set(np.unique(labels[cv2.dilate(found, np.ones((7, 7), np.uint8)) > 0]).tolist())
    largest = _largest(found)
    things = np.zeros_like(found)
    for number in range(1, count):
        least = largest * (_ATTACHED if number in near else _COMPARABLE)
        if facts[number, cv2.CC_STAT_AREA] >= max(least, _CRUMB * found.size):
            piece = (labels == number).astype(np.uint8)
            if _thing(small, piece, back):
                things |= piece
    return things if things.mean() < _MOST else np.zeros_like(found)


def _thing(small: Bytes, piece: Bytes, back: Backdrop) -> bool:
    """Return whether a piece is clear and sharp along its outline, and no strip of the scene."""
    if _across(piece) or outlined(small, piece) < _OUTLINED:
        return False
    slope = np.hypot(*(cv2.Sobel(back.away, cv2.CV_32F, x, 1 - x, scale=0.125) for x in (0, 1)))
    outline = cv2.morphologyEx(piece, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8)) > 0
    steep = cv2.dilate(slope, np.ones((5, 5), np.uint8))[outline]
    return float(np.median(steep)) > _SHARP * float(np.median(back.away[piece > 0]))


def _across(piece: Bytes) -> bool:
    """Return whether a piece goes from one side of the frame to the other, as woods on a shore."""
    return bool((piece[:, 0].any() and piece[:, -1].any()) or (piece[0].any() and piece[-1].any()))


def _largest(found: Bytes) -> int:
    facts = cv2.connectedComponentsWithStats(found)[2]
    return int(facts[1:, cv2.CC_STAT_AREA].max(initial=1))


def _shaded(rest: Floats) -> NDArray[np.bool_]:
    """Return where the background is only darker, as in the shadow of a thing."""
    dark = (rest[..., 0] < 0) & (rest[..., 0] > -_SHADOW)
    return np.asarray(dark & (np.hypot(rest[..., 1], rest[..., 2]) < _SAME_HUE))


def _framed(piece: NDArray[np.bool_], found: Bytes, away: Floats) -> bool:
    """Return whether the rest of the subject around an opening is clearly something else."""
    size = 2 * _RIM + 1
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size))
    near = cv2.dilate(piece.astype(np.uint8), disc) > 0
    inner = cv2.dilate(piece.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    rim = near & ~inner & (found > 0)
    if not rim.any():
        return False
    return float((cv2.dilate(away, np.ones((3, 3), np.uint8))[rim] > _CLEAR).mean()) > _AROUND


def _steady(rest: Floats, rough: float) -> bool:
    return float(np.linalg.norm(rest.mean(axis=0))) < max(_OFFSET, _STEADY * rough)


def _grained(grain: Floats, usual: float) -> bool:
    if len(grain) < _GRAINED or usual < 1e-3:
        return True
    low, high = _GRAIN
    return low < float(np.median(grain)) / usual < high


def _grain(small: Bytes) -> Floats:
    gray = cv2.cvtColor(small, cv2.COLOR_RGB2GRAY).astype(np.float32)
    return np.asarray(np.abs(gray - cv2.GaussianBlur(gray, (0, 0), 1.2)), np.float32)


def _rest(small: Bytes, back: Backdrop) -> Floats:
    return np.asarray(in_lab(small) - back.colors, np.float32)
