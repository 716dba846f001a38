"""City streets: two rows of buildings, signs, wet ground and those who pass, at any hour."""

from __future__ import annotations

import numpy as np

from kit.engines.base import Progress
from kit.engines.painting.city.directing import Hour
from kit.engines.painting.city.ground import pave
from kit.engines.painting.city.hours import hour_of
from kit.engines.painting.city.passing import lamps_at, populate, things_of
from kit.engines.painting.city.sky import air, sky
from kit.engines.painting.city.staging import staged
from kit.engines.painting.city.sunlight import Sunlight
from kit.engines.painting.city.view import View, blocks_of, view_of
from kit.engines.painting.city.walls import build
from kit.engines.painting.city.weather import rain, snow
from kit.engines.painting.framing import factor
from kit.engines.painting.noise import Plane, blur
from kit.engines.painting.painting import Painting, paint_in_detail
from kit.engines.painting.tints import drained
from kit.engines.painting.tone import Film
from kit.engines.prompt.brief import Brief

_DRAINED = 0.08  # what a print in ink keeps of its colors
_SIGNS = {"calm": 0.4, "gloomy": 0.45}  # share of the signs that a mood leaves
_HALO = 0.45  # how much more a lamp shines into fog
_SOFT = 0.0065  # blur of what stands behind a near figure, as a share of the longer side


def paint(brief: Brief, progress: Progress) -> Painting:
    """Return a painted street.

    Raises
    ------
    CanceledError
        Raised by `progress`.
    """
    return paint_in_detail(brief, progress, _painted)


def _painted(brief: Brief, progress: Progress) -> Painting:
    rng = np.random.default_rng([brief.seed, 53])
    view, hour = view_of(rng, brief), hour_of(rng, brief)
    progress.report(0.01)
    picture = _street(rng, brief, view, hour, progress.part(0.01, 0.85))
    progress.report(0.85)
    _weather(rng, brief, picture)
    halo = _HALO if brief.weather == "fog" and brief.dark else 0.0
    film = Film(
        exposure=hour.exposure,
        contrast=1.03,
        saturation=_DRAINED if drained(brief) else 1.05,
        vignette=0.34 if brief.dark else 0.2,
        bloom=1.05 * (0.25 + 0.3 * min(1.0, hour.neon) + halo),
        threshold=0.75,
    )
    progress.report(1.0)
    return Painting(light=np.asarray(picture, np.float32), film=film.graded(brief))


def _street(
    rng: np.random.Generator, brief: Brief, view: View, hour: Hour, progress: Progress
) -> Plane:
    blocks = blocks_of(rng, brief)
    picture = sky(rng, brief, view, hour, progress.part(0.0, 0.08))
    progress.report(0.08)
    haze = air(view, hour)
    progress.report(0.12)
    crowd = 0.8 * min(1.0, hour.neon + 0.3) * factor(brief, {"minimal": 0.0})
    crowd *= _SIGNS.get(brief.mood, 1.0)
    sun = Sunlight(blocks, hour, int(rng.choice([-1, 1])))
    cover = build(rng, view, blocks, hour, sun, crowd, (picture, haze), progress.part(0.12, 0.6))
    paving = progress.part(0.6, 0.7)
    pave(rng, brief, view, hour, sun, lamps_at(brief), (picture, cover, haze), paving)
    progress.report(0.7)
    things = staged(things_of(rng, brief, hour), brief)
    near = things[-1:] if "close" in brief.composition else []
    far = things[: len(things) - len(near)]
    populate(rng, far, view, hour, (picture, haze), progress.part(0.7, 0.95))
    if near:
        for plane in picture:
            plane[...] = blur(plane, _SOFT * max(view.width, view.height))
        populate(rng, near, view, hour, (picture, haze), progress.part(0.95, 1.0))
    return picture


def _weather(rng: np.random.Generator, brief: Brief, picture: Plane) -> None:
    if not brief.falling:
        return
    amount = {"low": 0.6, "standard": 1.0, "high": 1.2}[brief.detail]
    amount *= factor(brief, {"minimal": 0.35})
    if brief.weather == "rain":
        rain(rng, picture, amount)
    elif brief.weather == "snow":
        snow(rng, picture, amount)
