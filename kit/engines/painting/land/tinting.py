"""Tinting: which colors a brief gives to the light, to the land and to the water.

A color word right before a thing that has that color in nature belongs to the thing: green hills
stand under a blue sky. Any other color word is a filter before the lens and turns sky and light.
"""

from __future__ import annotations

from typing import TypeAlias

from kit.engines.painting.poster.palettes import NAMED, Tint
from kit.engines.prompt import lexicon
from kit.engines.prompt.brief import Brief

Color: TypeAlias = tuple[float, float, float]

_GREENS = frozenset({"green", "lime", "olive", "emerald", "mint"})
_EARTHS = frozenset(
    {"red", "crimson", "scarlet", "rust", "orange", "amber", "gold", "yellow", "brown", "sepia"}
)
_BLUES = frozenset({"teal", "turquoise", "cyan", "azure", "blue", "navy", "emerald", "green"})
_GROWING = [
    "hill",
    "meadow",
    "valley",
    "field",
    "countryside",
    "pasture",
    "grass",
    "land",
    "island",
    "jungle",
    "highland",
]
_LEAVES = [
    "forest",
    "wood",
    "woodland",
    "tree",
    "grove",
    "leaf",
    "leave",
    "foliage",
    "birch",
    "maple",
    "oak",
]
_STONES = [
    "desert",
    "dune",
    "sand",
    "mesa",
    "canyon",
    "butte",
    "rock",
    "cliff",
    "badlands",
    "plain",
    "mars",
    "mountain",
    "sahara",
]
_WATERS = [
    "sea",
    "ocean",
    "lake",
    "lagoon",
    "water",
    "bay",
    "pond",
    "river",
    "tarn",
    "fjord",
    "wave",
]
#: Thing -> the colors that it has in nature.
_OWN = {
    **dict.fromkeys(_GROWING, _GREENS | {"gold", "yellow", "amber"}),
    **dict.fromkeys(_LEAVES, _GREENS | _EARTHS),
    **dict.fromkeys(_STONES, _EARTHS),
    **dict.fromkeys(("dune", "sand", "desert"), _EARTHS | {"pink", "rose", "coral"}),
}
_WET = dict.fromkeys(_WATERS, _BLUES)
#: The dust in the air of Mars, from the zenith to the horizon.
_MARTIAN: tuple[Tint, Tint, Tint] = ((50.0, 0.075), (56.0, 0.085), (66.0, 0.075))
_GRAY = 0.03  # chroma below which a light has no color
_REACH = 2  # words between a color and its thing, as in "green rolling Irish hills"


def of_light(brief: Brief) -> tuple[Tint, Tint, Tint] | None:
    """Return the tints of the zenith, of the sky between and of the horizon, if any are asked."""
    if brief.palette in NAMED:
        _, top, middle, low = NAMED[brief.palette]
        return top, middle, low
    owned = {*_owned(brief, _OWN), *_owned(brief, _WET)}
    tints = [lexicon.COLORS[word] for word in brief.colors if word not in owned]
    if not tints:
        return _MARTIAN if brief.says("mars", "martian") else None
    if len(tints) == 1:
        hue, chroma = tints[0]
        return tints[0], (hue, chroma * 0.9), (_toward(hue, 85, 24), chroma * 0.7)
    return tints[0], between(tints[0], tints[-1]), tints[-1]


def of_land(brief: Brief) -> Tint | None:
    """Return the tint of what grows or lies on the ground, if one is asked for."""
    if brief.palette in NAMED:
        return NAMED[brief.palette][0]
    return _first(_owned(brief, _OWN)) or _drained(brief)


def of_water(brief: Brief) -> Tint | None:
    """Return the tint of the water, if the prompt names one."""
    return _first(_owned(brief, _WET)) or _drained(brief)


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


def _owned(brief: Brief, own: dict[str, frozenset[str]]) -> list[str]:
    """Return the color words that stand before a thing of that color."""
    words = brief.words
    return [
        word
        for place, word in enumerate(words)
        if word in brief.colors
        and any(word in own.get(thing, ()) for thing in words[place + 1 : place + 2 + _REACH])
    ]


def _drained(brief: Brief) -> Tint | None:
    """Return the gray that everything turns to under a light without color, else None."""
    tints = of_light(brief)
    return tints[0] if tints and max(chroma for _, chroma in tints) < _GRAY else None


def _first(words: list[str]) -> Tint | None:
    return lexicon.COLORS[words[0]] if words else None


def _toward(hue: float, target: float, most: float) -> float:
    way = (target - hue + 180) % 360 - 180
    return (hue + max(-most, min(most, way))) % 360
