"""Hours: the light of a street as data, from the sky to the share of lit windows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kit.engines.media.color import Oklch, mix
from kit.engines.painting.city.directing import Hour, directed
from kit.engines.painting.poster.palettes import tempered
from kit.engines.painting.tints import asked, strength
from kit.engines.prompt.brief import Brief
from kit.engines.prompt.vocabulary import Tint

_NEON = (
    (0.70, 0.25, 350),
    (0.80, 0.15, 205),
    (0.68, 0.23, 312),
    (0.84, 0.16, 92),
    (0.72, 0.20, 28),
    (0.82, 0.19, 150),
)
_HOURS = {
    "night": Hour(
        sky=((0.36, 0.10, 330), (0.23, 0.075, 285), (0.135, 0.05, 270)),
        haze=((0.38, 0.10, 335), (0.23, 0.07, 268)),
        thick=0.011, sun=(0.8, 0.03, 250), power=0.0, ambient=(0.52, 0.06, 275), fill=0.16,
        ahead=False, lit=0.40, neon=1.0, signs=_NEON, wet=0.0, exposure=1.35,
    ),
    "dusk": Hour(
        sky=((0.72, 0.13, 45), (0.46, 0.11, 320), (0.24, 0.09, 272)),
        haze=((0.58, 0.12, 25), (0.36, 0.08, 290)),
        thick=0.008, sun=(0.8, 0.1, 40), power=0.0, ambient=(0.62, 0.07, 300), fill=0.30,
        ahead=True, lit=0.36, neon=0.85, signs=_NEON, wet=0.0, exposure=1.3,
    ),
    "sunset": Hour(
        sky=((0.93, 0.11, 78), (0.74, 0.13, 45), (0.47, 0.08, 290)),
        haze=((0.86, 0.13, 68), (0.60, 0.09, 30)),
        thick=0.009, sun=(0.90, 0.12, 65), power=1.5, ambient=(0.66, 0.06, 300), fill=0.42,
        ahead=True, lit=0.14, neon=0.35, signs=_NEON, wet=0.0, exposure=1.1,
    ),
    "dawn": Hour(
        sky=((0.93, 0.07, 70), (0.80, 0.08, 20), (0.62, 0.08, 265)),
        haze=((0.86, 0.07, 55), (0.70, 0.06, 330)),
        thick=0.010, sun=(0.93, 0.09, 70), power=1.1, ambient=(0.74, 0.05, 280), fill=0.50,
        ahead=True, lit=0.12, neon=0.25, signs=_NEON, wet=0.0, exposure=1.1,
    ),
    "day": Hour(
        sky=((0.90, 0.04, 225), (0.76, 0.085, 238), (0.58, 0.12, 250)),
        haze=((0.84, 0.03, 235), (0.78, 0.05, 240)),
        thick=0.0042, sun=(0.97, 0.035, 88), power=2.3, ambient=(0.82, 0.045, 245), fill=0.72,
        ahead=False, lit=0.02, neon=0.05, signs=_NEON, wet=0.0, exposure=1.08,
    ),
}  # fmt: skip
#: Hues that the glow over a city takes by night: near the ground, and high up.
_GLOWS = ((335.0, 268.0), (305.0, 230.0), (205.0, 265.0), (55.0, 285.0), (285.0, 215.0))
_THICKER = {"clear": 1.0, "rain": 1.5, "mist": 2.8, "fog": 4.0, "snow": 2.2, "overcast": 1.2}
_SCATTERED = 0.30  # share of the way to white that lamps lift a fog
_GRAYED = 0.8  # share of the way to gray that a closed sky leads the colors of a low sun
_WET = {"rain": 1.0, "mist": 0.45, "fog": 0.45, "snow": 0.25}


def hour_of(rng: np.random.Generator, brief: Brief) -> Hour:
    """Return the light that a brief asks for."""
    hour = _HOURS[brief.hour]
    wet = _WET.get(brief.weather, 0.0)
    hour = replace(hour, thick=hour.thick * _THICKER[brief.weather], wet=wet)
    if brief.weather != "clear" and hour.power:
        hour = _overcast(hour)
    if brief.dim or not brief.open:
        hour = _sunless(hour, dim=brief.dim)
    hour = _tinted(rng, hour, asked(brief))
    if brief.weather == "fog":  # it reaches up to where the sky would be
        low, high = (_scattering(color) if brief.dark else color for color in hour.haze)
        hour = replace(hour, haze=(low, high), sky=(low, mix(low, high, 0.5), high))
    if "neon" in brief.things:
        hour = replace(hour, neon=max(hour.neon, 0.5) * 1.15)
    factor = strength(brief) * (1.12 if brief.mood == "dramatic" else 1.0)
    return directed(_moody(hour, factor, brief.warmth), brief)


def _scattering(color: Oklch) -> Oklch:
    """Return the color of a fog by night: it shines by all lamps and signs of the street."""
    return color[0] + _SCATTERED * (1.0 - color[0]), 0.62 * color[1], color[2]


def _overcast(hour: Hour) -> Hour:
    """Return an hour under clouds: gray, soft, its windows and signs lit earlier."""
    gray: Oklch = (0.74, 0.012, 250)
    return replace(
        hour,
        sky=(_toward(hour.sky[0], gray, 0.6), _toward(hour.sky[1], gray, 0.8),
             _toward(hour.sky[2], (0.60, 0.02, 255), 0.8)),
        haze=(_toward(hour.haze[0], gray, 0.6), _toward(hour.haze[1], gray, 0.7)),
        power=hour.power * (0.35 if hour.ahead else 0.0),
        fill=hour.fill * 1.15,
        lit=hour.lit + 0.16,
        neon=hour.neon + 0.45,
    )  # fmt: skip


def _sunless(hour: Hour, *, dim: bool) -> Hour:
    """Return an hour whose sun clouds hide.

    Parameters
    ----------
    dim : bool
        Whether they swallow its colors too.
    """
    hour = replace(hour, power=0.0)
    if not dim:
        return hour
    low, middle, top = (_grayed(color) for color in hour.sky)
    near, high = (_grayed(color) for color in hour.haze)
    sun, ambient = _grayed(hour.sun), _grayed(hour.ambient)
    return replace(hour, sky=(low, middle, top), haze=(near, high), sun=sun, ambient=ambient)


def _grayed(color: Oklch) -> Oklch:
    return mix(color, (0.92 * color[0], 0.022, 258), _GRAYED)


def _tinted(rng: np.random.Generator, hour: Hour, tints: tuple[Tint, ...]) -> Hour:
    """Return an hour whose signs and air have the asked colors; by day the air has only a touch."""
    if not tints:
        order = rng.permutation(len(hour.signs))
        hour = replace(hour, signs=tuple(hour.signs[number] for number in order))
        glow = _GLOWS[int(rng.integers(len(_GLOWS)))]
        return hour if hour.fill > 0.2 else _glowing(hour, *glow)
    share = 0.85 if hour.power == 0.0 else 0.45
    low, high = tints[0], tints[-1]
    signs = tuple(
        (level, max(0.05, 1.35 * tint[1]), (tint[0] + shift) % 360.0)
        for level, shift in ((0.72, 0.0), (0.80, 12.0), (0.66, -12.0))
        for tint in tints
    )
    return replace(
        hour,
        sky=(_hued(hour.sky[0], low, share), _hued(hour.sky[1], low, share),
             _hued(hour.sky[2], high, share)),
        haze=(_hued(hour.haze[0], low, share), _hued(hour.haze[1], high, share)),
        ambient=_hued(hour.ambient, high, share),
        signs=signs,
    )  # fmt: skip


def _glowing(hour: Hour, low: float, high: float) -> Hour:
    """Return a night whose air has other hues."""

    def turned(color: Oklch, hue: float) -> Oklch:
        return color[0], color[1], hue

    sky = (turned(hour.sky[0], low), turned(hour.sky[1], high), turned(hour.sky[2], high))
    return replace(hour, sky=sky, haze=(turned(hour.haze[0], low), turned(hour.haze[1], high)))


def _moody(hour: Hour, factor: float, warmth: int) -> Hour:
    def tuned(color: Oklch) -> Oklch:
        return tempered((color[0], color[1] * factor, color[2]), warmth)

    one, two, three = hour.sky
    return replace(
        hour,
        sky=(tuned(one), tuned(two), tuned(three)),
        haze=(tuned(hour.haze[0]), tuned(hour.haze[1])),
        sun=tempered(hour.sun, warmth),
        ambient=tempered(hour.ambient, warmth),
        signs=tuple(tuned(sign) for sign in hour.signs),
    )


def _toward(color: Oklch, other: Oklch, share: float) -> Oklch:
    return mix(color, (color[0] * 0.4 + other[0] * 0.6, other[1], other[2]), share)


def _hued(color: Oklch, tint: Tint, share: float) -> Oklch:
    return mix(color, (color[0], min(0.15, max(tint[1], color[1])), tint[0]), share)
