"""Seasons: what grounds and trees are colored like."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from kit.engines.media.color import Oklch
from kit.engines.painting.land.ground import Ground
from kit.engines.painting.tints import turned
from kit.engines.prompt.vocabulary import Tint

#: Colors, each with its share.
Mix: TypeAlias = tuple[tuple[Oklch, float], ...]

#: Season -> the ground of a mountain country; the snow line as a share of the highest peak.
GROUNDS = {
    "summer": Ground(
        low=(0.45, 0.075, 128),
        low_other=(0.54, 0.080, 112),
        rock=(0.42, 0.016, 62),
        rock_other=(0.62, 0.018, 72),
        top=(0.97, 0.010, 250),
        shore=(0.55, 0.025, 80),
        top_line=0.52,
    ),
    "spring": Ground(
        low=(0.52, 0.095, 128),
        low_other=(0.62, 0.095, 118),
        rock=(0.42, 0.016, 62),
        rock_other=(0.62, 0.018, 72),
        top=(0.97, 0.010, 250),
        shore=(0.57, 0.025, 80),
        top_line=0.38,
    ),
    "autumn": Ground(
        low=(0.50, 0.095, 70),
        low_other=(0.60, 0.100, 84),
        rock=(0.42, 0.020, 55),
        rock_other=(0.60, 0.022, 65),
        top=(0.97, 0.010, 250),
        shore=(0.55, 0.030, 70),
        top_line=0.56,
    ),
    "winter": Ground(
        low=(0.83, 0.014, 248),
        low_other=(0.89, 0.010, 248),
        rock=(0.38, 0.016, 255),
        rock_other=(0.56, 0.014, 250),
        top=(0.92, 0.008, 248),
        shore=(0.82, 0.015, 245),
        top_line=0.16,
        steep=0.24,
    ),
}
#: Season -> colors of foliage, each with its share of the trees.
FOLIAGE: dict[str, Mix] = {
    "summer": (((0.36, 0.050, 145), 0.7), ((0.41, 0.060, 135), 0.3)),
    "spring": (((0.40, 0.055, 142), 0.6), ((0.52, 0.095, 125), 0.4)),
    "autumn": (
        ((0.37, 0.045, 138), 0.36),
        ((0.64, 0.125, 80), 0.36),
        ((0.56, 0.125, 64), 0.28),
    ),
    "winter": (((0.42, 0.022, 190), 0.55), ((0.68, 0.015, 235), 0.45)),
}
#: Season -> colors of the grass in front, each with its share of the tufts.
GRASS: dict[str, Mix] = {
    "summer": (
        ((0.50, 0.085, 124), 0.5),
        ((0.58, 0.085, 108), 0.3),
        ((0.66, 0.075, 90), 0.2),
    ),
    "spring": (((0.58, 0.115, 126), 0.6), ((0.66, 0.115, 116), 0.4)),
    "autumn": (((0.60, 0.090, 80), 0.5), ((0.54, 0.095, 58), 0.3), ((0.70, 0.070, 92), 0.2)),
    "winter": (((0.74, 0.030, 90), 1.0),),
}


def mixed_to(colors: Mix, tint: Tint | None) -> Mix:
    """Return colors of plants that turn to a tint, each a little less or more."""
    return tuple((turned(color, tint, 0.55), share) for color, share in colors)


def ground_of(season: str, *, peak: float) -> Ground:
    """Return the ground of a season; snow lies on the part of the mountains that it leaves white.

    Parameters
    ----------
    peak : float
        Height of the highest peak in world units.
    """
    ground = GROUNDS[season]
    line = ground.top_line * peak if peak > 70 or season == "winter" else 1e4
    return replace(ground, top_line=max(line, 12.0))
