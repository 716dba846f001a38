"""Matting: how far each pixel along the outline of a subject belongs to it.

The outline is led by the edges of the picture. Before an even background single leaves and hairs
are told from it by their color alone, also a little beyond the outline.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.backdrops import Backdrop, in_lab
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.noise import smooth_step

__all__ = ["edged", "keyed"]

_RADIUS = 7  # of the guided filter, in the small picture
_SMOOTH = 1e-3
_SIDE = 1400  # of the picture that is told by color
_EVEN, _ROUGH = 0.9, 4.0  # as even as the background must be for that
_INSIDE, _DEEP, _OUTSIDE = 0.004, 0.03, 0.08  # of the outline, as shares of the longer side
_ALIKE, _GAP = 3.5, 0.0015  # from the background, in CIELAB, and how far around that is looked
_SURE = 16.0  # from the background, in CIELAB: pixels that show the subject's own color
_APART = (14.0, 26.0)  # between which the two colors tell a share, from not at all to fully
_SHADOW, _SAME_HUE = 26.0, 6.0  # by which a shadow is darker, and may differ in color
_NOISE = 1.2  # of what the background differs itself that is no part of the subject
_BESIDE = 5.0  # of the way between both colors, in CIELAB
_LEAST = 0.25  # of the picture that the background covers
_COARSE = 4  # times smaller, for that is smooth
_OWN = 0.008  # over which the subject's own color is looked for, as a share of the longer side


def edged(pixels: Bytes, small: Bytes, found: Bytes) -> Floats:
    """Return a mask of the small picture in full size, its edges led by those of the picture.

    A guided filter: around each pixel the mask is fitted as a linear function of the color, which
    is then read with the colors of the full picture.

    Source: He, Sun and Tang, "Guided image filtering" (TPAMI 2013).
    """
    guide = small.astype(np.float32) / 255
    mask = found.astype(np.float32)
    box = (2 * _RADIUS + 1, 2 * _RADIUS + 1)
    mean, mean_mask = cv2.blur(guide, box), cv2.blur(mask, box)
    with_mask = cv2.blur(guide * mask[..., None], box) - mean * mean_mask[..., None]
    spread = np.empty((*mask.shape, 3, 3), np.float32)
    for one in range(3):
        for other in range(one, 3):
            both = cv2.blur(guide[..., one] * guide[..., other], box)
            both -= mean[..., one] * mean[..., other]
            spread[..., one, other] = spread[..., other, one] = both
    spread += _SMOOTH * np.eye(3, dtype=np.float32)
    slope = np.linalg.solve(spread, with_mask[..., None])[..., 0]
    offset = mean_mask - (slope * mean).sum(axis=2)
    plane = np.dstack([cv2.blur(slope, box), cv2.blur(offset, box)])
    plane = cv2.resize(plane, pixels.shape[1::-1], interpolation=cv2.INTER_LINEAR)
    share = np.einsum("ijk,ijk->ij", plane[..., :3], pixels * np.float32(1 / 255))
    return np.asarray(share + plane[..., 3], np.float32)


def keyed(pixels: Bytes, found: Bytes, back: Backdrop, share: Floats) -> Floats:
    """Return a share in which thin parts are told from an even background by their color.

    Parameters
    ----------
    pixels : ndarray of uint8
        Shape (height, width, 3), RGB.
    found : ndarray of uint8
        The subject in the small picture: 1 where it is, 0 elsewhere.
    back : Backdrop
        The background of the small picture.
    share : ndarray of float32
        Shape (height, width): how far each pixel is the subject's, as far as is known.
    """
    if back.even < _EVEN or back.rough > _ROUGH or found.mean() > 1 - _LEAST:
        return share
    whole = share.shape[::-1]
    scale = min(1.0, _SIDE / max(whole))
    size = (max(1, round(whole[0] * scale)), max(1, round(whole[1] * scale)))
    known = cv2.resize(share, size, interpolation=cv2.INTER_AREA)
    tuned = _tuned(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), found, back, known)
    # Only the difference is enlarged: an edge that is as it was stays as sharp as it was.
    return np.asarray(share + cv2.resize(tuned - known, whole, interpolation=cv2.INTER_LINEAR))


def _tuned(pixels: Bytes, found: Bytes, back: Backdrop, share: Floats) -> Floats:
    size = share.shape[::-1]
    behind = cv2.resize(back.colors, size, interpolation=cv2.INTER_LINEAR)
    rest = in_lab(pixels) - behind
    away = _length(rest)
    own, apart = _own(rest, away, _OWN * max(size))
    told = np.einsum("ijk,ijk->ij", rest, own) / np.maximum(apart, 1.0) ** 2
    off = _length(rest - told[..., None] * own)
    noise = _NOISE * back.rough / np.maximum(apart, 1.0)
    told = np.clip((told - noise) / np.maximum(0.92 - noise, 0.1), 0.0, 1.0)
    dark = (own[..., 0] < 0) & (own[..., 0] > -_SHADOW)
    shaded = dark & (np.hypot(own[..., 1], own[..., 2]) < _SAME_HUE)
    low, high = _APART
    # What lies beside the way from one color to the other is no mixture of the two.
    mixture = np.exp(-((off / (_BESIDE + back.rough)) ** 2))
    surely = smooth_step(low, high, apart) * mixture * ~shaded * _along(found, away)
    return np.asarray(share + surely * (told - share), np.float32)


def _own(rest: Floats, away: Floats, reach: float) -> tuple[Floats, Floats]:
    """Return by what the subject's own color near each pixel differs, and by how much."""
    # What differs most counts most: the rest is covered in part only.
    weight = np.maximum(away - _SURE, 0.0) ** 2
    size = away.shape[::-1]
    less = (max(1, size[0] // _COARSE), max(1, size[1] // _COARSE))
    both = cv2.resize(
        np.dstack([rest * weight[..., None], weight]), less, interpolation=cv2.INTER_AREA
    )
    total = cv2.GaussianBlur(both, (0, 0), reach / _COARSE)
    own = total[..., :3] / np.maximum(total[..., 3:], 1e-2)
    own = cv2.resize(own, size, interpolation=cv2.INTER_LINEAR)
    return own, _length(own)


def _length(rest: Floats) -> Floats:
    return np.asarray(np.sqrt(np.einsum("ijk,ijk->ij", rest, rest)), np.float32)


def _along(found: Bytes, away: Floats) -> Floats:
    """Return 1 along an outline and a little outside of it, fading to 0.

    It reaches farther inside around what has the very color of the background, as between leaves.
    """
    side, size = max(found.shape), away.shape[::-1]
    outer = cv2.dilate(found, _disc(_OUTSIDE * side))
    near, deep = (
        cv2.erode(found, _disc(reach * side), borderValue=1) for reach in (_INSIDE, _DEEP)
    )
    alike = cv2.dilate((away < _ALIKE).astype(np.uint8), _disc(_GAP * max(size)))
    bands = []
    for inner in (near, deep):
        band = cv2.GaussianBlur((outer - inner).astype(np.float32), (0, 0), 1.0)
        band[inner > 0] = 0.0
        bands.append(cv2.resize(band, size, interpolation=cv2.INTER_LINEAR))
    return np.asarray(np.maximum(bands[0], bands[1] * alike), np.float32)


def _disc(reach: float) -> NDArray[np.uint8]:
    size = 2 * max(1, round(reach)) + 1
    return np.asarray(cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size)), np.uint8)
