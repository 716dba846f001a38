"""Several services on one PostgreSQL database and one bucket, behind any load balancer."""

import asyncio
import itertools
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from kit.errors import ConfigError
from kit.service import settings
from kit.service.app import create_storage
from kit.service.domain import credits, keys
from kit.service.http.rate_limits import RateLimiter
from kit.service.machine import clock
from kit.service.store.postgresql import PostgreSQL
from tests.buckets import KEYS
from tests.conftest import ALL_SCOPES, Service, sql
from tests.service.http.test_events import parse_events
from tests.waiting import GENERATIONS, generate, until, wait_for_end, wait_for_start

Start = Callable[..., Service]


@pytest.fixture
def database_url(empty_postgresql: str) -> str:
    """The database of all services."""
    return empty_postgresql


@pytest.fixture
def storage_settings(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """The storage and the secret of all services."""
    (tmp_path / "secret").write_bytes(bytes(range(32)))
    buckets = request.getfixturevalue("s3_server")
    shared = {"storage_url": buckets.new_bucket(), "aws": KEYS}
    return {**shared, "secret_file": str(tmp_path / "secret")}


@pytest.fixture
def start(start_service: Start, tmp_path: Path) -> Start:
    """Start a service with its own data folder, as on another machine."""

    def start_named(name: str, **changed: Any) -> Service:
        limits = {"requests_per_minute": 100_000, "starts_per_minute": 100_000}
        return start_service(data=tmp_path / name, **{**limits, **changed})

    return start_named


@pytest.fixture
def pair(start: Start) -> tuple[Service, Service]:
    """Two services, of which the second renders all jobs."""
    return start("a", workers=0), start("b", workers=2)


def test_one_service_renders_jobs_that_another_started(pair: tuple[Service, Service]) -> None:
    first, second = pair
    key = first.key(first.account(), *ALL_SCOPES)
    with first.client(key) as here, second.client(key) as there:
        label = {"Idempotency-Key": "once"}
        order = {"modelId": "flat", "prompt": "a lake"}
        started = here.post(GENERATIONS, json=order, headers=label)
        again = there.post(GENERATIONS, json=order, headers=label)
        done = wait_for_end(here, started.json()["id"])
        elsewhere = there.get(f"{GENERATIONS}/{done['id']}")

        assert again.headers["Idempotency-Replayed"] == "true"
        assert again.json()["id"] == done["id"]
        assert httpx.get(done["outputUrl"], follow_redirects=True).status_code == 200
        # A response of one service is current at the other, until that changes the generation.
        seen = {"If-None-Match": elsewhere.headers["ETag"]}
        assert here.get(f"{GENERATIONS}/{done['id']}", headers=seen).status_code == 304
        assert here.delete(f"{GENERATIONS}/{done['id']}/outputs").status_code == 204
        now = there.get(f"{GENERATIONS}/{done['id']}", headers=seen)
        assert (now.status_code, now.json()["outputUrl"]) == (200, None)


def test_a_model_waits_for_a_service_that_has_it(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "engines.toml"
    entry = '[[images]]\nid = "far"\nurl = "http://127.0.0.1:9"\nmodel = "m"\nprice = 1\n'
    file.write_text(entry)
    first, second = start("a", workers=0, engines=str(file)), start("b", workers=1)
    key = first.key(first.account(), *ALL_SCOPES)
    with first.client(key) as here, second.client(key) as there:
        waiting = generate(here, modelId="far", parameters={})
        for _ in range(3):
            wait_for_end(there, generate(here))
        left = there.get(f"{GENERATIONS}/{waiting}").json()
        assert (left["status"], left["startedAt"]) == ("processing", None)

        start("c", workers=1, engines=str(file))
        done = wait_for_end(there, waiting)
        assert done["errorCode"] not in ("model_gone", "engine_failed")  # nothing listens there


def test_a_key_revoked_at_one_service_is_refused_by_all(pair: tuple[Service, Service]) -> None:
    first, second = pair
    key = first.key(first.account(), *ALL_SCOPES)
    with first.client(key) as here, second.client(key) as there:
        assert [http.get("/v1/account").status_code for http in (here, there)] == [200, 200]
        (row,) = first.write(keys.list_keys())
        first.write(keys.revoke(row.id, clock()))
        assert [http.get("/v1/account").status_code for http in (here, there)] == [401, 401]


def test_a_stream_of_one_service_gets_events_of_another_at_once(
    pair: tuple[Service, Service],
) -> None:
    first, second = pair
    key = first.key(first.account(), *ALL_SCOPES)
    with first.client(key) as here, second.client(key) as there:
        late = []
        for _ in range(3):
            generation_id = generate(here, does="hangs")
            wait_for_start(here, generation_id)
            with here.stream("GET", f"{GENERATIONS}/{generation_id}/events") as answer:
                lines = parse_events(answer.iter_lines())
                next(lines)
                there.post(f"{GENERATIONS}/{generation_id}/cancel")
                canceled = time.perf_counter()
                assert list(lines)[-1].data["status"] == "canceled"
                late.append(time.perf_counter() - canceled)
        # With polling once a second, two of three would be this fast in one run of a hundred only.
        assert sorted(late)[1] < 0.4


def test_a_job_queued_at_one_service_is_claimed_at_once_by_another(
    pair: tuple[Service, Service],
) -> None:
    first, _ = pair
    key = first.key(first.account(), *ALL_SCOPES)
    with first.client(key) as here:
        took = []
        for _ in range(5):
            started = time.perf_counter()
            path = f"{GENERATIONS}/{generate(here)}"
            answer = here.get(path, headers={"Prefer": "wait=20"})
            assert answer.json()["status"] == "completed"
            took.append(time.perf_counter() - started)
    assert min(took) < 0.9


def test_a_rate_limit_counts_the_requests_of_all_services(start: Start) -> None:
    limited = [start(name, workers=0, requests_per_minute=8) for name in "ab"]
    key = limited[0].key(limited[0].account(), *ALL_SCOPES)
    with limited[0].client(key) as here, limited[1].client(key) as there:
        answers = [http.get("/v1/account") for _ in range(5) for http in (here, there)]

    assert [answer.status_code for answer in answers] == [200] * 8 + [429] * 2
    assert answers[7].headers["RateLimit"].startswith('"default";r=0;t=')
    assert 5 <= int(answers[8].headers["Retry-After"]) <= 8
    assert "r=0" in answers[9].headers["RateLimit"]


def test_a_shared_rate_limit_allows_as_much_as_one_in_memory(database_url: str) -> None:
    async def count() -> None:
        database = PostgreSQL(database_url)
        limiter = RateLimiter({"any": 600}, database.shared)
        begin = time.monotonic()
        verdicts = await asyncio.gather(*(limiter.count("any", "key") for _ in range(700)))
        # While the requests are counted, more are allowed: 10 a second.
        most = 601 + 10 * (time.monotonic() - begin)
        assert 600 <= [verdict.wait for verdict in verdicts].count(0) <= most
        # The last one may be allowed just after the others were told to wait: a whole interval.
        await asyncio.sleep(0.1)
        after = [await limiter.count("any", "key"), await limiter.count("any", "other")]
        assert [verdict.wait for verdict in after] == [0, 0]
        assert after[1].remaining == 599
        await asyncio.sleep(0.3)
        await database.shared.prune()
        known = await database.read(sql("SELECT key FROM rate_limits"))
        assert [row.key for row in known] == ["any key"], "the other key is back at its full limit"
        await database.close()

    asyncio.run(count())


def test_a_shared_rate_limit_recovers_from_a_clock_that_was_ahead(database_url: str) -> None:
    async def count() -> int:
        database = PostgreSQL(database_url)
        limiter = RateLimiter({"any": 600}, database.shared)
        await limiter.count("any", "key")
        await database.write(sql("UPDATE rate_limits SET due = due + 1e7 RETURNING key"))
        try:
            return (await limiter.count("any", "key")).remaining
        finally:
            await database.close()

    assert asyncio.run(count()) == 599


def test_a_service_with_another_secret_does_not_start(start: Start, tmp_path: Path) -> None:
    start("a")
    (tmp_path / "other").write_bytes(b"x" * 32)

    with pytest.raises(ConfigError, match="is not that of the others on its database"):
        start("b", secret_file=str(tmp_path / "other"))
    with pytest.raises(ConfigError, match="is not that of the others on its database"):
        start("c", secret_file="")
    with pytest.raises(ConfigError, match="KIT_SECRET_FILE names a file of 32 random bytes"):
        start("d", secret_file=str(tmp_path / "none"))


def test_presigned_urls_use_the_clock_of_the_database(
    storage_settings: dict[str, Any], tmp_path: Path
) -> None:
    hour = 3_600_000
    given = settings.load({}, data=tmp_path / "d", **storage_settings)
    for ahead in (-hour, hour):
        storage = create_storage(given, b"s" * 32, lambda ahead=ahead: clock() + ahead)
        url = httpx.URL(str(storage.read_address("GET", "outputs/x.png")))
        signed = datetime.strptime(url.params["X-Amz-Date"], "%Y%m%dT%H%M%S%z").timestamp()
        assert abs(signed - (clock() + ahead) / 1000) < 5


#: A machine whose clock is ten minutes ahead.
AHEAD = """
import time
now, now_ns = time.time, time.time_ns
time.time, time.time_ns = lambda: now() + 600, lambda: now_ns() + 600_000_000_000
from kit.commands import command_line, run
run(command_line(["serve"]), ["serve", "--port", "0", "--workers", "1"])
"""


def test_a_service_with_a_wrong_clock_uses_that_of_the_database(
    start: Start, tmp_path: Path
) -> None:
    right = start("a", workers=0)
    given, data = right.settings, tmp_path / "b"
    environ = {
        **os.environ,
        **KEYS,
        "KIT_DATA": str(data),
        "KIT_DATABASE_URL": given.database_url,
        "KIT_STORAGE_URL": given.storage_url,
        "KIT_SECRET_FILE": given.secret_file,
    }
    with subprocess.Popen([sys.executable, "-c", AHEAD], env=environ) as process:
        try:
            note = data / "service.json"
            url = json.loads(until(lambda: note.exists() and note.read_text(), seconds=60))["url"]
            key = right.key(right.account(), *ALL_SCOPES, expires_at=clock() + 300_000)
            headers = {"Authorization": f"Bearer {key}"}
            with httpx.Client(base_url=url, headers=headers, verify=False) as http:
                done = wait_for_end(http, generate(http))
                assert httpx.get(done["outputUrl"], follow_redirects=True).status_code == 200
        finally:
            process.terminate()
    (row,) = right.write(
        sql("SELECT created_at, started_at, completed_at, updated_at FROM generations")
    )
    assert all(abs(moment - clock()) < 120_000 for moment in row)


class RequestLoad:
    """Threads that start generations all the time, each at any service that responds."""

    def __init__(self, key: str, services: dict[str, Service]) -> None:
        self.started: list[str] = []
        self._key = key
        self._services = services
        self._stopped = threading.Event()
        self._threads = [threading.Thread(target=self._send, args=(n,)) for n in range(3)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    def _send(self, number: int) -> None:
        for count in itertools.count():
            if self._stopped.wait(0.1):
                return
            label = {"Idempotency-Key": f"{number}-{count}", "Authorization": f"Bearer {self._key}"}
            self.started.append(until(lambda label=label: self._order(label)))

    def _order(self, label: dict[str, str]) -> str | None:
        order = {"modelId": "flat", "prompt": "a lake"}
        for service in self._services.values():
            with suppress(httpx.TransportError):  # as a load balancer that tries the next one
                answer = httpx.post(
                    service.url + GENERATIONS, json=order, headers=label, verify=False
                )
                assert answer.status_code in (202, 409, 503), answer.text
                if answer.status_code == 202:
                    return str(answer.json()["id"])
        return None


def test_a_rolling_restart_under_load_loses_nothing(start: Start) -> None:
    services = {name: start(name, workers=2) for name in "ab"}
    account = services["a"].account(credits=1000)
    load = RequestLoad(services["a"].key(account, *ALL_SCOPES), services)
    for name in "abab":
        target = len(load.started) + 4
        until(lambda target=target: len(load.started) >= target)
        services[name].stop()
        services[name] = start(name, workers=2)
    load.stop()

    started = load.started
    assert len(started) == len(set(started)) >= 16
    with services["b"].client(services["b"].key(account, *ALL_SCOPES)) as http:
        assert {wait_for_end(http, one)["status"] for one in started} == {"completed"}
    rows = services["a"].write(sql("SELECT kind FROM ledger WHERE account_id = :a", a=account))
    assert [row.kind for row in rows].count("generation") == len(started)
    assert services["a"].write(credits.verify()) == []
