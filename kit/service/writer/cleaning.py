"""Cleaning: what a model writes, without what cannot be said aloud or shown as a title."""

from __future__ import annotations

import re
import unicodedata

# Repetitions are bounded throughout, so that no text takes long.
#: ``[music]``, ``(pause)``: directions to a cutter or a speaker.
_DIRECTION = re.compile(
    r"\[[^\[\]\n]{0,120}\]|"
    r"\((?:[^()\n]{0,60}\b)?(?:pause|music|sound|sfx|cut to|beat|voice|narrator|visual)\b"
    r"[^()\n]{0,60}\)",
    re.IGNORECASE,
)
#: ``Narrator:`` and ``**Hook:**`` before what is said.
_LABEL = re.compile(
    r"^\W{0,6}(?:narrator|voice[- ]?over|vo|speaker|host|hook|intro|body|cta|call to action|outro|"
    r"script|variation \d)\W{0,3}:[*_\s]{0,4}",
    re.IGNORECASE | re.MULTILINE,
)
_TITLE_LABEL = re.compile(r"^\W{0,6}(?:video )?title\W{0,3}:[*_\s]{0,4}", re.IGNORECASE)
_TAG = re.compile(r"(?<!\w)#\w+")
_MARKUP = re.compile(
    r"[*_`~]{1,3}(?=\w)|(?<=[\w.,;:!?])[*_`~]{1,3}|^[ \t]{0,8}(?:#{1,6}|[-*>•])[ \t]{1,4}",
    re.MULTILINE,
)
_QUOTES = {'"': '"', "“": "”", "«": "»", "„": "“", "'": "'", "‘": "’"}
#: Unicode categories that are not spoken: controls, pictures and their modifiers.
_SILENT = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "So", "Sk"})
#: Where a sentence ends; other scripts have no space there.
_ENDS = re.compile(
    r"(?<!\bDr\.)(?<!\bMr\.)(?<!\bMrs\.)(?<!\bSt\.)(?:(?<=[.!?])|(?<=[.!?][\"'”’)]))\s+(?=[^a-z])"
    r"|(?<=[。！？])\s*"
)


def speakable(text: str) -> str:
    r"""Return a script as it is read aloud, in one paragraph.

    Examples
    --------
    >>> speakable("**Hook:** Look *up*. [music]\n\nVenus turns backwards. 🚀 #space")
    'Look up. Venus turns backwards.'
    """
    for pattern in (_DIRECTION, _LABEL, _TAG, _MARKUP):
        text = pattern.sub(" ", text)
    return _strip_quotes(_one_line(text))


def clean_title(text: str) -> str:
    """Return a title: one line, no markup, no quotes around it, no full stop.

    Examples
    --------
    >>> clean_title('Title: "Why Venus Turns Backwards."')
    'Why Venus Turns Backwards'
    """
    line = _strip_quotes(_one_line(_MARKUP.sub(" ", _TITLE_LABEL.sub(" ", text))))
    return line.removesuffix(".") if not line.endswith("..") else line


def split_sentences(text: str) -> list[str]:
    """Return a text's sentences.

    Examples
    --------
    >>> split_sentences("One. Two, 3.5 km! Is it?")
    ['One.', 'Two, 3.5 km!', 'Is it?']
    """
    return [part for part in _ENDS.split(text) if part]


def normalize(text: str) -> str:
    """Return the letters and figures of a text, to tell whether two say the same.

    Examples
    --------
    >>> normalize("The Moon's Far-Side!") == normalize("the moons far side")
    True
    """
    return "".join(char for char in text.casefold() if char.isalnum())


def _one_line(text: str) -> str:
    said = "".join(" " if _is_silent(char) else char for char in text)
    return re.sub(r" (?=[.,;:!?])", "", " ".join(said.split()))


def _is_silent(char: str) -> bool:
    # Joiners inside words of Indic and Arabic scripts are formats that change what is read.
    return unicodedata.category(char) in _SILENT and char not in "\u200c\u200d°"


def _strip_quotes(line: str) -> str:
    closing = _QUOTES.get(line[:1], "")
    # Quotes that close inside belong to what is quoted there.
    if not closing or len(line) < 2 or line.find(closing, 1) != len(line) - 1:
        return line
    return line[1:-1].strip()
