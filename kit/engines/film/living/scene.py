"""How a scene comes alive: paint it, guess its depth, then move camera, air and light."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import cv2
import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.film.animate.relief import Blocks, Relief, blocks_of, large
from kit.engines.film.filming import CAMERAS, Take, filmed, take_of, view
from kit.engines.film.kenburns.drawing import bordered, fill_quads, pairs
from kit.engines.film.living import depths
from kit.engines.film.living.life import Clouds, Hours, Ripples, open_water, still_water
from kit.engines.film.living.lights import DARK, STARS, Flicker, StarsByNight, by_night
from kit.engines.film.living.motions import Stirs, heavens, open_sky, stirred
from kit.engines.film.weather import Weather
from kit.engines.media.clip import Frame, views
from kit.engines.media.color import Bytes, Floats
from kit.engines.painting.families import paint
from kit.engines.painting.land.vista import level_of
from kit.engines.painting.painting import Painting
from kit.engines.prompt.brief import Brief
from kit.engines.prompt.reading import read
from kit.engines.sizes import frame_size

_SET_UP = 0.03  # share of the whole that it takes to bring a painting to life
_MOST = 1600  # pixels of the longer side that are painted
_HOURS = {
    "fixed": (),
    "day_to_night": ("day", "sunset", "night"),
    "night_to_day": ("night", "dawn", "day"),
}
_SKIES = ("lake", "desert", "sea", "forest", "poster")
_LEVEL = ("lake", "desert", "sea", "forest")  # land that reaches up to a level horizon
_HORIZON = 0.52  # of a picture, at most, from above, for a camera that is neither low nor high
_INKS = ("liquid", "flow")
_DIM = 0.45  # share of their light that clouds keep in a picture that is to be dark
_AIRS = {"rain": "rain", "snow": "snow", "mist": "fog", "fog": "fog"}


def film(job: Job, progress: Progress) -> Asset:
    """Render a job of the living-scene model."""
    values = job.parameters
    progress.report(0.0)
    brief = read(job.prompt, values, job.seed, moves=CAMERAS)
    camera = brief.camera or "push"
    take = replace(take_of(values, frame_size(values)), camera=camera)
    brief = _sized(brief, take)
    weather = _weather(brief, values["weather"])
    hours = _passing(brief, brief.hours)
    end = 0.10 + 0.06 * len(hours)
    setting_up = progress.part(0.0, end + _SET_UP)
    living = _enlivened(brief, take, hours, weather, values["clouds"], setting_up)
    facts = {
        **brief.facts(),
        "camera": camera,
        "weather": weather,
        "hours": list(hours),
    }
    drawing = progress.part(end + _SET_UP, 1.0)
    return filmed(job, drawing, take, living.frame, name="living-scene", metadata=facts, light=True)


def _enlivened(
    brief: Brief,
    take: Take,
    hours: Sequence[str],
    weather: str,
    clouds: bool,
    progress: Progress,
) -> Living:
    """Paint a scene at its hours, and bring it to life."""
    paintings: list[Painting] = []
    end = (0.10 + 0.06 * len(hours)) / (0.10 + 0.06 * len(hours) + _SET_UP)
    for number, hour in enumerate(hours):
        painting = progress.part(*_stretch(number, len(hours), end))
        paintings.append(paint(quiet(brief, hour), painting))
    setting_up = progress.part(end, 1.0)
    return Living(
        brief,
        paintings,
        take,
        weather=weather,
        clouds=clouds,
        night=hours.index("night") if "night" in hours else 0,
        progress=setting_up,
    )


class Living:
    """A painted scene that can be seen at any frame.

    Parameters
    ----------
    paintings : list of Painting
        The place at one or more hours, of the frame's shape.
    night : int
        Which painting shows the place by night, if hours pass.
    """

    def __init__(
        self,
        brief: Brief,
        paintings: list[Painting],
        take: Take,
        *,
        weather: str,
        clouds: bool,
        night: int = 0,
        progress: Progress | None = None,
    ) -> None:
        progress = progress or Progress()
        self._take = take
        rng = [np.random.default_rng([brief.seed, 40 + part]) for part in range(5)]
        pixels = [painting.pixels() for painting in paintings]
        # Lava that glows by night is none by day.
        place = max(paintings, key=lambda one: len(one.motions))
        picture = depths.small(pixels[0])
        sky, clear = heavens(place, depths.sky_of(picture, _level(brief)))
        self._relief = Relief(depths.depth_of(brief.family, picture, sky), take)
        progress.report(0.2)
        planes = [
            self._relief.planes(painting) for painting in progress.part(0.2, 0.4).over(pixels)
        ]
        self._hours = Hours(planes, loop=take.loop)
        size = (self._relief.width, self._relief.height)
        horizon = depths.horizon_of(sky)
        self._life: list[Clouds | Flicker | StarsByNight] = []
        self._clouds = None
        dark = partial(self._hours.share, night)
        if _starry(brief, passing=self._hours.pass_by):
            # Before clouds, which drift over them.
            stars = Flicker(planes[night][0], take, rng[4], STARS, open_sky(place))
            self._life.append(StarsByNight(stars, dark) if self._hours.pass_by else stars)
        dense = _density(brief)
        if clouds and brief.family in _SKIES and brief.weather != "fog" and dense:
            self._clouds = Clouds(size, clear, horizon, take, rng[0], dense)
            self._clouds.light_up(planes[0][0])
            self._life.append(self._clouds)
        if brief.family == "city":
            self._life.append(Flicker(planes[-1][0], take, rng[1]))
        progress.report(0.5)
        water = max(horizon, _level(brief) - 0.06)
        self._ripples = _ripples(
            brief, picture, paintings[0].water, water, take, self._relief, rng[2]
        )
        self._weather = (
            None
            if weather == "none"
            else Weather(weather, (take.width, take.height), rng[3], take.seconds, take.loop)
        )
        progress.report(0.9)
        stirs = stirred(place, size, take, brief.seed)
        if self._hours.pass_by:
            stirs = by_night(stirs, planes[night], dark)
        self._stirs = Stirs(stirs, place, size, take)
        self._set(planes[0])
        progress.report(1.0)

    def frame(self, number: int) -> Bytes:
        """Return a frame, I420, shape (height * 3 / 2, width)."""
        take, moment = self._take, self._take.moment(number)
        out = np.empty((take.height * 3 // 2, take.width), np.uint8)
        frame = views(out, take.width, take.height)
        if self._ripples is not None:
            self._ripples.turn_to(moment)
        seen = view(take.camera, moment, motion=take.motion, loop=take.loop)
        self._relief.look(self._alive(moment), seen, self._ripples).spread(frame)
        if self._weather is not None:
            self._weather.draw(frame, moment)
        return out

    def _set(self, planes: Frame) -> None:
        """Take a painting as what is to be brought to life."""
        self._blocks = blocks_of(planes)
        self._canvas, self._tints = bordered(planes[0]), planes[1:]
        self._stirs.light_up(planes)

    def _alive(self, moment: float) -> Blocks:
        """Return the painting as it looks at a moment, in blocks."""
        if self._hours.pass_by:
            planes = self._hours.at(moment)
            if self._clouds is not None:
                self._clouds.light_up(planes[0])
            self._set(planes)
        stirred_rows = self._stirs.rows
        rows = max((stirred_rows, *(life.rows for life in self._life)))
        if rows:
            # The row below counts too: the last one's blocks reach into it.
            wide = self._canvas[: rows + 1].copy()
            if stirred_rows:
                tints = [tint[: stirred_rows // 2].copy() for tint in self._tints]
                planes = (wide[:stirred_rows, :-1], tints[0], tints[1])
                before = self._canvas[:, :-1], self._tints[0], self._tints[1]
                self._stirs.draw(planes, before, moment)
                self._blocks.chroma[: stirred_rows // 2] = pairs(*tints)
            for life in self._life:
                life.draw(wide[:-1, :-1], moment)
            wide[:, -1] = wide[:, -2]
            fill_quads(wide, self._blocks.luma[:rows])
        return self._blocks


def _passing(brief: Brief, way: str) -> tuple[str, ...]:
    """Return the hours of a film: where clouds hide the sun, it does not set between them."""
    hours = _HOURS[way] or (brief.hour,)
    hidden = brief.covered and {"sun", "fire"}.isdisjoint(brief.lights)
    return tuple("dusk" if hour == "sunset" else hour for hour in hours) if hidden else hours


def _starry(brief: Brief, *, passing: bool) -> bool:
    """Return whether stars over land are seen at some hour of a film."""
    if passing:
        brief = replace(brief, hour="night")
    return brief.family in _LEVEL and brief.dark and brief.open


def _density(brief: Brief) -> float:
    """Return the share of the drifting clouds' light that words leave: they have it bright."""
    if "minimal" in brief.composition or "cloudless" in brief.things:
        return 0.0
    return _DIM if "dark" in brief.tones or brief.mood == "gloomy" else 1.0


def _level(brief: Brief) -> float:
    """Return the share of the height below which a painted scene has no sky."""
    if brief.family not in _LEVEL:
        return 1.0
    return level_of(_HORIZON, brief)


def _sized(brief: Brief, take: Take) -> Brief:
    """Return a brief for a painting of the frame's shape, with its margins."""
    width, height = large(take)
    scale = min(1.0, _MOST / max(width, height))
    return replace(brief, width=round(width * scale), height=round(height * scale))


def quiet(brief: Brief, hour: str) -> Brief:
    """Return a brief without what falls or glimmers: that is drawn in motion."""
    weather = brief.weather
    if weather == "mist" and brief.family == "lake" and "fog" not in brief.things:
        weather = "clear"  # the seed's mist suits a still; in motion it hides what moves
    hidden = ("fireflies",) if hour in DARK else ("fireflies", "aurora")
    things = brief.things.difference(hidden)
    return replace(brief, hour=hour, weather=weather, things=things, falling=False)


def _weather(brief: Brief, asked: str) -> str:
    """Return what is in the air: what was asked for, else what the prompt says."""
    if asked != "auto":
        return asked
    if brief.family in (*_INKS, "space"):
        return "none"
    if "fireflies" in brief.things:
        return "fireflies"
    if brief.family == "desert" and brief.weather in ("mist", "rain", "snow"):
        return "dust"
    # Fog only where the prompt says so: what the seed draws is painted, and that is enough.
    said = brief.weather != "mist" or "fog" in brief.things
    return _AIRS.get(brief.weather, "none") if said else "none"


def _ripples(
    brief: Brief,
    picture: Bytes,
    water: Floats | None,
    horizon: float,
    take: Take,
    relief: Relief,
    rng: np.random.Generator,
) -> Ripples | None:
    if brief.family == "lake":
        return Ripples(still_water(picture, horizon), (48, 10), take, relief, rng)
    if brief.family == "sea" and water is not None:
        size = (picture.shape[1], picture.shape[0])
        small = cv2.resize(water, size, interpolation=cv2.INTER_AREA)
        return Ripples(
            open_water(np.asarray(small, np.float32), horizon), (12, 5), take, relief, rng
        )
    if brief.family in _INKS:
        amount = np.full(picture.shape[:2], 0.004 + 0.012 * take.motion, np.float32)
        return Ripples(amount, (3, 4), take, relief, rng)
    return None


def _stretch(number: int, count: int, end: float) -> tuple[float, float]:
    return end * number / count, end * (number + 1) / count
