"""Poses: where a face is and how it is turned, as a map from face units to pixels.

A face unit is a hundredth of the distance between the eyes, so one set of numbers fits all faces:
the origin lies between the eyes, y goes down along the nose, the mouth is near (0, 112).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats
from kit.engines.media.faces import Face, Point

#: Left, top, right and bottom in face units.
Box: TypeAlias = tuple[float, float, float, float]
#: Where the lips of an average face meet, and how wide its mouth is, in face units.
MOUTH = 112.0
MOUTH_WIDTH = 82.0
#: How far apart eyes are at least, in distances from between them to between the mouth's corners.
_DROP = 0.95


@dataclass(frozen=True, slots=True)
class Pose:
    """How a face stands in a picture.

    Parameters
    ----------
    x, y : float
        The middle between the eyes, in pixels.
    unit : float
        Pixels per face unit.
    angle : float
        Tilt in radians; positive is clockwise as one sees it.
    """

    x: float
    y: float
    unit: float
    angle: float = 0.0

    def matrix(self) -> Any:
        """Return the 2 x 3 matrix that takes face units to pixels."""
        cos, sin = self.unit * math.cos(self.angle), self.unit * math.sin(self.angle)
        return np.array([[cos, -sin, self.x], [sin, cos, self.y]])

    def to_pixels(self, point: Point) -> Point:
        """Return where a point in face units is in the picture."""
        x, y = self.matrix() @ (*point, 1.0)
        return float(x), float(y)

    def to_units(self, point: Point) -> Point:
        """Return a point of the picture in face units."""
        x, y = cv2.invertAffineTransform(self.matrix()) @ (*point, 1.0)
        return float(x), float(y)

    def scaled(self, factor: float) -> Pose:
        """Return the pose in the same picture of another size."""
        return replace(self, x=self.x * factor, y=self.y * factor, unit=self.unit * factor)


@dataclass(frozen=True, slots=True)
class Window:
    """A rectangle in face units and how finely it is sampled: what patches are cut out by.

    Parameters
    ----------
    left, top, width, height : float
        In face units.
    scale : float
        Patch pixels per face unit.
    """

    left: float
    top: float
    width: float
    height: float
    scale: float = 1.0

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in patch pixels."""
        return round(self.width * self.scale), round(self.height * self.scale)

    def grid(self) -> tuple[Any, Any]:
        """Return the x and y of each patch pixel in face units, float32, shape (height, width)."""
        width, height = self.size
        x = (np.arange(width, dtype=np.float32) / self.scale) + self.left
        y = (np.arange(height, dtype=np.float32) / self.scale) + self.top
        return np.meshgrid(x, y)

    def matrix(self, pose: Pose) -> Any:
        """Return the 2 x 3 matrix that takes patch pixels to pixels of the picture."""
        matrix = pose.matrix()
        shift = matrix @ (self.left, self.top, 1.0)
        return np.column_stack([matrix[:, :2] / self.scale, shift])

    def cut(self, pixels: Bytes, pose: Pose) -> Bytes:
        """Return the patch of a picture that the window shows; beyond its border, the border."""
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        return np.asarray(
            cv2.warpAffine(
                pixels, self.matrix(pose), self.size, flags=flags, borderMode=cv2.BORDER_REPLICATE
            )
        )


def pose_of(face: Face) -> Pose:
    """Return the pose of a face that was found."""
    (ax, ay), (bx, by) = face.sight()
    apart = math.hypot(bx - ax, by - ay)
    if face.mouth is not None:
        # The eyes of a head that is turned aside are closer together than they really are.
        (cx, cy), (dx, dy) = face.mouth
        apart = max(apart, _DROP * math.hypot((cx + dx - ax - bx) / 2, (cy + dy - ay - by) / 2))
    unit = max(apart, 1.0) / 100
    return Pose((ax + bx) / 2, (ay + by) / 2, unit, math.atan2(by - ay, bx - ax))


def pose_by_mouth(center: Point, width: float) -> Pose:
    """Return the pose of an upright face whose mouth is known, in pixels."""
    unit = max(width, 4.0) / MOUTH_WIDTH
    return Pose(center[0], center[1] - MOUTH * unit, unit)


#: From places, x and y in face units, to fields of the same shape.
Fields: TypeAlias = Callable[[Floats, Floats], Sequence[Floats]]
#: Places are at most about so many face units apart.
_SPACING = 2.4


def step_for(unit: float) -> int:
    """Return how many pixels apart the places are, an odd number, for pixels per face unit."""
    return 1 + 2 * min(int((_SPACING * unit - 1) / 2), 4) if unit * _SPACING > 1 else 1


def filled(fields: Fields, x: Floats, y: Floats, step: int) -> list[Floats]:
    """Return fields over places, worked out at the middle of each ``step x step`` pixels.

    Parameters
    ----------
    x, y : ndarray of float32
        Places in face units, equal shapes.
    step : int
        Odd.
    """
    if step == 1 or not x.size:
        return [np.asarray(field, np.float32) for field in fields(x, y)]
    height, width = x.shape
    rows, columns = (
        np.minimum(np.arange(step // 2, size + step // 2, step), size - 1)
        for size in (height, width)
    )
    at = np.ix_(rows, columns)
    size = (len(columns) * step, len(rows) * step)
    return [
        np.asarray(cv2.resize(np.asarray(field, np.float32), size)[:height, :width])
        for field in fields(x[at], y[at])
    ]
