"""Tints: the hues that a brief asks for, for the painters that have no light of day to go by."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from kit.engines.painting.poster.palettes import NAMED
from kit.engines.prompt.brief import Brief
from kit.engines.prompt.vocabulary import Tint

Trio: TypeAlias = tuple[Tint, Tint, Tint]

_GRAY = 0.03  # chroma below which a tint has no color
_STRENGTHS = {"pastel": 0.6, "vivid": 1.3, "calm": 0.85, "gloomy": 0.65}


def asked(brief: Brief) -> tuple[Tint, ...]:
    """Return the tints of the prompt's color words, else of the palette, else none."""
    if brief.colors:
        return brief.colors
    if brief.palette in NAMED:
        land, top, middle, low = NAMED[brief.palette]
        return (middle, low, top, land)
    return ()


def drained(brief: Brief) -> bool:
    """Return whether the brief asks for grays alone: then nothing keeps a color of its own."""
    tints = asked(brief)
    return bool(tints) and max(chroma for _, chroma in tints) < _GRAY


def three(rng: np.random.Generator, brief: Brief, drawn: list[tuple[Tint, Tint, Tint]]) -> Trio:
    """Return three tints: those asked for, filled up with neighbors; with none asked, drawn ones.

    Parameters
    ----------
    drawn : list of three tints each
        What the seed chooses from where neither prompt nor palette names a color.
    """
    own = drawn[int(rng.integers(len(drawn)))]
    given = asked(brief)[:3]
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
    """Return the factor on chroma that the mood asks for."""
    return _STRENGTHS.get(brief.mood, 1.0)
