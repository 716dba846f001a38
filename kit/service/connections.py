"""Connections: limits on their number, and on the size and slowness of their requests.

The server library has no such limits, so they are enforced here, before any key is checked. HTTP
allows closing an idle connection at any time, so no client can block others by holding connections
open: at the limit, the connection that has been idle longest is closed for a new one, and the new
one is refused only if all others have a request in progress.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Iterable
from functools import lru_cache, partial
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any, cast

import httptools
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from kit.errors import (
    ApiError,
    BadRequestError,
    HeadTooLargeError,
    RequestTimeoutError,
    UnavailableError,
)
from kit.service.http.request_handler import WRITE_WHOLE, envelope, new_request_id
from kit.service.settings import ServiceSettings

_log = logging.getLogger("kit.http")
#: Minimum of seconds between two log lines about the same refusals.
_LOG_SECONDS = 10.0

#: Bytes of a request's head, and of anything else outside a body. Source: contract, second round.
MAX_HEAD_BYTES = 65_536
#: Maximum of headers of a request: each takes time in every layer.
MAX_HEADERS = 200
#: Requests that a connection may send before the first one is answered.
MAX_PIPELINED = 8
#: Minimum of bytes of a body per second, averaged over `body_seconds`.
MIN_BODY_RATE = 500

#: Pieces of a body from which on a minimum of bytes per piece is required: each takes time.
MAX_SMALL_PIECES, MIN_PIECE_BYTES = 1000, 64
#: Seconds in which a client must read the response to a refused request.
_LINGER_SECONDS = 2.0


def client_key(host: str, trusted: list[IPv4Network | IPv6Network]) -> str | None:
    """Return the key under which connections of a host are counted; None if they are not.

    Proxies have many clients and are not counted. IPv6 addresses are counted by their /64 network,
    which is what one customer gets.
    """
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    address = getattr(address, "ipv4_mapped", None) or address
    if any(address in network for network in trusted if network.version == address.version):
        return None
    return str(address) if address.version == 4 else str(ip_network((address, 64), strict=False))


class Admission:
    """The open connections of one server; used only in its event loop."""

    def __init__(self, limits: ServiceSettings) -> None:
        self.limits = limits
        trusted = [ip_network(text, strict=False) for text in limits.trusted_proxies]
        #: Cached `client_key` by host.
        self.source = lru_cache(4096)(lambda host: client_key(host, trusted))
        #: Connections without a request in progress, the longest idle first.
        self.idle: dict[BoundedProtocol, None] = {}
        self._open: set[BoundedProtocol] = set()
        self._by_source: Counter[str] = Counter()
        #: Refusals by reason and source since the last log line, and when the next line is due.
        self._refusals: dict[str, Counter[str]] = {}
        self._due: dict[str, float] = {}

    def enter(self, connection: BoundedProtocol) -> bool:
        """Count a new connection, closing an idle one if needed; False if none can be closed."""
        source, displaced = connection.source, None
        is_crowded = source is not None and (
            self._by_source[source] >= self.limits.connections_per_address
        )
        if is_crowded or len(self._open) >= self.limits.connections:
            # One of the same address, if that has too many.
            candidates = (other for other in self.idle if not is_crowded or other.source == source)
            displaced = next(candidates, None)
            what = "idle connection closed" if displaced else "no room for a connection"
            self.log_refusal(what, source)
            if displaced is None:
                return False
            self.leave(displaced)
            displaced.leave()
        self._open.add(connection)
        self.idle[connection] = None
        if source is not None:
            self._by_source[source] += 1
        return True

    def leave(self, connection: BoundedProtocol) -> None:
        """Stop counting a connection; repeating it has no effect."""
        if connection in self._open:
            self._open.remove(connection)
            self.idle.pop(connection, None)
            if connection.source is not None:
                self._by_source[connection.source] -= 1
                if not self._by_source[connection.source]:
                    del self._by_source[connection.source]

    def log_refusal(self, reason: str, source: str | None) -> None:
        """Log a refused client soon, in one line with others."""
        sources = self._refusals.setdefault(reason, Counter())
        source = source or "a trusted address"
        # Many addresses may be involved: only the first ones are counted separately.
        sources[source if source in sources or len(sources) < 50 else "others"] += 1

    def review(self, now: float) -> None:
        """Close connections that are too slow; called once per second."""
        for connection in tuple(self._open):
            connection.review(now)
        for reason in [one for one in self._refusals if now >= self._due.get(one, 0.0)]:
            sources = self._refusals.pop(reason)
            most, often = sources.most_common(1)[0]
            facts = {"event": "refused", "reason": reason, "times": sources.total()}
            facts |= {"most": most, "often": often}
            _log.warning("%(reason)s: %(times)d times, %(often)d of them %(most)s", facts)
            self._due[reason] = now + _LOG_SECONDS


class _TooManyError(Exception):
    """A client sent more requests than are accepted before a response."""


class BoundedProtocol(HttpToolsProtocol):
    """One connection."""

    def __init__(self, admission: Admission, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.access_log = False  # requests are logged in `kit.service.http`
        self.source: str | None = None
        self._admission = admission
        #: Requests in progress: begun and not answered, oldest first.
        self._open_requests: deque[RequestResponseCycle] = deque()
        #: Whether the parser is outside a body.
        self._in_head = True
        #: Bytes since the last progress of the parser: of a head, or between the pieces of a body.
        self._unparsed = 0
        #: Bytes of the body that is being received, and number of its pieces.
        self._body = self._pieces = 0
        #: Start of waiting for a head, of measuring a body, or of closing.
        self._waiting_since = 0.0
        self._body_before = -1
        #: Since when the client has not read its response.
        self._unread_since: float | None = None
        self._is_closing = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start a connection, or refuse it."""
        super().connection_made(transport)
        self._waiting_since = self.loop.time()
        if self.client:
            self.source = self._admission.source(self.client[0])
        if not self._admission.enter(self):
            self._is_closing = True
            error = UnavailableError("too many connections", headers={"Retry-After": "1"})
            self.transport.write(self._error_bytes(error))
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop counting the connection, and drop the responses to its requests."""
        self._admission.leave(self)
        for request in self._open_requests:  # the server does so with the newest one only
            request.disconnected = True
            request.message_event.set()
        super().connection_lost(exc)

    def leave(self) -> None:
        """Close the connection to make room for another."""
        self._is_closing = True
        # No longer counted, so it must not wait until the client has read its response.
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        """Parse received bytes, at most the maximum size of a head at a time."""
        if self.timeout_keep_alive_task is not None:
            self.timeout_keep_alive_task.cancel()
            self.timeout_keep_alive_task = None
        while data and not self._is_closing:
            room = MAX_HEAD_BYTES - self._unparsed
            self._parse(data[:room])
            data = data[room:]

    def _parse(self, data: bytes) -> None:
        is_new = not self._unparsed
        self._unparsed += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as error:
            if self._asks_for_upgrade():
                self._parse_without_upgrade(data[error.args[0] :])
            return
        except httptools.HttpParserError as error:
            self._handle_parse_error(error)
            return
        if self._unparsed >= MAX_HEAD_BYTES:
            self._refuse(HeadTooLargeError(f"the head is larger than {MAX_HEAD_BYTES:,} bytes"))
        elif self._pieces > MAX_SMALL_PIECES and self._body < self._pieces * MIN_PIECE_BYTES:
            self._refuse(BadRequestError("the chunks of the body are too small"))
        elif is_new and self._unparsed and self._in_head and self.cycle is not None:
            self._waiting_since = self.loop.time()

    def _asks_for_upgrade(self) -> bool:
        return self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT"

    def _parse_without_upgrade(self, rest: bytes) -> None:
        """Parse a head again without ``Upgrade``, and what follows it: HTTP/1.1 stays.

        The parser takes its body for the other protocol. Java's client asks for HTTP/2 in this way.
        """
        line = self.parser.get_method(), self.url, self.parser.get_http_version().encode()
        fields = _join(header for header in self.headers if header[0] != b"upgrade")
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as the server does
        self._unparsed = 0
        self._parse(b"%b %b HTTP/%b\r\n%b\r\n%b" % (*line, fields, rest))

    def _handle_parse_error(self, error: Exception) -> None:
        if isinstance(error.__context__, _TooManyError):
            # Accepted requests are answered; the client must repeat the later ones.
            self._is_closing = True
            self.cycle.keep_alive = False
            self._admission.log_refusal("too many requests before an answer", self.source)
        elif isinstance(error.__context__, HeadTooLargeError):
            self._refuse(error.__context__)
        else:
            self._refuse(BadRequestError("this is not an HTTP/1.1 request"))

    def on_headers_complete(self) -> None:
        """Start handling a request."""
        if self._asks_for_upgrade():
            return  # it is parsed again
        if len(self._open_requests) >= MAX_PIPELINED:
            raise _TooManyError
        if len(self.headers) > MAX_HEADERS:
            raise HeadTooLargeError(f"the request has more than {MAX_HEADERS} headers")
        super().on_headers_complete()
        cast("Any", self.scope)[WRITE_WHOLE] = partial(_write_whole, self.cycle)
        self._in_head = False
        self._unparsed = self._body = self._pieces = 0
        self._body_before = -1
        self._open_requests.append(self.cycle)
        self._admission.idle.pop(self, None)
        # Trailers after the body do not belong to the headers of the request.
        self.headers = []

    def on_body(self, body: bytes) -> None:
        """Receive a piece of a body."""
        self._unparsed = 0
        self._body += len(body)
        self._pieces += 1
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Handle the end of a request."""
        if self._asks_for_upgrade():
            return
        self._in_head = True
        self._unparsed = 0
        super().on_message_complete()
        if not self._open_requests:  # answered already, so the server waits for no other request
            self._waiting_since = self.loop.time()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._open_requests.popleft()
        if not self._open_requests and not self._is_closing:
            self._admission.idle[self] = None
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Record that the client does not read."""
        self._unread_since = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        """Record that the client reads again."""
        self._unread_since = None
        super().resume_writing()

    def review(self, now: float) -> None:
        """Close the connection if the client is too slow."""
        limits = self._admission.limits
        if self._unread_since is not None and now - self._unread_since > limits.answer_seconds:
            self._admission.log_refusal("the client did not read the answer", self.source)
            self.transport.abort()
        elif self._is_closing:
            if not self._open_requests and now - self._waiting_since > _LINGER_SECONDS:
                self.transport.abort()
        elif not self._in_head:
            self._review_body(now)
        elif self._open_requests or self.timeout_keep_alive_task is not None:
            return  # the client is not late, or the server's own timeout runs
        elif now - self._waiting_since > limits.head_seconds:
            if self._unparsed:
                self._refuse(RequestTimeoutError("the head of the request did not arrive in time"))
            else:
                self.transport.close()

    def _review_body(self, now: float) -> None:
        is_paused = self.flow.read_paused or self.cycle.waiting_for_100_continue
        minimum = MIN_BODY_RATE * self._admission.limits.body_seconds
        if is_paused or self._body_before < 0 or self._body - self._body_before >= minimum:
            self._waiting_since, self._body_before = now, self._body
        elif now - self._waiting_since > self._admission.limits.body_seconds:
            self._refuse(RequestTimeoutError("the body of the request did not arrive in time"))

    def _refuse(self, error: ApiError) -> None:
        """Respond with an error to a malformed or slow request, and close."""
        self._is_closing = True
        self._waiting_since = self.loop.time()
        self._admission.log_refusal(error.message, self.source)
        if self._open_requests and self._in_head:
            # Earlier requests are answered first. They were complete and may have been charged.
            self.cycle.keep_alive = False
        elif self._in_head or (len(self._open_requests) == 1 and not self.cycle.response_started):
            self.transport.write(self._error_bytes(error))
            self._close_writing()
        else:
            self.transport.close()

    def _close_writing(self) -> None:
        """Close for writing: a full close with unread bytes would drop the response."""
        if self._open_requests:
            self._open_requests.clear()
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.flow.resume_reading()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        else:
            self.transport.close()

    def _error_bytes(self, error: ApiError) -> bytes:
        request_id = new_request_id()
        answer = envelope(error, request_id)
        headers = [
            *self.server_state.default_headers,
            *answer.raw_headers,
            (b"x-request-id", request_id.encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"connection", b"close"),
        ]
        return b"%b%b\r\n%b" % (STATUS_LINE[error.status], _join(headers), bytes(answer.body))


def _join(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    return b"".join([b"%b: %b\r\n" % header for header in headers])


def _write_whole(
    cycle: RequestResponseCycle, status: int, headers: list[tuple[bytes, bytes]], body: bytes
) -> bool:
    """Write a response with one system call; False if the server must write it.

    The server writes head and body separately. For short responses a second call costs as much as
    creating the response.
    """
    if cycle.disconnected or cycle.flow.write_paused or not cycle.keep_alive:
        return False
    pairs = (*cycle.default_headers, *headers)
    head = _join(pairs)
    has_end = b"content-length: " in head or status in (204, 304)
    if not has_end or head.count(b"\n") != len(pairs):  # no header may contain another one
        return False
    content = b"" if cycle.scope["method"] == "HEAD" else body
    cycle.transport.write(b"%b%b\r\n%b" % (STATUS_LINE[status], head, content))
    cycle.waiting_for_100_continue = False
    cycle.response_started = cycle.response_complete = True
    cycle.message_event.set()
    cycle.on_response()
    return True
