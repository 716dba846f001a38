"""How a talking portrait is made: hear the voice, find the face, draw a mouth for every frame."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.editing.lipsync.drawing import Portrait, speaker_of, spoken
from kit.engines.editing.lipsync.head import postures
from kit.engines.editing.lipsync.lids import blinks
from kit.engines.editing.lipsync.lips import Lips
from kit.engines.editing.lipsync.mouth import Shape, shape_of
from kit.engines.editing.lipsync.placing import no_face, place, told_of
from kit.engines.editing.lipsync.track import Track, tracked
from kit.engines.editing.lipsync.voice import Speech, heard
from kit.engines.media import sound, stills
from kit.engines.media.clip import FORMATS, Clip, rgb_frame
from kit.engines.media.color import Bytes
from kit.engines.media.footage import Footage
from kit.engines.media.picture import write_thumbnail
from kit.engines.sizes import LONGEST_VOICE as LONGEST
from kit.engines.sizes import SLACK
from kit.errors import EngineError

#: Of the frames of a video; with less of a face there is nobody to listen to.
_LEAST_IN_SIGHT = 0.2
#: A picture is at most this much longer than wide, or wider than long; more of it gets smaller.
_NARROWEST = 2.5
#: No side of a clip is longer.
_LARGEST = 2048
#: What shows through where a picture is transparent.
_BEHIND = 232
_POSTER = 0.4
#: The longer side at which faces are tracked, and the frames of a short video that are kept.
_TRACKED_SIDE, _KEPT = 480, 24


@dataclass(frozen=True, slots=True)
class Take:
    """Frames to be encoded, drawn when they are asked for, and what is known of them."""

    size: tuple[int, int]
    frames: Iterator[Bytes]
    facts: Mapping[str, Any]


def film_speech(job: Job, progress: Progress) -> Asset:
    """Render a job of the lip-sync model."""
    values = job.parameters
    progress.report(0.0)
    kind, path = _source(job.media)
    voice = _voice(job.media)
    progress.report(0.02)
    speech = heard(voice, values["fps"], progress.part(0.02, 0.06))
    if kind == "portrait":
        take = _portrait(path, job, speech)
        return _encoded(job, take, voice, len(speech), progress.part(0.06, 1.0))
    with Footage(path) as footage:
        take = _video(footage, job, speech, progress.part(0.06, 0.35))
        return _encoded(job, take, voice, len(speech), progress.part(0.35, 1.0))


def frame_size(width: int, height: int, resolution: str) -> tuple[int, int]:
    """Return the even size of the clip: the shape of the picture, its shorter side as asked for."""
    side = int(resolution.rstrip("p"))
    scale = min(side / min(width, height), _NARROWEST * side / max(width, height))
    across, along = (max(2, 2 * round(value * scale / 2)) for value in (width, height))
    return across, along


def shapes(speech: Speech, lips: Lips, intensity: float) -> list[Shape]:
    """Return the mouth in each frame."""
    columns = (speech.jaw, speech.spread, speech.hiss, speech.closure)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [
        shape_of(lips, jaw=jaw, spread=spread, hiss=hiss, closure=closure, intensity=intensity)
        for jaw, spread, hiss, closure in rows
    ]


def _source(media: Mapping[str, Any]) -> tuple[str, Path]:
    given = [(kind, media[kind][0]) for kind in ("portrait", "video") if media.get(kind)]
    if len(given) != 1:
        many = "both were" if given else "neither was"
        sentence = f"give either a portrait or a video; {many} given"
        raise EngineError(sentence, code="wrong_media")
    return given[0]


def _voice(media: Mapping[str, Any]) -> sound.Sound:
    if not media.get("audio"):
        raise EngineError("the audio that is to be spoken is missing", code="wrong_media")
    # A little more than what is taken tells whether there is more.
    voice = sound.opened(media["audio"][0], seconds=LONGEST + 1)
    if voice.seconds > LONGEST + SLACK:
        sentence = f"the audio lasts more than {LONGEST} s; cut it to {LONGEST} s or less"
        raise EngineError(sentence, code="too_long")
    if not voice.samples.size:
        raise EngineError("the audio is empty", code="no_sound")
    return voice


def _portrait(path: Path, job: Job, speech: Speech) -> Take:
    values = job.parameters
    pixels = _on_gray(stills.opened(path, most=_LARGEST))
    height, width = pixels.shape[:2]
    size = frame_size(width, height, values["resolution"])
    pixels = _resized(pixels, size)
    spot = place(pixels, told_of(values))
    speaker = speaker_of(pixels, spot.pose, spot.lips, spot.eyes)
    portrait = Portrait(pixels, spot.pose, speaker)
    ways = np.random.default_rng([job.seed, 1]), np.random.default_rng([job.seed, 2])
    moves = postures(speech, values["fps"], values["head_motion"], ways[0])
    lids = blinks(len(speech), values["fps"], ways[1]) * float(values["blink"])
    mouths = shapes(speech, spot.lips, values["intensity"])
    frames = itertools.starmap(portrait.frame, zip(mouths, moves, lids.tolist(), strict=True))
    facts = {**spot.facts(size), "blinks": bool(values["blink"] and speaker.eyes)}
    return Take(size, frames, {"source": "portrait", **facts})


def _video(footage: Footage, job: Job, speech: Speech, progress: Progress) -> Take:
    values = job.parameters
    fps = values["fps"]
    size = frame_size(footage.width, footage.height, values["resolution"])
    track, small = _tracked(footage, job, len(speech), progress)
    scale = size[0] / small[0]
    mouths = shapes(speech, track.lips, values["intensity"])
    frames = _spoken(footage, fps, size, track, scale, mouths)
    facts = {
        "source": "video",
        "face_in_sight": round(_in_sight(track), 3),
        "teeth": track.lips.toothy,
        "video_frames": len(track.poses),
    }
    return Take(size, frames, facts)


def _tracked(
    footage: Footage, job: Job, count: int, progress: Progress
) -> tuple[Track, tuple[int, int]]:
    """Return the track of a video's face, and the size of the frames in which it was found."""
    fps = job.parameters["fps"]
    scale = min(1.0, _TRACKED_SIDE / max(footage.width, footage.height))
    small = max(2, round(footage.width * scale)), max(2, round(footage.height * scale))
    expected = min(count, max(1, round(footage.seconds * fps)))
    frames = footage.frames(fps, end=count / fps, size=small)
    track = tracked(_reported(frames, expected, progress), fps, told_of(job.parameters))
    if track is None:
        raise no_face("video")
    seen = _in_sight(track)
    if seen < _LEAST_IN_SIGHT:
        raise EngineError(
            f"a face from the front is seen in only {seen:.0%} of the video; trim it to where"
            " somebody looks at the camera, or set mouth_x, mouth_y and mouth_width",
            code="no_face",
        )
    return track, small


def _in_sight(track: Track) -> float:
    """Return in which share of the frames the face is seen."""
    return sum(pose is not None for pose in track.poses) / len(track.poses)


def _reported(frames: Iterator[Bytes], expected: int, progress: Progress) -> Iterator[Bytes]:
    for number, pixels in enumerate(frames, start=1):
        yield pixels
        progress.report(number / expected)


def _spoken(
    footage: Footage,
    fps: int,
    size: tuple[int, int],
    track: Track,
    scale: float,
    mouths: list[Shape],
) -> Iterator[Bytes]:
    speaker = None
    pictures = _repeated(footage, fps, size, len(track.poses))
    for number, (shape, pixels) in enumerate(zip(mouths, pictures, strict=False)):
        at = number % len(track.poses)
        pose = track.poses[at]
        if pose is None:
            yield pixels
            continue
        pose = pose.scaled(scale)
        speaker = speaker or speaker_of(pixels, pose, track.lips)
        moved = speaker.lowered(float(track.levels[at]))
        yield spoken(pixels, pose, moved, shape)


def _repeated(footage: Footage, fps: int, size: tuple[int, int], count: int) -> Iterator[Bytes]:
    """Yield the first frames of a video over and over; a very short one is decoded once."""
    if count <= _KEPT:
        few = list(itertools.islice(footage.frames(fps, end=count / fps, size=size), count))
        yield from itertools.cycle(few)
    while True:
        yield from itertools.islice(footage.frames(fps, end=count / fps, size=size), count)


def _encoded(job: Job, take: Take, voice: sound.Sound, count: int, progress: Progress) -> Asset:
    values = job.parameters
    content_type, ending, codec = FORMATS[values["format"]]
    path, thumbnail = job.folder / f"speech{ending}", None
    width, height = take.size
    beat = partial(progress.report, 0.0)
    beat()
    with Clip(path, width, height, fps=values["fps"], codec=codec, sound=voice, check=beat) as clip:
        for number, pixels in enumerate(take.frames):
            if number == int(_POSTER * count):
                thumbnail = write_thumbnail(pixels, job.folder)
            clip.add(rgb_frame(pixels))
            progress.report((number + 1) / count)
    return Asset(
        path=path,
        content_type=content_type,
        width=width,
        height=height,
        duration_seconds=count / values["fps"],
        thumbnail=thumbnail,
        metadata={**take.facts, "frames": count, "seed": job.seed},
    )


def _on_gray(still: stills.Still) -> Bytes:
    if still.alpha is None:
        return still.pixels
    share = still.alpha[:, :, None].astype(np.float32) / 255
    mixed = _BEHIND + (still.pixels.astype(np.float32) - _BEHIND) * share
    return np.asarray(mixed + 0.5, np.uint8)


def _resized(pixels: Bytes, size: tuple[int, int]) -> Bytes:
    height, width = pixels.shape[:2]
    smaller = size[0] * size[1] < width * height
    way = cv2.INTER_AREA if smaller else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(pixels, size, interpolation=way))
