"""The history: what was generated, page by page, as a table, and kept on this computer.

It asks through functions that it is given, so it knows no client.
"""

from __future__ import annotations

from kit.explore.history.aio import AsyncHistory
from kit.explore.history.queries import FILTERS, Item
from kit.explore.history.sync import History

__all__ = ["FILTERS", "AsyncHistory", "History", "Item"]
