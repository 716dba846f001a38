"""Which addresses are of the open internet, and which lead into a network of one's own."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any

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
