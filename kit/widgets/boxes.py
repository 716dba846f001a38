"""Boxes with the newest child first, without redrawing the others; or with one child at a time.

A page keeps the children of a box up to the first changed one: inserting one before the others
would recreate all of them, restart videos and lose keystrokes. So an empty box is always kept
before the newest child, and the next child is inserted into it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import ipywidgets

from kit.widgets import markup
from kit.widgets.background import BackgroundRunner

#: Depth of nested boxes at which all are redrawn, once.
MAX_DEPTH = 48
_CLASSES = ("kit-newest-first",)


def close_all(widget: Any) -> None:
    """Close a widget and all its children, which kernel and page would keep otherwise."""
    for child in getattr(widget, "children", ()):
        close_all(child)
    widget.close()


def close_with_styles(widget: Any) -> None:
    """Close a widget, its children, and their layouts and styles, which no other widget has."""
    for one in (widget, *find_styles(widget)):
        close_all(one)


def mark_open(button: Any, is_open: bool) -> None:
    """Show screen readers whether the part of a button with the class ``kit-opens`` is open."""
    (button.add_class if is_open else button.remove_class)("kit-is-open")


def find_styles(widget: Any) -> set[Any]:
    """Return the layouts and styles of a widget and all its children, which are models, too."""
    own = {getattr(widget, name, None) for name in ("layout", "style")} - {None}
    return own.union(*map(find_styles, getattr(widget, "children", ())))


class NewestFirst(ipywidgets.VBox):
    """A box that grows at the top."""

    def __init__(
        self, most: int, *, box: Callable[..., Any] = ipywidgets.VBox, **traits: Any
    ) -> None:
        self._most = most
        self._box = box
        super().__init__(_dom_classes=_CLASSES, **traits)
        self._boxes: list[Any] = [self]
        self._lock = threading.Lock()

    @property
    def shown(self) -> list[Any]:
        """The widgets in it, newest first."""
        return [box.children[1] for box in reversed(self._boxes[:-1]) if len(box.children) > 1]

    def add(self, widget: Any) -> None:
        """Show a widget above all others; any thread may call it."""
        with self._lock:
            if len(self._boxes) > MAX_DEPTH:
                self._flatten()
            self._insert(widget)
            old = [box for box in self._boxes[:-1] if len(box.children) > 1][: -self._most]
            for box in old:
                box.children = box.children[:1]

    def _insert(self, widget: Any) -> None:
        box = self._box(_dom_classes=_CLASSES)
        self._boxes[-1].children = (box, widget)
        self._boxes.append(box)

    def _flatten(self) -> None:
        shown, old = self.shown, self._boxes[1:]
        self.children, self._boxes = (), [self]
        for box in old:
            box.close()
        for widget in reversed(shown):
            self._insert(widget)


class OpenedBox(ipywidgets.VBox):
    """A box with one open child at a time, which is created in the background."""

    children: Any

    def __init__(self, background: BackgroundRunner, **traits: Any) -> None:
        self._background = background
        self._lock = threading.Lock()
        self._latest: Callable[[], Any] | None = None
        super().__init__(_dom_classes=("kit-opened",), **traits)

    def fill(self, make: Callable[[], Any] | None) -> None:
        """Show the result of `make`, which may block, or nothing; only the last call counts."""
        with self._lock:
            self._latest = make
        if make is None:
            self._show()
        else:
            self._background.begin(partial(self._make, make))

    def _make(self, make: Callable[[], Any]) -> None:
        try:
            widget = make()
        except Exception as error:  # noqa: BLE001 - any error is shown here, or it is lost
            widget = ipywidgets.HTML(markup.problem(markup.error_text(error)))
        with self._lock:
            is_latest = self._latest is make
        if is_latest:
            self._show(widget)
        else:
            close_all(widget)

    def _show(self, *widgets: Any) -> None:
        before, self.children = self.children, widgets
        for one in before:
            close_all(one)
