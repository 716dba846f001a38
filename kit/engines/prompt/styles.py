"""Styles: the look, the redrawing and the tint that a sentence asks for."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from kit.engines.prompt.vocabulary import Tint, vocabulary


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """The style that a sentence asks for."""

    look: str = "none"  # a name of ``styles.toml``
    redrawn: str = "none"  # likewise
    light: float = 0.0  # added to the light
    contrast: float = 1.0  # multiplied with the contrast
    tint: Tint | None = None  # of a named color
    used: tuple[str, ...] = ()  # words that set something
    unused: tuple[str, ...] = ()  # meaningful words that do not


def read_style(prompt: str) -> Style:
    """Return the style that a sentence asks for.

    The name of a look has priority, then the first word with one; the same holds for redrawing.

    Examples
    --------
    >>> style = read_style("like a Van Gogh painting, a bit darker")
    >>> style.redrawn, style.look, style.light, style.used
    ('painting', 'none', -0.09, ('van gogh', 'painting', 'darker'))
    """
    table, colors = _table(), vocabulary().colors
    words = _style_words(prompt)
    nudges = {table.nudges[word] for word, _ in words if word in table.nudges}
    tints = [colors[word] for word, _ in words if word in colors and word not in table.looks]
    known, silent = table.known, vocabulary().silent
    used = dict.fromkeys(typed for word, typed in words if word in known)
    unused = dict.fromkeys(
        typed for word, typed in words if word not in known and typed not in silent
    )
    return Style(
        look=_chosen(table.looks, words),
        redrawn=_chosen(table.redrawn, words),
        light=sum((light for light, _ in sorted(nudges)), 0.0),
        contrast=math.prod((contrast for _, contrast in sorted(nudges)), start=1.0),
        tint=next(iter(tints), None),
        used=tuple(used)[:40],
        unused=tuple(unused)[:40],
    )


def _chosen(choices: Mapping[str, str], words: Sequence[tuple[str, str]]) -> str:
    found = [word for word, _ in words if word in choices]
    named = [word for word in found if word == choices[word]]
    return next((choices[word] for word in (*named, *found)), "none")


@dataclass(frozen=True, slots=True)
class _Table:
    phrases: dict[str, str]
    looks: dict[str, str]
    redrawn: dict[str, str]
    nudges: dict[str, tuple[float, float]]
    known: frozenset[str]


@cache
def _table() -> _Table:
    path = files("kit.engines.prompt") / "words" / "styles.toml"
    read = tomllib.loads(path.read_text("utf-8"))

    def by_word(groups: dict[str, Any]) -> dict[str, str]:
        return {word: name for name, words in groups.items() for word in words.split()}

    nudges = {
        word: (light, contrast)
        for words, (light, contrast) in read["nudges"].items()
        for word in words.split()
    }
    looks, redrawn = by_word(read["looks"]), by_word(read["redrawn"])
    known = frozenset([*looks, *redrawn, *nudges, *vocabulary().colors])
    return _Table(read["phrases"], looks, redrawn, nudges, known)


def _style_words(prompt: str) -> list[tuple[str, str]]:
    """Return the words of a sentence, phrases as one, each with its original text.

    Unknown words are reduced to their stem: warmer, sketches, cartoonish.
    """
    text, typed = " ".join(prompt.lower().replace("-", " ").split()), {}
    for phrase, word in _table().phrases.items():
        text, count = re.subn(rf"\b{phrase}\b", word, text)
        if count:
            typed[word] = phrase
    return [(_stem(word), typed.get(word, word)) for word in re.findall(r"\w[\w-]*", text)]


def _stem(word: str) -> str:
    stems = (word.removesuffix(end) for end in ("", "s", "es", "er", "r", "ish", "istic", "y"))
    return next((stem for stem in stems if stem in _table().known), word)
