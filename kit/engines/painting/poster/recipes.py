"""Recipes: which ridges a place is made of, what words of the camera change, how crests rise."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Floats
from kit.engines.media.noise import line
from kit.engines.painting.poster.planes import Stage
from kit.engines.prompt.brief import Brief

Array: TypeAlias = NDArray[np.float64]

_LOWEST, _HIGHEST = 0.80, 0.32  # rows between which a horizon stays
_SPARSE = 0.25  # share of the trees that a minimal forest keeps; other land goes without
_LEAST = 3  # ridges


@dataclass(frozen=True, slots=True)
class Band:
    """Ridges of one kind down to a depth, 0 for the horizon and 1 for the viewer's feet.

    The heights are the first and the last ridge's; they, the distance of peaks and the plants at
    depth 1 are in units. A density of 1 is a closed forest, 0.3 groves, less single plants.
    """

    until: float
    kind: str
    height: tuple[float, float]
    spacing: float
    plant: str = ""
    tall: float = 0.0
    density: float = 0.0


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a place is laid out, its rows as shares of the frame's height.

    The feet are those of the farthest and the nearest ridge; large plants frame both sides, of a
    height in units. Ridges with feet above the shore are mirrored in water, which is a mirror at 0
    and an open sea at 1. One peak may be a hero, to which the others give way.
    """

    horizon: float
    feet: tuple[float, float]
    framing: tuple[str, float]
    bands: tuple[Band, ...]
    shore: float | None = None
    rough: float = 0.0
    hero: bool = True
    lone: float = 0.0


_MOUNTAINS = (
    Band(0.45, "mountains", (0.20, 0.31), 0.26),
    Band(0.72, "mountains", (0.20, 0.15), 0.36, "conifer", 0.050, 0.55),
    Band(1.01, "hills", (0.09, 0.06), 0.5, "conifer", 0.085, 0.75),
)
_HILLS = (
    Band(0.20, "mountains", (0.13, 0.13), 0.40),
    Band(0.45, "hills", (0.11, 0.11), 0.45),
    Band(0.72, "hills", (0.11, 0.12), 0.62, "broadleaf", 0.062, 0.42),
    Band(0.95, "hills", (0.12, 0.11), 0.8, "poplar", 0.125, 0.30),
    Band(1.01, "hills", (0.08, 0.08), 0.9),
)
_DESERT = (Band(0.36, "mesas", (0.12, 0.22), 0.5), Band(1.01, "dunes", (0.075, 0.19), 0.74))
_SEA = (
    Band(0.6, "islands", (0.09, 0.20), 0.17),
    Band(1.01, "hills", (0.05, 0.10), 0.8, "conifer", 0.06, 0.35),
)
_FOREST = (
    Band(0.16, "mountains", (0.16, 0.20), 0.36),
    Band(1.01, "hills", (0.12, 0.07), 0.5, "conifer", 0.17, 1.0),
)
_LAKE = (
    Band(0.40, "mountains", (0.16, 0.27), 0.25),
    Band(0.66, "hills", (0.07, 0.045), 0.4, "conifer", 0.055, 0.9),
    Band(1.01, "hills", (0.05, 0.05), 0.7, "conifer", 0.07, 0.3),
)
RECIPES = {
    "mountains": Recipe(0.62, (0.60, 1.02), ("conifer", 0.34), _MOUNTAINS),
    "hills": Recipe(0.60, (0.60, 1.03), ("broadleaf", 0.25), _HILLS, hero=False),
    "desert": Recipe(0.58, (0.58, 1.06), ("cactus", 0.24), _DESERT),
    "sea": Recipe(0.56, (0.565, 1.03), ("conifer", 0.26), _SEA, shore=0.60, rough=0.9),
    "forest": Recipe(0.62, (0.56, 1.06), ("conifer", 0.52), _FOREST),
    "lake": Recipe(0.58, (0.57, 1.03), ("conifer", 0.40), _LAKE, shore=0.665, rough=0.12),
}
#: Word of the camera -> factors on the land's height, the distance of peaks, the plants and the
#: disc of the light; how far one peak stands alone; how many ridges fewer.
_WORDS = {
    "wide": (0.55, 0.55, 0.55, 0.72, 0.0, 0),
    "close": (1.8, 2.3, 1.8, 1.5, 0.45, 2),
    "minimal": (0.62, 1.7, 1.4, 1.45, 0.85, 4),
    "dramatic": (1.7, 1.9, 0.7, 1.4, 0.6, 0),
    "high": (0.78, 0.78, 0.78, 1.0, 0.0, 0),
    "low": (1.2, 1.2, 1.2, 1.0, 0.0, 0),
}


def recipe_for(brief: Brief, ridges: int) -> tuple[Recipe, float, int]:
    """Return a brief's recipe, the factor on the light's disc and how many ridges are drawn."""
    recipe, words = RECIPES[brief.place], brief.composition
    rows = np.array([(1.0, 1.0, 1.0, 1.0, 0.0, 0), *(_WORDS[w] for w in words if w in _WORDS)])
    (size, apart, plants, light), (lone, fewer) = rows[:, :4].prod(0), rows[:, 4:].max(0)
    horizon = max(_HIGHEST, min(_LOWEST, recipe.horizon + brief.horizon))
    if "thirds" in words:
        horizon = 1 / 3 if "high" in words else 2 / 3
    lower, minimal = horizon - recipe.horizon, "minimal" in words
    plant, tall = recipe.framing
    bands = [
        replace(
            band,
            height=(band.height[0] * size, band.height[1] * size),
            spacing=band.spacing * apart,
            tall=band.tall * plants,
            plant="" if minimal and band.density < 1.0 else band.plant,
            density=band.density * (_SPARSE if minimal else 1.0),
        )
        for band in recipe.bands
    ]
    framed = replace(
        recipe,
        horizon=horizon,
        feet=(recipe.feet[0] + lower, recipe.feet[1]),
        shore=None if recipe.shore is None else recipe.shore + lower,
        framing=("" if minimal or "high" in words else plant, tall * size**0.6),
        hero=recipe.hero or "dramatic" in words,
        lone=float(lone),
        bands=tuple(bands),
    )
    return framed, float(light), max(_LEAST, ridges - int(fewer))


def placed(drawn: float, words: Collection[str]) -> float:
    """Return where the light or the main peak stands, 0 to 1 from the left."""
    if "centered" in words:
        return 0.5
    return (1 / 3 if drawn < 0.5 else 2 / 3) if "thirds" in words else drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """How crests of one kind rise; lengths are shares of the distance between peaks.

    A flank is places across one rise, 0 to 1, and heights there; nothing for what only swells.
    Widths and heights are those of the smallest and the largest rise; jitter is how far each may
    stand from its place. Swell below all rises is rounded, rough rock on top is not: both are
    length, height, octaves and gain. What is grouped sinks between its groups.
    """

    flank: tuple[tuple[float, float], ...] = ()
    width: tuple[float, float] = (1.5, 2.6)
    tall: tuple[float, float] = (0.42, 0.95)
    step: float = 1.0
    jitter: float = 0.36
    swell: tuple[float, float, int, float] | None = None
    rough: tuple[float, float, int, float] | None = None
    grouped: bool = False


_UP, _DOWN = np.linspace(0.0, 1.0, 14), np.linspace(1.0, 0.0, 14)[1:]
_PEAK = ((0.0, 0.0), (0.5, 1.0), (1.0, 0.0))
#: A long slope to windward, a hollow one to leeward, a sharp edge between.
_DUNE = (
    *zip(0.56 * _UP, np.sin(_UP * np.pi / 2) ** 1.6, strict=True),
    *zip(1.0 - 0.44 * _DOWN, _DOWN**1.7, strict=True),
)
#: A flat top, sheer walls, a ledge and slopes of rubble.
_WALL = ((0.0, 0.0), (0.20, 0.40), (0.205, 0.46), (0.225, 1.0))
_MESA = (*_WALL, *((1.0 - place, 0.99 * height) for place, height in reversed(_WALL)))
KINDS = {
    "mountains": Kind(flank=_PEAK, rough=(0.42, 0.115, 6, 0.52)),
    "islands": Kind(flank=_PEAK, rough=(0.3, 0.07, 5, 0.5), grouped=True),
    "hills": Kind(swell=(1.0, 0.5, 3, 0.38)),
    "dunes": Kind(flank=_DUNE, width=(1.3, 2.1), tall=(0.45, 1.0), step=1.1, jitter=0.2),
    "mesas": Kind(
        flank=_MESA,
        width=(0.6, 1.5),
        tall=(0.55, 1.0),
        step=1.25,
        jitter=0.3,
        swell=(0.3, 0.03, 3, 0.5),
        rough=(0.06, 0.008, 3, 0.5),
    ),
}


class Rise(NamedTuple):
    """How large a ridge is, in pixels, and the column of a peak that towers over the others."""

    foot: float
    height: float
    spacing: float
    hero: float | None
    lone: float


class Crest(NamedTuple):
    """The upper edge of a ridge: its row at every column, and (left foot, peak, right foot)s."""

    y: Floats
    peaks: list[tuple[int, int, int]]


def raise_crest(rng: np.random.Generator, stage: Stage, kind: Kind, rise: Rise) -> Crest:
    """Raise a crest: swell, rises, groups, rock; one rise stands exactly at a hero's column."""
    at = np.arange(stage.columns, dtype=np.float64)
    profile, tops = np.zeros_like(at), []
    if kind.swell:
        length, share, octaves, gain = kind.swell
        wave = line(rng, at, rise.spacing * length, octaves=octaves, gain=gain)
        profile += share * (1.0 + wave)
    if kind.flank:
        tops = _add_rises(rng, profile, kind, rise, 0.30 * stage.unit)
    if kind.grouped:
        groups = 0.75 * line(rng, at, rise.spacing * 3.2, octaves=2) - 0.9 * rise.lone
        if rise.hero is not None:
            near = np.exp(-(((at - rise.hero) / (rise.spacing * 1.5)) ** 2))
            groups += (1.1 + 0.6 * rise.lone) * near
        profile = profile * np.clip(groups, -0.2, 1.2) - 0.10
    if kind.rough:
        length, share, octaves, gain = kind.rough
        rock = line(rng, at, rise.spacing * length, octaves=octaves, gain=gain, sharp=True)
        profile += share * (1.0 - 0.4 * rise.lone) * rock * np.clip(0.35 + profile, 0.1, 1.4)
    return Crest((rise.foot - rise.height * profile).astype(np.float32), _peaks(profile, tops))


def _add_rises(
    rng: np.random.Generator, profile: Array, kind: Kind, rise: Rise, tower: float
) -> list[int]:
    """Add its rises to a profile, in place, and return the columns of their peaks."""
    step = kind.step * rise.spacing
    start = (rng.uniform(0.0, step) if rise.hero is None else rise.hero) % step - 2 * step
    places = np.arange(start, len(profile) + 2 * step, step)
    wide = rise.spacing * rng.uniform(*kind.width, len(places))
    tall = rng.uniform(*kind.tall, len(places))
    tops = places + step * kind.jitter * rng.uniform(-1.0, 1.0, len(places))
    if rise.hero is not None:
        main = int(np.argmin(np.abs(places - rise.hero)))
        tops[main], tall[main], wide[main] = rise.hero, 1.0, kind.width[0] * rise.spacing
        if not kind.grouped:
            others = 0.52 * (1.0 - rise.lone)
            tall *= others + (1.0 - others) * np.exp(-(((tops - rise.hero) / tower) ** 2))
    across, heights = np.array(kind.flank).T
    peak = across[heights.argmax()]
    for top, width, high in zip(tops.tolist(), wide.tolist(), tall.tolist(), strict=True):
        left, right = max(0, int(top - peak * width)), int(top + (1.0 - peak) * width) + 2
        part = profile[left : max(left, right)]
        share = (np.arange(left, left + len(part)) - top) / width + peak
        np.maximum(part, high * np.interp(share, across, heights), out=part)
    return [round(top) for top in tops if 0 < round(top) < len(profile) - 1]


def _peaks(profile: Array, tops: list[int]) -> list[tuple[int, int, int]]:
    """Return the peaks that are seen, each between the lowest places beside it."""
    around, found = [0, *sorted(tops), len(profile) - 1], []
    for before, top, after in zip(around, around[1:], around[2:], strict=False):
        near = max(2, (after - before) // 16)
        low = max(0, top - near)
        peak = low + int(np.argmax(profile[low : top + near + 1]))
        if before < peak < after:
            left = before + int(np.argmin(profile[before:peak]))
            found.append((left, peak, peak + int(np.argmin(profile[peak : after + 1]))))
    return found
