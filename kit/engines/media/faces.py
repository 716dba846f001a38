"""Faces: where they are in a picture and where their eyes are, by OpenCV's Haar cascades.

The cascades know upright faces that look at the camera, of about a twelfth of the picture or more;
a profile, a covered face and a small one are not found, and in one picture of three without a face
a pattern is taken for one. Where that matters, look with `kit.engines.media.surefaces`.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import cv2
import numpy as np
from cv2.data import haarcascades

from kit.engines.media.color import Bytes

Point: TypeAlias = tuple[float, float]

#: Pictures are looked at no larger than this, so that the cost is bounded.
_SIDE = 640
_SMALLEST = 28
_CASCADES = ("haarcascade_frontalface_default.xml", "haarcascade_frontalface_alt2.xml")
_EYES = ("haarcascade_eye.xml", "haarcascade_eye_tree_eyeglasses.xml")
#: Where eyes are in the box that the cascades draw round a face, as shares of its width.
_EYE_LEFT, _EYE_RIGHT = (0.31, 0.39), (0.69, 0.39)
_EYE_BAND = (0.15, 0.60)
#: How far two eyes may be from there, together, before they are taken for something else.
_EYE_SLACK = 0.16
_TURNS = (-22.0, 22.0)
# A cascade keeps notes while it looks, so two threads must not use one at the same time.
_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class Face:
    """A face, in pixels of the picture that was looked at.

    Parameters
    ----------
    x, y, width, height : float
        Box from brows to chin; its left upper corner and its size.
    eyes : pair of points or None
        Centers of the eye that is left and the eye that is right in the picture; None where they
        were not found.
    """

    x: float
    y: float
    width: float
    height: float
    eyes: tuple[Point, Point] | None = None

    @property
    def center(self) -> Point:
        """The middle of the box."""
        return self.x + self.width / 2, self.y + self.height / 2

    def sight(self) -> tuple[Point, Point]:
        """Return the centers of the eyes: as found, or where faces have them."""
        if self.eyes is not None:
            return self.eyes
        (ax, ay), (bx, by) = _EYE_LEFT, _EYE_RIGHT
        return (
            (self.x + ax * self.width, self.y + ay * self.width),
            (self.x + bx * self.width, self.y + by * self.width),
        )


def find(pixels: Bytes, *, tilted: bool = False) -> list[Face]:
    """Return the faces in a picture, the largest and clearest first.

    Parameters
    ----------
    pixels : ndarray of uint8
        Shape (height, width, 3), RGB, or (height, width), gray.
    tilted : bool
        Where no face is upright, look for heads tilted by about 20 degrees too.
    """
    return next(filter(None, candidates(pixels, tilted=tilted)), [])


def candidates(pixels: Bytes, *, tilted: bool = False) -> Iterator[list[Face]]:
    """Yield what each way of looking takes for faces; see `find`, which believes the first."""
    gray, scale = _small(pixels)
    for found in _upright(gray):
        yield [_scaled(face, scale) for face in found]
    for turn in _TURNS if tilted else ():
        for found in _turned(gray, turn):
            yield [_scaled(face, scale) for face in found]


def boxes(
    name: str, gray: Bytes, least: int, most: int = 0, *, neighbors: int = 6
) -> tuple[list[tuple[int, int, int, int]], list[float]]:
    """Return the boxes (left, top, width, height) that a cascade draws, and how sure it is of each.

    Parameters
    ----------
    name : str
        File of a cascade among OpenCV's.
    least, most : int
        Sizes of a box in pixels; 0 is no bound.
    neighbors : int
        How many boxes must agree.
    """
    with _LOCK:
        found, _, weights = _cascade(name).detectMultiScale3(
            gray,
            1.08,
            neighbors,
            minSize=(least, least),
            maxSize=(most, most),
            outputRejectLevels=True,
        )
    places = [(int(x), int(y), int(w), int(h)) for x, y, w, h in found]
    return places, [float(weight) for weight in np.ravel(weights)]


def _small(pixels: Bytes) -> tuple[Bytes, float]:
    """Return an evened-out gray picture of bounded size, and how far it was scaled down."""
    height, width = pixels.shape[:2]
    scale = max(1.0, max(height, width) / _SIDE)
    if scale > 1.0:
        size = (max(1, round(width / scale)), max(1, round(height / scale)))
        pixels = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    gray = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY) if pixels.ndim == 3 else pixels
    return np.asarray(cv2.equalizeHist(gray)), scale


def _upright(gray: Bytes) -> Iterator[list[Face]]:
    least = max(_SMALLEST, min(gray.shape) // 12)
    if min(gray.shape) <= least:
        return
    for name in _CASCADES:
        ranked = sorted(zip(*boxes(name, gray, least), strict=True), key=_rank)
        yield [_face(gray, *box) for box, _ in ranked]


def _rank(found: tuple[tuple[int, int, int, int], float]) -> tuple[float, ...]:
    # Boxes come in no fixed order; size times certainty decides, then the place.
    (x, y, width, _), weight = found
    return -weight * width, x, y


def _face(gray: Bytes, x: int, y: int, width: int, height: int) -> Face:
    top, bottom = (y + round(share * width) for share in _EYE_BAND)
    band = np.ascontiguousarray(gray[top:bottom, x : x + width])
    for name in _EYES:
        pair = min(_pairs(_eyes(name, band, top - y, width), width), default=None)
        if pair is not None and pair[0] <= _EYE_SLACK:
            (ax, ay), (bx, by) = pair[1:]
            return Face(x, y, width, height, ((x + ax, y + ay), (x + bx, y + by)))
    return Face(x, y, width, height)


def _eyes(name: str, band: Bytes, top: int, width: int) -> list[Point]:
    """Return what may be eyes in a band across a face, from the corner of the face's box."""
    least = max(4, width // 8)
    with _LOCK:
        found = _cascade(name).detectMultiScale(band, 1.06, 4, minSize=(least, least))
    return [(float(x + w / 2), float(top + y + h / 2)) for x, y, w, h in found]


def _pairs(eyes: list[Point], width: int) -> Iterator[tuple[float, Point, Point]]:
    """Yield every left and right eye with how far they are from where eyes are."""
    lefts = [eye for eye in eyes if eye[0] < width / 2]
    rights = [eye for eye in eyes if eye[0] >= width / 2]
    for left, right in product(lefts, rights):
        off = math.dist(_EYE_LEFT, (left[0] / width, left[1] / width))
        off += math.dist(_EYE_RIGHT, (right[0] / width, right[1] / width))
        yield off, left, right


def _turned(gray: Bytes, degrees: float) -> Iterator[list[Face]]:
    """Yield the faces found after turning the picture, turned back."""
    height, width = gray.shape
    there = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1.0)
    turned = cv2.warpAffine(gray, there, (width, height), borderMode=cv2.BORDER_REPLICATE)
    back = cv2.invertAffineTransform(there)
    for found in _upright(turned):
        yield [_moved(face, back) for face in found]


def _moved(face: Face, matrix: Any) -> Face:
    x, y = _at(matrix, face.center)
    left, right = (_at(matrix, eye) for eye in face.sight())
    corner = (x - face.width / 2, y - face.height / 2)
    return Face(*corner, face.width, face.height, (left, right))


def _at(matrix: Any, point: Point) -> Point:
    x, y = matrix @ (*point, 1.0)
    return float(x), float(y)


def _scaled(face: Face, scale: float) -> Face:
    box = (face.x * scale, face.y * scale, face.width * scale, face.height * scale)
    if face.eyes is None:
        return Face(*box)
    (ax, ay), (bx, by) = face.eyes
    return Face(*box, ((ax * scale, ay * scale), (bx * scale, by * scale)))


@cache
def _cascade(name: str) -> Any:
    return cv2.CascadeClassifier(str(Path(haarcascades, name)))
