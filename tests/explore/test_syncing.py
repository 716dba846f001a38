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
from tests.explore.fake_service import Service, drive


@pytest.fixture
def service() -> Service:
    return Service()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "history")


def sync(store: Store, service: Service, **given: Any) -> Synced:
    service.requests.clear()
    found: Synced = drive(sync_generations(store, service, **given))
    return found


def list_kept(store: Store) -> list[str]:
    ids = Archive(store).sql("select id from generations order by id")["id"].tolist()
    assert len(ids) == len(set(ids))
    return ids


def test_the_first_sync_fetches_everything(store: Store, service: Service) -> None:
    ids = service.make(10)

    assert repr(sync(store, service)) == "<Synced 10 new · 0 running · 10 kept>"
    assert list_kept(store) == ids
    assert len(service.requests) == 4


def test_malformed_records_are_omitted_and_reported_once(
    store: Store, service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    ids = service.make(10)
    for item in service.rows[::3]:
        item |= {"createdAt": "soon", "creditsCharged": "a lot"}
    service.rows[1]["status"] = []

    assert sync(store, service).added == 9
    assert list_kept(store) == [known for known in ids if known != ids[1]]
    [warning] = [record.getMessage() for record in caplog.records]
    assert "left out (1)" in warning
    assert "createdAt (4)" in warning
    assert "creditsCharged (4)" in warning


def test_a_later_sync_fetches_only_new_generations(store: Store, service: Service) -> None:
    service.make(10)
    sync(store, service)
    new = service.make(1)
    found = sync(store, service)

    assert (found.added, found.rows, len(service.requests)) == (1, 11, 1)
    assert list_kept(store)[-1:] == new


def test_without_filters_pages_are_read_until_a_known_generation(
    store: Store, service: Service
) -> None:
    service.filters = False
    service.make(10)
    sync(store, service)
    service.make(2)

    assert sync(store, service).added == 2
    assert len(service.requests) == 2  # of four pages


@pytest.mark.parametrize("filters", [True, False])
def test_generations_dated_in_the_future_do_not_hide_later_ones(
    store: Store, service: Service, filters: bool
) -> None:
    service.filters = filters
    service.make(4)
    now = datetime.now(UTC)
    service.make(4, createdAt=(now + timedelta(days=1)).isoformat())
    sync(store, service)
    new = service.make(4, createdAt=now.isoformat())

    assert sync(store, service).added == 4
    assert list_kept(store)[-4:] == new


def test_circular_pages_end(store: Store) -> None:
    class Circling(Service):
        def page(self, query: Any, path: str | None) -> Generator[Any, Any, Page]:
            page = yield from super().page(query, None)
            return Page(page.content, {None: "b", "b": "c"}.get(path, "b"))

    service = Circling()
    ids = service.make(3)

    assert sync(store, service).added == 3
    assert list_kept(store) == ids
    assert len(service.requests) == 3


def test_a_page_lost_during_a_sync_is_fetched_again(store: Store) -> None:
    class Forgetful(Service):
        def page(self, query: Any, path: str | None) -> Generator[Any, Any, Page]:
            if path and len(self.requests) == 2:
                path = "gone"
            return (yield from super().page(query, path))

    service = Forgetful()
    ids = service.make(10)

    assert sync(store, service).added == 10
    assert list_kept(store) == ids


def test_running_generations_are_fetched_again(store: Store, service: Service) -> None:
    (running,) = service.make(1, status="processing")
    service.make(5)
    first = sync(store, service)
    service.finish(running, "failed")
    second = sync(store, service)

    assert (first.running, second.running, second.added) == (1, 0, 1)
    assert running in service.requests
    rows = Archive(store).frame()
    assert rows.loc[running, "status"] == "failed"
    assert len(rows) == 6


def test_running_generations_are_in_the_archive(store: Store, service: Service) -> None:
    (running,) = service.make(1, status="queued")
    sync(store, service)
    sync(store, service)

    assert Archive(store).frame()["status"].to_dict() == {running: "processing"}


def test_a_running_generation_that_disappears_is_removed(store: Store, service: Service) -> None:
    service.make(1, status="processing")
    sync(store, service)
    service.rows.clear()
    service.make(0)

    assert sync(store, service).running == 0
    assert list_kept(store) == []


@pytest.mark.parametrize("after", range(2, 7))
def test_an_interrupted_sync_continues_where_it_stopped(
    store: Store, service: Service, after: int
) -> None:
    ids = service.make(1, status="processing") + service.make(18)
    service.max_requests, requests, rounds = after, 0, 0
    while service.max_requests:
        rounds += 1
        try:
            sync(store, service)
            service.max_requests = None
        except NoAnswerError:
            assert len(list_kept(store)) >= min(2 * rounds, 18)
            ids += service.make(1)
        requests += len(service.requests)
    service.finish(ids[0])
    sync(store, service)

    assert list_kept(store) == sorted(ids)
    assert Archive(store).frame()["status"].unique().tolist() == ["completed"]
    assert requests <= 8 + 4 * rounds


def test_after_a_lost_page_the_list_is_read_from_the_start(store: Store, service: Service) -> None:
    ids = service.make(9)
    service.max_requests = 2
    with pytest.raises(NoAnswerError):
        sync(store, service)
    manifest = store.manifest()
    gaps = [Gap(None, "gone with the wind")]
    store.commit(replace(manifest, generations=replace(manifest.generations, gaps=gaps)))
    service.max_requests = None
    sync(store, service)

    assert list_kept(store) == ids


def test_an_interrupt_keeps_fetched_pages(store: Store, service: Service) -> None:
    service.make(9)

    def stop(so_far: Synced) -> None:
        if so_far.pages == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sync(store, service, on_update=stop)
    assert len(list_kept(store)) == 6
    assert sync(store, service).added == 3


def test_many_pages_are_saved_in_few_parts(store: Store, service: Service) -> None:
    service.make(30)
    sync(store, service, part=6)

    assert sorted(store.manifest().generations.parts.values()) == [6, 6, 6, 6, 6]


def test_a_sync_waits_for_the_lock_of_another_notebook(store: Store, service: Service) -> None:
    service.make(30)
    lock = store.lock()
    assert lock.acquire()
    steps: Generator[Any, Any, Any] = sync_generations(store, service)
    next(steps)
    assert service.slept > 0
    assert service.requests == []
    lock.release()

    assert drive(steps).added == 30


def test_concurrent_thread_syncs_lose_and_repeat_nothing(store: Store, service: Service) -> None:
    ids = service.make(60)
    threads = [
        threading.Thread(target=drive, args=(sync_generations(store, service),)) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert list_kept(store) == ids


def test_the_lock_is_free_after_an_error(store: Store, service: Service) -> None:
    service.max_requests = 0
    with pytest.raises(NoAnswerError):
        sync(store, service)

    assert store.lock().acquire()


def test_without_reported_credits_costs_come_from_receipts_or_prices(
    store: Store, service: Service
) -> None:
    service.has_credits = False
    service.charged["g0000"] = Decimal("0.7")
    service.catalog["b"] = wire.Model(id="b", credits_at_defaults=Decimal("0.2"))
    service.make(3)
    sync(store, service)
    rows = Archive(store).frame().sort_index()

    assert rows["credits_source"].tolist() == ["receipt", "estimate", "none"]
    assert rows["net"].tolist()[:2] == pytest.approx([0.7, 0.2])


def test_models_are_not_requested_where_credits_are_reported(
    store: Store, service: Service
) -> None:
    service.make(3)
    sync(store, service)

    assert "models" not in service.requests


def test_progress_reports_rows_pages_and_the_time_reached(store: Store, service: Service) -> None:
    service.make(9)
    seen: list[Synced] = []
    sync(store, service, on_update=seen.append)

    assert [update.rows for update in seen] == [3, 6, 9]
    assert [(update.pages, update.fetched) for update in seen] == [(1, 3), (2, 6), (3, 9)]
    times = [update.through for update in seen if update.through]
    assert times == sorted(times, reverse=True)


# ── incomplete lists ──────────────────────────────────────────────────────────────────────────────


def test_own_starts_missing_from_the_list_are_fetched(
    store: Store, service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    service.paged, service.has_credits = False, False
    ids = service.make(10)
    service.charged = dict.fromkeys(ids[2:], Decimal("0.5"))
    found = sync(store, service)

    assert (found.rows, found.unlisted) == (8, 5)
    assert list_kept(store) == ids[2:]
    assert Archive(store).frame()["net"].sum() == 4
    assert "5 of those that this computer started" in caplog.text
    again = sync(store, service)
    assert (again.added, again.unlisted, len(service.requests)) == (0, 5, 1)


def test_a_receipt_counts_for_a_generation_unknown_to_the_service(
    store: Store, service: Service
) -> None:
    service.charged = {"gone": Decimal("0.7")}
    sync(store, service)

    row = Archive(store).frame().loc["gone"]
    assert (row["net"], row["credits_source"]) == (0.7, "receipt")


def test_a_list_that_does_not_reach_known_generations_is_reported(
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


# ── the ledger ────────────────────────────────────────────────────────────────────────────────────


def test_only_new_ledger_entries_are_fetched_later(store: Store, service: Service) -> None:
    service.add_entry(100, "grant", details={"note": "welcome"})
    for _ in range(7):
        service.add_entry(-0.5, generationId="g1")
    assert drive(sync_usage(store, service))
    assert len(service.requests) == 3
    service.add_entry(0.5, "refund", generationId="g1", details={"reason": "failed"})
    service.requests.clear()
    assert drive(sync_usage(store, service))

    ledger = Archive(store).usage()
    assert len(service.requests) == 1
    assert len(ledger) == 9
    assert ledger["credits"].sum() == ledger["balance_after"].iloc[0] == 97
    assert ledger["note"].iloc[[0, -1]].tolist() == ["failed", "welcome"]


def test_an_interrupted_sync_of_the_ledger_continues(store: Store, service: Service) -> None:
    for _ in range(12):
        service.add_entry(-0.5)
    service.max_requests = 2
    with pytest.raises(NoAnswerError):
        drive(sync_usage(store, service))
    service.max_requests, service.requests = None, []
    drive(sync_usage(store, service))

    assert len(Archive(store).usage()) == 12
    assert len(service.requests) <= 4


def test_a_service_without_a_ledger_has_no_usage(store: Store, service: Service) -> None:
    assert not drive(sync_usage(store, service))
    assert Archive(store).usage().empty
