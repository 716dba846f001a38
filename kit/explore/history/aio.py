"""The awaited history: what was generated, page by page, as a table, and on this computer.

The blocking face is made from this module by `tests/sync_face.py`.
"""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, overload

from kit.explore.filters import Moment, Words, parse_filter
from kit.explore.history.queries import G, list_query, to_frame

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from kit.explore.archive import Archive
    from kit.explore.filters import HistoryFilter
    from kit.explore.syncing import Synced


class AsyncHistoryStore(Protocol):
    """What keeps a history on this computer."""

    async def sync(self, *, show: bool) -> Synced:
        """Bring the archive up to date, with a line of progress if `show`."""

    async def archive(self) -> Archive:
        """Return the archive as it is."""

    async def newest(self, limit: int, choice: HistoryFilter) -> pa.Table:
        """Return the newest generations of a choice, from the service."""


@dataclass(frozen=True, slots=True, repr=False)
class AsyncHistory(Generic[G]):
    """The account's generations, newest first.

    Parameters
    ----------
    get : callable
        Returns one generation by its id.
    pages : callable
        Takes the filters and yields lists of generations.
    started : callable
        Returns the ids that this computer started and that are not known to have ended.
    receipts : callable
        Returns what starts were charged, by id.
    kept : HistoryStore
        The archive on this computer and how it is brought up to date.

    Examples
    --------
    ``studio.history.sync()``, then ``studio.history.sql("select model_id, sum(net) from generations
    group by all")`` or ``studio.history.frame(since="2026-01-01", status="completed")``
    """

    get: Callable[[str], Awaitable[G]]
    pages: Callable[[Mapping[str, Any]], AsyncIterator[Sequence[G]]]
    started: Callable[[], Awaitable[list[G]]]
    receipts: Callable[[], Mapping[str, Decimal]]
    kept: AsyncHistoryStore

    def __repr__(self) -> str:
        return "<History of generations>"

    @overload
    def __getitem__(self, which: str | int) -> Awaitable[G]: ...
    @overload
    def __getitem__(self, which: slice) -> Awaitable[builtins.list[G]]: ...
    def __getitem__(self, which: str | int | slice) -> Awaitable[G | builtins.list[G]]:
        """Return the generation of an id, or those of positions, the newest being the first."""
        return self.get(which) if isinstance(which, str) else self._at(which)

    async def __aiter__(self) -> AsyncIterator[G]:
        async for page in self.pages({}):
            for item in page:
                yield item

    async def _at(self, which: int | slice) -> G | builtins.list[G]:
        if isinstance(which, slice):
            ends = which.stop
            steps = (which.start, which.stop, which.step)
            forward = ends is not None and all(step is None or step >= 0 for step in steps)
            return (await self.list(ends if forward else None))[which]
        found = await self.list(which + 1 if which >= 0 else None)
        try:
            return found[which]
        except IndexError:
            raise IndexError(f"there are {len(found)} generations, and none at {which}") from None

    async def list(self, limit: int | None = 50, **filters: Any) -> builtins.list[G]:
        """Return the newest generations, at most `limit`; None asks for all.

        Filters are `FILTERS`; a service that does not know them answers without them.
        """
        found: builtins.list[G] = []
        async for page in self.pages(list_query(limit, filters)):
            found += page
            if limit is not None and len(found) >= limit:
                break
        return found[:limit]

    async def sync(self) -> Synced:
        """Bring the history on this computer up to date and return what that brought.

        The first time fetches everything, later times what is new or was unfinished. It may be
        interrupted and goes on where it was; two notebooks may sync at once. Finished generations
        lie in the data folder as Parquet files, one folder for a service and an account.
        """
        return await self.kept.sync(show=True)

    async def frame(
        self,
        limit: int | None = None,
        *,
        since: Moment | None = None,
        until: Moment | None = None,
        status: Words | None = None,
        model: Words | None = None,
        columns: Sequence[str] | None = None,
        parameters: bool = False,
        media: bool = False,
        fresh: bool = True,
        **filters: Any,
    ) -> pd.DataFrame:
        """Return generations as a table, newest first; see `kit.explore.schema.GENERATIONS`.

        Parameters
        ----------
        limit : int, optional
            Ask the service for this many and no more. Without it the table is made of the history
            on this computer, after a `sync`.
        since, until : str, date or datetime, optional
            Made at or after, made before; without a zone in UTC.
        status, model : str or sequence of str, optional
            One or several.
        columns : sequence of str, optional
            Only these; ``parameters.NAME`` and ``media.NAME`` as well.
        parameters, media : bool
            Whether each parameter, each input file becomes a column too.
        fresh : bool
            False takes the history as the last sync left it, without a look at the service.
        **filters
            Those of `list`.

        Raises
        ------
        BadRequestError
            There is no such column, or a moment is none.
        """
        choice = parse_filter(since=since, until=until, status=status, model=model, **filters)
        if limit is not None:
            return to_frame(await self.kept.newest(limit, choice), columns, parameters, media)
        if fresh:
            await self.kept.sync(show=False)
        import asyncio

        find = (await self.kept.archive()).frame
        return await asyncio.to_thread(find, choice, columns, parameters=parameters, media=media)

    async def sql(self, query: str, **tables: Any) -> pd.DataFrame:
        """Return what a query in DuckDB's SQL finds in the table ``generations``.

        It reads what the last `sync` left on this computer; the service is not asked.

        Parameters
        ----------
        **tables : DataFrame or pyarrow.Table
            More tables, by name, to join.

        Raises
        ------
        BadRequestError
            The query is wrong; the message is DuckDB's.

        Examples
        --------
        ``history.sql("select parameters->>'resolution' as size, avg(net) from generations group by
        all")``
        """
        import asyncio

        find = (await self.kept.archive()).sql
        return await asyncio.to_thread(find, query, **tables)

    async def export(
        self, path: Path | str, *, columns: Sequence[str] | None = None, **filters: Any
    ) -> Path:
        """Write the history of the last `sync` to a ``.parquet`` or ``.csv`` file.

        Parameters
        ----------
        **filters
            As in `frame`: since, until, status, model.
        """
        import asyncio

        write = (await self.kept.archive()).export
        return await asyncio.to_thread(write, path, parse_filter(**filters), columns)

    async def files(self) -> builtins.list[str]:
        """Return the Parquet files of the last `sync`, for larger machinery.

        On one machine ``sql`` is the fastest; ``dask.dataframe.read_parquet(history.files())`` runs
        on a cluster that sees the same disk.
        """
        return (await self.kept.archive()).files()

    async def pending(self) -> builtins.list[G]:
        """Return what this computer started and has not seen end yet, oldest first.

        What ended in the meantime, while no kernel ran, is among them once: ``wait()`` fetches it.
        """
        return await self.started()
