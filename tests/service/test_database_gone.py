"""A PostgreSQL server that crashes under a running service, and is started again."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kit.service.domain import credits
from kit.service.logs import TextFormatter
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


def test_a_job_rendered_during_a_database_crash_completes_afterwards(
    postgres: Any, start_service: Callable[..., Service], caplog: pytest.LogCaptureFixture
) -> None:
    service = start_service(database_url=str(postgres.get_uri()))
    with service.client(service.key(service.account(), *ALL_SCOPES)) as http:
        rendered = generate(http, does="dawdles")
        crash(postgres)
        threading.Event().wait(1)
        postgres.ensure_postgres_running()
        until(lambda: http.get("/v1/account").status_code == 200)
        done = wait_for_end(http, rendered)

    [row] = service.write(sql("SELECT attempt, losses FROM generations"))
    assert (done["status"], row.attempt, row.losses) == ("completed", 1, 0)
    assert "the database cannot be used now" in caplog.text
    formatted = [TextFormatter().format(record) for record in caplog.records]
    assert not [text for text in formatted if "    at " in text and "UnavailableError" in text]
