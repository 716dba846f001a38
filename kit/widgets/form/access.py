"""What a form needs beyond ipywidgets for whoever does not see it, or uses the keyboard.

A slider of ipywidgets has no name that a screen reader could say, and makes what is typed into it
fit without a word; the arrows of a list move to another cell. The script beside this file sees to
that in its own form, and tells what was typed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import resources
from typing import Any

import ipywidgets
import traitlets

#: Takes the number of a field, what was typed there, and what the page made of it.
Typed = Callable[[int, str, str], None]


def _short(script: str) -> str:
    """Return a script without the space and the comments that each form would send along."""
    return re.sub(r"^ *//.*\n|^ +| +// .*", "", script, flags=re.MULTILINE)


class Access(ipywidgets.DOMWidget):
    """Names and hears the controls of the form that it is a part of; it shows nothing.

    In the page it is one of anywidget's, whose half in the kernel is not needed for this: loading
    that takes longer than a form does, and so would making a class for each widget.

    Parameters
    ----------
    typed : callable
        Called when somebody has typed into the box of a slider.
    """

    _model_module = traitlets.Unicode("anywidget").tag(sync=True)
    _model_module_version = traitlets.Unicode("*").tag(sync=True)
    _model_name = traitlets.Unicode("AnyModel").tag(sync=True)
    _view_module = traitlets.Unicode("anywidget").tag(sync=True)
    _view_module_version = traitlets.Unicode("*").tag(sync=True)
    _view_name = traitlets.Unicode("AnyView").tag(sync=True)
    _anywidget_id = traitlets.Unicode("kit.form.Access").tag(sync=True)
    _esm = traitlets.Unicode(
        _short(resources.files(__package__).joinpath("access.js").read_text("utf-8"))
    ).tag(sync=True)

    def __init__(self, typed: Typed, **traits: Any) -> None:
        super().__init__(_dom_classes=("kit-access",), **traits)
        self._typed = typed
        self.on_msg(self._hear)

    def __repr__(self) -> str:
        return "<Access>"

    def _hear(self, _: Any, message: Any, __: Any) -> None:
        match message:
            case {"field": int(field), "text": str(text), "used": str(used)}:
                self._typed(field, text, used)
