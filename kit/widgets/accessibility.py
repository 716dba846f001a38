"""Scripts: what a box of widgets needs of its page, and ipywidgets does not give it.

In the page such a widget is one of anywidget's. Its half in the kernel is not needed for this:
loading that takes longer than a form does, and so would making a class for each widget.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import resources
from typing import Any

import ipywidgets
import traitlets


class PageScript(ipywidgets.DOMWidget):
    """A script in the page, in the box that it is a child of; it shows nothing.

    A kind of it has an ``_anywidget_id`` and, by `script`, an ``_esm``.
    """

    #: The id of that box, by which the script finds all that is in it.
    box = traitlets.Unicode().tag(sync=True)
    #: Whether the page has it look for changes; see `follow`.
    follows = traitlets.Bool(False).tag(sync=True)

    _model_module = traitlets.Unicode("anywidget").tag(sync=True)
    _model_module_version = traitlets.Unicode("*").tag(sync=True)
    _model_name = traitlets.Unicode("AnyModel").tag(sync=True)
    _view_module = traitlets.Unicode("anywidget").tag(sync=True)
    _view_module_version = traitlets.Unicode("*").tag(sync=True)
    _view_name = traitlets.Unicode("AnyView").tag(sync=True)

    def __init__(self, **traits: Any) -> None:
        super().__init__(_dom_classes=("kit-page-script",), **traits)

    def follow(
        self, look: Callable[[], None] | None, pause: Callable[[bool], None] = lambda _: None
    ) -> None:
        """Have what looks for others' changes called again and again while the box is seen.

        `pause`: is told when no page has the box any more, as after its cell was run again, and
        when one has it again.
        """
        pages = 0

        def receive(_: Any, message: Any, __: Any) -> None:
            nonlocal pages
            if look is not None and message == {"look": True}:
                look()
            if message in ({"pages": 1}, {"pages": -1}):
                pages += message["pages"]
                pause(pages <= 0)

        self.follows = look is not None
        self.on_msg(receive)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


def script(package: str, *files: str) -> traitlets.Unicode[str, str]:
    """Return the trait that holds scripts as one, without space and comments: widgets send it."""
    text = "".join((resources.files(package) / one).read_text("utf-8") for one in files)
    short = re.sub(r"^ *//.*\n|^\s+| +// .*", "", text, flags=re.MULTILINE)
    return traitlets.Unicode(re.sub(r" (=>|=+|&&|\|\|) ", r"\1", short)).tag(sync=True)


class Accessibility(PageScript):
    """Sees to keys, names and focus in the box that it is a child of; it shows nothing.

    What an `ipywidgets.HTML` with the class ``kit-status`` shows is announced when it changes, and
    one with the class ``kit-field-note`` describes the widget before it. A `Tab` with the class
    ``kit-tabs`` has its ``kit-page`` boxes named after their tabs.
    """

    _anywidget_id = traitlets.Unicode("kit.widgets.Accessibility").tag(sync=True)
    _esm = script(__package__, "shortcuts.js", "focus.js", "clicks.js", "following.js", "reach.js")
