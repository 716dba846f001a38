"""The bank: what the offline writer knows, one data file a topic, read when the topic is asked for.

Every entry of a factual topic names the work or institution that documents it.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from kit.errors import BadRequestError
from kit.wire import TOPICS

__all__ = ["Bank", "Entry", "Voice", "bank", "stems", "voices"]

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
class Entry:
    """One fact, tip, case or very short story.

    Parameters
    ----------
    subject : str
        What it is about, as it stands in the middle of a sentence: ``"the octopus"``.
    text, more : str
        It in one sentence, and one or two that go on; `more` never stands without `text`.
    hook : str
        The hook angle, a sentence that can be said as it is.
    source : str
        What documents it.
    whole : bool
        The one sentence makes no sense without what goes on: it asks, or does not name what it is.
    """

    subject: str
    text: str
    more: str
    hook: str
    titles: tuple[str, ...]
    keywords: tuple[str, ...]
    source: str
    whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Bank:
    """A topic's entries, and how they want to be told.

    Parameters
    ----------
    manner : str
        Key of ``voices.json``: facts, stories, advice or cases.
    noun : str
        What there is more of in "follow for more ...".
    """

    topic: str
    manner: str
    noun: str
    entries: tuple[Entry, ...]


@cache
def bank(topic: str) -> Bank:
    """Return the bank of a topic.

    Raises
    ------
    BadRequestError
        There is no such topic.
    """
    if topic not in TOPICS:
        sentence = f"must be one of {', '.join(TOPICS)}"
        raise BadRequestError.fields([("topic", sentence)])
    path = files("kit.engines.text") / "topics" / f"{topic.lower()}.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    return Bank(
        topic=data["topic"],
        manner=data["manner"],
        noun=data["noun"],
        entries=tuple(_entry(row) for row in data["entries"]),
    )


def stems(text: str) -> frozenset[str]:
    """Return the words of a text that carry meaning, cut to what their forms share.

    Examples
    --------
    >>> sorted(stems("Why the Planets are moving"))
    ['mov', 'planet']
    """
    found: Iterable[str] = (w.lower().replace("’", "'") for w in _WORD.findall(text))
    plain = (word.removesuffix("'s") for word in found)
    return frozenset(_SUFFIX.sub("", word) for word in plain if _carries_meaning(word))


def _carries_meaning(word: str) -> bool:
    return word not in _STOPWORDS and not (word.isdigit() and len(word) < 3)  # "7 things"


def _entry(row: dict[str, Any]) -> Entry:
    return Entry(**{**row, "titles": tuple(row["titles"]), "keywords": tuple(row["keywords"])})


_SLOT = re.compile(r"\{(\w+)\}")


class Voice:
    """One way of talking: the same symbol gives its templates in an order the seed decides.

    Examples
    --------
    >>> voice = Voice({"cta": ["Follow for more {noun}."]}, random.Random(1))
    >>> voice.say("cta", noun="myths")
    ['Follow for more myths.']
    """

    def __init__(self, rules: Mapping[str, Sequence[str]], rng: random.Random) -> None:
        self._rules = {symbol: rng.sample(lines, len(lines)) for symbol, lines in rules.items()}

    def say(self, symbol: str, **slots: str) -> list[str]:
        """Return every sentence of a symbol whose slots are all given, the preferred one first."""
        lines = (self._filled(line, slots) for line in self._rules[symbol])
        return [line for line in lines if line]

    def _filled(self, line: str, slots: Mapping[str, str]) -> str:
        if not set(_SLOT.findall(line)) <= set(slots):
            return ""
        said = _SLOT.sub(lambda slot: slots[slot[1]], line)
        return said[:1].upper() + said[1:]


def voices(manner: str, rng: random.Random) -> list[Voice]:
    """Return the voices of a manner, in an order that the seed decides."""
    rules = _tables()[manner]
    return [Voice(rules[index], rng) for index in rng.sample(range(len(rules)), len(rules))]


@cache
def _tables() -> dict[str, list[dict[str, list[str]]]]:
    path = files("kit.engines.text") / "voices.json"
    tables: dict[str, list[dict[str, list[str]]]] = json.loads(path.read_text(encoding="utf-8"))
    return tables
