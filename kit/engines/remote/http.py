"""HTTP of the remote engines: patient where a repetition does no harm, bounded, and discreet.

A key is read from the environment when it is needed and leaves only to the origin that it is for.
A request is never redirected, and a file that lies elsewhere is fetched over https without the key:
nobody can have it sent to them. What another machine says is cut and cleared of the key before it
is logged; what whoever ordered may read of it, `kit.engines.remote.exchange` decides.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urljoin, urlsplit

import httpx

from kit.engines.remote import exchange
from kit.engines.remote.exchange import PATIENT, TRIES, Ask, Lost, RemoteReply, wait_before
from kit.engines.remote.site import Site, origin, same_server
from kit.errors import EngineError
from kit.version import __version__

#: Largest answer that is read into memory, and largest file that is taken.
ANSWER_BYTES = 96_000_000
FILE_BYTES = 1_000_000_000
_CHUNK = 1 << 16
_TIMEOUT = {"connect": 10.0, "write": 60.0, "pool": 10.0}
#: Seconds that a site has for its first connection, before anything is being made there.
_FIRST_CONTACT = 4.0
_AGENT = f"creative-studio-kit/{__version__}"

#: Answers that say where a file is, and how often that is believed.
_MOVED = frozenset({301, 302, 303, 307, 308})
_REDIRECTS = 4


class RemoteCaller:
    """Talks to one site; use it as ``async with``.

    Raises
    ------
    EngineError
        The key's variable is not set (``not_configured``).
    """

    def __init__(self, site: Site) -> None:
        self._site = site
        self._key = site.key()
        self._reached = False
        # Asked for as it is; what comes packed all the same is bounded by what it unpacks to.
        headers = {"Accept-Encoding": "identity", "User-Agent": _AGENT}
        self._client = httpx.AsyncClient(follow_redirects=False, headers=headers)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._client.aclose()

    def address(self, path: str) -> str:
        """Return the whole address of a path; one that begins with ``/`` may repeat the prefix."""
        if path.startswith(("http://", "https://")):
            return path
        prefix = urlsplit(self._site.url).path
        if prefix and path.startswith(f"{prefix}/"):
            return urljoin(self._site.url, path)
        return f"{self._site.url}/{path.lstrip('/')}"

    def beside(self, url: str) -> str:
        """Return the whole address of what an endpoint names, as a browser would find it."""
        try:
            return urljoin(f"{self._site.url}/", url)
        except ValueError:  # no address at all: `fetch` says so
            return url

    def own(self, url: str) -> bool:
        """Whether an address is of the site's own origin."""
        try:
            return origin(url) == origin(self._site.url)
        except ValueError:  # a port or a host that cannot be
            return False

    def safe(self, url: str) -> str:
        """Return the whole address of a file: of the site's own origin, or encrypted on the way.

        Raises
        ------
        EngineError
            It is neither (``upstream_odd``).
        """
        url = same_server(self.address(url), self._site.url)
        if not self._trusted(url):
            sentence = "points to a file at an address that is not safe"
            raise self.failure(sentence, url, code="upstream_odd")
        return url

    def _trusted(self, url: str) -> bool:
        return self.own(url) or url.startswith("https://")

    async def ask(self, ask: Ask) -> RemoteReply:
        """Send a request and return the answer if it is a good one.

        Raises
        ------
        EngineError
            ``upstream_unreachable``, ``upstream_busy``, ``upstream_refused`` (the key),
            ``upstream_no_credits``, ``upstream_rejected`` (the request), ``upstream_not_found``
            (the model, or the path), ``upstream_failed``, ``upstream_odd`` (an answer of no use).
        """
        reply = await self.attempt(ask)
        if 200 <= reply.status < 300 or ask.enough(reply):
            return reply
        raise self.refusal(reply, ask.method)

    async def attempt(self, ask: Ask) -> RemoteReply:
        """Send a request, again where that does no harm, and return whatever is answered."""
        outcome = await self._attempted(ask, self._once)
        if isinstance(outcome, Lost):
            raise self.failure("does not answer", outcome.why, code="upstream_unreachable")
        return outcome

    async def fetch(
        self, url: str, target: Path, *, most: int = FILE_BYTES, late: bool = False
    ) -> None:
        """Write the file at an address to a path.

        Another origin, also one that a redirect names, is asked without the key, and only where
        the way there is encrypted. With `late`, a file that is missing is asked for again.

        Raises
        ------
        EngineError
            As `ask`, or the file is larger than `most` bytes.
        """
        url = self.safe(url)
        for _ in range(_REDIRECTS):
            reply = await self._downloaded(url, target, most, late)
            if reply.status == 200:
                return
            moved = urljoin(url, reply.headers.get("location", ""))
            url = same_server(moved, self._site.url)
            if reply.status not in _MOVED or not self._trusted(url):
                break
        raise self.refusal(reply, "file")

    def told(self, text: Any) -> str:
        """Return what the site says, fit to be logged: one line, short, without the key."""
        line = " ".join(str(text).split())
        if self._key:
            line = line.replace(self._key, "***")
        return line if len(line) <= 300 else f"{line[:297]}..."

    def refusal(self, reply: RemoteReply, of: str = "") -> EngineError:
        """Return the error that an answer stands for; `of` as in `exchange.refused`."""
        status = 402 if reply.is_out_of_credits else reply.status
        sentence, code = exchange.refused(status, reply.sentence, self._secrets, of=of)
        said = f" and says: {reply.sentence}" if reply.sentence else ""
        return self.failure(sentence, f"it answers {reply.status}{said}", code=code)

    def reason(self, text: str) -> str:
        """Return what the site says of a job that failed, fit to be shown to whoever ordered."""
        return exchange.public(text, self._secrets)

    @property
    def _secrets(self) -> tuple[str, ...]:
        return (self._key or "", self._site.name)

    def failure(self, sentence: str, detail: str, *, code: str = "upstream_failed") -> EngineError:
        """Return an error for whoever ordered; where the site is and what it says is in the log."""
        whole = f"the service behind this model {sentence}"
        return EngineError(whole, code=code, detail=f"{self._site.name}: {self.told(detail)}")

    async def _downloaded(self, url: str, target: Path, most: int, late: bool) -> RemoteReply:
        own = self.own(url)
        tries = PATIENT if own else TRIES
        ask = Ask(method="GET", path=url, again=True, bare=not own, late=late, tries=tries)
        outcome = await self._attempted(ask, partial(self._to_file, target=target, most=most))
        if isinstance(outcome, Lost):
            sentence = "made a file that did not arrive"
            raise self.failure(sentence, outcome.why, code="upstream_unreachable")
        return outcome

    async def _attempted(
        self, ask: Ask, send: Callable[[Ask], Awaitable[RemoteReply | Lost]]
    ) -> RemoteReply | Lost:
        started = time.monotonic()
        outcome = await self._sent(ask, send)
        for attempt in range(0 if ask.once else PATIENT - 1):
            wait = wait_before(ask, outcome, attempt, self._site.pause)
            if wait is None:
                break
            if self._is_first_contact(ask) and time.monotonic() - started + wait > _FIRST_CONTACT:
                break
            await asyncio.sleep(wait)
            outcome = await self._sent(ask, send)
        return outcome

    async def _sent(
        self, ask: Ask, send: Callable[[Ask], Awaitable[RemoteReply | Lost]]
    ) -> RemoteReply | Lost:
        outcome = await send(ask)
        self._reached = self._reached or isinstance(outcome, RemoteReply) or outcome.sent
        return outcome

    def _is_first_contact(self, ask: Ask) -> bool:
        """Whether the site may simply not be there: what is paid for is waited for longer."""
        return not self._reached and ask.tries <= TRIES

    async def _once(self, ask: Ask) -> RemoteReply | Lost:
        try:
            async with self._opened(ask) as response:
                content = await _read(response, ANSWER_BYTES)
                return RemoteReply(response.status_code, response.headers, content)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return _lost(error)

    async def _to_file(self, ask: Ask, target: Path, most: int) -> RemoteReply | Lost:
        try:
            async with self._opened(ask) as response:
                if response.status_code != 200:
                    content = await _read(response, ANSWER_BYTES)
                    return RemoteReply(response.status_code, response.headers, content)
                size = 0
                with target.open("wb") as file:
                    async for chunk in response.aiter_bytes():
                        size += len(chunk)
                        _bounded(size, most)
                        file.write(chunk)
                return RemoteReply(200, response.headers, b"")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return _lost(error)

    def _connect_timeout(self, ask: Ask) -> dict[str, float]:
        return {"connect": _FIRST_CONTACT - 0.5} if self._is_first_contact(ask) else {}

    def _opened(self, ask: Ask) -> Any:
        url = self.address(ask.path)
        headers = dict(ask.headers)
        if self._key and not ask.bare and self.own(url):
            headers["Authorization"] = f"Bearer {self._key}"
        return self._client.stream(
            ask.method,
            url,
            json=ask.json,
            data=ask.data,
            files=ask.files,
            content=_chunks(ask.upload) if ask.upload else None,
            headers=headers,
            timeout=httpx.Timeout(read=ask.quiet, **_TIMEOUT | self._connect_timeout(ask)),
        )


async def _read(response: httpx.Response, most: int) -> bytes:
    content = bytearray()
    async for chunk in response.aiter_bytes():
        content += chunk
        _bounded(len(content), most)
    return bytes(content)


def _bounded(size: int, most: int) -> None:
    if size > most:
        sentence = f"the remote service sends more than {most // 1_000_000} MB"
        raise EngineError(sentence, code="upstream_odd")


async def _chunks(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def _lost(error: Exception) -> Lost:
    unsent = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
    never = (*unsent, httpx.InvalidURL, httpx.UnsupportedProtocol)
    return Lost(_why(error), sent=not isinstance(error, never))


def _why(error: BaseException) -> str:
    """Return why there was no answer; what the system says lies below what the client raised."""
    if isinstance(error, httpx.TimeoutException):
        return "it took too long"
    below: list[BaseException] = [error]
    for found in below:
        if isinstance(found, ConnectionRefusedError):
            return "the connection was refused"
        inner = found.exceptions if isinstance(found, BaseExceptionGroup) else ()
        below += filter(None, (found.__cause__ or found.__context__, *inner))
    return str(error) or type(error).__name__
