"""The history of a studio: that of `kit.explore.history`, with a table to look through it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kit.explore.history import AsyncHistory, History
from kit.studio.generation import AsyncGeneration, Generation

if TYPE_CHECKING:
    import pandas as pd

    from kit.widgets.table import HistoryTable

    Renew = Callable[[], pd.DataFrame]
    Show = Callable[[pd.DataFrame, int, Renew | None], HistoryTable]


@dataclass(frozen=True, slots=True, repr=False)
class StudioHistory(History[Generation]):
    """The account's generations, newest first, with a table to choose from.

    Parameters
    ----------
    show : callable
        Makes a table of a frame, a number of rows a page, and what returns the frame anew.
    """

    show: Show = field(kw_only=True)

    def table(
        self,
        limit: int | None = None,
        *,
        frame: pd.DataFrame | None = None,
        size: int = 20,
        **filters: Any,
    ) -> HistoryTable:
        """Return a table of the history: sort, filter, turn pages and choose in it.

        Parameters
        ----------
        limit : int, optional
            Only the newest; otherwise all of them. Filters are those of `frame`.
        frame : DataFrame, optional
            A history frame to show instead of asking; a million rows are fine.
        size : int
            Rows a page.

        Examples
        --------
        ``table = studio.history.table(status="completed")`` and then ``table.selected``
        """
        if frame is not None:
            return self.show(frame, size, None)

        def renew() -> pd.DataFrame:
            return self.frame(limit, **filters)

        return self.show(renew(), size, renew)


@dataclass(frozen=True, slots=True, repr=False)
class AsyncStudioHistory(AsyncHistory[AsyncGeneration]):
    """The awaited twin of `StudioHistory`."""

    show: Show = field(kw_only=True)

    async def table(
        self,
        limit: int | None = None,
        *,
        frame: pd.DataFrame | None = None,
        size: int = 20,
        **filters: Any,
    ) -> HistoryTable:
        """Return a table of the history: sort, filter, turn pages and choose in it."""
        import asyncio

        if frame is not None:
            return self.show(frame, size, None)
        loop = asyncio.get_running_loop()

        def renew() -> pd.DataFrame:
            """Return the frame as it is now; called on a thread, while the loop is free."""
            return asyncio.run_coroutine_threadsafe(self.frame(limit, **filters), loop).result()

        return self.show(await self.frame(limit, **filters), size, renew)
