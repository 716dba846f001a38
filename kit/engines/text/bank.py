"""The bank: the knowledge of the offline writer, one data file per topic, loaded on first use.

Every entry of a factual topic names the work or institution that documents it.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from kit.errors import BadRequestError
from kit.wire import TOPICS

_PLAIN_WORDS = (
    "a about after again all almost also always an and any are as at be been before best but by "
    "can cannot could did do does every everyone ever first for from get gets give had has have he "
    "her here him his how i if in into is it its just know like made make makes many me more most "
    "much my never no nobody not nothing of on once one only or our out over people really she so "
    "some still than that the their them then there these they thing things this those through to "
    "too top true truth until up us very was we were what when where which while who whose why "
    "will with without would you your fact facts story stories amazing crazy insane incredible "
    "mind blow blowing shocking secret secrets behind explained tips ways reasons surprising "
    "weird strange should must may might ten five three seven"
)
_STOPWORDS = frozenset(_PLAIN_WORDS.split())
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_SUFFIX = re.compile(r"(?<=\w{3})(?:ies|es|s|ing|ed|y|e)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class BankEntry:
    """One fact, tip, case or very short story."""

    subject: str  # as in the middle of a sentence: "the octopus"
    text: str  # in one sentence
    more: str  # one or two more sentences; never used without `text`
    hook: str  # the hook angle, a sentence that can be spoken unchanged
    titles: tuple[str, ...]
    keywords: tuple[str, ...]
    source: str  # the work or institution that documents it
    whole: bool = False  # `text` makes no sense alone: it asks, or does not name its subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Bank:
    """A topic's entries, and how to use them."""

    topic: str
    manner: str  # facts, stories, advice or cases
    noun: str  # for the end: "follow for more ..."
    voices: Sequence[Mapping[str, Sequence[str]]]  # styles of speech: symbol -> templates
    entries: tuple[BankEntry, ...]


def _load(*path: str) -> Any:
    file = files("kit.engines.text").joinpath(*path)
    return json.loads(file.read_text(encoding="utf-8"))


@cache
def bank(topic: str) -> Bank:
    """Return the bank of a topic; BadRequestError if there is no such topic."""
    if topic not in TOPICS:
        sentence = f"must be one of {', '.join(TOPICS)}"
        raise BadRequestError.fields([("topic", sentence)])
    data = _load("topics", f"{topic.lower()}.json")
    lists = ("titles", "keywords")
    entries = (BankEntry(**row | {n: tuple(row[n]) for n in lists}) for row in data["entries"])
    voices = _load("voices.json")[data["manner"]]
    return Bank(**data | {"entries": tuple(entries), "voices": voices})


def stems(text: str) -> frozenset[str]:
    """Return the meaningful words of a text, reduced to their stems.

    Examples
    --------
    >>> sorted(stems("Why the Planets are moving"))
    ['mov', 'planet']
    """
    found = (word.lower().replace("’", "'").removesuffix("'s") for word in _WORD.findall(text))
    return frozenset(
        _SUFFIX.sub("", word)
        for word in found
        if word not in _STOPWORDS and not (word.isdigit() and len(word) < 3)  # "7 things"
    )


#: Minimum share of a title's words, by weight, that the entry about it must contain.
_MIN_COVERED = 0.55
#: Share of the best match from which an entry counts as relevant to the title.
_MIN_FITTING = 0.4
#: Minimum share of a title, by weight, in its only relevant entry for this to be used twice.
_MIN_REPEATED = 0.4


def find_lead(topic: str, title: str) -> BankEntry | None:
    """Return the entry that a title is about, or None."""
    entries = bank(topic).entries
    folded = title.casefold().strip(" .!?")
    for entry in entries:
        if folded in (name.casefold().strip(" .!?") for name in entry.titles):
            return entry
    words = dict.fromkeys(stems(title), 1.0)
    best = max(entries, key=lambda entry: _match(topic, entry, words))
    covered = _share(topic, best, words) >= _MIN_COVERED
    return best if covered and words.keys() & _stems_of_name(best) else None


def covers(topic: str, title: str) -> bool:
    """Return whether a topic has an entry on anything that a title names."""
    words = stems(title)
    return any(words & _stems_of_name(entry) for entry in bank(topic).entries)


def rank_entries(
    topic: str, about: str, lead: BankEntry | None, rng: random.Random, used: Collection[str] = ()
) -> list[BankEntry]:
    """Return the entries of a topic by relevance; the seed decides the order of equals.

    A lead comes first, then entries with its keywords. Without one, entries relevant to `about` (a
    title and hook angle) come first, even if used before, unless no entry is really relevant. The
    subjects that another script on the same title has used move back.
    """
    words = dict.fromkeys(stems(about), 1.0)
    if lead:
        words = dict.fromkeys(_stems_of_name(lead), 0.6) | words
    entries = bank(topic).entries
    score = {e.subject: _match(topic, e, words) * rng.uniform(0.8, 1) for e in entries}
    enough = max(score.values()) * _MIN_FITTING
    named = [e for e in entries if lead is None and words.keys() & _stems_of_name(e)]
    fitting = [e for e in named if score[e.subject] >= enough]
    if all(e.subject in used and _share(topic, e, words) < _MIN_REPEATED for e in fitting):
        fitting = []

    def sort_key(entry: BankEntry) -> tuple[bool, bool, bool, float]:
        is_used = entry.subject in used
        return entry is not lead, entry not in fitting, is_used, -score[entry.subject]

    return sorted(rng.sample(entries, len(entries)), key=sort_key)


def _match(topic: str, entry: BankEntry, words: Mapping[str, float]) -> float:
    """Score the requested words in an entry: in its name 3, near it 2, in its text 1."""
    rare = _rarity(topic)
    subject, name, text = stems(entry.subject), _stems_of_name(entry), _stems_of_text(entry)
    return sum(
        weight * rare.get(stem, 0.0) * (3 if stem in subject else 2 if stem in name else 1)
        for stem, weight in words.items()
        if stem in name or stem in text
    )


def _share(topic: str, entry: BankEntry, words: Mapping[str, float]) -> float:
    rare = _rarity(topic)
    unknown = max(rare.values())
    weights = {stem: rare.get(stem, unknown) for stem in words}
    found = sum(
        weights[stem]
        for stem in words
        if stem in _stems_of_name(entry) or stem in _stems_of_text(entry)
    )
    return found / (sum(weights.values()) or 1.0)


@cache
def _stems_of_name(entry: BankEntry) -> frozenset[str]:
    return stems(f"{entry.subject} {' '.join(entry.keywords)}")


@cache
def _stems_of_text(entry: BankEntry) -> frozenset[str]:
    return stems(f"{entry.text} {entry.more} {entry.hook} {' '.join(entry.titles)}")


@cache
def _rarity(topic: str) -> Mapping[str, float]:
    """Return weights of words by their rarity in the topic's entries."""
    entries = bank(topic).entries
    counts = Counter(
        stem for entry in entries for stem in _stems_of_name(entry) | _stems_of_text(entry)
    )
    return {stem: math.log(1 + len(entries) / count) for stem, count in counts.items()}
