"""The panel: the whole application in one widget, page by page.

Importing this loads ipywidgets.
"""

from kit.widgets.panel.pages import CreatePage, ModelPage, needs_a_file, page
from kit.widgets.panel.panel import PageSet, Panel, PanelPage

__all__ = ["CreatePage", "ModelPage", "PageSet", "Panel", "PanelPage", "needs_a_file", "page"]
