"""The internet: public addresses, origins of URLs, and ``Retry-After``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any
from urllib.parse import urlsplit

#: Names of this machine.
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_DEFAULT_PORTS = {"http": 80, "https": 443}
#: IPv6 networks whose addresses contain an IPv4 address at the end.
_TRANSLATED_NETWORKS = (IPv6Network("64:ff9b::/96"), IPv6Network("::/96"))


def is_public(address: str) -> bool:
    """Return whether an address is public, including the addresses embedded in it.

    Examples
    --------
    >>> is_public("9.9.9.9"), is_public("10.0.0.1"), is_public("::ffff:169.254.169.254")
    (True, False, False)
    """
    outer = ip_address(address.partition("%")[0])
    embedded = list(_find_embedded(outer)) if isinstance(outer, IPv6Address) else []
    return all(ip.is_global and not ip.is_multicast for ip in (embedded or [outer]))


def _find_embedded(address: IPv6Address) -> Iterator[IPv4Address | IPv6Address]:
    """Yield the IPv4 addresses embedded in an IPv6 address."""
    found: list[Any] = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if any(address in network for network in _TRANSLATED_NETWORKS):
        found.append(IPv4Address(int(address) & 0xFFFFFFFF))
    yield from filter(None, found)


def origin(url: str) -> tuple[str, str, int]:
    """Return scheme, host and port of a URL; a malformed one has its own origin."""
    try:
        parts = urlsplit(url)
        scheme = parts.scheme.lower()
        return scheme, parts.hostname or "", parts.port or _DEFAULT_PORTS.get(scheme, 0)
    except ValueError:
        return "", url, 0


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """Return the seconds requested by a ``Retry-After`` header; None if missing or invalid.

    Takes seconds, whole or not, and HTTP dates; a date in the past is 0.

    Examples
    --------
    >>> retry_after("1.5"), retry_after("soon"), retry_after(None)
    (1.5, None, None)
    """
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        date = parse_date(value)
        now = now or datetime.now(UTC)
        return None if date is None else max(0.0, (date - now).total_seconds())
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def parse_date(value: str) -> datetime | None:
    """Parse an HTTP date; None if it is invalid."""
    try:
        found = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
