"""Faces: where they are in a picture, with eyes, nose and mouth, by the small network YuNet.

It knows photographed and painted faces, tilted by up to about 45 degrees, half turned away, and
down to a fiftieth of the picture; what it takes for a face hardly ever is none.
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
from kit.engines.media.scaling import fit_size, scaled

Point: TypeAlias = tuple[float, float]

#: The longer sides at which a picture is looked at: for small faces, and for ones that fill it.
_SIDES = (640, 320)
#: And where those show none, how it is looked at for blurred and closely cut ones, whose eyes and
#: mouth are placed roughly then: longer side, and how much it is blurred, which takes blocks and
#: stairs from pictures that were enlarged.
_LAST = ((160, 0.0), (128, 0.0), (128, 2.0))
#: How sure the network must be at one of them. Below it patterns in bark, marble and windows come.
_SURE = 0.8
#: Boxes that share more of their area than this are one face.
_SHARED = 0.3
_LEAST_SIDE, _MOST = 16, 50
#: Pictures with a shorter side than the first get a border up to the second: where the network's
#: coarsest grid has a single row, it reads past its end and sees faces of any size anywhere.
_THIN, _THICK = 33, 64
#: The network's box goes from the hair to the chin; this much of its height is a face from the
#: brows on, whose middle is higher by this much.
_PART, _RAISED = 0.95, 0.022
# The network keeps notes while it looks, so two threads must not use it at the same time.
_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class Face:
    """A face: its box from brows to chin, in pixels of the picture that was looked at."""

    x: float
    y: float
    width: float
    height: float
    eyes: tuple[Point, Point]  # the one that is left in the picture first
    mouth: tuple[Point, Point]  # its corners, likewise
    nose: Point  # its tip

    @property
    def center(self) -> Point:
        """The middle of the box."""
        return self.x + self.width / 2, self.y + self.height / 2


def find(pixels: Bytes, whole: tuple[int, ...] = ()) -> list[Face]:
    """Return the faces in a picture, or in a small copy of one of the shape `whole`, largest first.

    Source: Wu, Peng and Yu, "YuNet: a tiny millisecond-level face detector" (2023).
    """
    close = np.asarray(scaled(pixels, *fit_size(pixels.shape, _SIDES[0])))
    sides = {min(side, max(close.shape[:2])) for side in _SIDES}
    rows = [row for side in sorted(sides) for row in _detect(close, whole or pixels.shape, side)]
    for side, blur in _LAST:
        rows = rows or _detect(close, whole or pixels.shape, side, blur)
    rows.sort(key=lambda row: -row[-1])
    kept: list[list[float]] = []
    for row in rows:
        if all(_overlap(row, other) <= _SHARED for other in kept):
            kept.append(row)
    # Of equal ones the place decides, so that the order never depends on chance.
    kept.sort(key=lambda row: (-row[-1] * row[2], row[0], row[1]))
    return [_face(row) for row in kept]


def _detect(
    pixels: Bytes, whole: tuple[int, ...], side: int, blur: float = 0.0
) -> list[list[float]]:
    """Return what the network sees in a picture made that large, in pixels of the whole one.

    Each is a box, five points and how sure it is.
    """
    height, width = whole[:2]
    scale = side / max(height, width)
    size = (round(width * scale), round(height * scale))
    if min(size) < _LEAST_SIDE:
        return []
    small = _add_border(np.asarray(scaled(pixels, *size)))
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
    """Return a picture that is thick enough for the network, with more of it below and right."""
    height, width = pixels.shape[:2]
    if min(height, width) >= _THIN:
        return pixels
    below, right = max(0, _THICK - height), max(0, _THICK - width)
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
    side = _PART * height
    across, along = x + width / 2, y + (0.5 - _RAISED) * height
    box = (across - side / 2, along - side / 2, side, side)
    return Face(*box, (left, right), (corner, other), nose)


@cache
def _network() -> Any:
    # Read here, not by OpenCV, which cannot open every path on Windows.
    weights = np.fromfile(networks.FACES, np.uint8)
    nothing = np.empty(0, np.uint8)
    return cv2.FaceDetectorYN.create("onnx", weights, nothing, (320, 320), _SURE, _SHARED, _MOST)
