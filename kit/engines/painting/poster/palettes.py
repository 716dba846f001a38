"""Palettes: the colors of a brief, as OKLCH data (no numpy here: forms read the names).

Lightness comes from the hour, so every palette works at every hour; a named palette or the prompt's
color words replace hue and chroma.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TypeAlias

from kit.engines.prompt.brief import Brief
from kit.engines.prompt.vocabulary import Tint

Color: TypeAlias = tuple[float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Palette:
    """The colors that a scene is painted with, each (lightness, chroma, hue).

    They are the sky's from its top down, the land's from the farthest ridge to the nearest, those
    of the disc of sun or moon and its glow, and those of mist, snow and clouds.
    """

    sky: tuple[Color, ...]
    land: tuple[Color, ...]
    light: tuple[Color, ...]
    air: tuple[Color, ...]


HOURS = {
    "dawn": Palette(
        sky=((0.66, 0.085, 268), (0.76, 0.085, 318), (0.86, 0.085, 25), (0.935, 0.075, 72)),
        land=((0.80, 0.075, 12), (0.56, 0.085, 310), (0.26, 0.060, 288)),
        light=((0.985, 0.045, 92), (0.95, 0.085, 75)),
        air=((0.92, 0.050, 45), (0.96, 0.020, 30), (0.95, 0.045, 40)),
    ),
    "day": Palette(
        sky=((0.62, 0.115, 248), (0.73, 0.095, 238), (0.85, 0.060, 222), (0.945, 0.035, 190)),
        land=((0.80, 0.050, 232), (0.55, 0.070, 212), (0.29, 0.055, 190)),
        light=((0.985, 0.050, 100), (0.97, 0.060, 100)),
        air=((0.945, 0.025, 205), (0.985, 0.008, 240), (0.99, 0.010, 220)),
    ),
    "sunset": Palette(
        sky=((0.43, 0.125, 292), (0.58, 0.155, 345), (0.74, 0.155, 32), (0.88, 0.130, 74)),
        land=((0.75, 0.140, 40), (0.47, 0.135, 355), (0.20, 0.070, 305)),
        light=((0.975, 0.065, 95), (0.90, 0.140, 70)),
        air=((0.85, 0.110, 55), (0.92, 0.055, 50), (0.80, 0.140, 30)),
    ),
    "dusk": Palette(
        sky=((0.26, 0.080, 274), (0.38, 0.105, 288), (0.56, 0.125, 322), (0.79, 0.105, 42)),
        land=((0.56, 0.110, 318), (0.36, 0.095, 288), (0.135, 0.045, 276)),
        light=((0.96, 0.060, 80), (0.80, 0.120, 45)),
        air=((0.64, 0.105, 335), (0.80, 0.050, 310), (0.60, 0.130, 340)),
    ),
    "night": Palette(
        sky=((0.135, 0.050, 272), (0.21, 0.068, 264), (0.34, 0.078, 252), (0.51, 0.072, 232)),
        land=((0.43, 0.068, 240), (0.26, 0.060, 254), (0.085, 0.030, 266)),
        light=((0.965, 0.025, 95), (0.74, 0.065, 225)),
        air=((0.47, 0.055, 236), (0.72, 0.035, 250), (0.36, 0.060, 255)),
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
#: Season or place -> tint of the land where the hour lets it show.
_SEASONS: dict[str, Tint] = {"autumn": (42, 0.11), "spring": (345, 0.085)}
_GROUNDS: dict[str, Tint] = {"desert": (56, 0.095), "hills": (138, 0.095), "forest": (162, 0.070)}
_BARE: Tint = (248, 0.030)  # trees and rock over snow
#: Weather -> shares of chroma that it leaves, and of a day's chroma and lightness besides.
_WEATHERS = {
    "rain": (0.82, 0.55, 0.86),
    "snow": (0.82, 0.5, 1.0),
    "overcast": (0.6, 1.0, 1.0),
    "fog": (0.75, 1.0, 1.0),
}
_DIM = 0.4  # share of a low sun's colors that a closed sky lets through
_WARM = 0.011 + 0.030j  # what warm light adds to a color, along a and b of OKLab
#: Factor on how far lightness is from a middle, that middle, then factors on lightness and chroma.
_Grade: TypeAlias = tuple[float, float, float, float]
_MOODS: dict[str, _Grade] = {
    "calm": (0.72, 0.74, 1.0, 0.92),
    "dramatic": (1.22, 0.62, 1.0, 1.14),
    "pastel": (0.56, 0.88, 1.0, 0.72),
    "vivid": (1.06, 0.55, 1.0, 1.42),
    "gloomy": (0.92, 0.55, 0.77, 0.55),
}
_TONES: dict[str, _Grade] = {
    "bright": (0.62, 0.96, 1.0, 1.0),
    "dark": (1.25, 0.55, 0.70, 1.0),
    "hard": (1.36, 0.60, 1.0, 1.05),
    "soft": (0.66, 0.70, 1.0, 1.0),
}
_COMPOSITIONS: dict[str, _Grade] = {"minimal": (0.78, 0.74, 1.0, 0.92)}
#: Against the light all land is dark, and what is pale on it is faint.
_OUTLINE, _FAINT = (0.12, 0.10, 1.0, 0.7), (0.30, 0.12, 1.0, 0.7)


def palette_for(brief: Brief) -> Palette:
    """Return the colors of a scene: those of its hour, then the palette's, then the words'."""
    palette = HOURS[brief.hour]
    said = brief.water if brief.place == "sea" and brief.water else brief.land
    if brief.palette in NAMED:
        palette = _tinted(palette, *NAMED[brief.palette])
    elif brief.colors:
        palette = _grounded(_tinted(palette, *_from_words(brief.colors)), said)
    else:
        palette = _grounded(palette, said or _own_tint(brief))
    chroma, by_day, light = _WEATHERS.get(brief.weather, (1.0, 1.0, 1.0))
    if brief.hour != "day" or brief.open:
        by_day = light = 1.0
    chroma *= by_day * (_DIM if brief.dim else 1.0)
    palette = _each(palette, lambda color: (color[0] * light, color[1] * chroma, color[2]))
    if brief.weather == "fog":
        palette = _fogged(palette)
    for grade in brief.picked(_MOODS, _TONES, _COMPOSITIONS):
        palette = _each(palette, partial(_graded, grade))
    if "outline" in brief.tones:
        mist, snow, cloud = palette.air
        palette = replace(
            palette,
            land=tuple(_graded(_OUTLINE, color) for color in palette.land),
            air=(_graded(_FAINT, mist), _graded(_FAINT, snow), cloud),
        )
    if not brief.warmth:
        return palette
    sun, glow = (tempered(color, brief.warmth) for color in palette.light)
    warmer = _each(palette, lambda color: tempered(color, brief.warmth))
    return replace(warmer, light=(sun, glow))


def tempered(color: Color, warmth: float) -> Color:
    """Return a color in warmer light, or in cooler light where `warmth` is negative."""
    return _at(color[0], _plane(color) + _WARM * warmth)


def _plane(color: Color) -> complex:
    """Return a color's place along a and b of OKLab."""
    return cmath.rect(color[1], math.radians(color[2]))


def _at(lightness: float, place: complex) -> Color:
    return lightness, abs(place), math.degrees(cmath.phase(place)) % 360


def _mixed(one: Color, other: Color, share: float) -> Color:
    rest = 1.0 - share
    return _at(one[0] * rest + other[0] * share, _plane(one) * rest + _plane(other) * share)


def _graded(grade: _Grade, color: Color) -> Color:
    contrast, middle, light, chroma = grade
    lightness = (middle + (color[0] - middle) * contrast) * light
    return min(0.985, max(0.03, lightness)), color[1] * chroma, color[2]


def _fogged(palette: Palette) -> Palette:
    """Return the colors of a scene in fog: one pale air, in which all but the nearest is lost."""
    mist, horizon = palette.air[0], palette.sky[3]
    pale = (0.48 * (mist[0] + horizon[0]), 0.55 * mist[1], mist[2])
    seen = zip(palette.land, (0.10, 0.34, 0.85), strict=True)
    return Palette(
        sky=tuple((pale[0] * share, pale[1], pale[2]) for share in (0.93, 0.96, 0.985, 1.0)),
        land=tuple(_mixed(pale, color, share) for color, share in seen),
        light=(palette.light[0], (min(0.99, pale[0] * 1.05), pale[1], pale[2])),
        air=(pale, _mixed(pale, palette.air[1], 0.3), pale),
    )


def _from_words(tints: Sequence[Tint]) -> tuple[Tint, Tint, Tint, Tint]:
    hue, chroma = tints[0]
    if len(tints) > 1:
        middle = (_between(hue, tints[1][0]), min(chroma, tints[1][1]))
        return tints[0], tints[0], middle, tints[1]
    low = (_toward(hue, 85, 26), chroma * 0.7)
    return tints[0], tints[0], (_toward(hue, 85, 8), chroma), low


def _tinted(palette: Palette, land: Tint, top: Tint, middle: Tint, low: Tint) -> Palette:
    upper = (_between(top[0], middle[0]), (top[1] + middle[1]) / 2)
    far = (_between(land[0], low[0]), (land[1] + low[1]) / 2)
    tints = {
        "sky": ((top, 1.0), (upper, 1.0), (middle, 1.0), (low, 0.8)),
        "land": ((far, 0.8), (land, 0.95), (land, 0.55)),
        "light": ((low, 0.45), (low, 0.9)),
        "air": ((far, 0.6), (low, 0.25), (middle, 0.6)),
    }
    return Palette(**{
        name: tuple(
            (color[0], tint[1] * share, tint[0])
            for color, (tint, share) in zip(getattr(palette, name), row, strict=True)
        )
        for name, row in tints.items()
    })  # fmt: skip


def _own_tint(brief: Brief) -> Tint | None:
    """Return the color of the ground itself, where the hour lets it show."""
    if brief.dark:
        return None
    if brief.season == "winter":
        return _BARE if brief.hour == "day" else None
    own = _GROUNDS.get(brief.place) if brief.hour == "day" else None
    return own if own and brief.place == "desert" else _SEASONS.get(brief.season, own)


def _grounded(palette: Palette, tint: Tint | None) -> Palette:
    if tint is None:
        return palette
    hue, chroma = tint
    (far, middle, near), (mist, snow, cloud) = palette.land, palette.air
    faint = 0.55 * chroma
    land = (
        (far[0], (far[1] + faint) / 2, hue),
        (middle[0], chroma, hue),
        (near[0], 0.7 * chroma, hue),
    )
    return replace(palette, land=land, air=((mist[0], (mist[1] + faint) / 2, hue), snow, cloud))


def _each(palette: Palette, one: Callable[[Color], Color]) -> Palette:
    """Return a palette with its colors changed, but not the sun's."""
    changed = {f.name: tuple(map(one, getattr(palette, f.name))) for f in fields(palette)}
    return Palette(**{**changed, "light": (palette.light[0], changed["light"][1])})


def _between(one: float, other: float) -> float:
    """Return the hue half way, the short way round."""
    return (one + ((other - one + 180) % 360 - 180) / 2) % 360


def _toward(hue: float, target: float, most: float) -> float:
    """Return the hue moved toward another by at most some degrees."""
    way = (target - hue + 180) % 360 - 180
    return (hue + max(-most, min(most, way))) % 360
