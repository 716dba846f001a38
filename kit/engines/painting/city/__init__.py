"""City streets: two rows of buildings, signs, wet ground and those who pass, at any hour."""

from __future__ import annotations

import numpy as np

from kit.engines.base import Progress
from kit.engines.painting.city.ground import pave
from kit.engines.painting.city.signs import add_signs
from kit.engines.painting.city.street import street_of
from kit.engines.painting.city.things import things_of
from kit.engines.painting.city.walls import Walls
from kit.engines.painting.noise import blur
from kit.engines.painting.painting import Painting, paint_in_detail
from kit.engines.painting.sky import draw_falling
from kit.engines.painting.tints import drained
from kit.engines.painting.tone import Film
from kit.engines.prompt.brief import Brief

#: By how much what falls is brighter than what is behind and around it.
_BRIGHT = {"rain": 2.3, "snow": 2.2}


def paint(brief: Brief, progress: Progress) -> Painting:
    """Return a painted street."""
    return paint_in_detail(brief, progress, _paint)


def _paint(brief: Brief, progress: Progress) -> Painting:
    rng = np.random.default_rng([brief.seed, 53])
    street = street_of(rng, brief)
    progress.report(0.1)
    Walls(rng, street).paint(progress.part(0.1, 0.5))
    hour, canvas = street.hour, street.canvas
    crowd = 0.8 * min(1.0, hour.neon + 0.3) * ("minimal" not in brief.composition)
    add_signs(rng, street, crowd * {"calm": 0.4, "gloomy": 0.45}.get(brief.mood, 1.0))
    pave(rng, street, progress.part(0.55, 0.7))
    things = things_of(rng, street)
    for number, it in enumerate(progress.part(0.7, 0.95).over(things)):
        own = rng.spawn(1)[0]  # what one draws must not depend on whether another is seen
        if "close" in brief.composition and number == len(things) - 1:  # out of focus behind it
            for plane in canvas.light:
                plane[...] = blur(plane, 0.0065 * max(plane.shape))
        it.add(own, street)
    if brief.falling and brief.weather in ("rain", "snow"):  # lit by the street behind it
        size = max(canvas.depth.shape)
        around = np.stack([blur(np.minimum(it, 1.6), 0.035 * size) for it in canvas.light])
        amount = 0.3 if "minimal" in brief.composition else 0.8
        bright = around * np.float32(_BRIGHT[brief.weather]) + np.float32(0.03)
        draw_falling(canvas.light, brief, bright, rng, amount)
    progress.report(1.0)
    halo = 0.45 if brief.weather == "fog" and brief.dark else 0.0  # lamps shine into fog
    film = Film(
        exposure=hour.exposure,
        contrast=1.03,
        saturation=0.08 if drained(brief) else 1.05,
        vignette=0.34 if brief.dark else 0.2,
        bloom=1.05 * (0.25 + 0.3 * min(1.0, hour.neon) + halo),
        threshold=0.75,
    )
    return Painting(
        light=canvas.light,
        film=film.graded(brief),
        depth=canvas.depth,
        sky=canvas.sky,
        emitters=canvas.emitters,
    )
