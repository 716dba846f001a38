"""A PostgreSQL server that crashes under a running service, and is started again."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from kit.service.domain import credits
from tests.conftest import ALL_SCOPES, Service, sql
from tests.postgresql import server
from tests.waiting import GENERATIONS, generate, until, wait_for_end

pytestmark = pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks into /proc")


@pytest.fixture
def postgres() -> Iterator[Any]:
    """A separate server, because other tests need theirs."""
    with server() as postgres:
        yield postgres


def crash(postgres: Any) -> None:
    """Stop the server at once, without a shutdown."""
    pid = postgres.get_pid()
    os.kill(pid, signal.SIGQUIT)
    until(lambda: not Path(f"/proc/{pid}").exists())


def send_signal(postgres: Any, number: int) -> None:
    """Send a signal to the processes of all connections."""
    pid = postgres.get_pid()
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        with suppress(ProcessLookupError):  # it has just ended
            os.kill(int(child), number)


def test_requests_during_a_database_crash_are_unavailable_and_nothing_is_lost(
    postgres: Any, start_service: Callable[..., Service]
) -> None:
    service = start_service(database_url=str(postgres.get_uri()), lease_seconds=2.0)
    key = service.key(service.account(), *ALL_SCOPES)

    with service.client(key) as http:
        before = wait_for_end(http, generate(http))
        rendered = generate(http, does="dawdles")
        crash(postgres)
        order = {"modelId": "flat", "prompt": "a lake"}
        refused = [http.get("/v1/account"), http.post(GENERATIONS, json=order)]
        postgres.ensure_postgres_running()
        until(lambda: http.get("/v1/account").status_code == 200)
        done = [wait_for_end(http, one) for one in (before["id"], rendered, generate(http))]
        known = [one["id"] for one in http.get(GENERATIONS).json()]

    for answer in refused:
        assert answer.status_code == 503
        assert answer.json()["error"]["code"] == "unavailable"
        assert int(answer.headers["Retry-After"]) >= 1
    assert [one["status"] for one in done] == ["completed"] * 3
    assert known == [one["id"] for one in reversed(done)], "refused requests started nothing"
    assert service.write(credits.verify()) == []


def test_requests_to_a_database_that_hangs_are_unavailable_after_some_seconds(
    postgres: Any, start_service: Callable[..., Service]
) -> None:
    service = start_service(database_url=str(postgres.get_uri()))
    key = service.key(service.account(), *ALL_SCOPES)

    with service.client(key) as http:
        assert http.get("/v1/account").status_code == 200
        started = time.monotonic()
        send_signal(postgres, signal.SIGSTOP)
        try:
            refused = http.get("/v1/account")
        finally:
            send_signal(postgres, signal.SIGCONT)
        assert until(lambda: http.get("/v1/account").status_code == 200)

    assert refused.status_code == 503
    assert int(refused.headers["Retry-After"]) >= 1
    assert time.monotonic() - started < 20, "many clients and proxies wait for 30 s"


def test_a_job_rendered_during_a_database_crash_completes_afterwards(
    postgres: Any, start_service: Callable[..., Service], caplog: pytest.LogCaptureFixture
) -> None:
    service = start_service(database_url=str(postgres.get_uri()))
    with service.client(service.key(service.account(), *ALL_SCOPES)) as http:
        rendered = generate(http, does="dawdles")
        crash(postgres)
        threading.Event().wait(2)
        postgres.ensure_postgres_running()
        until(lambda: http.get("/v1/account").status_code == 200)
        done = wait_for_end(http, rendered)

    [row] = service.write(sql("SELECT attempt, losses FROM generations"))
    assert (done["status"], row.attempt, row.losses) == ("completed", 1, 0)
    lines = [record.getMessage() for record in caplog.records if record.name.startswith("kit.")]
    [outage] = [line for line in lines if "the database" in line and "commit" not in line]
    assert outage.startswith("the database cannot be used now: ")
    assert not [line for line in lines if "could not" in line], "the outage was logged already"
