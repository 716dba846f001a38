"""Recording: frames become a clip with a poster frame and sound."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.film.weather import Weather
from kit.engines.media import sound, soundfile
from kit.engines.media.clip import FORMATS, Clip, rgb_of, views
from kit.engines.media.color import Bytes
from kit.engines.media.picture import write_thumbnail
from kit.engines.media.sound import Sound
from kit.engines.media.threads import one_thread

_POSTER_SHARE = 0.4  # the preview shows this share of the clip
_FADE_SECONDS = 0.6  # seconds of a soundtrack's fade-out

#: From a frame number to the frame, I420, shape (height * 3 / 2, width).
Draw: TypeAlias = Callable[[int], Bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Take:
    """A clip's settings: its even size in pixels, and the amount of motion, 0 to 1.

    In a loop, the first frame follows the last.
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
        """Return the time of a frame: 0 at the start; 1 at the last, in a loop at the next one."""
        return number / (self.frames if self.loop else max(1, self.frames - 1))

    def share(self, number: float, easing: str = "smooth") -> float:
        """Return the camera's progress, 0 to 1; in a loop there and back."""
        moment = number / (self.frames if self.loop else max(1, self.frames - 1))
        if self.loop:
            return 0.5 - 0.5 * math.cos(2 * math.pi * moment)
        # Mostly linear in the middle: a full S-curve would be too fast there.
        return moment if easing == "linear" else moment * (0.3 + 0.7 * moment * (3 - 2 * moment))


def read_take(values: Mapping[str, Any], size: tuple[int, int]) -> Take:
    """Return the take of a model's settings."""
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
    weather: str = "none",
) -> Asset:
    """Draw and encode all frames of a take, with weather, and return the clip."""
    track = None
    for path in job.media.get("soundtrack", ()):  # first: a broken one is refused before any work
        music = sound.normalize(soundfile.open_sound(path, seconds=take.seconds))
        fade = 0.0 if take.loop else min(_FADE_SECONDS, take.seconds / 4)
        track = sound.fit_length(music, take.seconds, loop=True, fade_in=fade / 4, fade_out=fade)
    progress.report(0.02)
    air, size = None, (take.width, take.height)
    if weather != "none":
        rng = np.random.default_rng([job.seed, 61])
        air = Weather(weather, size, rng, take.seconds, take.loop)

    def draw_all(number: int) -> Bytes:
        frame = draw(number)
        if air is not None:
            air.draw(views(frame, *size), take.moment(number))
        return frame

    return write_film(
        job,
        progress.part(0.02, 1.0),
        map(draw_all, range(take.frames)),
        name=name,
        size=size,
        fps=take.fps,
        count=take.frames,
        sound=track,
        poster=int(_POSTER_SHARE * take.frames),
        facts={**metadata, "seed": job.seed, "frames": take.frames},
    )


@one_thread()
def write_film(
    job: Job,
    progress: Progress,
    frames: Iterable[Bytes],
    *,
    name: str,
    size: tuple[int, int],
    fps: int | Fraction,
    count: int,
    sound: Sound | None,
    poster: int,
    facts: Mapping[str, Any],
    quality: int = 20,
) -> Asset:
    """Encode I420 frames, about `count`; frame number `poster` becomes the preview.

    Frames are drawn in one thread, which leaves the other cores to decoder and encoder.
    """
    content_type, ending, codec = FORMATS[job.parameters["format"]]
    path, thumbnail = job.folder / f"{name}{ending}", None
    check = partial(progress.report, 0.0)
    check()
    with Clip(path, *size, fps=fps, quality=quality, codec=codec, sound=sound, check=check) as clip:
        for number, frame in enumerate(frames):
            if number == poster:
                thumbnail = write_thumbnail(rgb_of(frame), job.folder)
            clip.add(frame)
            progress.report((number + 1) / (count + 1))
    progress.report(1.0)
    return Asset(
        path=path,
        content_type=content_type,
        width=size[0],
        height=size[1],
        duration_seconds=round(float(clip.frames / fps), 3),
        thumbnail=thumbnail,
        metadata=facts,
    )


class FilmView(NamedTuple):
    """The transformation of the nearest plane: shift in shares of the frame, and zoom."""

    x: float = 0.0
    y: float = 0.0
    zoom: float = 0.0


#: The maximum shift of the nearest plane by any camera, as shares of the frame.
MAX_SHIFT = _PAN, _RISE = 0.15, 0.10
_ZOOM = 0.34
_LEFT, _RIGHT = FilmView(x=_PAN), FilmView(x=-_PAN)
#: Camera -> its views at the start and at the end, at full motion.
CAMERAS = {
    "drift": (FilmView(x=0.6 * _PAN), FilmView(x=-0.6 * _PAN, zoom=0.34 * _ZOOM)),
    "push": (FilmView(), FilmView(zoom=_ZOOM)),
    "pull": (FilmView(zoom=_ZOOM), FilmView()),
    "pan_left": (_RIGHT, _LEFT),
    "pan_right": (_LEFT, _RIGHT),
    "rise": (FilmView(zoom=0.15 * _ZOOM), FilmView(y=_RISE, zoom=0.15 * _ZOOM)),
    "arc": (_RIGHT._replace(zoom=0.2 * _ZOOM), _LEFT._replace(zoom=0.4 * _ZOOM)),
    "still": (FilmView(), FilmView()),
}


def view_at(take: Take, number: int) -> FilmView:
    """Return the camera's view at a frame of a take."""
    share = take.share(number)
    ends = zip(*CAMERAS[take.camera], strict=True)
    return FilmView(*(take.motion * (start + (end - start) * share) for start, end in ends))
