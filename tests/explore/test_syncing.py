from __future__ import annotations

import threading
from collections.abc import Generator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from kit import wire
from kit.errors import NoAnswerError
from kit.explore.archive import Archive
from kit.explore.store import Gap, Store
from kit.explore.syncing import Page, Synced, sync_generations, sync_usage
from tests.explore.fake_service import Service, driven


@pytest.fixture
def service() -> Service:
    return Service()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "history")


def sync(store: Store, service: Service, **given: Any) -> Synced:
    service.asked.clear()
    found: Synced = driven(sync_generations(store, service, **given))
    return found


def kept(store: Store) -> list[str]:
    ids = Archive(store).sql("select id from generations order by id")["id"].tolist()
    assert len(ids) == len(set(ids))
    return ids


def test_the_first_sync_brings_everything(store: Store, service: Service) -> None:
    ids = service.make(10)

    assert repr(sync(store, service)) == "<Synced 10 new · 0 running · 10 kept>"
    assert kept(store) == ids
    assert len(service.asked) == 4


def test_odd_records_cost_themselves_alone_and_are_told_once(
    store: Store, service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    ids = service.make(10)
    for item in service.known[::3]:
        item |= {"createdAt": "soon", "creditsCharged": "a lot"}
    service.known[1]["status"] = []

    assert sync(store, service).added == 9
    assert kept(store) == [known for known in ids if known != ids[1]]
    [told] = [record.getMessage() for record in caplog.records]
    assert "left out (1)" in told
    assert "createdAt (4)" in told
    assert "creditsCharged (4)" in told


def test_a_later_sync_asks_only_for_what_is_new(store: Store, service: Service) -> None:
    service.make(10)
    sync(store, service)
    new = service.make(1)
    found = sync(store, service)

    assert (found.added, found.rows, len(service.asked)) == (1, 11, 1)
    assert kept(store)[-1:] == new


def test_a_service_that_cannot_filter_is_read_until_it_is_known(
    store: Store, service: Service
) -> None:
    service.filters = False
    service.make(10)
    sync(store, service)
    service.make(2)

    assert sync(store, service).added == 2
    assert len(service.asked) == 2  # of four pages


@pytest.mark.parametrize("filters", [True, False])
def test_what_a_wrong_clock_has_dated_ahead_hides_nothing(
    store: Store, service: Service, filters: bool
) -> None:
    service.filters = filters
    service.make(4)
    now = datetime.now(UTC)
    service.make(4, createdAt=(now + timedelta(days=1)).isoformat())
    sync(store, service)
    new = service.make(4, createdAt=now.isoformat())

    assert sync(store, service).added == 4
    assert kept(store)[-4:] == new


def test_a_list_that_leads_back_to_itself_ends(store: Store) -> None:
    class Circling(Service):
        def page(self, query: Any, path: str | None) -> Generator[Any, Any, Page]:
            page = yield from super().page(query, None)
            return Page(page.content, {None: "b", "b": "c"}.get(path, "b"))

    service = Circling()
    ids = service.make(3)

    assert sync(store, service).added == 3
    assert kept(store) == ids
    assert len(service.asked) == 3


def test_a_page_that_is_gone_in_between_is_asked_for_anew(store: Store) -> None:
    class Forgetful(Service):
        def page(self, query: Any, path: str | None) -> Generator[Any, Any, Page]:
            if path and len(self.asked) == 2:
                path = "gone"
            return (yield from super().page(query, path))

    service = Forgetful()
    ids = service.make(10)

    assert sync(store, service).added == 10
    assert kept(store) == ids


def test_what_ran_is_asked_for_again(store: Store, service: Service) -> None:
    (running,) = service.make(1, status="processing")
    service.make(5)
    first = sync(store, service)
    service.end(running, "failed")
    second = sync(store, service)

    assert (first.running, second.running, second.added) == (1, 0, 1)
    assert running in service.asked
    rows = Archive(store).frame()
    assert rows.loc[running, "status"] == "failed"
    assert len(rows) == 6


def test_what_runs_is_in_the_table(store: Store, service: Service) -> None:
    (running,) = service.make(1, status="queued")
    sync(store, service)
    sync(store, service)

    assert Archive(store).frame()["status"].to_dict() == {running: "processing"}


def test_what_ran_and_is_gone_is_gone(store: Store, service: Service) -> None:
    service.make(1, status="processing")
    sync(store, service)
    service.known.clear()
    service.make(0)

    assert sync(store, service).running == 0
    assert kept(store) == []


@pytest.mark.parametrize("after", range(2, 7))
def test_an_interrupted_sync_goes_on_where_it_was(
    store: Store, service: Service, after: int
) -> None:
    ids = service.make(1, status="processing") + service.make(18)
    service.breaks, requests, rounds = after, 0, 0
    while service.breaks:
        rounds += 1
        try:
            sync(store, service)
            service.breaks = None
        except NoAnswerError:
            assert len(kept(store)) >= min(2 * rounds, 18)
            ids += service.make(1)
        requests += len(service.asked)
    service.end(ids[0])
    sync(store, service)

    assert kept(store) == sorted(ids)
    assert Archive(store).frame()["status"].unique().tolist() == ["completed"]
    assert requests <= 8 + 4 * rounds


def test_a_page_that_is_gone_is_looked_for_from_the_start(store: Store, service: Service) -> None:
    ids = service.make(9)
    service.breaks = 2
    with pytest.raises(NoAnswerError):
        sync(store, service)
    manifest = store.manifest()
    gaps = [Gap(None, "gone with the wind")]
    store.commit(replace(manifest, generations=replace(manifest.generations, gaps=gaps)))
    service.breaks = None
    sync(store, service)

    assert kept(store) == ids


def test_stopping_keeps_what_has_arrived(store: Store, service: Service) -> None:
    service.make(9)

    def stop(so_far: Synced) -> None:
        if so_far.pages == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sync(store, service, on_update=stop)
    assert len(kept(store)) == 6
    assert sync(store, service).added == 3


def test_many_pages_become_few_parts(store: Store, service: Service) -> None:
    service.make(30)
    sync(store, service, part=6)

    assert sorted(store.manifest().generations.parts.values()) == [6, 6, 6, 6, 6]


def test_two_notebooks_sync_one_after_the_other(store: Store, service: Service) -> None:
    service.make(30)
    lock = store.lock()
    assert lock.acquire()
    steps: Generator[Any, Any, Any] = sync_generations(store, service)
    next(steps)
    assert service.rested > 0
    assert service.asked == []
    lock.release()

    assert driven(steps).added == 30


def test_threads_that_sync_together_lose_and_double_nothing(store: Store, service: Service) -> None:
    ids = service.make(60)
    threads = [
        threading.Thread(target=driven, args=(sync_generations(store, service),)) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert kept(store) == ids


def test_the_lock_is_free_after_an_error(store: Store, service: Service) -> None:
    service.breaks = 0
    with pytest.raises(NoAnswerError):
        sync(store, service)

    assert store.lock().acquire()


def test_costs_come_from_receipts_and_rules_where_nobody_says(
    store: Store, service: Service
) -> None:
    service.says_credits = False
    service.charged["g0000"] = Decimal("0.7")
    service.offered["b"] = wire.Model(id="b", credits_at_defaults=Decimal("0.2"))
    service.make(3)
    sync(store, service)
    rows = Archive(store).frame().sort_index()

    assert rows["credits_source"].tolist() == ["receipt", "estimate", "none"]
    assert rows["net"].tolist()[:2] == pytest.approx([0.7, 0.2])


def test_services_that_say_what_things_cost_are_not_asked_for_models(
    store: Store, service: Service
) -> None:
    service.make(3)
    sync(store, service)

    assert "models" not in service.asked


def test_progress_goes_back_in_time(store: Store, service: Service) -> None:
    service.make(9)
    seen: list[Synced] = []
    sync(store, service, on_update=seen.append)

    assert [update.rows for update in seen] == [3, 6, 9]
    assert [(update.pages, update.fetched) for update in seen] == [(1, 3), (2, 6), (3, 9)]
    times = [update.through for update in seen if update.through]
    assert times == sorted(times, reverse=True)


# ── lists that hold only what is newest ──────────────────────────────────────────────────────────


def test_what_was_started_here_and_is_not_listed_is_asked_for(
    store: Store, service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    service.paged, service.says_credits = False, False
    ids = service.make(10)
    service.charged = dict.fromkeys(ids[2:], Decimal("0.5"))
    found = sync(store, service)

    assert (found.rows, found.unlisted) == (8, 5)
    assert kept(store) == ids[2:]
    assert Archive(store).frame()["net"].sum() == 4
    assert "5 of those that this computer started" in caplog.text
    again = sync(store, service)
    assert (again.added, again.unlisted, len(service.asked)) == (0, 5, 1)


def test_a_receipt_counts_where_the_service_has_forgotten_the_generation(
    store: Store, service: Service
) -> None:
    service.charged = {"gone": Decimal("0.7")}
    sync(store, service)

    row = Archive(store).frame().loc["gone"]
    assert (row["net"], row["credits_source"]) == (0.7, "receipt")


def test_a_list_that_does_not_reach_what_was_known_is_said_to_be_short(
    store: Store, service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    service.paged, service.filters = False, False
    service.make(3)
    sync(store, service)
    service.make(2)
    sync(store, service)
    assert caplog.text == ""

    service.make(4)
    sync(store, service)
    assert "the list of generations ends after 3 rows and does not reach" in caplog.text


# ── the ledger ───────────────────────────────────────────────────────────────────────────────────


def test_the_ledger_is_read_once_and_then_what_is_new(store: Store, service: Service) -> None:
    service.book(100, "grant", details={"note": "welcome"})
    for _ in range(7):
        service.book(-0.5, generationId="g1")
    assert driven(sync_usage(store, service))
    assert len(service.asked) == 3
    service.book(0.5, "refund", generationId="g1", details={"reason": "failed"})
    service.asked.clear()
    assert driven(sync_usage(store, service))

    ledger = Archive(store).usage()
    assert len(service.asked) == 1
    assert len(ledger) == 9
    assert ledger["credits"].sum() == ledger["balance_after"].iloc[0] == 97
    assert ledger["note"].iloc[[0, -1]].tolist() == ["failed", "welcome"]


def test_an_interrupted_reading_of_the_ledger_goes_on_where_it_was(
    store: Store, service: Service
) -> None:
    for _ in range(12):
        service.book(-0.5)
    service.breaks = 2
    with pytest.raises(NoAnswerError):
        driven(sync_usage(store, service))
    service.breaks, service.asked = None, []
    driven(sync_usage(store, service))

    assert len(Archive(store).usage()) == 12
    assert len(service.asked) <= 4


def test_a_service_without_a_ledger_has_none(store: Store, service: Service) -> None:
    assert not driven(sync_usage(store, service))
    assert Archive(store).usage().empty
