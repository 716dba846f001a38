"""Another program takes the port of the embedded service: it receives no key."""

import asyncio
import json
import ssl
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

import kit
from kit import local
from kit.client.http.sync import ProvenTransport
from kit.service import address, settings

_HOST = """
import sys
from kit import local
print(local.start_embedded(sys.argv[1])[0], flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A data folder whose embedded service is stopped at the end."""
    yield tmp_path / "data"
    local.stop()


@contextmanager
def host_service(data: Path) -> Iterator[tuple[str, Callable[[], None]]]:
    """Run the service of a folder in another process; yield its URL and a function to kill it."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", _HOST, str(data)], text=True, **pipes) as process:  # type: ignore[call-overload]

        def kill() -> None:
            process.kill()
            process.wait()

        try:
            yield process.stdout.readline().strip(), kill
        finally:
            kill()


class Impostor(ThreadingHTTPServer):
    """Repeats a response of the service, or relays requests to it; records what it receives."""

    daemon_threads = True

    def __init__(self, port: int, relay: str = "", health: bytes = b"{}") -> None:
        self.received: list[str] = []
        self.relay, self.health = relay, health
        super().__init__(("127.0.0.1", port), _Handler)

    def respond(self, path: str) -> bytes:
        """Return the body of a response."""
        if self.relay and path.startswith("/healthz"):
            with urllib.request.urlopen(self.relay + path) as answer:
                return bytes(answer.read())
        return self.health if path.startswith("/healthz") else b'{"id": "acc_stolen"}'


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Impostor

    def do_GET(self) -> None:
        self.server.received.append(f"{self.requestline}\n{self.headers}")
        body = self.server.respond(self.path)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def run_impostor(url: str, **how: object) -> Iterator[Impostor]:
    """Let another program listen at the URL of the service."""
    with Impostor(urlsplit(url).port or 0, **how) as listening:  # type: ignore[arg-type]
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield listening
        finally:
            listening.shutdown()
            thread.join()


def health(url: str) -> bytes:
    with urllib.request.urlopen(f"{url}/healthz?challenge={'0' * 32}") as answer:
        return bytes(answer.read())


def test_a_program_that_repeats_a_health_response_receives_no_key(data: Path) -> None:
    with host_service(data) as (url, kill):
        response = health(url)
        kill()
        with run_impostor(url, health=response) as other, kit.connect(data=data) as studio:
            assert studio.account.name == "Demo"
            assert studio.client.settings.base_url != url
            text = "".join(other.received)

    key = json.loads((data / "demo.json").read_text())["key"]
    assert "/healthz" in text
    assert key not in text


def find_service(data: Path, replace_service: Callable[[], None]) -> str:
    """Open a studio, replace its service, send a request; return the URL of the service."""
    with kit.connect(data=data) as studio:
        replace_service()
        assert studio.history.list(5) == []
        return studio.client.settings.current_url(studio.client.settings.base_url)


def find_service_async(data: Path, replace_service: Callable[[], None]) -> str:
    """Do the same with an async studio."""

    async def cell() -> str:
        studio = await kit.aconnect(data=data)
        await asyncio.to_thread(replace_service)
        assert await studio.history.list(5) == []
        await studio.close()
        return studio.client.settings.current_url(studio.client.settings.base_url)

    return asyncio.run(cell())


@pytest.mark.parametrize("use", [find_service, find_service_async])
def test_an_open_studio_verifies_each_new_connection(
    data: Path, use: Callable[[Path, Callable[[], None]], str]
) -> None:
    with ExitStack() as stack:
        url, kill = stack.enter_context(host_service(data))
        received = []

        def replace_service() -> None:
            response = health(url)
            kill()
            received.append(stack.enter_context(run_impostor(url, health=response)).received)

        assert use(data, replace_service) != url
        [lines] = received
        assert {line.partition("?")[0] for line in lines} == {"GET /healthz"}
        assert "uthorization" not in "".join(lines)


def test_a_relayed_response_of_the_service_is_no_proof(data: Path) -> None:
    with host_service(data) as (url, _):
        note = json.loads((data / "service.json").read_text())
        with run_impostor("http://127.0.0.1:0", relay=url) as other:
            there = f"http://127.0.0.1:{other.server_port}"
            (data / "service.json").write_text(json.dumps({**note, "url": there}))

            assert address.find(data) is None
            assert b"proof" in other.respond("/healthz?challenge=" + "0" * 32)
        (data / "service.json").write_text(json.dumps(note))
        assert address.find(data) == url


def test_a_proof_needs_the_secret_of_the_folder(data: Path, tmp_path: Path) -> None:
    with host_service(data) as (url, _):
        elsewhere = settings.load({}, data=tmp_path / "other")
        settings.prepare(elsewhere.data)
        elsewhere.make_secret()
        (elsewhere.data / "service.json").write_bytes((data / "service.json").read_bytes())

        assert address.find(data) == url
        assert address.find(elsewhere.data) is None


def test_a_request_to_an_outdated_url_is_verified_too(data: Path) -> None:
    """A request may have been built just before another thread found the service elsewhere."""
    with host_service(data) as (url, kill), kit.connect(data=data) as studio:
        location = studio.client.settings.location
        kill()
        assert location is not None
        assert location.find_again(url)
        assert location.base_url != url
        trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        transport = ProvenTransport(studio.client.http.start_proof, trust, None)
        request = httpx.Request("GET", f"{url}/v1/account", headers={"Authorization": "key"})
        refused = pytest.raises(httpx.ConnectError, match="another program")
        with run_impostor(url) as other, transport, refused:
            transport.handle_request(request)
    assert "uthorization" not in "".join(other.received)
