"""Shores: where a painted sea is water, which may heave, and where it is land, which may not.

Painters hand out pixels, not masks. But a sea is laid out by its seed whatever its waves are: what
looks different when it is calm is water, and cliffs, beaches and boats are what stays.
"""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import Bytes, Floats
from kit.engines.painting.families import paint
from kit.engines.prompt.brief import Brief

_SIDE = 144  # pixels of the longer side: feet of cliffs are no finer
_SKY = ("birds", "aurora", "fireflies", "crescent", "full_moon")
_OFF = 4  # steps of 8 bits by which water differs at the least

_WARM = 18  # steps between red and blue by which sand and bark differ from water


def water_of(brief: Brief, progress: Progress) -> Floats:
    """Return where a sea is water, 0 to 1, as a small picture of the painting's shape."""
    # By a clear day, when everything is seen.
    ways = ("glassy", progress.part(0.0, 0.5)), ("rough", progress.part(0.5, 1.0))
    calm, rough = (_painted(brief, way, part) for way, part in ways)
    off = cv2.absdiff(calm, rough).max(axis=2)
    found = (off > _OFF).astype(np.uint8)
    # Between two waves they may be alike by chance.
    found = cv2.morphologyEx(found, cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
    found[_warmer(calm, found)] = 0
    return np.asarray(cv2.GaussianBlur(found.astype(np.float32), (0, 0), 0.8))


def _warmer(calm: Bytes, water: Bytes) -> NDArray[np.bool_]:
    """Return what is of a warmer color than water: a storm floods sand, palms stand before it."""
    warmth = calm[..., 0].astype(np.int16) - calm[..., 2]
    # The sun's path on the water is white where the water is blue: no less than white is usual.
    usual = max(0.0, float(np.median(warmth[water > 0]))) if water.any() else 0.0
    warm = (warmth > usual + _WARM).astype(np.uint8)
    return np.asarray(cv2.dilate(warm, np.ones((1, 3), np.uint8)) > 0)


def _painted(brief: Brief, way: str, progress: Progress) -> Bytes:
    scale = _SIDE / max(brief.width, brief.height)
    small = replace(
        brief,
        things=(brief.things - {"glassy", *_SKY}) | {way},
        width=max(16, round(brief.width * scale)),
        height=max(16, round(brief.height * scale)),
        detail="low",
        weather="clear",
        hour="day",
        falling=False,
    )
    progress.report(0.0)
    return paint(small, progress)
