"""The history that is awaited; its twin says what each name does."""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from kit.explore.asked import Moment, Words, asked
from kit.explore.history.asking import AsyncKept, G, framed, listed

if TYPE_CHECKING:
    import pandas as pd

    from kit.explore.syncing import Synced

T = TypeVar("T")


@dataclass(frozen=True, slots=True, repr=False)
class AsyncHistory(Generic[G]):
    """The awaited twin of `History`: ``await history[id]``, ``async for``."""

    get: Callable[[str], Awaitable[G]]
    pages: Callable[[Mapping[str, Any]], AsyncIterator[Sequence[G]]]
    started: Callable[[], Awaitable[list[G]]]
    receipts: Callable[[], Mapping[str, Decimal]]
    kept: AsyncKept

    def __repr__(self) -> str:
        return "<History of generations>"

    def __getitem__(self, generation_id: str) -> Awaitable[G]:
        return self.get(generation_id)

    async def __aiter__(self) -> AsyncIterator[G]:
        async for page in self.pages({}):
            for item in page:
                yield item

    async def list(self, limit: int | None = 50, **filters: Any) -> builtins.list[G]:
        """Return the newest generations, at most `limit`; None asks for all."""
        found: builtins.list[G] = []
        async for page in self.pages(listed(limit, filters)):
            found += page
            if limit is not None and len(found) >= limit:
                break
        return found[:limit]

    async def sync(self) -> Synced:
        """Bring the history on this computer up to date and return what that brought."""
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
        """Return generations as a table, newest first; see `History.frame`."""
        choice = asked(since=since, until=until, status=status, model=model, **filters)
        if limit is not None:
            return framed(await self.kept.newest(limit, choice), columns, parameters, media)
        if fresh:
            await self.kept.sync(show=False)
        find = (await self.kept.archive()).frame
        return await _apart(find, choice, columns, parameters=parameters, media=media)

    async def sql(self, query: str, **tables: Any) -> pd.DataFrame:
        """Return what a query in DuckDB's SQL finds in the table ``generations``."""
        return await _apart((await self.kept.archive()).sql, query, **tables)

    async def export(
        self, path: Path | str, *, columns: Sequence[str] | None = None, **filters: Any
    ) -> Path:
        """Write the history of the last `sync` to a ``.parquet`` or ``.csv`` file."""
        write = (await self.kept.archive()).export
        return await _apart(write, path, asked(**filters), columns)

    async def files(self) -> builtins.list[str]:
        """Return the Parquet files of the last `sync`, for larger machinery."""
        return (await self.kept.archive()).files()

    async def pending(self) -> builtins.list[G]:
        """Return what this computer started and has not seen end yet, oldest first.

        What ended in the meantime, while no kernel ran, is among them once: ``wait()`` fetches it.
        """
        return await self.started()


async def _apart(work: Callable[..., T], *given: Any, **named: Any) -> T:
    """Run what reads or writes files on a thread; asyncio is not loaded before it is needed."""
    import asyncio

    return await asyncio.to_thread(work, *given, **named)
