"""Line breaking: where a text may be broken, its direction, and the visual order of its words.

Words stay whole; a word that is longer than any line is broken after a sign within it (a hyphen, a
slash, a dot), and only if it has none, in the middle of its letters with a hyphen.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise
from typing import TypeAlias

from kit.errors import EngineError

_MAX_PIECES = 160
_MAX_LETTERS = 22  # a longer word is broken instead of shrinking all others
_MARKS = ("Mn", "Me", "Cf")  # Unicode categories of signs that are no letters of their own
_WORD_PART = re.compile(r"[^-/_.,:?&=@–—]*[-/_.,:?&=@–—]+|[^-/_.,:?&=@–—]+")

#: Widest line, sum of squares, and the positions of line breaks.
_LineBreaks: TypeAlias = tuple[float, float, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class TextPiece:
    """An unbreakable part of a text."""

    text: str
    glue: str = " "  # between this piece and the next in a line; empty within a word
    tail: str = ""  # shown at the end of a line: a hyphen in the middle of a word


def pieces(text: str) -> list[TextPiece]:
    """Return a text as its unbreakable pieces.

    Examples
    --------
    >>> [piece.text for piece in pieces("a well-known self-driving-car-software")]
    ['a', 'well-known', 'self-driving-car-', 'software']
    """
    return [piece for word in text.split() for piece in _cut_word(word)]


def clusters(text: str) -> list[str]:
    """Return the letters of a text, each with its combining marks.

    Examples
    --------
    >>> clusters("ax\u0327o")
    ['a', 'x̧', 'o']
    """
    marks = [bool(unicodedata.combining(s)) or unicodedata.category(s) in _MARKS for s in text]
    starts = [at for at, is_mark in enumerate(marks) if at == 0 or not is_mark]
    return [text[start:end] for start, end in pairwise([*starts, len(text)])]


def check_words(parts: Sequence[TextPiece]) -> None:
    """Refuse a text with too many pieces to be readable in a picture."""
    if len(parts) > _MAX_PIECES:
        sentence = f"the text has more than {_MAX_PIECES} words; it would not be readable"
        raise EngineError(sentence, code="text_too_long")


def break_lines(
    parts: Sequence[TextPiece], count: int, width: Callable[[str], float]
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Break pieces into lines so that the widest is narrow, and among such breaks the most even.

    There are `count` lines, at most one per piece; `width` measures a text. The result includes
    the indices of the lines that begin within a word of the previous line.
    """
    glues = [width(f"a{part.glue}a") - width("aa") for part in parts]
    tails = [width(part.tail) if part.tail else 0.0 for part in parts]
    ends = [
        0.0,
        *accumulate(width(part.text) + glue for part, glue in zip(parts, glues, strict=True)),
    ]
    # best[end]: the best way to set the first `end` pieces in the current number of lines.
    best: dict[int, _LineBreaks] = {0: (0.0, 0.0, (0,))}
    for _ in range(count):
        longer: dict[int, _LineBreaks] = {}
        for start, (widest, squares, breaks) in best.items():
            for end in range(start + 1, len(parts) + 1):
                line = ends[end] - ends[start] - glues[end - 1] + tails[end - 1]
                way: _LineBreaks = (max(widest, line), squares + line * line, (*breaks, end))
                longer[end] = min(longer.get(end, way), way)
        best = longer
    breaks = best[len(parts)][2]
    lines = tuple(
        "".join(part.text + part.glue for part in parts[first : last - 1])
        + parts[last - 1].text
        + parts[last - 1].tail
        for first, last in pairwise(breaks)
    )
    continued = (number for number, end in enumerate(breaks[1:-1], 1) if not parts[end - 1].glue)
    return lines, tuple(continued)


def _cut_word(word: str) -> list[TextPiece]:
    """Return a word whole, or a long one in runs that end with a sign, cut evenly."""
    runs = [""]
    for part in _WORD_PART.findall(word) if len(word) > _MAX_LETTERS else [word]:
        if runs[-1] and len(runs[-1]) + len(part) > _MAX_LETTERS:
            runs.append("")
        runs[-1] += part
    parts = []
    for letters in map(clusters, runs):
        count = -(-len(letters) // _MAX_LETTERS)
        ends = [round(len(letters) * number / count) for number in range(count + 1)]
        for first, last in pairwise(ends):
            tail = "-" if last < len(letters) else ""
            parts.append(TextPiece("".join(letters[first:last]), "", tail))
    return [*parts[:-1], TextPiece(parts[-1].text)]


def is_rtl(text: str) -> bool:
    """Return whether a text runs from right to left: whether most of its words do.

    The first letter, the usual rule, only breaks ties: a Hebrew sentence that begins with a Latin
    name is Hebrew.

    Examples
    --------
    >>> is_rtl("iPhone הוא טלפון"), is_rtl("The word שלום"), is_rtl("2024")
    (True, False, False)
    """
    ways = [way for word in text.split() if (way := _is_rtl_word(word)) is not None]
    left, right = ways.count(True), ways.count(False)
    return left > right or (left == right > 0 and ways[0])


def visual_order(words: Sequence[str], *, rtl: bool) -> list[int]:
    """Return the indices of a line's words in visual order, from left to right.

    `rtl` says whether the line as a whole runs from right to left.

    Examples
    --------
    >>> visual_order(["we", "say", "שלום", "עולם", "here"], rtl=False)
    [0, 1, 3, 2, 4]

    Source: Unicode Standard Annex 9, by whole words.
    """
    ways: list[bool] = []
    for word in words:
        # A number or a lone sign has the direction of the previous word.
        way, before = _is_rtl_word(word), ways[-1] if ways else rtl
        ways.append(before if way is None else way)
    runs = [(way, list(run)) for way, run in groupby(range(len(words)), key=ways.__getitem__)]
    ordered = [run[::-1] if way else run for way, run in runs]
    return [number for run in (ordered[::-1] if rtl else ordered) for number in run]


def _is_rtl_word(word: str) -> bool | None:
    """Return whether a word runs from right to left, by its first letter; None without letters."""
    kinds = map(unicodedata.bidirectional, word)
    return next((kind != "L" for kind in kinds if kind in ("L", "R", "AL")), None)
