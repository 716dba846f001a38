"""How a poster is made: read the prompt, compose, paint, dither, write."""

from __future__ import annotations

from typing import Any

import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.media.color import Bytes
from kit.engines.media.results import still
from kit.engines.media.threads import one_thread
from kit.engines.painting.poster.compose import Look, compose, painted
from kit.engines.painting.poster.falling import fallen, kind_of
from kit.engines.painting.poster.plane import Stage
from kit.engines.painting.poster.strips import printed
from kit.engines.prompt.brief import Brief
from kit.engines.prompt.reading import read

_GRAIN = 2.2


@one_thread()
def paint_poster(job: Job, progress: Progress) -> Asset:
    """Render a job of the poster model."""
    values = job.parameters
    progress.report(0.0)
    brief = read(job.prompt, values, job.seed, family="poster")
    pixels = picture(brief, values, progress.part(0.0, 0.7))
    facts = {**brief.facts(), "seed": job.seed}
    # Its gradients and edges look the same with color at half the detail of light.
    return still(pixels, job, "poster", progress.part(0.7, 1.0), facts=facts, fine_color=False)


def picture(brief: Brief, values: Any, progress: Progress) -> Bytes:
    """Paint a brief; return RGB pixels, shape (height, width, 3)."""
    look = Look(layers=values["layers"], mist=values["mist"], stars=values["stars"])
    composed = compose(brief, look, Stage(brief.width, brief.height))
    progress.report(0.6)
    kind = kind_of(brief)
    rng = np.random.default_rng([brief.seed, 97])
    weather = fallen(rng, composed.stage, kind) if kind else []
    progress.report(0.7)
    grain = _GRAIN if values["grain"] else 0.0
    return printed(composed.stage, painted(composed, weather), grain=grain)
