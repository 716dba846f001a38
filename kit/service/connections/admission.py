"""Admission control: how many connections there may be, and which are closed for new ones.

An idle connection can be closed at any time, as HTTP has it. So no client can take a place by
holding connections open: where all places are taken, the connection that has been idle longest is
closed for the new one, and only where all have a request in work is the new one refused.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Protocol

from kit.service.settings import ServiceSettings

_log = logging.getLogger("kit.http")
#: Seconds between two log lines about the same thing.
_LOG_SECONDS = 10.0

Network = IPv4Network | IPv6Network
#: Bytes of a request's head, and of whatever else is no body. Source: contract, second round.
HEAD_BYTES = 65_536
#: Headers of a request: each takes some work in every layer.
MANY_HEADERS = 200
#: Requests that one connection may send before the first of them is answered.
PIPELINED = 8
#: Bytes of a body that must come in each second, on the average of `ConnectionLimits.body_seconds`.
BODY_RATE = 500

#: Pieces of a body above which they must have so many bytes on average: each takes some work.
MANY_PIECES, PIECE_BYTES = 1000, 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """How many connections there may be, and how long they may take."""

    #: Connections in all, and of one address.
    total: int
    each: int
    #: Given a client's host, what its connections are counted under; None where they are not.
    source: Callable[[str], str | None]
    #: What a request's head may take; the time in which some of its body must come, see
    #: `BODY_RATE`; the time in which a client must take some of the answer.
    head_seconds: float = 10.0
    body_seconds: float = 20.0
    answer_seconds: float = 60.0

    @classmethod
    def of(cls, settings: ServiceSettings) -> ConnectionLimits:
        """Return what the settings say."""
        trusted = [ip_network(text, strict=False) for text in settings.trusted_proxies]
        return cls(
            total=settings.connections,
            each=settings.connections_per_address,
            source=lru_cache(4096)(lambda host: client_key(host, trusted)),
            head_seconds=settings.head_seconds,
            body_seconds=settings.body_seconds,
            answer_seconds=settings.answer_seconds,
        )


def client_key(host: str, trusted: list[Network]) -> str | None:
    """Return what the connections of a host are counted under; None where they are not.

    A proxy brings many clients and is not counted. An address of version 6 counts as its network
    of 64 bits, which is what one customer gets.

    Examples
    --------
    >>> client_key("::ffff:192.0.2.7", []), client_key("2001:db8::1:2:3:4", [])
    ('192.0.2.7', '2001:db8::/64')
    >>> client_key("127.0.0.1", [ip_network("127.0.0.0/8")])
    """
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    address = getattr(address, "ipv4_mapped", None) or address
    if any(address in network for network in trusted if network.version == address.version):
        return None
    return str(address) if address.version == 4 else str(ip_network((address, 64), strict=False))


class Connection(Protocol):
    """A connection, as this module sees it."""

    #: What it is counted under; None where only the total counts.
    source: str | None

    def leave(self) -> None:
        """Close, because another needs the place."""
        ...

    def review(self, now: float) -> None:
        """Close, if the client takes too long."""
        ...


class Admission:
    """The open connections of one server; used from its event loop only.

    Examples
    --------
    >>> admission = Admission(ConnectionLimits(total=1, each=1, source=str))
    >>> admission.total
    0
    """

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        #: Those without a request in work, the longest silent first.
        self.idle: dict[Connection, None] = {}
        self._open: set[Connection] = set()
        self._by_source: Counter[str] = Counter()
        self._refusals = _RefusalLog()

    @property
    def total(self) -> int:
        """How many are open."""
        return len(self._open)

    def enter(self, connection: Connection) -> bool:
        """Count a new connection, closing an idle one if it must be; False where none can be."""
        source = connection.source
        if source is not None and self._by_source[source] >= self.limits.each:
            same: Callable[[Connection], bool] = lambda other: other.source == source  # noqa: E731
            displaced = next(filter(same, self.idle), None)
        elif len(self._open) >= self.limits.total:
            displaced = next(iter(self.idle), None)
        else:
            self._count(connection)
            return True
        self.log_refusal(
            "no room for a connection" if displaced is None else "idle connection closed", source
        )
        if displaced is None:
            return False
        self.leave(displaced)
        displaced.leave()
        self._count(connection)
        return True

    def leave(self, connection: Connection) -> None:
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
        self._refusals.add(reason, source or "a trusted address")

    def review(self, now: float) -> None:
        """Close the connections that take too long; called once a second."""
        for connection in tuple(self._open):
            connection.review(now)
        self._refusals.write(now)

    def _count(self, connection: Connection) -> None:
        self._open.add(connection)
        self.idle[connection] = None
        if connection.source is not None:
            self._by_source[connection.source] += 1


class _RefusalLog:
    """Log lines about refused clients: one a reason and a while, however many there are."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[str]] = {}
        self._due: dict[str, float] = {}

    def add(self, reason: str, source: str) -> None:
        sources = self._counts.setdefault(reason, Counter())
        # Many addresses may take part: those beyond a few are counted as one.
        sources[source if source in sources or len(sources) < 50 else "others"] += 1

    def write(self, now: float) -> None:
        for reason in [one for one in self._counts if now >= self._due.get(one, 0.0)]:
            sources = self._counts.pop(reason)
            most, often = sources.most_common(1)[0]
            facts = {
                "event": "refused",
                "reason": reason,
                "times": sources.total(),
                "most": most,
                "often": often,
            }
            _log.warning("%(reason)s: %(times)d times, %(often)d of them %(most)s", facts)
            self._due[reason] = now + _LOG_SECONDS
