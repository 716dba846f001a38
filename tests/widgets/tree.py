"""Functions that find widgets in a box by their label, class or type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from ipywidgets import Widget

from kit.widgets.accessibility import Accessibility

W = TypeVar("W", bound=Widget)


def below(root: Widget) -> Iterator[Any]:
    """Yield a widget and all widgets in it, from top to bottom."""
    yield root
    for child in getattr(root, "children", ()):
        yield from below(child)


def find(root: Widget, words: str) -> Any:
    """Return the first widget in another that has a description."""
    return next(one for one in below(root) if getattr(one, "description", None) == words)


def styled(root: Widget, name: str) -> Any:
    """Return the first widget in another that has a CSS class."""
    return next(one for one in below(root) if name in getattr(one, "_dom_classes", ()))


def every(root: Widget, kind: type[W]) -> list[W]:
    """Return all widgets of a type in another."""
    return [one for one in below(root) if isinstance(one, kind)]


class Announcements:
    """The page's end of a box's script: what it announces to screen readers."""

    comm_id = "page"

    def __init__(self, box: Any) -> None:
        self.messages: list[dict[str, Any]] = []
        every(box, Accessibility)[0].comm = self

    @property
    def texts(self) -> list[str]:
        """What was announced."""
        return [message["say"] for message in self.messages]

    def on_msg(self, call: Any) -> None: ...

    def send(self, data: Any, buffers: Any = None) -> None:
        if data["method"] == "custom":
            self.messages.append(data["content"])

    def close(self, *arguments: Any, **more: Any) -> None: ...


def send(widget: Any, message: Any, buffers: Any = ()) -> None:
    """Send a message to a widget, as its page would."""
    widget._handle_custom_msg(message, list(buffers))
