"""Reach: a widget by keyboard and by screen reader, where ipywidgets leaves that to the page.

In JupyterLab the arrows of a list move to another cell, the handle of a slider has no name, and a
button that goes away takes the focus along. The script beside this file sees to these, in the
widget that it is put into.
"""

from __future__ import annotations

from importlib import resources

import ipywidgets
import traitlets


class Reach(ipywidgets.DOMWidget):
    """Sees to keys, names and focus in the box that it is a child of; it shows nothing.

    What an `ipywidgets.HTML` with the class ``kit-said`` shows is announced when it changes; a
    `Tab` with the class ``kit-tabs`` has its ``kit-page`` boxes named after their tabs. In the
    page it is one of anywidget's, whose half in the kernel is not needed for this.

    Examples
    --------
    >>> box = ipywidgets.VBox([ipywidgets.Dropdown(options=["a", "b"]), Reach()])
    >>> box.children[1]
    <Reach>
    """

    _model_module = traitlets.Unicode("anywidget").tag(sync=True)
    _model_module_version = traitlets.Unicode("*").tag(sync=True)
    _model_name = traitlets.Unicode("AnyModel").tag(sync=True)
    _view_module = traitlets.Unicode("anywidget").tag(sync=True)
    _view_module_version = traitlets.Unicode("*").tag(sync=True)
    _view_name = traitlets.Unicode("AnyView").tag(sync=True)
    _anywidget_id = traitlets.Unicode("kit.widgets.Reach").tag(sync=True)
    _esm = traitlets.Unicode(
        resources.files(__package__).joinpath("reach.js").read_text("utf-8")
    ).tag(sync=True)

    def __init__(self) -> None:
        super().__init__(layout=ipywidgets.Layout(display="none"))

    def __repr__(self) -> str:
        return "<Reach>"
