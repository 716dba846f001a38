"""One video edited: everything that was asked happens to a frame before the next one is decoded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Asset, Job, Progress
from kit.engines.editing.picture.grading import graded
from kit.engines.editing.picture.looks import LOOKS
from kit.engines.editing.video import framing, soundtrack
from kit.engines.editing.video.captions import Captions
from kit.engines.editing.video.captionwords import caption_words
from kit.engines.editing.video.framing import Frame, frame_of, framed, shifted, turned
from kit.engines.editing.video.plan import Plan, check_work, fades, plan_of
from kit.engines.editing.video.spoken import timed
from kit.engines.editing.video.survey import Survey, survey
from kit.engines.media.clip import FORMATS, Clip, rgb_frame, rgb_of, views
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.footage import Footage
from kit.engines.media.noise import smooth_step
from kit.engines.media.picture import write_thumbnail
from kit.engines.media.sound import Sound
from kit.engines.sizes import QUALITIES

#: Of one plane: how much of the picture is left, the rest, and the plane's black or gray.
_Shade: TypeAlias = tuple[Floats, Floats, Bytes]


class Grade:
    """A look for one clip.

    Parameters
    ----------
    name : str
        One of `LOOKS`; any other leaves everything as it is.
    size : (width, height)
        Of the finished frames.
    """

    def __init__(self, name: str, size: tuple[int, int]) -> None:
        look = LOOKS.get(name)
        self._size = size
        self._look = replace(look, vignette=0.0) if look else None
        self._shades = _shades(look.vignette, size) if look and look.vignette else []

    def colored(self, pixels: Bytes) -> Bytes:
        """Return an RGB picture, shape (height, width, 3), in the look's colors."""
        return pixels if self._look is None else graded(pixels, self._look)

    def shaded(self, frame: Bytes) -> Bytes:
        """Return a finished I420 frame with the look's corners; the one given is left alone."""
        if not self._shades:
            return frame
        out = np.empty_like(frame)
        planes = zip(views(frame, *self._size), views(out, *self._size), self._shades, strict=True)
        for source, target, (share, rest, dark) in planes:
            cv2.blendLinear(source, dark, share, rest, dst=target)
        return out


def _shades(amount: float, size: tuple[int, int]) -> list[_Shade]:
    width, height = size
    shades: list[_Shade] = []
    for wide, high, zero in ((width, height, 16), *[(width // 2, height // 2, 128)] * 2):
        rows = np.linspace(-1, 1, high, dtype=np.float32)[:, None]
        columns = np.linspace(-1, 1, wide, dtype=np.float32)[None, :]
        share = 1 - np.float32(amount) * smooth_step(0.5, 2.0, rows**2 + columns**2)
        share = np.ascontiguousarray(share, np.float32)
        shades.append((share, 1 - share, np.full((high, wide), zero, np.uint8)))
    return shades


_POSTER = 0.35  # the preview shows this moment of the result
#: Share of the work that the first look takes, where one is needed.
_FIRST_LOOK = 0.4

#: From the number of a frame to its matrix; None where pictures are taken as they are.
Motion: TypeAlias = Callable[[int], NDArray[np.float64]] | None


def edited(job: Job, progress: Progress) -> Asset:
    """Render a job of the video editor."""
    values = job.parameters
    progress.report(0.0)
    soundtrack.check_media(job)
    with Footage(job.media["video"][0], check=progress.check) as footage:
        plan = plan_of(values, footage)
        size = (plan.width, plan.height)
        frame = frame_of((footage.width, footage.height), size, values["fit"])
        steady = values["stabilize"]
        passes = 2 if steady or frame.room != (0, 0) else 1
        check_work(plan, footage, passes=passes, steady=steady)
        sound, spoken = soundtrack.of_edit(job, footage, plan, partial(progress.report, 0.01))
        captions = _captions(job, plan, spoken, partial(progress.report, 0.03))
        progress.report(0.05)
        motion, share = _motion(job, footage, plan, frame, progress.part(0.05, 0.98))
        scene = _Scene(job, plan, frame, motion, captions)
        asset = scene.written(footage, sound, progress.part(0.05 + 0.93 * share, 0.98))
    progress.report(1.0)
    return asset


class _Scene:
    """The frames of one edit, and the file that they go into."""

    def __init__(
        self, job: Job, plan: Plan, frame: Frame, motion: Motion, captions: Captions | None
    ) -> None:
        self._job = job
        self._plan = plan
        self._frame = frame
        self._motion = motion
        self._captions = captions
        self._grade = Grade(job.parameters["look"], frame.size)

    def written(self, footage: Footage, sound: Sound | None, progress: Progress) -> Asset:
        """Draw and encode all frames."""
        plan, values = self._plan, self._job.parameters
        content_type, ending, codec = FORMATS[values["format"]]
        path = self._job.folder / f"edited{ending}"
        thumbnail, poster = None, self._poster()
        beat = partial(progress.report, 0.0)
        pictures = footage.frames(
            plan.reading, start=plan.start, end=plan.end, size=self._frame.read, check=beat
        )
        with Clip(
            path,
            plan.width,
            plan.height,
            fps=plan.fps,
            quality=QUALITIES[values["quality"]],
            codec=codec,
            sound=sound,
            check=beat,
        ) as clip:
            for number, pixels in zip(range(plan.frames), pictures, strict=False):
                drawn = self._drawn(pixels, number)
                if number == poster:
                    thumbnail = write_thumbnail(rgb_of(drawn), self._job.folder)
                clip.add(drawn)
                progress.report((number + 1) / plan.frames)
        return self._asset(path, content_type, thumbnail, clip.frames)

    def _drawn(self, pixels: Bytes, number: int) -> Bytes:
        planes = rgb_frame(self._grade.colored(pixels))
        matrix = self._motion(number) if self._motion else None
        drawn = self._grade.shaded(framed(planes, self._frame, matrix))
        if self._captions is not None:
            self._captions.draw(drawn, float(number / self._plan.fps))
        return faded(drawn, self._light(number))

    def _light(self, number: int) -> float:
        """Return how bright a frame is, 0 to 1, between the fades."""
        fps = float(self._plan.fps)
        fade_in, fade_out = fades(self._job.parameters, self._plan.seconds)
        rise = number / max(1e-9, fade_in * fps)
        fall = (self._plan.frames - 1 - number) / max(1e-9, fade_out * fps)
        return min(1.0, rise if fade_in else 1.0, fall if fade_out else 1.0)

    def _poster(self) -> int:
        asked = self._job.parameters.get("poster_time")
        moment = self._plan.seconds * _POSTER if asked is None else float(asked)
        return min(self._plan.frames - 1, round(moment * self._plan.fps))

    def _asset(self, path: Path, kind: str, thumbnail: Path | None, frames: int) -> Asset:
        plan = self._plan
        return Asset(
            path=path,
            content_type=kind,
            width=plan.width,
            height=plan.height,
            duration_seconds=round(float(frames / plan.fps), 3),
            thumbnail=thumbnail,
            metadata={
                "frames": frames,
                "fps": round(float(plan.fps), 3),
                "start": plan.start,
                "end": round(plan.end, 3),
                "speed": plan.speed,
                **_left_out(self._job),
            },
        )


def _left_out(job: Job) -> dict[str, Any]:
    """Return the symbols of the captions that no font has, where there are any."""
    words = caption_words(job.parameters.get("captions") or "", job.parameters["caption_style"])
    return {"left_out": list(words.left_out)} if words.left_out else {}


def faded(frame: Bytes, light: float) -> Bytes:
    """Return an I420 frame darkened toward black, in place; 1 leaves it as it is."""
    if light >= 1.0:
        return frame
    height = frame.shape[0] * 2 // 3
    for rows, zero in ((slice(None, height), 16), (slice(height, None), 128)):
        value = zero + (np.arange(256) - zero) * max(light, 0.0)
        table = np.clip(np.rint(value), 0, 255).astype(np.uint8)
        cv2.LUT(frame[rows], table, dst=frame[rows])
    return frame


def _captions(
    job: Job, plan: Plan, spoken: Sound | None, check: Callable[[], None]
) -> Captions | None:
    values = job.parameters
    text = values.get("captions", "").strip()
    if not text:
        return None
    text = caption_words(text, values["caption_style"]).text
    words = timed(text, plan.seconds, spoken, check=check)
    size = (plan.width, plan.height)
    return Captions(words, values["caption_style"], values["caption_position"], size)


def _motion(
    job: Job, footage: Footage, plan: Plan, frame: Frame, progress: Progress
) -> tuple[Motion, float]:
    """Return how pictures are moved, and the share of the work that finding out took."""
    steady, follows = job.parameters["stabilize"], frame.room != (0, 0)
    if not steady and not follows:
        return None, 0.0
    seen = survey(footage, plan, progress.part(0, _FIRST_LOOK), shake=steady, subject=follows)
    corners = _corners(seen, frame, float(plan.fps))
    if not steady:
        return lambda number: shifted(*corners[number]), _FIRST_LOOK
    corrections, zoom = framing.steadied(seen, float(plan.fps), frame)
    return (lambda number: turned(frame, corrections[number], zoom, *corners[number])), _FIRST_LOOK


def _corners(seen: Survey, frame: Frame, fps: float) -> NDArray[np.float64]:
    """Return the window's left upper corner in each picture, shape (frames, 2)."""
    corners = np.zeros((len(seen.cuts), 2))
    for axis, room in enumerate(frame.room):
        if not room:
            continue
        share = frame.window[axis] / frame.whole[axis]
        way = room * framing.followed(seen, share, across=axis == 0, fps=fps)
        # A crop that hardly moves stands still, on whole pixels: that is sharper.
        still = np.ptp(way) < 2.0
        corners[:, axis] = 2 * np.rint(way.mean() / 2) if still else way
    return corners
