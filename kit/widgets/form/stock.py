"""Stock: what the widgets of one form share, so that each of them is a single message.

What makes a form slow to show is the number of its widgets, and most bring two more of their own.
"""

from __future__ import annotations

import functools
from typing import Any

import ipywidgets


class Stock:
    """What the widgets of one form share: a layout, and a style for each kind of control."""

    def __init__(self) -> None:
        self._layout = ipywidgets.Layout()
        self._styles: dict[Any, Any] = {}
        self._shared: dict[Any, dict[str, Any]] = {}

    def new(self, kind: Any, **traits: Any) -> Any:
        """Return a widget of a kind that brings neither a layout nor a style of its own."""
        if kind not in self._shared:
            self._shared[kind] = self._for(kind)
        # Without its keys each widget would look through all its traits for those that are sent;
        # one of anywidget's has to, because it adds some when it is made.
        grows = hasattr(kind, "_esm") and "_esm" not in _sent(kind)
        keys = {} if grows else {"keys": [*_sent(kind)]}
        return kind(**self._shared[kind], **keys, **traits)

    def _for(self, kind: Any) -> dict[str, Any]:
        style = _style(kind)
        if style is None:
            return {"layout": self._layout}
        if style not in self._styles:
            self._styles[style] = style()
        return {"layout": self._layout, "style": self._styles[style]}


@functools.cache
def _style(kind: Any) -> Any:
    """Return the class of a kind of widget's style, None for one that has none."""
    style = kind.class_traits().get("style")
    return style and style.klass


@functools.cache
def _sent(kind: Any) -> tuple[str, ...]:
    """Return the names of the traits that a kind of widget sends to the browser."""
    return tuple(kind.class_traits(sync=True))
