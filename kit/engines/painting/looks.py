"""Looks: the light of an hour as data: sky, sun, air and clouds, modified by a brief.

Hour first, then the palette or the color words, then weather, mood and camera. Colors are OKLCH;
print adjustments of moods are in `kit.engines.painting.tone.Film.grade`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from kit.engines.media.color import Oklch
from kit.engines.painting.tints import mean_tint, of_light, warm
from kit.engines.painting.tone import Film
from kit.engines.prompt.brief import LOW_SUN, Brief
from kit.engines.prompt.vocabulary import Tint

Factors: TypeAlias = dict[str, float]
Pair: TypeAlias = tuple[float, float]

_FILM = Film(saturation=1.08, vignette=0.40, bloom=0.25, threshold=0.9, grain=1.3)


@dataclass(frozen=True, slots=True, kw_only=True)
class HourLook:
    """The light of a scene."""

    sky: tuple[Oklch, ...]  # from the horizon up to the zenith
    sun: Oklch  # light that casts shadows; at night the moon's
    sun_power: float
    shade: Oklch  # ambient light
    shade_power: float
    air: Oklch  # fog color toward the sun
    far: Oklch  # and away from it
    haze: float  # density of the air, 0.4 on a clear day
    elevation: float  # of the sun, as a share of the sky above the horizon; below 0 it has set
    high_light: float  # height of the light that models the land, as a tangent
    cloud_lit: Oklch
    cloud_shade: Oklch
    glow: float  # extent of the sun's glow
    film: Film = _FILM
    mist: float = 0.0  # density in low places, 0 to 1
    clouds: float = 0.45  # coverage of the sky
    stars: float = 0.0  # visibility
    moon: bool = False  # the light is the moon's
    crescent: bool = False
    disc: bool = True  # sun or moon is not behind clouds
    aurora: bool = False
    milky: bool = False
    named: bool = False  # the prompt asks for a visible sun or moon


#: Fields of a look, then values by hour: sky colors from the horizon up to the zenith.
_COLUMNS = (
    "sky", "sun", "sun_power", "shade", "shade_power", "air", "far",
    "haze", "elevation", "high_light", "cloud_lit", "cloud_shade", "glow",
)  # fmt: skip
_ROWS: dict[str, tuple[Any, ...]] = {
    "dawn": (
        ((0.93, 0.085, 66), (0.85, 0.090, 34), (0.70, 0.080, 325), (0.52, 0.095, 266)),
        (0.91, 0.080, 62), 2.8, (0.70, 0.070, 275), 0.80, (0.87, 0.065, 45), (0.72, 0.055, 300),
        0.62, 0.10, 0.40, (0.96, 0.065, 45), (0.66, 0.060, 315), 0.8,
    ),
    "day": (
        ((0.93, 0.030, 225), (0.84, 0.065, 236), (0.68, 0.110, 248), (0.52, 0.130, 255)),
        (0.97, 0.035, 88), 3.0, (0.80, 0.055, 248), 0.64, (0.84, 0.040, 238), (0.80, 0.050, 242),
        0.42, 0.80, 0.72, (1.0, 0.004, 90), (0.74, 0.030, 255), 0.35,
    ),
    "sunset": (
        ((0.92, 0.110, 78), (0.82, 0.130, 52), (0.62, 0.095, 352), (0.40, 0.090, 278)),
        (0.84, 0.125, 48), 3.7, (0.60, 0.085, 274), 0.92, (0.78, 0.105, 54), (0.55, 0.075, 330),
        0.44, 0.085, 0.38, (0.94, 0.110, 60), (0.50, 0.085, 340), 1.0,
    ),
    "dusk": (
        ((0.76, 0.120, 48), (0.62, 0.115, 20), (0.43, 0.090, 315), (0.26, 0.075, 275)),
        (0.74, 0.130, 25), 1.15, (0.55, 0.085, 290), 0.78, (0.54, 0.090, 338), (0.42, 0.080, 300),
        0.72, -0.05, 0.45, (0.74, 0.140, 28), (0.36, 0.075, 300), 0.75,
    ),
    "night": (
        ((0.42, 0.060, 240), (0.33, 0.065, 252), (0.23, 0.060, 264), (0.14, 0.045, 272)),
        (0.79, 0.080, 248), 0.66, (0.62, 0.070, 262), 0.20, (0.31, 0.050, 250), (0.28, 0.050, 255),
        0.75, 0.62, 0.55, (0.44, 0.035, 245), (0.19, 0.035, 265), 0.22,
    ),
}  # fmt: skip
_MORE_FIELDS: dict[str, dict[str, Any]] = {
    "day": {"film": replace(_FILM, exposure=0.92)},
    "dusk": {"film": replace(_FILM, exposure=1.12), "stars": 0.35},
    "night": {
        "film": replace(_FILM, exposure=1.3, saturation=1.0),
        "clouds": 0.30,
        "stars": 1.0,
        "moon": True,
    },
}
_HOURS = {
    hour: HourLook(**dict(zip(_COLUMNS, row, strict=True)), **_MORE_FIELDS.get(hour, {}))
    for hour, row in _ROWS.items()
}
#: Weather -> factors on clouds, haze, light of the sun, light of the sky, and chroma.
_WEATHERS = {
    "clear": (1.0, 1.0, 1.0, 1.0, 1.0),
    "mist": (0.8, 1.7, 0.70, 1.10, 0.88),
    "fog": (0.0, 1.0, 0.25, 1.20, 0.70),
    "rain": (2.4, 2.0, 0.22, 1.05, 1.0),
    "snow": (2.4, 2.1, 0.30, 1.15, 0.9),
    "overcast": (2.3, 1.3, 0.25, 1.05, 1.0),
}
_BROKEN_CLOUDS = (1.4, 1.4, 0.70, 1.0, 0.80)  # the same if a sun or moon breaks through the clouds
#: Mood, tone or composition -> factors on fields of a look; "dark" is for clouds and zenith.
_CHANGES: dict[str, Factors] = {
    "calm": {"haze": 1.35, "clouds": 0.40},
    "dramatic": {"haze": 0.9, "sun_power": 1.25, "shade_power": 0.72, "dark": 0.80},
    "vivid": {"haze": 0.8},
    "gloomy": {"dark": 0.88},
    "bright": {"haze": 1.2, "sun_power": 0.85, "shade_power": 0.9},
    "dark": {"shade_power": 0.9, "dark": 0.62},
    "hard": {"sun_power": 1.35, "shade_power": 0.55},
    "soft": {"sun_power": 0.7, "shade_power": 1.2},
    "outline": {"haze": 0.45, "sun_power": 0.02, "shade_power": 0.10, "glow": 1.25},
    "minimal": {"haze": 1.3, "clouds": 0.0},
}
#: Hour -> elevation of a sun that the prompt asks for.
_ELEVATIONS = {"dawn": 0.24, "day": 0.62, "sunset": 0.20, "dusk": 0.06}
#: Dark clouds over a burning horizon: factors on lightness and chroma, and those of the sky.
_BURNING_SKY = (
    {"cloud_lit": (0.70, 0.82), "cloud_shade": (0.55, 0.73), "air": (0.86, 0.916)}
    | {"far": (0.67, 0.802), "shade": (1.0, 0.35)},
    ((1.0, 1.0), (0.83, 0.898), (0.68, 0.808), (0.70, 0.82)),
)
_MAX_BEHIND, _MOON_AT_DUSK = 0.26, 0.42  # maximum elevation behind outlines; a moon at dusk
_MIN_AT_VOLCANO = 0.62  # minimum elevation beside a volcano, so that its flanks stay whole
_PARTED_COVER = 0.65  # coverage of clouds with gaps for the sun
_FOG, _DENSE_FOG = 5.0, 9.0  # density of fog: half of the light is lost at 150 m


def look_for(brief: Brief) -> HourLook:
    """Return the look of a brief."""
    look = _HOURS[brief.hour]
    if tints := of_light(brief):
        look = _tint(look, *tints)
    clouded = brief.closed_sky and brief.weather != "fog"
    burning = False
    if clouded and (brief.dim or (not brief.open_sky and brief.hour not in LOW_SUN)):
        look = _close_sky(look, dim=brief.weather != "snow")
    elif clouded and brief.hour in LOW_SUN and brief.weather != "snow":
        look, burning = _scale(look, *_BURNING_SKY), True
    parted = brief.closed_sky and brief.open_sky
    clouds, haze, sun, shade, chroma = _BROKEN_CLOUDS if parted else _WEATHERS[brief.weather]
    milky = brief.dark and not brief.closed_sky and "milky_way" in brief.things
    starry = 0.5 * ("stars" in brief.lights) if brief.closed_sky else sun
    fewer = ("clear_sky" in brief.things) + ("minimal" in brief.composition)
    cover = look.clouds * clouds * 0.5**fewer + 0.25 * ("clouds" in brief.things)
    cover += 0.22 * ("dramatic" in (brief.mood, *brief.composition))
    least = 1.0 if brief.weather == "overcast" else 0.0
    look = replace(
        each_color(look, lambda color: (color[0], color[1] * chroma, color[2])),
        clouds=min(cover, _PARTED_COVER) if parted else min(max(cover, least), 1.1),
        haze=look.haze * haze,
        mist=0.92 if brief.weather == "mist" else 0.0,
        sun_power=look.sun_power * sun,
        shade_power=look.shade_power * shade,
        glow=look.glow * (0.7 if burning else sun),
        crescent=look.moon and "crescent" in brief.things,
        disc=brief.open_sky and not (milky and look.moon),
        aurora="aurora" in brief.things,
        milky=milky,
        stars=look.stars * starry,
    )
    if brief.weather == "fog":  # air of one pale color up to the zenith
        pale = (0.015 + 0.5 * (look.air[0] + look.sky[0][0]), 0.4 * look.air[1], look.air[2])
        sky = tuple((pale[0] * share, *pale[1:]) for share in (1.0, 0.995, 0.98, 0.96))
        dense = _DENSE_FOG if "dense_fog" in brief.things else _FOG
        look = replace(look, sky=sky, air=pale, far=pale, haze=dense, mist=0.0, clouds=0.0)
        look = replace(look, stars=0.0)
    if brief.warmth:
        look = each_color(look, lambda color: warm(color, brief.warmth))
        look = replace(look, shade=warm(look.shade, brief.warmth))
    for factors in brief.select(_CHANGES):
        look = _change(look, factors)
    return _show_light(replace(look, film=look.film.grade(brief)), brief)


def _show_light(look: HourLook, brief: Brief) -> HourLook:
    """Return a look with a visible sun or moon, if the prompt asks for it."""
    if look.moon:
        named = "moon" in brief.things
        return replace(look, named=True, disc=True, milky=False) if named else look
    if "outline" in brief.tones and not brief.closed_sky and "sun" not in brief.things:
        return replace(look, elevation=min(look.elevation, _MAX_BEHIND))
    if "moon" in brief.things and brief.hour == "dusk":
        return replace(look, elevation=_MOON_AT_DUSK, moon=True, named=True)
    if "sun" not in brief.things:
        return look
    least = _MIN_AT_VOLCANO if "volcano" in brief.things else 0.0
    elevation = max(_ELEVATIONS[brief.hour], least)
    return replace(look, elevation=elevation, named=True, disc=True)


def _close_sky(look: HourLook, *, dim: bool) -> HourLook:
    """Return a look under closed clouds: the sky is gray, and even from low to high."""
    # The eye adapts to the dark, where gray still has a hint of blue.
    bright, share, wide = (1.05, 0.55, 1.25) if look.stars else (0.92 if dim else 1.0, 0.22, 1.0)
    factors = {"sun": 1.0, "air": 1.0, "far": 1.0, "cloud_lit": 0.86, "cloud_shade": 0.72}
    gray = {name: (bright * by, share) for name, by in factors.items()}
    look = _scale(look, gray | {"shade": (1.0, share)}, [(bright, share)] * len(look.sky))
    mean = sum(color[0] for color in look.sky) / len(look.sky)
    return replace(
        look,
        sky=tuple((0.6 * one[0] + 0.4 * mean, *one[1:]) for one in look.sky),
        high_light=max(look.high_light, 0.6),
        shade_power=0.75 * look.shade_power + 0.28,
        glow=0.4 * look.glow,
        film=replace(look.film, exposure=wide * look.film.exposure),
    )


def _scale(look: HourLook, names: Mapping[str, Pair], sky: Sequence[Pair]) -> HourLook:
    """Return a look with factors on lightness and chroma of its colors, and of its sky's."""

    def scale(color: Oklch, by: Pair) -> Oklch:
        return (color[0] * by[0], color[1] * by[1], color[2])

    colors = {name: scale(getattr(look, name), by) for name, by in names.items()}
    own = tuple(scale(color, by) for color, by in zip(look.sky, sky, strict=True))
    return replace(look, sky=own, **colors)  # type: ignore[arg-type]


def _tint(look: HourLook, top: Tint, middle: Tint, low: Tint) -> HourLook:
    def tone(color: Oklch, tint: Tint, strength: float = 1.0) -> Oklch:
        return (color[0], tint[1] * strength, tint[0])

    places = (low, mean_tint(low, middle), middle, top)
    return replace(
        look,
        sky=tuple(tone(color, tint) for color, tint in zip(look.sky, places, strict=True)),
        # Light as colorful as the sky would give all objects a single color.
        sun=tone(look.sun, low, 0.3),
        shade=tone(look.shade, top, 0.5),
        air=tone(look.air, mean_tint(low, middle), 0.65),
        far=tone(look.far, mean_tint(middle, top), 0.65),
        cloud_lit=tone(look.cloud_lit, low, 0.75),
        cloud_shade=tone(look.cloud_shade, middle, 0.7),
    )


def _change(look: HourLook, factors: Factors) -> HourLook:
    dark = factors.get("dark", 1.0)
    low, *high = look.sky
    shade = look.cloud_shade
    values = {name: getattr(look, name) * by for name, by in factors.items() if name != "dark"}
    sky = (low, *((one[0] * (0.5 + 0.5 * dark), *one[1:]) for one in high))
    return replace(look, sky=sky, cloud_shade=(shade[0] * dark, *shade[1:]), **values)


def each_color(look: HourLook, change: Callable[[Oklch], Oklch]) -> HourLook:
    """Return a look with a function applied to each color of light, air, clouds and sky."""
    names = ("sun", "air", "far", "cloud_lit", "cloud_shade")
    colors = {name: change(getattr(look, name)) for name in names}
    return replace(look, sky=tuple(change(color) for color in look.sky), **colors)  # type: ignore[arg-type]
