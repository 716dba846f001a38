"""The panel: the whole application in one widget, page by page.

Importing this loads ipywidgets.
"""

from kit.widgets.panel.pages import Bench, Catalog, page
from kit.widgets.panel.panel import Book, Page, Panel

__all__ = ["Bench", "Book", "Catalog", "Page", "Panel", "page"]
