"""Space: gas and stars, galaxies, planets, black holes and comets, painted from back to front."""

from __future__ import annotations

import numpy as np

from kit.engines.base import Progress
from kit.engines.painting.painting import Canvas, Painting, paint_in_detail
from kit.engines.painting.space.bodies import PLANETS, sky_of
from kit.engines.painting.space.glow import add_comet, add_nova, add_stars, add_sun, galaxy, nebula
from kit.engines.painting.space.hole import add_hole
from kit.engines.painting.space.sphere import add_planet
from kit.engines.painting.tone import Film, blend, light
from kit.engines.prompt.brief import Brief

_BODY_PAINTERS = {
    "hole": add_hole, "wormhole": add_hole, "nova": add_nova, "comet": add_comet,
    **dict.fromkeys(PLANETS, add_planet),
}  # fmt: skip
_OCTAVES = {"low": 6, "standard": 8, "high": 10}
_FILM = Film(exposure=1.3, contrast=1.04, saturation=1.06, vignette=0.28, bloom=0.42)


def paint(brief: Brief, progress: Progress) -> Painting:
    """Return a painted view of space."""
    return paint_in_detail(brief, progress, _paint)


def _paint(brief: Brief, progress: Progress) -> Painting:
    rng = np.random.default_rng([brief.seed, 41])
    octaves, sky = _OCTAVES[brief.detail], sky_of(rng, brief)
    shine, hidden = nebula(rng, sky, octaves, progress.part(0.02, 0.4))
    if sky.main and sky.main.kind == "galaxy":
        disc, thick = galaxy(rng, sky, sky.main, octaves, progress.part(0.4, 0.6))
        shine, hidden = 0.5 * shine + disc, np.maximum(0.5 * hidden, thick)
    canvas = Canvas.of_sky(np.asarray(shine, np.float32))
    add_stars(rng, canvas, hidden, sky)
    progress.report(0.65)
    behind = [it for it in sky.others if it.kind == "moon"]
    before = [it for it in sky.others if it.kind != "moon"]
    bodies = [it for it in (*behind, sky.main, *before) if it and it.kind in _BODY_PAINTERS]
    for number, it in enumerate(bodies):
        share = progress.part(0.65, 0.95).part(number / len(bodies), (number + 1) / len(bodies))
        _BODY_PAINTERS[it.kind](rng, canvas, it, octaves, share)
    add_sun(canvas, sky.sun)
    if brief.mood == "pastel":
        down = np.linspace(0.0, 1.0, sky.height, dtype=np.float32)[:, None]
        first, second = light((0.40, 0.07, sky.hues[2])), light((0.52, 0.08, sky.hues[0]))
        canvas.light[...] += blend(first, second, down)
    progress.report(1.0)
    return canvas.painting(_FILM.grade(brief))
