"""The history's table: pages of a frame with thumbnails, to look through and to choose from.

A frame may have a million rows: a page is cut out of it where it lies, and only the page travels.
"""

from kit.widgets.table.rows import TableView
from kit.widgets.table.table import HistoryTable

__all__ = ["HistoryTable", "TableView"]
