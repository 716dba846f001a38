"""Background work: a widget never blocks the event loop it lives on.

What takes time is begun elsewhere, and its result comes back by setting a widget's trait, which any
thread may do.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kit.widgets.markup import error_text


def run_in_thread(work: Callable[[], None]) -> None:
    """Run a function elsewhere, at once."""
    threading.Thread(target=work, name="kit-form", daemon=True).start()


def run_later(seconds: float, work: Callable[[], None]) -> Callable[[], None]:
    """Run a function elsewhere after some seconds; return how to call that off."""
    timer = threading.Timer(seconds, work)
    timer.name, timer.daemon = "kit-form", True
    timer.start()
    return timer.cancel


@dataclass(frozen=True, slots=True)
class BackgroundRunner:
    """Where what takes time happens; tests pass one whose time is theirs.

    `after`: runs a function elsewhere after some seconds; returns how to call that off.
    """

    begin: Callable[[Callable[[], None]], None] = run_in_thread
    after: Callable[[float, Callable[[], None]], Callable[[], None]] = run_later
    clock: Callable[[], float] = time.monotonic


@dataclass(slots=True, eq=False)
class Debounced:
    """A call that is made once the asking has stopped for a moment; the last asking counts."""

    _call: Callable[[], None]
    _seconds: float
    _background: BackgroundRunner
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _call_off: Callable[[], None] = lambda: None

    def __call__(self) -> None:
        """Ask for the call."""
        with self._lock:
            self._call_off()
            self._call_off = self._background.after(self._seconds, self._call)

    def cancel(self) -> None:
        """Forget what was asked for."""
        with self._lock:
            self._call_off()


@dataclass(slots=True, eq=False, weakref_slot=True)
class Throttled:
    """A call that follows changes: at most once in some seconds, and always after the last one."""

    _call: Callable[[], None]
    _seconds: float
    _background: BackgroundRunner
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _waiting: bool = False
    _paused: bool = False
    _missed: bool = False

    def request(self) -> None:
        """Have the call made soon."""
        with self._lock:
            if self._waiting:
                return
            self._waiting = True
        self._background.after(self._seconds, self._run)

    def pause(self, paused: bool) -> None:
        """Make no calls from now on, or go on, with one if some was left out."""
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


def guarded(call: Callable[[], None], show_problem: Callable[[str], None]) -> Callable[..., None]:
    """Return a callback that says what went wrong: Jupyter would put it into a hidden log."""

    def act(*_: Any) -> None:
        try:
            call()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is said or lost
            show_problem(error_text(error))

    return act


#: What looks for changes that others have made; it returns at once.
Look = Callable[[], None] | None
#: Has a method called after each change at a service, for as long as its object lives.
Subscribe = Callable[[Callable[[], None]], Look]
#: Seconds after a change until a widget asks what there is now.
FOLLOWING = 0.4
#: Seconds from a click to reading the fields: what was typed last may arrive after the click.
SETTLING = 0.12
