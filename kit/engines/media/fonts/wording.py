"""Wording: the part of a text that can be set, and its spelling in capitals.

Emoji and other symbols that no font has are omitted, as the words are readable without them;
letters are never omitted, as that would change the sentence. Nothing heavy is imported.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from kit.engines.media.fonts import face_for, fallbacks, letters, visible_codes
from kit.errors import EngineError
from kit.parameters import Problem

__all__ = ["Wording", "capitals", "compose", "wording", "wording_problems"]

#: Modifiers of the previous sign: variation selectors, skin tones, key caps, tags of flags.
_MODIFIERS = "\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f"
_SIGN = re.compile(
    f"[\U0001f1e6-\U0001f1ff]{{2}}|[^{_MODIFIERS}][{_MODIFIERS}]*(?:\u200d[^{_MODIFIERS}][{_MODIFIERS}]*)*|[{_MODIFIERS}]"
)
#: Symbols, and unassigned code points, such as the newest emoji.
_SYMBOLS = ("So", "Sk", "Sm", "Cn")
_GAP = "\0"
_BLANK = re.compile(f"[ \t{_GAP}]+")
_PUNCTUATION = tuple(".,!?;:…")
_MAX_MARKS = 30
_TONES = re.compile("[\u0300\u0301\u0313\u0314\u0342]")
#: A stressed vowel and the next one, which would be read as one sound without the accent.
_HIATUS = re.compile("([αεου])[\u0300\u0301]([ιυ])(?![\u0300-\u0345])", re.IGNORECASE)
_GREEK = re.compile("[\u0370-\u03ff\u1f00-\u1fff][\u0370-\u03ff\u1f00-\u1fff\u0300-\u0345]*")


@dataclass(frozen=True, slots=True)
class Wording:
    """A text that can be set."""

    text: str
    left_out: tuple[str, ...] = ()  # omitted symbols that no font has, each once, as written


def wording(text: str, face: str, *, together: bool = True) -> Wording:
    """Return a text without the symbols that no font has, for a face if it has the letters.

    Unless `together`, words may be set in different faces. Raises EngineError if no font has some
    of its letters, or if it consists of such symbols only (``no_letters``).

    Examples
    --------
    >>> wording("Good morning 🌅!", "anton")
    Wording(text='Good morning!', left_out=('🌅',))
    """
    # Fonts draw control characters as boxes; line breaks stay.
    signs = (sign for sign in compose(text) if sign.isspace() or unicodedata.category(sign) != "Cc")
    text = "".join(signs).strip()
    has = _font_letters(text, face, together=together)
    symbols = filter(_is_symbol, _SIGN.findall(text))
    lost = dict.fromkeys(sign for sign in symbols if not has.issuperset(visible_codes(sign)))
    if not lost:
        return Wording(_drop_modifiers(text))
    rest = _close_gaps(_SIGN.sub(lambda found: _GAP if found[0] in lost else found[0], text))
    if not rest:
        raise EngineError(
            f"no font has these characters: {' '.join([*lost][:8])}, and the text has no others",
            code="no_letters",
        )
    return Wording(rest, tuple(lost))


def wording_problems(
    name: str, text: str, face: str, *, together: bool = True
) -> Iterator[Problem]:
    """Yield the problem if the text of the parameter `name` cannot be set; empty texts pass."""
    if not text.strip():
        return
    try:
        wording(text, face, together=together)
    except EngineError as error:
        yield name, str(error)


def capitals(text: str) -> str:
    """Return a text in capitals; Greek without accents, by its rules of spelling.

    Source: Unicode, Common Locale Data Repository, transform ``el-Upper``.

    Examples
    --------
    >>> capitals("Πώς; Ρολόι, café")
    'ΠΩΣ; ΡΟΛΟΪ, CAFÉ'
    """
    return _GREEK.sub(_greek_capitals, compose(text)).upper()


def compose(text: str) -> str:
    """Return a text with letters and marks composed into single code points where possible.

    Excessive marks on a letter, more than any script has, are dropped: sorting them takes time
    that grows with the square of their number.

    Source: Unicode Standard Annex 15, "Stream-Safe Text Format".
    """
    if text.isascii():
        return text
    kept, marks = [], 0
    for sign in text:
        marks = marks + 1 if unicodedata.combining(sign) else 0
        if marks <= _MAX_MARKS:
            kept.append(sign)
    return unicodedata.normalize("NFC", "".join(kept))


def _greek_capitals(found: re.Match[str]) -> str:
    if found[0] in ("ή", "Ή"):
        return "Ή"  # "or" keeps its accent to differ from "the"
    letters = unicodedata.normalize("NFD", found[0])
    letters = _HIATUS.sub("\\1\\2\u0308", letters)
    return unicodedata.normalize("NFC", _TONES.sub("", letters).upper())


def _font_letters(text: str, face: str, *, together: bool) -> frozenset[int]:
    """Return the code points of the font that has all letters of a text and most of its signs."""
    signs = _SIGN.findall(text)
    words = "".join(sign[0] for sign in signs if not _is_symbol(sign) and sign[0] not in _MODIFIERS)
    needed = visible_codes(words)
    able = [found for found in map(letters, fallbacks(face)) if found.issuperset(needed)]
    if able:
        wanted = visible_codes("".join(filter(_is_symbol, signs)))
        return max(able, key=lambda found: len(found & wanted))
    if together:
        face_for(words, face)
    for word in words.split():
        face_for(word, face)
    # The font of a symbol is not known yet: each must have it.
    return frozenset.intersection(*map(letters, fallbacks(face)))


def _is_symbol(sign: str) -> bool:
    return unicodedata.category(sign[0]) in _SYMBOLS


def _drop_modifiers(text: str) -> str:
    """Return a text without variation selectors, which draw nothing by themselves."""
    return re.sub(f"[{_MODIFIERS}]", "", text)


def _close_gaps(text: str) -> str:
    """Return a text with gaps closed: single spaces, and none before punctuation or the end."""
    text = _BLANK.sub(_gap_text, _drop_modifiers(text))
    return "\n".join(line.strip(" \t") for line in text.split("\n")).strip()


def _gap_text(blank: re.Match[str]) -> str:
    if _GAP not in blank[0]:
        return blank[0]
    stops = blank[0].endswith(_GAP) and blank.string[blank.end() : blank.end() + 1] in _PUNCTUATION
    return "" if stops else " "
