"""Framing: what composition words make of a subject: its horizon, its sizes, the light's place.

All of it is done to the recipe, before anything is drawn: a picture without such words is not
touched.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from kit.engines.landscape.recipes import Band, Recipe

#: Word -> how far it lowers the horizon, as a share of the frame's height.
_LOWER = {"low": 0.12, "high": -0.19, "minimal": 0.10, "dramatic": 0.06, "close": 0.04}
#: Word -> how large it shows what stands on the land.
_SIZES = {"wide": 0.66, "close": 1.55, "minimal": 0.7, "dramatic": 1.3, "high": 0.78, "low": 1.15}
#: Word -> how large the disc of the light is.
_LIGHTS = {"wide": 0.72, "close": 1.5, "minimal": 1.25}
_LOWEST, _HIGHEST = 0.80, 0.32  # rows between which a horizon stays
#: Words of a view in which no large trees stand at the sides.
_OPEN = frozenset({"high", "minimal"})
_SPARSE = 0.3  # share of the plants that a minimal picture keeps
_FEWER = 3  # ridges that it goes without
_LEAST = 4


def framed(recipe: Recipe, words: Collection[str]) -> Recipe:
    """Return a recipe for a camera that stands as words tell."""
    if not words:
        return recipe
    lower = _horizon(recipe.horizon, words) - recipe.horizon
    size = _product(_SIZES, words)
    return replace(
        recipe,
        horizon=recipe.horizon + lower,
        feet=(recipe.feet[0] + lower, recipe.feet[1]),
        shore=None if recipe.shore is None else recipe.shore + lower,
        framing=None if _OPEN.intersection(words) else recipe.framing,
        framing_tall=recipe.framing_tall * size**0.6,
        bands=tuple(_sized(band, size, "minimal" in words) for band in recipe.bands),
    )


def placed(drawn: float, words: Collection[str]) -> float:
    """Return where the light or the main peak stands, 0 to 1 from the left.

    Parameters
    ----------
    drawn : float
        Where the seed would have it.
    """
    if "centered" in words:
        return 0.5
    return (1 / 3 if drawn < 0.5 else 2 / 3) if "thirds" in words else drawn


def light_size(words: Collection[str]) -> float:
    """Return the factor on the size of the light's disc."""
    return _product(_LIGHTS, words)


def ridges_of(count: int, words: Collection[str]) -> int:
    """Return how many of some ridges are drawn."""
    return max(_LEAST, count - _FEWER) if "minimal" in words else count


def _horizon(own: float, words: Collection[str]) -> float:
    if "thirds" in words:
        return 1 / 3 if "high" in words else 2 / 3
    lower = sum(way for word, way in _LOWER.items() if word in words)
    return max(_HIGHEST, min(_LOWEST, own + lower))


def _sized(band: Band, size: float, sparse: bool) -> Band:
    first, last = band.height
    return replace(
        band,
        height=(first * size, last * size),
        spacing=band.spacing * size,
        tall=band.tall * size,
        density=band.density * (_SPARSE if sparse else 1.0),
    )


def _product(factors: dict[str, float], words: Collection[str]) -> float:
    product = 1.0
    for word, factor in factors.items():
        product *= factor if word in words else 1.0
    return product
