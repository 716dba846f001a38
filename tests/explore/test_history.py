from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

from kit import wire
from kit.explore.history import AsyncHistory, History


@dataclass
class Item:
    facts: wire.Generation


ITEMS = [Item(wire.Generation(id=name, model_id="m")) for name in "edcba"]


class Source:
    """Pages of two; it notes how many were asked for, and with which query."""

    def __init__(self) -> None:
        self.queries: list[Mapping[str, Any]] = []
        self.fetched = 0

    def get(self, name: str) -> Item:
        return next(item for item in ITEMS if item.facts.id == name)

    def pages(self, query: Mapping[str, Any]) -> Iterator[list[Item]]:
        self.queries.append(query)
        for start in range(0, len(ITEMS), 2):
            self.fetched += 1
            yield ITEMS[start : start + 2]

    def started(self) -> list[Item]:
        return ITEMS[:1]

    def receipts(self) -> dict[str, Decimal]:
        return {"e": Decimal("0.5")}

    def history(self) -> History[Item]:
        return History(self.get, self.pages, self.started, self.receipts)

    def awaited(self) -> AsyncHistory[Item]:
        async def get(name: str) -> Item:
            return self.get(name)

        async def pages(query: Mapping[str, Any]) -> AsyncIterator[list[Item]]:
            for page in self.pages(query):
                yield page

        async def started() -> list[Item]:
            return self.started()

        return AsyncHistory(get, pages, started, self.receipts)


def names(items: list[Item]) -> str:
    return "".join(item.facts.id for item in items)


@pytest.fixture
def source() -> Source:
    return Source()


def test_iterating_goes_through_all_pages(source: Source) -> None:
    assert names(list(source.history())) == "edcba"


def test_a_list_fetches_no_more_than_it_needs(source: Source) -> None:
    assert names(source.history().list(3)) == "edc"
    assert source.fetched == 2


def test_no_limit_means_all(source: Source) -> None:
    assert names(source.history().list(None)) == "edcba"


def test_only_a_limit_that_was_asked_for_is_sent(source: Source) -> None:
    history = source.history()
    for limit in (50, 7, 5000, None):
        history.list(limit, model_id="m")

    assert [q["limit"] for q in source.queries] == [None, 7, 1000, 1000]
    assert {q["model_id"] for q in source.queries} == {"m"}


def test_an_unknown_filter_is_named(source: Source) -> None:
    with pytest.raises(TypeError, match="no filter 'model'; there is status, asset_type, model_id"):
        source.history().list(model="m")


def test_one_is_found_by_its_id(source: Source) -> None:
    assert source.history()["c"] is ITEMS[2]


def test_receipts_fill_the_frame(source: Source) -> None:
    frame = source.history().frame(2)

    assert frame["credits_source"].tolist() == ["receipt", "unknown"]
    assert frame.index.tolist() == ["e", "d"]


def test_what_runs_is_pending(source: Source) -> None:
    assert source.history().pending() == ITEMS[:1]


def test_the_awaited_twin_gives_the_same(source: Source) -> None:
    history = source.awaited()

    async def cell() -> tuple[Any, ...]:
        return (
            names([item async for item in history]),
            names(await history.list(3)),
            (await history["c"]).facts.id,
            (await history.frame(2)).index.tolist(),
            names(await history.pending()),
        )

    assert asyncio.run(cell()) == ("edcba", "edc", "c", ["e", "d"], "e")
