"""Assembly: which facts and bridges, between a given beginning and end, fill a given time.

The time of a text is the sum of its sentences' times plus a pause each, so the search is a knapsack
over entries: each may be told short or long, with or without a bridge. A long script takes its best
entries as they come, and the search decides about the last half minute.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kit.engines.text.bank import Entry
from kit.engines.text.speech import RATE, STOP, seconds

__all__ = ["Ends", "Telling", "filled"]

#: Length of the stretch that is searched, and width of its steps, in seconds.
_SEARCHED = 26.0
_STEP = 0.05
#: Most entries that the search looks at.
_CANDIDATES = 20
#: Share of the asked time that a text may be off.
_TOLERANCE = 0.095
#: Most seconds off that are worth looking at.
_WINDOW = 3.0


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
    bridges : sequence of str
        Bridges in order of use, each used once; ``{subject}`` stands for the entry that follows.
    spare : sequence of str
        Bridges for where naming the subject would say it twice in a row, each used once.
    every : int
        A bridge stands before each such number of entries.
    whole : bool
        An entry is told with all it has, because half of it makes no sense.
    brief : bool
        The lead is told in one sentence, to leave room for others.
    """

    bridges: Sequence[str]
    every: int
    whole: bool
    spare: Sequence[str] = ()
    brief: bool = False
    rate: float = RATE


@dataclass(frozen=True, slots=True)
class _Plan:
    parts: tuple[str, ...] = ()
    told: tuple[str, ...] = ()  # subjects
    bridged: int = 0
    length: float = 0.0
    cost: float = 0.0

    def adding(
        self, entry: Entry, parts: tuple[str, ...], cost: float, rate: float, bridged: int = 0
    ) -> _Plan:
        return _Plan(
            (*self.parts, *parts),
            (*self.told, entry.subject),
            self.bridged + bridged,
            self.length + _length(parts, rate),
            self.cost + cost,
        )


def filled(
    entries: Sequence[Entry],
    ends: Sequence[Ends],
    target: float,
    telling: Telling,
    *,
    lead: Entry | None = None,
    unlike: Collection[str] = (),
) -> tuple[str, tuple[str, ...]]:
    """Return the text that comes closest to a time, and the subjects it tells of.

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
    best = sorted(_judged(plans, ends, target, telling.rate), key=lambda found: found[0])
    texts = (
        (" ".join((*end.opening, *plan.parts, *end.closing)), plan.told) for _, end, plan in best
    )
    return next(found for found in texts if found[0] not in unlike)


def _length(parts: Sequence[str], rate: float) -> float:
    return sum(_spoken(part, rate) for part in parts)


@lru_cache(maxsize=8192)
def _spoken(part: str, rate: float) -> float:
    return seconds(part, rate=rate) + STOP


def _taken(
    entries: Sequence[Entry], room: float, telling: Telling
) -> tuple[_Plan, Sequence[Entry]]:
    """Take the best entries, told in full, until what is left can be searched."""
    plan = _Plan()
    for number, entry in enumerate(entries):
        if room - plan.length <= _SEARCHED:
            return plan, entries[number:]
        due = bool(plan.told) and len(plan.told) % telling.every == 0
        bridge = _bridge(plan, entry, telling) if due else ()
        parts = (*bridge, *_parts(entry))
        plan = plan.adding(entry, parts, 0.0, telling.rate, len(bridge))
    return plan, ()


def _searched(
    start: _Plan, entries: Sequence[Entry], limit: float, telling: Telling, lead: Entry | None
) -> list[_Plan]:
    """Return the best plan for every length that can be reached."""
    best = {_slot(start): start}
    for number, entry in enumerate(entries[:_CANDIDATES]):
        grown = {} if entry is lead else dict(best)
        if entry is lead:
            grown = {_slot(start): _Plan(cost=6.0)}  # without its lead a script misses its title
        for plan in best.values():
            for longer in _told(plan, entry, 0.2 * number, telling, is_lead=entry is lead):
                slot = _slot(longer)
                if longer.length <= limit and (slot not in grown or longer.cost < grown[slot].cost):
                    grown[slot] = longer
        best = grown
    return [plan for plan in best.values() if plan.told] or [start]


def _slot(plan: _Plan) -> int:
    return round(plan.length / _STEP)


def _told(
    plan: _Plan, entry: Entry, cost: float, telling: Telling, *, is_lead: bool
) -> Iterator[_Plan]:
    """Yield the plans that go on with an entry: short or long, with or without a bridge."""
    due = bool(plan.told) and len(plan.told) % telling.every == 0
    ways = _ways(entry, telling, is_lead=is_lead)
    bridge = _bridge(plan, entry, telling) if plan.told else ()
    for parts, extra in ways:
        yield plan.adding(entry, parts, cost + extra + (0.45 if due else 0.0), telling.rate)
        if bridge:
            price = cost + extra + (0.0 if due else 0.5)
            yield plan.adding(entry, (*bridge, *parts), price, telling.rate, 1)


def _ways(entry: Entry, telling: Telling, *, is_lead: bool) -> list[tuple[tuple[str, ...], float]]:
    """Return the entry told in full and, where that makes sense, in one sentence; with costs."""
    full, brief = 0.0, 1.5 if is_lead else 0.3
    if telling.whole:
        brief = 4.0
    elif telling.brief and is_lead:
        full, brief = 3.0, 0.0
    ways = [(_parts(entry), full)]
    if entry.more and (is_lead or not telling.whole):
        ways.append(((entry.text,), brief))
    return ways


def _parts(entry: Entry) -> tuple[str, ...]:
    return (entry.text, entry.more) if entry.more else (entry.text,)


def _bridge(plan: _Plan, entry: Entry, telling: Telling) -> tuple[str, ...]:
    if plan.bridged >= len(telling.bridges):
        return ()
    bridge = telling.bridges[plan.bridged]
    if "{subject}" in bridge and entry.text.casefold().startswith(entry.subject.casefold()):
        bridge = next(iter(telling.spare[plan.bridged // 2 :]), "")
    return (bridge.replace("{subject}", entry.subject),) if bridge else ()


def _judged(
    plans: Sequence[_Plan], ends: Sequence[Ends], target: float, rate: float
) -> Iterator[tuple[float, Ends, _Plan]]:
    """Yield every text worth a look with its cost; a text out of bounds costs more than any."""
    by_slot = {_slot(plan): plan for plan in plans}
    longest = max(plans, key=lambda plan: plan.length)
    shortest = min(plans, key=lambda plan: plan.length)
    reach = round(min(_TOLERANCE * target, _WINDOW) / _STEP)
    for end in ends:
        room = target + STOP - end.length(rate)
        middle = round(room / _STEP)
        near = (by_slot.get(slot) for slot in range(middle - reach, middle + reach + 1))
        for plan in (*(plan for plan in near if plan), longest, shortest):
            off = abs(plan.length - room) / target
            penalty = 25 * off if off <= _TOLERANCE else 1000 * (1 + off)
            yield plan.cost + end.cost + penalty, end, plan
