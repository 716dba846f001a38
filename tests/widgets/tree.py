"""Widgets as a page has them: a box with children, each found by what a person reads at it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from ipywidgets import Widget

W = TypeVar("W", bound=Widget)


def below(root: Widget) -> Iterator[Any]:
    """Yield a widget and everything in it, from top to bottom."""
    yield root
    for child in getattr(root, "children", ()):
        yield from below(child)


def find(root: Widget, words: str) -> Any:
    """Return the first widget in another that is called so."""
    return next(one for one in below(root) if getattr(one, "description", None) == words)


def styled(root: Widget, name: str) -> Any:
    """Return the first widget in another that has a class."""
    return next(one for one in below(root) if name in getattr(one, "_dom_classes", ()))


def every(root: Widget, kind: type[W]) -> list[W]:
    """Return all widgets of a kind in another."""
    return [one for one in below(root) if isinstance(one, kind)]


def send(widget: Any, message: Any, buffers: Any = ()) -> None:
    """Send a widget what its page would send."""
    widget._handle_custom_msg(message, list(buffers))
