"""HTTP: the one module that knows httpx. It turns steps into requests and responses into replies.

The API key leaves through one door, `_headers`, and only to the origin of the base address.
Uploads and downloads are built without the client's headers, so that nothing rides along.
"""

from __future__ import annotations

import os
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

import httpx

from kit.client.files import CHUNK, Sink, async_chunks, chunks
from kit.client.settings import Settings, mask, origin
from kit.client.steps import Ask, Fetch, Lost, Put, Reply
from kit.version import __version__

C = TypeVar("C", httpx.Client, httpx.AsyncClient)

_TIMEOUT = httpx.Timeout(60.0, connect=10.0)
_AGENT = f"creative-studio-kit/{__version__}"


@dataclass(frozen=True, slots=True)
class LastResponse:
    """What support asks for: the last answer's facts, without bodies, keys or signed addresses."""

    method: str
    path: str
    status: int
    request_id: str | None
    seconds: float


class Connection(Generic[C]):
    """What both faces share: building requests, reading answers, keeping the clients.

    A client is built when its scheme is first needed: certificates cost 18 ms to load, and a
    service on plain http never asks for them. After a fork a new one is built.
    """

    def __init__(self, settings: Settings, make: Callable[..., Any]) -> None:
        self._settings = settings
        self._make = make
        self._clients: dict[tuple[int, str], C] = {}
        self._lock = threading.Lock()
        self.last_response: LastResponse | None = None

    def __repr__(self) -> str:
        return f"<connection to {self._settings.base_url}>"

    def client(self, url: str) -> C:
        """Return the client for an address's scheme, in this process."""
        key = (os.getpid(), origin(url)[0])
        with self._lock:
            if key not in self._clients:
                self._clients[key] = self._make(
                    timeout=_TIMEOUT,
                    verify=_certificates() if key[1] == "https" else _no_certificates(),
                    mounts={"all://127.0.0.1": None, "all://localhost": None},  # no proxy to here
                )
            client: C = self._clients[key]
            return client

    def opened(self) -> list[C]:
        """Return this process's clients and forget them all."""
        with self._lock:
            mine = [c for (pid, _), c in self._clients.items() if pid == os.getpid()]
            self._clients.clear()
        return mine

    def address(self, path: str) -> str:
        """Return the whole address of a call's path, which may be one already.

        A path out of an answer may or may not repeat the prefix under which the service is mounted.
        """
        if path.startswith(("http://", "https://")):
            return path
        base = self._settings.base_url
        prefix = urlsplit(base).path
        if prefix and path.startswith(f"{prefix}/"):
            path = path.removeprefix(prefix)
        return f"{base}/{path.lstrip('/')}"

    def request(self, step: Ask) -> httpx.Request:
        """Build the request of a call."""
        url = self.address(step.call.path)
        headers = {"Accept": "application/json", "User-Agent": _AGENT, **step.headers}
        return httpx.Request(
            step.call.method,
            url,
            params=dict(step.call.query) or None,
            json=None if step.call.body is None else dict(step.call.body),
            headers={**headers, **self._key(url)},
        )

    def fetch(self, step: Fetch) -> httpx.Request:
        """Build the request of a download."""
        headers = {"Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": _AGENT}
        key = self._key(step.url) if step.with_key else {}
        return httpx.Request("GET", step.url, headers={**headers, **key})

    def reply(self, response: httpx.Response, began: float) -> Reply:
        """Read an answer, note its facts, and make sure that it cannot repeat the key."""
        request = response.request
        self.last_response = LastResponse(
            request.method,
            request.url.path,
            response.status_code,
            response.headers.get("x-request-id"),
            time.monotonic() - began,
        )
        key = self._settings.api_key
        content = response.content
        if response.status_code >= 400:
            content = content.replace(key.encode(), mask(key).encode())
        return Reply(response.status_code, dict(response.headers), content)

    def lost(self, error: Exception, url: str) -> Lost:
        """Put a failure of the network into a sentence that says what to do."""
        timed_out = isinstance(error, (httpx.ReadTimeout, httpx.WriteTimeout))
        scheme, host, port = origin(url)
        own = origin(url) == self._settings.origin
        where = self._settings.base_url if own else f"{scheme}://{host}:{port}"
        if timed_out:
            return Lost(
                f"{where} took the request and did not answer in time; it may have been carried "
                "out: look in the history before sending it again",
                timed_out=True,
            )
        reason = str(error).strip() or type(error).__name__
        return Lost(
            f"no connection to {where} ({reason}): is the service running, is the address right?"
        )

    def _key(self, url: str) -> dict[str, str]:
        if origin(url) != self._settings.origin:
            return {}
        return {"Authorization": f"Bearer {self._settings.api_key}"}


class Blocking(Connection[httpx.Client]):
    """Sends on the calling thread; safe to use from many threads at once."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings, httpx.Client)

    def ask(self, step: Ask) -> Reply | Lost:
        """Send a call once."""
        url, began = self.address(step.call.path), time.monotonic()
        try:
            return self.reply(self.client(url).send(self.request(step)), began)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return self.lost(error, url)

    def put(self, step: Put) -> Reply | Lost:
        """Send a file."""
        try:
            with step.open() as file:
                request = _upload(step, chunks(file))
                response = self.client(step.url).send(request)
                return Reply(response.status_code, dict(response.headers), response.content)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return self.lost(error, step.url)

    def fetch_to_file(self, step: Fetch) -> Reply | Lost:
        """Receive a file."""
        try:
            response = self.client(step.url).send(self.fetch(step), stream=True)
            try:
                if response.status_code != 200:
                    return _refusal(response, response.read())
                sink = Sink(step.target)
                with sink:
                    for chunk in response.iter_bytes(CHUNK):
                        sink.write(chunk)
                return Reply(200, dict(response.headers), sha256=sink.sha256)
            finally:
                response.close()
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return self.lost(error, step.url)

    def close(self) -> None:
        """Close all connections; a later request opens new ones."""
        for client in self.opened():
            client.close()


class Awaiting(Connection[httpx.AsyncClient]):
    """Sends on the private loop; see `kit.client.bridge`."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings, httpx.AsyncClient)

    async def ask(self, step: Ask) -> Reply | Lost:
        """Send a call once."""
        url, began = self.address(step.call.path), time.monotonic()
        try:
            return self.reply(await self.client(url).send(self.request(step)), began)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return self.lost(error, url)

    async def put(self, step: Put) -> Reply | Lost:
        """Send a file."""
        try:
            with step.open() as file:
                request = _upload(step, async_chunks(file))
                response = await self.client(step.url).send(request)
                return Reply(response.status_code, dict(response.headers), response.content)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return self.lost(error, step.url)

    async def fetch_to_file(self, step: Fetch) -> Reply | Lost:
        """Receive a file."""
        try:
            response = await self.client(step.url).send(self.fetch(step), stream=True)
            try:
                if response.status_code != 200:
                    return _refusal(response, await response.aread())
                sink = Sink(step.target)
                with sink:
                    async for chunk in response.aiter_bytes(CHUNK):
                        sink.write(chunk)
                return Reply(200, dict(response.headers), sha256=sink.sha256)
            finally:
                await response.aclose()
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return self.lost(error, step.url)

    async def close(self) -> None:
        """Close all connections; a later request opens new ones."""
        for client in self.opened():
            await client.aclose()


@cache
def _certificates() -> ssl.SSLContext:
    return httpx.create_ssl_context()


@cache
def _no_certificates() -> ssl.SSLContext:
    """Return a context that trusts nobody: it costs nothing to build and http never uses it."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _upload(step: Put, content: Any) -> httpx.Request:
    """Build a PUT with the ticket's headers and nothing else but what HTTP needs to frame it."""
    given = {name.lower() for name in step.headers}
    length: Mapping[str, str] = (
        {} if "content-length" in given else {"Content-Length": str(step.size)}
    )
    headers = {**step.headers, **length}
    return httpx.Request("PUT", step.url, headers=headers, content=content)


def _refusal(response: httpx.Response, content: bytes) -> Reply:
    return Reply(response.status_code, dict(response.headers), content)
