"""Editing one video: all operations are applied to a frame before the next one is decoded.

Its sound is a mix of the original, a voice and music.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, TypeAlias

import cv2
import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.editing.picture.looks import LOOKS, Look
from kit.engines.editing.picture.restyling import color_matrix, curves_of, glow_of, screen, vignette
from kit.engines.editing.video.captions import Captions, time_words
from kit.engines.editing.video.checks import caption_words
from kit.engines.editing.video.framing import Frame, Motion, frame_of, frame_picture, motion_of
from kit.engines.editing.video.plan import EditPlan, check_work, fade_seconds, plan_of
from kit.engines.film.filming import write_film
from kit.engines.media.clip import views
from kit.engines.media.color import RGB, YUV, Bytes
from kit.engines.media.footage import Footage
from kit.engines.media.sound import Sound, cut, fit_length, mix, normalize, stretch
from kit.engines.media.soundfile import open_sound
from kit.engines.sizes import QUALITIES

_POSTER_SHARE = 0.35  # the preview shows this moment of the result
_LUFS = -14.0
_TAIL_SECONDS = 1.5  # seconds in which music fades out at the end
_MIN_SECONDS = 0.05  # shorter results have no fade of their sound
_CUT_FADE = 0.005  # seconds of fade-in after a cut, to avoid clicks

Check: TypeAlias = Callable[[], None]


def edit(job: Job, progress: Progress) -> Asset:
    """Render a job of the video editor."""
    values = job.parameters
    progress.report(0.0)
    with Footage(job.media["video"][0], check=progress.check) as footage:
        plan = plan_of(values, footage)
        steady = values["stabilize"]
        frame = frame_of(footage, plan.size, values["fit"], steady=steady)
        looks = 2 if steady or frame.room != (0, 0) else 1
        read = [(footage, looks * (plan.end - plan.start))]
        check_work(read, plan.frames, plan.size, steady=steady)
        sound, spoken = _sound(job, footage, plan, partial(progress.report, 0.01))
        words = caption_words(values.get("captions") or "", values["caption_style"])
        timings = time_words(words.text, plan.seconds, spoken, check=partial(progress.report, 0.03))
        captions = Captions(timings, values["caption_style"], values["caption_position"], plan.size)
        done = 0.05 + 0.37 * (looks - 1)
        motion = motion_of(
            footage,
            frame,
            progress.part(0.05, done),
            span=(plan.start, plan.end),
            reading=plan.read_rate,
            fps=float(plan.fps),
            frames=plan.frames,
            steady=steady,
        )
        asked = values.get("poster_time")
        moment = plan.seconds * _POSTER_SHARE if asked is None else float(asked)
        writing = progress.part(done, 1.0)
        return write_film(
            job,
            writing,
            _frames(job, footage, plan, frame, motion, captions, partial(writing.report, 0.0)),
            name="edited",
            size=plan.size,
            fps=plan.fps,
            count=plan.frames,
            sound=sound,
            poster=min(plan.frames - 1, round(moment * plan.fps)),
            facts={
                "frames": plan.frames,
                "fps": round(float(plan.fps), 3),
                "start": plan.start,
                "end": round(plan.end, 3),
                "speed": plan.speed,
                **({"left_out": list(words.left_out)} if words.left_out else {}),
            },
            quality=QUALITIES[values["quality"]],
        )


def _frames(
    job: Job,
    footage: Footage,
    plan: EditPlan,
    frame: Frame,
    motion: Motion,
    captions: Captions,
    check: Callable[[], None],
) -> Iterator[Bytes]:
    look = LOOKS.get(job.parameters["look"])
    grade = _grader(look, plan.size) if look else None
    fade_in, fade_out = fade_seconds(job.parameters, plan.seconds)
    last = (plan.frames - 1) / float(plan.fps)
    read = footage.frames(
        plan.read_rate, start=plan.start, end=plan.end, size=frame.read, i420=True, check=check
    )
    for number, planes in zip(range(plan.frames), read, strict=False):
        moment = float(number / plan.fps)
        shown = frame_picture(planes, frame, motion(number) if motion else None)
        if grade is not None:
            grade(shown)
        captions.draw(shown, moment)
        rise = moment / fade_in if fade_in else 1.0
        fall = (last - moment) / fade_out if fade_out else 1.0
        yield fade_frame(shown, min(rise, fall))


def _grader(look: Look, size: tuple[int, int]) -> Callable[[Bytes], None]:
    """Return a function that applies a look to I420 frames of a size, in place.

    Chroma has half size in a video: where colors change luma, the difference to gray is computed at
    half size too, and luma gets the change of gray at full size plus that difference.
    """
    shade, table = vignette(size, look.vignette), curves_of(look)
    mix, half = color_matrix(look.saturation) @ RGB, (size[0] // 2, size[1] // 2)
    tones = cv2.transform(np.array([[(n, 128, 128) for n in range(256)]], np.uint8), RGB)
    gray = cv2.transform(cv2.LUT(tones, table), YUV)[..., 0]

    def grade(frame: Bytes) -> None:
        luma, *chromas = views(frame, *size)
        small = cv2.resize(luma, half, interpolation=cv2.INTER_AREA)
        near, rough = cv2.LUT(luma, gray, dst=luma), cv2.LUT(small, gray)
        small = cv2.transform(cv2.merge((small, *chromas)), mix)
        cv2.LUT(small, table, dst=small)
        if look.glow:
            light = glow_of(small, look.glow, half)
            screen(small, light)
            light = cv2.cvtColor(light, cv2.COLOR_RGB2GRAY)
            screen(rough, light)
            screen(near, cv2.resize(light, size))
        exact, *colors = cv2.split(cv2.transform(small, YUV))
        off = cv2.subtract(exact, rough, dtype=cv2.CV_16S)
        cv2.add(near, cv2.resize(off, size), dst=near, dtype=cv2.CV_8U)
        cv2.multiply(near, shade, dst=near, scale=1 / 255)
        for chroma, color in zip(chromas, colors, strict=True):
            chroma[:] = color

    return grade


def fade_frame(frame: Bytes, light: float) -> Bytes:
    """Return an I420 frame darkened toward black, in place; 1 is unchanged."""
    if light < 1.0:
        height = frame.shape[0] * 2 // 3
        for rows, zero in ((slice(None, height), 16), (slice(height, None), 128)):
            value = zero + (np.arange(256) - zero) * max(light, 0.0)
            table = np.clip(np.rint(value), 0, 255).astype(np.uint8)
            cv2.LUT(frame[rows], table, dst=frame[rows])
    return frame


def _sound(
    job: Job, footage: Footage, plan: EditPlan, check: Check
) -> tuple[Sound | None, Sound | None]:
    """Return the sound of an edit, and its speech, which times the captions.

    The speech is the voice if there is one, else the video's own sound if it is kept.
    """
    values, folder = job.parameters, job.folder
    own: Sound | None = None
    if values["sound"] == "keep" and footage.has_sound:
        whole = open_sound(job.media["video"][0], seconds=plan.end, folder=folder, check=check)
        part = cut(whole, plan.start, plan.end)
        part = stretch(part, plan.speed, folder=folder, check=check)
        own = cut(part, 0.0, plan.seconds)
    voice = _file(job, "voice", plan.seconds, check)
    spoken = base = own if voice is None else voice
    if own is not None and voice is not None:
        base = mix(set_level(voice, values, check), set_level(own, values, check), check=check)
    both = add_music(base, job, plan.seconds, check)
    if both is None:
        return None, spoken
    rise, fall = fade_seconds(values, plan.seconds)
    rise, fall = max(rise, _CUT_FADE if plan.start else 0.0), max(fall, 0.01)
    return fit_length(both, plan.seconds, fade_in=rise, fade_out=fall), spoken


def add_music(base: Sound | None, job: Job, seconds: float, check: Check) -> Sound | None:
    """Return a sound with the job's music below it, with the requested length and loudness."""
    values = job.parameters
    if base is not None:
        base = set_level(base, values, check)
    music = _file(job, "music", seconds, check, loop=True)
    if music is None or values["music_volume"] == 0:
        return base
    alone = base is None or not any(part.any() for _, part in base.parts(check))
    quieter = 0.0 if alone else 20 * np.log10(values["music_volume"])
    music = normalize(music, _LUFS + float(quieter), check=check)
    if base is None:
        return music
    both = mix(base, music, duck=values["duck"] and not alone, check=check)
    return set_level(both, values, check)


def _file(job: Job, name: str, seconds: float, check: Check, *, loop: bool = False) -> Sound | None:
    paths = job.media.get(name)
    if not paths:
        return None
    track = open_sound(paths[0], seconds=seconds, folder=job.folder, check=check)
    tail = min(_TAIL_SECONDS, seconds / 4) if loop and seconds > _MIN_SECONDS else 0.0
    return fit_length(track, seconds, loop=loop, fade_in=tail / 6, fade_out=tail)


def set_level(sound: Sound, values: Mapping[str, Any], check: Check) -> Sound:
    """Return a sound at the loudness of platforms, if the settings ask for that."""
    return normalize(sound, _LUFS, check=check) if values["normalize"] else sound
