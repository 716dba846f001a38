"""Progress of a render process: the last known fraction is sent again while an engine is silent.

Decoding a large picture or writing one is a single call that takes seconds and reports nothing.
Clients still hear of the job several times a second, whatever engine renders it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial

#: Seconds between two reports of a job's progress.
REPORT_EVERY = 0.25
#: How many rounds without a task the thread waits for the next one.
_IDLE_ROUNDS = 20


class ProgressReporter:
    """Sends how far a task is, at most and at least every `every` seconds inside ``with``.

    The block is given a function to report a fraction with, 0 to 1; what is sent never gets
    smaller. Called after the block, by a thread that an engine has left running, it does nothing.

    One reporter serves all tasks of a process, one after another. Its thread outlives a task by a
    few rounds, because a short one is done before a thread of its own would have begun.
    """

    def __init__(self, send: Callable[[float], None], *, every: float = REPORT_EVERY) -> None:
        self._send = send
        self._every = every
        self._lock = threading.Lock()
        self._has_thread = self._running = False
        self._fraction = self._sent_at = 0.0
        self._task = 0

    def __enter__(self) -> Callable[[float], None]:
        with self._lock:
            self._task += 1
            self._fraction, self._sent_at, self._running = 0.0, time.monotonic(), True
            if not self._has_thread:
                self._has_thread = True
                threading.Thread(target=self._repeat, name="progress", daemon=True).start()
            return partial(self._report, self._task)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._running = False

    def _report(self, task: int, fraction: float) -> None:
        with self._lock:
            if task == self._task:
                # Engines count with numpy too, whose numbers are none in JSON.
                self._fraction = max(self._fraction, float(fraction))
                self._send_if_due()

    def _repeat(self) -> None:
        idle = 0
        while idle < _IDLE_ROUNDS:
            # Half the time: a report that just missed its moment is not a whole one late.
            time.sleep(self._every / 2)
            with self._lock:
                idle = 0 if self._running else idle + 1
                self._send_if_due()
                self._has_thread = idle < _IDLE_ROUNDS

    def _send_if_due(self) -> None:
        now = time.monotonic()
        if self._running and now - self._sent_at >= self._every:
            self._sent_at = now
            self._send(self._fraction)
