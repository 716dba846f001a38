"""The pulse of a render process: how far its task is, told again while an engine is silent.

Decoding a large picture or writing one is a single call that takes seconds and reports nothing.
Whoever watches the job still hears of it several times a second, whatever engine renders it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

#: Seconds between two reports of a job's progress.
REPORT_EVERY = 0.25


class Pulse:
    """Tells how far a task is, at most and at least every `every` seconds inside ``with``.

    Parameters
    ----------
    tell : callable
        Called with the fraction done, 0 to 1, never smaller than before and never by two threads
        at once; not after the ``with`` block.
    """

    def __init__(self, tell: Callable[[float], None], *, every: float = REPORT_EVERY) -> None:
        self._tell = tell
        self._every = every
        self._known = 0.0
        self._last = time.monotonic()
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="pulse", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def report(self, fraction: float) -> None:
        """Take note of how far the task is."""
        with self._lock:
            self._known = max(self._known, fraction)
            self._told_if_due()

    def _beat(self) -> None:
        # Half the time: a report that just missed its moment is not a whole one late.
        while not self._over.wait(self._every / 2):
            with self._lock:
                self._told_if_due()

    def _told_if_due(self) -> None:
        now = time.monotonic()
        if now - self._last >= self._every:
            self._last = now
            self._tell(self._known)
