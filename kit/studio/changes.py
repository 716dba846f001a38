"""Changes: notify the widgets of a page when something was started, bought or has ended.

Widgets show the current state of the service, whichever cell, form or sweep changed it.
"""

from __future__ import annotations

import functools
import math
import os
import threading
import weakref
from collections.abc import Callable

from kit.errors import KitError
from kit.widgets.background import run_in_thread


class Changes:
    """Subscribers to changes; held by weak references."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Reset, as a forked process does: it has no page, and the lock may be held there."""
        self._lock = threading.Lock()
        self._calls: list[weakref.WeakMethod[Callable[[], None]]] = []

    def subscribe(self, call: Callable[[], None]) -> None:
        """Call a method after each change, on any thread, as long as its object exists."""
        with self._lock:
            self._calls.append(weakref.WeakMethod(call))

    def notify(self) -> None:
        """Call all subscribers."""
        with self._lock:
            found = [(one, one()) for one in self._calls]
            self._calls = [one for one, call in found if call is not None]
        for _, call in found:
            if call is not None:
                call()


#: Minimum pause between two checks of a studio for changes made elsewhere: in seconds, and in
#: durations of an answered check. Lists of other services may be long.
_CHECK_SECONDS, _CHECK_DURATIONS = 5.0, 10


class ChangeWatch:
    """Checks a service for changes made by other kernels, programs and people.

    It checks in the background and only on request, never twice at a time or soon after the last
    check: a page requests checks as long as it is visible.
    """

    def __init__(
        self,
        changes: Changes,
        clock: Callable[[], float],
        begin: Callable[[Callable[[], None]], None] = run_in_thread,
    ) -> None:
        self._changes, self._clock, self._begin = changes, clock, begin
        self._lock = threading.Lock()
        self._next_check = clock()
        self._last: object = None

    def check(self, newest: Callable[[], object]) -> None:
        """Notify subscribers if the newest state differs from that of the last check.

        The first check notifies, too: what is shown may be older. `newest` returns that state; it
        may block, and raise a `KitError`.
        """
        with self._lock:
            if self._clock() < self._next_check:
                return
            self._next_check = math.inf
        self._begin(functools.partial(self._compare, newest))

    def _compare(self, newest: Callable[[], object]) -> None:
        began = self._clock()
        try:
            found = newest()
        except KitError:
            found, began = self._last, self._clock()  # not reached; the next check may notify
        finally:
            now = self._clock()
            self._next_check = now + max(_CHECK_SECONDS, _CHECK_DURATIONS * (now - began))
        before, self._last = self._last, found
        if before != found:
            self._changes.notify()


@functools.cache
def changes_at(address: str) -> Changes:
    """Return the changes of a service, shared by all studios of this kernel."""
    changes = Changes()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=changes.forget)
    return changes
