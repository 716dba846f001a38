"""The hub: wakes whoever watches a generation as soon as something happens to it in this process.

It carries no facts: who is woken reads the row. What happens in other processes wakes nobody here,
so watchers also look by themselves now and then.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager


class Hub:
    """Events of generations, by id; used from the event loop only.

    Parameters
    ----------
    most, most_each : int
        Watchers in all and of one account. Who comes above that is not turned away here: whoever
        calls `watch` asks before, and has another answer ready.
    """

    def __init__(self, most: int = 2000, most_each: int = 100) -> None:
        self._most = most
        self._most_each = most_each
        self._watchers: dict[str, set[asyncio.Event]] = {}
        self._by_account: Counter[str] = Counter()
        #: How many are watching.
        self.watchers = 0
        #: Whether the service is about to stop: watchers leave.
        self.closed = False

    @property
    def full(self) -> bool:
        """Whether there is no room for any other watcher."""
        return self.watchers >= self._most

    def full_for(self, account_id: str) -> bool:
        """Whether there is no room for another watcher of an account."""
        return self.full or self._by_account[account_id] >= self._most_each

    @contextmanager
    def watch(self, generation_id: str, account_id: str) -> Iterator[asyncio.Event]:
        """Give an event that is set whenever something happens to a generation of an account."""
        woken = asyncio.Event()
        self._watchers.setdefault(generation_id, set()).add(woken)
        self._by_account[account_id] += 1
        self.watchers += 1
        try:
            yield woken
        finally:
            self.watchers -= 1
            self._by_account[account_id] -= 1
            if not self._by_account[account_id]:
                del self._by_account[account_id]
            events = self._watchers[generation_id]
            events.discard(woken)
            if not events:
                del self._watchers[generation_id]

    def tell(self, generation_id: str) -> None:
        """Wake the watchers of a generation."""
        for woken in self._watchers.get(generation_id, ()):
            woken.set()

    def close(self) -> None:
        """Send every watcher home, now and from now on."""
        self.closed = True
        for generation_id in self._watchers:
            self.tell(generation_id)
