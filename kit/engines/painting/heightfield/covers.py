"""Covers: what grows or lies on each kind of land in each season, as data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from kit.engines.media.color import Oklch
from kit.engines.painting.tints import of_land, of_water, turned
from kit.engines.prompt.brief import Brief

#: Two colors between which a thing varies.
Pair: TypeAlias = tuple[Oklch, Oklch]


@dataclass(frozen=True, slots=True)
class Cover:
    """What the ground is covered with.

    Parameters
    ----------
    steep : float
        Slope from which rock shows, 0 (level) to 1 (upright).
    snow : float
        Share of the height from which snow lies; above 1 there is none.
    water : tuple of two Oklch
        Of shallow and of deep water.
    clear : float
        Units of water through which the bottom shines.
    beach : float
        Units above the water up to which sand lies.
    """

    growth: Pair
    rock: Pair = ((0.46, 0.016, 62), (0.64, 0.018, 72))
    wood: Pair = ((0.34, 0.060, 145), (0.44, 0.075, 132))
    steep: float = 0.5
    snow: float = 2.0
    sand: Oklch = (0.60, 0.030, 80)
    fields: tuple[Oklch, ...] = ()
    water: Pair = ((0.50, 0.050, 185), (0.33, 0.055, 235))
    clear: float = 2.0
    beach: float = 0.8


_WHITE: Pair = ((0.88, 0.014, 242), (0.94, 0.010, 240))
_SUMMER = {
    "alps": Cover(((0.46, 0.065, 124), (0.57, 0.070, 112)), steep=0.26, snow=0.42),
    "hills": Cover(
        ((0.52, 0.075, 123), (0.62, 0.075, 110)),
        wood=((0.31, 0.050, 146), (0.47, 0.075, 122)),
        fields=(
            (0.55, 0.075, 124), (0.61, 0.075, 114), (0.72, 0.075, 92), (0.50, 0.068, 128),
            (0.56, 0.050, 74), (0.64, 0.085, 110), (0.47, 0.070, 132),
        ),
    ),
    "forest": Cover(
        ((0.56, 0.085, 122), (0.64, 0.085, 110)), wood=((0.31, 0.048, 142), (0.45, 0.068, 126))
    ),
    "islands": Cover(
        ((0.47, 0.065, 124), (0.57, 0.065, 112)),
        rock=((0.36, 0.020, 60), (0.52, 0.022, 70)),
        wood=((0.30, 0.055, 142), (0.45, 0.072, 126)),
        steep=0.32,
        sand=(0.88, 0.035, 86),
        water=((0.74, 0.090, 192), (0.38, 0.070, 240)),
        clear=3.2,
        beach=1.4,
    ),
    "desert": Cover(
        ((0.64, 0.085, 62), (0.74, 0.080, 72)), rock=((0.62, 0.10, 58), (0.70, 0.10, 64)), steep=2.0
    ),
    "canyon": Cover(
        ((0.57, 0.075, 56), (0.65, 0.068, 68)),
        rock=((0.46, 0.100, 40), (0.62, 0.090, 52)),
        wood=((0.46, 0.045, 118), (0.56, 0.05, 108)),
        steep=0.22,
        sand=(0.70, 0.070, 66),
        water=((0.50, 0.055, 150), (0.40, 0.055, 200)),
    ),
}  # fmt: skip
_SPRING: dict[str, Any] = {
    "growth": ((0.60, 0.115, 128), (0.70, 0.110, 116)),
    "fields": (
        (0.66, 0.130, 128), (0.72, 0.125, 120), (0.84, 0.160, 102), (0.60, 0.120, 132),
        (0.55, 0.055, 66),
    ),
}  # fmt: skip
_AUTUMN: dict[str, Any] = {
    "growth": ((0.58, 0.085, 88), (0.66, 0.095, 80)),
    "wood": ((0.36, 0.060, 122), (0.62, 0.112, 62)),
    "fields": (
        (0.60, 0.085, 84), (0.67, 0.090, 78), (0.50, 0.060, 60), (0.58, 0.080, 104),
        (0.72, 0.085, 88),
    ),
}  # fmt: skip
#: Season -> kind of land -> what it changes; land that is not named stays as in summer.
_CHANGES: dict[str, dict[str, dict[str, Any]]] = {
    "spring": dict.fromkeys(("alps", "hills", "forest"), _SPRING),
    "autumn": dict.fromkeys(("alps", "hills", "forest"), _AUTUMN),
    "winter": {
        "alps": {"growth": _WHITE, "wood": ((0.42, 0.025, 190), (0.62, 0.018, 230)), "snow": 0.12},
        "hills": {
            "growth": _WHITE,
            "wood": ((0.38, 0.018, 60), (0.50, 0.022, 70)),
            "fields": _WHITE,
            "snow": 0.0,
        },
        "forest": {"growth": _WHITE, "wood": ((0.42, 0.030, 190), (0.74, 0.014, 240)), "snow": 1.5},
        "islands": {
            "growth": _WHITE,
            "wood": ((0.46, 0.022, 190), (0.66, 0.016, 235)),
            "snow": 0.1,
        },
        "canyon": {"snow": 0.42},
    },
}
_GRAY_WATER = 0.5  # share of its color that water keeps where there is no blue sky


def cover_of(kind: str, brief: Brief) -> Cover:
    """Return what covers a kind of land in a brief's season, in the colors that it asks for."""
    cover = _SUMMER[kind]
    cover = replace(cover, **_CHANGES.get(brief.season, {}).get(kind, {}))
    shallow, deep = cover.water
    if brief.covered:
        shallow, deep = ((one[0], _GRAY_WATER * one[1], one[2]) for one in cover.water)
    land, water = of_land(brief), of_water(brief)
    growth, rock, wood = (
        (turned(pair[0], land, share), turned(pair[1], land, share))
        for pair, share in ((cover.growth, 0.7), (cover.rock, 0.45), (cover.wood, 0.5))
    )
    return replace(
        cover,
        growth=growth,
        rock=rock,
        wood=wood,
        fields=tuple(turned(field, land, 0.5) for field in cover.fields),
        water=(turned(shallow, water, 0.8), turned(deep, water, 0.7)),
    )
