"""The panel: the whole application in one widget, page by page.

Importing this loads ipywidgets.
"""

from kit.widgets.panel.pages import Bench, ModelPage, page
from kit.widgets.panel.panel import Book, Panel, PanelPage

__all__ = ["Bench", "Book", "ModelPage", "Panel", "PanelPage", "page"]
