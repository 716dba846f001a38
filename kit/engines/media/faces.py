"""Face detection, with eyes, nose and mouth, by the small network YuNet.

It finds photographed and painted faces, tilted by up to about 45 degrees, half turned away, and
down to a fiftieth of the picture; false positives are rare.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import cv2
import numpy as np

from kit.engines.media import networks
from kit.engines.media.color import Bytes
from kit.engines.media.scaling import fit_size, resize

Point: TypeAlias = tuple[float, float]

#: The longer sides at which a picture is searched: for small faces, and for ones that fill it.
_SEARCH_SIDES = (640, 320)
#: Used only if no face was found: for blurred and tightly cropped faces, with rough positions of
#: eyes and mouth. Longer side, and the deviation of a blur that removes blocks and stairs of
#: enlarged pictures.
_LAST_TRIES = ((160, 0.0), (128, 0.0), (128, 2.0))
#: Minimum confidence at one of them. Below it, patterns in bark, marble and windows are found.
_MIN_SCORE = 0.8
#: Boxes with a larger overlap (as a share of their area) are the same face.
_MAX_OVERLAP = 0.3
_MIN_SIDE, _MAX_FACES = 16, 50
#: Pictures with a shorter side below the first get a border up to the second: if the coarsest grid
#: of the network has a single row, it reads past its end and finds false faces of any size.
_BORDER_BELOW, _BORDERED_SIDE = 33, 64
#: The network's box spans from hair to chin; the face from the brows on has this share of its
#: height, and its center is higher by the second share.
_FACE_HEIGHT, _FACE_RISE = 0.95, 0.022
# The network has internal state, so two threads must not use it at the same time.
_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class Face:
    """A face: its box from brows to chin, in pixels of the searched picture."""

    x: float
    y: float
    width: float
    height: float
    eyes: tuple[Point, Point]  # the one on the left of the picture first
    mouth: tuple[Point, Point]  # its corners, left first
    nose: Point  # its tip

    @property
    def center(self) -> Point:
        """The center of the box."""
        return self.x + self.width / 2, self.y + self.height / 2


def find(pixels: Bytes, whole: tuple[int, ...] = ()) -> list[Face]:
    """Return the faces in a picture, or in a small copy of one of the shape `whole`, largest first.

    Source: Wu, Peng and Yu, "YuNet: a tiny millisecond-level face detector" (2023).
    """
    close = np.asarray(resize(pixels, *fit_size(pixels.shape, _SEARCH_SIDES[0])))
    sides = {min(side, max(close.shape[:2])) for side in _SEARCH_SIDES}
    rows = [row for side in sorted(sides) for row in _detect(close, whole or pixels.shape, side)]
    for side, blur in _LAST_TRIES:
        rows = rows or _detect(close, whole or pixels.shape, side, blur)
    rows.sort(key=lambda row: -row[-1])
    kept: list[list[float]] = []
    for row in rows:
        if all(_overlap(row, other) <= _MAX_OVERLAP for other in kept):
            kept.append(row)
    # Ties are ordered by position, so that the order is deterministic.
    kept.sort(key=lambda row: (-row[-1] * row[2], row[0], row[1]))
    return [_face(row) for row in kept]


def _detect(
    pixels: Bytes, whole: tuple[int, ...], side: int, blur: float = 0.0
) -> list[list[float]]:
    """Return the network's detections at a longer side, in pixels of the original picture.

    Each is a box, five points and a confidence.
    """
    height, width = whole[:2]
    scale = side / max(height, width)
    size = (round(width * scale), round(height * scale))
    if min(size) < _MIN_SIDE:
        return []
    small = _add_border(np.asarray(resize(pixels, *size)))
    if blur:
        small = np.asarray(cv2.GaussianBlur(small, (0, 0), blur))
    code = cv2.COLOR_RGB2BGR if small.ndim == 3 else cv2.COLOR_GRAY2BGR
    with _LOCK:
        network = _network()
        network.setInputSize(small.shape[1::-1])
        _, found = network.detect(cv2.cvtColor(small, code))
    if found is None:
        return []
    rows: list[list[float]] = (found * [*(width / size[0], height / size[1]) * 7, 1.0]).tolist()
    return rows


def _add_border(pixels: Bytes) -> Bytes:
    """Return a picture that is large enough for the network, extended below and at the right."""
    height, width = pixels.shape[:2]
    if min(height, width) >= _BORDER_BELOW:
        return pixels
    below, right = max(0, _BORDERED_SIDE - height), max(0, _BORDERED_SIDE - width)
    return np.asarray(cv2.copyMakeBorder(pixels, 0, below, 0, right, cv2.BORDER_REPLICATE))


def _overlap(one: list[float], other: list[float]) -> float:
    """Return which share of the area that two boxes cover they have in common."""
    across = min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0])
    along = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1])
    both = max(across, 0.0) * max(along, 0.0)
    return both / (one[2] * one[3] + other[2] * other[3] - both)


def _face(row: list[float]) -> Face:
    x, y, width, height = row[:4]
    # It counts a face's own right side first, which is left in the picture.
    left, right, nose, corner, other = zip(row[4:14:2], row[5:14:2], strict=True)
    side = _FACE_HEIGHT * height
    across, along = x + width / 2, y + (0.5 - _FACE_RISE) * height
    box = (across - side / 2, along - side / 2, side, side)
    return Face(*box, (left, right), (corner, other), nose)


@cache
def _network() -> Any:
    # Read with NumPy: OpenCV cannot open every path on Windows.
    weights = np.fromfile(networks.FACES, np.uint8)
    nothing = np.empty(0, np.uint8)
    return cv2.FaceDetectorYN.create(
        "onnx", weights, nothing, (320, 320), _MIN_SCORE, _MAX_OVERLAP, _MAX_FACES
    )
