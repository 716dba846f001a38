"""Functions that find widgets in a box by their label, class or type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from ipywidgets import Widget

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


def send(widget: Any, message: Any, buffers: Any = ()) -> None:
    """Send a message to a widget, as its page would."""
    widget._handle_custom_msg(message, list(buffers))
