"""Framing: what composition words make of a subject: its horizon, its sizes, the light's place.

All of it is done to the recipe, before anything is drawn: a picture without such words is not
touched.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from kit.engines.painting.poster.recipes import Band, Recipe
from kit.engines.prompt.brief import Brief

#: Word -> how large it shows what stands on the land.
_SIZES = {"wide": 0.55, "close": 1.8, "minimal": 0.62, "dramatic": 1.7, "high": 0.78, "low": 1.2}
#: Word -> how far apart peaks are, where that is not as their size.
_SPREADS = {"close": 2.3, "minimal": 1.7, "dramatic": 1.9}
#: Word -> how large the plants are, where that is not as the land's size.
_PLANTS = {"dramatic": 0.7, "minimal": 1.4}
#: Word -> how large the disc of the light is.
_LIGHTS = {"wide": 0.72, "close": 1.5, "minimal": 1.45, "dramatic": 1.4}
#: Word -> how far one peak stands alone, 0 to 1.
_LONE = {"minimal": 0.85, "dramatic": 0.6, "close": 0.45}
_LOWEST, _HIGHEST = 0.80, 0.32  # rows between which a horizon stays
#: Words of a view in which no large trees stand at the sides.
_OPEN = frozenset({"high", "minimal"})
_SPARSE = 0.25  # share of the trees that a minimal forest keeps; other land goes without
_FEWER = {"minimal": 4, "close": 2}  # ridges that they go without
_LEAST = 3


def framed(recipe: Recipe, brief: Brief) -> Recipe:
    """Return a recipe for a camera that stands as words tell."""
    words = brief.composition
    if not words:
        return recipe
    lower = _horizon(recipe.horizon, brief) - recipe.horizon
    size = _product(_SIZES, words)
    apart = _product({**_SIZES, **_SPREADS}, words)
    plants = _product({**_SIZES, **_PLANTS}, words)
    return replace(
        recipe,
        horizon=recipe.horizon + lower,
        feet=(recipe.feet[0] + lower, recipe.feet[1]),
        shore=None if recipe.shore is None else recipe.shore + lower,
        framing=None if _OPEN.intersection(words) else recipe.framing,
        framing_tall=recipe.framing_tall * size**0.6,
        hero=recipe.hero or "dramatic" in words,
        lone=max((_LONE.get(word, 0.0) for word in words), default=0.0),
        bands=tuple(
            _sized(band, (size, apart, plants), "minimal" in words) for band in recipe.bands
        ),
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
    return max(_LEAST, count - max(_FEWER.get(word, 0) for word in ("", *words)))


def _horizon(own: float, brief: Brief) -> float:
    if "thirds" in brief.composition:
        return 1 / 3 if "high" in brief.composition else 2 / 3
    return max(_HIGHEST, min(_LOWEST, own + brief.horizon))


def _sized(band: Band, factors: tuple[float, float, float], minimal: bool) -> Band:
    size, apart, plants = factors
    first, last = band.height
    bare = minimal and band.density < 1.0
    return replace(
        band,
        height=(first * size, last * size),
        spacing=band.spacing * apart,
        tall=0.0 if bare else band.tall * plants,
        plant=None if bare else band.plant,
        density=band.density * (_SPARSE if minimal else 1.0),
    )


def _product(factors: dict[str, float], words: Collection[str]) -> float:
    product = 1.0
    for word, factor in factors.items():
        product *= factor if word in words else 1.0
    return product
