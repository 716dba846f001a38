"""Tracks: where the speaking face of a video is in every frame.

Between detections, a few times a second, the face is carried along by the motion of points on it,
which is steadier than a detector is; what is found pulls it back gently. After a cut, or when the
face turns away, there is no place until it is found again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np

from kit.engines.editing.lipsync.lips import Lips, find_lips
from kit.engines.editing.lipsync.placing import Told, aside, choose, closer, glance_of
from kit.engines.editing.lipsync.pose import Pose, pose_by_mouth, pose_of
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.faces import Face, Point, find

#: Seconds between detections, how much each counts, and for how long a face may be missing.
_EVERY, _PULL, _PATIENCE = 0.24, 0.3, 0.8
_LEAST_POINTS = 8
_SMOOTH = 1.2
_FLOW: dict[str, Any] = {
    "winSize": (17, 17),
    "maxLevel": 3,
    "criteria": (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 20, 0.03),
}


@dataclass(frozen=True, slots=True)
class Track:
    """Poses by frame, in pixels of the frames that were looked at, and the mouth they share.

    Parameters
    ----------
    poses : list of Pose or None
        None where the face is not in sight.
    lips : Lips
        The mouth as it mostly is.
    levels : ndarray of float32
        How far the mouth is lower than that in each frame, in face units.
    """

    poses: list[Pose | None]
    lips: Lips
    levels: Floats


class Tracker:
    """Follows one face through frames of equal size.

    Parameters
    ----------
    fps : float
        Frames per second of what it is shown.
    told : Told
        Which face, or the place of a mouth that cannot be found.
    """

    def __init__(self, fps: float, told: Told) -> None:
        self._told = told
        self._stride = max(1, round(fps * _EVERY))
        self._patience = round(fps * _PATIENCE)
        self._pose: Pose | None = None
        self._gray: Bytes | None = None
        self._points: Any = None
        self._missed = 0
        self._poses: list[Pose | None] = []
        self._lips: dict[int, Lips] = {}

    def look(self, pixels: Bytes) -> None:
        """Look at the next frame."""
        number = len(self._poses)
        gray = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
        if self._pose is not None and self._gray is not None:
            self._pose = self._carried(self._gray, gray, self._pose)
        if number % self._stride == 0:
            self._detect(pixels, gray, number)
        self._gray = gray
        self._poses.append(self._pose)

    def finish(self) -> Track | None:
        """Return the track, or None if no face was ever found."""
        if not self._lips:
            return None
        lips = _usual(list(self._lips.values()))
        numbers = sorted(self._lips)
        lower = [self._lips[number].y - lips.y for number in numbers]
        levels = np.interp(np.arange(len(self._poses)), numbers, np.clip(lower, -8, 8))
        soft = cv2.GaussianBlur(levels.astype(np.float32)[None], (0, 0), self._stride * 0.7)[0]
        return Track(_smoothed(self._poses), lips, np.asarray(soft))

    def _detect(self, pixels: Bytes, gray: Bytes, number: int) -> None:
        height, width = gray.shape
        face = _near(pixels, self._pose) if self._pose else None
        if face is None and self._pose is None:
            face = choose(find(pixels), self._first(), (width, height))
        face = None if face is None else closer(pixels, face)
        if face is not None and aside(face):
            face = None
            # Half of its mouth is hidden, so one carried along would hang beside the face.
            self._pose = self._pose if self._told.complete else None
        found = None if face is None else pose_of(face)
        if found is None and self._pose is None and number == 0:
            found = self._told_pose(width, height)
        self._missed = 0 if found is not None else self._missed + self._stride
        if found is None:
            # A mouth that was told is not looked for again; it is carried along.
            if self._missed > self._patience and not self._told.complete:
                self._pose = None
            return
        self._pose = found if self._pose is None else _between(self._pose, found, _PULL)
        hint = self._told.hint(self._pose, (width, height)) if number == 0 else None
        glance = None if face is None else glance_of(face, self._pose)
        self._lips[number] = find_lips(pixels, self._pose, hint, glance)
        self._points = _points(gray, self._pose)

    def _first(self) -> Told:
        # What is told holds for the first frame; later the face may be anywhere.
        return self._told if not self._poses else Told()

    def _told_pose(self, width: int, height: int) -> Pose | None:
        told = self._told
        if told.x is None or told.y is None or told.width is None:
            return None
        return pose_by_mouth((told.x * width, told.y * height), told.width * width)

    def _carried(self, before: Bytes, now: Bytes, pose: Pose) -> Pose | None:
        """Return the pose after the motion between two frames; None after a cut."""
        if self._points is None or len(self._points) < _LEAST_POINTS:
            self._points = _points(before, pose)
        if self._points is None or len(self._points) < _LEAST_POINTS:
            return pose
        moved, found, _ = cv2.calcOpticalFlowPyrLK(before, now, self._points, None, **_FLOW)
        kept = found.ravel() == 1
        if kept.sum() < _LEAST_POINTS:
            return None
        matrix, inliers = cv2.estimateAffinePartial2D(
            self._points[kept], moved[kept], ransacReprojThreshold=1.5
        )
        if matrix is None or inliers.mean() < 0.4:
            self._points = None
            return None
        self._points = moved[kept][inliers.ravel() == 1]
        return _moved(pose, matrix)


def tracked(frames: Iterable[Bytes], fps: float, told: Told) -> Track | None:
    """Return where the face is in each frame, or None if there is none in any."""
    tracker = Tracker(fps, told)
    for pixels in frames:
        tracker.look(pixels)
    return tracker.finish()


def _near(pixels: Bytes, pose: Pose) -> Face | None:
    """Look for a face where it was, which takes a tenth of looking everywhere."""
    x, y = pose.to_pixels((0.0, 55.0))
    reach = 230 * pose.unit
    height, width = pixels.shape[:2]
    left, top = max(0, int(x - reach)), max(0, int(y - reach))
    part = pixels[top : min(height, int(y + reach)), left : min(width, int(x + reach))]
    if min(part.shape[:2]) < 40:
        return None
    scale = min(1.0, 260 / max(part.shape[:2]))
    size = (round(part.shape[1] * scale), round(part.shape[0] * scale))
    small = cv2.resize(part, size, interpolation=cv2.INTER_AREA)
    for face in find(np.ascontiguousarray(small)):
        found = _shifted(face, 1 / scale, left, top)
        fits = 0.6 < pose_of(found).unit / pose.unit < 1.6
        if fits and math.dist((pose_of(found).x, pose_of(found).y), (pose.x, pose.y)) < (
            60 * pose.unit
        ):
            return found
    return None


def _shifted(face: Face, scale: float, left: int, top: int) -> Face:
    def moved(point: Point) -> Point:
        return point[0] * scale + left, point[1] * scale + top

    (a, b), mouth = face.sight(), face.mouth
    return Face(
        *moved((face.x, face.y)),
        face.width * scale,
        face.height * scale,
        (moved(a), moved(b)),
        None if mouth is None else (moved(mouth[0]), moved(mouth[1])),
        None if face.nose is None else moved(face.nose),
    )


def _points(gray: Bytes, pose: Pose) -> Any:
    """Return points that can be followed: on brows, eyes and nose, which speech moves little."""
    mask = np.zeros(gray.shape, np.uint8)
    center = tuple(round(value) for value in pose.to_pixels((0.0, 15.0)))
    axes = (max(1, round(85 * pose.unit)), max(1, round(62 * pose.unit)))
    cv2.ellipse(mask, center, axes, math.degrees(pose.angle), 0, 360, 255, -1)
    return cv2.goodFeaturesToTrack(gray, 60, 0.01, max(2.0, 6 * pose.unit), mask=mask)


def _moved(pose: Pose, matrix: Any) -> Pose:
    x, y = matrix @ (pose.x, pose.y, 1.0)
    scale = math.hypot(matrix[0, 0], matrix[1, 0])
    turn = math.atan2(matrix[1, 0], matrix[0, 0])
    return Pose(float(x), float(y), pose.unit * scale, pose.angle + turn)


def _between(one: Pose, other: Pose, share: float) -> Pose:
    return Pose(
        one.x + (other.x - one.x) * share,
        one.y + (other.y - one.y) * share,
        one.unit * (other.unit / one.unit) ** share,
        one.angle + (other.angle - one.angle) * share,
    )


def _usual(found: list[Lips]) -> Lips:
    """Return the mouth that stands for all that were found."""
    toothy = 2 * sum(lips.toothy for lips in found) > len(found)
    alike = [lips for lips in found if lips.toothy == toothy]
    x, half = (float(np.median([getattr(lips, name) for lips in alike])) for name in ("x", "half"))
    upper, lower = (
        tuple(np.median([getattr(lips, name) for lips in alike], axis=0).tolist())
        for name in ("upper", "lower")
    )
    return replace(alike[0], x=x, half=half, upper=upper, lower=lower)


def _smoothed(poses: list[Pose | None]) -> list[Pose | None]:
    """Return poses without their tremble; each stretch in sight by itself."""
    out: list[Pose | None] = []
    stretch: list[Pose] = []
    for pose in [*poses, None]:
        if pose is not None:
            stretch.append(pose)
            continue
        out += _softened(stretch)
        stretch = []
        out.append(None)
    return out[:-1]


def _softened(stretch: list[Pose]) -> list[Pose]:
    if len(stretch) < 3:
        return stretch
    values = np.array([(p.x, p.y, p.unit, p.angle) for p in stretch], np.float32).T
    soft = cv2.GaussianBlur(
        values, (0, 0), sigmaX=_SMOOTH, sigmaY=1e-3, borderType=cv2.BORDER_REPLICATE
    )
    return [Pose(*map(float, row)) for row in soft.T]
