"""The length of texts read aloud: measured, compared with the asked one, and trimmed to it.

Source: contract, "Titles and scripts": within 10 % of the asked seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations

from kit.engines.text.speech import STOP, seconds, words
from kit.service.domain.writing import Draft
from kit.service.writer.cleaning import split_sentences

#: Share of the asked seconds that a text may be off, a little less than what is promised.
TOLERANCE = 0.095
#: Words a syllable of running English, pauses and all, by which a model is given a number of words.
_WORDS_A_SYLLABLE = 0.6
#: Share of three-word runs from which on two texts are the same text.
_ALIKE = 0.5
_RUN = 3
#: Sentences of a text that can be trimmed; three minutes have about sixty.
_MOST_SENTENCES = 250


@dataclass(frozen=True, slots=True)
class Length:
    """How long a text is to last."""

    target: float
    rate: float

    @property
    def words(self) -> int:
        """About how many words that is."""
        return round(self.target * self.rate * _WORDS_A_SYLLABLE)

    def measure(self, text: str) -> float:
        """Return the seconds that a text lasts."""
        return seconds(text, rate=self.rate)

    def fits(self, text: str) -> bool:
        """Whether a text lasts as long as it is to last."""
        return self._is_near(self.measure(text))

    def words_for(self, text: str) -> int:
        """Return how many words of a text's own kind would last as long as it is to last."""
        spoken = self.measure(text)
        return round(len(words(text)) * self.target / spoken) if spoken else self.words

    def trim(self, text: str) -> str | None:
        """Return a long text shortened by a run of inner sentences so that it fits, or None.

        The first and the last sentence stay: they are the hook and the call. Of the runs that fit,
        the one that stands last goes, for what comes first is what a text is about.
        """
        parts = split_sentences(text)
        if len(parts) > _MOST_SENTENCES:
            return None
        ends = [0.0, *accumulate(self.measure(part) + STOP for part in parts)]
        whole = ends[-1] - STOP
        runs = combinations(range(1, len(parts)), 2)
        fitting = [(a, b) for a, b in runs if self._is_near(whole - (ends[b] - ends[a]))]
        for start, end in sorted(fitting, reverse=True):
            shorter = " ".join((*parts[:start], *parts[end:]))
            if self.fits(shorter):
                return shorter
        return None

    def _is_near(self, spoken: float) -> bool:
        return abs(spoken - self.target) <= TOLERANCE * self.target


def measure_draft(text: str, rate: float, writer: str) -> Draft:
    """Return a text as a draft."""
    return Draft(text, seconds(text, rate=rate), len(words(text)), writer)


def is_similar(one: str, other: str) -> bool:
    """Return whether two texts are more or less the same.

    Examples
    --------
    >>> is_similar("Honey never spoils, ever.", "Honey never spoils. Ever!")
    True
    >>> is_similar("Honey never spoils.", "The octopus has three hearts.")
    False
    """
    first, second = _runs(words(one.casefold())), _runs(words(other.casefold()))
    return len(first & second) >= _ALIKE * max(1, min(len(first), len(second)))


def _runs(said: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(said[n : n + _RUN]) for n in range(max(1, len(said) - _RUN + 1))}
