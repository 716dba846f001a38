"""Standing: whether what was cut out of a picture is a thing that stands before a background.

A color model finds something in nearly every picture. Moved by itself, half a cliff or the gap
between two trees tears the picture up; a thing has one short and sharp outline, and differs from
what is around it nearly everywhere along it.
"""

from __future__ import annotations

import cv2
import numpy as np

from kit.engines.media.color import Bytes
from kit.engines.media.outlines import outlined

_SIDE = 352  # of the picture that is judged
_LEAST, _MOST = 0.015, 0.72  # shares of the picture that a subject may cover
_PART = 0.2  # a piece of at least this share of the largest is a thing of its own
_CLEAR = 0.70  # share of the outline along which the color changes
_RAGGED = 1.48  # length of all outlines, in lengths of bands around the larger pieces
_SOLID = 0.66  # share of what is inside the bands
_SOFT = 2.6  # half-covered pixels, a pixel of the outlines
_HALF = (25, 230)  # what counts as half covered


def found(alpha: Bytes) -> bool:
    """Return whether a cutout is neither next to nothing nor nearly everything."""
    return _LEAST < float(alpha.mean()) / 255 < _MOST


def stands_free(pixels: Bytes, alpha: Bytes) -> bool:
    """Return whether a cutout is clear enough to be moved before its background.

    Parameters
    ----------
    pixels : ndarray of uint8
        Shape (height, width, 3), RGB.
    alpha : ndarray of uint8
        Shape (height, width), what `kit.engines.media.cutout.subject` makes of it.
    """
    if not found(alpha):
        return False
    scale = min(1.0, _SIDE / max(alpha.shape))
    size = (max(16, round(alpha.shape[1] * scale)), max(16, round(alpha.shape[0] * scale)))
    cover = cv2.resize(alpha, size, interpolation=cv2.INTER_AREA)
    solid = (cover > 127).astype(np.uint8)
    half = np.count_nonzero((cover > _HALF[0]) & (cover < _HALF[1]))
    length = _length(solid)
    if half > _SOFT * length or not _compact(solid, length):
        return False
    return outlined(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), solid) > _CLEAR


def _length(solid: Bytes) -> float:
    """Return how long all outlines are, those of holes and crumbs as well."""
    lines = cv2.findContours(solid, cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)[0]
    return sum(cv2.arcLength(line, True) for line in lines)


def _compact(solid: Bytes, length: float) -> bool:
    """Return whether bands pulled tight around the larger pieces hold little else."""
    lines = cv2.findContours(solid, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)[0]
    areas = [cv2.contourArea(line) for line in lines]
    large = [n for n, area in enumerate(areas) if 0 < area >= _PART * max(areas)]
    bands = [cv2.convexHull(lines[n]) for n in large]
    around = sum(cv2.arcLength(band, True) for band in bands)
    inside = sum(cv2.contourArea(band) for band in bands)
    return length <= _RAGGED * around and sum(areas[n] for n in large) >= _SOLID * inside > 0
