"""Checks of an edit before payment: its length and its captions.

Imports nothing heavy.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kit.engines.media.fonts import face_for, faces_with
from kit.engines.media.fonts.wording import Wording, wording
from kit.engines.media.line_breaks import pieces
from kit.engines.sizes import MAX_SECONDS
from kit.engines.text import speech
from kit.errors import EngineError
from kit.parameters import Problem

#: Style of captions -> face.
CAPTION_FACES = {"bold": "anton", "clean": "inter", "karaoke": "inter-bold"}
#: Maximum characters of captions: more than can be spoken in the longest clip.
MAX_TEXT = 30_000
#: Tolerance in seconds: files are not exact about their length.
_SLACK = 0.5
_MAX_PACE = 2.6  # maximum speed of a text relative to its usual pace
_MAX_LETTERS = 44  # letters; longer words are shown in parts, one after another
_SPACES = re.compile(r"[^\S\u00a0\u202f]+")  # spaces that are not part of a number or a sign
_READ_SIGNS = frozenset("&@#%*/")  # signs that are read as words
_OPENING_SIGNS = ("Ps", "Pi")  # categories of signs that belong to the next word


class Fault(NamedTuple):
    """A problem of an order: a parameter or a medium, a sentence, and a code."""

    field: str
    sentence: str
    code: str


def edit_faults(values: Mapping[str, Any], whole: float | None) -> Iterator[Fault]:
    """Yield the problems of the requested part of a video, whose length is None if unknown."""
    start, end = float(values["start"]), values.get("end")
    if whole is not None and whole > MAX_SECONDS + _SLACK:
        sentence = f"the video lasts {whole:,.0f} s; at most {MAX_SECONDS} s can be edited"
        yield Fault("video", sentence, "too_long")
    elif whole is not None and start >= whole:
        sentence = f"the part begins at {start:g} s, but the video lasts only {whole:.3g} s"
        yield Fault("start", sentence, "bad_range")
    elif end is not None and end <= start:
        sentence = f"the part ends at {end:g} s, but begins at {start:g} s"
        yield Fault("end", sentence, "bad_range")
    elif whole is not None and (seconds := edit_seconds(values, whole)) > MAX_SECONDS + _SLACK:
        sentence = (
            f"at this speed the result would last {seconds:,.0f} s; at most {MAX_SECONDS} s are"
            " possible: choose a shorter part or a higher speed"
        )
        yield Fault("speed", sentence, "too_long")


def edit_seconds(values: Mapping[str, Any], whole: float) -> float:
    """Return the length of the result of an edit, for a video of a length in seconds."""
    start, end = float(values["start"]), values.get("end")
    return (min(whole if end is None else end, whole) - start) / float(values["speed"])


def join_faults(lengths: Sequence[float]) -> Iterator[Fault]:
    """Yield the problem if clips of these lengths, in seconds, are too much for one join."""
    if (total := sum(lengths)) > MAX_SECONDS + _SLACK:
        sentence = f"the clips last {total:,.0f} s together; at most {MAX_SECONDS} s can be joined"
        yield Fault("clips", sentence, "too_long")


def caption_words(text: str, style: str) -> Wording:
    """Return captions as set, without the symbols that no font has.

    Raises
    ------
    EngineError
        They have letters that no font has, or only symbols (``no_letters``); or they are too
        long (``captions_too_long``).
    """
    if not text.strip():
        return Wording("")
    if len(text) > MAX_TEXT:
        sentence = f"the captions have {len(text):,} characters, at most {MAX_TEXT:,} are"
        raise EngineError(f"{sentence} possible", code="captions_too_long")
    face = CAPTION_FACES[style]
    found = wording(text, face, together=False)
    # If one font has the whole text, it has every word.
    for word, _ in () if faces_with(found.text, face) else spoken_words(found.text):
        face_for(word, face)
    return found


def caption_problems(
    name: str, text: str, style: str, seconds: float | None = None
) -> Iterator[Problem]:
    """Yield the problem if the captions `name` cannot be set, or not be read in time."""
    try:
        words = spoken_words(caption_words(text, style).text)
        if seconds is not None:
            check_pace(sum(speech_seconds(word) for word, _ in words), seconds)
    except EngineError as error:
        yield name, str(error)


def speech_seconds(word: str) -> float:
    """Return the duration of a spoken word in seconds."""
    parts = speech.words(word)
    return sum(map(speech.syllables, parts)) / speech.RATE if parts else 0.05


def check_pace(needed: float, there: float) -> None:
    """Refuse captions that take much longer to say than there is time, in seconds."""
    if needed > _MAX_PACE * there:
        # Two digits at least: a part of a second is not 0 s.
        long, short = (f"{s:.2g}" if s < 10 else f"{s:.0f}" for s in (needed, there))
        raise EngineError(
            f"the captions take about {long} s to say, but there is only time for {short} s:"
            " shorten them or choose a longer part",
            code="captions_too_long",
        )


def spoken_words(text: str) -> list[tuple[str, bool]]:
    r"""Return the words of a text that are shown as one, and whether a line ends with each.

    Signs that stand alone, as before a French question mark, stay with the neighboring word.

    Examples
    --------
    >>> spoken_words("« Ça va ?\nOui")
    [('« Ça', False), ('va ?', True), ('Oui', True)]
    """
    return [
        (part, number == len(line) - 1)
        for line in map(_line_words, text.splitlines())
        for number, part in enumerate(line)
    ]


def _line_words(text: str) -> list[str]:
    words: list[str] = []
    ahead = ""
    for token in filter(None, _SPACES.split(text)):
        sign = all(unicodedata.category(s).startswith("P") and s not in _READ_SIGNS for s in token)
        if sign and words and not ahead and unicodedata.category(token[-1]) not in _OPENING_SIGNS:
            words[-1] += f" {token}"
        elif sign:
            ahead += f"{token} "
        else:
            word, ahead = f"{ahead}{token}", ""
            long = len(word) > _MAX_LETTERS
            words += [piece.text + piece.tail for piece in pieces(word)] if long else [word]
    return [*words, ahead.strip()] if ahead else words
