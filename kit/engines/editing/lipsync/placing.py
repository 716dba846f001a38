"""Placing: which face of a picture speaks, and where its mouth is, found or told.

Fractions of the picture come from whoever ordered it; they choose among faces, correct what was
found, and stand in for a face that only a person can see, such as a drawn one.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from cv2.data import haarcascades

from kit.engines.editing.lipsync.lips import Glance, Hint, Lips, find_lips
from kit.engines.editing.lipsync.pose import MOUTH, Pose, Window, pose_by_mouth, pose_of
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.faces import Face, Point, find
from kit.errors import EngineError

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
_FEATURES_ASIDE = 0.55
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
    return abs(nose[0]) > _FEATURES_ASIDE * (right[0] - left[0])


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


#: How far from the middle of a face the told mouth may be, and between which heights: face units.
_ASIDE, _HEIGHTS = 60.0, (78.0, 150.0)
#: How far beside the mouth that was seen a told one may be to be taken at its word: face units.
_CORRECTION = 26.0


@dataclass(frozen=True, slots=True)
class Told:
    """What is told of the mouth, as fractions of width, height and width; None is not told."""

    x: float | None = None
    y: float | None = None
    width: float | None = None

    @property
    def complete(self) -> bool:
        """Whether a mouth can be placed by this alone."""
        return None not in (self.x, self.y, self.width)

    def on(self, pose: Pose, size: tuple[int, int]) -> bool:
        """Return whether it is where a face may have its mouth."""
        hint = self.hint(pose, size)
        across, along = hint.x or 0.0, MOUTH if hint.y is None else hint.y
        return abs(across) <= _ASIDE and _HEIGHTS[0] <= along <= _HEIGHTS[1]

    def hint(self, pose: Pose, size: tuple[int, int]) -> Hint:
        """Return it in face units; what is not told stays open."""
        width, height = size
        x = pose.x if self.x is None else self.x * width
        y = pose.to_pixels((0.0, MOUTH))[1] if self.y is None else self.y * height
        across, along = pose.to_units((x, y))
        return Hint(
            x=None if self.x is None else across,
            y=None if self.y is None else along,
            width=None if self.width is None else self.width * width / pose.unit,
        )


@dataclass(frozen=True, slots=True)
class Place:
    """Where a face is that will speak.

    Parameters
    ----------
    eyes : pair of points or None
        In pixels; None where they are shut or covered, or all of it was told.
    """

    pose: Pose
    lips: Lips
    eyes: tuple[Point, Point] | None = None

    def facts(self, size: tuple[int, int]) -> dict[str, Any]:
        """Return the mouth as the fractions that could be told, for the metadata."""
        width, height = size
        x, y = self.pose.to_pixels((self.lips.x, self.lips.y))
        return {
            "mouth_x": round(x / width, 4),
            "mouth_y": round(y / height, 4),
            "mouth_width": round(2 * self.lips.half * self.pose.unit / width, 4),
            "teeth": self.lips.toothy,
            "eyes": self.eyes is not None,
        }


def told_of(values: Mapping[str, Any]) -> Told:
    """Return what a model's settings tell of the mouth."""
    return Told(*(values.get(name) for name in ("mouth_x", "mouth_y", "mouth_width")))


def place(pixels: Bytes, told: Told) -> Place:
    """Return where the speaking face of a picture is.

    Raises
    ------
    EngineError
        There is none, and not enough is told (``no_face``); it is seen from the side (``aside``);
        or what is told lies on no face and is not enough by itself (``off_face``).
    """
    height, width = pixels.shape[:2]
    size = (width, height)
    face = choose(find(pixels), told, size)
    if face is not None:
        face = closer(pixels, face)
        pose = pose_of(face)
        if not aside(face):
            glance = glance_of(face, pose)
            hint = _corrected(told, told.hint(pose, size), glance)
            return Place(pose, find_lips(pixels, pose, hint, glance), open_eyes(pixels, face))
        if not told.complete:
            raise EngineError(
                "the face is seen from the side; use a picture that shows it from the front, or"
                " set mouth_x, mouth_y and mouth_width",
                code="aside",
            )
    if told.x is None or told.y is None or told.width is None:
        raise no_face("picture")
    pose = pose_by_mouth((told.x * width, told.y * height), told.width * width)
    return Place(pose, find_lips(pixels, pose, told.hint(pose, size)))


def choose(faces: list[Face], told: Told, size: tuple[int, int]) -> Face | None:
    """Return the face that has its mouth where it is told, or the first where no place is told.

    Raises
    ------
    EngineError
        The told place lies on none of the faces, and is no whole one (``off_face``).
    """
    if told.x is None and told.y is None:
        return faces[0] if faces else None
    fits = [face for face in faces if told.on(pose_of(face), size)]
    if faces and not fits and not told.complete:
        raise EngineError(
            "the mouth lies outside the face that was found; correct mouth_x and mouth_y, or set"
            " mouth_width too to place it anywhere",
            code="off_face",
        )
    return min(fits, key=lambda face: _off(face, told, size), default=None)


def _corrected(told: Told, hint: Hint, glance: Glance | None) -> Hint:
    """Return what is told of a mouth without what only says whose mouth it is.

    A place far beside the mouth that was seen, told by itself, is meant to choose among faces.
    """
    if glance is None or told.complete:
        return hint
    x, y = hint.x, hint.y
    return replace(
        hint,
        x=None if x is None or abs(x - glance.x) > _CORRECTION else x,
        y=None if y is None or abs(y - glance.y) > _CORRECTION else y,
    )


def no_face(medium: str) -> EngineError:
    """Return the error for a picture or a video in which no face was found."""
    return EngineError(
        f"no face was found in the {medium}; use one that shows a face from the front, or set"
        " mouth_x, mouth_y and mouth_width",
        code="no_face",
    )


def _off(face: Face, told: Told, size: tuple[int, int]) -> float:
    """Return how far a face's mouth is from the told one, in widths of the face."""
    x, y = pose_of(face).to_pixels((0.0, MOUTH))
    across = 0.0 if told.x is None else told.x * size[0] - x
    along = 0.0 if told.y is None else told.y * size[1] - y
    return math.hypot(across, along) / face.width
