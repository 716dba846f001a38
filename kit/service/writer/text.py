"""Texts of a model: cleaned of what is not speech, measured, and trimmed to a length.

Source: contract, "Titles and scripts": within 10 % of the asked seconds.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations

from kit.engines.text.speech import STOP, seconds, words
from kit.service.domain.writing import Draft

#: Allowed deviation from the requested seconds, slightly less than promised.
TOLERANCE = 0.095
#: Words per syllable of English text, including pauses, for the number of words in a prompt.
_WORDS_PER_SYLLABLE = 0.6
#: Share of common three-word sequences from which two texts count as the same.
_SIMILAR_SHARE = 0.5
_RUN_WORDS = 3
#: Maximum of sentences of a text that can be trimmed; three minutes have about sixty.
_MAX_SENTENCES = 250
# All repetitions are limited, so that no text takes long.
#: ``[music]``, ``(pause)``: directions for an editor or a speaker.
_DIRECTION = re.compile(
    r"\[[^\[\]\n]{0,120}\]|"
    r"\((?:[^()\n]{0,60}\b)?(?:pause|music|sound|sfx|cut to|beat|voice|narrator|visual)\b"
    r"[^()\n]{0,60}\)",
    re.IGNORECASE,
)
#: Labels such as ``Narrator:`` and ``**Hook:**`` before speech.
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
#: Unicode categories that are not spoken: control characters, pictographs and their modifiers.
_SILENT_KINDS = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "So", "Sk"})
#: Ends of sentences; some scripts have no space there.
_SENTENCE_END = re.compile(
    r"(?<!\bDr\.)(?<!\bMr\.)(?<!\bMrs\.)(?<!\bSt\.)(?:(?<=[.!?])|(?<=[.!?][\"'”’)]))\s+(?=[^a-z])"
    r"|(?<=[。！？])\s*"
)


def make_speakable(text: str) -> str:
    r"""Return a script as it is read aloud, in one paragraph."""
    for pattern in (_DIRECTION, _LABEL, _TAG, _MARKUP):
        text = pattern.sub(" ", text)
    return _strip_quotes(_join_lines(text))


def clean_title(text: str) -> str:
    """Return a title: one line, no markup, no surrounding quotes, no full stop."""
    line = _strip_quotes(_join_lines(_MARKUP.sub(" ", _TITLE_LABEL.sub(" ", text))))
    return line.removesuffix(".") if not line.endswith("..") else line


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text."""
    return [part for part in _SENTENCE_END.split(text) if part]


def _join_lines(text: str) -> str:
    # Joiners within words of Indic and Arabic scripts are of category Cf, but change the word.
    spoken = "".join(
        " " if unicodedata.category(char) in _SILENT_KINDS and char not in "\u200c\u200d°" else char
        for char in text
    )
    return re.sub(r" (?=[.,;:!?])", "", " ".join(spoken.split()))


def _strip_quotes(line: str) -> str:
    closing = _QUOTES.get(line[:1], "")
    # Closing quotes inside the text belong to a quotation there.
    if not closing or len(line) < 2 or line.find(closing, 1) != len(line) - 1:
        return line
    return line[1:-1].strip()


@dataclass(frozen=True, slots=True)
class Length:
    """The requested length of a text."""

    target: float
    rate: float

    @property
    def words(self) -> int:
        """The approximate number of words."""
        return round(self.target * self.rate * _WORDS_PER_SYLLABLE)

    def measure(self, text: str) -> float:
        """Return the length of a text in seconds."""
        return seconds(text, rate=self.rate)

    def fits(self, text: str) -> bool:
        """Whether a text has the requested length."""
        return self._is_near(self.measure(text))

    def words_for(self, text: str) -> int:
        """Return the number of words for the requested length, at the rate of this text."""
        spoken = self.measure(text)
        return round(len(words(text)) * self.target / spoken) if spoken else self.words

    def trim(self, text: str) -> str | None:
        """Return a long text shortened by a run of inner sentences so that it fits, or None.

        The first and the last sentence stay: they are the hook and the call. Of the runs that fit,
        the last one is removed, because a text starts with what matters.
        """
        parts = split_sentences(text)
        if len(parts) > _MAX_SENTENCES:
            return None
        ends = [0.0, *accumulate(self.measure(part) + STOP for part in parts)]
        total = ends[-1] - STOP
        runs = combinations(range(1, len(parts)), 2)
        fitting = [(a, b) for a, b in runs if self._is_near(total - (ends[b] - ends[a]))]
        for start, end in sorted(fitting, reverse=True):
            shorter = " ".join((*parts[:start], *parts[end:]))
            if self.fits(shorter):
                return shorter
        return None

    def _is_near(self, spoken: float) -> bool:
        return abs(spoken - self.target) <= TOLERANCE * self.target


def measure_draft(text: str, rate: float, writer: str) -> Draft:
    """Return a text as a measured draft."""
    return Draft(text, seconds(text, rate=rate), len(words(text)), writer)


def is_similar(one: str, other: str) -> bool:
    """Whether two texts are nearly the same."""
    first, second = _runs(words(one.casefold())), _runs(words(other.casefold()))
    return len(first & second) >= _SIMILAR_SHARE * max(1, min(len(first), len(second)))


def _runs(spoken: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(spoken[n : n + _RUN_WORDS]) for n in range(max(1, len(spoken) - _RUN_WORDS + 1))}
