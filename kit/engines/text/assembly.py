"""Assembly: selects facts and bridges between a given beginning and end to fill a given time.

The time of a text is the sum of its sentences' times plus a pause each, so the search is a
knapsack over entries: each may be short or long, with or without a bridge. A long script takes its
best entries in order, and the search decides about the last half minute.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import nsmallest
from itertools import chain, pairwise

from kit.engines.text.bank import BankEntry, stems
from kit.engines.text.speech import RATE, STOP, seconds

_LIGHT_WORDS = "a an and at by for from he her his i if in it its my of on she so that the their "
_LIGHT = frozenset(f"{_LIGHT_WORDS}there they this those to we when you your".split())
_SENTENCE_END = re.compile(r"(?<=[.!?]) +(?=[A-Z0-9])")
#: Length in seconds that is searched, and the step of the search.
_SEARCH_SECONDS, _STEP_SECONDS = 26.0, 0.05
#: Maximum entries of the search, and seconds up to which it may use all.
_MAX_CANDIDATES, _ALL_SECONDS = 20, 16.0
#: Tolerated error as a share of the time, and maximum error in seconds that is considered.
_TOLERANCE, _WINDOW_SECONDS = 0.095, 3.0
#: Cost that marks a defect: nothing new in the text, or worse, a length out of bounds.
_DEFECT_COST = 500.0
#: Maximum texts that are checked for their sound, and the cost of two sentences that begin alike.
_MAX_CHECKED, _STUTTER_COST = 400, 1.0
#: Cost of a missing bridge.
_ABRUPT_COST = 3.0

_Parts = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """A beginning and an end of a script, and their cost (0 is best)."""

    opening: _Parts
    closing: _Parts
    cost: float

    def length(self, rate: float) -> float:
        """Return the seconds of both, with the pause after each sentence."""
        return _length((*self.opening, *self.closing), rate)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRules:
    """Rules of using entries.

    Bridges are in order of use, and each is used once. In a naming bridge, ``{subject}`` stands
    for the next entry; an entry that names itself gets a plain one.
    """

    naming: Sequence[str]
    plain: Sequence[str]
    whole: bool  # entries are used whole, as half of one makes no sense
    brief: bool = False  # the lead gets one sentence, to leave room for others
    #: Subjects of another script: these alone do not make a new script.
    stale: Collection[str] = ()
    rate: float = RATE


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledScript:
    """A text and its subjects."""

    text: str
    subjects: tuple[str, ...]
    fits: bool  # it has the right length, its lead, and something new


@dataclass(frozen=True, slots=True)
class _Plan:
    parts: _Parts = ()
    subjects: tuple[str, ...] = ()  # subjects
    named: int = 0  # bridges used
    plain: int = 0
    length: float = 0.0
    cost: float = 0.0
    fresh: bool = False

    @property
    def slot(self) -> tuple[int, bool]:
        return round(self.length / _STEP_SECONDS), self.fresh

    def bridge_to(self, entry: BankEntry, parts: _Parts, rules: EntryRules) -> tuple[str, bool]:
        """Return the next bridge, and whether it is a naming one; the two kinds alternate."""
        naming, plain = rules.naming[self.named :], rules.plain[self.plain :]
        is_turn = self.named <= self.plain or not plain
        if naming and is_turn and not _names_itself(entry, parts):
            return naming[0].replace("{subject}", entry.subject), True
        return plain[0] if plain else "", False

    def add(
        self,
        entry: BankEntry,
        parts: _Parts,
        cost: float,
        rules: EntryRules,
        bridge: str = "",
        names: bool = False,
    ) -> _Plan:
        parts = (bridge, *parts) if bridge else parts
        return _Plan(
            (*self.parts, *parts),
            (*self.subjects, entry.subject),
            self.named + names,
            self.plain + (bool(bridge) and not names),
            self.length + _length(parts, rules.rate),
            self.cost + cost,
            self.fresh or entry.subject not in rules.stale,
        )


def fill_script(
    entries: Sequence[BankEntry],
    ends: Sequence[Ends],
    target: float,
    rules: EntryRules,
    *,
    lead: BankEntry | None = None,
    unlike: Collection[str] = (),
) -> FilledScript:
    """Return the text that is closest to a time in seconds and differs from those in `unlike`.

    Entries are ordered by relevance; the first is the lead, if there is one.
    """
    lengths = sorted(end.length(rules.rate) for end in ends)
    start, rest = _take(entries, target - lengths[len(lengths) // 2], rules)
    limit = target - lengths[0] + _WINDOW_SECONDS
    plans = _search(start, rest, limit, rules, lead if not start.subjects else None)
    candidates = _rate(plans, ends, target, rules.rate)
    best = nsmallest(_MAX_CHECKED, candidates, key=lambda found: found[0])
    drafts = [(cost, (*end.opening, *plan.parts, *end.closing), plan) for cost, end, plan in best]

    def cost_of(text: tuple[float, _Parts, _Plan]) -> float:
        pairs = pairwise(text[1])
        return text[0] + _STUTTER_COST * sum(_starts(a)[-1] == _starts(b)[0] for a, b in pairs)

    drafts.sort(key=cost_of)
    texts = ((" ".join(parts), cost, plan) for cost, parts, plan in drafts)
    text, cost, plan = next(found for found in texts if found[0] not in unlike)
    # A lead is used so that it makes sense.
    whole = lead and lead.more and (rules.whole or lead.whole)
    has_lead = lead is None or (lead.more if whole else lead.text) in plan.parts
    return FilledScript(text=text, subjects=plan.subjects, fits=has_lead and cost < _DEFECT_COST)


@lru_cache(maxsize=8192)
def _starts(part: str) -> tuple[_Parts, ...]:
    """Return the first words of the first and of the last sentence of a part."""
    sentences = _SENTENCE_END.split(part)
    drafts = [
        re.findall(r"[\w'-]+", sentence.casefold()) for sentence in (sentences[0], sentences[-1])
    ]
    return tuple(tuple(s[: 2 if s[:1] and s[0] in _LIGHT else 1]) for s in drafts)


def _length(parts: Sequence[str], rate: float) -> float:
    return sum(_say_seconds(part, rate=rate) + STOP for part in parts)


_say_seconds = lru_cache(maxsize=8192)(seconds)


def _take(
    entries: Sequence[BankEntry], room: float, rules: EntryRules
) -> tuple[_Plan, Sequence[BankEntry]]:
    """Take the best entries, in full, until the rest can be searched."""
    plan = _Plan()
    for number, entry in enumerate(entries):
        if room - plan.length <= _SEARCH_SECONDS:
            return plan, entries[number:]
        parts = _parts(entry)
        bridge = plan.bridge_to(entry, parts, rules) if plan.subjects else ()
        plan = plan.add(entry, parts, 0.0, rules, *bridge)
    return plan, ()


def _search(
    start: _Plan,
    entries: Sequence[BankEntry],
    limit: float,
    rules: EntryRules,
    lead: BankEntry | None,
) -> list[_Plan]:
    """Return the best plan for each reachable length, with and without new content."""
    best = {start.slot: start}
    candidates = entries if limit <= _ALL_SECONDS else entries[:_MAX_CANDIDATES]
    for number, entry in enumerate(candidates):
        is_lead = entry is lead
        # Without its lead a script misses its title.
        plans = {start.slot: _Plan(cost=40.0)} if is_lead else dict(best)
        for plan in best.values():
            for longer in _continue(plan, entry, 0.2 * number, rules, is_lead):
                slot = longer.slot
                if longer.length <= limit and (slot not in plans or longer.cost < plans[slot].cost):
                    plans[slot] = longer
        best = plans
    return [plan for plan in best.values() if plan.subjects] or [start]


def _continue(
    plan: _Plan, entry: BankEntry, cost: float, rules: EntryRules, is_lead: bool
) -> Iterator[_Plan]:
    """Yield the plans with one more entry: short or long, with or without a bridge."""
    # A story directly after another reads like its end.
    abrupt = 4 * _ABRUPT_COST if rules.whole else _ABRUPT_COST
    for parts, extra in _options(entry, rules, is_lead):
        yield plan.add(entry, parts, cost + extra + (abrupt if plan.subjects else 0.0), rules)
        bridge, names = plan.bridge_to(entry, parts, rules) if plan.subjects else ("", False)
        if bridge:
            yield plan.add(entry, parts, cost + extra, rules, bridge, names)


def _options(entry: BankEntry, rules: EntryRules, is_lead: bool) -> list[tuple[_Parts, float]]:
    """Return the entry in full and, if that makes sense, in one sentence; with costs."""
    # A title often refers to something that only the whole entry has.
    full, brief = 0.0, 3.5 if is_lead else 0.3
    whole = rules.whole or entry.whole
    if whole:
        brief = 5.5
    elif rules.brief and is_lead:
        full, brief = 3.0, 0.0
    options = [(_parts(entry), full)]
    return [*options, ((entry.text,), brief)] if entry.more and (is_lead or not whole) else options


def _parts(entry: BankEntry) -> _Parts:
    return (entry.text, entry.more) if entry.more else (entry.text,)


@lru_cache(maxsize=4096)
def _names_itself(entry: BankEntry, parts: _Parts) -> bool:
    """Whether the sentences contain most of the subject, so that a bridge would repeat it."""
    subject = stems(entry.subject)
    return 2 * len(subject & stems(" ".join(parts))) >= len(subject)


def _rate(
    plans: Sequence[_Plan], ends: Sequence[Ends], target: float, rate: float
) -> Iterator[tuple[float, Ends, _Plan]]:
    """Yield every candidate text with its cost; a text out of bounds costs more than any."""
    by_slot: dict[int, list[_Plan]] = {}
    for plan in plans:
        by_slot.setdefault(plan.slot[0], []).append(plan)
    longest = max(plans, key=lambda plan: plan.length)
    shortest = min(plans, key=lambda plan: plan.length)
    reach = round(min(_TOLERANCE * target, _WINDOW_SECONDS) / _STEP_SECONDS)
    for end in ends:
        room = target + STOP - end.length(rate)
        middle = round(room / _STEP_SECONDS)
        slots = range(middle - reach, middle + reach + 1)
        near = chain.from_iterable(by_slot.get(slot, ()) for slot in slots)
        for plan in (*near, longest, shortest):
            error = abs(plan.length - room) / target
            penalty = 25 * error if error <= _TOLERANCE else 2 * _DEFECT_COST * (1 + error)
            yield plan.cost + end.cost + penalty + (0 if plan.fresh else _DEFECT_COST), end, plan
