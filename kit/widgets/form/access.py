"""What a form needs beyond ipywidgets for screen readers and keyboards.

A slider of ipywidgets has no name that a screen reader could say, and makes what is typed into it
fit without a word; the arrows of a list move to another cell. The script beside this file sees to
that in its own form, and reports what was typed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kit.widgets.accessibility import PageScript, name, script

#: Takes the number of a field, what was typed there, and what the page made of it.
Typed = Callable[[int, str, str], None]


class Access(PageScript):
    """Names and hears the controls of the form that it is a part of; it shows nothing.

    Parameters
    ----------
    typed : callable
        Called after typing into the box of a slider.
    dragged : callable
        Called when a file is dragged over the form.
    """

    _anywidget_id = name("kit.form.Access")
    _esm = script(__package__, "access.js")

    def __init__(
        self, typed: Typed, dragged: Callable[[], None] = lambda: None, **traits: Any
    ) -> None:
        super().__init__(_dom_classes=("kit-form-script",), **traits)
        self._typed, self._dragged = typed, dragged
        self.on_msg(self._receive)

    def _receive(self, _: Any, message: Any, __: Any) -> None:
        match message:
            case {"field": int(field), "text": str(text), "used": str(used)}:
                self._typed(field, text, used)
            case {"dragged": True}:
                self._dragged()
