import asyncio
import itertools
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from starlette.responses import StreamingResponse

from kit.service.domain import keys, queue
from kit.service.http.events import StreamEvent, events_of, parse_last_id, stream_events
from kit.service.machine import clock
from kit.service.worker.watchers import Watchers
from tests.conftest import ALL_SCOPES, Service, both_databases
from tests.service.connections.raw_http import connection
from tests.waiting import GENERATIONS, generate, read, until, wait_for_end, wait_for_start

Start = Callable[..., Service]


@dataclass(frozen=True)
class Event:
    id: int
    name: str
    data: Any
    at: float


def parse_events(lines: Iterator[str]) -> Iterator[Event]:
    """Read events as a browser's EventSource does."""
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        if line and not line.startswith(":"):
            fields[name] = value
        elif not line and "event" in fields:
            yield Event(
                int(fields["id"]), fields["event"], json.loads(fields["data"]), time.monotonic()
            )
            fields = {}


@contextmanager
def open_stream(http: httpx.Client, generation_id: str, last: int | None = None) -> Iterator[Any]:
    headers = {} if last is None else {"Last-Event-ID": str(last)}
    with http.stream("GET", f"{GENERATIONS}/{generation_id}/events", headers=headers) as answer:
        yield answer


def read_events(http: httpx.Client, generation_id: str, last: int | None = None) -> list[Event]:
    with open_stream(http, generation_id, last) as answer:
        assert answer.status_code == 200, answer.read()
        return list(parse_events(answer.iter_lines()))


@both_databases
def test_a_stream_sends_the_same_end_as_polling_and_closes(http: httpx.Client) -> None:
    generation_id = generate(http)

    received = read_events(http, generation_id)

    assert received[-1].name == "status"
    assert {e.data["status"] for e in received[:-1] if e.name == "status"} <= {"processing"}
    assert received[-1].data | {"outputUrl": "", "output": None} == read(http, generation_id) | {
        "outputUrl": "",
        "output": None,
    }
    assert httpx.get(received[-1].data["outputUrl"]).status_code == 200
    assert [e.id for e in received] == sorted({e.id for e in received})


def test_the_response_headers_announce_an_event_stream(http: httpx.Client) -> None:
    with open_stream(http, generate(http)) as answer:
        lines = answer.iter_lines()

        assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert answer.headers["cache-control"] == "no-store"
        assert "content-length" not in answer.headers
        assert next(lines) == "retry: 1000"


def test_a_finished_generation_sends_one_event_and_does_not_repeat_it(http: httpx.Client) -> None:
    generation_id = generate(http, does="fails")
    assert wait_for_end(http, generation_id)["status"] == "failed"

    (only,) = read_events(http, generation_id)
    assert (only.name, only.data["status"], only.data["errorCode"]) == ("status", "failed", "dry")
    # 204 stops the reconnects of an EventSource.
    assert (
        http.get(
            f"{GENERATIONS}/{generation_id}/events", headers={"Last-Event-ID": str(only.id)}
        ).status_code
        == 204
    )


def test_progress_is_sent_at_most_four_times_a_second_and_a_cancel_at_once(
    service: Service, http: httpx.Client
) -> None:
    generation_id = generate(http, does="hangs")
    wait_for_start(http, generation_id)
    seen: list[Event] = []
    with open_stream(http, generation_id) as answer:
        for event in parse_events(answer.iter_lines()):
            seen.append(event)
            if event.name == "progress":
                for step in range(200):
                    service.context.dispatcher.progress[generation_id] = 0.5 + step / 1000
                http.post(f"{GENERATIONS}/{generation_id}/cancel")
                asked = time.monotonic()

    assert seen[-1].data["status"] == "canceled"
    assert seen[-1].at - asked < 0.5
    assert len([e for e in seen if e.name == "progress"]) <= 2


def test_a_reconnect_continues_after_the_last_event(service: Service, http: httpx.Client) -> None:
    generation_id = generate(http, does="hangs")
    wait_for_start(http, generation_id)
    with open_stream(http, generation_id) as answer:
        last = next(e for e in parse_events(answer.iter_lines()) if e.name == "progress")

    until(lambda: service.context.dispatcher.watchers.count, lambda it: it == 0)
    http.post(f"{GENERATIONS}/{generation_id}/cancel")
    again = read_events(http, generation_id, last.id)

    assert [(e.name, e.data.get("status")) for e in again] == [("status", "canceled")]
    assert again[0].id > last.id


@both_databases
def test_a_stream_follows_a_job_of_another_process_through_its_row(start_service: Start) -> None:
    idle = start_service(workers=0)
    key = idle.key(idle.account(), *ALL_SCOPES)
    with idle.client(key) as http:
        generation_id = generate(http)

        def run_elsewhere() -> None:
            (row,) = idle.write(queue.claim("other", 1, lease=clock() + 60_000, now=clock()))
            idle.write(queue.report(row.id, row.attempt, 0.25, clock()))
            reported.wait(10)
            idle.write(queue.fail(row.id, row.attempt, "too dry", "dry", clock()))

        reported = threading.Event()
        other = threading.Thread(target=run_elsewhere)
        other.start()
        received = []
        with open_stream(http, generation_id) as answer:
            for event in parse_events(answer.iter_lines()):
                received.append(event)
                if event.name == "progress":
                    reported.set()
        other.join()

    assert [e.data for e in received if e.name == "progress"] == [{"progress": 0.25}]
    assert received[-1].data["status"] == "failed"
    assert received[-1].data["creditsRefunded"] == received[-1].data["creditsCharged"]


def test_an_idle_stream_sends_a_comment(start_service: Start) -> None:
    service = start_service(workers=0, heartbeat_seconds=0.05)
    key = service.key(service.account(), *ALL_SCOPES)
    with service.client(key) as http, open_stream(http, generate(http)) as answer:
        lines = answer.iter_lines()

        assert next(line for line in lines if line.startswith(":")) == ": still here"


def test_a_client_that_disconnects_leaves_no_watcher(start_service: Start) -> None:
    service = start_service(workers=0)
    with service.client(service.key(service.account(), *ALL_SCOPES)) as http:
        generation_id = generate(http)
        with open_stream(http, generation_id) as answer:
            lines = parse_events(answer.iter_lines())
            next(lines)
            assert service.context.dispatcher.watchers.count == 1

        until(lambda: service.context.dispatcher.watchers.count, lambda it: it == 0)


def test_a_client_that_disconnects_after_another_request_leaves_no_watcher(
    start_service: Start,
) -> None:
    service = start_service(workers=0)
    key = service.key(service.account(), *ALL_SCOPES)
    with service.client(key) as http, connection(service) as one:
        path = f"{GENERATIONS}/{generate(http)}/events"
        one.sendall(f"GET {path} HTTP/1.1\r\nAuthorization: Bearer {key}\r\n\r\n".encode())
        one.sendall(b"GET /healthz HTTP/1.1\r\n\r\n")
        assert one.recv(12) == b"HTTP/1.1 200"
        assert service.context.dispatcher.watchers.count == 1

    until(lambda: service.context.dispatcher.watchers.count, lambda it: it == 0)


def test_a_service_that_stops_does_not_wait_for_open_streams(start_service: Start) -> None:
    service = start_service(workers=0, grace_seconds=20.0)
    key = service.key(service.account(), *ALL_SCOPES)
    with service.client(key) as http, open_stream(http, generate(http)) as answer:
        lines = parse_events(answer.iter_lines())
        next(lines)
        asked = time.monotonic()
        service.stop()

        assert time.monotonic() - asked < 5
        assert list(lines) == []


def test_another_account_gets_404_for_a_stream(service: Service, http: httpx.Client) -> None:
    generation_id = generate(http)
    with service.client(service.key(service.account(), *ALL_SCOPES)) as stranger:
        refused = stranger.get(f"{GENERATIONS}/{generation_id}/events")

    assert refused.status_code == 404
    assert refused.json()["error"]["code"] == "not_found"


def test_a_stream_needs_the_scope_to_generate(service: Service, account: str) -> None:
    with service.client(service.key(account)) as reader:
        refused = reader.get(f"{GENERATIONS}/gen_x/events")

    assert refused.status_code == 403


@pytest.mark.parametrize(
    ("text", "last"),
    [("", -1), ("12", 12), ("-3", -1), ("abc", -1), ("٣", -1), ("9" * 40, -1), ("1.5", -1)],
)
def test_a_malformed_last_event_id_counts_as_none(text: str, last: int) -> None:
    assert parse_last_id(text) == last


def test_ids_grow_with_attempts_progress_and_the_end() -> None:
    def ids(state: str, attempt: int, fraction: float = 0.0) -> list[int]:
        row = SimpleNamespace(state=state, attempt=attempt)
        return [event.id for event in events_of(row, fraction, lambda row: {})]

    all_ids = [
        *ids("queued", 0),
        *ids("running", 1),
        *ids("running", 1, 0.001)[1:],
        *ids("running", 1, 1.0)[1:],
        *ids("running", 2),
        *ids("completed", 2),
    ]

    assert all_ids == sorted(set(all_ids))
    assert ids("queued", 1) == ids("running", 1), "a released job sends no event"


def test_fast_progress_is_thinned_out_and_the_end_is_not_delayed() -> None:
    sent: list[tuple[float, bytes]] = []

    async def watch() -> float:
        watchers, loop = Watchers(), asyncio.get_running_loop()
        began = loop.time()

        async def read_row_events() -> list[StreamEvent]:
            passed = loop.time() - began
            loop.call_later(0.005, watchers.notify, "gen_x")
            if passed > 0.6:
                return [StreamEvent(9999, "status", b"{}", final=True)]
            return [
                StreamEvent(0, "status", b"{}"),
                StreamEvent(1 + int(passed * 1000), "progress", b"{}"),
            ]

        async def send(message: Any) -> None:
            sent.append((loop.time() - began, message.get("body", b"")))

        async def receive() -> Any:
            await asyncio.Event().wait()

        watch = partial(watchers.watch, "gen_x", "acc_x")
        answer = StreamingResponse(stream_events(watchers, watch, read_row_events, -1, 15.0))
        await answer({"type": "http"}, receive, send)
        assert watchers.count == 0
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return loop.time() - began

    took = asyncio.run(watch())

    moments = [moment for moment, body in sent if b"event: progress" in body]
    assert 2 <= len(moments) <= 3
    assert all(later - sooner >= 0.25 for sooner, later in itertools.pairwise(moments))
    assert took < 0.8


@both_databases
def test_a_stream_ends_when_its_key_is_revoked(service: Service) -> None:
    account = service.account()
    key, other = service.key(account, *ALL_SCOPES), service.key(account, *ALL_SCOPES)
    with service.client(key) as http, service.client(other) as watcher:
        hanging = generate(http, does="hangs")
        with open_stream(watcher, hanging) as answer:
            lines = answer.iter_lines()
            assert next(lines).startswith("retry")
            row = service.write(keys.find_caller(other, service.context.secret, clock()))
            service.write(keys.revoke(row.payer.key_id, clock()))
            rest = list(parse_events(lines))
        http.post(f"{GENERATIONS}/{hanging}/cancel")

    assert all(event.data.get("status") != "canceled" for event in rest)


@pytest.mark.parametrize(
    ("bounds", "of_the_account", "of_others"),
    [({"watchers_per_account": 3}, 429, 200), ({"connections": 6}, 503, 503)],
    ids=["of an account", "of all accounts"],
)
def test_too_many_watchers_are_refused_with_retry_after(
    start_service: Start, bounds: dict[str, int], of_the_account: int, of_others: int
) -> None:
    service = start_service(workers=0, **bounds)
    one, other = (service.key(service.account(), *ALL_SCOPES) for _ in range(2))
    with service.client(one) as http, service.client(other) as stranger, ExitStack() as streams:
        mine, theirs = generate(http), generate(stranger)
        for _ in range(3):
            assert streams.enter_context(open_stream(http, mine)).status_code == 200
        refused = http.get(f"{GENERATIONS}/{mine}/events")
        assert read(http, mine)["status"] == "processing"
        with open_stream(stranger, theirs) as answer:
            assert answer.status_code == of_others

    assert (refused.status_code, refused.headers["Retry-After"]) == (of_the_account, "5")
    assert refused.json()["error"]["code"] in ("rate_limited", "unavailable")


def test_concurrent_watchers_are_all_counted(start_service: Start) -> None:
    service = start_service(workers=0, watchers_per_account=3)
    with ExitStack() as open_ones:
        key = service.key(service.account(), *ALL_SCOPES)
        http = open_ones.enter_context(service.client(key))
        path, where = f"{GENERATIONS}/{generate(http)}/events", http.base_url
        lines = [
            open_ones.enter_context(socket.create_connection((where.host, where.port), 20))
            for _ in range(30)
        ]
        head = f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\r\n".encode()
        for line in lines:
            line.sendall(head)
        answers = [line.recv(12) for line in lines]

    assert answers.count(b"HTTP/1.1 200") == 3


def test_a_finished_generation_has_full_progress_whatever_was_reported(
    service: Service, http: httpx.Client
) -> None:
    generation_id = generate(http)
    wait_for_end(http, generation_id)
    service.context.dispatcher.progress[generation_id] = 0.0

    assert http.get(f"{GENERATIONS}/{generation_id}").json()["progress"] == 1.0
