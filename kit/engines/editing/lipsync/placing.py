"""Placing: which face of a picture speaks, and where its mouth is, found or told.

Fractions of the picture come from whoever ordered it; they choose among faces, correct what was
found, and stand in for a face that only a person can see, such as a drawn one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from kit.engines.editing.lipsync.features import aside, closer, glance_of, open_eyes
from kit.engines.editing.lipsync.lips import Glance, Hint, Lips, find_lips
from kit.engines.editing.lipsync.pose import MOUTH, Pose, pose_by_mouth, pose_of
from kit.engines.media.color import Bytes
from kit.engines.media.faces import Face, Point, find
from kit.errors import EngineError

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
