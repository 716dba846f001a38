"""The runner: many flows at once, within the limits of the service, stoppable at any time.

Threads serve both faces: the blocking one runs a flow on its own thread anyway, and the awaited one
runs them all on the private loop while the threads wait. A request that the service has no room for
waits for as long as it asks, and all the others wait with it.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from kit.client.actions import Flow, Sleep
from kit.errors import (
    BudgetError,
    ExpiredApiKeyError,
    InsufficientCreditsError,
    InsufficientScopeError,
    InvalidApiKeyError,
    KitError,
    MissingApiKeyError,
    RateLimitError,
    UnavailableError,
)

T = TypeVar("T")

#: After one of these no further request can go well: the run ends and raises it.
FATAL = (
    BudgetError,
    InsufficientCreditsError,
    InvalidApiKeyError,
    MissingApiKeyError,
    ExpiredApiKeyError,
    InsufficientScopeError,
)
#: After one of these the same request is tried again.
_BUSY = (RateLimitError, UnavailableError)
_TRIES = 20
#: Seconds to wait where a busy service does not say how long, and the longest wait at once.
_REST, _SLICE = 5.0, 1.0


class RunStopped(Exception):  # noqa: N818 - it is no error
    """The run was stopped while a flow waited."""


class Blocking(Protocol):
    """Whatever runs a flow while the caller waits."""

    def block(self, flow: Flow[T]) -> T:
        """Run a flow to its end."""


@dataclass
class SweepRun:
    """One run over numbered tasks.

    Parameters
    ----------
    work : callable
        Returns the flow of a task; it reports its own result.
    failed : callable
        Told of a task's error.
    """

    client: Blocking
    work: Callable[[int], Flow[None]]
    failed: Callable[[int, KitError], None]
    tasks: deque[int]
    clock: Callable[[], float] = time.monotonic
    stop: threading.Event = field(default_factory=threading.Event)
    fatal: KitError | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _tries: dict[int, int] = field(default_factory=dict)
    _threads: list[threading.Thread] = field(default_factory=list)
    _rest: float = 0.0

    def begin(self, at_once: int) -> None:
        """Start working in the background."""
        for number in range(min(at_once, len(self.tasks))):
            thread = threading.Thread(target=self._loop, name=f"kit-sweep-{number}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def join(self, seconds: float) -> bool:
        """Wait until all is done, at most some seconds, and return whether it is."""
        ends = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, ends - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _loop(self) -> None:
        while not self.stop.is_set():
            self._pause()
            with self._lock:
                if not self.tasks or self.stop.is_set():
                    return
                task = self.tasks.popleft()
            try:
                self.client.block(self.work(task))
            except RunStopped:
                return
            except _BUSY as error:
                self._again(task, error)
            except FATAL as error:
                self.fatal = self.fatal or error
                self.stop.set()
                self.failed(task, error)
            except KitError as error:
                self.failed(task, error)
            except Exception as error:  # noqa: BLE001 - a bug must not end as a thread's silence
                self.failed(task, KitError(f"{type(error).__name__}: {error}"))

    def _again(self, task: int, error: RateLimitError | UnavailableError) -> None:
        """Put a task back and let everybody rest; after many tries it has failed.

        One that may have been charged has failed at once: trying again might pay twice.
        """
        with self._lock:
            tries = self._tries[task] = self._tries.get(task, 0) + 1
            if tries < _TRIES and not error.unsettled:
                self.tasks.appendleft(task)
                self._rest = max(self._rest, error.retry_after or _REST)
                return
        self.failed(task, error)

    def _pause(self) -> None:
        """Wait out the rest that the service asked for, in slices that a stop can end."""
        with self._lock:
            left, self._rest = self._rest, 0.0
        while left > 0 and not self.stop.is_set():
            self.client.block(_sleep(min(left, _SLICE)))
            left -= _SLICE


def _sleep(seconds: float) -> Flow[None]:
    yield Sleep(seconds)
