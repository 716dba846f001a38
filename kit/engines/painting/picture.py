"""Rendering of a scene: parse the prompt, paint, enlarge if requested, write."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.media.picture import write_still
from kit.engines.painting.families import paint
from kit.engines.prompt.reading import read

_FAST_SCALE = 0.5  # scale at which a fast scene is painted
_FULL_SIZE = ("sea", "liquid", "flow")  # half size saves little in these, and is visible
_MIN_SIDE = 256  # minimum pixels of the longer side


def paint_scene(job: Job, progress: Progress, *, fast: bool = False) -> Asset:
    """Render a job of the scene model, or of the fast one."""
    progress.report(0.0)
    brief = painted = read(job.prompt, job.parameters, job.seed)
    if fast and brief.family not in _FULL_SIZE:
        share = min(1.0, max(_FAST_SCALE, _MIN_SIDE / max(brief.width, brief.height)))
        width, height = (round(side * share) for side in (brief.width, brief.height))
        painted = replace(brief, detail="low", width=width, height=height)
    pixels = paint(painted, progress.part(0.0, 0.86)).pixels()
    if painted.width < brief.width:  # enlarged and therefore sharpened
        size = brief.width, brief.height
        large = cv2.resize(pixels, size, interpolation=cv2.INTER_CUBIC)
        soft = cv2.GaussianBlur(large, (0, 0), 1.4)
        pixels = np.asarray(cv2.addWeighted(large, 1.55, soft, -0.55, 0.0))
    facts = {**brief.facts(), "seed": job.seed}
    return write_still(pixels, job, "scene", progress.part(0.92, 1.0), facts=facts)
