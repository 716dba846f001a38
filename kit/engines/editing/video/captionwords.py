"""Captionwords: what captions say once they are set, and in which face; loads nothing heavy."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from kit.engines.media.breaking import pieces
from kit.engines.media.fonts import able, with_letters
from kit.engines.media.fonts.wording import Wording, wording
from kit.engines.text import speech
from kit.errors import EngineError
from kit.parameters import Problem

#: Style of captions -> face.
CAPTION_FACES = {"bold": "anton", "clean": "inter", "karaoke": "inter-bold"}
#: Characters of captions: more than anybody says in the longest clip.
LONGEST_TEXT = 30_000

#: How much faster than usual a text may be said.
_FASTEST = 2.6
_LONGEST_WORD = 44  # letters; what is longer is shown in parts, one after another
_SPACES = re.compile(r"[^\S\u00a0\u202f]+")  # those that are no part of a number or a sign
_READ = frozenset("&@#%*/")  # signs that are read as words
_OPENING = ("Ps", "Pi")  # categories of signs that belong to the word behind them


def caption_words(text: str, style: str) -> Wording:
    """Return captions as they are set, without the symbols that no font has.

    Raises
    ------
    EngineError
        They have letters that no font has, or nothing but symbols (``no_letters``); or there are
        too many (``captions_too_long``).
    """
    if not text.strip():
        return Wording("")
    if len(text) > LONGEST_TEXT:
        sentence = f"the captions have {len(text):,} characters, at most {LONGEST_TEXT:,} are"
        raise EngineError(f"{sentence} possible", code="captions_too_long")
    face = CAPTION_FACES[style]
    found = wording(text, face, together=False)
    # What one font has as a whole it has word by word.
    for word, _ in () if able(found.text, face) else spoken_words(found.text):
        with_letters(word, face)
    return found


def caption_problems(
    name: str, text: str, style: str, seconds: float | None = None
) -> Iterator[Problem]:
    """Yield that captions, the value of `name`, cannot be set, or not be read in time.

    Parameters
    ----------
    seconds : float, optional
        Length of the clip, if it is known.
    """
    try:
        words = spoken_words(caption_words(text, style).text)
        if seconds is not None:
            in_time(sum(saying(word) for word, _ in words), seconds)
    except EngineError as error:
        yield name, str(error)


def saying(word: str) -> float:
    """Return how long a word takes to say, in seconds."""
    parts = speech.words(word)
    return sum(map(speech.syllables, parts)) / speech.RATE if parts else 0.05


def in_time(needed: float, there: float) -> None:
    """Refuse captions that take much longer to say than there is time, in seconds.

    Raises
    ------
    EngineError
        With code ``captions_too_long``.
    """
    if needed > _FASTEST * there:
        raise EngineError(
            f"the captions take about {_figure(needed)} s to say, but there is only time for"
            f" {_figure(there)} s: shorten them or choose a longer part",
            code="captions_too_long",
        )


def _figure(seconds: float) -> str:
    """Return seconds in two figures at least: a part of a second is no 0 s."""
    return f"{seconds:.2g}" if seconds < 10 else f"{seconds:.0f}"


def spoken_words(text: str) -> list[tuple[str, bool]]:
    r"""Return the words of a text that are shown as one, and whether a line ends with each.

    Signs that stand alone, as before a French question mark, stay with the word beside them.

    Examples
    --------
    >>> spoken_words("« Ça va ?\nOui")
    [('« Ça', False), ('va ?', True), ('Oui', True)]
    """
    return [
        (part, number == len(line) - 1)
        for line in map(_line, text.splitlines())
        for number, part in enumerate(line)
    ]


def _line(text: str) -> list[str]:
    words: list[str] = []
    ahead = ""
    for token in filter(None, _SPACES.split(text)):
        if not _is_sign(token):
            words += _parts(f"{ahead}{token}")
            ahead = ""
        elif words and not ahead and unicodedata.category(token[-1]) not in _OPENING:
            words[-1] += f" {token}"
        else:
            ahead += f"{token} "
    return [*words, ahead.strip()] if ahead else words


def _is_sign(token: str) -> bool:
    return all(unicodedata.category(s).startswith("P") and s not in _READ for s in token)


def _parts(word: str) -> list[str]:
    """Return a word, or what it is shown as if it is too long to be read at once."""
    if len(word) <= _LONGEST_WORD:
        return [word]
    return [piece.text + piece.tail for piece in pieces(word)]
