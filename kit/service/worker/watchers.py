"""Wakes requests that wait for a generation as soon as this process changes it.

It transfers no data: a request that wakes reads the row. Notifications about changes by other
processes may be lost, so waiting requests also read the row regularly.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Watchers:
    """The requests that watch generations; used only in the event loop.

    `watch` does not enforce the limits in total and per account: callers check `is_full_for` before
    and respond differently.
    """

    def __init__(self, limit: int = 2000, limit_per_account: int = 100) -> None:
        self._limit = limit
        self._limit_per_account = limit_per_account
        self._events: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._by_account: Counter[str] = Counter()
        #: Notifies other services of a change.
        self.notify_others: Callable[[str], None] = lambda _id: None
        #: Whether the service is about to stop, which ends watching requests.
        self.closed = False

    @property
    def count(self) -> int:
        """Number of watching requests."""
        return self._by_account.total()

    @property
    def is_full(self) -> bool:
        """Whether the limit is reached."""
        return self.count >= self._limit

    def is_full_for(self, account_id: str) -> bool:
        """Whether the limit, in total or of an account, is reached."""
        return self.is_full or self._by_account[account_id] >= self._limit_per_account

    @contextmanager
    def watch(self, generation_id: str, account_id: str) -> Iterator[asyncio.Event]:
        """Yield an event that is set at each change of a generation of an account."""
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
        """Wake the requests that watch a generation, here and in other services."""
        self.wake(generation_id)
        self.notify_others(generation_id)

    def wake(self, generation_id: str) -> None:
        """Wake the requests of this service that watch a generation."""
        for event in self._events.get(generation_id, ()):
            event.set()

    def close(self) -> None:
        """End all watching requests, now and from now on."""
        self.closed = True
        for generation_id in self._events:
            self.wake(generation_id)
