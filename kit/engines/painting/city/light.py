"""The light of a street by the hour, as weather, color words and moods change it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kit.engines.media.color import Oklch, mix
from kit.engines.painting.noise import Plane
from kit.engines.painting.poster.palettes import tempered
from kit.engines.painting.tints import asked, strength
from kit.engines.painting.tone import light
from kit.engines.prompt.brief import Brief

_NEON: tuple[Oklch, ...] = (
    (0.70, 0.25, 350), (0.80, 0.15, 205), (0.68, 0.23, 312), (0.84, 0.16, 92), (0.72, 0.20, 28),
    (0.82, 0.19, 150),
)  # fmt: skip
_AIR, _SUN, _AMBIENT = slice(3, 5), 5, 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Hour:
    """The light of a street."""

    #: Of the sky at the horizon, above it and at the zenith; of the air near the ground and high
    #: up; of the sun; of the light from the sky.
    colors: tuple[Oklch, ...]
    thick: float  # density of the air, per meter
    power: float  # strength of the sun, and of the light from the sky
    fill: float
    ahead: bool  # the sun stands low at the end of the street, and not high behind the camera
    lit: float  # share of lit windows
    neon: float  # strength of signs, lamps and shop windows
    exposure: float
    signs: tuple[Oklch, ...] = _NEON
    wet: float = 0.0  # how much the ground mirrors
    clouds: float = 0.0  # how much of the sky they cover

    @property
    def sun(self) -> Plane:
        """Sunlight, shape (3, 1, 1), as are the others."""
        return light(self.colors[_SUN], self.power)

    @property
    def ambient(self) -> Plane:
        """Light from the sky."""
        return light(self.colors[_AMBIENT], self.fill)

    @property
    def glow(self) -> Plane:
        """Light of the air near the ground, which signs and lamps fill."""
        return light(self.colors[3])


_HOURS = {
    "night": Hour(
        colors=((0.36, 0.10, 330), (0.23, 0.075, 285), (0.135, 0.05, 270), (0.38, 0.10, 335),
                (0.23, 0.07, 268), (0.8, 0.03, 250), (0.52, 0.06, 275)),
        thick=0.011, power=0.0, fill=0.16, ahead=False, lit=0.40, neon=1.0, exposure=1.35,
    ),
    "dusk": Hour(
        colors=((0.72, 0.13, 45), (0.46, 0.11, 320), (0.24, 0.09, 272), (0.58, 0.12, 25),
                (0.36, 0.08, 290), (0.8, 0.1, 40), (0.62, 0.07, 300)),
        thick=0.008, power=0.0, fill=0.30, ahead=True, lit=0.36, neon=0.85, exposure=1.3,
    ),
    "sunset": Hour(
        colors=((0.93, 0.11, 78), (0.74, 0.13, 45), (0.47, 0.08, 290), (0.86, 0.13, 68),
                (0.60, 0.09, 30), (0.90, 0.12, 65), (0.66, 0.06, 300)),
        thick=0.009, power=1.5, fill=0.42, ahead=True, lit=0.14, neon=0.35, exposure=1.1,
    ),
    "dawn": Hour(
        colors=((0.93, 0.07, 70), (0.80, 0.08, 20), (0.62, 0.08, 265), (0.86, 0.07, 55),
                (0.70, 0.06, 330), (0.93, 0.09, 70), (0.74, 0.05, 280)),
        thick=0.010, power=1.1, fill=0.50, ahead=True, lit=0.12, neon=0.25, exposure=1.1,
    ),
    "day": Hour(
        colors=((0.90, 0.04, 225), (0.76, 0.085, 238), (0.58, 0.12, 250), (0.84, 0.03, 235),
                (0.78, 0.05, 240), (0.97, 0.035, 88), (0.82, 0.045, 245)),
        thick=0.0042, power=2.3, fill=0.72, ahead=False, lit=0.02, neon=0.05, exposure=1.08,
    ),
}  # fmt: skip
#: Weather -> factor on the density of the air, wetness of the ground, amount of clouds.
_WEATHERS = {
    "clear": (1.0, 0.0, 0.35), "rain": (1.5, 1.0, 0.95), "mist": (2.8, 0.45, 0.7),
    "fog": (4.0, 0.45, -1.0), "snow": (2.2, 0.25, 0.95), "overcast": (1.2, 0.0, 1.0),
}  # fmt: skip
#: Hues that the glow over a city takes by night: near the ground, and high up.
_GLOWS = ((335.0, 268.0), (305.0, 230.0), (205.0, 265.0), (55.0, 285.0), (285.0, 215.0))
#: Mood -> factors on the share of lit windows, on signs and on the density of the air.
_MOODS = {
    "gloomy": (0.45, 0.55, 1.0), "calm": (0.7, 0.7, 1.0), "vivid": (1.15, 1.12, 1.0),
    "dramatic": (0.8, 1.1, 1.0), "pastel": (0.8, 0.8, 1.4),
}  # fmt: skip


def hour_of(rng: np.random.Generator, brief: Brief, air: float) -> Hour:
    """Return the light that a brief asks for; `air` is a factor on its density."""
    hour = _tinted(rng, _weathered(_HOURS[brief.hour], brief), brief)
    if brief.weather == "fog":  # by night it shines by all lamps and reaches up to the zenith
        if brief.dark:
            hour = _recolored(hour, _AIR, lambda it: (0.7 * it[0] + 0.3, 0.62 * it[1], it[2]))
        low, high = hour.colors[_AIR]
        hour = replace(hour, colors=(low, mix(low, high, 0.5), high, *hour.colors[3:]))
    chroma = strength(brief) * (1.12 if brief.mood == "dramatic" else 1.0)

    def graded(it: Oklch) -> Oklch:
        return tempered((it[0], it[1] * chroma, it[2]), brief.warmth)

    hour = _recolored(hour, slice(7), graded)
    windows, signs, thick = _MOODS.get("" if brief.glows else brief.mood, (1.0, 1.0, 1.0))
    neon = max(hour.neon, 0.5) * 1.15 if "neon" in brief.things else hour.neon
    thick *= hour.thick * air
    signs_ = tuple(graded(it) for it in hour.signs)
    hour = replace(hour, lit=hour.lit * windows, neon=neon * signs, thick=thick, signs=signs_)
    if brief.mood == "pastel":
        hour = _recolored(hour, slice(7), lambda it: (0.55 * it[0] + 0.43, max(it[1], 0.05), it[2]))
    if "minimal" in brief.composition:  # the air hides all but what is near
        low, high = hour.colors[_AIR]
        plain = (0.44 * (low[0] + high[0]) + 0.12, 0.35 * (low[1] + high[1]), low[2])
        hour = _recolored(hour, slice(5), lambda _: plain)
        thick, neon = 4.5 * max(hour.thick, 0.010), 0.3 * hour.neon
        return replace(hour, thick=thick, lit=0.25 * hour.lit, neon=neon, clouds=-1.0)
    if "outline" in brief.tones and not brief.dark:
        return replace(hour, fill=hour.fill * 0.3, power=hour.power * 0.5, lit=0.0)
    return hour


def _weathered(hour: Hour, brief: Brief) -> Hour:
    thicker, wet, clouds = _WEATHERS[brief.weather]
    hour = replace(hour, thick=hour.thick * thicker, wet=wet, clouds=clouds)
    if brief.weather != "clear" and hour.power:  # gray and soft, lights are on earlier
        power = hour.power * (0.35 if hour.ahead else 0.0)
        hour = replace(
            hour, power=power, fill=1.15 * hour.fill, lit=hour.lit + 0.16, neon=hour.neon + 0.45
        )
        gray = slice(0, 5)
        hour = _recolored(hour, gray, lambda it: mix(it, (0.4 * it[0] + 0.42, 0.014, 250), 0.7))
    if brief.dim:  # clouds swallow the colors of a low sun
        hour = _recolored(hour, slice(7), lambda it: mix(it, (0.92 * it[0], 0.022, 258), 0.8))
    return replace(hour, power=0.0) if brief.dim or not brief.open else hour


def _recolored(hour: Hour, part: slice, change: Callable[[Oklch], Oklch]) -> Hour:
    colors = list(hour.colors)
    colors[part] = [change(color) for color in colors[part]]
    return replace(hour, colors=tuple(colors))


def _tinted(rng: np.random.Generator, hour: Hour, brief: Brief) -> Hour:
    """Return an hour with the colors that are asked for, or at night with drawn ones."""
    tints = asked(brief)
    order, drawn = rng.permutation(len(_NEON)), _GLOWS[int(rng.integers(len(_GLOWS)))]
    if not tints:
        signs, share = tuple(_NEON[number] for number in order), 1.0
        low, high = ((hue, 0.0) for hue in drawn)
        if hour.fill > 0.2:
            return replace(hour, signs=signs)
    else:  # by day the air has only a touch of them
        low, high = tints[0], tints[-1]
        share = 0.85 if hour.power == 0.0 else 0.45
        signs = tuple(
            (level, max(0.05, 1.35 * chroma), (hue + shift) % 360.0)
            for level, shift in ((0.72, 0.0), (0.80, 12.0), (0.66, -12.0))
            for hue, chroma in tints
        )
    colors = tuple(
        mix(it, (it[0], min(0.15, max(tint[1], it[1])), tint[0]), share) if tint else it
        for it, tint in zip(hour.colors, (low, low, high, low, high, None, high), strict=True)
    )
    return replace(hour, colors=colors, signs=signs)
