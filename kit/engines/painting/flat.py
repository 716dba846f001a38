"""Flat landscapes as a family of scenes: the poster model's painter, given a brief."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from kit.engines.base import Progress
from kit.engines.painting.painting import Painting
from kit.engines.painting.poster.compose import Look, compose, painted
from kit.engines.painting.poster.falling import fallen, kind_of
from kit.engines.painting.poster.plane import Stage
from kit.engines.painting.poster.strips import Strip, printed
from kit.engines.painting.tone import Film, decoded
from kit.engines.prompt.brief import Brief

_LAYERS = {"low": 5, "standard": 7, "high": 9}


def paint(brief: Brief, progress: Progress) -> Painting:
    """Return a flat layered landscape.

    Parameters
    ----------
    brief : Brief
        Its detail is the number of ridges.
    """
    look = Look(layers=_LAYERS[brief.detail], mist=0.4, stars=True)
    progress.report(0.05)
    composed = compose(brief, look, Stage(brief.width, brief.height))
    progress.report(0.2)
    kind = kind_of(brief)
    drops = np.random.default_rng([brief.seed, 97])
    weather = fallen(drops, composed.stage, kind) if kind else []
    progress.report(0.3)
    strips = _told(painted(composed, weather), composed.stage.rows, progress.part(0.3, 1.0))
    pixels = printed(composed.stage, strips)
    # Its colors are those of a print, grain and all.
    film = Film(filmic=False, vignette=0.0, grain=0.0)
    return Painting(light=decoded(pixels), film=film)


def _told(strips: Iterable[Strip], rows: int, progress: Progress) -> Iterator[Strip]:
    """Yield strips, and report how far down the picture each of them begins."""
    for start, strip in strips:
        progress.report(start / rows)
        yield start, strip
