"""Background work: widgets never block the event loop that they run on.

Slow work runs on other threads, and its result is shown by setting a widget's trait, which any
thread may do.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from kit.widgets.hosts import find_shell
from kit.widgets.markup import error_text

_IDLE_SECONDS = 10.0
#: Idle threads, their queues and kernels; threads do not survive a fork.
_idle: list[Any] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)


def run_in_thread(work: Callable[[], None]) -> None:
    """Run a function on another thread: an idle one of this kernel if there is one.

    In Solara each page has a kernel, to which threads started from it belong. Each thread that
    updates a widget keeps a socket until 10 s after its end, and with 1,023 all output fails.
    """
    kernel = getattr(find_shell(), "kernel", None)
    try:
        idle: Any = next((each for each in _idle[::-1] if each[2] is kernel), None)
        _idle.remove(idle)  # another thread may take it at this moment
        thread, own, _ = idle
        thread.name = "kit-form"
    except ValueError:
        own = queue.SimpleQueue()
        threading.Thread(target=_serve, args=(own, kernel), name="kit-form", daemon=True).start()
    own.put(work)


def _serve(own: queue.SimpleQueue[Callable[[], None]], kernel: Any) -> None:
    thread = threading.current_thread()
    while True:
        try:
            work = own.get(timeout=_IDLE_SECONDS)
        except queue.Empty:
            with suppress(ValueError):  # it gets work at this moment
                _idle.remove((thread, own, kernel))
                return
            continue
        work()
        del work  # an idle thread keeps no widget
        thread.name = "kit-form-idle"
        _idle.append((thread, own, kernel))


def run_later(seconds: float, work: Callable[[], None]) -> Callable[[], None]:
    """Run a function on another thread after some seconds; return a function that cancels it."""
    canceled = threading.Event()

    def wait() -> None:
        if not canceled.wait(seconds):
            work()

    run_in_thread(wait)
    return canceled.set


@dataclass(frozen=True, slots=True)
class BackgroundRunner:
    """Runs slow work; tests pass one with their own clock.

    `after`: runs a function on another thread after some seconds; returns its cancel function.
    """

    begin: Callable[[Callable[[], None]], None] = run_in_thread
    after: Callable[[float, Callable[[], None]], Callable[[], None]] = run_later
    clock: Callable[[], float] = time.monotonic


@dataclass(slots=True, eq=False)
class Debounced:
    """A call made once no request has come for a moment; only the last request counts."""

    _call: Callable[[], None]
    _seconds: float
    _background: BackgroundRunner
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _cancel_call: Callable[[], None] = lambda: None

    def __call__(self) -> None:
        """Request the call."""
        with self._lock:
            self._cancel_call()
            self._cancel_call = self._background.after(self._seconds, self._call)

    def cancel(self) -> None:
        """Cancel the requested call."""
        with self._lock:
            self._cancel_call()


@dataclass(slots=True, eq=False, weakref_slot=True)
class Throttled:
    """A call after changes: at most once in some seconds, and always after the last change."""

    _call: Callable[[], None]
    _seconds: float
    _background: BackgroundRunner
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _waiting: bool = False
    _paused: bool = False
    _missed: bool = False

    def request(self) -> None:
        """Request the call soon."""
        with self._lock:
            self._missed = self._paused
            if self._waiting or self._paused:
                return
            self._waiting = True
        self._background.after(self._seconds, self._run)

    def pause(self, paused: bool) -> None:
        """Pause, or resume, with a call if one was missed."""
        with self._lock:
            self._paused = paused
            missed = self._missed and not paused
            self._missed = self._missed and paused
        if missed:
            self.request()

    def _run(self) -> None:
        with self._lock:
            self._waiting = False
            self._missed = self._paused
            if self._paused:
                return
        self._call()


def guard(call: Callable[[], None], show_problem: Callable[[str], None]) -> Callable[..., None]:
    """Return a callback that shows errors, which Jupyter would write to a hidden log."""

    def callback(*_: Any) -> None:
        try:
            call()
        except Exception as error:  # noqa: BLE001 - any error is shown here, or it is lost
            show_problem(error_text(error))

    return callback


#: A check for changes made elsewhere; it returns immediately.
ChangeCheck = Callable[[], None] | None
#: Calls a method after each change at a service, as long as its object exists.
Subscribe = Callable[[Callable[[], None]], ChangeCheck]
#: Seconds after a change until a widget updates.
FOLLOW_SECONDS = 0.4
#: Seconds from a click to reading the fields: text typed last may arrive after the click.
SETTLE_SECONDS = 0.12
