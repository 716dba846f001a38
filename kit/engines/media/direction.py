"""Direction: which way a text runs, and where its words stand in a line; nothing heavy is imported.

A line may run both ways: Latin words in a Hebrew sentence keep their own order among themselves.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import groupby

_LEFTWARD = ("R", "AL")
_NUMBERS = ("EN", "AN")


def leftward(text: str) -> bool:
    """Return whether a text runs from right to left: whether most of its words do.

    Its first letter, which decides where nothing else is known, does so only between equals: a
    Hebrew sentence that begins with a Latin name is Hebrew.

    Examples
    --------
    >>> leftward("iPhone הוא טלפון"), leftward("The word שלום"), leftward("2024")
    (True, False, False)
    """
    ways = [way for word in text.split() if (way := _way(word, before=None)) is not None]
    left, right = ways.count(True), ways.count(False)
    return left > right or (left == right > 0 and ways[0])


def in_sight(words: Sequence[str], *, left: bool) -> list[int]:
    """Return the numbers of a line's words as they stand from left to right.

    Parameters
    ----------
    left : bool
        Whether the line as a whole runs from right to left.

    Examples
    --------
    >>> in_sight(["we", "say", "שלום", "עולם", "here"], left=False)
    [0, 1, 3, 2, 4]

    Source: Unicode Standard Annex 9, by whole words.
    """
    ways = _ways(words, left)
    runs = [(way, list(run)) for way, run in groupby(range(len(words)), key=ways.__getitem__)]
    ordered = [run[::-1] if way else run for way, run in runs]
    return [number for run in (ordered[::-1] if left else ordered) for number in run]


def _ways(words: Sequence[str], left: bool) -> list[bool]:
    """Return which words run from right to left; a number goes on as the word before it.

    Signs run as the words on both sides of them if those agree, else as the line.
    """
    ways: list[bool | None] = []
    last = left
    for word in words:
        way = _way(word, last)
        ways.append(way)
        last = last if way is None else way
    before, after = _filled(ways, left), _filled(ways[::-1], left)[::-1]
    return [one if one == other else left for one, other in zip(before, after, strict=True)]


def _filled(ways: Sequence[bool | None], left: bool) -> list[bool]:
    """Return the ways, an open one as the last one before it."""
    filled, last = [], left
    for way in ways:
        last = last if way is None else way
        filled.append(last)
    return filled


def _way(word: str, before: bool | None) -> bool | None:
    """Return whether a word runs from right to left, by its first letter; None of mere signs."""
    kinds = [unicodedata.bidirectional(letter) for letter in word]
    strong = next((kind for kind in kinds if kind in ("L", *_LEFTWARD)), None)
    if strong is not None:
        return strong in _LEFTWARD
    return before if any(kind in _NUMBERS for kind in kinds) else None
