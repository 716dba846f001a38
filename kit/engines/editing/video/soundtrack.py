"""What a result sounds like: the inputs' own sound, a voice and music, brought together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kit.engines.base import Job
from kit.engines.editing.video.plan import Plan, fades
from kit.engines.media.footage import Footage
from kit.engines.media.sound import (
    RATE,
    Sound,
    cut,
    fitted,
    laid,
    leveled,
    mixed,
    opened,
    stretched,
)
from kit.errors import EngineError

_LOUD = -14.0
_TAIL = 1.5  # seconds in which music fades out at the end
_LEAST = 0.05  # a shorter result has no sound worth fading
_CUT = 0.005  # seconds in which a sound that was cut into comes up, so that it does not click

Check = Callable[[], None]


def check_media(job: Job) -> None:
    """Refuse sound files that the settings leave no use for, and settings that need one."""
    given = [name for name in ("voice", "music") if job.media.get(name)]
    way = job.parameters["sound"]
    if way == "mute" and given:
        raise EngineError(
            f"there is {' and '.join(given)}, but the sound is mute: choose replace to hear only"
            " that, or keep to hear both",
            code="bad_sound",
        )
    if way == "replace" and not given:
        raise EngineError(
            "the sound is to be replaced, but there is nothing to replace it by: add a file, or"
            " choose mute",
            code="bad_sound",
        )


def of_edit(
    job: Job, footage: Footage, plan: Plan, check: Check
) -> tuple[Sound | None, Sound | None]:
    """Return the sound of an edit, and the speech in it that captions go by.

    The speech is the voice where there is one, else the video's own sound where it is kept.
    """
    values = job.parameters
    way = values["sound"]
    own = _own(job, plan, check) if way == "keep" and footage.has_sound else None
    voice = _file(job, "voice", plan.seconds, check)
    spoken = voice if voice is not None else own
    base = own if voice is None else voice
    if own is not None and voice is not None:
        base = mixed(_even(voice, values, check), _even(own, values, check), check=check)
    whole = with_music(base, job, plan.seconds, check)
    if whole is None:
        return None, spoken
    rise, fall = fades(values, plan.seconds)
    rise, fall = max(rise, _CUT if plan.start else 0.0), max(fall, 0.01)
    return fitted(whole, plan.seconds, fade_in=rise, fade_out=fall), spoken


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
    music = leveled(music, _LOUD + float(quieter), check=check)
    if base is None:
        return music
    both = mixed(base, music, duck=values["duck"] and not alone, check=check)
    return _even(both, values, check)


def in_order(
    clips: Sequence[tuple[Path, Footage, float]], joints: Sequence[float], job: Job, check: Check
) -> Sound:
    """Return the sounds of several videos one after another.

    Parameters
    ----------
    clips : sequence of (path, footage, seconds)
        A video without sound is silent for its seconds.
    joints : sequence of float
        Seconds for which a sound overlaps the one before it; negative: fades out and in instead.
    """
    total = sum(seconds for _, _, seconds in clips) - sum(max(joint, 0) for joint in joints)
    sounds: list[tuple[int, Sound]] = []
    at = 0.0
    for number, (path, footage, seconds) in enumerate(clips):
        before, after = (abs(j) for j in ([0.0, *joints, 0.0][number : number + 2]))
        if footage.has_sound:
            own = opened(path, seconds=seconds, folder=job.folder, check=check)
            own = _even(own, job.parameters, check)
            # Equal power through both fades, so that a crossfade has no dip.
            own = fitted(own, seconds, fade_in=max(before, 0.01), fade_out=max(after, 0.01))
            sounds.append((round(at * RATE), own))
        at += seconds - max([*joints, 0.0][number], 0.0)
    return laid(sounds, total)


def _own(job: Job, plan: Plan, check: Check) -> Sound:
    path, folder = job.media["video"][0], job.folder
    whole = opened(path, seconds=plan.end, folder=folder, check=check)
    part = cut(whole, plan.start, plan.end)
    return cut(stretched(part, plan.speed, folder=folder, check=check), 0.0, plan.seconds)


def _file(job: Job, name: str, seconds: float, check: Check, *, loop: bool = False) -> Sound | None:
    paths = job.media.get(name)
    if not paths:
        return None
    heard = opened(paths[0], seconds=seconds, folder=job.folder, check=check)
    tail = min(_TAIL, seconds / 4) if loop and seconds > _LEAST else 0.0
    return fitted(heard, seconds, loop=loop, fade_in=tail / 6, fade_out=tail)


def _even(sound: Sound, values: Mapping[str, Any], check: Check) -> Sound:
    return leveled(sound, _LOUD, check=check) if values["normalize"] else sound
