"""Breaking: where a text may be broken into lines, which way it runs, and where its words stand.

Words stay whole; one that is longer than any line is broken after a sign within it (a hyphen, a
slash, a dot), and only where it has none in the middle of its letters, with a hyphen.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
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


@dataclass(frozen=True, slots=True)
class TextPiece:
    """What stays together in a line."""

    text: str
    glue: str = " "  # between it and the next piece in one line; nothing within a word
    tail: str = ""  # shown after it where a line ends: a hyphen in the midst of letters


def pieces(text: str) -> list[TextPiece]:
    """Return a text as what may stand in lines of their own.

    Examples
    --------
    >>> [piece.text for piece in pieces("a well-known self-driving-car-software")]
    ['a', 'well-known', 'self-driving-car-', 'software']
    """
    return [piece for word in text.split() for piece in _cut_word(word)]


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
    """Refuse a text of too many pieces to be read in a picture."""
    if len(parts) > _MOST_PIECES:
        sentence = f"the text has more than {_MOST_PIECES} words; it would not be readable"
        raise EngineError(sentence, code="text_too_long")


def break_lines(
    parts: Sequence[TextPiece], count: int, width: Callable[[str], float]
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Break pieces into lines so that the widest is narrow, and of such ways the most even one.

    There are to be `count` lines, at most as many as pieces; `width` measures a text. With the
    lines come the numbers of those that begin within a word of the line before.
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
    lines = tuple(
        "".join(part.text + part.glue for part in parts[first : last - 1])
        + parts[last - 1].text
        + parts[last - 1].tail
        for first, last in pairwise(breaks)
    )
    carried = (number for number, end in enumerate(breaks[1:-1], 1) if not parts[end - 1].glue)
    return lines, tuple(carried)


def _cut_word(word: str) -> list[TextPiece]:
    """Return a word whole, or a long one in runs that end with a sign, those cut evenly."""
    runs = [""]
    for part in _SIGN.findall(word) if len(word) > _LONGEST else [word]:
        if runs[-1] and len(runs[-1]) + len(part) > _LONGEST:
            runs.append("")
        runs[-1] += part
    parts = []
    for letters in map(clusters, runs):
        count = -(-len(letters) // _LONGEST)
        ends = [round(len(letters) * number / count) for number in range(count + 1)]
        for first, last in pairwise(ends):
            tail = "-" if last < len(letters) else ""
            parts.append(TextPiece("".join(letters[first:last]), "", tail))
    return [*parts[:-1], TextPiece(parts[-1].text)]


def is_leftward(text: str) -> bool:
    """Return whether a text runs from right to left: whether most of its words do.

    Its first letter, which decides where nothing else is known, does so only between equals: a
    Hebrew sentence that begins with a Latin name is Hebrew.

    Examples
    --------
    >>> is_leftward("iPhone הוא טלפון"), is_leftward("The word שלום"), is_leftward("2024")
    (True, False, False)
    """
    ways = [way for word in text.split() if (way := _way(word)) is not None]
    left, right = ways.count(True), ways.count(False)
    return left > right or (left == right > 0 and ways[0])


def visual_order(words: Sequence[str], *, left: bool) -> list[int]:
    """Return the numbers of a line's words as they stand from left to right.

    `left` says whether the line as a whole runs from right to left.

    Examples
    --------
    >>> visual_order(["we", "say", "שלום", "עולם", "here"], left=False)
    [0, 1, 3, 2, 4]

    Source: Unicode Standard Annex 9, by whole words.
    """
    ways: list[bool] = []
    for word in words:
        # A number, or a mere sign, goes on as the word before it.
        way, before = _way(word), ways[-1] if ways else left
        ways.append(before if way is None else way)
    runs = [(way, list(run)) for way, run in groupby(range(len(words)), key=ways.__getitem__)]
    ordered = [run[::-1] if way else run for way, run in runs]
    return [number for run in (ordered[::-1] if left else ordered) for number in run]


def _way(word: str) -> bool | None:
    """Return whether a word runs from right to left, by its first letter; None without one."""
    kinds = map(unicodedata.bidirectional, word)
    return next((kind != "L" for kind in kinds if kind in ("L", "R", "AL")), None)
