"""What connections may take of the service."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from kit.service.settings import ServiceSettings

Network = IPv4Network | IPv6Network
#: Bytes of a request's head, and of whatever else is no body. Source: contract, second round.
HEAD_BYTES = 65_536
#: Headers of a request: each takes some work in every layer.
MANY_HEADERS = 200
#: Requests that one connection may send before the first of them is answered.
PIPELINED = 8
#: Bytes of a body that must come in each second, on the average of `Bounds.body_seconds`.
BODY_RATE = 500

#: Pieces of a body above which they must have so many bytes on average: each takes some work.
MANY_PIECES, PIECE_BYTES = 1000, 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How many connections there may be, and how long they may take.

    Parameters
    ----------
    total, each : int
        Connections in all, and of one address.
    source : callable
        Given a client's host, what its connections are counted under; None where they are not.
    head_seconds, body_seconds, answer_seconds : float
        What a request's head may take; the time in which some of its body must come, see
        `BODY_RATE`; the time in which a client must take some of the answer.
    """

    total: int
    each: int
    source: Callable[[str], str | None]
    head_seconds: float = 10.0
    body_seconds: float = 20.0
    answer_seconds: float = 60.0

    @classmethod
    def of(cls, settings: ServiceSettings) -> Bounds:
        """Return what the settings say."""
        trusted = [ip_network(text, strict=False) for text in settings.trusted_proxies]
        return cls(
            total=settings.connections,
            each=settings.connections_per_address,
            source=lru_cache(4096)(lambda host: source_of(host, trusted)),
            head_seconds=settings.head_seconds,
            body_seconds=settings.body_seconds,
            answer_seconds=settings.answer_seconds,
        )


def source_of(host: str, trusted: list[Network]) -> str | None:
    """Return what the connections of a host are counted under; None where they are not.

    A proxy brings many clients and is not counted. An address of version 6 counts as its network
    of 64 bits, which is what one customer gets.

    Examples
    --------
    >>> source_of("::ffff:192.0.2.7", []), source_of("2001:db8::1:2:3:4", [])
    ('192.0.2.7', '2001:db8::/64')
    >>> source_of("127.0.0.1", [ip_network("127.0.0.0/8")])
    """
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    address = getattr(address, "ipv4_mapped", None) or address
    if any(address in network for network in trusted if network.version == address.version):
        return None
    return str(address) if address.version == 4 else str(ip_network((address, 64), strict=False))
