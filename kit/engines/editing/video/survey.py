"""A first, small look at every frame: how the camera shakes, where to look, where shots change.

Only edits that need it pay for it. What is seen is kept as a few numbers a frame.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.editing.video.plan import Plan
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.footage import Footage
from kit.engines.media.subject import find

_SIDE = 320
#: Mean difference of two small gray frames, 0 to 255, above which a new shot may begin.
_CUT = 22.0
#: How many times larger than the differences around it that of a cut is.
_SUDDEN = 3.0
_LOOK_EVERY = 0.5  # seconds between two looks for what draws the eye
_STIR_OVER = 0.12  # seconds over which something moves, or not
_STIR = 2.0  # what moves counts as so many pictures of things that stand out
_NOT_ALIKE = 4.0  # steps of gray; a place that differs by more says no more than that it differs
_NOISE, _STIRRED = 2.0, 0.4  # steps of gray: of a camera's noise, and the least that is a move

#: Shift across and down in shares of the frame's width, turn in radians, logarithm of the scale.
Moves = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Survey:
    """What was seen.

    Parameters
    ----------
    moves : ndarray
        Shape (frames, 4): how the picture moved since the frame before; zeros at cuts.
    cuts : ndarray of bool
        Shape (frames,): whether a shot begins; the first frame always.
    looks : list of (frame, attention)
        Maps of what draws the eye, as `kit.engines.media.subject.Subject` has them.
    """

    moves: Moves
    cuts: NDArray[np.bool_]
    looks: list[tuple[int, Floats]]


def survey(
    footage: Footage, plan: Plan, progress: Progress, *, shake: bool, subject: bool
) -> Survey:
    """Look at all frames of a plan.

    Parameters
    ----------
    shake : bool
        Whether to measure how the camera moves.
    subject : bool
        Whether to look for what draws the eye.
    """
    scale = _SIDE / max(footage.width, footage.height)
    size = (max(16, round(footage.width * scale)), max(16, round(footage.height * scale)))
    beat = partial(progress.report, 0.0)
    frames = footage.frames(plan.reading, start=plan.start, end=plan.end, size=size, check=beat)
    every = max(1, round(_LOOK_EVERY * plan.fps))
    moves = np.zeros((plan.frames, 4))
    changes = np.zeros(plan.frames)
    looks: list[tuple[int, Floats]] = []
    before: Bytes | None = None
    over = max(1, round(_STIR_OVER * plan.fps))
    recent: deque[Bytes] = deque(maxlen=over)
    begun = 0
    for number, pixels in zip(range(plan.frames), frames, strict=False):
        gray = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
        if before is not None:
            changes[number] = _change(before, gray)
            if shake:
                moves[number] = _move(before, gray)
        new_shot = changes[number] > _CUT
        if new_shot:
            recent.clear()
            begun = number
        if subject and number - begun == over and looks[-1][0] == begun:
            # Now it is known what moves as the shot begins.
            looks[-1] = (begun, _attention(pixels, gray, recent))
        if subject and (number % every == 0 or new_shot or number == plan.frames - 1):
            looks.append((number, _attention(pixels, gray, recent)))
        recent.append(gray)
        before = gray
        progress.report((number + 1) / plan.frames)
    cuts = _cuts(changes)
    moves[cuts] = 0.0
    return Survey(moves, cuts, looks)


def shots(cuts: NDArray[np.bool_]) -> list[slice]:
    """Return the stretches of frames between cuts."""
    starts = [*np.flatnonzero(cuts).tolist(), len(cuts)]
    return [slice(a, b) for a, b in pairwise(starts)]


def _attention(pixels: Bytes, gray: Bytes, recent: deque[Bytes]) -> Floats:
    """Return what draws the eye: what stands out in a picture, and what moves in it."""
    still = find(pixels).attention
    still = still / max(float(still.mean()), 1e-6)
    if not recent:
        return np.asarray(still, np.float32)
    stir = _stir(recent[0], gray)
    stir = cv2.resize(stir, still.shape[::-1], interpolation=cv2.INTER_AREA)
    return np.asarray(still + _STIR * stir / max(float(stir.mean()), _STIRRED), np.float32)


def _stir(before: Bytes, after: Bytes) -> Floats:
    """Return where a picture changed by more than the camera's own move, in steps of gray."""
    moved = _carried(before, _move(before, after))
    blurred = [cv2.GaussianBlur(gray, (0, 0), 1.5) for gray in (moved, after)]
    changed = cv2.absdiff(*blurred).astype(np.float32)
    return np.asarray(np.maximum(cv2.GaussianBlur(changed, (0, 0), 5) - _NOISE, 0.0))


def _carried(gray: Bytes, move: Moves) -> Bytes:
    """Return a picture after a move, its edges drawn out."""
    height, width = gray.shape
    across, down, turn, size = move
    matrix = cv2.getRotationMatrix2D(
        (width / 2, height / 2), float(-np.degrees(turn)), float(np.exp(size))
    )
    matrix[:, 2] += (across * width, down * width)
    flags, edge = cv2.INTER_LINEAR, cv2.BORDER_REPLICATE
    return np.asarray(cv2.warpAffine(gray, matrix, (width, height), flags=flags, borderMode=edge))


def _explains(before: Bytes, after: Bytes, move: Moves) -> bool:
    """Return whether a move makes more of one picture out of the other than standing still does.

    Points can only be followed where it is sharp: before a ground out of focus all of them may
    lie on somebody who walks by, and the move found is not the camera's.
    """
    one, other = (cv2.GaussianBlur(gray, (0, 0), 1.5) for gray in (before, after))
    stood, moved = (
        np.minimum(cv2.absdiff(guess, other), _NOT_ALIKE).sum()
        for guess in (one, _carried(one, move))
    )
    return bool(moved < stood)


def _change(one: Bytes, other: Bytes) -> float:
    small = [cv2.resize(gray, (48, 27), interpolation=cv2.INTER_AREA) for gray in (one, other)]
    return float(cv2.absdiff(*small).mean())


def _cuts(changes: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return where a change is large by itself and against those before and after it."""
    padded = np.pad(changes, 2, mode="edge")
    count = len(changes)
    around = np.max([padded[0:count], padded[1 : count + 1], padded[3 : count + 3]], axis=0)
    cuts = (changes > _CUT) & (changes > _SUDDEN * around)
    cuts[0] = True
    return np.asarray(cuts)


def _move(before: Bytes, after: Bytes) -> Moves:
    """Return how a picture moved; zeros where nothing can be followed."""
    points = cv2.goodFeaturesToTrack(before, 140, 0.01, 8)
    if points is None or len(points) < 8:
        return np.zeros(4)
    found, state, _ = cv2.calcOpticalFlowPyrLK(
        before, after, points, None, winSize=(17, 17), maxLevel=3
    )
    good = state.ravel() == 1
    if good.sum() < 8:
        return np.zeros(4)
    matrix, inside = cv2.estimateAffinePartial2D(
        points[good], found[good], method=cv2.RANSAC, ransacReprojThreshold=1.5
    )
    if matrix is None or inside.mean() < 0.3:
        return np.zeros(4)
    height, width = before.shape
    middle = matrix @ np.array([width / 2, height / 2, 1.0]) - (width / 2, height / 2)
    turn = np.arctan2(matrix[1, 0], matrix[0, 0])
    size = np.log(max(1e-3, float(np.hypot(matrix[0, 0], matrix[1, 0]))))
    move = np.array([middle[0] / width, middle[1] / width, turn, size])
    return move if _explains(before, after, move) else np.zeros(4)
