"""Named palettes, and how light warms a color; forms read them, so there is no numpy here."""

from __future__ import annotations

import cmath
import math
from typing import TypeAlias

from kit.engines.prompt.vocabulary import Tint

Color: TypeAlias = tuple[float, float, float]

#: Named palette -> the tints of the land, the sky's top, its middle and its horizon.
NAMED: dict[str, tuple[Tint, Tint, Tint, Tint]] = {
    "ember": ((22, 0.14), (8, 0.13), (32, 0.16), (70, 0.14)),
    "coral": ((345, 0.11), (300, 0.09), (12, 0.12), (55, 0.10)),
    "lagoon": ((205, 0.09), (215, 0.10), (188, 0.08), (90, 0.07)),
    "meadow": ((150, 0.09), (205, 0.08), (165, 0.06), (105, 0.08)),
    "lavender": ((290, 0.10), (285, 0.10), (312, 0.09), (345, 0.07)),
    "midnight": ((262, 0.10), (268, 0.10), (250, 0.11), (215, 0.08)),
    "sand": ((55, 0.07), (75, 0.04), (70, 0.06), (85, 0.08)),
    "ink": ((255, 0.008), (255, 0.008), (255, 0.006), (80, 0.006)),
}
_WARM = 0.011 + 0.030j  # what warm light adds to a color, along a and b of OKLab


def warm(color: Color, warmth: float) -> Color:
    """Return an OKLCH color in warmer light, or in cooler light where `warmth` is negative."""
    place = cmath.rect(color[1], math.radians(color[2])) + _WARM * warmth
    return color[0], abs(place), math.degrees(cmath.phase(place)) % 360
