"""Tints: a brief's colors of the light, the land, the water, or an abstract.

Forms read the named palettes, so NumPy is not imported here.
"""

from __future__ import annotations

import cmath
import math
from typing import TYPE_CHECKING, TypeAlias

from kit.engines.prompt.brief import Brief
from kit.engines.prompt.vocabulary import Tint

if TYPE_CHECKING:
    import numpy as np

    from kit.engines.media.color import Oklch

Trio: TypeAlias = tuple[Tint, Tint, Tint]

#: Named palette -> the tints of the land, the sky's top, its middle and its horizon.
PALETTES: dict[str, tuple[Tint, Tint, Tint, Tint]] = {
    "ember": ((22, 0.14), (8, 0.13), (32, 0.16), (70, 0.14)),
    "coral": ((345, 0.11), (300, 0.09), (12, 0.12), (55, 0.10)),
    "lagoon": ((205, 0.09), (215, 0.10), (188, 0.08), (90, 0.07)),
    "meadow": ((150, 0.09), (205, 0.08), (165, 0.06), (105, 0.08)),
    "lavender": ((290, 0.10), (285, 0.10), (312, 0.09), (345, 0.07)),
    "midnight": ((262, 0.10), (268, 0.10), (250, 0.11), (215, 0.08)),
    "sand": ((55, 0.07), (75, 0.04), (70, 0.06), (85, 0.08)),
    "ink": ((255, 0.008), (255, 0.008), (255, 0.006), (80, 0.006)),
}
#: The dusty air of Mars, from the zenith to the horizon.
_MARS: Trio = ((50.0, 0.075), (56.0, 0.085), (66.0, 0.075))
_WARM_OFFSET = 0.011 + 0.030j  # the offset of warm light, along a and b of OKLab
_GRAY_CHROMA = 0.03  # chroma below which a tint has no color
_STRENGTHS = {"pastel": 0.6, "vivid": 1.3, "calm": 0.85, "gloomy": 0.65}


def tints_of(brief: Brief) -> tuple[Tint, ...]:
    """Return the tints of the prompt's color words, else of the palette, else none."""
    if brief.colors:
        return brief.colors
    if brief.palette in PALETTES:
        land, top, middle, low = PALETTES[brief.palette]
        return (middle, low, top, land)
    return ()


def is_gray(brief: Brief) -> bool:
    """Return whether the brief asks only for grays, which remove all colors."""
    tints = tints_of(brief)
    return bool(tints) and max(chroma for _, chroma in tints) < _GRAY_CHROMA


def three_tints(rng: np.random.Generator, brief: Brief, drawn: list[Trio]) -> Trio:
    """Return three tints: the requested ones, completed by neighbors; else random ones."""
    own = drawn[int(rng.integers(len(drawn)))]
    given = tints_of(brief)[:3]
    if not given:
        return own
    if len(given) == 1:
        (hue, chroma) = given[0]
        side = 22.0 if rng.random() < 0.5 else -22.0
        return given[0], ((hue + side) % 360, chroma), ((hue - 1.4 * side) % 360, chroma * 0.8)
    if len(given) == 2:
        hue, chroma = given[0]
        return given[0], given[1], ((hue - 22.0) % 360, chroma)
    return given[0], given[1], given[2]


def strength(brief: Brief) -> float:
    """Return the mood's factor on chroma."""
    return _STRENGTHS.get(brief.mood, 1.0)


def of_light(brief: Brief) -> Trio | None:
    """Return the requested tints of zenith, middle sky and horizon, if any."""
    if brief.palette in PALETTES:
        return PALETTES[brief.palette][1:]
    tints = brief.colors
    if not tints:
        return _MARS if "mars" in brief.things else None
    if len(tints) == 1:
        hue, chroma = tints[0]
        warm = hue + max(-24.0, min(24.0, (85 - hue + 180) % 360 - 180))
        return tints[0], (hue, chroma * 0.9), (warm % 360, chroma * 0.7)
    return tints[0], mean_tint(tints[0], tints[-1]), tints[-1]


def of_land(brief: Brief) -> Tint | None:
    """Return the requested tint of the ground and its vegetation, if any."""
    if brief.palette in PALETTES:
        return PALETTES[brief.palette][0]
    return brief.land or _gray(brief)


def of_water(brief: Brief) -> Tint | None:
    """Return the tint of the water that the prompt names, if any."""
    return brief.water or _gray(brief)


def turn_hue(color: Oklch, tint: Tint | None, share: float = 0.7) -> Oklch:
    """Return a color moved by a share toward a tint, with the same lightness."""
    if tint is None:
        return color
    hue, chroma = tint
    way = (hue - color[2] + 180) % 360 - 180
    return (color[0], color[1] + (chroma - color[1]) * share, (color[2] + way * share) % 360)


def mean_tint(one: Tint, other: Tint) -> Tint:
    """Return the mean of two tints, by the shorter way around the hue circle."""
    hue = (one[0] + ((other[0] - one[0] + 180) % 360 - 180) / 2) % 360
    return (hue, 0.5 * (one[1] + other[1]))


def _gray(brief: Brief) -> Tint | None:
    """Return the gray of everything in colorless light, else None."""
    light = of_light(brief)
    return light[0] if light and is_gray(brief) else None


def warm(color: Oklch, warmth: float) -> Oklch:
    """Return an OKLCH color in warmer light, or in cooler light if `warmth` is negative."""
    place = cmath.rect(color[1], math.radians(color[2])) + _WARM_OFFSET * warmth
    return color[0], abs(place), math.degrees(cmath.phase(place)) % 360
