"""Features: eyes, nose and mouth of a face, placed more exactly than in a picture at a glance.

The face is looked at again from close by, level, and mirrored, and the looks are averaged; eyes
that a second detector sees too are open and in view.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from cv2.data import haarcascades

from kit.engines.editing.lipsync.lips import Glance
from kit.engines.editing.lipsync.pose import Pose, Window, pose_of
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.faces import Face, Point, find

#: The side of a look in pixels, and how many widths of the face it shows.
_SIDE, _AWAY = 192, (1.6, 2.2)
#: Which points change places in a mirror: eyes, corners of the mouth, nose.
_MIRRORED = [1, 0, 3, 2, 4]
_EYES = ("haarcascade_eye.xml", "haarcascade_eye_tree_eyeglasses.xml")
#: The band across a face where eyes are looked for, two pixels for each face unit.
_BAND = Window(left=-90, top=-45, width=180, height=90, scale=2)
#: Sizes of an eye, and how far it may be from where it was placed: face units.
_SMALLEST, _LARGEST, _SLACK = 24, 80, 16
#: How far the nose may be aside, in distances between the eyes, before a face is seen too much
#: from the side; from the front it is 0, in a full profile 1 and more.
_ASIDE = 0.55
# A cascade keeps notes while it looks, so two threads must not use one at the same time.
_LOCK = threading.Lock()


def closer(pixels: Bytes, face: Face) -> Face:
    """Return a face that was found with its eyes, mouth and nose placed more exactly."""
    looks = [points for points in _looks(pixels, face) if points is not None]
    if not looks:
        return face
    points = [(float(x), float(y)) for x, y in np.mean(looks, axis=0)]
    return replace(face, eyes=(points[0], points[1]), mouth=(points[2], points[3]), nose=points[4])


def aside(face: Face) -> bool:
    """Return whether a face is seen so much from the side that half of its mouth is hidden."""
    if face.nose is None:
        return False
    nose, left, right = map(pose_of(face).to_units, (face.nose, *face.sight()))
    return abs(nose[0]) > _ASIDE * (right[0] - left[0])


def glance_of(face: Face, pose: Pose) -> Glance | None:
    """Return where the mouth of a face is, in the units of a pose."""
    if face.mouth is None:
        return None
    (ax, ay), (bx, by) = map(pose.to_units, face.mouth)
    return Glance((ax + bx) / 2, (ay + by) / 2, math.hypot(bx - ax, by - ay) / 2)


def open_eyes(pixels: Bytes, face: Face) -> tuple[Point, Point] | None:
    """Return the eyes of a face, or None where they are shut or covered."""
    pose = pose_of(face)
    band = cv2.cvtColor(_BAND.cut(pixels, pose), cv2.COLOR_RGB2GRAY)
    sides = [pose.to_units(eye) for eye in face.sight()]
    for name in _EYES:
        eyes = _eyes(name, np.asarray(cv2.equalizeHist(band)))
        if all(any(math.dist(eye, side) < _SLACK for eye in eyes) for side in sides):
            return face.sight()
    return None


def _looks(pixels: Bytes, face: Face) -> Iterator[Floats | None]:
    """Yield the five points as each look has them, in pixels; None where it sees no face."""
    # Sampling a large face with few pixels would leave single ones of it.
    scale = min(1.0, 1.5 * _SIDE / face.width)
    if scale < 1.0:
        pixels = cv2.resize(pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    for away, step in product(_AWAY, (1, -1)):
        way = _way(face, scale, away)
        square = cv2.warpAffine(pixels, way, (_SIDE, _SIDE), borderMode=cv2.BORDER_REPLICATE)
        points = _middle(np.ascontiguousarray(square[:, ::step]))
        if points is not None and step < 0:
            points = (points * (-1, 1) + (_SIDE - 1, 0))[_MIRRORED]
        yield None if points is None else _back(points, way) / scale


def _way(face: Face, scale: float, away: float) -> Any:
    """Return the matrix that takes a picture to a square round a face with its eyes level."""
    zoom, tilt = _SIDE / away / (face.width * scale), pose_of(face).angle
    cos, sin = zoom * math.cos(tilt), zoom * math.sin(tilt)
    (x, y), middle = (scale * place for place in face.center), _SIDE / 2
    return np.array(
        [[cos, sin, middle - cos * x - sin * y], [-sin, cos, middle + sin * x - cos * y]]
    )


def _middle(square: Bytes) -> Floats | None:
    """Return eyes, corners of the mouth and nose of the face in the middle of a square."""
    center = (_SIDE / 2, _SIDE / 2)
    face = min(find(square), key=lambda face: math.dist(face.center, center), default=None)
    if face is None or math.dist(face.center, center) > _SIDE / 6:
        return None
    return np.array([*(face.eyes or ()), *(face.mouth or ()), face.nose], np.float32)


def _back(points: Floats, way: Any) -> Floats:
    return np.asarray(cv2.transform(points[None], cv2.invertAffineTransform(way))[0], np.float32)


def _eyes(name: str, band: Bytes) -> list[Point]:
    """Return what a cascade takes for eyes in the band, in face units."""
    least, most = (round(_BAND.scale * size) for size in (_SMALLEST, _LARGEST))
    with _LOCK:
        found = _cascade(name).detectMultiScale(
            band, 1.06, 4, minSize=(least, least), maxSize=(most, most)
        )
    return [
        (float(x + w / 2) / _BAND.scale + _BAND.left, float(y + h / 2) / _BAND.scale + _BAND.top)
        for x, y, w, h in found
    ]


@cache
def _cascade(name: str) -> Any:
    return cv2.CascadeClassifier(str(Path(haarcascades, name)))
