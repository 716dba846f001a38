"""What a client may send before it is authenticated: heads, bodies and their time limits."""

import gc
import json
import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack

import httpx
import pytest

from tests.conftest import ALL_SCOPES, Service
from tests.service.connections.raw_http import (
    HELLO,
    connect,
    connection,
    read_all,
    read_responses,
    request_status,
    send_repeatedly,
)
from tests.waiting import GENERATIONS, generate, until

START = b"GET /healthz HTTP/1.1\r\nHost: kit\r\n"
KILOBYTE = b"x" * 1000
#: More bytes than the sockets of this machine buffer: the rest is only sent if somebody reads.
SOCKET_BUFFERS = 12_000_000


def test_a_head_without_an_end_is_refused_while_it_arrives(service: Service) -> None:
    for begin, piece in (
        (START + b"X-Long: ", KILOBYTE),
        (START, b"X-Many: 1\r\n" * 100),
        (b"GET /", KILOBYTE),
        (b"", b"\r\n" * 500),
        (START + b"X-", KILOBYTE),
    ):
        with connection(service) as one:
            one.sendall(begin)
            sent = send_repeatedly(one, piece, 66_000)
            (answer,) = read_responses(one)

        assert sent <= 67_000, begin
        assert (answer.status, answer.code) == (431, "head_too_large"), begin
        assert answer.headers["connection"] == "close", begin


def test_a_head_just_below_the_limit_is_accepted(http: httpx.Client) -> None:
    def status_for(size: int) -> int:
        return http.get("/healthz", headers={"X-Long": "x" * size}).status_code

    assert (status_for(64_000), status_for(65_536)) == (200, 431)


def test_trailers_and_chunk_extensions_have_the_same_limit(service: Service, key: str) -> None:
    begin = f"POST {GENERATIONS} HTTP/1.1\r\nAuthorization: Bearer {key}\r\n".encode()
    for head, piece in (
        (b"5\r\nhello\r\n0\r\nX-Late: ", KILOBYTE),
        (b"5\r\nhello\r\n0\r\n", b"X-Late: 1\r\n" * 100),
        (b"5;", KILOBYTE),
    ):
        with connection(service) as one:
            one.sendall(begin + b"Transfer-Encoding: chunked\r\n\r\n" + head)
            send_repeatedly(one, piece, 140_000)
            (answer,) = read_responses(one)

        assert (answer.status, answer.code) == (431, "head_too_large"), head


def test_too_many_headers_are_refused_even_if_they_are_small(http: httpx.Client) -> None:
    def send_headers(count: int) -> httpx.Response:
        return http.get("/healthz", headers=[("a", "b")] * count)

    assert (send_headers(150).status_code, send_headers(250).status_code) == (200, 431)
    assert send_headers(250).json()["error"]["code"] == "head_too_large"


def test_a_body_in_one_byte_chunks_is_refused(service: Service, key: str) -> None:
    head = f"POST {GENERATIONS} HTTP/1.1\r\nAuthorization: Bearer {key}\r\n".encode()
    with connection(service) as one:
        one.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\n \r\n" * 1500)
        (answer,) = read_responses(one)

    assert (answer.status, answer.code) == (400, "validation_error")


def test_an_account_sends_few_large_bodies_at_once(service: Service, key: str) -> None:
    other = service.key(service.account(), *ALL_SCOPES)
    body = b'{"modelId": "flat", "prompt": "%b"}' % (b"x" * 900_000)

    def begin(stack: ExitStack, key: str, size: int) -> socket.socket:
        one = stack.enter_context(connection(service))
        head = f"POST {GENERATIONS} HTTP/1.1\r\nAuthorization: Bearer {key}\r\n".encode()
        one.sendall(head + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body))
        sending = threading.Thread(target=one.sendall, args=[body[:size]])
        sending.start()
        stack.callback(sending.join)
        return one

    with ExitStack() as stack:
        first, *_ = [begin(stack, key, 800_000) for _ in range(4)]
        time.sleep(0.3)
        fifth = begin(stack, key, len(body))
        (answer,) = read_responses(begin(stack, other, len(body)))
        assert answer.code == "validation_error"
        fifth.settimeout(0.5)
        with pytest.raises(TimeoutError):
            fifth.recv(1)

        first.sendall(body[800_000:])
        fifth.settimeout(20)
        for one in (first, fifth):
            (answer,) = read_responses(one)
            assert answer.code == "validation_error"


def test_an_account_is_sent_few_large_pages_at_once(start_service: Callable[..., Service]) -> None:
    service = start_service(workers=0, starts_per_minute=1_000)
    account = service.account(1_000)
    key = service.key(account, *ALL_SCOPES)
    head = f"GET {GENERATIONS}?limit=1000 HTTP/1.1\r\nAuthorization: Bearer {key}\r\n\r\n"
    with ExitStack() as stack, service.client(key) as http:
        for _ in range(300):
            generate(http, prompt="\N{GRINNING FACE}" * 4_000)
        for _ in range(8):
            one = stack.enter_context(connection(service))
            one.sendall(head.encode())
            one.recv(1)
        ninth = stack.enter_context(connection(service))
        ninth.sendall(head.encode())
        ninth.settimeout(0.5)
        with pytest.raises(TimeoutError):
            ninth.recv(1)
        assert len(http.get(f"{GENERATIONS}?limit=100").json()) == 100
        other = service.key(service.account(), *ALL_SCOPES)
        with service.client(other) as another:
            assert another.get(f"{GENERATIONS}?limit=1000").json() == []

        one.close()
        ninth.settimeout(20)
        assert ninth.recv(12) == b"HTTP/1.1 200"


def test_trailers_are_not_read_as_headers(service: Service, key: str, http: httpx.Client) -> None:
    body = b'{"modelId": "flat", "prompt": "a lake"}'
    head = f"POST {GENERATIONS} HTTP/1.1\r\nAuthorization: Bearer {key}\r\n".encode()
    chunks = b"%x\r\n%b\r\n0\r\n" % (len(body), body)
    for _ in range(2):
        with connection(service) as one:
            one.sendall(head + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n")
            one.sendall(chunks + b"Idempotency-Key: late\r\n\r\n")
            (answer,) = read_responses(one)
        assert answer.status == 202
        assert "idempotency-replayed" not in answer.headers

    assert len(http.get(GENERATIONS).json()) == 2


def test_bytes_that_are_not_a_request_get_an_error_envelope(service: Service) -> None:
    for data in (
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET\r\n\r\n",
        b"GET / HTTP/1.1\r\nbad header\r\n\r\n",
        b"GET /healthz HTTP/9.9\r\n\r\n",
        b"GET \xff HTTP/1.1\r\n\r\n",
        b"CONNECT kit:443 HTTP/1.1\r\nHost: kit\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    ):
        with connection(service) as one:
            one.sendall(data)
            (answer,) = read_responses(one)

        assert (answer.status, answer.code) == (400, "validation_error"), data


def test_a_malformed_body_gets_a_validation_error(service: Service, key: str) -> None:
    head = f"POST {GENERATIONS} HTTP/1.1\r\nAuthorization: Bearer {key}\r\n".encode()
    with connection(service) as one:
        one.sendall(head + b"Transfer-Encoding: chunked\r\n\r\nnonsense\r\n")
        (answer,) = read_responses(one)

    assert (answer.status, answer.code) == (400, "validation_error")


def test_a_request_with_nonsense_after_it_gets_its_response(service: Service, key: str) -> None:
    body = b'{"modelId": "flat", "prompt": "a lake"}'
    head = f"POST {GENERATIONS} HTTP/1.1\r\nAuthorization: Bearer {key}\r\n".encode()
    with connection(service) as one:
        one.sendall(head + b"Content-Length: %d\r\n\r\n%bnonsense\r\n\r\n" % (len(body), body))
        (answer,) = read_responses(one)

    assert answer.status == 202
    assert json.loads(answer.body)["status"] == "processing"


def test_few_pipelined_requests_are_read_before_the_first_response(service: Service) -> None:
    with connection(service) as one:
        one.sendall(HELLO * 2000)
        responses = read_responses(one)

    assert 8 <= len(responses) <= 16
    assert {answer.status for answer in responses} == {200}
    assert responses[-1].headers["connection"] == "close"


def test_an_upgrade_to_another_protocol_is_ignored(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    for protocol in (b"websocket\r\nSec-WebSocket-Key: YQ==\r\nSec-WebSocket-Version: 13", b"h2c"):
        with connection(service) as one:
            one.sendall(
                b"GET /nothing HTTP/1.1\r\nHost: kit\r\nConnection: Upgrade\r\n"
                b"Upgrade: %b\r\n\r\n" % protocol
            )
            one.settimeout(5)
            first = one.recv(65536)
        assert first.startswith(b"HTTP/1.1 404")
        assert b'"code":"not_found"' in first

    assert not [record for record in caplog.records if record.name.startswith("uvicorn")]


@pytest.mark.parametrize("pause", [0, 0.05])
def test_a_request_that_offers_an_upgrade_keeps_its_body(
    service: Service, key: str, pause: float
) -> None:
    body = b'{"modelId": "flat", "prompt": "a lake"}'
    head = (
        f"POST {GENERATIONS} HTTP/1.1\r\nAuthorization: Bearer {key}\r\n"
        "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAQAAP__\r\n"
    ).encode()
    length, chunked = b"Content-Length: %d\r\n" % len(body), b"Transfer-Encoding: chunked\r\n"
    chunks = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    pieces = [head + length + b"\r\n", body, head + chunked + b"\r\n", chunks]
    with connection(service) as one:
        for piece in (*pieces, HELLO.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")):
            one.sendall(piece)
            time.sleep(pause)
        responses = read_responses(one)

    assert [answer.status for answer in responses] == [202, 202, 200]


def test_a_body_after_an_upgrade_is_never_a_request(service: Service) -> None:
    last = HELLO.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    for options, expected in ((b"Upgrade", [404, 200]), (b"Upgrade, close", [404])):
        head = b"POST /nothing HTTP/1.1\r\nUpgrade: h2c\r\nConnection: %b\r\n" % options
        with connection(service) as one:
            for piece in (head + b"Content-Length: %d\r\n\r\n" % len(HELLO), HELLO, last):
                send_repeatedly(one, piece, 1)
                time.sleep(0.05)
            statuses = [answer.status for answer in read_responses(one)]

        # Windows drops an unread response if more is sent to a closed connection.
        is_dropped = os.name == "nt" and expected == [404] and not statuses
        assert is_dropped or statuses == expected


def test_a_short_response_arrives_in_one_piece(service: Service) -> None:
    with connection(service) as one:
        for _ in range(20):
            one.sendall(HELLO)
            head, _, body = one.recv(65_536).partition(b"\r\n\r\n")

            assert f"content-length: {len(body)}\r\n".encode() in head.lower() + b"\r\n"
            assert json.loads(body)["status"] == "ok"


def test_a_response_is_the_same_on_a_connection_that_closes(service: Service, key: str) -> None:
    request = f"GET {GENERATIONS} HTTP/1.1\r\nHost: kit\r\nAuthorization: Bearer {key}\r\n".encode()
    with connection(service) as one:
        one.sendall(request + b"\r\n" + request + b"Connection: close\r\n\r\n")
        stays, last = read_responses(one)

    own = {"date", "x-request-id", "ratelimit"}
    assert (stays.status, stays.body) == (last.status, last.body) == (200, b"[]")
    assert last.headers.pop("connection") == "close"
    assert {**stays.headers, **dict.fromkeys(own)} == {**last.headers, **dict.fromkeys(own)}
    assert own <= stays.headers.keys()


def test_a_finished_request_is_freed_without_garbage_collection(http: httpx.Client) -> None:
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


def test_a_head_that_does_not_arrive_in_time_gets_408(
    start_service: Callable[..., Service],
) -> None:
    service = start_service(head_seconds=1.0)
    with connection(service) as silent, connection(service) as partial, connection(service) as slow:
        began = time.monotonic()
        partial.sendall(START)
        while time.monotonic() - began < 3:
            try:
                slow.sendall(b"\r\n")
            except OSError:
                break
            time.sleep(0.2)
        (answer,) = read_responses(partial)
        assert (answer.status, answer.code) == (408, "request_timeout")
        assert [one.status for one in read_responses(slow)] == [408]
        assert read_all(silent) == b"", "a connection that sends nothing gets no response"
        assert time.monotonic() - began < 8


def test_each_head_has_its_own_time_limit(start_service: Callable[..., Service]) -> None:
    service = start_service(head_seconds=1.0)
    with connection(service) as one:
        for _ in range(2):
            time.sleep(0.6)
            assert request_status(one) == 200
        one.sendall(START)
        assert [answer.status for answer in read_responses(one)] == [408]


def test_a_long_poll_outlasts_the_time_limits(start_service: Callable[..., Service]) -> None:
    service = start_service(workers=0, head_seconds=1.0, body_seconds=1.0)
    with service.client(service.key(service.account(), *ALL_SCOPES)) as http:
        body = {"modelId": "flat", "prompt": "a lake"}
        generation_id = http.post(GENERATIONS, json=body).json()["id"]
        held = http.get(f"{GENERATIONS}/{generation_id}", headers={"Prefer": "wait=2"})

    assert held.status_code == 200
    assert held.elapsed.total_seconds() > 1.5


def test_a_body_that_stops_arriving_gets_408(start_service: Callable[..., Service]) -> None:
    service = start_service(body_seconds=1.0)
    key = service.key(service.account(), *ALL_SCOPES)
    head = f"POST {GENERATIONS} HTTP/1.1\r\nAuthorization: Bearer {key}\r\n".encode()
    with connection(service) as one, connection(service) as stranger:
        one.sendall(head + b"Content-Length: 900\r\n\r\n{")
        stranger.sendall(b"POST /v1/scripts HTTP/1.1\r\nContent-Length: 900\r\n\r\n{")
        (answer,) = read_responses(one)
        responses = read_responses(stranger)

    assert (answer.status, answer.code) == (408, "request_timeout")
    assert [each.status for each in responses] == [401], "it already got its only response"


def test_a_slow_body_that_keeps_arriving_is_accepted(start_service: Callable[..., Service]) -> None:
    service = start_service(body_seconds=1.0)
    key = service.key(service.account(), *ALL_SCOPES)
    body = b'{"modelId": "flat", "prompt": "a lake"' + b" " * 4000 + b"}"
    head = f"POST {GENERATIONS} HTTP/1.1\r\nAuthorization: Bearer {key}\r\n".encode()
    with connection(service) as one:
        one.sendall(head + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body))
        for begin in range(0, len(body), 800):
            one.sendall(body[begin : begin + 800])
            time.sleep(0.3)
        (answer,) = read_responses(one)

    assert answer.status == 202


def test_a_connection_whose_responses_are_not_read_is_closed(
    start_service: Callable[..., Service],
) -> None:
    service = start_service(answer_seconds=1.0)
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        with connect(service) as place:
            one.connect(place.getpeername())
        one.settimeout(0.5)
        # Responses that fill the system's buffers, and none is read.
        send_repeatedly(one, b"GET /openapi.json HTTP/1.1\r\nHost: kit\r\n\r\n", SOCKET_BUFFERS)
        until(lambda: is_closed(one))


def test_responses_to_a_connection_that_was_closed_are_dropped(
    start_service: Callable[..., Service], caplog: pytest.LogCaptureFixture
) -> None:
    service = start_service(answer_seconds=1.0)

    def is_refused() -> bool:
        try:
            one.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: kit\r\n\r\n")
        except ConnectionError:
            return True
        return False

    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        with connect(service) as place:
            one.connect(place.getpeername())
        until(is_refused)  # one request at a time, so that all are accepted
    service.stop()
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []


def is_closed(one: socket.socket) -> bool:
    """Whether the other side has closed a connection."""
    try:
        one.send(b"x")
    except TimeoutError:
        return False
    except OSError:
        return True
    return False
