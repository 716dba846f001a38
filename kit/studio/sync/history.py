"""The blocking history of a studio, with a table to look through it.

Made from the awaited face by `tests/sync_face.py`: change that one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from kit.errors import NotFoundError
from kit.explore.history.sync import History
from kit.studio.generation import BaseGeneration, Session
from kit.studio.history_sync import ProgressLine
from kit.studio.sync.generation import Generation

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from kit.client.sync import Client
    from kit.explore.archive import Archive
    from kit.explore.filters import HistoryFilter
    from kit.explore.syncing import Synced
    from kit.widgets.table import HistoryTable


class LocalHistory:
    """The history of an account on this computer, and how it is brought up to date."""

    def __init__(self, session: Session[Any]) -> None:
        self._client = cast("Client", session.client)
        self._history_sync = session.operations.history_sync
        self._progress = session.operations.progress

    def sync(self, *, show: bool) -> Synced:
        """Bring the archive up to date."""
        with ProgressLine(self._progress, show="history" if show else None) as tell:
            return self._client.run(self._history_sync.sync(partial(tell, "history")))

    def archive(self) -> Archive:
        """Return the archive as it is."""
        return self._client.run(self._history_sync.archive())

    def newest(self, limit: int, choice: HistoryFilter) -> pa.Table:
        """Return the newest generations of a choice, from the service."""
        return self._client.run(self._history_sync.newest(limit, choice))


@dataclass(frozen=True, slots=True, repr=False)
class StudioHistory(History[Generation]):
    """The account's generations, newest first, with a table to choose from."""

    session: Session[Generation] = field(kw_only=True)

    def __len__(self) -> int:
        """Return how many generations there are, after a look at the service."""
        client = cast("Client", self.session.client)
        return len(client.wait_for(self.frame(columns=["status"])))

    def __bool__(self) -> bool:
        return True  # whether it is there, and not how long it is

    def __contains__(self, generation: object) -> bool:
        """Whether a generation, or the one of an id, is the account's."""
        name = generation.id if isinstance(generation, BaseGeneration) else generation
        try:
            self.session.client.block(self.session.operations.get(str(name)))
        except NotFoundError:
            return False
        return True

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
        from kit.studio.views import history_table

        if frame is not None:
            return history_table(self.session, frame, size)
        client = cast("Client", self.session.client)

        def renew() -> pd.DataFrame:
            """Return the frame as it is now; called on a thread, which may block."""
            return client.wait_for(self.frame(limit, **filters))

        return history_table(self.session, self.frame(limit, **filters), size, renew)
