"""The history: what was generated, page by page, and as a table.

It asks through functions that it is given, so it knows no client; the awaited twin's functions
return awaitables instead.
"""

from __future__ import annotations

import builtins
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from kit import wire

if TYPE_CHECKING:
    import pandas as pd


class Item(Protocol):
    """Whatever holds a generation's facts."""

    @property
    def facts(self) -> wire.Generation:
        """The generation as the service last reported it."""


G = TypeVar("G", bound=Item)

#: What the filters of a list may be called. Source: contract, "Generations".
FILTERS = ("status", "asset_type", "model_id", "created_after", "created_before")


@dataclass(frozen=True, slots=True, repr=False)
class History(Generic[G]):
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
    """

    get: Callable[[str], G]
    pages: Callable[[Mapping[str, Any]], Iterator[Sequence[G]]]
    started: Callable[[], list[G]]
    receipts: Callable[[], Mapping[str, Decimal]]

    def __repr__(self) -> str:
        return "<History of generations>"

    def __getitem__(self, generation_id: str) -> G:
        return self.get(generation_id)

    def __iter__(self) -> Iterator[G]:
        for page in self.pages({}):
            yield from page

    def list(self, limit: int | None = 50, **filters: Any) -> builtins.list[G]:
        """Return the newest generations, at most `limit`; None asks for all.

        Filters are `FILTERS`; a service that does not know them answers without them.
        """
        found: builtins.list[G] = []
        for page in self.pages(_query(limit, filters)):
            found += page
            if limit is not None and len(found) >= limit:
                break
        return found[:limit]

    def frame(self, limit: int | None = 50, **filters: Any) -> pd.DataFrame:
        """Return the newest generations as a table; see `kit.explore.frames.generations`."""
        from kit.explore import frames

        items = self.list(limit, **filters)
        return frames.generations([item.facts for item in items], self.receipts())

    def pending(self) -> builtins.list[G]:
        """Return what this computer started and what still runs, oldest first."""
        return self.started()


@dataclass(frozen=True, slots=True, repr=False)
class AsyncHistory(Generic[G]):
    """The awaited twin of `History`: ``await history[id]``, ``async for``."""

    get: Callable[[str], Awaitable[G]]
    pages: Callable[[Mapping[str, Any]], AsyncIterator[Sequence[G]]]
    started: Callable[[], Awaitable[list[G]]]
    receipts: Callable[[], Mapping[str, Decimal]]

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
        async for page in self.pages(_query(limit, filters)):
            found += page
            if limit is not None and len(found) >= limit:
                break
        return found[:limit]

    async def frame(self, limit: int | None = 50, **filters: Any) -> pd.DataFrame:
        """Return the newest generations as a table; see `kit.explore.frames.generations`."""
        from kit.explore import frames

        items = await self.list(limit, **filters)
        return frames.generations([item.facts for item in items], self.receipts())

    async def pending(self) -> builtins.list[G]:
        """Return what this computer started and what still runs, oldest first."""
        return await self.started()


def _query(limit: int | None, filters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the query of a list; the default limit is not sent, services without one refuse it."""
    for name in filters:
        if name not in FILTERS:
            raise TypeError(f"there is no filter {name!r}; there is {', '.join(FILTERS)}")
    return {**filters, "limit": None if limit == 50 else min(limit or 1000, 1000)}
