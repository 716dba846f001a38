"""Filming: frames that can be drawn at any moment become a clip with a poster frame and sound."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from kit.engines.base import Asset, Job, Progress
from kit.engines.media import sound, soundfile
from kit.engines.media.clip import FORMATS, Clip, rgb_of
from kit.engines.media.color import Bytes
from kit.engines.media.picture import write_thumbnail
from kit.engines.media.threads import one_thread

_POSTER = 0.4  # the preview shows this moment of the clip
_FADE = 0.6  # seconds in which a soundtrack fades out

#: From the number of a frame to the frame, I420, shape (height * 3 / 2, width).
Draw: TypeAlias = Callable[[int], Bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Take:
    """What the settings ask of a clip: its even size in pixels, and how far things move, 0 to 1.

    The frame after the last one of a loop is the first.
    """

    width: int
    height: int
    fps: int
    frames: int
    camera: str = "still"
    motion: float = 0.6
    loop: bool = False

    @property
    def seconds(self) -> float:
        """Length of the clip."""
        return self.frames / self.fps

    def moment(self, number: int) -> float:
        """Return when a frame is seen: 0 at the start; 1 at the last, in a loop the next one."""
        return number / (self.frames if self.loop else max(1, self.frames - 1))


def read_take(values: Mapping[str, Any], size: tuple[int, int]) -> Take:
    """Return the take that a model's settings ask for."""
    return Take(
        width=size[0],
        height=size[1],
        fps=values["fps"],
        frames=max(1, round(values["duration"] * values["fps"])),
        camera=values.get("camera", "still"),
        motion=values["motion"],
        loop=values["loop"],
    )


def record(
    job: Job,
    progress: Progress,
    take: Take,
    draw: Draw,
    *,
    name: str,
    metadata: Mapping[str, Any],
    light: bool = False,
) -> Asset:
    """Draw and encode all frames of a take, and return the clip.

    Frames that are `light`, drawn much faster than encoded, leave the encoder the other cores.
    """
    values = job.parameters
    content_type, ending, codec = FORMATS[values["format"]]
    track = _soundtrack(job, take)  # first: a broken one costs no time
    progress.report(0.02)
    path = job.folder / f"{name}{ending}"
    thumbnail = job.folder / "thumbnail.jpg"
    drawing = progress.part(0.02, 0.98)
    beat = partial(drawing.report, 0.0)
    with (
        one_thread() if light else contextlib.nullcontext(),
        Clip(
            path, take.width, take.height, fps=take.fps, codec=codec, sound=track, check=beat
        ) as clip,
    ):
        for number in drawing.over(range(take.frames)):
            frame = draw(number)
            if number == int(_POSTER * take.frames):
                thumbnail = write_thumbnail(rgb_of(frame), job.folder)
            clip.add(frame)
    progress.report(1.0)
    return Asset(
        path=path,
        content_type=content_type,
        width=take.width,
        height=take.height,
        duration_seconds=take.seconds,
        thumbnail=thumbnail,
        metadata={**metadata, "seed": job.seed, "frames": take.frames},
    )


def _soundtrack(job: Job, take: Take) -> sound.Sound | None:
    paths = job.media.get("soundtrack")
    if not paths:
        return None
    heard = sound.leveled(soundfile.opened(paths[0], seconds=take.seconds))
    fade = 0.0 if take.loop else min(_FADE, take.seconds / 4)
    return sound.fitted(heard, take.seconds, loop=True, fade_in=fade / 4, fade_out=fade)


@dataclass(frozen=True, slots=True)
class FilmView:
    """How the nearest plane stands: shifted by shares of the frame, and enlarged."""

    x: float = 0.0
    y: float = 0.0
    zoom: float = 0.0


#: From the position on the path, -1 to 1, to a view at full motion.
Path: TypeAlias = Callable[[float], FilmView]

_PAN, _RISE, _ZOOM = 0.15, 0.10, 0.34

CAMERAS: dict[str, Path] = {
    "drift": lambda at: FilmView(x=-0.6 * _PAN * at, zoom=0.34 * _ZOOM * (at + 1) / 2),
    "push": lambda at: FilmView(zoom=_ZOOM * (at + 1) / 2),
    "pull": lambda at: FilmView(zoom=_ZOOM * (1 - at) / 2),
    "pan_left": lambda at: FilmView(x=_PAN * at),
    "pan_right": lambda at: FilmView(x=-_PAN * at),
    "rise": lambda at: FilmView(y=_RISE * (at + 1) / 2, zoom=0.15 * _ZOOM),
    "arc": lambda at: FilmView(x=_PAN * at, zoom=0.4 * _ZOOM * (1 - at * at)),
    "still": lambda at: FilmView(),
}
#: The farthest that any camera shifts the nearest plane, as shares of the frame.
REACH = (_PAN, _RISE)


def view(camera: str, moment: float, *, motion: float, loop: bool) -> FilmView:
    """Return the view at a moment, 0 to 1 of the clip.

    A single take starts and ends gently; a loop swings out and back.
    """
    smooth = moment * moment * (3 - 2 * moment)
    at = math.sin(2 * math.pi * moment) if loop else 0.7 * moment + 1.3 * smooth - 1
    full = CAMERAS[camera](at)
    return FilmView(full.x * motion, full.y * motion, full.zoom * motion)


def nearness(depth: float) -> float:
    """How much of the nearest plane's motion a plane at a depth shares."""
    return 0.02 + 0.98 * float(min(depth, 1.1) ** 1.6)
