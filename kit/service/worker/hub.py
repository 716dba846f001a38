"""The hub: wakes whoever watches a generation as soon as something happens to it in this process.

It carries no facts: who is woken reads the row. What happens in other processes wakes nobody here,
so watchers also look by themselves now and then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Hub:
    """Events of generations, by id; used from the event loop only."""

    def __init__(self) -> None:
        self._watchers: dict[str, set[asyncio.Event]] = {}
        #: Whether the service is about to stop: watchers leave.
        self.closed = False

    @property
    def watchers(self) -> int:
        """How many are watching."""
        return sum(len(events) for events in self._watchers.values())

    @contextmanager
    def watch(self, generation_id: str) -> Iterator[asyncio.Event]:
        """Give an event that is set whenever something happens to a generation."""
        woken = asyncio.Event()
        self._watchers.setdefault(generation_id, set()).add(woken)
        try:
            yield woken
        finally:
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
