"""One video edited: everything that was asked happens to a frame before the next one is decoded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import cv2
import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.editing.picture.looks import LOOKS
from kit.engines.editing.picture.restyling import color_matrix, tone, vignette
from kit.engines.editing.video.captions import Captions, timed
from kit.engines.editing.video.checks import caption_words
from kit.engines.editing.video.framing import Frame, Motion, frame_of, framed, motion_of
from kit.engines.editing.video.output import edit_sound
from kit.engines.editing.video.plan import EditPlan, check_work, fades, plan_of
from kit.engines.film.filming import write_film
from kit.engines.media.clip import rgb_frame, rgb_of, views
from kit.engines.media.color import Bytes
from kit.engines.media.footage import Footage
from kit.engines.sizes import QUALITIES

_POSTER = 0.35  # the preview shows this moment of the result


def edit(job: Job, progress: Progress) -> Asset:
    """Render a job of the video editor."""
    values = job.parameters
    progress.report(0.0)
    with Footage(job.media["video"][0], check=progress.check) as footage:
        plan = plan_of(values, footage)
        frame = frame_of((footage.width, footage.height), plan.size, values["fit"])
        steady = values["stabilize"]
        looks = 2 if steady or frame.room != (0, 0) else 1
        read = [(footage, looks * (plan.end - plan.start))]
        check_work(read, plan.frames, plan.size, steady=steady)
        sound, spoken = edit_sound(job, footage, plan, partial(progress.report, 0.01))
        words = caption_words(values.get("captions") or "", values["caption_style"])
        said = timed(words.text, plan.seconds, spoken, check=partial(progress.report, 0.03))
        captions = Captions(said, values["caption_style"], values["caption_position"], plan.size)
        done = 0.05 + 0.37 * (looks - 1)
        motion = motion_of(
            footage,
            frame,
            progress.part(0.05, done),
            span=(plan.start, plan.end),
            reading=plan.reading,
            fps=float(plan.fps),
            frames=plan.frames,
            steady=steady,
        )
        asked = values.get("poster_time")
        moment = plan.seconds * _POSTER if asked is None else float(asked)
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
    shade = vignette(plan.size, look.vignette) if look else None
    mix = color_matrix(look.saturation) if look else None
    fade_in, fade_out = fades(job.parameters, plan.seconds)
    last = (plan.frames - 1) / float(plan.fps)
    read = footage.frames(
        plan.reading, start=plan.start, end=plan.end, size=frame.read, i420=True, check=check
    )
    for number, planes in zip(range(plan.frames), read, strict=False):
        moment = float(number / plan.fps)
        shown = framed(planes, frame, motion(number) if motion else None)
        if look is not None and shade is not None:
            shown = rgb_frame(tone(rgb_of(shown, mix), look))
            luma = views(shown, *plan.size)[0]
            cv2.multiply(luma, shade, dst=luma, scale=1 / 255)
        captions.draw(shown, moment)
        rise = moment / fade_in if fade_in else 1.0
        fall = (last - moment) / fade_out if fade_out else 1.0
        yield faded(shown, min(rise, fall))


def faded(frame: Bytes, light: float) -> Bytes:
    """Return an I420 frame darkened toward black, in place; 1 leaves it as it is."""
    if light < 1.0:
        height = frame.shape[0] * 2 // 3
        for rows, zero in ((slice(None, height), 16), (slice(height, None), 128)):
            value = zero + (np.arange(256) - zero) * max(light, 0.0)
            table = np.clip(np.rint(value), 0, 255).astype(np.uint8)
            cv2.LUT(frame[rows], table, dst=frame[rows])
    return frame
