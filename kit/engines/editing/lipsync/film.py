"""Rendering a talking portrait: analyze the voice, find the face, draw a mouth for every frame.

In a video the face is detected a few times a second; in between, it is tracked by the motion of
points on it, which is steadier than a detector. After a cut, or when the face turns away, there is
no pose until it is detected again.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.editing.lipsync.drawing import Portrait, blinks, draw_mouth, head_moves, speaker_of
from kit.engines.editing.lipsync.face import (
    FacePose,
    Guess,
    Placement,
    choose_face,
    detect_points,
    is_aside,
    mouth_of,
    no_face_error,
    place_mouth,
    pose_of,
    refine_points,
)
from kit.engines.editing.lipsync.mouth import Lips, MouthShape, find_lips, shape_of
from kit.engines.editing.lipsync.voice import Speech, analyze_voice
from kit.engines.film.filming import write_film
from kit.engines.media import sound, soundfile, stills
from kit.engines.media.clip import rgb_frame
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.faces import find
from kit.engines.media.footage import Footage
from kit.engines.media.scaling import resize
from kit.engines.sizes import MAX_VOICE_SECONDS, SLACK
from kit.errors import EngineError

#: Minimum share of a video's frames with a face.
_MIN_IN_SIGHT = 0.2
#: Maximum aspect of a picture; longer ones are scaled down.
_MAX_ASPECT = 2.5
#: Maximum side of a picture as read, and the gray behind transparent pixels.
_MAX_SIDE, _BACKDROP = 2048, 232
_POSTER_SHARE = 0.4
#: Longer side for tracking, seconds between detections, weight of a detection, seconds that a face
#: may be missing, and the minimum number of tracked points.
_TRACK_SIDE, _DETECT_SECONDS, _DETECT_WEIGHT, _MAX_MISSING, _MIN_POINTS = 480, 0.24, 0.3, 0.8, 8
_FLOW_OPTIONS: dict[str, Any] = {
    "winSize": (17, 17),
    "maxLevel": 3,
    "criteria": (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 20, 0.03),
}


def render_lip_sync(job: Job, progress: Progress) -> Asset:
    """Render a job of the lip-sync model."""
    values = job.parameters
    progress.report(0.0)
    kind = "portrait" if job.media.get("portrait") else "video"
    path, voice = job.media[kind][0], _voice(job.media["audio"][0])
    progress.report(0.02)
    speech = analyze_voice(voice, values["fps"], progress.part(0.02, 0.06))

    with ExitStack() as stack:
        if kind == "portrait":
            start, (frames, size, facts) = 0.06, _portrait(path, job, speech)
        else:
            footage, start = stack.enter_context(Footage(path)), 0.35
            frames, size, facts = _video(footage, job, speech, progress.part(0.06, start))
        return write_film(
            job,
            progress.part(start, 1.0),
            map(rgb_frame, frames),
            name="speech",
            size=size,
            fps=values["fps"],
            count=len(speech),
            sound=voice,
            poster=int(_POSTER_SHARE * len(speech)),
            facts={"source": kind, **facts, "frames": len(speech), "seed": job.seed},
        )


def _size(width: int, height: int, resolution: str) -> tuple[int, int]:
    """Return the even size of the clip: the picture's aspect, with the requested shorter side."""
    side = int(resolution.rstrip("p"))
    scale = min(side / min(width, height), _MAX_ASPECT * side / max(width, height))
    return max(2, 2 * round(width * scale / 2)), max(2, 2 * round(height * scale / 2))


def _voice(path: Path) -> sound.Sound:
    # One extra second shows whether the voice is too long.
    voice = soundfile.open_sound(path, seconds=MAX_VOICE_SECONDS + 1)
    if voice.seconds > MAX_VOICE_SECONDS + SLACK:
        sentence = f"the audio lasts more than {MAX_VOICE_SECONDS} s; cut it to this length or less"
        raise EngineError(sentence, code="too_long")
    if not voice.count:
        raise EngineError("the audio is empty", code="no_sound")
    return voice


def _mouth_shapes(speech: Speech, lips: Lips, intensity: float) -> list[MouthShape]:
    rows = np.stack([speech.jaw, speech.spread, speech.hiss, speech.closure], axis=1)
    return [shape_of(lips, row, intensity) for row in rows.tolist()]


def _portrait(
    path: Path, job: Job, speech: Speech
) -> tuple[Iterator[Bytes], tuple[int, int], dict[str, Any]]:
    """Return the frames of a speaking picture, their size, and its metadata."""
    values = job.parameters
    pixels = stills.open_still(path, side=_MAX_SIDE).flatten(_BACKDROP)
    height, width = pixels.shape[:2]
    size = _size(width, height, values["resolution"])
    pixels = np.asarray(resize(pixels, *size))
    pose, guess, distance = place_mouth(pixels, Placement.of(values))
    lips = find_lips(pixels, pose, guess)
    speaker = speaker_of(pixels, pose, lips, distance=distance)
    portrait = Portrait(pixels, pose, speaker)
    ways = np.random.default_rng([job.seed, 1]), np.random.default_rng([job.seed, 2])
    moves = head_moves(speech, values["fps"], values["head_motion"], ways[0]).tolist()
    lids = blinks(len(speech), values["fps"], ways[1]) * float(values["blink"])
    mouths = _mouth_shapes(speech, lips, values["intensity"])
    frames = itertools.starmap(portrait.frame, zip(mouths, moves, lids.tolist(), strict=True))
    x, y = pose.to_pixels((lips.x, lips.y))
    facts = {
        "mouth_x": round(x / size[0], 4),
        "mouth_y": round(y / size[1], 4),
        "mouth_width": round(2 * lips.half * pose.unit / size[0], 4),
        "teeth": lips.toothy,
        "blinks": bool(values["blink"] and speaker.eyes),
    }
    return frames, size, facts


def _video(
    footage: Footage, job: Job, speech: Speech, progress: Progress
) -> tuple[Iterator[Bytes], tuple[int, int], dict[str, Any]]:
    """Return the frames of a speaking video, their size, and its metadata."""
    fps, count = job.parameters["fps"], len(speech)
    size = _size(footage.width, footage.height, job.parameters["resolution"])
    scale = min(1.0, _TRACK_SIDE / max(footage.width, footage.height))
    small = max(2, round(footage.width * scale)), max(2, round(footage.height * scale))
    expected = min(count, max(1, round(footage.seconds * fps)))

    def report_frames() -> Iterator[Bytes]:
        frames = footage.frames(fps, end=count / fps, size=small)
        for number, pixels in enumerate(frames, start=1):
            yield pixels
            progress.report(number / expected)

    track = track_face(report_frames(), fps, Placement.of(job.parameters))
    if track is None:
        raise no_face_error("video")
    seen = sum(pose is not None for pose in track.poses) / len(track.poses)
    if seen < _MIN_IN_SIGHT:
        raise EngineError(
            f"a face from the front is seen in only {seen:.0%} of the video; trim it to where"
            " the face looks at the camera, or set mouth_x, mouth_y and mouth_width",
            code="no_face",
        )
    mouths = _mouth_shapes(speech, track.lips, job.parameters["intensity"])
    facts = {
        "face_in_sight": round(seen, 3),
        "teeth": track.lips.toothy,
        "video_frames": len(track.poses),
    }
    return _speaking_frames(footage, fps, size, track, size[0] / small[0], mouths), size, facts


def _speaking_frames(
    footage: Footage,
    fps: int,
    size: tuple[int, int],
    track: FaceTrack,
    scale: float,
    mouths: Sequence[MouthShape],
) -> Iterator[Bytes]:
    speaker, waiting = None, iter(mouths)
    while True:  # a video shorter than the voice repeats
        frames = footage.frames(fps, end=len(track.poses) / fps, size=size)
        for pixels, pose, level in zip(frames, track.poses, track.levels.tolist(), strict=False):
            if (shape := next(waiting, None)) is None:
                return
            if pose is None:
                yield pixels
                continue
            pose = pose.scale(scale)
            speaker = speaker or speaker_of(pixels, pose, track.lips)
            lowered = replace(speaker, lips=track.lips.lower_by(level))
            yield draw_mouth(pixels, pose, lowered, shape)


@dataclass(frozen=True, slots=True)
class FaceTrack:
    """Poses by frame, in pixels of the analyzed frames, None if the face is not visible."""

    poses: list[FacePose | None]
    #: The typical mouth, in face units.
    lips: Lips
    #: Vertical offset of the mouth from it in each frame, positive down.
    levels: Floats


def track_face(frames: Iterable[Bytes], fps: float, given: Placement) -> FaceTrack | None:
    """Return the pose of the face in each frame, or None if no frame has a face."""
    stride, patience = max(1, round(fps * _DETECT_SECONDS)), round(fps * _MAX_MISSING)
    poses: list[FacePose | None] = []
    mouths: dict[int, Lips] = {}
    pose: FacePose | None = None
    before: Bytes | None = None
    marks: Any = None
    seen = 0
    for number, pixels in enumerate(frames):
        gray = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY))
        if pose is not None and before is not None:
            pose, marks = _follow(before, gray, pose, marks)
        if number % stride == 0:
            pose, guess = _detect_face(pixels, pose, given, first=number == 0)
            if pose and guess:
                mouths[number] = find_lips(pixels, pose, guess)
                marks, seen = _track_points(gray, pose), number
            elif number - seen > patience and None in astuple(given):
                pose = None
        before = gray
        poses.append(pose)
    return _smooth(poses, mouths, stride) if mouths else None


def _detect_face(
    pixels: Bytes, pose: FacePose | None, given: Placement, *, first: bool
) -> tuple[FacePose | None, Guess | None]:
    """Return the pose of the face, and its mouth unless the pose is only tracked."""
    size = (pixels.shape[1], pixels.shape[0])
    alone = given.exact_face(size)
    # The given place applies to the first frame; later the face may be anywhere.
    given = given if first else Placement()
    points = detect_points(pixels, pose) if pose else choose_face(find(pixels), given, size)
    if points is not None and pose is None:
        points = refine_points(pixels, points)
    if points is None or is_aside(points):
        # A tracked mouth on a face that is half hidden would be displaced.
        kept = pose if points is None or alone else None
        return alone if first and alone else (kept, None)
    found = pose_of(points)
    if pose is not None:
        # Move it a little toward the detected pose.
        way = np.array(astuple(pose)), np.array(astuple(found))
        found = FacePose(*(way[0] + _DETECT_WEIGHT * (way[1] - way[0])).tolist())
    return found, given.correct(mouth_of(points, found), found, size)


def _smooth(poses: Sequence[FacePose | None], mouths: Mapping[int, Lips], stride: int) -> FaceTrack:
    """Return smoothed poses, and the mouth that is typical of all that were found."""
    toothy = 2 * sum(lips.toothy for lips in mouths.values()) > len(mouths)
    alike = [lips for lips in mouths.values() if lips.toothy == toothy]
    rows = np.array([(lips.x, lips.half, *lips.upper, *lips.lower) for lips in alike])
    usual = alike[int(np.abs(rows[:, None] - rows).sum(axis=(1, 2)).argmin())]
    lower_by = np.clip([lips.y - usual.y for lips in mouths.values()], -8, 8)
    levels = np.interp(np.arange(len(poses)), list(mouths), lower_by).astype(np.float32)
    levels = cv2.GaussianBlur(levels[None], (0, 0), stride * 0.7)[0]
    steady: list[FacePose | None] = []
    for number, pose in enumerate(poses):
        near = [astuple(p) for p in poses[max(0, number - 1) : number + 2] if p is not None]
        steady.append(None if pose is None else FacePose(*np.mean(near, axis=0).tolist()))
    return FaceTrack(steady, usual, np.asarray(levels))


def _follow(before: Bytes, now: Bytes, pose: FacePose, marks: Any) -> tuple[FacePose | None, Any]:
    """Return the pose after the motion between two frames, None after a cut, and its points."""
    if marks is None or len(marks) < _MIN_POINTS:
        marks = _track_points(before, pose)
    if marks is None or len(marks) < _MIN_POINTS:
        return pose, marks
    moved, found, _ = cv2.calcOpticalFlowPyrLK(before, now, marks, None, **_FLOW_OPTIONS)
    kept = found.ravel() == 1
    if kept.sum() < _MIN_POINTS:
        return None, None
    matrix, good = cv2.estimateAffinePartial2D(marks[kept], moved[kept], ransacReprojThreshold=1.5)
    if matrix is None or good.mean() < 0.4:
        return None, None
    x, y = matrix @ (pose.x, pose.y, 1.0)
    size, turn = math.hypot(matrix[0, 0], matrix[1, 0]), math.atan2(matrix[1, 0], matrix[0, 0])
    moved_pose = FacePose(float(x), float(y), pose.unit * size, pose.angle + turn)
    return moved_pose, moved[kept][good.ravel() == 1]


def _track_points(gray: Bytes, pose: FacePose) -> Any:
    """Return trackable points: on brows, eyes and nose, which move little in speech."""
    mask = np.zeros(gray.shape, np.uint8)
    center = tuple(round(value) for value in pose.to_pixels((0.0, 15.0)))
    axes = (max(1, round(85 * pose.unit)), max(1, round(62 * pose.unit)))
    cv2.ellipse(mask, center, axes, math.degrees(pose.angle), 0, 360, 255, -1)
    return cv2.goodFeaturesToTrack(gray, 60, 0.01, max(2.0, 6 * pose.unit), mask=mask)
