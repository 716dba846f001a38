"""What a client may send before anybody knows who it is."""

import gc
import json
import socket
import time
from collections.abc import Callable

import httpx
import pytest

from tests.conftest import ALL_SCOPES, Service
from tests.service.connections.lines import (
    HELLO,
    answers,
    connected,
    everything,
    line,
    pour,
    status,
)
from tests.waiting import GENERATIONS, until

START = b"GET /healthz HTTP/1.1\r\nHost: kit\r\n"
KILOBYTE = b"x" * 1000
#: What a socket of this machine may hold on its way: more than that is only taken by a reader.
ON_THE_WAY = 12_000_000


def test_a_head_without_an_end_is_refused_as_it_comes(service: Service) -> None:
    for begin, piece in (
        (START + b"X-Long: ", KILOBYTE),
        (START, b"X-Many: 1\r\n" * 100),
        (b"GET /", KILOBYTE),
        (b"", b"\r\n" * 500),
        (START + b"X-", KILOBYTE),
    ):
        with line(service) as one:
            one.sendall(begin)
            sent = pour(one, piece, 66_000)
            (answer,) = answers(one)

        assert sent <= 67_000, begin
        assert (answer.status, answer.code) == (431, "head_too_large"), begin
        assert answer.headers["connection"] == "close", begin


def test_a_head_just_below_the_bound_is_taken(http: httpx.Client) -> None:
    def asked(size: int) -> int:
        return http.get("/healthz", headers={"X-Long": "x" * size}).status_code

    assert (asked(64_000), asked(65_536)) == (200, 431)


def test_trailers_and_extensions_of_chunks_are_bounded_too(service: Service, key: str) -> None:
    begin = f"POST {GENERATIONS} HTTP/1.1\r\nAuthorization: Bearer {key}\r\n".encode()
    for head, piece in (
        (b"5\r\nhello\r\n0\r\nX-Late: ", KILOBYTE),
        (b"5\r\nhello\r\n0\r\n", b"X-Late: 1\r\n" * 100),
        (b"5;", KILOBYTE),
    ):
        with line(service) as one:
            one.sendall(begin + b"Transfer-Encoding: chunked\r\n\r\n" + head)
            pour(one, piece, 140_000)
            (answer,) = answers(one)

        assert (answer.status, answer.code) == (431, "head_too_large"), head


def test_many_headers_are_refused_however_small(http: httpx.Client) -> None:
    def asked(count: int) -> httpx.Response:
        return http.get("/healthz", headers=[("a", "b")] * count)

    assert (asked(150).status_code, asked(250).status_code) == (200, 431)
    assert asked(250).json()["error"]["code"] == "head_too_large"


def test_a_body_in_crumbs_is_refused(service: Service, key: str) -> None:
    head = f"POST {GENERATIONS} HTTP/1.1\r\nAuthorization: Bearer {key}\r\n".encode()
    with line(service) as one:
        one.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\n \r\n" * 1500)
        (answer,) = answers(one)

    assert (answer.status, answer.code) == (400, "validation_error")


def test_trailers_are_no_headers(service: Service, key: str, http: httpx.Client) -> None:
    body = b'{"modelId": "flat", "prompt": "a lake"}'
    head = f"POST {GENERATIONS} HTTP/1.1\r\nAuthorization: Bearer {key}\r\n".encode()
    chunks = b"%x\r\n%b\r\n0\r\n" % (len(body), body)
    for _ in range(2):
        with line(service) as one:
            one.sendall(head + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n")
            one.sendall(chunks + b"Idempotency-Key: late\r\n\r\n")
            (answer,) = answers(one)
        assert answer.status == 202
        assert "idempotency-replayed" not in answer.headers

    assert len(http.get(GENERATIONS).json()) == 2


def test_what_is_no_request_is_an_error_like_any_other(service: Service) -> None:
    for said in (
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET\r\n\r\n",
        b"GET / HTTP/1.1\r\nbad header\r\n\r\n",
        b"GET /healthz HTTP/9.9\r\n\r\n",
        b"GET \xff HTTP/1.1\r\n\r\n",
        b"CONNECT kit:443 HTTP/1.1\r\nHost: kit\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    ):
        with line(service) as one:
            one.sendall(said)
            (answer,) = answers(one)

        assert (answer.status, answer.code) == (400, "validation_error"), said


def test_a_body_that_is_malformed_is_answered_by_its_request(service: Service, key: str) -> None:
    head = f"POST {GENERATIONS} HTTP/1.1\r\nAuthorization: Bearer {key}\r\n".encode()
    with line(service) as one:
        one.sendall(head + b"Transfer-Encoding: chunked\r\n\r\nnonsense\r\n")
        (answer,) = answers(one)

    assert (answer.status, answer.code) == (400, "validation_error")


def test_a_request_is_answered_though_nonsense_follows_it(service: Service, key: str) -> None:
    body = b'{"modelId": "flat", "prompt": "a lake"}'
    head = f"POST {GENERATIONS} HTTP/1.1\r\nAuthorization: Bearer {key}\r\n".encode()
    with line(service) as one:
        one.sendall(head + b"Content-Length: %d\r\n\r\n%bnonsense\r\n\r\n" % (len(body), body))
        (answer,) = answers(one)

    assert answer.status == 202
    assert json.loads(answer.body)["status"] == "processing"


def test_few_requests_are_taken_before_one_is_answered(service: Service) -> None:
    with line(service) as one:
        one.sendall(HELLO * 2000)
        told = answers(one)

    assert 8 <= len(told) <= 16
    assert {answer.status for answer in told} == {200}
    assert told[-1].headers["connection"] == "close"


def test_a_wish_for_another_protocol_is_not_heard(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    for wish in (b"websocket\r\nSec-WebSocket-Key: YQ==\r\nSec-WebSocket-Version: 13", b"h2c"):
        with line(service) as one:
            one.sendall(
                b"GET /nothing HTTP/1.1\r\nHost: kit\r\nConnection: Upgrade\r\n"
                b"Upgrade: %b\r\n\r\n" % wish
            )
            one.settimeout(5)
            first = one.recv(65536)
        assert first.startswith(b"HTTP/1.1 404")
        assert b'"code":"not_found"' in first

    assert not [record for record in caplog.records if record.name.startswith("uvicorn")]


def test_an_answer_is_the_same_whether_the_line_stays_open(service: Service, key: str) -> None:
    asked = f"GET {GENERATIONS} HTTP/1.1\r\nHost: kit\r\nAuthorization: Bearer {key}\r\n".encode()
    with line(service) as one:
        one.sendall(asked + b"\r\n" + asked + b"Connection: close\r\n\r\n")
        stays, last = answers(one)

    own = {"date", "x-request-id", "ratelimit"}
    assert (stays.status, stays.body) == (last.status, last.body) == (200, b"[]")
    assert last.headers.pop("connection") == "close"
    assert {**stays.headers, **dict.fromkeys(own)} == {**last.headers, **dict.fromkeys(own)}
    assert own <= stays.headers.keys()


def test_an_answered_request_is_gone_without_the_collector(http: httpx.Client) -> None:
    def requests() -> int:
        return sum(type(one).__name__ == "RequestResponseCycle" for one in gc.get_objects())

    gc.collect()
    gc.disable()
    try:
        before = requests()
        for _ in range(20):
            http.get(GENERATIONS)
            http.get("/v1/models")
        assert requests() < before + 10
    finally:
        gc.enable()


def test_a_head_that_does_not_come_in_time_is_told_so(
    start_service: Callable[..., Service],
) -> None:
    service = start_service(head_seconds=1.0)
    with line(service) as silent, line(service) as begun, line(service) as drips:
        began = time.monotonic()
        begun.sendall(START)
        while time.monotonic() - began < 3:
            try:
                drips.sendall(b"\r\n")
            except OSError:
                break
            time.sleep(0.2)
        (answer,) = answers(begun)
        assert (answer.status, answer.code) == (408, "request_timeout")
        assert [one.status for one in answers(drips)] == [408]
        assert everything(silent) == b"", "who says nothing is told nothing"
        assert time.monotonic() - began < 8


def test_a_second_head_has_its_own_time(start_service: Callable[..., Service]) -> None:
    service = start_service(head_seconds=1.0)
    with line(service) as one:
        for _ in range(2):
            time.sleep(0.6)
            assert status(one) == 200
        one.sendall(START)
        assert [answer.status for answer in answers(one)] == [408]


def test_a_request_that_is_waited_for_is_not_cut_off(start_service: Callable[..., Service]) -> None:
    service = start_service(workers=0, head_seconds=1.0, body_seconds=1.0)
    with service.client(service.key(service.account(), *ALL_SCOPES)) as http:
        body = {"modelId": "flat", "prompt": "a lake"}
        generation_id = http.post(GENERATIONS, json=body).json()["id"]
        held = http.get(f"{GENERATIONS}/{generation_id}", headers={"Prefer": "wait=4"})

    assert held.status_code == 200
    assert held.elapsed.total_seconds() > 3


def test_a_body_that_does_not_flow_is_told_so(start_service: Callable[..., Service]) -> None:
    service = start_service(body_seconds=1.0)
    key = service.key(service.account(), *ALL_SCOPES)
    head = f"POST {GENERATIONS} HTTP/1.1\r\nAuthorization: Bearer {key}\r\n".encode()
    with line(service) as one, line(service) as stranger:
        one.sendall(head + b"Content-Length: 900\r\n\r\n{")
        stranger.sendall(b"POST /v1/scripts HTTP/1.1\r\nContent-Length: 900\r\n\r\n{")
        (answer,) = answers(one)
        told = answers(stranger)

    assert (answer.status, answer.code) == (408, "request_timeout")
    assert [each.status for each in told] == [401], "it was answered before, and hears no more"


def test_a_body_that_flows_may_take_its_time(start_service: Callable[..., Service]) -> None:
    service = start_service(body_seconds=1.0)
    key = service.key(service.account(), *ALL_SCOPES)
    body = b'{"modelId": "flat", "prompt": "a lake"' + b" " * 4000 + b"}"
    head = f"POST {GENERATIONS} HTTP/1.1\r\nAuthorization: Bearer {key}\r\n".encode()
    with line(service) as one:
        one.sendall(head + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body))
        for begin in range(0, len(body), 400):
            one.sendall(body[begin : begin + 400])
            time.sleep(0.3)
        (answer,) = answers(one)

    assert answer.status == 202


def test_an_answer_that_nobody_takes_is_not_kept_for_ever(
    start_service: Callable[..., Service],
) -> None:
    service = start_service(answer_seconds=1.0)
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        with connected(service) as place:
            one.connect(place.getpeername())
        one.settimeout(0.5)
        # Answers that fill what the system keeps of them, and none is read.
        pour(one, b"GET /openapi.json HTTP/1.1\r\nHost: kit\r\n\r\n", ON_THE_WAY)
        until(lambda: gone(one))


def gone(one: socket.socket) -> bool:
    """Whether the other side has dropped a line."""
    try:
        one.send(b"x")
    except TimeoutError:
        return False
    except OSError:
        return True
    return False
