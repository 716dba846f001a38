"""The bank: what the offline writer knows, one data file a topic, read when the topic is asked for.

Every entry of a factual topic names the work or institution that documents it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from kit.errors import BadRequestError
from kit.wire import TOPICS

__all__ = ["Bank", "Entry", "bank", "stems"]

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
