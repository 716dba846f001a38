"""Transitions: two frames become one, on their way from the first to the second."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

import cv2
import numpy as np

from kit.engines.media.clip import views
from kit.engines.media.color import Bytes

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
