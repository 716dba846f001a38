"""The history's table: pages of a frame with thumbnails, to look through and to choose from.

A frame may have a million rows: a page is cut out of it where it lies, and only the page travels.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kit.widgets.table.rows import TableView
    from kit.widgets.table.table import HistoryTable

__all__ = ["HistoryTable", "TableView"]

_WHERE = {"HistoryTable": "kit.widgets.table.table", "TableView": "kit.widgets.table.rows"}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'kit.widgets.table' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)
