"""The history: what was generated, page by page, as a table, and kept on this computer.

It asks through functions that it is given, so it knows no client; the awaited twin's functions
return awaitables instead.
"""

from __future__ import annotations

from kit.explore.history.asking import FILTERS, AsyncKept, Item, Kept
from kit.explore.history.awaited import AsyncHistory
from kit.explore.history.blocking import History

__all__ = ["FILTERS", "AsyncHistory", "AsyncKept", "History", "Item", "Kept"]
