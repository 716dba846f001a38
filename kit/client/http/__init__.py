"""HTTP without sending: actions become requests, responses become replies and files.

Only `_auth_header` adds the API key, and only for the origin of the base URL. Requests go
directly to httpx's transports: no cookies, no redirects, nothing added or logged.
"""

from __future__ import annotations

import hashlib
import os
import ssl
import sys
import threading
import time
import urllib.request
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar

if "httpx" not in sys.modules:
    # Without its command line, which would load rich and pygments: 3 MB that are not used here.
    sys.modules["httpx._main"] = None  # type: ignore[assignment]
    import_module("httpx")
    del sys.modules["httpx._main"]
import httpx

from kit.client import answers
from kit.client.addresses import ProofExchange, absolute_url, ask_for_proof, mask
from kit.client.calls import Call, DownloadFile, NoReply, Reply, SendRequest, UploadFile
from kit.client.settings import Settings
from kit.errors import BadRequestError, ConfigError
from kit.internet import LOOPBACK, origin
from kit.private import make_folder
from kit.version import __version__


def proxy(scheme: str, host: str, _port: int = 0) -> str | None:
    """Return the environment's proxy for a host; local hosts have none."""
    if host in LOOPBACK or urllib.request.proxy_bypass(host):
        return None
    proxies = urllib.request.getproxies()
    found = proxies.get(scheme) or proxies.get("all")
    return f"http://{found}" if found and "://" not in found else found


C = TypeVar("C", httpx.HTTPTransport, httpx.AsyncHTTPTransport)


@dataclass(slots=True)
class _PooledConnection(Generic[C]):
    transport: C
    requests: int = 0
    retired: bool = False


class ConnectionPool(Generic[C]):
    """The transports of one client, created on first use.

    Loading certificates takes 18 ms, and plain http does not need them. A forked process creates
    new transports.
    """

    def __init__(self, make: Callable[..., Any]) -> None:
        self._make = make
        self._entries: dict[tuple[int, tuple[str, str, int]], _PooledConnection[C]] = {}
        self._lock = threading.Lock()
        self._open = True

    def acquire(self, url: str) -> _PooledConnection[C]:
        """Return the entry for a URL's origin in this process; `release` it afterwards."""
        target = origin(url)
        key = (os.getpid(), target)
        with self._lock:
            if (entry := self._entries.get(key)) is None:
                # An empty context costs nothing, and plain http never uses it.
                plain = target[0] != "https"
                verify = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else certificates()
                entry = _PooledConnection(self._build(verify, target), retired=not self._open)
                if self._open:
                    self._entries[key] = entry
            entry.requests += 1
            return entry

    def _build(self, verify: ssl.SSLContext, target: tuple[str, str, int]) -> C:
        try:
            transport: C = self._make(verify=verify, proxy=proxy(*target))
            pool: Any = transport._pool
            close = getattr(pool, "close", None) or pool.aclose
            weakref.finalize(transport, _close, os.getpid(), close).atexit = hasattr(pool, "close")
        except ImportError:
            needed = "needs a package: pip install 'httpx[socks]'"
        except ValueError:
            needed = "is not valid: write http://HOST:PORT"
        else:
            return transport
        raise ConfigError(f"the proxy that the environment names for {target[0]} {needed}")

    def release(self, entry: _PooledConnection[C]) -> bool:
        """Release an entry; returns True if the caller must close its transport now."""
        with self._lock:
            entry.requests -= 1
            return entry.retired and not entry.requests

    def close(self) -> list[C]:
        """Stop pooling; return the idle transports, to be closed now.

        Transports in use are closed by their last user.
        """
        with self._lock:
            self._open = False
            ours = [entry for (pid, _), entry in self._entries.items() if pid == os.getpid()]
            self._entries.clear()
            for entry in ours:
                entry.retired = True
            return [entry.transport for entry in ours if not entry.requests]


def _close(pid: int, close: Callable[[], Any]) -> None:
    """Close the connections of a client that was dropped, except in a forked process."""
    if os.getpid() == pid and (closing := close()):
        from kit.client.bridge import bridge

        bridge.submit(closing)


@cache
def certificates() -> ssl.SSLContext:
    """Return the verifying TLS context, loaded once."""
    try:
        return httpx.create_ssl_context()
    except OSError as error:
        sentence = "the certificates that SSL_CERT_FILE or SSL_CERT_DIR names cannot be read"
        raise ConfigError(f"{sentence}: {error.strerror or error}") from None


#: Requests wait for a connection as long as the others take.
_TIMEOUT = {"timeout": httpx.Timeout(60.0, connect=10.0, pool=None).as_dict()}
_AGENT = f"creative-studio-kit/{__version__}"
FAILURES = (httpx.HTTPError, httpx.InvalidURL)
#: Maximum of bytes of a response, decompressed; a page of 1,000 generations rarely has 1 % of it.
MAX_RESPONSE_BYTES = 100_000_000


class TooLongError(httpx.HTTPError):
    """A response is larger than the maximum."""

    def __init__(self, most: int) -> None:
        super().__init__(f"it is larger than {most / 1e6:,.0f} MB")


#: Errors before anything was sent.
_UNSENT_ERRORS = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.InvalidURL,
)
_ADVICE = "is the service running, is the address right?"
_PROXY_ADVICE = "is the proxy right that the environment names?"
_TLS_ADVICE = "if an authority of your own has signed it, SSL_CERT_FILE must name its certificate"


@dataclass(frozen=True, slots=True)
class LastResponse:
    """Facts about the last response for support, without bodies, keys or signed URLs."""

    method: str
    path: str
    status: int
    request_id: str | None
    seconds: float


class Exchange(Generic[C]):
    """The base of both senders: building requests, parsing responses, pooling connections."""

    def __init__(self, settings: Settings, make: Callable[..., Any]) -> None:
        self._settings = settings
        self.pool: ConnectionPool[C] = ConnectionPool(make)
        self.last_response: LastResponse | None = None
        self._honors_keys = settings.ours

    @property
    def _base(self) -> str:
        return self._settings.current_url(self._settings.base_url)

    def address(self, path: str) -> str:
        """Return the absolute URL of a call's path."""
        return self._settings.current_url(absolute_url(self._base, path))

    def request(self, action: SendRequest, url: str) -> httpx.Request:
        """Build the request of a call."""
        call = action.call
        headers = {"Accept": "application/json", "User-Agent": _AGENT, **action.headers}
        try:
            return httpx.Request(
                call.method,
                parse_url(url),
                params=dict(call.query) or None,
                json=None if call.body is None else dict(call.body),
                headers={**headers, **self._auth_header(url)},
                extensions=_TIMEOUT,
            )
        except UnicodeEncodeError as error:
            what = repr(error.object[error.start :][:1])
            raise BadRequestError(f"half a character ({what}) cannot be sent") from None

    def download_request(self, action: DownloadFile, url: str) -> tuple[httpx.Request, int]:
        """Build the request of a download; also return the number of bytes already here."""
        headers = {"Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": _AGENT}
        known = action.etag is not None and action.target.exists()
        received = action.target.stat().st_size if known else 0
        if received:
            headers["Range"] = f"bytes={received}-"
            headers |= {"If-Range": action.etag} if action.etag else {}
        headers |= self._auth_header(url) if action.with_key else {}
        return httpx.Request("GET", url, headers=headers, extensions=_TIMEOUT), received

    def upload_request(self, action: UploadFile, url: str, content: Any) -> httpx.Request:
        """Build a PUT with only the ticket's headers and those that HTTP needs for framing."""
        given = {name.lower() for name in action.headers}
        length = {} if "content-length" in given else {"Content-Length": str(action.size)}
        headers = {**action.headers, **length}
        return httpx.Request("PUT", url, headers=headers, content=content, extensions=_TIMEOUT)

    def reply(
        self, request: httpx.Request, response: httpx.Response, content: bytes, began: float
    ) -> Reply:
        """Convert a response, record its facts, and make sure that it does not contain the key."""
        status, headers = response.status_code, dict(response.headers)
        identity, seconds = headers.get("x-request-id"), time.monotonic() - began
        facts = (request.method, request.url.path, status, identity, seconds)
        self.last_response = LastResponse(*facts)
        # a replayed response shows that the service honors keys
        self._honors_keys |= headers.get("idempotency-replayed", "").lower() == "true"
        if status >= 400:
            key = self._settings.api_key
            content = content.replace(key.encode(), mask(key).encode())
        return Reply(status, headers, content, harmless=self._honors_keys)

    def no_reply(
        self, error: Exception, url: str, etag: str | None = None, *, call: Call[Any] | None = None
    ) -> NoReply:
        """Convert a network error to a failure whose message says what to do."""
        scheme, host, port = origin(url)
        is_own = self._settings.owns(url)
        address = f"{scheme}://{host}:{port}"
        service = self._base if is_own else address
        reason = str(error).strip() or type(error).__name__
        advice = answers.unsettled_advice(call) if call and call.pays else ""
        if isinstance(error, _UNSENT_ERRORS):
            untrusted = "certificate verify failed" in reason
            hint = _TLS_ADVICE if untrusted else _PROXY_ADVICE if proxy(scheme, host) else _ADVICE
            sentence = f"no connection to {service} ({reason}): {hint}"
            refused_url = address if is_own and isinstance(error, httpx.ConnectError) else ""
            invalid = isinstance(error, (httpx.InvalidURL, httpx.UnsupportedProtocol))
            facts: Any = {"refused_url": refused_url, "permanent": invalid or untrusted}
            return NoReply(sentence, etag, harmless=True, sent=False, **facts)
        if isinstance(error, TooLongError):
            sentence = f"what {service} answered was not read: {error}{advice}"
            return NoReply(sentence, permanent=True)
        if isinstance(error, (httpx.ReadTimeout, httpx.WriteTimeout)):
            sentence = f"{service} received the request but did not answer in time{advice}"
            return NoReply(sentence, etag)
        sentence = f"the connection to {service} broke ({reason}){advice or f': {_ADVICE}'}"
        return NoReply(sentence, etag, harmless=is_own and self._honors_keys)

    def start_proof(self, host: str, port: int) -> ProofExchange | None:
        """Return the proof exchange for a new connection to a service that moves, else None."""
        url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        location = self._settings.location
        if location is None or location.proof is None or not location.knows(url):
            return None
        return ask_for_proof(url, location.proof)

    def _auth_header(self, url: str) -> dict[str, str]:
        if origin(url) != self._settings.origin:
            return {}
        return {"Authorization": f"Bearer {self._settings.api_key}"}


parse_url = lru_cache(256)(httpx.URL)


def body_follows(response: httpx.Response, received: int) -> bool:
    """Whether a response is the file, or exactly the rest of it."""
    start = response.headers.get("content-range", "").startswith(f"bytes {received}-")
    return response.status_code == 200 or (response.status_code == 206 and bool(received) and start)


def strong_etag(response: httpx.Response) -> str | None:
    """Return the ETag of a response if it is a strong one."""
    etag: str = response.headers.get("etag", "")
    return etag if etag.startswith('"') else None


def to_reply(response: httpx.Response, content: bytes, sha256: str | None = None) -> Reply:
    """Convert a response, with the hash of a whole file."""
    return Reply(response.status_code, dict(response.headers), content, sha256)


#: Bytes per chunk of a transfer.
CHUNK = 1 << 18


class FileWriter:
    """A file being received; parent folders are created, and bytes are limited and hashed."""

    def __init__(self, path: Path, most: int, *, append: bool = False) -> None:
        self._path = path
        self._most = self._remaining = most
        self._append = append
        self._hash = hashlib.sha256()

    def __enter__(self) -> FileWriter:
        make_folder(self._path.parent)
        if self._append:
            with self._path.open("rb") as file:
                for chunk in iter(lambda: file.read(CHUNK), b""):
                    self._hash.update(chunk)
                    self._remaining -= len(chunk)
        self._path.touch(mode=0o600)
        self._file = self._path.open("ab" if self._append else "wb")
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, chunk: bytes) -> None:
        """Write the next bytes; a file that is too large is emptied."""
        self._remaining -= len(chunk)
        if self._remaining < 0:
            self._file.truncate(0)
            raise TooLongError(self._most)
        self._hash.update(chunk)
        self._file.write(chunk)

    @property
    def sha256(self) -> str:
        """Hash of all bytes so far."""
        return self._hash.hexdigest()


class FileReader:
    """A file being sent; bytes are counted and hashed."""

    def __init__(self, file: BinaryIO, on_sent: Callable[[int], None]) -> None:
        self._file = file
        self._on_sent = on_sent
        self._hash = hashlib.sha256()
        self._sent = 0

    def chunks(self) -> Iterator[bytes]:
        """Yield the rest of the file in chunks; each was sent when the next is requested."""
        while chunk := self._file.read(CHUNK):
            self._hash.update(chunk)
            yield chunk
            self._sent += len(chunk)
            self._on_sent(self._sent)

    async def async_chunks(self) -> AsyncIterator[bytes]:
        """Yield the same for async clients."""
        for chunk in self.chunks():
            yield chunk

    @property
    def sha256(self) -> str:
        """Hash of all bytes sent."""
        return self._hash.hexdigest()
