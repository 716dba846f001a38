"""Raw connections to a running service: a test decides which bytes it sends, and how slowly."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from tests.conftest import Service

HELLO = b"GET /healthz HTTP/1.1\r\nHost: kit\r\n\r\n"


@dataclass(frozen=True)
class RawResponse:
    """A response, read from a raw connection."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def code(self) -> str:
        """The code of an error envelope that names its request."""
        error = json.loads(self.body)["error"]
        assert error["requestId"] == self.headers["x-request-id"]
        assert self.headers["content-type"] == "application/json"
        return str(error["code"])


@contextmanager
def connection(service: Service, source: str = "127.0.0.1") -> Iterator[socket.socket]:
    """Connect from one of this machine's own addresses."""
    with connect(service, source) as one:
        yield one


def connect(service: Service, source: str = "127.0.0.1") -> socket.socket:
    """Return a connection that the test closes."""
    parts = urlsplit(service.url)
    place = (parts.hostname or "", parts.port or 0)
    return socket.create_connection(place, timeout=20, source_address=(source, 0))


def read_responses(one: socket.socket) -> list[RawResponse]:
    """Return all responses on a connection that the service closes, or closes for writing."""
    data = read_all(one)
    found = []
    while data:
        head, _, data = data.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        headers = {k.lower(): v for k, _, v in (text.partition(": ") for text in lines)}
        length = int(headers.get("content-length", 0))
        found.append(RawResponse(int(first.split()[1]), headers, data[:length]))
        data = data[length:]
    return found


def read_all(one: socket.socket) -> bytes:
    """Return the bytes received until the other side closes."""
    data = b""
    while True:
        try:
            more = one.recv(65536)
        except ConnectionResetError:
            return data
        if not more:
            return data
        data += more


def request_status(one: socket.socket) -> int:
    """Request /healthz and return the status; 0 if the connection is closed."""
    try:
        one.sendall(HELLO)
        data = one.recv(65536)
    except OSError:
        return 0
    return int(data.split()[1]) if data else 0


def send_repeatedly(one: socket.socket, data: bytes, most: int) -> int:
    """Send until it is refused or `most` bytes are sent; return the number of bytes sent."""
    sent = 0
    one.settimeout(10)
    try:
        while sent < most:
            sent += one.send(data)
    except OSError:
        pass
    return sent
