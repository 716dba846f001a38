"""Words that suit a value of a setting, so that an example of it shows what it is for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["WORDS"]

#: Setting and value -> words that suit it.
WORDS: Mapping[tuple[str, Any], str] = {
    ("family", "lake"): "a mountain lake at dawn, mist over the water",
    ("family", "desert"): "golden dunes and mesas in the late afternoon",
    ("family", "forest"): "sun rays in a misty autumn forest",
    ("family", "sea"): "a stormy sea with cliffs at sunset",
    ("family", "city"): "a rainy street at night, neon signs",
    ("family", "space"): "a ringed planet before a teal nebula",
    ("family", "liquid"): "blue and gold ink marbled with gilded veins",
    ("family", "flow"): "flowing lines in coral and teal",
    ("family", "poster"): "layered hills at dusk, a crescent moon",
    ("land", "alps"): "over snowy alps at sunrise",
    ("land", "hills"): "over green hills on a spring morning",
    ("land", "forest"): "over an autumn forest in low mist",
    ("land", "islands"): "over tropical islands at noon",
    ("land", "desert"): "over golden dunes in the late afternoon",
    ("land", "canyon"): "through a red canyon at sunset",
}
