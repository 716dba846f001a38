"""Changes: what tells the widgets of a page that something was started, bought or has ended.

Widgets follow the service, whichever cell, form or sweep of this kernel has used it.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable


class Changes:
    """Those who want to know of changes; the list does not keep them alive."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: list[weakref.WeakMethod[Callable[[], None]]] = []

    def subscribe(self, call: Callable[[], None]) -> None:
        """Have a method called after each change, for as long as its object lives.

        Parameters
        ----------
        call : bound method
            Called on any thread; it must return at once.
        """
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


@functools.cache
def changes_at(address: str) -> Changes:
    """Return the changes at a service, the same for all studios of this kernel."""
    return Changes()
