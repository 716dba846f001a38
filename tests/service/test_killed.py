"""A service is killed at work: its requests and jobs can continue, and no file is left."""

import os
import random
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import httpx
import pytest

from kit.service.databases import with_database
from kit.service.domain.upkeep import Sweeper
from kit.service.settings import ServiceSettings
from kit.service.storage.keys import output_key, owner
from kit.service.store import Database
from tests.conftest import ALL_SCOPES, Service, run_coroutine
from tests.ports import free_port
from tests.waiting import GENERATIONS, balance, generate, read, until, wait_for_end, wait_for_start

TITLE = "/v1/scripts/title"
ORDER = {"topic": "SPACE"}
LABEL = {"Idempotency-Key": "one"}


@dataclass(frozen=True)
class OtherService:
    """A service on a data folder, in its own process."""

    url: str
    process: subprocess.Popen[bytes]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def interrupt(self) -> None:
        self.process.terminate()
        self.process.wait(30)


@contextmanager
def start_other(config: ServiceSettings, **environment: str) -> Iterator[OtherService]:
    """Start a service in its own process."""
    port = free_port()
    command = [sys.executable, "-m", "kit", "serve", "--port", str(port), "--workers", "1"]
    process = subprocess.Popen(
        [*command, "--data", str(config.data)],
        env=os.environ | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"

    def is_healthy() -> bool:
        assert process.poll() is None
        try:
            return httpx.get(f"{url}/healthz", verify=False).status_code == 200
        except httpx.TransportError:
            return False

    try:
        until(is_healthy, seconds=60)
        yield OtherService(url, process)
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def silent_model() -> Iterator[dict[str, str]]:
    """Settings with a language model that never responds."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(16)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        yield {"KIT_WRITER_URL": url, "KIT_WRITER_MODEL": "silent"}


@pytest.fixture
def waiting(
    service: Service, http: httpx.Client, key: str, silent_model: dict[str, str]
) -> Iterator[OtherService]:
    """Another service on the folder, in which a title is being written."""
    with start_other(service.settings, **silent_model) as found:
        headers = {"Authorization": f"Bearer {key}", **LABEL}
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{found.url}{TITLE}", json=ORDER, headers=headers, timeout=1, verify=False)
        assert http.post(TITLE, json=ORDER, headers=LABEL).status_code == 409
        yield found


@pytest.mark.parametrize("end", [OtherService.kill, OtherService.interrupt])
def test_a_title_whose_service_ends_is_written_by_another_service(
    waiting: OtherService, http: httpx.Client, end: Callable[[OtherService], None]
) -> None:
    end(waiting)

    def request_title() -> httpx.Response:
        return http.post(TITLE, json=ORDER, headers=LABEL)

    answer = until(request_title, lambda it: it.status_code != 409, seconds=5)
    assert answer.status_code == 200
    assert "Idempotency-Replayed" not in answer.headers
    assert request_title().headers["Idempotency-Replayed"] == "true"
    assert balance(http) == 99.95


def test_a_title_that_is_being_written_conflicts(waiting: OtherService, http: httpx.Client) -> None:
    answers = [http.post(TITLE, json=ORDER, headers=LABEL).status_code for _ in range(30)]

    assert set(answers) == {409}


def test_a_service_that_starts_after_a_kill_releases_its_idempotency_keys(
    start_service: Callable[..., Service], silent_model: dict[str, str]
) -> None:
    first = start_service(workers=0)
    key = first.key(first.account(), *ALL_SCOPES)
    first.stop()
    headers = {"Authorization": f"Bearer {key}", **LABEL}
    with start_other(first.settings, **silent_model) as found, pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{found.url}{TITLE}", json=ORDER, headers=headers, timeout=1, verify=False)

    with start_service(workers=0).client(key) as http:
        assert http.post(TITLE, json=ORDER, headers=LABEL).status_code == 200


def stored_keys(service: Service) -> set[str]:
    """Return the keys of the outputs in the storage."""
    found = (service.settings.objects / "outputs").rglob("*.*")
    return {path.relative_to(service.settings.objects).as_posix() for path in found}


def sweep(service: Service) -> None:
    """Run the sweeper as another process would: a database belongs to the loop of its service."""
    it = service.context

    async def once(database: Database) -> None:
        await Sweeper(database, it.storage, it.settings, it.readiness, it.clock).sweep()

    run_coroutine(with_database(service.settings, once))


def test_a_job_that_is_canceled_during_its_render_leaves_no_file(
    service: Service, http: httpx.Client
) -> None:
    made = generate(http, does="persists")
    wait_for_start(http, made)
    assert http.post(f"{GENERATIONS}/{made}/cancel").json()["status"] == "canceled"
    until(lambda: service.context.dispatcher.running == 0)

    assert stored_keys(service) == set()


def test_jobs_that_are_canceled_at_any_moment_leave_no_file(
    start_service: Callable[..., Service],
) -> None:
    """The sweeper removes files of jobs that were killed after their file was stored."""
    service = start_service(workers=2, requests_per_minute=100_000)
    key = service.key(service.account(), *ALL_SCOPES)
    dice = random.Random(5)
    with service.client(key) as http:
        for _ in range(24):
            made = generate(http, does=dice.choice(["works", "dawdles", "persists"]))
            until(lambda made=made: read(http, made)["progress"] > dice.random() / 2)
            http.post(f"{GENERATIONS}/{made}/cancel")
        until(lambda: service.context.dispatcher.running == 0)
        listed = http.get(GENERATIONS, params={"limit": 1000}).json()
    done = {it["id"] for it in listed if it["status"] == "completed"}

    assert {it["status"] for it in listed} >= {"canceled"}
    sweep(service)
    assert {owner(key) for key in stored_keys(service)} == done


def test_files_of_a_killed_service_are_removed_at_the_next_start(
    start_service: Callable[..., Service],
) -> None:
    service = start_service()
    key = service.key(service.account(), *ALL_SCOPES)
    with service.client(key) as http:
        kept, gone, waits = generate(http), generate(http, does="hangs"), generate(http)
        wait_for_end(http, kept)
        wait_for_start(http, gone)
        http.post(f"{GENERATIONS}/{gone}/cancel")
        wait_for_end(http, waits)
    service.stop()
    before = stored_keys(service)
    strange = output_key("gen_01M838J8FS7DVB88WC4DM2Z1WC", "0" * 32, ".png")
    # Files that a service stored before it was killed and before their row was updated: of a job
    # that was then canceled, of one that was rendered again with other bytes, and of half a copy.
    left = {
        output_key(gone, "1" * 32, ".png"),
        output_key(kept, "2" * 32, ".png"),
        output_key(kept, "3" * 32, ".png.part"),
    }
    for name in left | {strange}:
        path = service.settings.objects / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    service.stop()

    service = start_service(workers=0)
    until(lambda: not left & stored_keys(service))
    assert stored_keys(service) == before | {strange}


def test_a_file_of_an_unfinished_generation_is_kept(start_service: Callable[..., Service]) -> None:
    service = start_service(workers=0)
    with service.client(service.key(service.account(), *ALL_SCOPES)) as http:
        made = generate(http)
    name = output_key(made, "1" * 32, ".png")
    (service.settings.objects / name).parent.mkdir(parents=True)
    (service.settings.objects / name).write_bytes(b"x")
    sweep(service)

    assert stored_keys(service) == {name}


def test_a_webhook_that_failed_is_sent_again_by_the_next_service(
    config: ServiceSettings, start_service: Callable[..., Service]
) -> None:
    """Killed with SIGKILL after the first attempt is stored: the same message is sent again."""
    ids: list[str] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            ids.append(self.headers["webhook-id"])
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(500 if len(ids) == 1 else 204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as receiver:
        Thread(target=receiver.serve_forever, args=(0.01,), daemon=True).start()
        url = f"http://127.0.0.1:{receiver.server_address[1]}/"
        with start_other(config, KIT_WEBHOOK_LOOPBACK="1") as first:
            service = Service(first.url, None, config, first.kill)  # type: ignore[arg-type]
            with service.client(service.key(service.account(), *ALL_SCOPES)) as http:
                wait_for_end(http, generate(http, webhookUrl=url))
            with closing(sqlite3.connect(config.database_path)) as database:
                # Stored, because otherwise the delivery is due again only when its lease ends.
                until(lambda: database.execute("SELECT error FROM deliveries").fetchone()[0])
                first.kill()
                with database:
                    database.execute("UPDATE deliveries SET due_at = 0")
        start_service(webhook_loopback=True)
        until(lambda: len(ids) > 1)
        receiver.shutdown()
    assert len(set(ids)) == 1
