"""The internet: where addresses lead, and how long its servers ask to be left alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any
from urllib.parse import urlsplit

#: What this machine calls itself.
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_PORTS = {"http": 80, "https": 443}
#: Networks that stand for one of IPv4, whose address is the last part.
_TRANSLATED = (IPv6Network("64:ff9b::/96"), IPv6Network("::/96"))


def is_public(address: str) -> bool:
    """Return whether an address is one of the open internet, also inside of another.

    Examples
    --------
    >>> is_public("9.9.9.9"), is_public("10.0.0.1"), is_public("::ffff:169.254.169.254")
    (True, False, False)
    """
    whole = ip_address(address.partition("%")[0])
    inside = list(_inside(whole)) if isinstance(whole, IPv6Address) else []
    return all(one.is_global and not one.is_multicast for one in (inside or [whole]))


def _inside(address: IPv6Address) -> Iterator[IPv4Address | IPv6Address]:
    """Yield the addresses of IPv4 that one of IPv6 leads to."""
    found: list[Any] = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if any(address in network for network in _TRANSLATED):
        found.append(IPv4Address(int(address) & 0xFFFFFFFF))
    yield from filter(None, found)


def origin(url: str) -> tuple[str, str, int]:
    """Return scheme, host and port of an address; a malformed one has an origin of its own."""
    try:
        parts = urlsplit(url)
        scheme = parts.scheme.lower()
        return scheme, parts.hostname or "", parts.port or _PORTS.get(scheme, 0)
    except ValueError:
        return "", url, 0


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """Return the seconds that a ``Retry-After`` header asks for, or None when it says nothing.

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
        until = parse_date(value)
        now = now or datetime.now(UTC)
        return None if until is None else max(0.0, (until - now).total_seconds())
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def parse_date(value: str) -> datetime | None:
    """Return the moment that an HTTP date names, or None where it is none."""
    try:
        found = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
