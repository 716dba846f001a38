"""HTTP: with the lines it borrows, all that knows httpx. Steps become requests, responses replies.

The API key leaves through one door, `_key`, and only to the origin of the base address. Requests go
straight to httpx's transports: no cookies, no redirects, nothing that rides along or is logged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Generic

import httpx

from kit.client import repeating
from kit.client.calls import Call
from kit.client.files import Sink, Tap, unwritten
from kit.client.lines import C, Lines, lent, lent_async
from kit.client.proving import AsyncProvenTransport, ProvenTransport, Talk, asked
from kit.client.settings import Settings, mask, origin, whole
from kit.client.steps import Ask, Fetch, Lost, Put, Reply
from kit.version import __version__

_TIMEOUT = {"timeout": httpx.Timeout(60.0, connect=10.0).as_dict()}
_AGENT = f"creative-studio-kit/{__version__}"
_FAILURES = (httpx.HTTPError, httpx.InvalidURL)
#: After one of these nothing has left.
_UNSENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.InvalidURL,
)
_CHECK = "is the service running, is the address right?"


@dataclass(frozen=True, slots=True)
class LastResponse:
    """What support asks for: the last answer's facts, without bodies, keys or signed addresses."""

    method: str
    path: str
    status: int
    request_id: str | None
    seconds: float


class Connection(Generic[C]):
    """What both faces share: building requests, reading answers, keeping connections open."""

    def __init__(self, settings: Settings, make: Callable[..., Any]) -> None:
        self._settings = settings
        self.lines: Lines[C] = Lines(make)
        self.last_response: LastResponse | None = None
        self._honors_keys = settings.ours

    def __repr__(self) -> str:
        return f"<connection to {self._base}>"

    @property
    def _base(self) -> str:
        return self._settings.at(self._settings.base_url)

    def address(self, path: str) -> str:
        """Return the whole address of a call's path, which may be one already."""
        return self._settings.at(whole(self._base, path))

    def request(self, step: Ask, url: str) -> httpx.Request:
        """Build the request of a call."""
        call = step.call
        headers = {"Accept": "application/json", "User-Agent": _AGENT, **step.headers}
        return httpx.Request(
            call.method,
            _parsed(url),
            params=dict(call.query) or None,
            json=None if call.body is None else dict(call.body),
            headers={**headers, **self._key(url)},
            extensions=_TIMEOUT,
        )

    def fetch(self, step: Fetch, url: str) -> tuple[httpx.Request, int]:
        """Build the request of a download, and say how many bytes are here already."""
        headers = {"Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": _AGENT}
        here = 0
        if step.tag is not None and step.target.exists():
            here = step.target.stat().st_size
        if here:
            headers["Range"] = f"bytes={here}-"
            headers |= {"If-Range": step.tag} if step.tag else {}
        headers |= self._key(url) if step.with_key else {}
        return httpx.Request("GET", url, headers=headers, extensions=_TIMEOUT), here

    def upload(self, step: Put, url: str, content: Any) -> httpx.Request:
        """Build a PUT with the ticket's headers and nothing but what HTTP needs to frame it."""
        given = {name.lower() for name in step.headers}
        length: Mapping[str, str] = (
            {} if "content-length" in given else {"Content-Length": str(step.size)}
        )
        headers = {**step.headers, **length}
        return httpx.Request("PUT", url, headers=headers, content=content, extensions=_TIMEOUT)

    def reply(self, request: httpx.Request, response: httpx.Response, began: float) -> Reply:
        """Read an answer, note its facts, and make sure that it cannot repeat the key."""
        status, headers = response.status_code, dict(response.headers)
        self.last_response = LastResponse(
            request.method,
            request.url.path,
            status,
            headers.get("x-request-id"),
            time.monotonic() - began,
        )
        self._honors_keys = self._honors_keys or repeating.tells(headers)
        content = response.content
        if status >= 400:
            key = self._settings.api_key
            content = content.replace(key.encode(), mask(key).encode())
        return Reply(status, headers, content)

    def lost(
        self, error: Exception, url: str, tag: str | None = None, *, call: Call[Any] | None = None
    ) -> Lost:
        """Put a failure of the network into a sentence that says what to do.

        Parameters
        ----------
        call : Call, optional
            What was asked for: it may have cost something if it arrived.
        """
        scheme, host, port = origin(url)
        own = self._settings.owns(url)
        there = f"{scheme}://{host}:{port}"
        where = self._base if own else there
        reason = str(error).strip() or type(error).__name__
        found_out = repeating.find_out(call) if call and call.pays else ""
        if isinstance(error, _UNSENT):
            sentence = f"no connection to {where} ({reason}): {_CHECK}"
            refused = there if own and isinstance(error, httpx.ConnectError) else ""
            never = isinstance(error, (httpx.InvalidURL, httpx.UnsupportedProtocol))
            return Lost(sentence, tag, harmless=True, sent=False, refused=refused, lasting=never)
        if isinstance(error, (httpx.ReadTimeout, httpx.WriteTimeout)):
            return Lost(f"{where} took the request and did not answer in time{found_out}", tag)
        sentence = f"the connection to {where} broke ({reason}){found_out or f': {_CHECK}'}"
        return Lost(sentence, tag, harmless=own and self._honors_keys)

    def question(self, host: str, port: int) -> Talk | None:
        """Return what a new connection is asked first, where the service is, or was, that moves."""
        url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        moves = self._settings.moves
        if moves is None or moves.proof is None or not moves.knows(url):
            return None
        return asked(url, moves.proof)

    def _key(self, url: str) -> dict[str, str]:
        if origin(url) != self._settings.origin:
            return {}
        return {"Authorization": f"Bearer {self._settings.api_key}"}


class Blocking(Connection[httpx.HTTPTransport]):
    """Sends on the calling thread; safe to use from many threads at once."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings, partial(ProvenTransport, self.question))

    def ask(self, step: Ask) -> Reply | Lost:
        """Send a call once."""
        url, began = self.address(step.call.path), time.monotonic()
        try:
            request = self.request(step, url)
            with lent(self.lines, url) as transport:
                response = transport.handle_request(request)
                response.read()
            return self.reply(request, response, began)
        except _FAILURES as error:
            return self.lost(error, url, call=step.call)

    def put(self, step: Put) -> Reply | Lost:
        """Send a file."""
        url = self.address(step.url)
        try:
            with step.open() as file, lent(self.lines, url) as transport:
                tap = Tap(file, step.on_sent)
                request = self.upload(step, url, tap.chunks())
                response = transport.handle_request(request)
                return _reply(response, response.read(), tap.sha256)
        except _FAILURES as error:
            return self.lost(error, url)

    def fetch_to_file(self, step: Fetch) -> Reply | Lost:
        """Receive a file."""
        tag, url = None, self._settings.at(step.url)
        try:
            request, here = self.fetch(step, url)
            with lent(self.lines, url) as transport:
                response = transport.handle_request(request)
                try:
                    if not _body_follows(response, here):
                        return _reply(response, response.read())
                    tag = _strong(response)
                    with Sink(step.target, more=response.status_code == 206) as sink:
                        for chunk in response.iter_bytes():
                            sink.write(chunk)
                    return _reply(response, b"", sink.sha256)
                finally:
                    response.close()
        except _FAILURES as error:
            return self.lost(error, url, tag)
        except OSError as error:
            return unwritten(step.target, error)

    def close(self) -> None:
        """Close all connections, those in use after their request; a later one opens its own."""
        for transport in self.lines.retire():
            transport.close()


class Awaiting(Connection[httpx.AsyncHTTPTransport]):
    """Sends on the private loop; see `kit.client.bridge`."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings, partial(AsyncProvenTransport, self.question))

    async def ask(self, step: Ask) -> Reply | Lost:
        """Send a call once."""
        url, began = self.address(step.call.path), time.monotonic()
        try:
            request = self.request(step, url)
            async with lent_async(self.lines, url) as transport:
                response = await transport.handle_async_request(request)
                await response.aread()
            return self.reply(request, response, began)
        except _FAILURES as error:
            return self.lost(error, url, call=step.call)

    async def put(self, step: Put) -> Reply | Lost:
        """Send a file."""
        url = self.address(step.url)
        try:
            async with lent_async(self.lines, url) as transport:
                with step.open() as file:
                    tap = Tap(file, step.on_sent)
                    request = self.upload(step, url, tap.async_chunks())
                    response = await transport.handle_async_request(request)
                    return _reply(response, await response.aread(), tap.sha256)
        except _FAILURES as error:
            return self.lost(error, url)

    async def fetch_to_file(self, step: Fetch) -> Reply | Lost:
        """Receive a file."""
        tag, url = None, self._settings.at(step.url)
        try:
            request, here = self.fetch(step, url)
            async with lent_async(self.lines, url) as transport:
                response = await transport.handle_async_request(request)
                try:
                    if not _body_follows(response, here):
                        return _reply(response, await response.aread())
                    tag = _strong(response)
                    with Sink(step.target, more=response.status_code == 206) as sink:
                        async for chunk in response.aiter_bytes():
                            sink.write(chunk)
                    return _reply(response, b"", sink.sha256)
                finally:
                    await response.aclose()
        except _FAILURES as error:
            return self.lost(error, url, tag)
        except OSError as error:
            return unwritten(step.target, error)

    async def close(self) -> None:
        """Close all connections, those in use after their request; a later one opens its own."""
        for transport in self.lines.retire():
            await transport.aclose()


_parsed = lru_cache(256)(httpx.URL)


def _body_follows(response: httpx.Response, here: int) -> bool:
    """Whether what comes is the file, or exactly the rest of it."""
    start = response.headers.get("content-range", "").startswith(f"bytes {here}-")
    return response.status_code == 200 or (response.status_code == 206 and bool(here) and start)


def _strong(response: httpx.Response) -> str | None:
    tag: str = response.headers.get("etag", "")
    return tag if tag.startswith('"') else None


def _reply(response: httpx.Response, content: bytes, sha256: str | None = None) -> Reply:
    return Reply(response.status_code, dict(response.headers), content, sha256)
