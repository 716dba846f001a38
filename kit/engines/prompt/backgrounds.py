"""Backgrounds of titles and subjects, parsed from words; nothing heavy is imported here.

A place, an hour or the weather gives a landscape, other words their colors. So orders are checked
before payment for words that ask for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from kit.engines.prompt.brief import Brief
from kit.engines.prompt.colors import rgb_of
from kit.engines.prompt.reading import read
from kit.engines.prompt.tokens import WordMeanings, tokens_of
from kit.engines.prompt.vocabulary import Tint, vocabulary
from kit.parameters import Problem

__all__ = ["background_of", "background_problems", "color_words", "has_place", "no_background"]

Rgb: TypeAlias = tuple[int, int, int]

_PLACE_AXES = ("place", "hour", "weather", "season")
_WORD = re.compile(r"#[0-9a-fA-F]{3,8}\b|[A-Za-z]+")
#: Colors in two words whose one-word name CSS does not have.
_PAIRS = {"navy blue": "navy"}
#: Colors whose CSS value differs from the usual meaning: navy is pure blue at half power there.
_COLORS = {"navy": (16, 30, 74)}


def background_of(text: str, seed: int) -> Brief | tuple[Rgb | Tint, ...]:
    """Return the background that words ask for: a landscape, or colors, possibly none.

    Examples
    --------
    >>> background_of("teal to #102030", 1), background_of("foggy forest", 1).place
    (((0, 128, 128), (16, 32, 48)), 'forest')
    """
    if has_place(text):
        return read(text, {}, seed, family="poster")
    tints = vocabulary().colors
    return tuple(_COLORS.get(word) or rgb_of(word) or tints[word] for word in color_words(text))


def has_place(text: str) -> bool:
    """Return whether words direct a landscape by more than its color.

    Examples
    --------
    >>> has_place("foggy forest"), has_place("forest green to black")
    (True, False)
    """
    if any(map(_names_place, _lower_words(text))):
        return True
    # Emoji, birds and northern lights decide only if nothing else does.
    return not color_words(text) and (
        _names_place(text) or bool(WordMeanings(tokens_of(text)).anywhere)
    )


def color_words(text: str) -> list[str]:
    """Return the color words of a text, each as one word.

    Examples
    --------
    >>> color_words("Light blue to #102030, or burgundy")
    ['lightblue', '#102030']
    >>> color_words("burgundy"), color_words("asdf")
    (['crimson'], [])
    """
    if "(" in text and rgb_of(text) is not None:  # rgb(10, 20, 30)
        return [text.strip()]
    colors = [word for word in _lower_words(text) if _is_color(word)]
    return colors or [token.text for token in tokens_of(text) if _is_color(token.text)]


def background_problems(name: str, text: str) -> Iterator[Problem]:
    """Yield the problem if the words of a setting ask for nothing that can be painted."""
    if text.strip() and not has_place(text) and not color_words(text):
        yield name, no_background(text)


def no_background(text: str) -> str:
    """Return the message for words that ask for nothing."""
    short = text.strip() if len(text.strip()) <= 60 else text.strip()[:57] + "..."
    return (
        f"{short!r} contains no known color, place, time of day or weather: say for example 'teal',"
        " 'white to gray' or 'mountains at sunset'"
    )


def _lower_words(text: str) -> list[str]:
    """Return the words of a text in lower case, colors of two words as one."""
    out: list[str] = []
    for word in map(str.lower, _WORD.findall(text)):
        before = out.pop() if out else "#"
        pair = _PAIRS.get(f"{before} {word}", before + word)
        is_color = "#" not in pair and rgb_of(pair) is not None
        out += [pair] if is_color else [before, word] if before != "#" else [word]
    return out


def _names_place(text: str) -> bool:
    colors = vocabulary().colors
    meanings = WordMeanings([token for token in tokens_of(text) if token.text not in colors])
    return meanings.has_meaning(*_PLACE_AXES)


def _is_color(word: str) -> bool:
    return word in vocabulary().colors or rgb_of(word) is not None
