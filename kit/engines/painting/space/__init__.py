"""Space: gas and stars, galaxies, planets, black holes and comets, painted from back to front."""

from __future__ import annotations

import numpy as np

from kit.engines.base import Progress
from kit.engines.media.noise import line
from kit.engines.painting.canvas import Canvas
from kit.engines.painting.painting import Painting, paint_in_detail
from kit.engines.painting.space.bodies import PLANETS, SpaceSky, sky_of
from kit.engines.painting.space.glow import add_comet, add_nova, add_stars, add_sun, galaxy, nebula
from kit.engines.painting.space.hole import add_hole
from kit.engines.painting.space.sphere import add_planet
from kit.engines.painting.tone import Film, blend, light
from kit.engines.prompt.brief import Brief

_ADDED = {
    "hole": add_hole, "wormhole": add_hole, "nova": add_nova, "comet": add_comet,
    **dict.fromkeys(PLANETS, add_planet),
}  # fmt: skip
_OCTAVES = {"low": 6, "standard": 8, "high": 10}
_FILM = Film(exposure=1.3, contrast=1.04, saturation=1.06, vignette=0.28, bloom=0.42)


def paint(brief: Brief, progress: Progress) -> Painting:
    """Return a painted sky."""
    return paint_in_detail(brief, progress, _paint)


def _paint(brief: Brief, progress: Progress) -> Painting:
    rng = np.random.default_rng([brief.seed, 41])
    octaves, sky = _OCTAVES[brief.detail], sky_of(rng, brief)
    shine, hidden = nebula(rng, sky, octaves, progress.part(0.02, 0.4))
    if sky.main and sky.main.kind == "galaxy":
        disc, thick = galaxy(rng, sky, sky.main, octaves, progress.part(0.4, 0.6))
        shine, hidden = 0.5 * shine + disc, np.maximum(0.5 * hidden, thick)
    canvas = Canvas.over(np.asarray(shine, np.float32))
    add_stars(rng, canvas, hidden, sky)
    progress.report(0.65)
    behind = [it for it in sky.others if it.kind == "moon"]
    before = [it for it in sky.others if it.kind != "moon"]
    bodies = [it for it in (*behind, sky.main, *before) if it and it.kind in _ADDED]
    for number, it in enumerate(bodies):
        share = progress.part(0.65, 0.95).part(number / len(bodies), (number + 1) / len(bodies))
        _ADDED[it.kind](rng, canvas, it, octaves, share)
    add_sun(canvas, sky.sun)
    if brief.mood == "pastel":
        down = np.linspace(0.0, 1.0, sky.height, dtype=np.float32)[:, None]
        first, second = light((0.40, 0.07, sky.hues[2])), light((0.52, 0.08, sky.hues[0]))
        canvas.light[...] += blend(first, second, down)
    _add_rocks(rng, canvas, sky)
    progress.report(1.0)
    return canvas.painting(_FILM.graded(brief))


def _add_rocks(rng: np.random.Generator, canvas: Canvas, sky: SpaceSky) -> None:
    if not sky.rocks:
        return
    at = np.linspace(0.0, 1.0, sky.width)
    rows = np.arange(sky.height, dtype=np.float32)[:, None]
    # All that shines above lights the ground, and more the rim that it is seen behind.
    shine = 0.5 * canvas.light.mean(axis=(1, 2), keepdims=True) + light((0.42, 0.03, 255))
    every = slice(0, sky.height), slice(0, sky.width)
    for share, tone, away in ((1.0, 0.62, 14.0), (0.64, 0.20, 6.0)):
        rough = line(rng, at, 0.16, octaves=7, gain=0.56)
        valley = 0.42 + 0.58 * (2.0 * np.abs(at - 0.5)) ** 1.4
        top = sky.height * (1.0 - sky.rocks * share * (valley + 0.16 * rough))
        under = rows - top[None].astype(np.float32)
        rim = np.exp(-np.maximum(under, 0.0) / np.float32(0.03 * sky.height))
        rock = shine * (np.float32(tone) * (0.35 + 0.65 * rim))
        canvas.lay(every, rock, np.clip(under + 0.5, 0.0, 1.0), away)
