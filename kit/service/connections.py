"""Connections: how many there may be, and how much and how slowly each may send.

The server below has no such limits. They are kept here, before any key is checked. An idle
connection can be closed at any time, as HTTP has it. So no client can take a place by holding
connections open: where all places are taken, the connection that has been idle longest is closed
for the new one, and only where all have a request in work is the new one refused.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
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
from kit.service.http.errors import envelope
from kit.service.http.middleware import WHOLE, new_request_id
from kit.service.settings import ServiceSettings

_log = logging.getLogger("kit.http")
#: Seconds between two log lines about the same thing.
_LOG_SECONDS = 10.0

#: Bytes of a request's head, and of whatever else is no body. Source: contract, second round.
HEAD_BYTES = 65_536
#: Headers of a request: each takes some work in every layer.
MANY_HEADERS = 200
#: Requests that one connection may send before the first of them is answered.
PIPELINED = 8
#: Bytes of a body that must come in each second, on the average of `body_seconds`.
BODY_RATE = 500

#: Pieces of a body above which they must have so many bytes on average: each takes some work.
MANY_PIECES, PIECE_BYTES = 1000, 64
#: Seconds in which a client must read a refusal.
_LINGER_SECONDS = 2.0
#: Bytes above which nothing is gained by waiting for more.
_BUFFER_BYTES = 16_384


def client_key(host: str, trusted: list[IPv4Network | IPv6Network]) -> str | None:
    """Return what the connections of a host are counted under; None where they are not.

    A proxy brings many clients and is not counted. An address of version 6 counts as its network
    of 64 bits, which is what one customer gets.
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
    """The open connections of one server; used from its event loop only."""

    def __init__(self, limits: ServiceSettings) -> None:
        self.limits = limits
        trusted = [ip_network(text, strict=False) for text in limits.trusted_proxies]
        #: Given a client's host, what its connections are counted under; None where they are not.
        self.source = lru_cache(4096)(lambda host: client_key(host, trusted))
        #: Those without a request in work, the longest silent first.
        self.idle: dict[BoundedProtocol, None] = {}
        self._open: set[BoundedProtocol] = set()
        self._by_source: Counter[str] = Counter()
        #: Reason of refusals -> how often by source since the last line, and when the next is due.
        self._refusals: dict[str, Counter[str]] = {}
        self._due: dict[str, float] = {}

    def enter(self, connection: BoundedProtocol) -> bool:
        """Count a new connection, closing an idle one if it must be; False where none can be."""
        source, displaced = connection.source, None
        crowded = source is not None and (
            self._by_source[source] >= self.limits.connections_per_address
        )
        if crowded or len(self._open) >= self.limits.connections:
            # One of the same address, where that has too many.
            rest = (other for other in self.idle if not crowded or other.source == source)
            displaced = next(rest, None)
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
        """Count a connection no more; a second time changes nothing."""
        if connection in self._open:
            self._open.remove(connection)
            self.idle.pop(connection, None)
            if connection.source is not None:
                self._by_source[connection.source] -= 1
                if not self._by_source[connection.source]:
                    del self._by_source[connection.source]

    def log_refusal(self, reason: str, source: str | None) -> None:
        """Log, soon and together with others, that a client was refused."""
        sources = self._refusals.setdefault(reason, Counter())
        source = source or "a trusted address"
        # Many addresses may take part: those beyond a few are counted as one.
        sources[source if source in sources or len(sources) < 50 else "others"] += 1

    def review(self, now: float) -> None:
        """Close the connections that take too long; called once a second."""
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
    """More requests were sent than are taken before an answer."""


class BoundedProtocol(HttpToolsProtocol):
    """One connection."""

    def __init__(self, admission: Admission, **given: Any) -> None:
        super().__init__(**given)
        self.source: str | None = None
        self._admission = admission
        #: Requests in work: begun and not answered.
        self._working = 0
        #: Whether the next byte belongs to no body.
        self._in_head = True
        #: Bytes since the parser got on: of a head, or between the pieces of a body.
        self._unparsed = 0
        #: Bytes of the body that is being sent, and the pieces that they came in.
        self._body = self._pieces = 0
        #: Since when a head is awaited, a body's bytes are counted or a farewell lasts.
        self._since = 0.0
        self._body_then = -1
        #: Since when the client takes nothing of its answer.
        self._stuck: float | None = None
        self._over = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to talk to a client, or refuse to."""
        super().connection_made(cast("asyncio.Transport", BufferedTransport(transport, self.loop)))
        self._since = self.loop.time()
        if self.client:
            self.source = self._admission.source(self.client[0])
        if not self._admission.enter(self):
            self._over = True
            error = UnavailableError("too many connections", headers={"Retry-After": "1"})
            self.transport.write(self._raw(error))
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a client."""
        self._admission.leave(self)
        super().connection_lost(exc)

    def leave(self) -> None:
        """Close, because another needs the place."""
        self._over = True
        # Not counted any more, so it must not wait for the client to take the rest of an answer.
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        """Parse what came, at most what a head may have at a time."""
        if self.timeout_keep_alive_task is not None:
            self.timeout_keep_alive_task.cancel()
            self.timeout_keep_alive_task = None
        while data and not self._over:
            room = HEAD_BYTES - self._unparsed
            if len(data) <= room:
                self._parse(data)
                return
            self._parse(data[:room])
            data = data[room:]

    def _parse(self, data: bytes) -> None:
        begins = not self._unparsed
        self._unparsed += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            pass  # there is nothing to change to: it is answered as any request
        except httptools.HttpParserError as error:
            self._misunderstood(error)
            return
        if self._unparsed >= HEAD_BYTES:
            self._refuse(HeadTooLargeError(f"the head is larger than {HEAD_BYTES:,} bytes"))
        elif self._pieces > MANY_PIECES and self._body < self._pieces * PIECE_BYTES:
            self._refuse(BadRequestError("the chunks of the body are too small"))
        elif begins and self._unparsed and self._in_head and self.cycle is not None:
            self._since = self.loop.time()

    def _misunderstood(self, error: Exception) -> None:
        if isinstance(error.__context__, _TooManyError):
            # What was taken is answered; what came after it, the client has to send again.
            self._over = True
            self.cycle.keep_alive = False
            self._admission.log_refusal("too many requests before an answer", self.source)
        elif isinstance(error.__context__, HeadTooLargeError):
            self._refuse(error.__context__)
        else:
            self._refuse(BadRequestError("this is no HTTP/1.1 request"))

    def on_headers_complete(self) -> None:
        """Begin to answer a request."""
        if self._working >= PIPELINED:
            raise _TooManyError
        if len(self.headers) > MANY_HEADERS:
            raise HeadTooLargeError(f"the request has more than {MANY_HEADERS} headers")
        super().on_headers_complete()
        cast("Any", self.scope)[WHOLE] = partial(_write_whole, self.cycle)
        self._in_head = False
        self._unparsed = self._body = self._pieces = 0
        self._body_then = -1
        self._working += 1
        self._admission.idle.pop(self, None)
        # What comes after the body under the name of headers is none of the request's.
        self.headers = []

    def on_body(self, body: bytes) -> None:
        """Take a piece of a body."""
        self._unparsed = 0
        self._body += len(body)
        self._pieces += 1
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Take note that a request is there as a whole."""
        self._in_head = True
        self._unparsed = 0
        super().on_message_complete()
        if not self._working:  # it was answered before, so the server waits for no other
            self._since = self.loop.time()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._working -= 1
        if not self._working and not self._over:
            self._admission.idle[self] = None
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Take note that the client takes nothing just now."""
        self._stuck = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        """Take note that it goes on."""
        self._stuck = None
        super().resume_writing()

    def review(self, now: float) -> None:
        """Close, if the client takes too long."""
        limits = self._admission.limits
        if self._stuck is not None and now - self._stuck > limits.answer_seconds:
            self._admission.log_refusal("an answer was not taken", self.source)
            self.transport.abort()
        elif self._over:
            if not self._working and now - self._since > _LINGER_SECONDS:
                self.transport.abort()
        elif not self._in_head:
            self._review_body(now)
        elif self._working or self.timeout_keep_alive_task is not None:
            return  # it is our turn, or the server's own clock runs
        elif now - self._since > limits.head_seconds:
            if self._unparsed:
                self._refuse(RequestTimeoutError("the head of the request did not come in time"))
            else:
                self.transport.close()

    def _review_body(self, now: float) -> None:
        ours = self.flow.read_paused or self.cycle.waiting_for_100_continue
        wanted = BODY_RATE * self._admission.limits.body_seconds
        if ours or self._body_then < 0 or self._body - self._body_then >= wanted:
            self._since, self._body_then = now, self._body
        elif now - self._since > self._admission.limits.body_seconds:
            self._refuse(RequestTimeoutError("the body of the request did not come in time"))

    def _refuse(self, error: ApiError) -> None:
        """Answer an error to what cannot be parsed or does not come, and close."""
        self._over = True
        self._since = self.loop.time()
        self._admission.log_refusal(error.message, self.source)
        if self._working and self._in_head:
            # Earlier requests are answered first. They came as a whole and may have been charged.
            self.cycle.keep_alive = False
        elif self._in_head or (self._working == 1 and not self.cycle.response_started):
            self.transport.write(self._raw(error))
            self._hang_up()
        else:
            self.transport.close()

    def _hang_up(self) -> None:
        """Close for writing: closed with bytes unread, it would drop the answer."""
        if self._working:
            self._working = 0
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.flow.resume_reading()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        else:
            self.transport.close()

    def _raw(self, error: ApiError) -> bytes:
        request_id = new_request_id()
        answer = envelope(error, request_id)
        headers = [
            *self.server_state.default_headers,
            *answer.raw_headers,
            (b"x-request-id", request_id.encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"connection", b"close"),
        ]
        head = b"".join(b"%b: %b\r\n" % header for header in headers)
        return b"%b%b\r\n%b" % (STATUS_LINE[error.status], head, bytes(answer.body))


def _write_whole(
    cycle: RequestResponseCycle, status: int, headers: list[tuple[bytes, bytes]], body: bytes
) -> bool:
    """Write an answer in one piece; False where the server has to, as it is more than that."""
    if cycle.disconnected or cycle.flow.write_paused or not cycle.keep_alive:
        return False
    head = b"".join([b"%b: %b\r\n" % header for header in (*cycle.default_headers, *headers)])
    cycle.transport.write(b"%b%b\r\n%b" % (STATUS_LINE[status], head, body))
    cycle.waiting_for_100_continue = False
    cycle.response_started = cycle.response_complete = True
    cycle.message_event.set()
    cycle.on_response()
    return True


class BufferedTransport:
    """A transport that keeps small writes until the running callback ends.

    The server writes an answer's head and body one after the other, and its event loop sends each
    at once. Sent in one piece they cost one system call; on a short answer the second one costs as
    much as making it. Everything else is the transport's own.
    """

    __slots__ = ("_loop", "_size", "_transport", "_waiting")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._waiting: list[bytes] = []
        self._size = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send some bytes soon, in order."""
        if not self._waiting:
            self._loop.call_soon(self._flush)
        self._waiting.append(data)
        self._size += len(data)
        if self._size > _BUFFER_BYTES:  # so a slow client pauses a large answer
            self._flush()

    def write_eof(self) -> None:
        """Send what waits and say that nothing comes after it."""
        self._flush()
        self._transport.write_eof()

    def close(self) -> None:
        """Send what waits and close."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._waiting:
            data = b"".join(self._waiting)
            self._waiting.clear()
            self._size = 0
            self._transport.write(data)
