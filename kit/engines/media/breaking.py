"""Breaking: where a text may be broken into lines, and how it looks where it is.

Words stay whole; one that is longer than any line is broken after a sign within it (a hyphen, a
slash, a dot), and only where it has none in the middle of its letters, with a hyphen.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TypeAlias

from kit.errors import EngineError

_MOST_PIECES = 160
_LONGEST = 22  # letters; a longer word is broken rather than shrinking all others
_ASIDE = 4  # letters that a hyphen may stand off the middle of a word, to be between syllables
_VOWELS = tuple("aeiouyæøœıαεηιουωаеёиоуыэюяіїє")
#: Letters that are one sound, the longest first.
_SOUNDS = ("sch", "ch", "sh", "th", "ph", "ck", "qu", "gh", "wh")
_LYING = ("Mn", "Me", "Cf")  # categories of what is no letter of its own
_SIGN = re.compile(r"[^-/_.,:?&=@–—]*[-/_.,:?&=@–—]+|[^-/_.,:?&=@–—]+")

#: Widest line, sum of squares, and where the lines break.
_Way: TypeAlias = tuple[float, float, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Piece:
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


def pieces(text: str) -> list[Piece]:
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


def check_words(parts: Sequence[Piece]) -> None:
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
    parts: Sequence[Piece], count: int, width: Callable[[str], float]
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


def _line(parts: Sequence[Piece]) -> str:
    return "".join(part.text + part.glue for part in parts[:-1]) + parts[-1].text + parts[-1].tail


def _word(word: str) -> Iterator[Piece]:
    if len(word) <= _LONGEST:
        yield Piece(word)
        return
    parts = [piece for run in _runs(word) for piece in _cut(run)]
    yield from parts[:-1]
    yield Piece(parts[-1].text)


def _runs(word: str) -> Iterator[str]:
    """Yield a word in runs that end with a sign, as long as they may be."""
    run = ""
    for part in _SIGN.findall(word):
        if run and len(run) + len(part) > _LONGEST:
            yield run
            run = ""
        run += part
    yield run


def _cut(run: str) -> Iterator[Piece]:
    """Yield a run of letters in parts of about the same length."""
    letters = clusters(run)
    plain = "".join(_plain(letter) for letter in letters)
    parts = -(-len(letters) // _LONGEST)
    first = 0
    for number in range(1, parts):
        # What follows must fit as well.
        least, most = len(letters) - (parts - number) * _LONGEST, first + _LONGEST
        last = _seam(plain, round(len(letters) * number / parts), least, most)
        yield Piece("".join(letters[first:last]), "", "-")
        first = last
    yield Piece("".join(letters[first:]), "")


def _plain(letter: str) -> str:
    """Return the one small letter that a letter with its marks is at heart."""
    return unicodedata.normalize("NFD", letter[:1].lower())[:1]


def _seam(plain: str, middle: int, least: int, most: int) -> int:
    """Return how many letters stand before a hyphen: next to the middle, where a syllable begins.

    That is before a consonant with a vowel after it; of a sound of two letters, both go on.
    """
    near = range(max(least, middle - _ASIDE), min(most, middle + _ASIDE) + 1)
    seams = [place for place in near if _begins(plain, place)]
    return min(seams, key=lambda place: (abs(place - middle), place), default=middle)


def _begins(word: str, place: int) -> bool:
    """Return whether a syllable may begin at a place of a word in small letters."""
    if not 2 <= place <= len(word) - 2 or word[place] in _VOWELS:
        return False
    if word[place - 1 : place + 1] in _SOUNDS or word[place - 2 : place + 1] in _SOUNDS:
        return False
    opens = next((sound for sound in _SOUNDS if word.startswith(sound, place)), word[place])
    return word[place + len(opens) : place + len(opens) + 1] in _VOWELS
