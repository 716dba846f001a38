"""Liquids: marble, ink, silk, oil and poured paint, from noise bent by noise bent by noise."""

from __future__ import annotations

import numpy as np

from kit.engines.base import Progress
from kit.engines.painting.framing import factor
from kit.engines.painting.liquid.currents import stirred
from kit.engines.painting.liquid.directing import directed
from kit.engines.painting.liquid.gilding import gilded
from kit.engines.painting.liquid.substances import SUBSTANCES, Dish
from kit.engines.painting.painting import Painting, paint_in_detail
from kit.engines.painting.tone import Film
from kit.engines.prompt.brief import Brief

#: The first substance that a brief names is painted.
_NAMES = ("marble", "ink", "silk", "oil", "lava", "paint")
_ZOOMS = {"close": 0.42, "wide": 2.3, "high": 2.3, "minimal": 0.8, "dramatic": 0.75}
_OCTAVES = {"low": 5, "standard": 8, "high": 10}
_FILM = Film(
    exposure=1.1, contrast=1.04, saturation=1.05, vignette=0.22, bloom=0.26, threshold=0.85
)
_HOURS = {"night": 0.55, "dusk": 0.75, "dawn": 1.08}


def paint(brief: Brief, progress: Progress) -> Painting:
    """Return a painted liquid.

    Raises
    ------
    CanceledError
        Raised by `progress`.
    """
    return paint_in_detail(brief, progress, _painted)


def _painted(brief: Brief, progress: Progress) -> Painting:
    rng = np.random.default_rng([brief.seed, 43])
    substance = _substance(rng, brief)
    gold = "gold" in brief.things
    dish = Dish(
        brief=brief,
        zoom=factor(brief, _ZOOMS),
        octaves=_OCTAVES[brief.detail],
        calm=brief.mood in ("calm", "pastel") or "minimal" in brief.composition,
    )
    progress.report(0.02)
    how = dish.currents(substance)
    currents = stirred(rng, brief.height, brief.width, how, progress.part(0.02, 0.45))
    progress.report(0.45)
    picture = SUBSTANCES[substance](rng, currents, dish, progress.part(0.45, 0.7))
    progress.report(0.7)
    if gold:
        picture = gilded(picture, currents, progress.part(0.7, 0.8), stone=substance == "marble")
    picture = directed(brief, substance, picture, currents)
    picture *= np.float32(_HOURS.get(brief.hour, 1.0))
    progress.report(1.0)
    return Painting(light=np.asarray(picture, np.float32), film=_FILM.graded(brief))


def _substance(rng: np.random.Generator, brief: Brief) -> str:
    drawn = str(rng.choice(_NAMES, p=[0.2, 0.2, 0.25, 0.15, 0.0, 0.2]))
    return next((name for name in _NAMES if f"liquid_{name}" in brief.things), drawn)
