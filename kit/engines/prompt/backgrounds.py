"""Grounds: what words ask for behind a title or a subject; nothing heavy is imported here.

A place, an hour or the weather asks for a landscape, all else for its colors. So it is known before
anything is paid for whether words ask for anything at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from kit.engines.prompt import lexicon
from kit.engines.prompt.colors import rgb_of
from kit.engines.prompt.words import words_of
from kit.parameters import Problem

__all__ = ["asks_for_place", "color_words", "ground_problems", "no_ground"]

_PLACES = ("subject", "time", "weather", "season")
_WORD = re.compile(r"#[0-9a-fA-F]{3,8}\b|[A-Za-z]+")
#: Colors of two words of which no screen has the name in one.
_PAIRS = {"navy blue": "navy"}
_TABLES = tuple(lexicon.AXES[axis] for axis in _PLACES)
_KNOWN = frozenset([*lexicon.EXTRA_WORDS, *lexicon.COLORS]).union(*_TABLES)


def asks_for_place(text: str) -> bool:
    """Tell whether words direct a landscape by more than its color.

    Examples
    --------
    >>> asks_for_place("foggy forest"), asks_for_place("forest green to black")
    (True, False)
    """
    if any(map(_names_place, _words(text))):
        return True
    # What is said in emoji, or of birds and northern lights, decides where nothing else does.
    others = () if color_words(text) else _reworded(text)
    return any(_names_place(word) or word in lexicon.EXTRA_WORDS for word in others)


def color_words(text: str) -> list[str]:
    """Return the words of a text that name colors, each as one word.

    Examples
    --------
    >>> color_words("Light blue to #102030, or burgundy")
    ['lightblue', '#102030']
    >>> color_words("burgundy"), color_words("asdf")
    (['crimson'], [])
    """
    if "(" in text and rgb_of(text) is not None:  # rgb(10, 20, 30)
        return [text.strip()]
    colors = [word for word in _words(text) if _is_color(word)]
    return colors or [word for word in _reworded(text) if _is_color(word)]


def ground_problems(name: str, text: str) -> Iterator[Problem]:
    """Yield that the words of a setting, if there are any, ask for nothing that can be painted."""
    if text.strip() and not asks_for_place(text) and not color_words(text):
        yield name, no_ground(text)


def no_ground(text: str) -> str:
    """Return what is said of words that ask for nothing."""
    short = text.strip() if len(text.strip()) <= 60 else text.strip()[:57] + "..."
    return (
        f"{short!r} names no color and no place, hour or weather: say for example 'teal',"
        " 'white to gray' or 'mountains at sunset'"
    )


def _words(text: str) -> list[str]:
    """Return the words of a text in lower case, a color's two words as one."""
    words = [word.lower() for word in _WORD.findall(text)]
    out: list[str] = []
    joined = False
    for word, after in pairwise([*words, ""]):
        pair = _paired(word, after)
        if not joined:
            out.append(pair or word)
        joined = pair is not None and not joined
    return out


def _paired(word: str, after: str) -> str | None:
    if not after or "#" in word + after:
        return None
    pair = _PAIRS.get(f"{word} {after}", word + after)
    return pair if rgb_of(pair) is not None else None


def _reworded(text: str) -> Sequence[str]:
    return words_of(text, _KNOWN)


def _names_place(word: str) -> bool:
    forms = {word, word.removesuffix("s"), word.removesuffix("es")}
    return any(form in table for table in _TABLES for form in forms)


def _is_color(word: str) -> bool:
    return word in lexicon.COLORS or rgb_of(word) is not None
