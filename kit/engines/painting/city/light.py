"""The light of a street by the hour, as weather, color words and moods change it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kit.engines.media.color import Oklch, mix
from kit.engines.media.noise import smooth_step
from kit.engines.painting.city.street import Building, View
from kit.engines.painting.noise import Plane, across, field, warp
from kit.engines.painting.poster.palettes import tempered
from kit.engines.painting.tints import asked, strength
from kit.engines.painting.tone import blend, gradient, light
from kit.engines.prompt.brief import Brief

_NEON: tuple[Oklch, ...] = (
    (0.70, 0.25, 350), (0.80, 0.15, 205), (0.68, 0.23, 312), (0.84, 0.16, 92), (0.72, 0.20, 28),
    (0.82, 0.19, 150),
)  # fmt: skip
_SKY, _AIR, _SUN, _AMBIENT = slice(0, 3), slice(3, 5), 5, 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Hour:
    """The light of a street.

    Parameters
    ----------
    colors : tuple of Oklch
        Of the sky at the horizon, above it and at the zenith; of the air near the ground and high
        up; of the sun; of the light from the sky.
    thick : float
        Density of the air, per meter.
    power, fill : float
        Strength of the sun, 0 for none, and of the light from the sky.
    ahead : bool
        The sun stands low at the end of the street, and not high behind the camera.
    lit : float
        Share of lit windows.
    neon : float
        Strength of signs, lamps and shop windows; `signs` are colors.
    wet : float
        How much the ground mirrors.
    """

    colors: tuple[Oklch, ...]
    thick: float
    power: float
    fill: float
    ahead: bool
    lit: float
    neon: float
    exposure: float
    signs: tuple[Oklch, ...] = _NEON
    wet: float = 0.0

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


def hour_of(rng: np.random.Generator, brief: Brief, view: View) -> Hour:
    """Return the light that a brief asks for."""
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
    thick *= hour.thick * view.shot["air"]
    signs_ = tuple(graded(it) for it in hour.signs)
    hour = replace(hour, lit=hour.lit * windows, neon=neon * signs, thick=thick, signs=signs_)
    if brief.mood == "pastel":
        hour = _recolored(hour, slice(7), lambda it: (0.55 * it[0] + 0.43, max(it[1], 0.05), it[2]))
    if "minimal" in brief.composition:  # the air hides all but what is near
        low, high = hour.colors[_AIR]
        air = (0.44 * (low[0] + high[0]) + 0.12, 0.35 * (low[1] + high[1]), low[2])
        hour = _recolored(hour, slice(5), lambda _: air)
        thick = 4.5 * max(hour.thick, 0.010)
        return replace(hour, thick=thick, lit=0.25 * hour.lit, neon=0.3 * hour.neon)
    if "outline" in brief.tones and not brief.dark:
        return replace(hour, fill=hour.fill * 0.3, power=hour.power * 0.5, lit=0.0)
    return hour


def _weathered(hour: Hour, brief: Brief) -> Hour:
    thicker, wet, _ = _WEATHERS[brief.weather]
    hour = replace(hour, thick=hour.thick * thicker, wet=wet)
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


def paint_sky(rng: np.random.Generator, brief: Brief, view: View, hour: Hour) -> Plane:
    """Return the sky with clouds and a low sun, shape (3, height, width)."""
    rise = np.clip(view.up / 0.62, 0.0, 1.0)
    stops = list(zip((0.0, 0.38, 1.0), hour.colors[_SKY], strict=True))
    picture = np.broadcast_to(gradient(stops, rise**0.8), (3, view.height, view.width))
    down, over = across(3.4, view.height, view.width)
    body, bend = (
        field(rng, view.height, view.width, cells=(2 * down, over), octaves=octaves, gain=gain)
        for octaves, gain in ((7, 0.52), (4, 0.5))
    )
    body = warp(body, bend, bend[:, ::-1], 0.03 * max(view.width, view.height))
    amount = -1.0 if "minimal" in brief.composition else _WEATHERS[brief.weather][2]
    cover = smooth_step(0.9 - 1.7 * amount, 2.0 - 1.1 * amount, body) * np.minimum(rise * 5.0, 1.0)
    low, _, top = (light(color) for color in hour.colors[_SKY])
    cloud = light((0.93, 0.012, 250)) if hour.power else 0.85 * low
    if hour.ahead:
        cloud = light(hour.colors[_SUN], 0.75)
    if hour.power == 0.0 and brief.dark:
        cloud = 0.45 * low + 0.3 * top
    picture = blend(picture, cloud * np.clip(0.75 + 0.22 * body, 0.4, 1.3), cover * 0.85)
    if hour.ahead and hour.power:
        far = _from_sun(view)
        disc = smooth_step(0.026, 0.021, far) * 5.0
        picture += light(hour.colors[_SUN]) * (disc + 0.9 * _glare(far))
    return picture


def air_of(view: View, hour: Hour) -> Plane:
    """Return the color that distance fades to, for every pixel: warm below, glowing to the sun."""
    low, high = (light(color) for color in hour.colors[_AIR])
    air = low + (high - low) * smooth_step(0.0, 0.75, view.up)
    air = np.broadcast_to(air, (3, view.height, view.width)).astype(np.float32)
    if hour.ahead and hour.power:
        air += hour.sun * (0.55 * _glare(_from_sun(view)))
    return air


def _from_sun(view: View) -> Plane:
    """Return the distance to the sun, which stands a little above the vanishing point."""
    return np.asarray(np.hypot(view.right, view.up - np.float32(0.045)))


def _glare(far: Plane) -> Plane:
    return np.asarray(np.exp(-far * 5.5) + 0.8 * np.exp(-far * 19.0), np.float32)


class Sunlight:
    """What the roofs across the street leave of the sun, which faces the walls of one side."""

    def __init__(self, buildings: list[Building], hour: Hour, side: int) -> None:
        self._side = side if hour.power and not hour.ahead else 0
        self._low = bool(hour.power) and hour.ahead
        depths = np.arange(0.0, 260.0, 0.5)
        tall = np.full(len(depths), 6.0, np.float32)
        for it in buildings:
            if it.side != side:
                tall[(depths >= it.near) & (depths < it.far)] = it.tall
        self._roofs = np.convolve(np.pad(tall, 2, mode="edge"), np.ones(5, np.float32) / 5, "valid")

    def on_wall(self, it: Building, z: Plane, up: Plane) -> Plane:
        """Return the sunlight on a wall along the street, 0 to 1."""
        if self._low:  # grazes both rows
            return 0.15 * smooth_step(2.0, 14.0, up)
        if it.side != self._side:
            return np.zeros((1, 1), np.float32)
        return 0.85 * smooth_step(-0.3, 0.3, up + 3.8 * it.wall - self._roof(z))

    def on_front(self, it: Building) -> float:
        """Return the sunlight on a wall that looks up the street."""
        return 0.0 if not self._side else 0.40 if it.side == self._side else 0.12

    def on_ground(self, x: Plane, z: Plane) -> Plane:
        """Return the sunlight on the road, 0 to 1; a low sun at its end reaches all of it."""
        if not self._side:
            return np.ones((1, 1), np.float32)
        return smooth_step(-0.8, 0.8, (x * self._side + 9.0) * 1.9 - self._roof(z))

    def _roof(self, z: Plane) -> Plane:
        place = np.clip((z + np.float32(6.0)) * 2.0, 0, len(self._roofs) - 1)
        return np.asarray(self._roofs[place.astype(np.int32)])
