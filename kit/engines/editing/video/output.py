"""What is heard of an edit: a sound of what was there, a voice and music."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kit.engines.base import Job
from kit.engines.editing.video.plan import EditPlan, fades
from kit.engines.media.footage import Footage
from kit.engines.media.sound import RATE, Sound, cut, fit_length, mix, normalize, overlay, stretch
from kit.engines.media.soundfile import open_sound

_LOUD = -14.0
_TAIL = 1.5  # seconds in which music fades out at the end
_LEAST = 0.05  # a shorter result has no sound worth fading
_CUT = 0.005  # seconds in which a sound that was cut into comes up, so that it does not click

Check = Callable[[], None]


def edit_sound(
    job: Job, footage: Footage, plan: EditPlan, check: Check
) -> tuple[Sound | None, Sound | None]:
    """Return the sound of an edit, and the speech in it that captions go by.

    The speech is the voice where there is one, else the video's own sound where it is kept.
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
        base = mix(_even(voice, values, check), _even(own, values, check), check=check)
    both = with_music(base, job, plan.seconds, check)
    if both is None:
        return None, spoken
    rise, fall = fades(values, plan.seconds)
    rise, fall = max(rise, _CUT if plan.start else 0.0), max(fall, 0.01)
    return fit_length(both, plan.seconds, fade_in=rise, fade_out=fall), spoken


def with_music(base: Sound | None, job: Job, seconds: float, check: Check) -> Sound | None:
    """Return a sound with the job's music under it, as long and as loud as asked for."""
    values = job.parameters
    if base is not None:
        base = _even(base, values, check)
    music = _file(job, "music", seconds, check, loop=True)
    if music is None or values["music_volume"] == 0:
        return base
    alone = base is None or not any(part.any() for _, part in base.parts(check))
    quieter = 0.0 if alone else 20 * np.log10(values["music_volume"])
    music = normalize(music, _LOUD + float(quieter), check=check)
    if base is None:
        return music
    both = mix(base, music, duck=values["duck"] and not alone, check=check)
    return _even(both, values, check)


def sound_in_order(
    clips: Sequence[tuple[Path, Footage, float]], joints: Sequence[float], job: Job, check: Check
) -> Sound:
    """Return the sounds of several videos one after another; those without are silent.

    A joint is the seconds for which a sound overlaps the one before it; negative: it fades out and
    in instead.
    """
    sounds: list[tuple[int, Sound]] = []
    end = 0.0
    edges = [0.0, *joints, 0.0]
    for (path, footage, seconds), before, after in zip(clips, edges, edges[1:], strict=False):
        start = end - max(before, 0.0)
        end = start + seconds
        if footage.has_sound:
            own = open_sound(path, seconds=seconds, folder=job.folder, check=check)
            own = _even(own, job.parameters, check)
            # Equal power through both fades, so that a crossfade has no dip.
            rise, fall = (max(abs(joint), 0.01) for joint in (before, after))
            own = fit_length(own, seconds, fade_in=rise, fade_out=fall)
            sounds.append((round(start * RATE), own))
    return overlay(sounds, end)


def _file(job: Job, name: str, seconds: float, check: Check, *, loop: bool = False) -> Sound | None:
    paths = job.media.get(name)
    if not paths:
        return None
    heard = open_sound(paths[0], seconds=seconds, folder=job.folder, check=check)
    tail = min(_TAIL, seconds / 4) if loop and seconds > _LEAST else 0.0
    return fit_length(heard, seconds, loop=loop, fade_in=tail / 6, fade_out=tail)


def _even(sound: Sound, values: Mapping[str, Any], check: Check) -> Sound:
    return normalize(sound, _LOUD, check=check) if values["normalize"] else sound
