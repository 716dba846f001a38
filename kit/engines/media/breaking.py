"""Breaking: where a text may be broken into lines, which way it runs, and where its words stand.

Words stay whole; one that is longer than any line is broken after a sign within it (a hyphen, a
slash, a dot), and only where it has none in the middle of its letters, with a hyphen.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise
from typing import TypeAlias

from kit.errors import EngineError

_MOST_PIECES = 160
_LONGEST = 22  # letters; a longer word is broken rather than shrinking all others
_LYING = ("Mn", "Me", "Cf")  # categories of what is no letter of its own
_SIGN = re.compile(r"[^-/_.,:?&=@–—]*[-/_.,:?&=@–—]+|[^-/_.,:?&=@–—]+")

#: Widest line, sum of squares, and where the lines break.
_Way: TypeAlias = tuple[float, float, tuple[int, ...]]
_LEFTWARD = ("R", "AL")
_NUMBERS = ("EN", "AN")


@dataclass(frozen=True, slots=True)
class TextPiece:
    """What stays together in a line.

    Parameters
    ----------
    glue : str
        Between it and the next piece in one line: a space, or nothing within a word.
    tail : str
        Shown after it where a line ends: a hyphen in the midst of letters.
    """

    text: str
    glue: str = " "
    tail: str = ""


def pieces(text: str) -> list[TextPiece]:
    """Return a text as what may stand in lines of their own.

    Examples
    --------
    >>> [piece.text for piece in pieces("a well-known self-driving-car-software")]
    ['a', 'well-known', 'self-driving-car-', 'software']
    """
    return [piece for word in text.split() for piece in _word(word)]


def clusters(text: str) -> list[str]:
    """Return the letters of a text, each with the marks that lie on it.

    Examples
    --------
    >>> clusters("ax\u0327o")
    ['a', 'x̧', 'o']
    """
    lies = [bool(unicodedata.combining(s)) or unicodedata.category(s) in _LYING for s in text]
    starts = [at for at, lying in enumerate(lies) if at == 0 or not lying]
    return [text[start:end] for start, end in pairwise([*starts, len(text)])]


def check_words(parts: Sequence[TextPiece]) -> None:
    """Refuse a text of so many pieces that nobody could read it in a picture.

    Raises
    ------
    EngineError
        With code ``text_too_long``.
    """
    if len(parts) > _MOST_PIECES:
        raise EngineError(
            f"the text has more than {_MOST_PIECES} words; it would not be readable",
            code="text_too_long",
        )


def broken(
    parts: Sequence[TextPiece], count: int, width: Callable[[str], float]
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Break pieces into lines so that the widest is narrow, and of such ways the most even one.

    Parameters
    ----------
    count : int
        How many lines, at most as many as there are pieces.
    width : callable
        Returns the width of a text.

    Returns
    -------
    lines : tuple of str
    carried : tuple of int
        Numbers of the lines that begin within a word of the line before.
    """
    glues = [width(f"a{part.glue}a") - width("aa") for part in parts]
    tails = [width(part.tail) if part.tail else 0.0 for part in parts]
    ends = [
        0.0,
        *accumulate(width(part.text) + glue for part, glue in zip(parts, glues, strict=True)),
    ]
    # best[end]: the best way to set the first `end` pieces in so many lines.
    best: dict[int, _Way] = {0: (0.0, 0.0, (0,))}
    for _ in range(count):
        longer: dict[int, _Way] = {}
        for start, (widest, squares, breaks) in best.items():
            for end in range(start + 1, len(parts) + 1):
                line = ends[end] - ends[start] - glues[end - 1] + tails[end - 1]
                way: _Way = (max(widest, line), squares + line * line, (*breaks, end))
                longer[end] = min(longer.get(end, way), way)
        best = longer
    breaks = best[len(parts)][2]
    lines = tuple(_line(parts[first:last]) for first, last in pairwise(breaks))
    carried = (number for number, end in enumerate(breaks[1:-1], 1) if not parts[end - 1].glue)
    return lines, tuple(carried)


def _line(parts: Sequence[TextPiece]) -> str:
    return "".join(part.text + part.glue for part in parts[:-1]) + parts[-1].text + parts[-1].tail


def _word(word: str) -> Iterator[TextPiece]:
    if len(word) <= _LONGEST:
        yield TextPiece(word)
        return
    parts = [piece for run in _runs(word) for piece in _cut(run)]
    yield from parts[:-1]
    yield TextPiece(parts[-1].text)


def _runs(word: str) -> Iterator[str]:
    """Yield a word in runs that end with a sign, as long as they may be."""
    run = ""
    for part in _SIGN.findall(word):
        if run and len(run) + len(part) > _LONGEST:
            yield run
            run = ""
        run += part
    yield run


def _cut(run: str) -> Iterator[TextPiece]:
    """Yield a run of letters in parts of about the same length."""
    letters = clusters(run)
    count = -(-len(letters) // _LONGEST)
    ends = [round(len(letters) * number / count) for number in range(count + 1)]
    for first, last in pairwise(ends):
        yield TextPiece("".join(letters[first:last]), "", "-" if last < len(letters) else "")


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
