"""A PostgreSQL server that ends at once under a running service, and comes back."""

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
def running() -> Iterator[Any]:
    """A server of its own, for others need theirs."""
    with server() as running:
        yield running


def crash(running: Any) -> None:
    """End the server with all that is in its memory."""
    pid = running.get_pid()
    os.kill(pid, signal.SIGQUIT)
    until(lambda: not Path(f"/proc/{pid}").exists())


def test_what_is_asked_meanwhile_is_refused_and_nothing_is_lost(
    running: Any, start_service: Callable[..., Service]
) -> None:
    service = start_service(database_url=str(running.get_uri()), lease_seconds=2.0)
    key = service.key(service.account(), *ALL_SCOPES)

    with service.client(key) as http:
        before = wait_for_end(http, generate(http))
        rendered = generate(http, does="dawdles")
        crash(running)
        asked = {"modelId": "flat", "prompt": "a lake"}
        refused = [http.get("/v1/account"), http.post(GENERATIONS, json=asked)]
        running.ensure_postgres_running()
        until(lambda: http.get("/v1/account").status_code == 200)
        done = [wait_for_end(http, one) for one in (before["id"], rendered, generate(http))]
        known = [one["id"] for one in http.get(GENERATIONS).json()]

    for answer in refused:
        assert answer.status_code == 503
        assert answer.json()["error"]["code"] == "unavailable"
        assert int(answer.headers["Retry-After"]) >= 1
    assert [one["status"] for one in done] == ["completed"] * 3
    assert known == [one["id"] for one in reversed(done)], "what was refused has begun nothing"
    assert service.write(credits.verify()) == []


def test_what_is_rendered_meanwhile_is_settled_afterwards(
    running: Any, start_service: Callable[..., Service], caplog: pytest.LogCaptureFixture
) -> None:
    service = start_service(database_url=str(running.get_uri()))
    with service.client(service.key(service.account(), *ALL_SCOPES)) as http:
        rendered = generate(http, does="dawdles")
        crash(running)
        threading.Event().wait(1)
        running.ensure_postgres_running()
        until(lambda: http.get("/v1/account").status_code == 200)
        done = wait_for_end(http, rendered)

    [row] = service.write(sql("SELECT attempt, losses FROM generations"))
    assert (done["status"], row.attempt, row.losses) == ("completed", 1, 0)
    assert "the database cannot be used now" in caplog.text
    formatted = [TextFormatter().format(record) for record in caplog.records]
    assert not [text for text in formatted if "    at " in text and "UnavailableError" in text]
