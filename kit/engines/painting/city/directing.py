"""Directing: what an hour's light is, and what words of mood and camera make of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kit.engines.media.color import Oklch
from kit.engines.prompt.brief import Brief


@dataclass(frozen=True, slots=True, kw_only=True)
class Hour:
    """The light of a street.

    Parameters
    ----------
    sky : tuple of Oklch
        From the horizon to the zenith.
    haze : tuple of Oklch
        Color of the air near the ground and high up.
    thick : float
        Density of the air, per meter.
    sun : Oklch
        Color of the sunlight; `power` is its strength and 0 means none.
    ambient : Oklch
        Light from the sky; `fill` is its strength.
    ahead : bool
        The sun stands low at the end of the street, and not high behind the camera.
    lit : float
        Share of lit windows.
    neon : float
        Strength of signs and shop windows, 0 to 1.
    signs : tuple of Oklch
        Colors of the signs.
    """

    sky: tuple[Oklch, Oklch, Oklch]
    haze: tuple[Oklch, Oklch]
    thick: float
    sun: Oklch
    power: float
    ambient: Oklch
    fill: float
    ahead: bool
    lit: float
    neon: float
    signs: tuple[Oklch, ...]
    wet: float
    exposure: float


#: Mood -> factors on the share of lit windows and on the strength of signs.
_LIT = {"gloomy": (0.45, 0.55), "calm": (0.7, 0.7), "vivid": (1.15, 1.12), "dramatic": (0.8, 1.1)}
_VEIL = 4.5  # how much denser air is that leaves a street empty
_DEEP = 1.7  # likewise, where distance shows how large all is
_OVER = 0.4  # likewise, of the air that one looks through from a roof
_PALE = 0.45  # share of the way to white of a pastel sky


def directed(hour: Hour, brief: Brief) -> Hour:
    """Return the light of a street as the words of a brief change it."""
    windows, signs = _LIT.get("" if brief.glows else brief.mood, (1.0, 1.0))
    if (windows, signs) != (1.0, 1.0):
        hour = replace(hour, lit=hour.lit * windows, neon=hour.neon * signs)
    if brief.mood == "pastel":
        hour = _pale(hour)
    if "minimal" in brief.composition:
        hour = _veiled(hour)
    if "high" in brief.composition:
        hour = replace(hour, thick=hour.thick * _OVER)
    if "dramatic" in brief.composition:
        hour = replace(hour, thick=hour.thick * _DEEP)
    if "outline" in brief.tones and not brief.dark:
        hour = replace(hour, fill=hour.fill * 0.3, power=hour.power * 0.5, lit=0.0)
    return hour


def _pale(hour: Hour) -> Hour:
    def lighter(color: Oklch) -> Oklch:
        return color[0] + _PALE * (0.95 - color[0]), max(color[1], 0.05), color[2]

    low, middle, top = (lighter(color) for color in hour.sky)
    near, high = (lighter(color) for color in hour.haze)
    return replace(
        hour, sky=(low, middle, top), haze=(near, high), ambient=lighter(hour.ambient),
        fill=1.25 * hour.fill, thick=1.4 * hour.thick, lit=0.8 * hour.lit, neon=0.8 * hour.neon,
    )  # fmt: skip


def _veiled(hour: Hour) -> Hour:
    """Return an hour whose air hides all but what is near, in a plain color."""
    near, high = hour.haze
    plain = tuple(0.5 * (one + other) for one, other in zip(near[:2], high[:2], strict=True))
    air: Oklch = (plain[0] + 0.12 * (1.0 - plain[0]), 0.7 * plain[1], near[2])
    return replace(
        hour, thick=_VEIL * max(hour.thick, 0.010), haze=(air, air), sky=(air, air, air),
        lit=0.25 * hour.lit, neon=0.3 * hour.neon, power=0.4 * hour.power,
    )  # fmt: skip
