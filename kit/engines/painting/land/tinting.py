"""Tinting: which colors a brief gives to the light, to the land and to the water."""

from __future__ import annotations

from typing import TypeAlias

from kit.engines.painting.poster.palettes import NAMED
from kit.engines.prompt.brief import Brief
from kit.engines.prompt.vocabulary import Tint

Color: TypeAlias = tuple[float, float, float]

#: The dust in the air of Mars, from the zenith to the horizon.
_MARTIAN: tuple[Tint, Tint, Tint] = ((50.0, 0.075), (56.0, 0.085), (66.0, 0.075))
_GRAY = 0.03  # chroma below which a light has no color


def of_light(brief: Brief) -> tuple[Tint, Tint, Tint] | None:
    """Return the tints of the zenith, of the sky between and of the horizon, if any are asked."""
    if brief.palette in NAMED:
        _, top, middle, low = NAMED[brief.palette]
        return top, middle, low
    tints = brief.colors
    if not tints:
        return _MARTIAN if "mars" in brief.things else None
    if len(tints) == 1:
        hue, chroma = tints[0]
        return tints[0], (hue, chroma * 0.9), (_toward(hue, 85, 24), chroma * 0.7)
    return tints[0], between(tints[0], tints[-1]), tints[-1]


def of_land(brief: Brief) -> Tint | None:
    """Return the tint of what grows or lies on the ground, if one is asked for."""
    if brief.palette in NAMED:
        return NAMED[brief.palette][0]
    return brief.land or _drained(brief)


def of_water(brief: Brief) -> Tint | None:
    """Return the tint of the water, if the prompt names one."""
    return brief.water or _drained(brief)


def turned(color: Color, tint: Tint | None, share: float = 0.7) -> Color:
    """Return a color a share of the way to a tint, as light as it was."""
    if tint is None:
        return color
    hue, chroma = tint
    way = (hue - color[2] + 180) % 360 - 180
    return (color[0], color[1] + (chroma - color[1]) * share, (color[2] + way * share) % 360)


def toned(color: Color, tint: Tint, strength: float = 1.0) -> Color:
    """Return a color with the hue of a tint, and a share of its chroma."""
    return (color[0], tint[1] * strength, tint[0])


def between(one: Tint, other: Tint) -> Tint:
    """Return the tint half way, the short way round."""
    hue = (one[0] + ((other[0] - one[0] + 180) % 360 - 180) / 2) % 360
    return (hue, 0.5 * (one[1] + other[1]))


def _drained(brief: Brief) -> Tint | None:
    """Return the gray that everything turns to under a light without color, else None."""
    tints = of_light(brief)
    return tints[0] if tints and max(chroma for _, chroma in tints) < _GRAY else None


def _toward(hue: float, target: float, most: float) -> float:
    way = (target - hue + 180) % 360 - 180
    return (hue + max(-most, min(most, way))) % 360
