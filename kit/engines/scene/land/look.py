"""Looks: the light of an hour, as data: sky, sun, air and clouds.

Hour first, then the palette or the color words, then weather and mood. Colors are OKLCH; `tone`
turns them into linear light.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from kit.engines.landscape import lexicon
from kit.engines.landscape.palettes import NAMED, Tint
from kit.engines.scene.brief import Brief

Color: TypeAlias = tuple[float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """The light that a scene is seen in.

    Parameters
    ----------
    sky : tuple of Color
        From the horizon up to the zenith.
    sun, sun_power
        Color and strength of the light that casts shadows; by night it is the moon's.
    shade, shade_power
        Color and strength of the light from everywhere.
    air : Color
        What distance fades to.
    haze : float
        Density of the air: 1 on a golden evening, 0.4 on a clear day.
    elevation : float
        Where the sun stands, as a share of the sky above the horizon; below 0 it has set.
    high_light : float
        Height of the light that models the land, as a tangent.
    clouds : float
        Share of the sky they cover, 0 to 1.
    stars : float
        How well they show, 0 to 1.
    moon, crescent, disc, aurora : bool
        The light is the moon's; little of it is lit; its disc is not behind clouds; northern
        lights show.
    """

    sky: tuple[Color, ...]
    sun: Color
    sun_power: float
    shade: Color
    shade_power: float
    air: Color
    haze: float
    elevation: float
    high_light: float
    cloud_lit: Color
    cloud_shade: Color
    glow: float
    exposure: float = 1.0
    clouds: float = 0.45
    stars: float = 0.0
    saturation: float = 1.08
    moon: bool = False
    crescent: bool = False
    disc: bool = True
    aurora: bool = False


_HOURS = {
    "dawn": Look(
        sky=((0.93, 0.060, 62), (0.86, 0.075, 30), (0.74, 0.075, 330), (0.58, 0.090, 268)),
        sun=(0.90, 0.085, 58),
        sun_power=2.5,
        shade=(0.74, 0.060, 285),
        shade_power=0.78,
        air=(0.83, 0.055, 22),
        haze=0.95,
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
        sun=(0.86, 0.125, 62),
        sun_power=3.4,
        shade=(0.66, 0.075, 290),
        shade_power=0.72,
        air=(0.76, 0.095, 48),
        haze=0.78,
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
        air=(0.50, 0.090, 322),
        haze=0.95,
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
    "mist": (0.9, 2.6, 0.55, 1.10, 0.80),
    "rain": (2.4, 2.0, 0.22, 1.05, 0.45),
    "snow": (2.4, 2.1, 0.30, 1.15, 0.50),
}
_MOODS = {"pastel": 0.72, "vivid": 1.35, "dramatic": 1.12}


def look_for(brief: Brief) -> Look:
    """Return the light of a brief."""
    look = _HOURS[brief.time_of_day]
    if tints := _tints(brief):
        look = _tinted(look, *tints)
    clouds, haze, sun, shade, color = _WEATHERS[brief.weather]
    cover = look.clouds * clouds * (0.5 if brief.says("cloudless", "clear") else 1.0)
    cover += 0.22 * ("dramatic" in (brief.mood, *brief.composition)) + 0.25 * brief.says("cloud")
    if brief.weather == "rain":
        look = _overcast(look)
    return _faded(
        replace(
            look,
            clouds=min(cover, 1.1),
            haze=look.haze * haze,
            sun_power=look.sun_power * sun,
            shade_power=look.shade_power * shade,
            glow=look.glow * sun,
            crescent=look.moon and "crescent" in brief.extras,
            disc=brief.weather not in ("rain", "snow"),
            aurora="aurora" in brief.extras,
            stars=look.stars * sun,
            saturation=look.saturation * _MOODS.get(brief.mood, 1.0),
        ),
        color,
    )


def _tints(brief: Brief) -> tuple[Tint, Tint, Tint] | None:
    """Return the tints of the zenith, of the sky between and of the horizon."""
    if brief.palette in NAMED:
        _, top, middle, low = NAMED[brief.palette]
        return top, middle, low
    tints = [lexicon.COLORS[word] for word in brief.colors]
    if not tints:
        return None
    if len(tints) == 1:
        hue, chroma = tints[0]
        return tints[0], (hue, chroma * 0.9), (_toward(hue, 85, 24), chroma * 0.7)
    return tints[0], _between(tints[0], tints[-1]), tints[-1]


def _tinted(look: Look, top: Tint, middle: Tint, low: Tint) -> Look:
    places: Sequence[Tint] = (low, _between(low, middle), middle, top)
    return replace(
        look,
        sky=tuple(_with(color, tint) for color, tint in zip(look.sky, places, strict=True)),
        sun=_with(look.sun, low, 0.75),
        shade=_with(look.shade, top, 0.75),
        air=_with(look.air, _between(low, middle), 0.75),
        cloud_lit=_with(look.cloud_lit, low, 0.75),
        cloud_shade=_with(look.cloud_shade, middle, 0.7),
    )


def _overcast(look: Look) -> Look:
    """Return a look under a heavy sky."""

    def one(color: Color, share: float) -> Color:
        return (color[0] * share, color[1], color[2])

    return replace(
        look,
        sky=tuple(one(color, 0.86) for color in look.sky),
        cloud_lit=one(look.cloud_lit, 0.78),
        cloud_shade=one(look.cloud_shade, 0.60),
        air=one(look.air, 0.85),
    )


def _faded(look: Look, share: float) -> Look:
    def one(color: Color) -> Color:
        return (color[0], color[1] * share, color[2])

    return replace(
        look,
        sky=tuple(one(color) for color in look.sky),
        sun=one(look.sun),
        air=one(look.air),
        cloud_lit=one(look.cloud_lit),
        cloud_shade=one(look.cloud_shade),
    )


def _with(color: Color, tint: Tint, strength: float = 1.0) -> Color:
    return (color[0], tint[1] * strength, tint[0])


def _between(one: Tint, other: Tint) -> Tint:
    """Return the tint half way, the short way round."""
    hue = (one[0] + ((other[0] - one[0] + 180) % 360 - 180) / 2) % 360
    return (hue, 0.5 * (one[1] + other[1]))


def _toward(hue: float, target: float, most: float) -> float:
    way = (target - hue + 180) % 360 - 180
    return (hue + max(-most, min(most, way))) % 360
