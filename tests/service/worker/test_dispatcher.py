"""The dispatcher end to end: every started job is finished, by any service."""

import asyncio
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import httpx
import pytest

from kit.service.databases import open_database
from kit.service.domain import credits, queue
from kit.service.machine import clock
from kit.service.metrics import ServiceMetrics
from kit.service.worker.dispatcher import Dispatcher
from tests.buckets import KEYS, S3Server
from tests.clusters import any_pool
from tests.conftest import ALL_SCOPES, Service
from tests.service.test_logs import upload
from tests.waiting import GENERATIONS, balance, generate, read, until, wait_for_end, wait_for_start


@any_pool(1)
def test_a_failed_job_does_not_affect_other_jobs(http: httpx.Client, service: Service) -> None:
    does = ["works", "crashes", "fails", "works", "raises", "works"]
    ids = [generate(http, does=what) for what in does]
    done = [wait_for_end(http, one) for one in ids]

    expected = ["completed" if what == "works" else "failed" for what in does]
    assert [one["status"] for one in done] == expected
    assert balance(http) == 98.2
    assert service.write(credits.verify()) == []


def test_a_free_process_gets_a_job_at_once(http: httpx.Client) -> None:
    # A response may be read a moment before the process is free again: one of six is enough.
    done = [wait_for_end(http, generate(http)) for _ in range(6)]

    assert any(one["startedAt"] == one["createdAt"] for one in done), "claimed when charged"


def test_many_jobs_of_one_account_delay_another_account_by_two_at_most(
    start_service: Callable[..., Service],
) -> None:
    service = start_service(workers=1, starts_per_minute=10_000)
    one, other = (service.key(service.account(1000), *ALL_SCOPES) for _ in range(2))
    with service.client(one) as many, service.client(other) as few:
        hanging = generate(many, does="hangs")  # so that the others wait
        crowd = [generate(many) for _ in range(100)]
        mine = generate(few)
        many.post(f"{GENERATIONS}/{hanging}/cancel")
        my_start = wait_for_end(few, mine)["startedAt"]
        theirs = [read(many, one)["startedAt"] for one in crowd]

    assert len([start for start in theirs if start and start < my_start]) <= 2


def waiting_time(done: dict[str, Any]) -> timedelta:
    """Return how long a generation waited for a process."""
    return datetime.fromisoformat(done["startedAt"]) - datetime.fromisoformat(done["createdAt"])


def test_a_start_that_is_refused_leaves_the_process_free(
    start_service: Callable[..., Service],
) -> None:
    service = start_service(workers=1)
    with service.client(service.key(service.account(1), *ALL_SCOPES)) as http:
        body = {"modelId": "flat", "prompt": "x", "parameters": {"count": 10}}
        refused = [http.post(GENERATIONS, json=body).status_code for _ in range(3)]
        done = wait_for_end(http, generate(http))

    assert refused == [402] * 3
    # The dispatcher may be reading the queue, because a process has become free.
    assert (done["status"], waiting_time(done) < timedelta(seconds=0.2)) == ("completed", True)


@any_pool(1)
def test_a_job_whose_input_is_gone_fails_at_once_and_is_refunded(
    http: httpx.Client, service: Service
) -> None:
    portrait = upload(http)
    shutil.rmtree(service.settings.objects / "uploads" / portrait)
    body = {"modelId": "clay", "mediaUploads": {"portrait": portrait}}
    done = wait_for_end(http, http.post(GENERATIONS, json=body).json()["id"])

    assert (done["status"], done["errorCode"]) == ("failed", "input_gone")
    assert balance(http) == 100


@any_pool(1)
def test_the_scratch_folder_is_empty_after_the_jobs(http: httpx.Client, service: Service) -> None:
    for does in ("works", "fails", "crashes"):
        wait_for_end(http, generate(http, does=does))

    scratch = service.settings.scratch
    until(lambda: not [path for path in scratch.rglob("*") if path.is_file()])


def test_error_messages_contain_no_path_or_traceback(http: httpx.Client, service: Service) -> None:
    for does in ("fails", "raises", "crashes"):
        done = wait_for_end(http, generate(http, does=does))
        usage = http.get("/v1/usage", params={"limit": 1}).text
        for secret in ("/home", "Traceback", str(service.settings.data), "demo_engines"):
            assert secret not in done["error"]
            assert secret not in usage


def test_a_job_that_takes_too_long_fails_and_is_refunded(
    start_service: Callable[..., Service],
) -> None:
    service = start_service(job_seconds=0.3)
    with service.client(service.key(service.account(), *ALL_SCOPES)) as http:
        done = wait_for_end(http, generate(http, does="hangs"))

        assert (done["status"], done["errorCode"]) == ("failed", "timed_out")
        assert balance(http) == 100


@any_pool(1)
def test_a_cancel_frees_the_process_for_the_next(http: httpx.Client) -> None:
    hanging, waiting = generate(http, does="hangs"), generate(http)
    wait_for_start(http, hanging)
    http.post(f"{GENERATIONS}/{hanging}/cancel")

    assert wait_for_end(http, waiting)["status"] == "completed"
    assert read(http, hanging)["status"] == "canceled"


@any_pool(1)
def test_progress_is_reported_during_a_job(http: httpx.Client) -> None:
    hanging = generate(http, does="hangs")
    running = until(lambda: read(http, hanging), lambda it: it["progress"] > 0)
    http.post(f"{GENERATIONS}/{hanging}/cancel")

    assert running["progress"] == 0.5


@any_pool(1)
def test_another_service_renders_the_jobs_that_one_releases(
    start_service: Callable[..., Service],
) -> None:
    first = start_service(grace_seconds=0.1)
    key = first.key(first.account(), *ALL_SCOPES)
    with first.client(key) as http:
        hanging, waiting = generate(http, does="hangs"), generate(http)
        wait_for_start(http, hanging)
    first.stop()
    with start_service(grace_seconds=0.1).client(key) as http:
        again = wait_for_start(http, hanging)
        assert (again["status"], again["error"]) == ("processing", None)
        http.post(f"{GENERATIONS}/{hanging}/cancel")
        assert wait_for_end(http, waiting)["status"] == "completed"


def test_a_service_without_workers_leaves_its_jobs_to_another(
    start_service: Callable[..., Service],
) -> None:
    api, worker = start_service(workers=0), start_service(workers=1)
    key = api.key(api.account(), *ALL_SCOPES)
    with api.client(key) as http:
        done = wait_for_end(http, generate(http))

    assert done["status"] == "completed"
    assert worker.settings.data == api.settings.data
    assert httpx.get(done["outputUrl"], verify=False).content.startswith(b"\x89PNG")


@any_pool(1)
def test_a_cancel_at_one_service_reaches_the_worker_of_another(
    start_service: Callable[..., Service],
) -> None:
    api, worker = start_service(workers=0), start_service(workers=1)
    key = api.key(api.account(), *ALL_SCOPES)
    with api.client(key) as http:
        hanging = generate(http, does="hangs")
        wait_for_start(http, hanging)
        http.post(f"{GENERATIONS}/{hanging}/cancel")
        until(lambda: worker.context.dispatcher.running == 0)

        assert wait_for_end(http, generate(http))["status"] == "completed"


def test_jobs_wait_while_the_disk_is_full_and_results_go_into_a_bucket(
    start_service: Callable[..., Service],
    s3_server: S3Server,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    usage, free = shutil.disk_usage, [0]
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(path)._replace(free=free[0]))
    service = start_service(storage_url=s3_server.new_bucket(), aws=KEYS)
    with service.client(service.key(service.account(), *ALL_SCOPES)) as http:
        waiting = generate(http)
        assert http.get("/readyz").json() == {"status": "ok", "queued": 1, "workers": 0}
        assert read(http, waiting)["startedAt"] is None
        free[0] = 10**12
        assert wait_for_end(http, waiting)["status"] == "completed"
    assert caplog.text.count("is full: jobs wait for room") == 1


class EndlessPool:
    """A pool whose two jobs never end; it records which were started and canceled."""

    slots, resident_slots, models = 2, 1, None

    def __init__(self) -> None:
        self.started: list[str] = []
        self.canceled: list[str] = []

    async def run(self, name: str, *_: Any, **__: Any) -> dict[str, Any]:
        self.started.append(name)
        return await asyncio.Future()

    def cancel(self, name: str) -> bool:
        self.canceled.append(name)
        return True

    async def close(self) -> None:
        pass


def test_an_attempt_that_was_taken_over_is_canceled_but_not_the_next_one(
    start_service: Callable[..., Service],
) -> None:
    service = start_service(workers=0)
    with service.client(service.key(service.account(), *ALL_SCOPES)) as http:
        generation = generate(http)
    assert asyncio.run(take_over(service, generation)) == ([0], [0, 0, 1])


async def take_over(service: Service, generation: str) -> tuple[list[int], list[int]]:
    """Take over an attempt; return those canceled for that, and those after a cancel, too."""
    given, renders = replace(service.settings, workers=2, grace_seconds=0.1), EndlessPool()
    database, it = open_database(given), service.context
    parts = database, it.storage, renders, given, clock, ServiceMetrics(), it.catalog.engines
    dispatcher = Dispatcher(*parts)  # type: ignore[arg-type]
    await dispatcher.start()

    async def wait_for_starts(attempts: int) -> None:
        async with asyncio.timeout(20):
            while len(renders.started) < attempts:
                await asyncio.sleep(0.01)

    await wait_for_starts(1)
    await database.write(queue.requeue_worker(dispatcher.name, attempts=3, now=clock()))
    await wait_for_starts(2)
    async with asyncio.timeout(20):
        while not renders.canceled:
            await asyncio.sleep(0.01)
    first = [*renders.canceled]
    dispatcher.cancel(generation)
    await dispatcher.stop()
    await database.close()
    return tuple(
        [renders.started.index(name) for name in names] for names in (first, renders.canceled)
    )


def test_a_job_that_starts_while_claims_are_read_is_not_canceled(
    start_service: Callable[..., Service],
) -> None:
    service = start_service(workers=0)
    with service.client(service.key(service.account(), *ALL_SCOPES)) as http:
        generate(http)
        assert asyncio.run(start_meanwhile(service, partial(generate, http))) == []


class GatedReads:
    """A database whose reads return late while the gate is closed."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.gate, self.waiting = inner, asyncio.Event(), 0
        self.gate.set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def read(self, transaction: Any) -> Any:
        found = await self.inner.read(transaction)
        self.waiting += 1
        await self.gate.wait()
        return found


async def start_meanwhile(service: Service, generate: Callable[[], str]) -> list[str]:
    """Start a second job between the reading of the claims and its result."""
    given, renders = replace(service.settings, workers=2, grace_seconds=0.1), EndlessPool()
    database, it = GatedReads(open_database(given)), service.context
    parts = database, it.storage, renders, given, clock, ServiceMetrics(), it.catalog.engines
    dispatcher = Dispatcher(*parts)  # type: ignore[arg-type]
    await dispatcher.start()
    async with asyncio.timeout(20):
        while not renders.started:
            await asyncio.sleep(0.01)
        database.gate.clear()
        database.waiting = 0
        while database.waiting < 2:  # those of the claims, and of the workers
            await asyncio.sleep(0.01)
        await asyncio.to_thread(generate)
        dispatcher.wake()
        while dispatcher.running < 2:
            await asyncio.sleep(0.01)
        database.gate.set()
        while len(renders.started) < 2:
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)
    await dispatcher.stop()
    await database.close()
    return renders.canceled
