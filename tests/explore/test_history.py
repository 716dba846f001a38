from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from kit import wire
from kit.errors import BadRequestError, NoAnswerError
from kit.explore import pages
from kit.explore.archive import Archive
from kit.explore.filters import HistoryFilter
from kit.explore.history import AsyncHistory, History
from kit.explore.store import Store
from kit.explore.syncing import Synced, synced
from tests.explore.pretending import Service, driven


@dataclass
class Item:
    facts: wire.Generation


ITEMS = [Item(wire.Generation(id=name, model_id="m")) for name in "edcba"]


class Source:
    """Pages of two; it notes how many were asked for, and with which query."""

    def __init__(self, folder: Path) -> None:
        self.queries: list[Mapping[str, Any]] = []
        self.fetched = 0
        self.service = Service()
        self.store = Store(folder)
        self.shown: list[bool] = []

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

    def sync(self, *, show: bool) -> Synced:
        self.shown.append(show)
        found: Synced = driven(synced(self.store, self.service))
        return found

    def archive(self) -> Archive:
        return Archive(self.store)

    def newest(self, limit: int, choice: HistoryFilter) -> pa.Table:
        rows = pages.make_table([item.facts for item in ITEMS])
        return choice.matching(rows).slice(0, limit)

    def history(self) -> History[Item]:
        return History(self.get, self.pages, self.started, self.receipts, self)

    def awaited(self) -> AsyncHistory[Item]:
        async def get(name: str) -> Item:
            return self.get(name)

        async def pages(query: Mapping[str, Any]) -> AsyncIterator[list[Item]]:
            for page in self.pages(query):
                yield page

        async def started() -> list[Item]:
            return self.started()

        return AsyncHistory(get, pages, started, self.receipts, Awaited(self))


class Awaited:
    """The awaited twin of what a source keeps."""

    def __init__(self, source: Source) -> None:
        self._source = source

    async def sync(self, *, show: bool) -> Synced:
        return self._source.sync(show=show)

    async def archive(self) -> Archive:
        return self._source.archive()

    async def newest(self, limit: int, choice: HistoryFilter) -> pa.Table:
        return self._source.newest(limit, choice)


def names(items: list[Item]) -> str:
    return "".join(item.facts.id for item in items)


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(tmp_path / "history")


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
    with pytest.raises(TypeError, match="no filter 'stat'"):
        source.history().frame(stat="m")


def test_one_is_found_by_its_id(source: Source) -> None:
    assert source.history()["c"] is ITEMS[2]


def test_a_frame_with_a_limit_comes_from_the_service(source: Source) -> None:
    frame = source.history().frame(2, columns=["status"])

    assert frame.index.tolist() == ["e", "d"]
    assert frame.columns.tolist() == ["status"]
    assert not source.store.folder.exists()


def test_a_frame_without_a_limit_is_all_and_up_to_date(source: Source) -> None:
    history = source.history()
    source.service.make(7)
    first = len(history.frame())
    source.service.make(1)

    assert (first, len(history.frame()), len(history.frame(model="a"))) == (7, 8, 4)
    assert source.shown == [False, False, False]


def test_a_frame_may_be_as_old_as_the_last_sync(source: Source) -> None:
    history = source.history()
    source.service.make(7)
    history.sync()
    source.service.breaks = 0
    with pytest.raises(NoAnswerError):
        history.frame()

    assert len(history.frame(fresh=False)) == 7
    assert source.shown == [True, False]


def test_what_was_synced_is_there_as_sql_and_as_files(source: Source, tmp_path: Path) -> None:
    history = source.history()
    source.service.make(3)
    history.sync()

    assert history.sql("select count(*) n from generations")["n"].tolist() == [3]
    assert history.export(tmp_path / "out.csv", model="a", columns=["net"]).read_text() == (
        "id,net\ng0002,0.5\ng0000,0.5\n"
    )
    assert [Path(path).suffix for path in history.files()] == [".parquet"]


def test_a_wrong_column_is_a_sentence_either_way(source: Source) -> None:
    for limit in (1, None):
        with pytest.raises(BadRequestError, match="there is no column 'nope'"):
            source.history().frame(limit, columns=["nope"])


def test_what_runs_is_pending(source: Source) -> None:
    assert source.history().pending() == ITEMS[:1]


def test_the_awaited_twin_gives_the_same(source: Source, tmp_path: Path) -> None:
    history = source.awaited()
    source.service.make(3)

    async def cell() -> tuple[Any, ...]:
        return (
            names([item async for item in history]),
            names(await history.list(3)),
            (await history["c"]).facts.id,
            (await history.frame(2)).index.tolist(),
            names(await history.pending()),
            (await history.sync()).rows,
            len(await history.frame(status="completed")),
            (await history.sql("select count(*) n from generations"))["n"].tolist(),
            (await history.export(tmp_path / "out.parquet")).exists(),
            len(await history.files()),
        )

    assert asyncio.run(cell()) == ("edcba", "edc", "c", ["e", "d"], "e", 3, 3, [3], True, 1)


# ── by position ──────────────────────────────────────────────────────────────────────────────────


def test_positions_count_from_the_newest(source: Source) -> None:
    history = source.history()

    assert history[0].facts.id == "e"
    assert history[3].facts.id == "b"
    assert history[-1].facts.id == "a"
    assert history["c"].facts.id == "c"
    with pytest.raises(IndexError, match="there are 5 generations, and none at 7"):
        history[7]


def test_slices_are_those_of_a_list_and_ask_for_no_more_than_they_need(source: Source) -> None:
    history = source.history()

    assert names(history[:3]) == "edc"
    assert source.fetched == 2
    assert names(history[1:2]) == "d"
    assert names(history[-2:]) == "ba"
    assert names(history[::-1]) == "abcde"
    assert history[9:] == []
