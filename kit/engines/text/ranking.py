"""Ranking: which entries of a topic a title and a hook angle are about."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Collection, Mapping
from functools import cache

from kit.engines.text.bank import Entry, bank, stems

__all__ = ["lead_for", "ranked", "speaks_of"]

#: How much of a title an entry must speak of, by weight, for the script to be about that entry.
_COVERED = 0.55
#: Share of the best match from which on an entry counts as what the title speaks of.
_FITTING = 0.4
#: How much of a title the only fitting entry must speak of, by weight, to be told a second time.
_REPEATED = 0.4


def lead_for(topic: str, title: str) -> Entry | None:
    """Return the entry that a title is about, or None when it is about something else."""
    entries = bank(topic).entries
    wanted = title.casefold().strip(" .!?")
    for entry in entries:
        if wanted in (name.casefold().strip(" .!?") for name in entry.titles):
            return entry
    asked = dict.fromkeys(stems(title), 1.0)
    best = max(entries, key=lambda entry: _match(topic, entry, asked))
    covered = _share(topic, best, asked) >= _COVERED
    return best if covered and asked.keys() & _near(best) else None


def speaks_of(topic: str, title: str) -> bool:
    """Return whether a topic has an entry on anything that a title names."""
    asked = stems(title)
    return any(asked & _near(entry) for entry in bank(topic).entries)


def ranked(
    topic: str,
    about: str,
    lead: Entry | None,
    rng: random.Random,
    told: Collection[str] = (),
) -> list[Entry]:
    """Return the entries of a topic, the most fitting first; equals in an order the seed decides.

    A lead comes first, then what shares its keywords. Without one, what the title speaks of comes
    first, even if it was told, unless all there is hardly speaks of it.

    Parameters
    ----------
    about : str
        Title and hook angle.
    told : collection of str
        Subjects of another script on the same title, which step back.
    """
    asked = dict.fromkeys(stems(about), 1.0)
    if lead:
        asked = dict.fromkeys(_near(lead), 0.6) | asked
    entries = bank(topic).entries
    score = {e.subject: _match(topic, e, asked) * rng.uniform(0.8, 1) for e in entries}
    enough = max(score.values()) * _FITTING
    named = [e for e in entries if lead is None and asked.keys() & _near(e)]
    fitting = [e for e in named if score[e.subject] >= enough]
    if all(e.subject in told and _share(topic, e, asked) < _REPEATED for e in fitting):
        fitting = []

    def place(entry: Entry) -> tuple[bool, bool, bool, float]:
        is_told = entry.subject in told
        return entry is not lead, entry not in fitting, is_told, -score[entry.subject]

    return sorted(rng.sample(entries, len(entries)), key=place)


def _match(topic: str, entry: Entry, asked: Mapping[str, float]) -> float:
    """Weigh the words asked for that an entry has: in its name 3, near it 2, in its text 1."""
    rare = _rarity(topic)
    named, near, said = stems(entry.subject), _near(entry), _said(entry)
    return sum(
        weight * rare.get(stem, 0.0) * (3 if stem in named else 2 if stem in near else 1)
        for stem, weight in asked.items()
        if stem in near or stem in said
    )


def _share(topic: str, entry: Entry, asked: Mapping[str, float]) -> float:
    rare = _rarity(topic)
    unknown = max(rare.values())
    weights = {stem: rare.get(stem, unknown) for stem in asked}
    found = sum(weights[stem] for stem in asked if stem in _near(entry) or stem in _said(entry))
    return found / (sum(weights.values()) or 1.0)


@cache
def _near(entry: Entry) -> frozenset[str]:
    return stems(f"{entry.subject} {' '.join(entry.keywords)}")


@cache
def _said(entry: Entry) -> frozenset[str]:
    return stems(f"{entry.text} {entry.more} {entry.hook} {' '.join(entry.titles)}")


@cache
def _rarity(topic: str) -> Mapping[str, float]:
    """Weigh words by how few entries of the topic have them."""
    entries = bank(topic).entries
    counts = Counter(stem for entry in entries for stem in _near(entry) | _said(entry))
    return {stem: math.log(1 + len(entries) / count) for stem, count in counts.items()}
