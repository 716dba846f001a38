"""Colors of a flat landscape: its hour's look, the land's own colors, and changes by words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kit.engines.media.color import Oklch, mix
from kit.engines.painting.looks import HourLook
from kit.engines.painting.tints import of_land, warm
from kit.engines.prompt.brief import Brief
from kit.engines.prompt.vocabulary import Tint

_IN_FOG = (0.10, 0.34, 0.85)  # shares of its own color that land keeps in fog


@dataclass(frozen=True, slots=True, kw_only=True)
class Palette:
    """The colors of a scene, each (lightness, chroma, hue).

    They are the sky's from the top down, the land's from the farthest ridge to the nearest, those
    of the disc of sun or moon and its glow, and those of mist, snow and clouds.
    """

    sky: tuple[Oklch, ...]
    land: tuple[Oklch, ...]
    light: tuple[Oklch, ...]
    air: tuple[Oklch, ...]


#: Hour -> the land's color, before season, place or prompt change it.
_LAND = {
    "dawn": ((0.80, 0.075, 12), (0.56, 0.085, 310), (0.26, 0.060, 288)),
    "day": ((0.80, 0.050, 232), (0.55, 0.070, 212), (0.29, 0.055, 190)),
    "sunset": ((0.75, 0.140, 40), (0.47, 0.135, 355), (0.20, 0.070, 305)),
    "dusk": ((0.56, 0.110, 318), (0.36, 0.095, 288), (0.135, 0.045, 276)),
    "night": ((0.43, 0.068, 240), (0.26, 0.060, 254), (0.085, 0.030, 266)),
}
_SEASONS: dict[str, Tint] = {"autumn": (42, 0.11), "spring": (345, 0.085)}
_GROUNDS: dict[str, Tint] = {"desert": (56, 0.095), "hills": (138, 0.095), "forest": (162, 0.070)}
_SNOW_TINT: Tint = (248, 0.030)  # trees and rock over snow
_SKY_CHROMA = (1.35, 1.1)  # a print's sky has more chroma than a photograph's, less so by day
#: Weather -> factors on the land's chroma and lightness.
_WEATHER = {"rain": (0.55, 0.86), "snow": (0.5, 1.0), "overcast": (0.6, 1.0), "fog": (0.75, 1.0)}
#: Word -> factor on the distance of lightness from a middle, that middle, factors on both.
_Grade: TypeAlias = tuple[float, float, float, float]
_GRADES: dict[str, _Grade] = {
    "calm": (0.72, 0.74, 1.0, 0.92),
    "dramatic": (1.22, 0.62, 1.0, 1.14),
    "pastel": (0.56, 0.88, 1.0, 0.72),
    "vivid": (1.06, 0.55, 1.0, 1.42),
    "gloomy": (0.92, 0.55, 0.77, 0.55),
    "bright": (0.62, 0.96, 1.0, 1.0),
    "dark": (1.25, 0.55, 0.70, 1.0),
    "hard": (1.36, 0.60, 1.0, 1.05),
    "soft": (0.66, 0.70, 1.0, 1.0),
    "minimal": (0.78, 0.74, 1.0, 0.92),
}
#: Against the light all land is dark, and pale parts are faint.
_OUTLINE, _FAINT = (0.12, 0.10, 1.0, 0.7), (0.30, 0.12, 1.0, 0.7)


def palette_for(brief: Brief, look: HourLook) -> Palette:
    """Return the colors of a scene: its hour's look, the land's own, then changes by words."""
    chroma, light = _WEATHER.get(brief.weather, (1.0, 1.0))
    lively = _SKY_CHROMA[brief.hour == "day"]
    sky = tuple((color[0], lively * color[1], color[2]) for color in reversed(look.sky))
    land: tuple[Oklch, ...] = _LAND[brief.hour]
    if tint := _tint_of_land(brief):
        (hue, strong), (far, middle, near) = tint, land
        faint = (far[1] + 0.55 * strong) / 2
        land = (far[0], faint, hue), (middle[0], strong, hue), (near[0], 0.7 * strong, hue)
    if brief.weather == "fog":
        land = tuple(mix(look.air, one, share) for one, share in zip(land, _IN_FOG, strict=True))
    elif not brief.open_sky or brief.dim:
        light = light if brief.hour == "day" else 1.0
        land = tuple((one[0] * light, one[1] * chroma, one[2]) for one in land)
    land = tuple(warm(one, brief.warmth) for one in land)
    disc = (0.975, 0.025 if look.moon else 0.05, 90.0)
    glow = (0.74, 0.065, 225.0) if look.moon else mix(sky[3], disc, 0.1)
    mist = mix(look.air, sky[3], 0.7)
    cloud, white = look.cloud_lit, (min(0.985, 0.47 + 0.55 * sky[3][0]), 0.3 * sky[3][1], sky[3][2])
    snow = mix(mist, white, 0.3 if brief.weather == "fog" else 1.0)
    for grade in brief.select(_GRADES):
        sky, land = (tuple(_grade(one, grade) for one in part) for part in (sky, land))
        glow, mist, snow, cloud = (_grade(one, grade) for one in (glow, mist, snow, cloud))
    if "outline" in brief.tones:
        land = tuple(_grade(one, _OUTLINE) for one in land)
        mist, snow = _grade(mist, _FAINT), _grade(snow, _FAINT)
    return Palette(sky=sky, land=land, light=(disc, glow), air=(mist, snow, cloud))


def _tint_of_land(brief: Brief) -> Tint | None:
    asked = (brief.place == "sea" and brief.water) or of_land(brief) or (*brief.colors, None)[0]
    if asked or brief.dark:
        return asked
    day = brief.hour == "day"
    if brief.season == "winter":
        return _SNOW_TINT if day else None
    own = _GROUNDS.get(brief.place) if day else None
    return own if own and brief.place == "desert" else _SEASONS.get(brief.season, own)


def _grade(color: Oklch, grade: _Grade) -> Oklch:
    contrast, middle, light, chroma = grade
    lightness = (middle + (color[0] - middle) * contrast) * light
    return min(0.985, max(0.03, lightness)), color[1] * chroma, color[2]
