"""Coloring: what each color word of a prompt colors: the land, the water, the light, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kit.engines.prompt.tokens import Token
from kit.engines.prompt.vocabulary import Tint, Vocabulary, vocabulary

_REACH = 3  # words after a color among which the thing stands that it colors
_LINKS = frozenset(("and", "or", "to"))
_MOST = 3  # colors of the light
#: Axes of words that say how a thing is, not what it is.
_NOUNS = frozenset(("family", "place"))


@dataclass(frozen=True, slots=True)
class Coloring:
    """The colors of a picture, and which tokens gave them.

    Parameters
    ----------
    places : frozenset of int
        Of the tokens that color something.
    """

    light: tuple[Tint, ...] = ()
    land: Tint | None = None
    water: Tint | None = None
    said: bool = False
    places: frozenset[int] = frozenset()


def colored(tokens: Sequence[Token], family: str, *, gold: bool = False) -> Coloring:
    """Return what the color words of a prompt color in a family's pictures.

    A color right before a thing is the thing's: it colors the land or the water, of an abstract the
    whole, and else nothing. All other colors are a filter before the lens.

    Parameters
    ----------
    gold : bool
        Whether gold is a metal of its own and no color.

    Examples
    --------
    >>> from kit.engines.prompt.tokens import tokens_of
    >>> both = colored(tokens_of("a red barn in a green meadow"), "lake")
    >>> both.light, both.land
    ((), (148.0, 0.12))
    """
    words = vocabulary()
    found: dict[str, dict[Tint, int]] = {"light": {}, "land": {}, "water": {}}
    said = False
    for place, token in enumerate(tokens):
        tint = words.colors.get(token.text)
        if tint is None or (gold and token.text == "gold"):
            continue
        said = True
        if target := _target(tokens, place, family, words):
            found[target].setdefault(tint, place)
    light = dict(list(found["light"].items())[:_MOST])
    land, water = (dict(list(found[what].items())[:1]) for what in ("land", "water"))
    places = frozenset(place for part in (light, land, water) for place in part.values())
    ground, wet = next(iter(land), None), next(iter(water), None)
    return Coloring(light=tuple(light), land=ground, water=wet, said=said, places=places)


def _target(tokens: Sequence[Token], place: int, family: str, words: Vocabulary) -> str:
    """Return what a color word colors: light, land or water; empty where it colors nothing."""
    if tokens[place].text in words.words("colors", "colored", "film"):
        return "light"
    nouns = _nouns(tokens, place, words)
    whole = family in words.words("colors", "colored", "whole")
    if whole and any(words.meanings.get(noun, {}).get("family") == family for noun in nouns):
        return "light"
    known = [words.colored[noun] for noun in nouns if noun in words.colored]
    if known:
        return known[-1] if known[-1] == "light" or not whole else ""
    return "" if nouns else "light"


def _nouns(tokens: Sequence[Token], place: int, words: Vocabulary) -> list[str]:
    """Return the things among the words after a color, up to a mark or a word such as "in"."""
    found: list[str] = []
    for token in tokens[place + 1 : place + 1 + 2 * _REACH]:
        if token.ends or len(found) >= _REACH:
            break
        if token.text in words.colors or token.text in _LINKS:
            continue
        thing = token.text in words.colored
        if token.text in words.silent and not thing:
            break
        meant = words.meanings.get(token.text)
        if thing or not meant or not _NOUNS.isdisjoint(meant):
            found.append(token.text)
    return found
