"""The speaking face: detected or placed by settings, with its pose, in face units.

A face unit is a hundredth of the distance between the eyes, so one set of numbers fits all faces:
the origin is between the eyes, y points down along the nose, the mouth is near (0, 112).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats
from kit.engines.media.faces import Face, Point, find
from kit.errors import EngineError

#: Left, top, right and bottom in face units.
Box: TypeAlias = tuple[float, float, float, float]
#: Height of an average mouth, its width, and how far below its corners the lips meet.
MOUTH, MOUTH_WIDTH, _BELOW_CORNERS = 112.0, 82.0, 3.0
#: Minimum distance of the eyes, in distances from between them to between the mouth's corners: on a
#: head turned aside they look closer together than they are.
_MIN_EYES = 0.95
#: Center of a face, the radii of two closer looks at it, and their side in pixels.
_MIDDLE, _REACHES, _SIDE = 29.0, (210.0, 290.0), 192
#: Offset of the nose, in distances between the eyes, from which half of the mouth is hidden.
_MAX_ASIDE = 0.55
#: Maximum distance of a given mouth from a face's average mouth, and from the detected mouth to
#: count as a correction of it.
_ON_FACE, _CORRECTION = (60.0, 38.0), 26.0
_ADVICE = "set mouth_x, mouth_y and mouth_width"


@dataclass(frozen=True, slots=True)
class FacePose:
    """The position, scale and tilt of a face in a picture."""

    #: Midpoint between the eyes, in pixels.
    x: float
    y: float
    #: Pixels per face unit.
    unit: float
    #: Tilt in radians, positive clockwise on screen.
    angle: float = 0.0

    def matrix(self) -> Any:
        """Return the 2 x 3 matrix from face units to pixels."""
        cos, sin = self.unit * math.cos(self.angle), self.unit * math.sin(self.angle)
        return np.array([[cos, -sin, self.x], [sin, cos, self.y]])

    def to_pixels(self, point: Sequence[float]) -> Point:
        """Return the position in the picture of a point in face units."""
        x, y = self.matrix() @ (point[0], point[1], 1.0)
        return float(x), float(y)

    def to_units(self, point: Sequence[float]) -> Point:
        """Return the position in face units of a point in the picture."""
        x, y = cv2.invertAffineTransform(self.matrix()) @ (point[0], point[1], 1.0)
        return float(x), float(y)

    def scale(self, factor: float) -> FacePose:
        """Return the same pose in a scaled picture."""
        return replace(self, x=self.x * factor, y=self.y * factor, unit=self.unit * factor)


@dataclass(frozen=True, slots=True)
class Guess:
    """An estimated mouth in face units: its center and half its width."""

    x: float
    y: float
    half: float
    #: Which of the three values are fixed; the height is always
    #: refined.
    given: tuple[bool, bool, bool] = (False, False, False)


@dataclass(frozen=True, slots=True)
class Placement:
    """A mouth in fractions of the picture's width, height and width; None is not given."""

    x: float | None = None
    y: float | None = None
    width: float | None = None

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Placement:
        """Return the placement in a model's settings."""
        return cls(*(values.get(name) for name in ("mouth_x", "mouth_y", "mouth_width")))

    def exact_face(self, size: tuple[int, int]) -> tuple[FacePose, Guess] | None:
        """Return the upright face with exactly this mouth, or None if not all is given."""
        if self.x is None or self.y is None or self.width is None:
            return None
        unit = max(self.width * size[0], 4.0) / MOUTH_WIDTH
        pose = FacePose(self.x * size[0], self.y * size[1] - MOUTH * unit, unit)
        return pose, Guess(0.0, MOUTH, MOUTH_WIDTH / 2, (True, True, True))

    def offset(self, pose: FacePose, size: tuple[int, int]) -> Point:
        """Return the offset from the average mouth of a face, in face units."""
        x, y = pose.to_pixels((0.0, MOUTH))
        place = x if self.x is None else self.x * size[0], y if self.y is None else self.y * size[1]
        across, along = pose.to_units(place)
        return across, along - MOUTH

    def correct(self, seen: Guess, pose: FacePose, size: tuple[int, int]) -> Guess:
        """Return a detected mouth with the given values replaced.

        Given values far away from it, unless complete, only choose among faces.
        """
        across, along = self.offset(pose, size)
        along += MOUTH
        most = _CORRECTION if None in (self.x, self.y, self.width) else math.inf
        use_x = self.x is not None and abs(across - seen.x) <= most
        use_y = self.y is not None and abs(along - seen.y) <= most
        half = seen.half if self.width is None else self.width * size[0] / pose.unit / 2
        given = (use_x, use_y, self.width is not None)
        return Guess(across if use_x else seen.x, along if use_y else seen.y, half, given)


def crop(pixels: Bytes, pose: FacePose, box: Box, scale: float = 1.0) -> Bytes:
    """Return a box of the picture, upright, at `scale` pixels per face unit."""
    left, top, right, bottom = box
    matrix = pose.matrix()
    way = np.column_stack([matrix[:, :2] / scale, matrix @ (left, top, 1.0)])
    size = round((right - left) * scale), round((bottom - top) * scale)
    flags, edge = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, cv2.BORDER_REPLICATE
    return np.asarray(cv2.warpAffine(pixels, way, size, flags=flags, borderMode=edge))


def pose_of(points: Floats) -> FacePose:
    """Return the pose of a face from its eyes, corners of the mouth and nose, shape (5, 2)."""
    (ax, ay), (bx, by), *mouth = points[:4].tolist()
    middle = np.mean(mouth, axis=0) - ((ax + bx) / 2, (ay + by) / 2)
    distance = max(math.hypot(bx - ax, by - ay), _MIN_EYES * math.hypot(*middle), 1.0)
    return FacePose((ax + bx) / 2, (ay + by) / 2, distance / 100, math.atan2(by - ay, bx - ax))


def mouth_of(points: Floats, pose: FacePose) -> Guess:
    """Return the mouth of a face between the detected corners."""
    (ax, ay), (bx, by) = (pose.to_units(point) for point in points[2:4].tolist())
    return Guess((ax + bx) / 2, (ay + by) / 2 + _BELOW_CORNERS, math.hypot(bx - ax, by - ay) / 2)


def is_aside(points: Floats) -> bool:
    """Return whether a face is turned so far to the side that half of its mouth is hidden."""
    left, right, _, _, nose = (pose_of(points).to_units(point) for point in points.tolist())
    return abs(nose[0]) > _MAX_ASIDE * (right[0] - left[0])


def detect_points(pixels: Bytes, pose: FacePose, reach: float = _REACHES[1]) -> Floats | None:
    """Return the five points of the face near a pose; None without a face."""
    scale = _SIDE / (2 * reach)
    # A sparsely sampled large face would be aliased.
    factor = scale / pose.unit if pose.unit > 2 * scale else 1.0
    if factor < 1.0:
        small = cv2.resize(pixels, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
        pixels, pose = np.asarray(small), pose.scale(factor)
    left, top = -reach, _MIDDLE - reach
    square = crop(pixels, pose, (left, top, left + 2 * reach, top + 2 * reach), scale)
    middle = (_SIDE / 2, _SIDE / 2)
    face = min(find(square), key=lambda face: math.dist(face.center, middle), default=None)
    if face is None or math.dist(face.center, middle) > _SIDE / 6:
        return None
    units = _points(face) / np.float32(scale) + np.array([left, top], np.float32)
    return np.asarray(cv2.transform(units[None], pose.matrix() / factor)[0], np.float32)


def refine_points(pixels: Bytes, points: Floats) -> Floats:
    """Return the points of a face, refined by detection on an upright crop of it alone."""
    looks = [detect_points(pixels, pose_of(points), reach) for reach in _REACHES]
    found = [each for each in looks if each is not None]
    return np.asarray(np.mean(found, axis=0), np.float32) if found else points


def place_mouth(pixels: Bytes, given: Placement) -> tuple[FacePose, Guess, float]:
    """Return the speaking face, its mouth, and the distance of its eyes, 0 if not detected.

    Raises
    ------
    EngineError
        There is none, and the settings are incomplete (``no_face``); it is turned to the side
        (``aside``); or an incomplete given mouth is on no face (``off_face``).
    """
    size = (pixels.shape[1], pixels.shape[0])
    alone, points = given.exact_face(size), choose_face(find(pixels), given, size)
    if points is not None:
        points = refine_points(pixels, points)
        pose = pose_of(points)
        if not is_aside(points):
            distance = math.dist(*points[:2].tolist()) / pose.unit
            return pose, given.correct(mouth_of(points, pose), pose, size), distance
        if alone is None:
            sentence = "the face is seen from the side; use a picture that shows it from the front"
            raise EngineError(f"{sentence}, or {_ADVICE}", code="aside")
    if alone is None:
        raise no_face_error("picture")
    return *alone, 0.0


def choose_face(faces: Sequence[Face], given: Placement, size: tuple[int, int]) -> Floats | None:
    """Return the points of the face with its mouth at the given place, or of the clearest one.

    Raises `EngineError` if an incomplete given place is on none of them (``off_face``).
    """
    found = [_points(face) for face in faces]
    if given.x is None and given.y is None:
        return found[0] if found else None
    offsets = [np.abs(given.offset(pose_of(points), size)) for points in found]
    fits = [number for number, offset in enumerate(offsets) if (offset <= _ON_FACE).all()]
    if found and not fits and given.exact_face(size) is None:
        raise EngineError(
            "the mouth is outside the face that was found; correct mouth_x and mouth_y, or set"
            " mouth_width too to place it anywhere",
            code="off_face",
        )
    return found[min(fits, key=lambda n: math.hypot(*offsets[n]))] if fits else None


def no_face_error(medium: str) -> EngineError:
    """Return the error for a picture or a video without a detected face."""
    sentence = f"no face was found in the {medium}; use one that shows a face from the front"
    return EngineError(f"{sentence}, or {_ADVICE}", code="no_face")


def _points(face: Face) -> Floats:
    """Return eyes, corners of the mouth and nose, shape (5, 2), each pair from left to right."""
    return np.array([*face.eyes, *face.mouth, face.nose], np.float32)
