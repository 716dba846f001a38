"""Joining videos: at the end of one, only the next one is already decoded.

Time is counted in frames of the result, so that pictures and sounds stay in sync.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import islice, pairwise
from typing import Any, TypeAlias

import cv2
import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.editing.video.edit import add_music, fade_frame, set_level
from kit.engines.editing.video.framing import Frame, frame_of, frame_picture, motion_of
from kit.engines.editing.video.plan import check_work, common_rate, frame_size, smooth_rate
from kit.engines.film.filming import write_film
from kit.engines.media.clip import views
from kit.engines.media.color import Bytes
from kit.engines.media.footage import Footage
from kit.engines.media.sound import RATE, Sound, fit_length, overlay
from kit.engines.media.soundfile import open_sound
from kit.engines.sizes import QUALITIES

_WIPE_EDGE = 0.14  # of the width, the soft edge of a wipe
_POSTER_SHARE = 0.35  # of the length; the clip whose middle is nearest provides the poster
_LAST_FADE = 0.01

#: From a plane of both frames, its chroma step, and the transition's progress, to the new plane.
Blend: TypeAlias = Callable[[Bytes, Bytes, int, float], Bytes]


def _slide(one: Bytes, other: Bytes, step: int, share: float) -> Bytes:
    """Return a plane pushed out to the left by the second one, by whole pixels of chroma."""
    shift = round(one.shape[1] * step * _ease(share) / 2) * 2 // step
    return np.hstack([one[:, shift:], other[:, :shift]])


def _wipe(one: Bytes, other: Bytes, step: int, share: float) -> Bytes:
    """Return the second plane uncovered from left to right, with a soft edge."""
    place = (np.arange(one.shape[1], dtype=np.float32) + 0.5) / one.shape[1]
    cover = np.clip(((1 + _WIPE_EDGE) * _ease(share) - place) / _WIPE_EDGE, 0.0, 1.0)
    cover = np.broadcast_to(cover * cover * (3 - 2 * cover), one.shape)
    cover = np.ascontiguousarray(cover, np.float32)
    return np.asarray(cv2.blendLinear(other, one, cover, 1 - cover))


#: Transitions that show both clips at once; the others do not.
_BLENDS: Mapping[str, Blend] = {
    "crossfade": lambda one, other, _, share: cv2.addWeighted(one, 1 - share, other, share, 0.0),
    "slide": _slide,
    "wipe": _wipe,
}


def _ease(share: float) -> float:
    return 0.5 - 0.5 * math.cos(math.pi * share)


@dataclass(frozen=True, slots=True)
class ClipPiece:
    """One clip as a part of the result."""

    footage: Footage
    #: Frames of the result that show it.
    frames: int
    frame: Frame
    #: Frames of the transitions at its two ends.
    before: int
    after: int

    def pictures(self, fps: Fraction, progress: Progress) -> Iterator[Bytes]:
        """Yield its frames, I420, in the result's size."""
        end, rate = float(self.frames / fps), float(fps)
        motion = motion_of(
            self.footage,
            self.frame,
            progress,
            span=(0.0, end),
            reading=rate,
            fps=rate,
            frames=self.frames,
        )
        read = self.footage.frames(rate, end=end, size=self.frame.read, i420=True)
        pixels = next(read)
        for number in range(self.frames):
            yield frame_picture(pixels, self.frame, motion(number) if motion else None)
            pixels = next(read, pixels)


def join(job: Job, progress: Progress) -> Asset:
    """Render a job of the joining model."""
    progress.report(0.0)
    with ExitStack() as stack:
        films = [
            stack.enter_context(Footage(path, check=progress.check)) for path in job.media["clips"]
        ]
        return _join(job, films, progress)


def _join(job: Job, films: Sequence[Footage], progress: Progress) -> Asset:
    values = job.parameters
    size = frame_size(values, [(film.width, film.height) for film in films])
    fps = Fraction(values.get("fps") or common_rate([smooth_rate(film) for film in films]))
    counts = [max(1, round(film.seconds * fps)) for film in films]
    joints = [0, *_overlap_frames(counts, values, fps), 0]
    shapes = [frame_of(film, size, values["fit"]) for film in films]
    pieces = [
        ClipPiece(*each) for each in zip(films, counts, shapes, joints, joints[1:], strict=False)
    ]
    blend = _BLENDS.get(values["transition"])
    total = sum(counts) - (sum(joints) if blend else 0)
    read = [(p.footage, p.footage.seconds * (2 if p.frame.room != (0, 0) else 1)) for p in pieces]
    check_work(read, total, size, steady=False)
    progress.report(0.05)
    sound = _sound(job, pieces, fps, total, partial(progress.report, 0.05))
    progress.report(0.08)
    # The poster is from the middle of the clip that is shown a third of the way.
    middles, start = [], 0
    for piece in pieces:
        before, after = (piece.before, piece.after) if blend else (0, 0)
        middles.append(start + before + max(0, piece.frames - before - after) // 2)
        start += piece.frames - after
    writing = progress.part(0.08, 1.0)
    return write_film(
        job,
        writing,
        _frames(pieces, fps, values["transition"], writing),
        name="joined",
        size=size,
        fps=fps,
        count=total,
        sound=sound,
        poster=min(min(middles, key=lambda at: abs(at - _POSTER_SHARE * total)), total - 1),
        facts={"clips": len(pieces), "frames": total, "fps": round(float(fps), 3)},
        quality=QUALITIES[values["quality"]],
    )


def _overlap_frames(counts: Sequence[int], values: Mapping[str, Any], fps: Fraction) -> list[int]:
    """Return the frames of each transition; a clip gives at most half of itself to each."""
    wanted = max(1, round(values["transition_seconds"] * fps))
    wanted = 0 if values["transition"] == "cut" else wanted
    return [min(wanted, one // 2, other // 2) for one, other in pairwise(counts)]


def _sound(
    job: Job, pieces: Sequence[ClipPiece], fps: Fraction, total: int, check: Callable[[], None]
) -> Sound | None:
    """Return the sounds of the pieces in sequence, with music below them.

    In a transition that shows both clips, both are audible; in others the first fades out and the
    second in.
    """
    seconds, values, base = float(total / fps), job.parameters, None
    if values["sound"] == "keep" and any(piece.footage.has_sound for piece in pieces):
        sounds: list[tuple[int, Sound]] = []
        way, end = 1 if values["transition"] in _BLENDS else 0, 0
        for path, piece in zip(job.media["clips"], pieces, strict=True):
            start = end - way * piece.before
            end, length = start + piece.frames, float(piece.frames / fps)
            if piece.footage.has_sound:
                own = open_sound(path, seconds=length, folder=job.folder, check=check)
                # Equal power in both fades, so that a crossfade has no dip.
                ends = (piece.before, piece.after)
                rise, fall = (max(float(n / fps) * (0.5 + way / 2), 0.01) for n in ends)
                own = fit_length(set_level(own, values, check), length, fade_in=rise, fade_out=fall)
                sounds.append((round(start / fps * RATE), own))
        base = overlay(sounds, float(end / fps))
    whole = add_music(base, job, seconds, check)
    return None if whole is None else fit_length(whole, seconds, fade_out=_LAST_FADE)


def _frames(
    pieces: Sequence[ClipPiece], fps: Fraction, transition: str, progress: Progress
) -> Iterator[Bytes]:
    """Yield the frames of the result, I420."""
    blend = _BLENDS.get(transition)
    running: Iterator[Bytes] = iter(())
    for piece in pieces:
        pictures = piece.pictures(fps, progress.part(0.0, 0.0))
        before, after = piece.before, piece.after
        if blend is not None:
            for step in range(before):
                share = (step + 1) / (before + 1)
                yield _combine(blend, next(running), next(pictures), piece.frame.size, share)
            yield from islice(pictures, piece.frames - before - after)
        for place, shown in enumerate(() if blend else pictures):
            # A clip fades in from black over half a transition, and out over half of one.
            rise = (place + 0.5) / (before / 2) if before else 1.0
            fall = (piece.frames - place - 0.5) / (after / 2) if after else 1.0
            yield fade_frame(shown, min(rise, fall))
        running = pictures


def _combine(blend: Blend, one: Bytes, other: Bytes, size: tuple[int, int], share: float) -> Bytes:
    out = np.empty_like(one)
    planes = zip(views(one, *size), views(other, *size), views(out, *size), (1, 2, 2), strict=True)
    for left, right, target, step in planes:
        target[:] = blend(left, right, step, share)
    return out
