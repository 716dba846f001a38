"""Looks: the light of an hour, as data: sky, sun, air and clouds.

Hour first, then the palette or the color words, then weather and mood. Colors are OKLCH; `tone`
turns them into linear light.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kit.engines.media.color import Oklch
from kit.engines.painting.land.fog import fogged
from kit.engines.painting.land.grade import felt, shown
from kit.engines.painting.land.overcast import burns, ceiling, overcast
from kit.engines.painting.poster.palettes import tempered
from kit.engines.painting.tints import between, of_light
from kit.engines.prompt.brief import Brief
from kit.engines.prompt.vocabulary import Tint


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """The light that a scene is seen in.

    Parameters
    ----------
    sky : tuple of Oklch
        From the horizon up to the zenith.
    sun, sun_power
        Oklch and strength of the light that casts shadows; by night it is the moon's.
    shade, shade_power
        Oklch and strength of the light from everywhere.
    air, far : Oklch
        What distance fades to under the sun, and away from it.
    haze : float
        Density of the air: 0.5 on a golden evening, 0.4 on a clear day.
    mist : float
        How thick it lies in low places, 0 to 1.
    elevation : float
        Where the sun stands, as a share of the sky above the horizon; below 0 it has set.
    high_light : float
        Height of the light that models the land, as a tangent.
    clouds : float
        Share of the sky they cover, 0 to 1.
    stars : float
        How well they show, 0 to 1.
    contrast, lift, vignette : float
        Of the film: 1 leaves the contrast as it is; how much darkness is lightened; the share of
        the light that corners lose.
    named : bool
        The prompt wants to see the sun or the moon itself.
    moon, crescent, disc, aurora, milky : bool
        The light is the moon's; little of it is lit; its disc is not behind clouds; northern
        lights show; the Milky Way does.
    """

    sky: tuple[Oklch, ...]
    sun: Oklch
    sun_power: float
    shade: Oklch
    shade_power: float
    air: Oklch
    far: Oklch
    haze: float
    elevation: float
    high_light: float
    cloud_lit: Oklch
    cloud_shade: Oklch
    glow: float
    exposure: float = 1.0
    mist: float = 0.0
    clouds: float = 0.45
    stars: float = 0.0
    saturation: float = 1.08
    moon: bool = False
    crescent: bool = False
    disc: bool = True
    aurora: bool = False
    milky: bool = False
    contrast: float = 1.0
    lift: float = 0.0
    vignette: float = 0.28
    named: bool = False


_HOURS = {
    "dawn": Look(
        sky=((0.93, 0.085, 66), (0.85, 0.090, 34), (0.70, 0.080, 325), (0.52, 0.095, 266)),
        sun=(0.91, 0.080, 62),
        sun_power=2.8,
        shade=(0.70, 0.070, 275),
        shade_power=0.80,
        air=(0.87, 0.065, 45),
        far=(0.72, 0.055, 300),
        haze=0.62,
        elevation=0.10,
        high_light=0.40,
        cloud_lit=(0.96, 0.065, 45),
        cloud_shade=(0.66, 0.060, 315),
        glow=0.8,
    ),
    "day": Look(
        sky=((0.93, 0.030, 225), (0.84, 0.065, 236), (0.68, 0.110, 248), (0.52, 0.130, 255)),
        sun=(0.97, 0.035, 88),
        sun_power=3.0,
        shade=(0.80, 0.055, 248),
        shade_power=0.64,
        air=(0.84, 0.040, 238),
        far=(0.80, 0.050, 242),
        haze=0.42,
        elevation=0.80,
        high_light=0.72,
        cloud_lit=(1.0, 0.004, 90),
        cloud_shade=(0.74, 0.030, 255),
        glow=0.35,
        exposure=0.92,
    ),
    "sunset": Look(
        sky=((0.92, 0.110, 78), (0.82, 0.130, 52), (0.62, 0.095, 352), (0.40, 0.090, 278)),
        sun=(0.84, 0.125, 48),
        sun_power=3.7,
        shade=(0.60, 0.085, 274),
        shade_power=0.92,
        air=(0.78, 0.105, 54),
        far=(0.55, 0.075, 330),
        haze=0.44,
        elevation=0.085,
        high_light=0.38,
        cloud_lit=(0.94, 0.110, 60),
        cloud_shade=(0.50, 0.085, 340),
        glow=1.0,
    ),
    "dusk": Look(
        sky=((0.76, 0.120, 48), (0.62, 0.115, 20), (0.43, 0.090, 315), (0.26, 0.075, 275)),
        sun=(0.74, 0.130, 25),
        sun_power=1.15,
        shade=(0.55, 0.085, 290),
        shade_power=0.78,
        air=(0.54, 0.090, 338),
        far=(0.42, 0.080, 300),
        haze=0.72,
        elevation=-0.05,
        high_light=0.45,
        cloud_lit=(0.74, 0.140, 28),
        cloud_shade=(0.36, 0.075, 300),
        glow=0.75,
        exposure=1.12,
        stars=0.35,
    ),
    "night": Look(
        sky=((0.42, 0.060, 240), (0.33, 0.065, 252), (0.23, 0.060, 264), (0.14, 0.045, 272)),
        sun=(0.79, 0.080, 248),
        sun_power=0.66,
        shade=(0.62, 0.070, 262),
        shade_power=0.20,
        air=(0.31, 0.050, 250),
        far=(0.28, 0.050, 255),
        haze=0.75,
        elevation=0.62,
        high_light=0.55,
        cloud_lit=(0.44, 0.035, 245),
        cloud_shade=(0.19, 0.035, 265),
        glow=0.22,
        exposure=1.3,
        clouds=0.30,
        stars=1.0,
        saturation=1.0,
        moon=True,
    ),
}
#: Weather -> what it makes of clouds, haze, direct light, ambient light and color.
_WEATHERS = {
    "clear": (1.0, 1.0, 1.0, 1.0, 1.0),
    "mist": (0.8, 1.7, 0.70, 1.10, 0.88),
    "fog": (0.0, 1.0, 0.25, 1.20, 0.70),
    "rain": (2.4, 2.0, 0.22, 1.05, 0.30),
    "snow": (2.4, 2.1, 0.30, 1.15, 0.50),
    "overcast": (2.3, 1.3, 0.25, 1.05, 0.30),
}
_MIST = 0.92
_CEILING = 1.0  # clouds that leave no gap
_PARTED = 0.65  # clouds that let the sun out
#: And where sun or moon, named in the prompt, come out of it.
_BROKEN = {
    "fog": (0.0, 1.0, 0.60, 1.10, 0.80),
    "rain": (1.4, 1.5, 0.70, 1.00, 0.80),
    "snow": (1.4, 1.6, 0.70, 1.05, 0.80),
    "overcast": (1.4, 1.1, 0.70, 1.00, 0.80),
}
_MOODS = {"pastel": 0.72, "vivid": 1.35, "dramatic": 1.12, "gloomy": 0.72}
_GLOOM = 0.78  # share of the light that a gloomy mood leaves


def look_for(brief: Brief) -> Look:
    """Return the light of a brief."""
    look = _HOURS[brief.hour]
    closed = ceiling(brief)
    look = replace(look, **closed)
    if tints := of_light(brief):
        look = _tinted(look, *tints)
    parted = brief.covered and brief.open
    if brief.weather in ("rain", "overcast") and not closed and not parted:
        look = overcast(look)
    clouds, haze, sun, shade, color = (_BROKEN if parted else _WEATHERS)[brief.weather]
    cover = _cover(brief, look.clouds * clouds, parted=parted)
    milky = brief.dark and not brief.covered and "milky_way" in brief.things
    look = _faded(
        replace(
            look,
            clouds=cover,
            haze=look.haze * haze,
            mist=_MIST if brief.weather == "mist" else 0.0,
            sun_power=look.sun_power * sun,
            shade_power=look.shade_power * shade,
            glow=look.glow * (0.7 if burns(brief) else sun),
            crescent=look.moon and "crescent" in brief.things,
            disc=brief.open and not (milky and look.moon),
            aurora="aurora" in brief.things,
            milky=milky,
            stars=look.stars * _starry(brief, sun),
            saturation=look.saturation * _MOODS.get(brief.mood, 1.0),
            exposure=look.exposure * (_GLOOM if brief.mood == "gloomy" else 1.0),
        ),
        0.9 if closed else color,
    )
    if brief.weather == "fog":
        dense = "dense_fog" in brief.things
        look = fogged(look, dense=dense, disc=brief.open)
    return shown(felt(_tempered(look, brief.warmth), brief), brief)


def _cover(brief: Brief, clouds: float, *, parted: bool) -> float:
    """Return how much of the sky clouds cover, if they cover so much by the hour and weather."""
    cover = clouds * (0.5 if "clear_sky" in brief.things else 1.0)
    cover *= 0.5 if "minimal" in brief.composition else 1.0
    cover += 0.22 * ("dramatic" in (brief.mood, *brief.composition))
    cover += 0.25 * ("clouds" in brief.things)
    if parted:
        return min(cover, _PARTED)
    if brief.weather == "overcast":
        cover = max(cover, _CEILING)
    return min(cover, 1.1)


def _starry(brief: Brief, clear: float) -> float:
    """Return the share of its stars that a sky shows: a closed one only those that are named."""
    if brief.covered:
        return 0.5 * ("stars" in brief.lights)
    return clear


def _tempered(look: Look, warmth: int) -> Look:
    if not warmth:
        return look
    warmer = _each(look, lambda color: tempered(color, warmth))
    return replace(warmer, shade=tempered(look.shade, warmth))


def _tinted(look: Look, top: Tint, middle: Tint, low: Tint) -> Look:
    places: Sequence[Tint] = (low, between(low, middle), middle, top)
    return replace(
        look,
        sky=tuple(_toned(color, tint) for color, tint in zip(look.sky, places, strict=True)),
        # Light that is as colored as the sky would leave one color of everything it falls on.
        sun=_toned(look.sun, low, 0.3),
        shade=_toned(look.shade, top, 0.5),
        air=_toned(look.air, between(low, middle), 0.65),
        far=_toned(look.far, between(middle, top), 0.65),
        cloud_lit=_toned(look.cloud_lit, low, 0.75),
        cloud_shade=_toned(look.cloud_shade, middle, 0.7),
    )


def _toned(color: Oklch, tint: Tint, strength: float = 1.0) -> Oklch:
    """Return a color with the hue of a tint, and a share of its chroma."""
    return (color[0], tint[1] * strength, tint[0])


def _faded(look: Look, share: float) -> Look:
    return _each(look, lambda color: (color[0], color[1] * share, color[2]))


def _each(look: Look, one: Callable[[Oklch], Oklch]) -> Look:
    return replace(
        look,
        sky=tuple(one(color) for color in look.sky),
        sun=one(look.sun),
        air=one(look.air),
        far=one(look.far),
        cloud_lit=one(look.cloud_lit),
        cloud_shade=one(look.cloud_shade),
    )
