"""Ceilings: what closed clouds make of an hour's light.

Under rain and clouds a low sun is gone: the sky is gray from the horizon up, and by night it is
paler than the land, for it scatters what light there is. It only burns where the prompt names it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kit.engines.media.color import Oklch
    from kit.engines.painting.land.look import Look
    from kit.engines.prompt.brief import Brief

#: A dark ceiling over a burning horizon.
_BURNING: dict[str, dict[str, Any]] = {
    "dawn": {
        "sky": ((0.92, 0.080, 66), (0.70, 0.075, 40), (0.50, 0.045, 300), (0.40, 0.045, 270)),
        "cloud_lit": (0.72, 0.075, 50),
        "cloud_shade": (0.38, 0.040, 285),
        "air": (0.72, 0.055, 50),
        "far": (0.50, 0.035, 290),
        "shade": (0.70, 0.025, 280),
    },
    "sunset": {
        "sky": ((0.90, 0.135, 66), (0.68, 0.140, 46), (0.42, 0.070, 345), (0.28, 0.050, 280)),
        "cloud_lit": (0.66, 0.120, 46),
        "cloud_shade": (0.27, 0.045, 300),
        "air": (0.68, 0.105, 54),
        "far": (0.36, 0.045, 310),
        "shade": (0.60, 0.030, 285),
    },
    "dusk": {
        "sky": ((0.66, 0.130, 38), (0.46, 0.105, 10), (0.29, 0.060, 310), (0.19, 0.045, 275)),
        "cloud_lit": (0.48, 0.100, 24),
        "cloud_shade": (0.20, 0.045, 295),
        "air": (0.42, 0.055, 322),
        "far": (0.28, 0.045, 300),
        "shade": (0.54, 0.035, 285),
    },
}
#: Gray hours; `glow` and `sun_power` are what a weather takes its share of.
_GRAY: dict[str, dict[str, Any]] = {
    "dawn": {
        "sky": ((0.80, 0.020, 60), (0.72, 0.014, 300), (0.62, 0.022, 258), (0.52, 0.028, 258)),
        "sun": (0.90, 0.020, 80),
        "shade": (0.74, 0.026, 256),
        "air": (0.73, 0.016, 260),
        "far": (0.66, 0.020, 256),
        "cloud_lit": (0.78, 0.014, 300),
        "cloud_shade": (0.50, 0.022, 262),
        "high_light": 0.6,
        "sun_power": 2.2,
        "shade_power": 0.78,
        "glow": 0.4,
    },
    "sunset": {
        "sky": ((0.70, 0.026, 55), (0.59, 0.018, 350), (0.48, 0.024, 268), (0.38, 0.028, 262)),
        "sun": (0.86, 0.024, 70),
        "shade": (0.66, 0.028, 264),
        "air": (0.60, 0.020, 300),
        "far": (0.52, 0.022, 268),
        "cloud_lit": (0.62, 0.022, 20),
        "cloud_shade": (0.36, 0.024, 268),
        "high_light": 0.6,
        "sun_power": 2.0,
        "shade_power": 0.78,
        "glow": 0.4,
    },
    "dusk": {
        "sky": ((0.56, 0.030, 285), (0.47, 0.032, 270), (0.37, 0.036, 266), (0.28, 0.036, 266)),
        "sun": (0.76, 0.030, 280),
        "shade": (0.60, 0.036, 266),
        "air": (0.47, 0.030, 272),
        "far": (0.40, 0.030, 268),
        "cloud_lit": (0.47, 0.028, 280),
        "cloud_shade": (0.27, 0.030, 268),
        "high_light": 0.6,
        "shade_power": 0.95,
        "glow": 0.3,
        "exposure": 1.3,
    },
    "night": {
        "sky": ((0.41, 0.030, 250), (0.36, 0.030, 254), (0.30, 0.030, 260), (0.24, 0.030, 265)),
        "shade": (0.64, 0.040, 258),
        "air": (0.36, 0.028, 252),
        "far": (0.34, 0.028, 255),
        "cloud_lit": (0.41, 0.022, 250),
        "cloud_shade": (0.25, 0.024, 262),
        "shade_power": 0.42,
        "exposure": 1.4,
    },
}


def ceiling(brief: Brief) -> dict[str, Any]:
    """Return what a closed sky changes in the look of a brief's hour, if it does."""
    hour = brief.hour
    if not brief.covered or brief.weather == "fog" or (hour == "night" and brief.open):
        return {}
    if brief.dim or hour == "night":
        return _GRAY[hour]
    return {} if brief.weather == "snow" else _BURNING.get(hour, {})


def burns(brief: Brief) -> bool:
    """Return whether the sky of a brief burns at the horizon under dark clouds."""
    return brief.weather in ("rain", "overcast") and brief.hour in _BURNING and not brief.dim


def overcast(look: Look) -> Look:
    """Return a look under a heavy sky."""

    def one(color: Oklch, share: float) -> Oklch:
        return (color[0] * share, color[1], color[2])

    return replace(
        look,
        sky=tuple(one(color, 0.86) for color in look.sky),
        cloud_lit=one(look.cloud_lit, 0.78),
        cloud_shade=one(look.cloud_shade, 0.60),
        air=one(look.air, 0.85),
        far=one(look.far, 0.85),
    )
