"""Admission: who may connect, and who has to leave for another.

A connection without a request in work can be closed at any time, as HTTP has it. So nobody can take
a place by holding a line open: where all are taken, the one that has been silent longest is closed
for the newcomer, and only where all are at work is the newcomer refused.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from typing import Protocol

from kit.service.connections.bounds import Bounds

_log = logging.getLogger("kit.http")
#: Seconds between two log lines about the same thing.
_LOG_SECONDS = 10.0


class Admitted(Protocol):
    """A connection, as this module sees it."""

    #: What it is counted under; None where only the total counts.
    source: str | None

    def leave(self) -> None:
        """Close, because another needs the place."""
        ...

    def review(self, now: float) -> None:
        """Close, if the client takes too long."""
        ...


class Admission:
    """The open connections of one server; used from its event loop only.

    Examples
    --------
    >>> admission = Admission(Bounds(total=1, each=1, source=str))
    >>> admission.total
    0
    """

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        #: Those without a request in work, the longest silent first.
        self.idle: dict[Admitted, None] = {}
        self._open: set[Admitted] = set()
        self._by_source: Counter[str] = Counter()
        self._notes = _Notes()

    @property
    def total(self) -> int:
        """How many are open."""
        return len(self._open)

    def enter(self, connection: Admitted) -> bool:
        """Count a new connection, closing an idle one if it must be; False where none can be."""
        source = connection.source
        if source is not None and self._by_source[source] >= self.bounds.each:
            same: Callable[[Admitted], bool] = lambda other: other.source == source  # noqa: E731
            displaced = next(filter(same, self.idle), None)
        elif len(self._open) >= self.bounds.total:
            displaced = next(iter(self.idle), None)
        else:
            self._count(connection)
            return True
        self.note("no place for a connection" if displaced is None else "idle one closed", source)
        if displaced is None:
            return False
        self.leave(displaced)
        displaced.leave()
        self._count(connection)
        return True

    def leave(self, connection: Admitted) -> None:
        """Count a connection no more; a second time changes nothing."""
        if connection in self._open:
            self._open.remove(connection)
            self.idle.pop(connection, None)
            if connection.source is not None:
                self._by_source[connection.source] -= 1
                if not self._by_source[connection.source]:
                    del self._by_source[connection.source]

    def note(self, reason: str, source: str | None) -> None:
        """Have it logged, soon and together with others, that a client was turned away."""
        self._notes.add(reason, source or "a trusted address")

    def review(self, now: float) -> None:
        """Close the connections that take too long; called once a second."""
        for connection in tuple(self._open):
            connection.review(now)
        self._notes.write(now)

    def _count(self, connection: Admitted) -> None:
        self._open.add(connection)
        self.idle[connection] = None
        if connection.source is not None:
            self._by_source[connection.source] += 1


class _Notes:
    """What is to be logged: one line a reason and a while, however often it happens."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[str]] = {}
        self._due: dict[str, float] = {}

    def add(self, reason: str, source: str) -> None:
        sources = self._counts.setdefault(reason, Counter())
        # Many addresses may take part: those beyond a few are counted as one.
        sources[source if source in sources or len(sources) < 50 else "others"] += 1

    def write(self, now: float) -> None:
        for reason in [one for one in self._counts if now >= self._due.get(one, 0.0)]:
            sources = self._counts.pop(reason)
            most, often = sources.most_common(1)[0]
            facts = {
                "event": "refused",
                "reason": reason,
                "times": sources.total(),
                "most": most,
                "often": often,
            }
            _log.warning("%(reason)s: %(times)d times, %(often)d of them %(most)s", facts)
            self._due[reason] = now + _LOG_SECONDS
