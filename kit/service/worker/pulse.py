"""The pulse of a render process: how far its task is, told again while an engine is silent.

Decoding a large picture or writing one is a single call that takes seconds and reports nothing.
Whoever watches the job still hears of it several times a second, whatever engine renders it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial

#: Seconds between two reports of a job's progress.
REPORT_EVERY = 0.25
_LINGERS = 20  # beats


class Pulse:
    """Tells how far a task is, at most and at least every `every` seconds inside ``with``.

    The block is given a function that takes note of how far its task is. Called after the block,
    by a thread that an engine has left running, it does nothing.

    One pulse serves all tasks of a process, one after another. Its thread outlives a task by a few
    beats, because a short one is done before a thread of its own would have begun.

    Parameters
    ----------
    tell : callable
        Called with the fraction done, 0 to 1, never smaller than before and never by two threads
        at once; not outside the ``with`` block.
    """

    def __init__(self, tell: Callable[[float], None], *, every: float = REPORT_EVERY) -> None:
        self._tell = tell
        self._every = every
        self._lock = threading.Lock()
        self._beating = self._running = False
        self._known = self._last = 0.0
        self._task = 0

    def __enter__(self) -> Callable[[float], None]:
        with self._lock:
            self._task += 1
            self._known, self._last, self._running = 0.0, time.monotonic(), True
            if not self._beating:
                self._beating = True
                threading.Thread(target=self._beat, name="pulse", daemon=True).start()
            return partial(self._report, self._task)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._running = False

    def _report(self, task: int, fraction: float) -> None:
        with self._lock:
            if task == self._task:
                # Engines count with numpy too, whose numbers are none in JSON.
                self._known = max(self._known, float(fraction))
                self._told_if_due()

    def _beat(self) -> None:
        idle = 0
        while idle < _LINGERS:
            # Half the time: a report that just missed its moment is not a whole one late.
            time.sleep(self._every / 2)
            with self._lock:
                idle = 0 if self._running else idle + 1
                self._told_if_due()
                self._beating = idle < _LINGERS

    def _told_if_due(self) -> None:
        now = time.monotonic()
        if self._running and now - self._last >= self._every:
            self._last = now
            self._tell(self._known)
