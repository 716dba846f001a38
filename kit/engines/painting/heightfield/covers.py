"""Covers: what grows or lies on each kind of land in each season, as data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from kit.engines.media.color import Oklch
from kit.engines.painting.land.ground import FOLIAGE, GROUNDS
from kit.engines.painting.tints import of_land, of_water, turned
from kit.engines.prompt.brief import Brief

#: Two colors between which a thing varies.
Pair: TypeAlias = tuple[Oklch, Oklch]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cover:
    """What the ground is covered with."""

    growth: Pair
    rock: Pair
    wood: Pair
    sand: Oklch
    fields: tuple[Oklch, ...]
    steep: float = 0.5  # slope from which rock shows, 0 (level) to 1 (upright)
    snow: float = 2.0  # share of the height from which it lies; above 1 there is none
    water: Pair = ((0.50, 0.050, 185), (0.33, 0.055, 235))  # shallow and deep
    clear: float = 2.0  # units of water through which the bottom shines
    beach: float = 0.8  # units above the water up to which sand lies


#: Season -> the colors of fields; of grass, rock and trees they are those of stills.
_FIELDS: dict[str, tuple[Oklch, ...]] = {
    "summer": (
        (0.55, 0.075, 124), (0.61, 0.075, 114), (0.72, 0.075, 92), (0.50, 0.068, 128),
        (0.56, 0.050, 74), (0.64, 0.085, 110), (0.47, 0.070, 132),
    ),
    "spring": (
        (0.58, 0.120, 128), (0.65, 0.115, 120), (0.80, 0.150, 100), (0.54, 0.110, 132),
        (0.55, 0.055, 66),
    ),
    "autumn": (
        (0.60, 0.085, 84), (0.67, 0.090, 78), (0.50, 0.060, 60), (0.58, 0.080, 104),
        (0.72, 0.085, 88),
    ),
    "winter": ((0.88, 0.014, 242), (0.94, 0.010, 240)),
}  # fmt: skip
#: Land -> where it differs from the green land of a season.
_LANDS: dict[str, dict[str, Any]] = {
    "alps": {"steep": 0.26, "snow": 0.42},
    "hills": {},
    "forest": {},
    "islands": {
        "rock": ((0.36, 0.020, 60), (0.52, 0.022, 70)),
        "steep": 0.32,
        "sand": (0.88, 0.035, 86),
        "water": ((0.74, 0.090, 192), (0.38, 0.070, 240)),
        "clear": 3.2,
        "beach": 1.4,
    },
    "desert": {"growth": ((0.64, 0.085, 62), (0.74, 0.080, 72)), "steep": 2.0},
    "canyon": {
        "growth": ((0.57, 0.075, 56), (0.65, 0.068, 68)),
        "rock": ((0.46, 0.100, 40), (0.62, 0.090, 52)),
        "wood": ((0.46, 0.045, 118), (0.56, 0.05, 108)),
        "steep": 0.22,
        "sand": (0.70, 0.070, 66),
        "water": ((0.50, 0.055, 150), (0.40, 0.055, 200)),
    },
}
#: Share of the height from which snow lies in winter.
_SNOW = {"alps": 0.12, "hills": 0.0, "forest": 1.5, "islands": 0.1, "canyon": 0.42}
_EVERGREEN = ("desert", "canyon", "islands")
_GRAY_WATER = 0.5  # share of its color that water keeps where there is no blue sky


def cover_of(kind: str, brief: Brief) -> Cover:
    """Return what covers a kind of land in a brief's season, in the colors that it asks for."""
    winter = brief.season == "winter"
    season = "summer" if kind in _EVERGREEN and not winter else brief.season
    ground, foliage = GROUNDS[season], FOLIAGE[season]
    cover = Cover(
        growth=(ground.low, ground.low_other),
        rock=(ground.rock, ground.rock_other),
        wood=(foliage[0][0], foliage[-1][0]),
        sand=ground.shore,
        fields=_FIELDS[season],
    )
    cover = replace(cover, **_LANDS[kind])
    if winter:
        cover = replace(cover, snow=_SNOW.get(kind, cover.snow))
    fade = _GRAY_WATER if brief.covered else 1.0
    gray = [(color[0], fade * color[1], color[2]) for color in cover.water]
    land, water = of_land(brief), of_water(brief)
    growth, rock, wood, sea = (
        (turned(pair[0], tint, share), turned(pair[1], tint, share))
        for pair, tint, share in (
            (cover.growth, land, 0.7),
            (cover.rock, land, 0.45),
            (cover.wood, land, 0.5),
            (gray, water, 0.75),
        )
    )
    fields = tuple(turned(field, land, 0.5) for field in cover.fields)
    return replace(cover, growth=growth, rock=rock, wood=wood, water=sea, fields=fields)
