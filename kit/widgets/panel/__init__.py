"""The panel: the whole application in one widget, page by page.

Importing this loads ipywidgets.
"""

from kit.widgets.panel.pages import Bench, Catalog, page
from kit.widgets.panel.panel import Page, Panel

__all__ = ["Bench", "Catalog", "Page", "Panel", "page"]
