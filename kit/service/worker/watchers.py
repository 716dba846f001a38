"""Wakes the requests that watch a generation as soon as something happens to it in this process.

It carries no facts: a request that is woken reads the row. Of changes made by other processes a
notice may come or not, so watching requests also read the row by themselves now and then.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Watchers:
    """The requests that watch generations; used from the event loop only.

    Of limits for all and for one account, `watch` itself refuses none: callers ask `is_full_for`
    first and answer otherwise.
    """

    def __init__(self, limit: int = 2000, limit_per_account: int = 100) -> None:
        self._limit = limit
        self._limit_per_account = limit_per_account
        self._events: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._by_account: Counter[str] = Counter()
        #: Told of what other services are to be woken for.
        self.tell: Callable[[str], None] = lambda _changed: None
        #: Whether the service is about to stop: watching requests end.
        self.closed = False

    @property
    def count(self) -> int:
        """How many requests are watching."""
        return self._by_account.total()

    @property
    def full(self) -> bool:
        """Whether there is no room for another one."""
        return self.count >= self._limit

    def is_full_for(self, account_id: str) -> bool:
        """Whether there is no room for another one of an account."""
        return self.full or self._by_account[account_id] >= self._limit_per_account

    @contextmanager
    def watch(self, generation_id: str, account_id: str) -> Iterator[asyncio.Event]:
        """Give an event that is set whenever something happens to a generation of an account."""
        event = asyncio.Event()
        self._events[generation_id].add(event)
        self._by_account[account_id] += 1
        try:
            yield event
        finally:
            self._by_account[account_id] -= 1
            if not self._by_account[account_id]:
                del self._by_account[account_id]
            self._events[generation_id].discard(event)
            if not self._events[generation_id]:
                del self._events[generation_id]

    def notify(self, generation_id: str) -> None:
        """Wake the requests that watch a generation, here and at other services."""
        self.wake(generation_id)
        self.tell(generation_id)

    def wake(self, generation_id: str) -> None:
        """Wake the requests of this service that watch a generation."""
        for event in self._events.get(generation_id, ()):
            event.set()

    def close(self) -> None:
        """Have every watching request end, now and from now on."""
        self.closed = True
        for generation_id in self._events:
            self.wake(generation_id)
