"""Files from the web, limited in size and time, and downloaded without the API key.

Only public addresses are allowed by default: a URL may be untrusted, and this computer
reaches services that are not public. The connection goes to the address that was checked, because a
name may resolve differently a moment later, and redirects are checked like the first URL.
"""

from __future__ import annotations

import re
import secrets
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

import httpcore
import httpx

from kit.client.file_types import sniff_type
from kit.client.http import FAILURES, FileWriter, TooLongError, certificates
from kit.errors import ParameterError
from kit.internet import is_public
from kit.private import replace_file

#: Maximum of bytes of a file, of seconds in all and per step, and of redirects.
MAX_BYTES, MAX_SECONDS, STEP_SECONDS, MAX_REDIRECTS = 1_000_000_000, 600.0, 20.0, 5
#: Seconds for which a file is reused: a price, a start and a sweep need the same one.
CACHE_SECONDS = 60.0
_HEADERS = {"Accept": "image/*, video/*, audio/*", "Accept-Encoding": "identity"}


@dataclass(frozen=True, slots=True)
class Web:
    """Which URLs may be fetched; tests pass their own names and addresses.

    `private` allows addresses that are not public, also over plain http.
    """

    private: bool = False
    resolve: Callable[..., Any] = socket.getaddrinfo
    public: Callable[[str], bool] = is_public
    schemes: tuple[str, ...] = ("https",)
    most: int = MAX_BYTES
    seconds: float = MAX_SECONDS

    def fetch(self, url: str, folder: Path) -> Path:
        """Download a file and return its path in a folder, named by content."""
        now, key = time.monotonic(), (self.private, url, folder)
        fetched_at, path = _CACHE.get(key, (0.0, folder))
        if path.is_file() and now - fetched_at < CACHE_SECONDS:
            return path
        path = self._fetch(url, folder)
        _CACHE[key] = now, path
        return path

    def _fetch(self, url: str, folder: Path) -> Path:
        shown = url.partition("?")[0][:80]
        part = folder / f"{secrets.token_hex(8)}.part"
        try:
            with self._connect() as transport, closing(self._open(transport, url)) as response:
                digest = self._receive(response, part)
            name = PurePosixPath(unquote(response.request.url.path)).name
            safe = re.sub(r"[^\w.-]", "_", name)[-100:].lstrip(".") or "upload"
            target = folder / digest[:16] / safe
            target.parent.mkdir(mode=0o700, exist_ok=True)
            replace_file(part, target)
            return target
        except _RefusedError as error:
            raise ParameterError(f"the medium {shown!r} {error}") from None
        except TooLongError as error:
            sentence = str(error).removeprefix("it ")
            raise ParameterError(f"the medium {shown!r} {sentence}") from None
        except (*FAILURES, httpcore.ConnectError, OSError) as error:
            why = str(error) or type(error).__name__
            raise ParameterError(f"the medium {shown!r} could not be fetched: {why}") from None
        finally:
            part.unlink(missing_ok=True)

    def _connect(self) -> httpx.HTTPTransport:
        transport = httpx.HTTPTransport(verify=certificates(), trust_env=False)
        backend = _CheckedBackend(self, time.monotonic() + self.seconds)
        transport._pool = httpcore.ConnectionPool(certificates(), network_backend=backend)
        return transport

    def _open(self, transport: httpx.HTTPTransport, url: str) -> httpx.Response:
        """Return the response of a URL, following redirects."""
        address = httpx.URL(url)
        for _ in range(MAX_REDIRECTS + 1):
            scheme, port = address.scheme, address.port or 1
            is_valid = scheme in ("https", "http") and address.host and port < 1 << 16
            if not is_valid or address.userinfo:
                raise _RefusedError("must be like https://host/file, without a user or a password")
            if scheme not in self.schemes and self.public(self.choose(address.host, 80)):
                raise _RefusedError("must begin with https://")
            extensions = {"timeout": httpx.Timeout(STEP_SECONDS).as_dict()}
            request = httpx.Request("GET", address, headers=_HEADERS, extensions=extensions)
            response = transport.handle_request(request)
            response.request = request
            if not response.has_redirect_location:
                return response
            response.close()
            address = address.join(response.headers["location"])
        raise _RefusedError("redirects endlessly")

    def _receive(self, response: httpx.Response, part: Path) -> str:
        """Write the file of a response and return its hash."""
        if response.status_code != 200:
            raise _RefusedError(f"is not there: the answer is {response.status_code}")
        head = b""
        with FileWriter(part, self.most) as writer:
            for chunk in response.iter_bytes():
                if len(head) < 64:
                    head += chunk[:64]
                    if len(head) >= 64:
                        _check_kind(head, response)
                writer.write(chunk)
        _check_kind(head, response)
        return writer.sha256

    def choose(self, host: str, port: int) -> str:
        """Return the address of a host to connect to; all its addresses must be allowed."""
        try:
            found = self.resolve(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise httpcore.ConnectError(f"there is no {host}: {error}") from None
        addresses = [str(each[4][0]) for each in found]
        if not addresses or not (self.private or all(map(self.public, addresses))):
            raise _RefusedError(f"leads to a private network{_ALLOW_ADVICE}")
        return addresses[0]


#: Recent downloads with their times.
_CACHE: dict[tuple[bool, str, Path], tuple[float, Path]] = {}
_ALLOW_ADVICE = "; download it first, or set KIT_PRIVATE_MEDIA=1 to allow that"


class _RefusedError(Exception):
    """A file that is refused; the message is the end of a sentence about it."""


class _CheckedBackend(httpcore.SyncBackend):
    """Connections to checked addresses only, with a time limit."""

    def __init__(self, web: Web, ends_at: float) -> None:
        self._web = web
        self._ends_at = ends_at

    def connect_tcp(self, host: str, port: int, *args: Any, **options: Any) -> _TimedStream:
        address = self._web.choose(host, port)
        return _TimedStream(super().connect_tcp(address, port, *args, **options), self._ends_at)


class _TimedStream(httpcore.NetworkStream):
    """A connection that breaks at a time limit, however slowly data arrives."""

    def __init__(self, stream: httpcore.NetworkStream, ends_at: float) -> None:
        self._stream = stream
        self._ends_at = ends_at

    def _time_left(self) -> float:
        left = self._ends_at - time.monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout("it takes too long")
        return min(STEP_SECONDS, left)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._time_left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._time_left())

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: Any = None
    ) -> _TimedStream:
        secured = self._stream.start_tls(ssl_context, server_hostname, self._time_left())
        return _TimedStream(secured, self._ends_at)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _check_kind(head: bytes, response: httpx.Response) -> None:
    if sniff_type(head) is None:
        content_type = response.headers.get("content-type", "something else").partition(";")[0][:40]
        raise _RefusedError(f"is not a picture, video or sound, but {content_type}")
