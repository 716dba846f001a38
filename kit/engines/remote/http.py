"""HTTP of the remote engines: retries where they are safe, has limits, and protects keys.

A key is read from the environment when it is needed and sent only to its own origin. Redirects are
not followed with it; a file of another origin is downloaded over https without the key. Messages
of other machines are shortened and the key is removed before logging; `kit.engines.remote.reasons`
decides which part users may see.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from urllib.parse import urljoin, urlsplit

import httpx

from kit.engines.remote import reasons
from kit.engines.remote.site import Site, same_server
from kit.errors import EngineError
from kit.internet import origin, retry_after
from kit.version import __version__

#: Maximum of attempts of a request; and for work that is already paid, enough attempts for an
#: outage of nearly two minutes at the default pause.
TRIES, PAID_TRIES = 5, 17
#: Maximum size of a response in memory, and of a downloaded file.
ANSWER_BYTES = 96_000_000
FILE_BYTES = 1_000_000_000
_CHUNK_BYTES = 1 << 16
_TIMEOUTS = {"connect": 10.0, "write": 60.0, "pool": 10.0}
#: Time limit in seconds for the first connection to a site, before any work has begun there.
_FIRST_SECONDS = 4.0
#: Maximum wait that a busy site may request; with a longer one the job fails and is refunded.
_MAX_WAIT_SECONDS = 60.0
#: Errors that happen before anything is sent.
_UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_URL_ERRORS = (httpx.InvalidURL, httpx.UnsupportedProtocol)
#: Statuses of a busy service: nothing was done, so a retry is safe.
_BUSY_STATUSES = frozenset({429, 503})
#: Statuses for a file that may not exist yet.
_NOT_YET_STATUSES = frozenset({202, 404})
#: Statuses after which only repeatable requests are sent again.
_FAILED_STATUSES = frozenset({408, 500, 502, 504})
#: Statuses of redirects, and the maximum of redirects.
_REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
_MAX_REDIRECTS = 4


@dataclass(frozen=True, slots=True)
class RemoteReply:
    """A complete response."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    def json(self) -> Any:
        """Return the parsed JSON of the body, or raise EngineError (``upstream_malformed``)."""
        try:
            return json.loads(self.content)
        except (ValueError, RecursionError):
            sentence = "the remote service answered with something that is not JSON"
            kind = self.headers.get("content-type", "no type")
            detail = f"it answers {self.status} with {len(self.content):,} bytes of {kind}"
            raise EngineError(sentence, code="upstream_malformed", detail=detail) from None

    @property
    def is_good(self) -> bool:
        """Whether the request succeeded."""
        return 200 <= self.status < 300

    @property
    def sentence(self) -> str:
        """The message of an error, in any of the usual formats; empty without one."""
        try:
            body = json.loads(self.content)
        except (ValueError, RecursionError):
            return ""
        return reasons.find_sentence(body) if isinstance(body, dict) else ""

    @property
    def is_out_of_credits(self) -> bool:
        """Whether the account has no credits left, for which OpenAI uses 429, too.

        Source: OpenAI API documentation, "Error codes", 429 and ``insufficient_quota``.
        """
        return self.status == 402 or (self.status == 429 and b"insufficient_quota" in self.content)

    @property
    def retry_after(self) -> float | None:
        """Seconds of ``Retry-After``, given as a number or as a date."""
        return retry_after(self.headers.get("retry-after"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteRequest:
    """One request."""

    method: str
    path: str  # below the site's URL, or a complete URL
    json: Any = None
    files: Any = None
    upload: Path | None = None  # file to send as the body
    headers: Mapping[str, str] = field(default_factory=dict)
    repeatable: bool = False  # may be repeated, although an earlier attempt may have succeeded
    without_key: bool = False  # is sent without the key
    late: bool = False  # 404 or 202 may mean that the file does not exist yet
    tries: int = TRIES
    silence: float = 60.0  # seconds without data after which the connection counts as lost
    #: Whether a response is accepted in spite of an error status.
    accepts: Callable[[RemoteReply], bool] = lambda _: False

    def wait_after(
        self, outcome: RemoteReply | LostConnection, attempt: int, pause: float
    ) -> float | None:
        """Return the seconds until the next attempt, or None for none.

        `attempt` counts from 0. The first wait is the pause, later ones are up to eight times it.
        """
        is_early = attempt < TRIES - 1
        backoff = pause * 2.0 ** min(attempt, TRIES - 2) if attempt < self.tries - 1 else None
        if isinstance(outcome, LostConnection):
            return backoff if self.repeatable or not outcome.sent else None
        status, retry_seconds = outcome.status, outcome.retry_after
        if self.late and status in _NOT_YET_STATUSES:
            return backoff if is_early else None
        if self.tries == 1 or self.accepts(outcome) or outcome.is_out_of_credits:
            return None
        is_running = status == 409 and retry_seconds is not None and self.repeatable
        if retry_seconds is not None and (status in _BUSY_STATUSES or is_running):
            # A server that loads a model first says when to retry.
            return max(retry_seconds, pause) if retry_seconds <= _MAX_WAIT_SECONDS else None
        # A server that answers 500 is running, and will hardly recover within a minute.
        may_repeat = self.repeatable and status in _FAILED_STATUSES and (is_early or status != 500)
        return backoff if may_repeat or status in _BUSY_STATUSES else None


@dataclass(frozen=True, slots=True)
class LostConnection:
    """No response; `sent` says whether the request may have arrived."""

    reason: str
    sent: bool


class RemoteCaller:
    """The connection to one site; use it with ``async with``.

    Raises EngineError if the key's variable is not set. Responses of more bytes than `most` are not
    read into memory.
    """

    def __init__(
        self,
        site: Site,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        most: int = ANSWER_BYTES,
    ) -> None:
        self.site = site
        self._key = site.key()
        self._most = most
        self._reached = False
        # Uncompressed; the size of a response that is compressed anyway is limited after unpacking.
        agent = f"creative-studio-kit/{__version__}"
        headers = {"Accept-Encoding": "identity", "User-Agent": agent}
        self._client = httpx.AsyncClient(headers=headers, transport=transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    def address(self, path: str) -> str:
        """Return the complete URL of a path; one that starts with ``/`` may repeat the prefix."""
        if path.startswith(("http://", "https://")):
            return path
        prefix = urlsplit(self.site.url).path
        if prefix and path.startswith(f"{prefix}/"):
            return urljoin(self.site.url, path)
        return f"{self.site.url}/{path.lstrip('/')}"

    def resolve(self, url: str) -> str:
        """Return the complete URL of a reference by an endpoint, as a browser resolves it."""
        try:
            return urljoin(f"{self.site.url}/", url)
        except ValueError:  # invalid; `fetch` reports it
            return url

    def is_own(self, url: str) -> bool:
        """Whether a URL has the site's own origin."""
        return origin(url) == origin(self.site.url)

    def safe_url(self, url: str) -> str:
        """Return the complete URL of a file; raises unless it has the site's origin or https."""
        url = same_server(self.address(url), self.site.url)
        if not self._is_safe(url):
            sentence = "points to a file at an address that is not safe"
            raise self.failure(sentence, url, code="upstream_malformed")
        return url

    def _is_safe(self, url: str) -> bool:
        return self.is_own(url) or url.startswith("https://")

    async def send(self, request: RemoteRequest) -> RemoteReply:
        """Send a request and return the response if it succeeded or is accepted."""
        reply = await self.attempt(request)
        if reply.is_good or request.accepts(reply):
            return reply
        raise self.refusal(reply, request.method)

    async def attempt(self, request: RemoteRequest) -> RemoteReply:
        """Send a request, with retries where they are safe, and return any response."""
        return await self._repeat(request, "does not answer")

    async def fetch(
        self, url: str, target: Path, *, most: int = FILE_BYTES, late: bool = False
    ) -> None:
        """Download the file at a URL, of at most `most` bytes, to a path.

        Other origins, also after a redirect, are accessed without the key, and only if the
        connection is encrypted. With `late`, a missing file is requested again.
        """
        url = self.safe_url(url)
        for _ in range(_MAX_REDIRECTS):
            own = self.is_own(url)
            tries = PAID_TRIES if own else TRIES
            request = RemoteRequest(
                method="GET", path=url, repeatable=True, without_key=not own, late=late, tries=tries
            )
            reply = await self._repeat(request, "created a file that did not arrive", target, most)
            if reply.status == 200:
                return
            location = urljoin(url, reply.headers.get("location", ""))
            url = same_server(location, self.site.url)
            if reply.status not in _REDIRECT_STATUSES or not self._is_safe(url):
                break
        raise self.refusal(reply, "file")

    def refusal(self, reply: RemoteReply, of: str = "") -> EngineError:
        """Return the error for a response; `of` as in `reasons.explain`."""
        status = 402 if reply.is_out_of_credits else reply.status
        sentence, code = reasons.explain(status, reply.sentence, self._secrets, of=of)
        said = reply.sentence or reply.headers.get("location", "").partition("?")[0]
        message = f" and says: {said}" if said else ""
        return self.failure(sentence, f"it answers {reply.status}{message}", code=code)

    def failure(self, sentence: str, detail: str, *, code: str = "upstream_failed") -> EngineError:
        """Return an error: users see the sentence; the site and its message are only logged."""
        line = " ".join(detail.split())
        if self._key:
            line = line.replace(self._key, "***")
        line = line if len(line) <= 300 else f"{line[:297]}..."
        full = f"the service behind this model {sentence}"
        return EngineError(full, code=code, detail=f"{self.site.name}: {line}")

    def reason(self, text: str) -> str:
        """Return the site's reason for a failed job after a colon, as far as users may see it."""
        shown = reasons.clean_reason(text, self._secrets)
        return f": {shown}" if shown else ""

    @property
    def _secrets(self) -> tuple[str, ...]:
        return (self._key or "", self.site.name)

    async def _repeat(
        self, request: RemoteRequest, lost_sentence: str, target: Path | None = None, most: int = 0
    ) -> RemoteReply:
        started = time.monotonic()
        for attempt in range(PAID_TRIES):
            # Whether the site may not be running at all: wait longer only for work that is paid.
            is_first = not self._reached and request.tries <= TRIES
            outcome = await self._send_once(request, target, most, is_first)
            self._reached = self._reached or isinstance(outcome, RemoteReply) or outcome.sent
            wait = request.wait_after(outcome, attempt, self.site.pause)
            if wait is None or attempt == PAID_TRIES - 1:
                break
            is_absent = is_first and not self._reached
            if is_absent and time.monotonic() - started + wait > _FIRST_SECONDS:
                break
            await asyncio.sleep(wait)
        if isinstance(outcome, LostConnection):
            raise self.failure(lost_sentence, outcome.reason, code="upstream_unreachable")
        return outcome

    async def _send_once(
        self, request: RemoteRequest, target: Path | None, most: int, is_first: bool
    ) -> RemoteReply | LostConnection:
        url = self.address(request.path)
        headers = dict(request.headers)
        if self._key and not request.without_key and self.is_own(url):
            headers["Authorization"] = f"Bearer {self._key}"
        connect = {"connect": _FIRST_SECONDS - 0.5} if is_first else {}
        try:
            async with self._client.stream(
                request.method,
                url,
                json=request.json,
                files=request.files,
                content=_file_chunks(request.upload) if request.upload else None,
                headers=headers,
                timeout=httpx.Timeout(read=request.silence, **_TIMEOUTS | connect),
            ) as response:
                if target is None or response.status_code != 200:
                    content = b"".join([part async for part in _limit(response, self._most)])
                    return RemoteReply(response.status_code, response.headers, content)
                with target.open("wb") as file:
                    async for part in _limit(response, most):
                        file.write(part)
                return RemoteReply(200, response.headers, b"")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            late = isinstance(error, httpx.TimeoutException)
            reason = "it took too long" if late else str(error) or type(error).__name__
            return LostConnection(reason, sent=not isinstance(error, (*_UNSENT, *_URL_ERRORS)))


async def _limit(response: httpx.Response, most: int) -> AsyncIterator[bytes]:
    size = 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > most:
            sentence = f"the remote service sends more than {most // 1_000_000} MB"
            raise EngineError(sentence, code="upstream_malformed")
        yield part


async def _file_chunks(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            yield chunk
