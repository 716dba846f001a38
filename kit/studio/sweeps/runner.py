"""The runner: many flows at once, within the limits of the service, stoppable at any time.

Threads serve both faces: each runs its flows by itself. A request that the service has no room for
waits for as long as it asks, and all the others wait with it. A run that was stopped and has not
come to its end goes on where it is.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kit import errors
from kit.client import flows
from kit.client.calls import Flow, NoReply, Reply, SendRequest, Sleep, Step

if TYPE_CHECKING:
    from kit.client.aio import AsyncClient
    from kit.client.sync import Client

#: After one of these no further request can go well: the run ends and raises it.
FATAL = (
    errors.BudgetError,
    errors.InsufficientCreditsError,
    errors.InvalidApiKeyError,
    errors.MissingApiKeyError,
    errors.ExpiredApiKeyError,
    errors.InsufficientScopeError,
)
#: After one of these the same request is tried again.
_BUSY = (errors.RateLimitError, errors.UnavailableError)
_TRIES = 20
#: Seconds to wait where a busy service does not say how long, and the longest wait at once.
_REST, _SLICE = 5.0, 1.0


class RunStopped(Exception):  # noqa: N818 - it is no error
    """The run was stopped while a flow waited."""


@dataclass
class SweepRun:
    """One run over numbered tasks; `failed` is told of a task's error."""

    client: Client | AsyncClient
    work: Callable[[int], Flow[None]]
    failed: Callable[[int, errors.KitError], None]
    tasks: deque[int]
    clock: Callable[[], float] = time.monotonic
    stop: threading.Event = field(default_factory=threading.Event)
    fatal: errors.KitError | None = None
    _lock: threading.Condition = field(default_factory=threading.Condition)
    _tries: dict[int, int] = field(default_factory=dict)
    _working: int = 0
    _busy_until: float = 0.0

    def begin(self, at_once: int) -> None:
        """Start working in the background, or go on with what a stop has left undone."""
        with self._lock:
            self.fatal = None
            self.stop.clear()
            missing = min(at_once - self._working, len(self.tasks))
            for number in range(self._working, self._working + max(0, missing)):
                name = f"kit-sweep-{number}"
                threading.Thread(target=self._loop, name=name, daemon=True).start()
                self._working += 1

    def join(self, seconds: float) -> bool:
        """Wait until all is done, at most some seconds, and return whether it is.

        Not by `Thread.join`: one that Ctrl-C interrupts takes the thread for ended (CPython 3.11).
        """
        with self._lock:
            return self._lock.wait_for(lambda: not self._working, seconds)

    def _loop(self) -> None:
        while (task := self._next_task()) is not None:
            try:
                self.client.block(flows.take_steps(self.work(task), self._take))
            except RunStopped:
                self._put_back(task)
            except _BUSY as error:
                self._again(task, error)
            except FATAL as error:
                self.fatal = self.fatal or error
                self.stop.set()
                self._put_back(task)
                self.failed(task, error)
            except errors.KitError as error:
                self.failed(task, error)
            except Exception as error:  # noqa: BLE001 - a bug must not end as a thread's silence
                self.failed(task, errors.KitError(f"{type(error).__name__}: {error}"))

    def _next_task(self) -> int | None:
        """Return the next task, or None at the end of a thread's work."""
        self.client.block(self._rest())
        with self._lock:
            if self.stop.is_set() or not self.tasks:
                self._working -= 1
                self._lock.notify_all()
                return None
            return self.tasks.popleft()

    def _put_back(self, task: int) -> None:
        with self._lock:
            self.tasks.appendleft(task)

    def _again(self, task: int, error: errors.RateLimitError | errors.UnavailableError) -> None:
        """Put a task back and let everybody rest; after many tries it has failed.

        One that may have been charged has failed at once: trying again might pay twice.
        """
        with self._lock:
            tries = self._tries[task] = self._tries.get(task, 0) + 1
            if tries < _TRIES and not error.unsettled:
                self.tasks.appendleft(task)
                self._busy_until = max(
                    self._busy_until, self.clock() + (error.retry_after or _REST)
                )
                return
        self.failed(task, error)

    def _take(self, step: Step) -> Flow[Any]:
        """Take a step; what one flow is asked to wait, all wait before their next request."""
        if isinstance(step, SendRequest):
            yield from self._rest()
        outcome = yield step
        error = flows.find_error(outcome) if isinstance(outcome, (Reply, NoReply)) else None
        if isinstance(error, _BUSY) and error.retry_after:
            self._busy_until = max(self._busy_until, self.clock() + error.retry_after)
        return outcome

    def _rest(self) -> Flow[None]:
        """Wait out the rest that the service asked for, in slices that a stop can end."""
        while (left := self._busy_until - self.clock()) > 0 and not self.stop.is_set():
            yield Sleep(min(left, _SLICE))
