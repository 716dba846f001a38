"""Many connections at once: other clients still get responses."""

import logging
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from kit.service import machine, server, settings
from kit.service.connections import Admission, client_key
from kit.service.settings import ServiceSettings
from tests.conftest import ALL_SCOPES, Service
from tests.service.connections.raw_http import connect, read_all, read_responses, request_status
from tests.waiting import GENERATIONS, generate, until, wait_for_end

resource = pytest.importorskip("resource", reason="Windows has no limit of open files")
Start = Callable[..., Service]


@pytest.fixture
def open_idle() -> Iterator[Callable[..., list[socket.socket]]]:
    """Open connections that send nothing."""
    with ExitStack() as stack:
        yield lambda service, count, source="127.0.0.1": [
            stack.enter_context(connect(service, source)) for _ in range(count)
        ]


def test_the_oldest_idle_connections_are_closed_first(
    start_service: Start, open_idle: Callable[..., list[socket.socket]]
) -> None:
    service = start_service(connections=20)
    idle = open_idle(service, 25)

    assert [request_status(one) for one in idle[5:]] == [200] * 20
    assert [read_all(one) for one in idle[:5]] == [b""] * 5


def test_busy_connections_stay_open_and_a_new_one_gets_503(
    start_service: Start, caplog: pytest.LogCaptureFixture
) -> None:
    service = start_service(workers=0, connections=12)
    keys = [service.key(service.account(), *ALL_SCOPES) for _ in range(2)]
    with ExitStack() as stack:
        first, second = (stack.enter_context(service.client(key)) for key in keys)
        watched = generate(first)
        path = f"{GENERATIONS}/{watched}/events"
        streams = [stack.enter_context(first.stream("GET", path)) for _ in range(6)]
        assert {stream.status_code for stream in streams} == {200}
        # The other six are busy, too: their bodies are incomplete.
        head = f"POST {GENERATIONS} HTTP/1.1\r\nAuthorization: Bearer {keys[1]}\r\n".encode()
        uploading = [stack.enter_context(connect(service)) for _ in range(6)]
        for one in uploading:
            one.sendall(head + b"Content-Length: 50\r\n\r\n{")
        until(lambda: probe(service).status == 503)
        answer = probe(service)
        until(lambda: "no room for a connection" in caplog.text)
        second.close()

    assert answer.code == "unavailable"
    assert answer.headers["retry-after"] == "1"


def probe(service: Service) -> Any:
    with connect(service) as one:
        one.settimeout(1)
        try:
            responses = read_responses(one)
        except TimeoutError:
            return SimpleNamespace(status=0)
        return responses[0] if responses else SimpleNamespace(status=0)


def test_one_address_cannot_use_up_the_connections_of_others(
    start_service: Start, open_idle: Callable[..., list[socket.socket]]
) -> None:
    service = start_service(
        connections=40, connections_per_address=10, trusted_proxies=("127.0.0.9",)
    )
    others = open_idle(service, 5, "127.0.0.2")
    open_idle(service, 60, "127.0.0.1")
    proxied = open_idle(service, 15, "127.0.0.9")

    assert {request_status(one) for one in others + proxied} == {200}


def test_an_address_with_only_busy_connections_gets_no_more_but_others_do(
    start_service: Start, open_idle: Callable[..., list[socket.socket]]
) -> None:
    service = start_service(workers=0, connections_per_address=3, trusted_proxies=("127.0.0.9",))
    key = service.key(service.account(), *ALL_SCOPES)
    busy = open_idle(service, 3)
    for one in busy:
        one.sendall(
            f"POST {GENERATIONS} HTTP/1.1\r\nAuthorization: Bearer {key}\r\n".encode()
            + b"Content-Length: 50\r\n\r\n{"
        )
    until(lambda: probe(service).status == 503)
    with connect(service, "127.0.0.2") as other:
        assert request_status(other) == 200


def test_connections_from_this_machine_are_not_limited_by_address(
    start_service: Start, open_idle: Callable[..., list[socket.socket]]
) -> None:
    service = start_service(connections_per_address=5)

    assert [request_status(one) for one in open_idle(service, 50)] == [200] * 50


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="there are no such sockets here")
def test_a_unix_socket_has_no_limit_by_address(config: ServiceSettings, tmp_path: Path) -> None:
    path = str(tmp_path / "kit.socket")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(100)
    running = server.start(replace(config, connections_per_address=5), listener)
    with ExitStack() as stack:
        open_idle = [stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(50)]
        for one in open_idle:
            one.connect(path)
        statuses = [request_status(one) for one in open_idle]
    running.stop()

    assert statuses == [200] * 50


def test_refused_connections_are_logged_at_intervals(caplog: pytest.LogCaptureFixture) -> None:
    admission = Admission(settings.load({}, connections=1))
    for number in range(10_000):
        admission.log_refusal("no room for a connection", f"192.0.2.{number % 200}")
    caplog.set_level(logging.WARNING)
    for second in range(25):
        admission.log_refusal("no room for a connection", "192.0.2.1")
        admission.review(float(second))

    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == 3
    assert messages[0].startswith("no room for a connection: 10001 times, ")
    assert messages[1].endswith("10 times, 10 of them 192.0.2.1")


SERVE = """
import resource, sys
from pathlib import Path
soft, hard = (int(number) for number in sys.argv[2:4])
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
from kit.service import server, settings
listener = server.bind("127.0.0.1", 0)
print(server.url_of(listener), flush=True)
server.serve(settings.load({}, data=Path(sys.argv[1]), workers=1), listener)
"""


@pytest.fixture
def serve_apart(service: Service) -> Iterator[Callable[..., Service]]:
    """Starts the service in a process with its own limit of open files, on the same data."""
    service.stop()
    processes = []

    def start(soft: int, hard: int) -> tuple[Service, int]:
        command = [sys.executable, "-c", SERVE, str(service.settings.data), str(soft), str(hard)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        processes.append(process)
        assert process.stdout
        url = process.stdout.readline().strip()
        until(lambda: is_healthy(url))
        return Service(url, service.context, service.settings, process.terminate), process.pid

    yield start
    for process in processes:
        process.terminate()
        process.wait()
        if process.stdout:
            process.stdout.close()


def is_healthy(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz").status_code == 200
    except httpx.HTTPError:
        return False


@pytest.mark.parametrize(
    "sent", [b"", b"GET /healthz HTTP/1.1\r\nHost: k"], ids=["silent", "partial"]
)
def test_1100_connections_within_1024_open_files_leave_room_for_others(
    service: Service, serve_apart: Callable[..., Any], open_idle: Any, sent: bytes
) -> None:
    key = service.key(service.account(), *ALL_SCOPES)
    small, pid = serve_apart(1024, 1024)
    files = Path(f"/proc/{pid}/fd")
    for one in open_idle(small, 1100):
        one.sendall(sent)
    with small.client(key) as http:
        done = wait_for_end(http, generate(http))
        picture = httpx.get(done["outputUrl"])

    assert done["status"] == "completed", "there are files for the database and for renders"
    assert picture.status_code == 200
    if files.exists():
        assert len(list(files.iterdir())) < 900


def test_the_open_files_limit_is_raised(service: Service, serve_apart: Callable[..., Any]) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    _, pid = serve_apart(256, hard)
    limits = Path(f"/proc/{pid}/limits")
    if not limits.exists():
        pytest.skip("this system does not show the limits of a process")
    (limit,) = [row for row in limits.read_text().splitlines() if row.startswith("Max open files")]

    assert int(limit.split()[3]) == min(hard, 2 * service.settings.connections + 128)


def test_the_open_files_limit_is_never_lowered() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)

    assert machine.open_files(16) == before[0]
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == before


def test_ipv6_addresses_are_counted_by_their_64_bit_prefix() -> None:
    here = [ip_network("127.0.0.0/8")]

    assert client_key("::ffff:192.0.2.7", here) == "192.0.2.7"
    assert client_key("2001:db8::1:2:3:4", here) == "2001:db8::/64"
    assert client_key("127.0.0.1", here) is None
