"""How a scene is made: read the prompt, paint, enlarge where that was asked for, write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import cv2
import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.media.color import Bytes
from kit.engines.media.picture import write_still
from kit.engines.painting.families import paint
from kit.engines.prompt.brief import Brief
from kit.engines.prompt.reading import read

_REDUCED = 0.5  # a fast scene is painted at this share of its size
_WHOLE = ("sea", "liquid", "flow")  # of these, half a size saves little and shows
_LEAST = 256  # but its longer side has at least so many pixels


def paint_scene(job: Job, progress: Progress) -> Asset:
    """Render a job of the scene model."""
    return _render(job, progress, lambda brief: brief)


def paint_fast(job: Job, progress: Progress) -> Asset:
    """Render a job of the fast scene model."""
    return _render(job, progress, _reduce)


def _render(job: Job, progress: Progress, change: Callable[[Brief], Brief]) -> Asset:
    progress.report(0.0)
    brief = read(job.prompt, job.parameters, job.seed)
    pixels = paint(change(brief), progress.part(0.0, 0.86)).pixels()
    pixels = enlarge(pixels, brief.width, brief.height)
    facts = {**brief.facts(), "seed": job.seed}
    return write_still(pixels, job, "scene", progress.part(0.92, 1.0), facts=facts)


def enlarge(pixels: Bytes, width: int, height: int) -> Bytes:
    """Return a picture enlarged to a size and sharpened for it."""
    if pixels.shape[:2] == (height, width):
        return pixels
    large = cv2.resize(pixels, (width, height), interpolation=cv2.INTER_CUBIC)
    soft = cv2.GaussianBlur(large, (0, 0), 1.4)
    return np.asarray(cv2.addWeighted(large, 1.55, soft, -0.55, 0.0))


def _reduce(brief: Brief) -> Brief:
    if brief.family in _WHOLE:
        return replace(brief, detail="standard")
    share = min(1.0, max(_REDUCED, _LEAST / max(brief.width, brief.height)))
    size = (round(brief.width * share), round(brief.height * share))
    return replace(brief, detail="low", width=size[0], height=size[1])
