"""The runner: many flows in parallel, within the limits of the service, stoppable at any time.

Threads serve both faces; each runs flows by itself. A request that the service is too busy for
waits as long as the service asks, and all others wait with it. A run that was stopped before its
end continues where it stopped.
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

#: Errors after which no further request can succeed: the run ends and raises them.
FATAL = (
    errors.BudgetError,
    errors.InsufficientCreditsError,
    errors.InvalidApiKeyError,
    errors.MissingApiKeyError,
    errors.ExpiredApiKeyError,
    errors.InsufficientScopeError,
)
#: Errors after which the same request is tried again.
_BUSY = (errors.RateLimitError, errors.UnavailableError)
_MAX_TRIES = 20
#: Seconds to wait if a busy service does not say how long, and the longest single wait.
_BUSY_SECONDS, _MAX_SLEEP_SECONDS = 5.0, 1.0


class RunStopped(Exception):  # noqa: N818 - it is no error
    """The run was stopped while a flow was waiting."""


@dataclass
class SweepRun:
    """One run over numbered tasks; `on_failure` is called with a task's error."""

    client: Client | AsyncClient
    work: Callable[[int], Flow[None]]
    on_failure: Callable[[int, errors.KitError], None]
    tasks: deque[int]
    clock: Callable[[], float] = time.monotonic
    stop: threading.Event = field(default_factory=threading.Event)
    fatal: errors.KitError | None = None
    _lock: threading.Condition = field(default_factory=threading.Condition)
    _tries: dict[int, int] = field(default_factory=dict)
    _working: int = 0
    _busy_until: float = 0.0

    def begin(self, at_once: int) -> None:
        """Start working in the background, or continue after a stop."""
        with self._lock:
            self.fatal = None
            self.stop.clear()
            missing = min(at_once - self._working, len(self.tasks))
            for number in range(self._working, self._working + max(0, missing)):
                name = f"kit-sweep-{number}"
                threading.Thread(target=self._loop, name=name, daemon=True).start()
                self._working += 1

    def join(self, seconds: float) -> bool:
        """Wait until all tasks are done, at most some seconds, and return whether they are.

        `Thread.join` is not used: Ctrl-C makes it take the thread for ended (CPython 3.11).
        """
        with self._lock:
            return self._lock.wait_for(lambda: not self._working, seconds)

    def _loop(self) -> None:
        while (task := self._next_task()) is not None:
            try:
                self.client.block(flows.run_steps(self.work(task), self._execute))
            except RunStopped:
                self._put_back(task)
            except _BUSY as error:
                self._retry(task, error)
            except FATAL as error:
                self.fatal = self.fatal or error
                self.stop.set()
                self._put_back(task)
                self.on_failure(task, error)
            except errors.KitError as error:
                self.on_failure(task, error)
            except Exception as error:  # noqa: BLE001 - a bug must not end as a thread's silence
                self.on_failure(task, errors.KitError(f"{type(error).__name__}: {error}"))

    def _next_task(self) -> int | None:
        """Return the next task, or None if this thread should end."""
        self.client.block(self._wait_while_busy())
        with self._lock:
            if self.stop.is_set() or not self.tasks:
                self._working -= 1
                self._lock.notify_all()
                return None
            return self.tasks.popleft()

    def _put_back(self, task: int) -> None:
        with self._lock:
            self.tasks.appendleft(task)

    def _retry(self, task: int, error: errors.RateLimitError | errors.UnavailableError) -> None:
        """Put a task back and pause all threads; after many tries it has failed.

        A task that may have been charged fails at once: another try might be charged again.
        """
        with self._lock:
            tries = self._tries[task] = self._tries.get(task, 0) + 1
            if tries < _MAX_TRIES and not error.unsettled:
                self.tasks.appendleft(task)
                until = self.clock() + (error.retry_after or _BUSY_SECONDS)
                self._busy_until = max(self._busy_until, until)
                return
        self.on_failure(task, error)

    def _execute(self, step: Step) -> Flow[Any]:
        """Execute a step; a pause requested of one flow applies to the next requests of all."""
        if isinstance(step, SendRequest):
            yield from self._wait_while_busy()
        outcome = yield step
        error = flows.find_error(outcome) if isinstance(outcome, (Reply, NoReply)) else None
        if isinstance(error, _BUSY) and error.retry_after:
            self._busy_until = max(self._busy_until, self.clock() + error.retry_after)
        return outcome

    def _wait_while_busy(self) -> Flow[None]:
        """Wait for the pause that the service requested, in slices that a stop can end."""
        while (left := self._busy_until - self.clock()) > 0 and not self.stop.is_set():
            yield Sleep(min(left, _MAX_SLEEP_SECONDS))
