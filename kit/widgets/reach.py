"""Reach: a widget by keyboard and by screen reader, where ipywidgets leaves that to the page.

In JupyterLab the arrows of a list move to another cell, the handle of a slider has no name, and a
button that goes away takes the focus along. The script beside this file sees to these, in the
widget that it is put into.
"""

from __future__ import annotations

import ipywidgets

from kit.widgets.script import PageScript, name, script


class Reach(PageScript):
    """Sees to keys, names and focus in the box that it is a child of; it shows nothing.

    What an `ipywidgets.HTML` with the class ``kit-said`` shows is announced when it changes; a
    `Tab` with the class ``kit-tabs`` has its ``kit-page`` boxes named after their tabs.

    Examples
    --------
    >>> box = ipywidgets.VBox([ipywidgets.Dropdown(options=["a", "b"]), Reach()])
    >>> box.children[1]
    <Reach>
    """

    _anywidget_id = name("kit.widgets.Reach")
    _esm = script(__package__, "reach.js")

    def __init__(self) -> None:
        super().__init__(layout=ipywidgets.Layout(display="none"))
