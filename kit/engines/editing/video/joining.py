"""Several videos in a row: while one ends the next is already being decoded, and no more than that.

Time is counted in frames of the result, so that pictures and sounds meet at the same places.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Asset, Job, Progress
from kit.engines.editing.video import soundtrack
from kit.engines.editing.video.cutting import faded
from kit.engines.editing.video.extent import join_faults
from kit.engines.editing.video.framing import Frame, followed, frame_of, framed, shifted
from kit.engines.editing.video.plan import (
    common_rate,
    frame_size,
    joining_work,
    refuse_work,
    smooth_rate,
)
from kit.engines.editing.video.survey import Survey
from kit.engines.media.clip import FORMATS, Clip, rgb_frame, rgb_of, views
from kit.engines.media.color import Bytes
from kit.engines.media.footage import Footage
from kit.engines.media.picture import write_thumbnail
from kit.engines.media.sound import Sound, fitted
from kit.engines.media.subject import find
from kit.engines.sizes import QUALITIES
from kit.errors import EngineError

_FEATHER = 0.14  # of the width, over which a wipe is soft

Size: TypeAlias = tuple[int, int]
#: From two I420 frames, their size and how far the transition is, 0 to 1, to a new frame.
Blend: TypeAlias = Callable[[Bytes, Bytes, Size, float], Bytes]


def crossfade(one: Bytes, other: Bytes, size: Size, share: float) -> Bytes:
    """Return both frames mixed."""
    return np.asarray(cv2.addWeighted(one, 1 - share, other, share, 0.0))


def slide(one: Bytes, other: Bytes, size: Size, share: float) -> Bytes:
    """Return the first frame pushed out to the left by the second one."""
    width, _ = size
    # Whole pixels of chroma, and a move that starts and stops softly.
    gone = round(width * _eased(share) / 2) * 2
    out = np.empty_like(one)
    targets = views(out, *size)
    sources = zip(views(one, *size), views(other, *size), strict=True)
    for number, (target, (left, right)) in enumerate(zip(targets, sources, strict=True)):
        shift = gone // 2 if number else gone
        rest = target.shape[1] - shift
        target[:, :rest] = left[:, shift:]
        target[:, rest:] = right[:, :shift]
    return out


def wipe(one: Bytes, other: Bytes, size: Size, share: float) -> Bytes:
    """Return the second frame uncovered from left to right, behind a soft edge."""
    width, _ = size
    edge = (1 + _FEATHER) * width * _eased(share)
    place = np.arange(width, dtype=np.float32) + 0.5
    cover = np.clip((edge - place) / (_FEATHER * width), 0.0, 1.0)
    cover = cover * cover * (3 - 2 * cover)
    out = np.empty_like(one)
    targets = views(out, *size)
    sources = zip(views(one, *size), views(other, *size), strict=True)
    for number, (target, (left, right)) in enumerate(zip(targets, sources, strict=True)):
        line = cover.reshape(-1, 2).mean(axis=1) if number else cover
        right_share = np.ascontiguousarray(np.broadcast_to(line, target.shape))
        cv2.blendLinear(right, left, right_share, 1 - right_share, dst=target)
    return out


#: Transitions in which both clips are seen at once; the others have none of it.
BLENDS: Mapping[str, Blend] = {"crossfade": crossfade, "slide": slide, "wipe": wipe}


def _eased(share: float) -> float:
    return 0.5 - 0.5 * math.cos(math.pi * share)


_POSTER = 0.35  # of the way; the clip whose middle is nearest gives the poster
_DARK = 40.0  # mean luma, 16 to 235, below which a frame tells too little
_LOOKS = 5  # frames of a clip that are looked at to place its crop
_LAST_FADE = 0.01


@dataclass(frozen=True, slots=True)
class Piece:
    """One clip as it comes into the result.

    Parameters
    ----------
    frames : int
        Of the result that it is seen in.
    corner : matrix or None
        Where its crop stands.
    """

    path: Path
    footage: Footage
    frames: int
    frame: Frame
    corner: NDArray[np.float64] | None

    def pictures(self, fps: Fraction) -> Iterator[Bytes]:
        """Yield its frames, I420, in the result's size."""
        shown = self.footage.frames(float(fps), end=self.frames / float(fps), size=self.frame.read)
        last: Bytes | None = None
        for _ in range(self.frames):
            pixels = next(shown, None)
            if pixels is not None:
                last = framed(rgb_frame(pixels), self.frame, self.corner)
            assert last is not None  # noqa: S101 - a footage yields at least one frame
            yield last.copy()


@dataclass(frozen=True, slots=True)
class Order:
    """What is shown after what.

    Parameters
    ----------
    joints : sequence of int
        Frames of each transition, one fewer than pieces.
    overlaps : bool
        Whether both clips are seen during a transition.
    """

    pieces: Sequence[Piece]
    joints: Sequence[int]
    transition: str
    size: tuple[int, int]
    fps: Fraction

    @property
    def overlaps(self) -> bool:
        """Whether both clips are seen at once during a transition."""
        return self.transition in BLENDS

    @property
    def frames(self) -> int:
        """Frames of the result."""
        shared = sum(self.joints) if self.overlaps else 0
        return sum(piece.frames for piece in self.pieces) - shared


def joined(job: Job, progress: Progress) -> Asset:
    """Render a job of the joining model."""
    progress.report(0.0)
    soundtrack.check_media(job)
    with ExitStack() as stack:
        films = [
            stack.enter_context(Footage(path, check=progress.check)) for path in job.media["clips"]
        ]
        order = _order(job, films, progress)
        refuse_work(joining_work(order.frames, order.size, films))
        progress.report(0.05)
        sound = _sound(job, order, partial(progress.report, 0.05))
        progress.report(0.08)
        return _written(job, order, sound, progress.part(0.08, 1.0))


def _order(job: Job, films: Sequence[Footage], progress: Progress) -> Order:
    values = job.parameters
    _check(films)
    size = frame_size(values, [(film.width, film.height) for film in films])
    asked = values.get("fps")
    fps = Fraction(asked) if asked else common_rate([smooth_rate(film) for film in films])
    pieces, beat = [], partial(progress.report, 0.0)
    for path, film in zip(job.media["clips"], films, strict=True):
        frame = frame_of((film.width, film.height), size, values["fit"])
        frames = max(1, round(film.seconds * fps))
        pieces.append(Piece(path, film, frames, frame, _corner(film, frame, beat)))
    return Order(pieces, _joints(pieces, values, fps), values["transition"], size, fps)


def _check(films: Sequence[Footage]) -> None:
    if len(films) < 2:
        raise EngineError("there is only one clip; it takes two or more to join", code="too_few")
    for fault in join_faults([film.seconds for film in films]):
        raise EngineError(fault.sentence, code=fault.code)


def _joints(pieces: Sequence[Piece], values: Mapping[str, Any], fps: Fraction) -> list[int]:
    if values["transition"] == "cut":
        return [0] * (len(pieces) - 1)
    wanted = max(1, round(values["transition_seconds"] * fps))
    # A clip between two transitions gives at most half of itself to each.
    return [min(wanted, one.frames // 2, other.frames // 2) for one, other in pairwise(pieces)]


def _corner(film: Footage, frame: Frame, check: Callable[[], None]) -> NDArray[np.float64] | None:
    """Return where a clip's crop stands: one place that is good for all of it."""
    if frame.room == (0, 0):
        return None
    scale = 320 / max(film.width, film.height)
    size = (max(16, round(film.width * scale)), max(16, round(film.height * scale)))
    looks = []
    for number in range(_LOOKS):
        moment = film.seconds * (number + 0.5) / _LOOKS
        shown = film.frames(film.fps, start=moment, end=moment, size=size, check=check)
        looks.append(find(next(shown)).attention)
    across = frame.room[0] > 0
    axis = 0 if across else 1
    seen = Survey(np.zeros((1, 4)), np.array([True]), [(0, np.mean(looks, axis=0))])
    share = frame.window[axis] / frame.whole[axis]
    at = float(followed(seen, share, across=across, fps=1.0)[0]) * frame.room[axis]
    place = 2 * round(at / 2)
    return shifted(place, 0) if across else shifted(0, place)


def _sound(job: Job, order: Order, check: Callable[[], None]) -> Sound | None:
    values, fps = job.parameters, float(order.fps)
    seconds = order.frames / fps
    base: Sound | None = None
    if values["sound"] == "keep" and any(piece.footage.has_sound for piece in order.pieces):
        clips = [(p.path, p.footage, p.frames / fps) for p in order.pieces]
        way = 1 if order.overlaps else -0.5
        joints = [way * joint / fps for joint in order.joints]
        base = soundtrack.in_order(clips, joints, job, check)
    whole = soundtrack.with_music(base, job, seconds, check)
    return None if whole is None else fitted(whole, seconds, fade_out=_LAST_FADE)


def _written(job: Job, order: Order, sound: Sound | None, progress: Progress) -> Asset:
    values, (width, height) = job.parameters, order.size
    content_type, ending, codec = FORMATS[values["format"]]
    path, total = job.folder / f"joined{ending}", order.frames
    poster = _Poster(order)
    quality, beat = QUALITIES[values["quality"]], partial(progress.report, 0.0)
    with Clip(
        path, width, height, fps=order.fps, quality=quality, codec=codec, sound=sound, check=beat
    ) as clip:
        for number, frame in enumerate(frames(order)):
            poster.see(number, frame)
            clip.add(frame)
            progress.report((number + 1) / total)
    return Asset(
        path=path,
        content_type=content_type,
        width=width,
        height=height,
        duration_seconds=round(total / float(order.fps), 3),
        thumbnail=write_thumbnail(poster.pixels, job.folder),
        metadata={"clips": len(order.pieces), "frames": total, "fps": round(float(order.fps), 3)},
    )


class _Poster:
    """The frame to show for the whole: from the middle of a clip, and not nearly black."""

    def __init__(self, order: Order) -> None:
        middles = _middles(order)
        wanted = _POSTER * order.frames
        self._ranks = {at: -abs(at - wanted) for at in middles}
        self._best = (False, 0.0, -np.inf)
        self.pixels: Bytes = np.zeros((2, 2, 3), np.uint8)

    def see(self, number: int, frame: Bytes) -> None:
        """Look at a frame of the result, I420."""
        if number not in self._ranks:
            return
        luma = float(frame[: len(frame) * 2 // 3].mean())
        bright = luma > _DARK
        found = (bright, 0.0 if bright else luma, self._ranks[number])
        if found > self._best:
            self._best, self.pixels = found, rgb_of(frame)


def _middles(order: Order) -> list[int]:
    """Return the frames of the result in which each clip is half seen, between transitions."""
    middles, start = [], 0
    for number, piece in enumerate(order.pieces):
        before, after = ([0, *order.joints, 0])[number : number + 2]
        if not order.overlaps:
            before = after = 0
        alone = piece.frames - before - after
        middles.append(min(start + before + max(0, alone) // 2, order.frames - 1))
        start += piece.frames - after
    return middles


def frames(order: Order) -> Iterator[Bytes]:
    """Yield the frames of the result, I420."""
    running: Iterator[Bytes] | None = None
    for number, piece in enumerate(order.pieces):
        before, after = ([0, *order.joints, 0])[number : number + 2]
        pictures = piece.pictures(order.fps)
        if order.overlaps and running is not None:
            yield from _blended(order, running, pictures, before)
        shared = (before + after) if order.overlaps else 0
        for place in range(piece.frames - shared):
            yield faded(next(pictures), _light(order, piece.frames, place, before, after))
        running = pictures


def _blended(
    order: Order, one: Iterator[Bytes], other: Iterator[Bytes], count: int
) -> Iterator[Bytes]:
    blend = BLENDS[order.transition]
    for step in range(count):
        share = (step + 1) / (count + 1)
        yield blend(next(one), next(other), order.size, share)


def _light(order: Order, total: int, place: int, before: int, after: int) -> float:
    """Return how bright a frame is between two fades through black, half a transition each."""
    if order.transition != "fade_black":
        return 1.0
    rise = (place + 0.5) / max(0.5, before / 2)
    fall = (total - place - 0.5) / max(0.5, after / 2)
    return min(1.0, rise if before else 1.0, fall if after else 1.0)
