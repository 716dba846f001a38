"""Inks and paper: the few colors that a drawing of lines is made with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kit.engines.media.color import Oklch
from kit.engines.painting.tints import asked, strength
from kit.engines.prompt.brief import Brief
from kit.engines.prompt.vocabulary import Tint

#: Sets of tints that go together, each with the tint of its paper.
_SETS: list[tuple[Tint, tuple[Tint, ...]]] = [
    ((270, 0.03), ((60, 0.14), (25, 0.18), (355, 0.19), (90, 0.09), (250, 0.12))),
    ((240, 0.03), ((200, 0.11), (165, 0.10), (95, 0.12), (230, 0.12), (40, 0.15))),
    ((300, 0.03), ((330, 0.18), (295, 0.16), (260, 0.15), (20, 0.14), (205, 0.10))),
    ((85, 0.02), ((30, 0.16), (70, 0.13), (195, 0.08), (235, 0.09), (15, 0.12))),
    ((150, 0.02), ((155, 0.11), (120, 0.11), (85, 0.12), (190, 0.09), (45, 0.14))),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inks:
    """The colors of a drawing.

    Parameters
    ----------
    paper : Oklch
        What it is drawn on.
    shades : tuple of Oklch
        Neighbors in the drawing take neighbors in this list.
    dark : bool
        Whether the paper is dark, so that the inks shine.
    """

    paper: Oklch
    shades: tuple[Oklch, ...]
    dark: bool


def inks(rng: np.random.Generator, brief: Brief) -> Inks:
    """Return the inks that a brief asks for."""
    paper, drawn = _SETS[int(rng.integers(len(_SETS)))]
    coin = bool(rng.random() < 0.5)
    light = "light_paper" in brief.things
    dark = "dark_paper" in brief.things or brief.dark or (coin and not light)
    if said := {"bright", "dark"}.intersection(brief.tones):
        dark = "dark_paper" in brief.things or ("dark" in said and not light)
    given = asked(brief)
    tints = _family(given) if given else drawn
    if given:
        paper = (given[0][0], 0.025)
    factor = strength(brief)
    soft = brief.mood == "pastel" and dark
    levels = (0.80, 0.70, 0.62, 0.86, 0.56) if dark else (0.56, 0.66, 0.47, 0.74, 0.38)
    shades = tuple(
        (min(0.95, level + (0.10 if soft else 0.0)), chroma * factor, hue)
        for level, (hue, chroma) in zip(levels, tints, strict=True)
    )
    hue, chroma = paper
    pale = 0.78 if brief.mood == "gloomy" else 0.955
    ground = (0.15, chroma, hue) if dark else (pale, 0.6 * chroma, hue)
    return Inks(paper=ground, shades=shades, dark=dark)


def _family(given: tuple[Tint, ...]) -> tuple[Tint, ...]:
    """Return five tints out of the one to four that were asked for, close to them."""
    shifts = (0.0, 14.0, -16.0, 8.0, -9.0)
    return tuple(
        ((given[number % len(given)][0] + shift) % 360.0, given[number % len(given)][1])
        for number, shift in enumerate(shifts)
    )
