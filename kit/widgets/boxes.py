"""Boxes of which the newest child stands first, without redrawing the others.

A page keeps the children of a box up to the first one that is another: to put one before the others
makes all of them anew, films begin again, and keys that are pressed meanwhile are lost. So before
the newest there is always an empty box, in which the next one finds its place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets

#: Boxes in boxes, after which all is drawn anew, once.
DEEPEST = 48
_CLASSES = ("kit-newest-first",)


def close_all(widget: Any) -> None:
    """Close a widget and everything in it: else kernel and page keep the rest."""
    for child in getattr(widget, "children", ()):
        close_all(child)
    widget.close()


class NewestFirst(ipywidgets.VBox):
    """A box that grows at its top.

    Parameters
    ----------
    most : int
        How many stay; older ones go.
    box : callable
        Makes one of the boxes that are inside.

    Examples
    --------
    >>> results = NewestFirst(2)
    >>> for words in ("first", "second", "third"):
    ...     results.add(ipywidgets.HTML(words))
    >>> [one.value for one in results.shown]
    ['third', 'second']
    """

    def __init__(
        self, most: int, *, box: Callable[..., Any] = ipywidgets.VBox, **traits: Any
    ) -> None:
        self._most = most
        self._box = box
        super().__init__(_dom_classes=_CLASSES, **traits)
        self._boxes: list[Any] = [self]

    @property
    def shown(self) -> list[Any]:
        """The widgets in it, the newest first."""
        return [box.children[1] for box in reversed(self._boxes[:-1]) if len(box.children) > 1]

    def add(self, widget: Any) -> None:
        """Show a widget above all others."""
        if len(self._boxes) > DEEPEST:
            self._flatten()
        self._insert(widget)
        old = [box for box in self._boxes[:-1] if len(box.children) > 1][: -self._most]
        for box in old:
            box.children = box.children[:1]

    def _insert(self, widget: Any) -> None:
        place = self._box(_dom_classes=_CLASSES)
        self._boxes[-1].children = (place, widget)
        self._boxes.append(place)

    def _flatten(self) -> None:
        kept, old = self.shown, self._boxes[1:]
        self.children, self._boxes = (), [self]
        for box in old:
            box.close()
        for widget in reversed(kept):
            self._insert(widget)
