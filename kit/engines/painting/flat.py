"""Flat landscapes as a family of scenes: the poster model's painter, given a brief."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Bytes
from kit.engines.painting.poster.compose import Look, compose, painted
from kit.engines.painting.poster.falling import fallen, kind_of
from kit.engines.painting.poster.plane import Stage
from kit.engines.painting.poster.strips import Strip, printed
from kit.engines.prompt import lexicon
from kit.engines.prompt.brief import Brief
from kit.engines.prompt.landscape import Scene, first_in

_LAYERS = {"low": 5, "standard": 7, "high": 9}
_PLACES = ("mountains", "hills", "desert", "sea", "forest", "lake")


def paint(brief: Brief, progress: Progress) -> Bytes:
    """Return a flat layered landscape.

    Parameters
    ----------
    brief : Brief
        Its words choose the place; its detail the number of ridges.

    Returns
    -------
    ndarray of uint8, shape (brief.height, brief.width, 3), sRGB
    """
    rng = np.random.default_rng([brief.seed, 1])
    place = first_in(brief.words, lexicon.AXES["subject"]) or str(rng.choice(_PLACES))
    scene = Scene(
        time=brief.time_of_day,
        subject=place,
        weather=brief.weather,
        season=brief.season,
        mood=brief.mood,
        tints=brief.colors[:2],
        extras=brief.extras,
        palette=brief.palette,
        number=brief.seed,
        warmth=brief.warmth,
        composition=brief.composition,
        lights=brief.lights,
        tones=brief.tones,
        discs=brief.discs,
    )
    look = Look(layers=_LAYERS[brief.detail], mist=0.4, stars=True)
    progress.report(0.05)
    composed = compose(scene, look, Stage(brief.width, brief.height))
    progress.report(0.2)
    kind = kind_of(scene)
    drops = np.random.default_rng([brief.seed, 97])
    weather = fallen(drops, composed.stage, kind) if kind else []
    progress.report(0.3)
    strips = _told(painted(composed, weather), composed.stage.rows, progress.part(0.3, 1.0))
    return printed(composed.stage, strips)


def _told(strips: Iterable[Strip], rows: int, progress: Progress) -> Iterator[Strip]:
    """Yield strips, and report how far down the picture each of them begins."""
    for start, strip in strips:
        progress.report(start / rows)
        yield start, strip
