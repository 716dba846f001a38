"""Page scripts: what a box of widgets needs in its page, and ipywidgets does not provide.

In the page such a widget is one of anywidget's. Its Python half is not used: loading it takes
longer than a form does, and so would creating a class for each widget.
"""

from __future__ import annotations

import re
from importlib import resources
from typing import Any

import ipywidgets
import traitlets

_SCRIPTS = ("shortcuts.js", "focus.js", "kernel.js", "clicks.js", "polling.js", "accessibility.js")


class PageScript(ipywidgets.DOMWidget):
    """A script in the page, for the box whose child it is; it is invisible.

    Subclasses have an ``_anywidget_id`` and an ``_esm``, created by `script`.
    """

    #: The id of the box, which the script uses to find everything in it.
    box = traitlets.Unicode().tag(sync=True)
    #: Whether the page triggers checks for changes.
    follows = traitlets.Bool(False).tag(sync=True)

    _model_module = traitlets.Unicode("anywidget").tag(sync=True)
    _model_module_version = traitlets.Unicode("*").tag(sync=True)
    _model_name = traitlets.Unicode("AnyModel").tag(sync=True)
    _view_module = traitlets.Unicode("anywidget").tag(sync=True)
    _view_module_version = traitlets.Unicode("*").tag(sync=True)
    _view_name = traitlets.Unicode("AnyView").tag(sync=True)

    def __init__(self, **traits: Any) -> None:
        super().__init__(_dom_classes=("kit-page-script",), **traits)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


def script(package: str, *files: str) -> traitlets.Unicode[str, str]:
    """Return a trait with several scripts as one, without spaces and comments, as it is sent."""
    text = "".join((resources.files(package) / one).read_text("utf-8") for one in files)
    lines = re.sub(r"^ *//.*\n|^\s+| +// .*", "", text, flags=re.MULTILINE)
    compact = re.sub(r" (=>|!?=+|&&|\|\|) |(?<=\{) | (?=\})", r"\1", lines)
    return traitlets.Unicode(compact).tag(sync=True)


class Accessibility(PageScript):
    """Adds shortcuts, names and focus to the box whose child it is; it is invisible.

    Messages ``{"say": text}`` and changes of an `ipywidgets.HTML` with the class ``kit-status`` are
    announced, and one with the class ``kit-field-note`` describes the widget before it. In a `Tab`
    with the class ``kit-tabs``, boxes with the class ``kit-page`` are named after their tabs.
    """

    _anywidget_id = traitlets.Unicode("kit.widgets.Accessibility").tag(sync=True)
    _esm = script(__package__, *_SCRIPTS)
