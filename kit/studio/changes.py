"""Changes: what tells the widgets of a page that something was started, bought or has ended.

Widgets follow the service, whichever cell, form or sweep of this kernel has used it.
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
    """Those who want to know of changes; the list does not keep them alive."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start anew, as a forked process does: it has no page, and the lock may be held there."""
        self._lock = threading.Lock()
        self._calls: list[weakref.WeakMethod[Callable[[], None]]] = []

    def subscribe(self, call: Callable[[], None]) -> None:
        """Have a method called after each change, on any thread, while its object lives."""
        with self._lock:
            self._calls.append(weakref.WeakMethod(call))

    def notify(self) -> None:
        """Tell of a change."""
        with self._lock:
            found = [(one, one()) for one in self._calls]
            self._calls = [one for one, call in found if call is not None]
        for _, call in found:
            if call is not None:
                call()


#: Seconds between two looks of a studio for what others have changed, at least.
_PAUSE = 5.0


class ChangeWatch:
    """Looks for what other kernels, programs and people have changed at a service.

    It does so when it is asked to, in the background, and never twice at a time or soon after
    another look: a page asks as long as it is seen.
    """

    def __init__(
        self,
        changes: Changes,
        clock: Callable[[], float],
        begin: Callable[[Callable[[], None]], None] = run_in_thread,
    ) -> None:
        self._changes, self._clock, self._begin = changes, clock, begin
        self._lock = threading.Lock()
        self._next = clock()
        self._known: object = None

    def look(self, newest: Callable[[], object]) -> None:
        """Tell of a change, if what is the newest is something else than the last time.

        What returns the newest may block, and raise a `KitError`.
        """
        with self._lock:
            if self._clock() < self._next:
                return
            self._next = math.inf
        self._begin(functools.partial(self._compare, newest))

    def _compare(self, newest: Callable[[], object]) -> None:
        try:
            found = newest()
        except KitError:
            found = self._known  # it cannot be reached now; another look may tell
        finally:
            self._next = self._clock() + _PAUSE
        before, self._known = self._known, found
        if before is not None and before != found:
            self._changes.notify()


@functools.cache
def changes_at(address: str) -> Changes:
    """Return the changes at a service, the same for all studios of this kernel."""
    changes = Changes()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=changes.forget)
    return changes
