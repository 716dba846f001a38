"""Feeling: what moods, tones and the camera's words make of a light that is worked out already.

Each word is a set of factors; a picture without any of them keeps its light as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kit.engines.media.color import Oklch
    from kit.engines.painting.land.look import Look
    from kit.engines.prompt.brief import Brief


@dataclass(frozen=True, slots=True, kw_only=True)
class Feeling:
    """What a word makes of a light.

    Parameters
    ----------
    contrast, exposure, color, haze, clouds, sun, shade, glow : float
        Factors: on the film's contrast, the light, the colors, the density of the air, the share of
        the sky that clouds cover, light from the sun, light from everywhere, the sun's glow.
    lift : float
        How much darkness is lightened, 0 to 1.
    corners : float
        Share of the light that is taken from the corners, added to the film's own.
    dark : float
        Factor on the lightness of the clouds' shaded sides, and of the sky up high.
    """

    contrast: float = 1.0
    exposure: float = 1.0
    color: float = 1.0
    haze: float = 1.0
    clouds: float = 1.0
    sun: float = 1.0
    shade: float = 1.0
    glow: float = 1.0
    lift: float = 0.0
    corners: float = 0.0
    dark: float = 1.0


MOODS = {
    "calm": Feeling(contrast=0.84, color=1.0, haze=1.35, clouds=0.40, lift=0.02, corners=-0.16),
    "dramatic": Feeling(
        contrast=1.22, color=1.06, haze=0.9, sun=1.25, shade=0.72, corners=0.2, dark=0.80
    ),
    "pastel": Feeling(contrast=0.66, exposure=1.15, color=1.35, lift=0.06, corners=-0.28),
    "vivid": Feeling(contrast=1.12, color=1.16, haze=0.8, corners=-0.08),
    "gloomy": Feeling(contrast=0.94, exposure=0.92, color=0.85, corners=0.24, dark=0.88),
}
TONES = {
    "bright": Feeling(contrast=0.82, exposure=1.3, lift=0.06, haze=1.2, corners=-0.28),
    "dark": Feeling(contrast=1.12, exposure=0.64, shade=0.9, corners=0.34, dark=0.62),
    "hard": Feeling(contrast=1.3, sun=1.35, shade=0.55),
    "soft": Feeling(contrast=0.80, sun=0.7, shade=1.2, lift=0.03, color=1.1, corners=-0.1),
    "outline": Feeling(contrast=1.12, haze=0.45, sun=0.02, shade=0.10, glow=1.25),
}
COMPOSITIONS = {
    "minimal": Feeling(contrast=0.80, color=0.88, haze=1.3, clouds=0.0, lift=0.05, corners=-0.16),
}


#: Hour -> how high a sun stands that the prompt wants to see.
_ELEVATIONS = {"dawn": 0.24, "day": 0.62, "sunset": 0.20, "dusk": 0.06}
_BEHIND, _RISEN = 0.26, 0.42  # how high at most what outlines stands; a moon at dusk
_OVER = 0.62  # how high at least a sun stands beside a volcano


def felt(look: Look, brief: Brief) -> Look:
    """Return the light of a brief as its words of mood, tone and camera change it."""
    for feeling in brief.picked(MOODS, TONES, COMPOSITIONS):
        look = _changed(look, feeling)
    return look


def shown(look: Look, brief: Brief) -> Look:
    """Return a look whose sun or moon stands where it is seen, if the prompt wants to see it."""
    if look.moon:
        named = "moon" in brief.things
        return replace(look, named=True, disc=True, milky=False) if named else look
    if "outline" in brief.tones and not brief.covered and "sun" not in brief.things:
        return replace(look, elevation=min(look.elevation, _BEHIND))
    if "moon" in brief.things and brief.hour == "dusk":
        return replace(look, elevation=_RISEN, moon=True, named=True)
    if "sun" not in brief.things:
        return look
    least = _OVER if "volcano" in brief.things else 0.0  # its flanks are not parted
    elevation = max(_ELEVATIONS[brief.hour], least)
    return replace(look, elevation=elevation, named=True, disc=True)


def _changed(look: Look, feeling: Feeling) -> Look:
    low, *high = look.sky
    return replace(
        look,
        sky=(low, *(_darker(color, 0.5 + 0.5 * feeling.dark) for color in high)),
        cloud_shade=_darker(look.cloud_shade, feeling.dark),
        contrast=look.contrast * feeling.contrast,
        exposure=look.exposure * feeling.exposure,
        saturation=look.saturation * feeling.color,
        haze=look.haze * feeling.haze,
        clouds=look.clouds * feeling.clouds,
        sun_power=look.sun_power * feeling.sun,
        shade_power=look.shade_power * feeling.shade,
        glow=look.glow * feeling.glow,
        lift=min(0.3, look.lift + feeling.lift),
        vignette=min(0.8, max(0.0, look.vignette + feeling.corners)),
    )


def _darker(color: Oklch, share: float) -> Oklch:
    return (color[0] * share, color[1], color[2])
