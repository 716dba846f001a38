"""Palettes: the colors of a brief, as OKLCH data.

Lightness comes from the time of day, so every palette works at every hour; a named palette or the
prompt's color words replace hue and chroma.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from kit.engines.painting.poster.grade import felt
from kit.engines.prompt.brief import Brief
from kit.engines.prompt.vocabulary import Tint

Color: TypeAlias = tuple[float, float, float]
#: Hue and chroma.


@dataclass(frozen=True, slots=True, kw_only=True)
class Palette:
    """The colors that a scene is painted with, each (lightness, chroma, hue).

    Parameters
    ----------
    sky : tuple of Color
        From the top down to the horizon.
    land : tuple of Color
        From the farthest ridge to the nearest.
    glow : Color
        Light around the sun or moon.
    """

    sky: tuple[Color, Color, Color, Color]
    land: tuple[Color, Color, Color]
    sun: Color
    glow: Color
    mist: Color
    snow: Color
    cloud: Color


#: Time of day -> its own colors.
TIMES = {
    "dawn": Palette(
        sky=((0.66, 0.085, 268), (0.76, 0.085, 318), (0.86, 0.085, 25), (0.935, 0.075, 72)),
        land=((0.80, 0.075, 12), (0.56, 0.085, 310), (0.26, 0.060, 288)),
        sun=(0.985, 0.045, 92),
        glow=(0.95, 0.085, 75),
        mist=(0.92, 0.050, 45),
        snow=(0.96, 0.020, 30),
        cloud=(0.95, 0.045, 40),
    ),
    "day": Palette(
        sky=((0.62, 0.115, 248), (0.73, 0.095, 238), (0.85, 0.060, 222), (0.945, 0.035, 190)),
        land=((0.80, 0.050, 232), (0.55, 0.070, 212), (0.29, 0.055, 190)),
        sun=(0.985, 0.050, 100),
        glow=(0.97, 0.060, 100),
        mist=(0.945, 0.025, 205),
        snow=(0.985, 0.008, 240),
        cloud=(0.99, 0.010, 220),
    ),
    "sunset": Palette(
        sky=((0.43, 0.125, 292), (0.58, 0.155, 345), (0.74, 0.155, 32), (0.88, 0.130, 74)),
        land=((0.75, 0.140, 40), (0.47, 0.135, 355), (0.20, 0.070, 305)),
        sun=(0.975, 0.065, 95),
        glow=(0.90, 0.140, 70),
        mist=(0.85, 0.110, 55),
        snow=(0.92, 0.055, 50),
        cloud=(0.80, 0.140, 30),
    ),
    "dusk": Palette(
        sky=((0.26, 0.080, 274), (0.38, 0.105, 288), (0.56, 0.125, 322), (0.79, 0.105, 42)),
        land=((0.56, 0.110, 318), (0.36, 0.095, 288), (0.135, 0.045, 276)),
        sun=(0.96, 0.060, 80),
        glow=(0.80, 0.120, 45),
        mist=(0.64, 0.105, 335),
        snow=(0.80, 0.050, 310),
        cloud=(0.60, 0.130, 340),
    ),
    "night": Palette(
        sky=((0.135, 0.050, 272), (0.21, 0.068, 264), (0.34, 0.078, 252), (0.51, 0.072, 232)),
        land=((0.43, 0.068, 240), (0.26, 0.060, 254), (0.085, 0.030, 266)),
        sun=(0.965, 0.025, 95),
        glow=(0.74, 0.065, 225),
        mist=(0.47, 0.055, 236),
        snow=(0.72, 0.035, 250),
        cloud=(0.36, 0.060, 255),
    ),
}
#: Named palette -> the tints of the land, the sky's top, its middle and its horizon.
NAMED: dict[str, tuple[Tint, Tint, Tint, Tint]] = {
    "ember": ((22, 0.14), (8, 0.13), (32, 0.16), (70, 0.14)),
    "coral": ((345, 0.11), (300, 0.09), (12, 0.12), (55, 0.10)),
    "lagoon": ((205, 0.09), (215, 0.10), (188, 0.08), (90, 0.07)),
    "meadow": ((150, 0.09), (205, 0.08), (165, 0.06), (105, 0.08)),
    "lavender": ((290, 0.10), (285, 0.10), (312, 0.09), (345, 0.07)),
    "midnight": ((262, 0.10), (268, 0.10), (250, 0.11), (215, 0.08)),
    "sand": ((55, 0.07), (75, 0.04), (70, 0.06), (85, 0.08)),
    "ink": ((255, 0.008), (255, 0.008), (255, 0.006), (80, 0.006)),
}
#: Season -> tint of the land in the nearer half, where the time of day leaves room for one.
_SEASONS: dict[str, Tint] = {"autumn": (42, 0.11), "spring": (345, 0.085)}
#: Trees and rock over snow: by day they have hardly a color.
_BARE: Tint = (248, 0.030)
#: Subject -> tint of the land by day, when things show their own color.
_GROUNDS: dict[str, Tint] = {
    "desert": (56, 0.095),
    "hills": (138, 0.095),
    "forest": (162, 0.070),
}
#: Weather -> what it leaves of the strength of colors.
_WEATHERS = {
    "clear": 1.0,
    "mist": 1.0,
    "rain": 0.82,
    "snow": 0.82,
    "overcast": 0.6,
    "fog": 0.75,
}
#: Weather -> shares of a day's colors and of its lightness that clouds leave.
_LEADEN = {"rain": (0.55, 0.86), "snow": (0.5, 1.0)}
_DIM = 0.4  # share of a low sun's colors that a closed sky lets through
_MOODS = {"pastel": 0.62, "vivid": 1.35, "gloomy": 0.5}
_WARM = (0.011, 0.030)  # what warm light adds to a color, along a and b of OKLab
_GLOOM = 0.82  # share of the lightness that a gloomy mood leaves


def palette_for(brief: Brief) -> Palette:
    """Return the colors of a scene: its time of day's, then the palette's, then the words'."""
    palette = TIMES[brief.hour]
    if brief.palette in NAMED:
        palette = _tinted(palette, *NAMED[brief.palette])
    elif brief.colors:
        palette = _tinted(palette, *_from_words(brief.colors))
        palette = _grounded(palette, _said_tint(brief))
    else:
        palette = _grounded(palette, _said_tint(brief) or _own_tint(brief))
    strength = _MOODS.get(brief.mood, _WEATHERS[brief.weather])
    strength *= _DIM if brief.dim else 1.0
    light = _GLOOM if brief.mood == "gloomy" else 1.0
    if brief.hour == "day" and not brief.open:
        left = _LEADEN.get(brief.weather, (1.0, 1.0))
        strength, light = strength * left[0], light * left[1]
    palette = _each(palette, lambda color: (color[0] * light, color[1] * strength, color[2]))
    if brief.weather == "fog":
        palette = _fogged(palette)
    palette = felt(palette, brief)
    if not brief.warmth:
        return palette
    warmer = _each(palette, lambda color: tempered(color, brief.warmth))
    return replace(warmer, sun=tempered(palette.sun, brief.warmth))


def tempered(color: Color, warmth: float) -> Color:
    """Return a color in warmer light, or in cooler light where `warmth` is negative."""
    red, yellow = _plain(color)
    red, yellow = red + _WARM[0] * warmth, yellow + _WARM[1] * warmth
    return color[0], math.hypot(red, yellow), math.degrees(math.atan2(yellow, red)) % 360


def _fogged(palette: Palette) -> Palette:
    """Return the colors of a scene in fog: one pale air, in which all but the nearest is lost."""
    mist, horizon = palette.mist, palette.sky[3]
    pale = (0.48 * (mist[0] + horizon[0]), 0.55 * mist[1], mist[2])
    far, middle, near = palette.land
    top, upper, lower = ((pale[0] * share, pale[1], pale[2]) for share in (0.93, 0.96, 0.985))
    return replace(
        palette,
        sky=(top, upper, lower, pale),
        land=(_mixed(pale, far, 0.10), _mixed(pale, middle, 0.34), _mixed(pale, near, 0.85)),
        glow=(min(0.99, pale[0] * 1.05), pale[1], pale[2]),
        mist=pale,
        snow=_mixed(pale, palette.snow, 0.3),
        cloud=pale,
    )


def _mixed(one: Color, other: Color, share: float) -> Color:
    """Return the color a share of the way from one to another."""
    red, yellow = (
        a * (1.0 - share) + b * share for a, b in zip(_plain(one), _plain(other), strict=True)
    )
    lightness = one[0] * (1.0 - share) + other[0] * share
    return lightness, math.hypot(red, yellow), math.degrees(math.atan2(yellow, red)) % 360


def _plain(color: Color) -> tuple[float, float]:
    """Return a color's place along a and b of OKLab."""
    _, chroma, hue = color
    return chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))


def _from_words(tints: Sequence[Tint]) -> tuple[Tint, Tint, Tint, Tint]:
    hue, chroma = tints[0]
    if len(tints) > 1:
        other, light = tints[1]
        return (hue, chroma), (hue, chroma), (_between(hue, other), min(chroma, light)), tints[1]
    warm = _toward(hue, 85, 26)
    return (hue, chroma), (hue, chroma), (_toward(hue, 85, 8), chroma), (warm, chroma * 0.7)


def _tinted(palette: Palette, land: Tint, top: Tint, middle: Tint, low: Tint) -> Palette:
    between = (_between(top[0], middle[0]), (top[1] + middle[1]) / 2)
    sky = (
        _with(palette.sky[0], top),
        _with(palette.sky[1], between),
        _with(palette.sky[2], middle),
        _with(palette.sky[3], low, 0.8),
    )
    far = (_between(land[0], low[0]), (land[1] + low[1]) / 2)
    return replace(
        palette,
        sky=sky,
        land=(
            _with(palette.land[0], far, 0.8),
            _with(palette.land[1], land, 0.95),
            _with(palette.land[2], land, 0.55),
        ),
        sun=_with(palette.sun, low, 0.45),
        glow=_with(palette.glow, low, 0.9),
        mist=_with(palette.mist, far, 0.6),
        snow=_with(palette.snow, low, 0.25),
        cloud=_with(palette.cloud, middle, 0.6),
    )


def _said_tint(brief: Brief) -> Tint | None:
    """Return the color that is asked for of the ground, or of a sea."""
    return brief.water if brief.place == "sea" and brief.water else brief.land


def _own_tint(brief: Brief) -> Tint | None:
    """Return the color of the ground itself, where the hour lets it show."""
    if brief.hour in ("dusk", "night"):
        return None
    if brief.season == "winter":
        return _BARE if brief.hour == "day" else None
    if brief.hour != "day":
        return _SEASONS.get(brief.season)
    own = _GROUNDS.get(brief.place)
    return own if brief.place == "desert" else _SEASONS.get(brief.season, own)


def _grounded(palette: Palette, tint: Tint | None) -> Palette:
    if tint is None:
        return palette
    far, middle, near = palette.land
    hazy = (tint[0], tint[1] * 0.55)
    return replace(
        palette,
        land=(_half(far, _with(far, hazy)), _with(middle, tint), _with(near, tint, 0.7)),
        mist=_half(palette.mist, _with(palette.mist, hazy)),
    )


def _half(one: Color, other: Color) -> Color:
    return (one[0], (one[1] + other[1]) / 2, other[2])


def _each(palette: Palette, one: Callable[[Color], Color]) -> Palette:
    """Return a palette with its colors changed, but those of sun and snow."""
    top, upper, lower, horizon = palette.sky
    far, middle, near = palette.land
    return replace(
        palette,
        sky=(one(top), one(upper), one(lower), one(horizon)),
        land=(one(far), one(middle), one(near)),
        glow=one(palette.glow),
        mist=one(palette.mist),
        cloud=one(palette.cloud),
    )


def _with(color: Color, tint: Tint, strength: float = 1.0) -> Color:
    return (color[0], tint[1] * strength, tint[0])


def _between(one: float, other: float) -> float:
    """Return the hue half way, the short way round."""
    return (one + ((other - one + 180) % 360 - 180) / 2) % 360


def _toward(hue: float, target: float, most: float) -> float:
    """Return the hue moved toward another by at most some degrees."""
    way = (target - hue + 180) % 360 - 180
    return (hue + max(-most, min(most, way))) % 360
