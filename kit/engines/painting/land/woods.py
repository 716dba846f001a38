"""Woods: which trees a forest is of, and what colors their leaves have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kit.engines.media.color import Oklch
from kit.engines.painting.land.seasons import FOLIAGE
from kit.engines.painting.tints import of_land, turned
from kit.engines.prompt.brief import Brief

#: Season -> colors of leaves seen from near.
LEAVES: dict[str, tuple[Oklch, ...]] = {
    "summer": ((0.47, 0.095, 128), (0.42, 0.080, 136)),
    "spring": ((0.60, 0.120, 124), (0.52, 0.110, 130)),
    "autumn": ((0.66, 0.135, 72), (0.58, 0.145, 52), (0.52, 0.140, 38)),
    "winter": ((0.80, 0.012, 235), (0.70, 0.014, 230)),
}
_BLOSSOMS: tuple[Oklch, ...] = ((0.86, 0.075, 355), (0.79, 0.105, 352), (0.92, 0.035, 10))


@dataclass(frozen=True, slots=True)
class Wood:
    """What kind of forest it is."""

    needles: bool
    birch: bool
    bare: bool  # leafless trees in winter


def wood_of(brief: Brief) -> Wood:
    """Return the trees that a brief names, or that its season and seed choose."""
    luck = float(np.random.default_rng([brief.seed, 2]).random())
    leafy = "leaves" in brief.things or (brief.season in ("autumn", "spring") and luck < 0.75)
    needles = "needles" in brief.things or not (leafy or luck < 0.4)
    winter = brief.season == "winter"
    needles = needles or (winter and "leaves" not in brief.things)
    return Wood(needles, "birches" in brief.things, winter and not needles)


def leaves_of(brief: Brief, wood: Wood) -> tuple[Oklch, ...]:
    """Return the colors of a wood's needles or leaves."""
    if "blossom" in brief.things and not wood.needles:
        return _BLOSSOMS
    season = brief.season
    needles = tuple(color for color, _ in FOLIAGE["winter" if season == "winter" else "summer"])
    leaves = needles if wood.needles else LEAVES[season]
    return tuple(turned(color, of_land(brief), 0.75) for color in leaves)
