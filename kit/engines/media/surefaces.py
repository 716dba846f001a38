"""Surefaces: faces that three cascades see again in closer looks, from several sizes and mirrored.

A pattern in bark, marble or windows is taken for a face by one cascade at one size; enlarged, made
smaller or mirrored it looks otherwise. A face stays one.
"""

from __future__ import annotations

import math
from itertools import product

import cv2
import numpy as np

from kit.engines.media.color import Bytes
from kit.engines.media.faces import Face, boxes, candidates

_CASCADES = (
    "haarcascade_frontalface_alt2.xml",
    "haarcascade_frontalface_alt.xml",
    "haarcascade_frontalface_default.xml",
)
#: The side of a look in pixels, and how many widths of the face it shows.
_SIDE, _AWAY = 200, (2.6, 1.5, 2.0)
#: How often of 18 times a face may be missed; a tilted one never, for turning the picture makes
#: more chances to err. And how sure the last cascade must be of a tilted one in all looks together.
_MISSES, _SURE = 3, 30.0
_TILTED = math.radians(18)
#: Pictures are looked at no larger than this, so that a look is not made of single pixels.
_LARGEST = 864
_CENTERED, _ALIKE = 0.3, (0.62, 1.6)


def find_sure(pixels: Bytes, *, tilted: bool = False) -> list[Face]:
    """Return the faces in a picture that are no patterns, the largest and clearest first.

    Parameters
    ----------
    pixels : ndarray of uint8
        Shape (height, width, 3), RGB, or (height, width), gray.
    tilted : bool
        Where no face is upright, look for heads tilted by about 20 degrees too.
    """
    small, scale = _small(pixels)
    for group in candidates(pixels, tilted=tilted):
        found = [face for face in group if _is_face(small, face, scale)]
        if found:
            return found
    return []


def _small(pixels: Bytes) -> tuple[Bytes, float]:
    """Return a gray picture of bounded size, and the share of the full size that it has."""
    gray = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY) if pixels.ndim == 3 else pixels
    scale = min(1.0, _LARGEST / max(gray.shape))
    if scale == 1.0:
        return gray, scale
    height, width = gray.shape
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return np.asarray(cv2.resize(gray, size, interpolation=cv2.INTER_AREA)), scale


def _is_face(gray: Bytes, face: Face, scale: float) -> bool:
    """Return whether nearly all looks at what may be a face show one."""
    is_tilted = abs(_tilt(face)) >= _TILTED
    missed, certain = 0, 0.0
    for away, step in product(_AWAY, (1, -1)):
        square = np.ascontiguousarray(_look(gray, face, scale, away)[:, ::step])
        for name in _CASCADES:
            sure = _seen(name, square, _SIDE / away)
            missed += sure <= 0
            if missed > (0 if is_tilted else _MISSES):
                return False
        certain += sure
    return certain >= _SURE or not is_tilted


def _look(gray: Bytes, face: Face, scale: float, away: float) -> Bytes:
    """Return the square around a face, turned so that the eyes are level, its tones evened out."""
    zoom = _SIDE / away / (face.width * scale)
    x, y = (scale * place for place in face.center)
    cos, sin = zoom * math.cos(_tilt(face)), zoom * math.sin(_tilt(face))
    middle = _SIDE / 2
    way = np.array(
        [[cos, sin, middle - cos * x - sin * y], [-sin, cos, middle + sin * x - cos * y]]
    )
    square = cv2.warpAffine(gray, way, (_SIDE, _SIDE), borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(cv2.equalizeHist(square))


def _tilt(face: Face) -> float:
    (ax, ay), (bx, by) = face.sight()
    return math.atan2(by - ay, bx - ax)


def _seen(name: str, square: Bytes, width: float) -> float:
    """Return how sure a cascade is of a face in the middle of a look, 0 if it sees none."""
    least, most = (int(share * width) for share in _ALIKE)
    found = zip(*boxes(name, square, least, most, neighbors=4), strict=True)
    near = (
        sure
        for (x, y, w, h), sure in found
        if max(abs(x + w / 2 - _SIDE / 2), abs(y + h / 2 - _SIDE / 2)) < _CENTERED * width
    )
    return max(near, default=0.0)
