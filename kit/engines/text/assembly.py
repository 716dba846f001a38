"""Assembly: which facts and bridges, between a given beginning and end, fill a given time.

The time of a text is the sum of its sentences' times plus a pause each, so the search is a knapsack
over entries: each may be told short or long, with or without a bridge. A long script takes its best
entries as they come, and the search decides about the last half minute.
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

_LIGHT_WORDS = (
    "a an and at by for from he her his i if in it its my of on she so that the their there they "
    "this those to we when you your"
)
_LIGHT = frozenset(_LIGHT_WORDS.split())
_END = re.compile(r"(?<=[.!?]) +(?=[A-Z0-9])")


def stutters(parts: Sequence[str]) -> int:
    """Return how many parts of a text begin like the sentence before them.

    Parameters
    ----------
    parts : sequence of str
        Whole sentences, one or more a part.

    Examples
    --------
    >>> stutters(["Why? People wait.", "People scroll past this.", "Now you know."])
    1
    """
    return sum(_starts(one)[-1] == _starts(other)[0] for one, other in pairwise(parts))


@lru_cache(maxsize=8192)
def _starts(part: str) -> tuple[tuple[str, ...], ...]:
    """Return the words that the first and the last sentence of a part begin with."""
    sentences = _END.split(part)
    return _start(sentences[0]), _start(sentences[-1])


def _start(sentence: str) -> tuple[str, ...]:
    said = re.findall(r"[\w'-]+", sentence.casefold())
    return tuple(said[: 2 if said[:1] and said[0] in _LIGHT else 1])


__all__ = ["Ends", "FilledScript", "Telling", "filled"]

#: Length of the stretch that is searched, and width of its steps, in seconds.
_SEARCHED = 26.0
_STEP = 0.05
#: Most entries that the search looks at, and at most so many seconds let it look at all.
_CANDIDATES = 20
_ALL_UP_TO = 16.0
#: Share of the asked time that a text may be off.
_TOLERANCE = 0.095
#: Most seconds off that are worth looking at.
_WINDOW = 3.0
#: Cost from which on something is wrong: nothing of its own, and worse, a length out of bounds.
_AMISS = 500.0
#: Texts that are read for how they sound, and the cost of two sentences that begin alike.
_LOOKED_AT = 400
_STUTTER = 1.0
#: Cost of going on without a bridge where one is due.
_ABRUPT = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """One beginning and one end of a script, and how much better it could be (0 is best)."""

    opening: tuple[str, ...]
    closing: tuple[str, ...]
    cost: float

    def length(self, rate: float) -> float:
        """Return the seconds of both, with the pause after each sentence."""
        return _length((*self.opening, *self.closing), rate)


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """How entries may be told.

    Parameters
    ----------
    naming, plain : sequence of str
        Bridges in order of use, each used once. In one that names, ``{subject}`` stands for the
        entry that follows; an entry that names itself gets a plain one.
    every : int
        A bridge stands before each such number of entries.
    whole : bool
        An entry is told with all it has, because half of it makes no sense.
    brief : bool
        The lead is told in one sentence, to leave room for others.
    stale : collection of str
        Subjects that another script tells of: one of these alone makes no script of its own.
    """

    naming: Sequence[str]
    plain: Sequence[str]
    every: int
    whole: bool
    brief: bool = False
    stale: Collection[str] = ()
    rate: float = RATE


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledScript:
    """A text, the subjects it tells of, and whether it is all that was asked for.

    It is not when it misses its time or its lead, or tells of nothing of its own.
    """

    text: str
    told: tuple[str, ...]
    fits: bool


@dataclass(frozen=True, slots=True)
class _Bridge:
    text: str
    names: bool


@dataclass(frozen=True, slots=True)
class _Plan:
    parts: tuple[str, ...] = ()
    told: tuple[str, ...] = ()  # subjects
    named: int = 0  # bridges used
    plain: int = 0
    length: float = 0.0
    cost: float = 0.0
    fresh: bool = False

    def adding(
        self,
        entry: BankEntry,
        parts: tuple[str, ...],
        cost: float,
        telling: Telling,
        bridge: _Bridge | None = None,
    ) -> _Plan:
        if bridge:
            parts = (bridge.text, *parts)
        return _Plan(
            (*self.parts, *parts),
            (*self.told, entry.subject),
            self.named + bool(bridge and bridge.names),
            self.plain + bool(bridge and not bridge.names),
            self.length + _length(parts, telling.rate),
            self.cost + cost,
            self.fresh or entry.subject not in telling.stale,
        )


def filled(
    entries: Sequence[BankEntry],
    ends: Sequence[Ends],
    target: float,
    telling: Telling,
    *,
    lead: BankEntry | None = None,
    unlike: Collection[str] = (),
) -> FilledScript:
    """Return the text that comes closest to a time.

    Parameters
    ----------
    entries : sequence of Entry
        The most fitting first; the lead, if there is one, is the first of them.
    target : float
        Seconds.
    unlike : collection of str
        Texts that are taken.
    """
    lengths = sorted(end.length(telling.rate) for end in ends)
    start, rest = _taken(entries, target - lengths[len(lengths) // 2], telling)
    limit = target - lengths[0] + _WINDOW
    plans = _searched(start, rest, limit, telling, lead if not start.told else None)
    judged = _judged(plans, ends, target, telling.rate)
    best = nsmallest(_LOOKED_AT, judged, key=lambda found: found[0])
    texts = (
        FilledScript(
            text=" ".join(said),
            told=plan.told,
            fits=cost < _AMISS and (lead is None or _tells(plan, lead, telling)),
        )
        for cost, said, plan in _smooth(best)
    )
    return next(found for found in texts if found.text not in unlike)


def _tells(plan: _Plan, lead: BankEntry, telling: Telling) -> bool:
    """Whether a plan tells of its lead so that it makes sense."""
    whole = lead.more and (telling.whole or lead.whole)
    return (lead.more if whole else lead.text) in plan.parts


def _smooth(
    best: Sequence[tuple[float, Ends, _Plan]],
) -> list[tuple[float, tuple[str, ...], _Plan]]:
    """Return the sentences of texts, the best first; two in a row that begin alike cost."""
    said = [(cost, (*end.opening, *plan.parts, *end.closing), plan) for cost, end, plan in best]
    return sorted(said, key=lambda text: text[0] + _STUTTER * stutters(text[1]))


def _length(parts: Sequence[str], rate: float) -> float:
    return sum(_spoken(part, rate) for part in parts)


@lru_cache(maxsize=8192)
def _spoken(part: str, rate: float) -> float:
    return seconds(part, rate=rate) + STOP


def _taken(
    entries: Sequence[BankEntry], room: float, telling: Telling
) -> tuple[_Plan, Sequence[BankEntry]]:
    """Take the best entries, told in full, until what is left can be searched."""
    plan = _Plan()
    for number, entry in enumerate(entries):
        if room - plan.length <= _SEARCHED:
            return plan, entries[number:]
        due = bool(plan.told) and len(plan.told) % telling.every == 0
        parts = _parts(entry)
        bridge = _bridge(plan, entry, parts, telling) if due else None
        plan = plan.adding(entry, parts, 0.0, telling, bridge)
    return plan, ()


def _searched(
    start: _Plan,
    entries: Sequence[BankEntry],
    limit: float,
    telling: Telling,
    lead: BankEntry | None,
) -> list[_Plan]:
    """Return the best plan for every length that can be reached, with and without news."""
    best = {_slot(start): start}
    looked_at = entries if limit <= _ALL_UP_TO else entries[:_CANDIDATES]
    for number, entry in enumerate(looked_at):
        grown = {} if entry is lead else dict(best)
        if entry is lead:
            grown = {_slot(start): _Plan(cost=40.0)}  # without its lead a script misses its title
        for plan in best.values():
            for longer in _told(plan, entry, 0.2 * number, telling, is_lead=entry is lead):
                slot = _slot(longer)
                if longer.length <= limit and (slot not in grown or longer.cost < grown[slot].cost):
                    grown[slot] = longer
        best = grown
    return [plan for plan in best.values() if plan.told] or [start]


def _slot(plan: _Plan) -> tuple[int, bool]:
    return round(plan.length / _STEP), plan.fresh


def _told(
    plan: _Plan, entry: BankEntry, cost: float, telling: Telling, *, is_lead: bool
) -> Iterator[_Plan]:
    """Yield the plans that go on with an entry: short or long, with or without a bridge."""
    due = bool(plan.told) and len(plan.told) % telling.every == 0
    # One story right after another reads like its end.
    abrupt = 4 * _ABRUPT if telling.whole else _ABRUPT
    for parts, extra in _ways(entry, telling, is_lead=is_lead):
        yield plan.adding(entry, parts, cost + extra + (abrupt if due else 0.0), telling)
        bridge = _bridge(plan, entry, parts, telling) if plan.told else None
        if bridge:
            price = cost + extra + (0.0 if due else 0.5)
            yield plan.adding(entry, parts, price, telling, bridge)


def _ways(
    entry: BankEntry, telling: Telling, *, is_lead: bool
) -> list[tuple[tuple[str, ...], float]]:
    """Return the entry told in full and, where that makes sense, in one sentence; with costs."""
    # A title often speaks of what only the whole entry tells.
    full, brief = 0.0, 3.5 if is_lead else 0.3
    whole = telling.whole or entry.whole
    if whole:
        brief = 5.5
    elif telling.brief and is_lead:
        full, brief = 3.0, 0.0
    ways = [(_parts(entry), full)]
    if entry.more and (is_lead or not whole):
        ways.append(((entry.text,), brief))
    return ways


def _parts(entry: BankEntry) -> tuple[str, ...]:
    return (entry.text, entry.more) if entry.more else (entry.text,)


def _bridge(
    plan: _Plan, entry: BankEntry, parts: tuple[str, ...], telling: Telling
) -> _Bridge | None:
    """Return the next bridge to an entry; the two kinds take turns where both are right."""
    naming, plain = telling.naming[plan.named :], telling.plain[plan.plain :]
    turn = plan.named <= plan.plain or not plain
    if naming and turn and not _names_itself(entry, parts):
        return _Bridge(naming[0].replace("{subject}", entry.subject), names=True)
    return _Bridge(plain[0], names=False) if plain else None


@lru_cache(maxsize=4096)
def _names_itself(entry: BankEntry, parts: tuple[str, ...]) -> bool:
    """Whether the sentences say most of the subject, so that a bridge would say it twice."""
    subject = stems(entry.subject)
    return 2 * len(subject & stems(" ".join(parts))) >= len(subject)


def _judged(
    plans: Sequence[_Plan], ends: Sequence[Ends], target: float, rate: float
) -> Iterator[tuple[float, Ends, _Plan]]:
    """Yield every text worth a look with its cost; a text out of bounds costs more than any."""
    by_slot: dict[int, list[_Plan]] = {}
    for plan in plans:
        by_slot.setdefault(_slot(plan)[0], []).append(plan)
    longest = max(plans, key=lambda plan: plan.length)
    shortest = min(plans, key=lambda plan: plan.length)
    reach = round(min(_TOLERANCE * target, _WINDOW) / _STEP)
    for end in ends:
        room = target + STOP - end.length(rate)
        middle = round(room / _STEP)
        slots = range(middle - reach, middle + reach + 1)
        near = chain.from_iterable(by_slot.get(slot, ()) for slot in slots)
        for plan in (*near, longest, shortest):
            off = abs(plan.length - room) / target
            penalty = 25 * off if off <= _TOLERANCE else 2 * _AMISS * (1 + off)
            yield plan.cost + end.cost + penalty + (0 if plan.fresh else _AMISS), end, plan
