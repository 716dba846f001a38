"""One attempt at a delivery: a POST to a URL that a user has chosen.

Each connection uses an address that it has just looked up and checked. No redirect is followed, no
body read, and time is limited. This module is imported with the first delivery.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from ipaddress import ip_address
from socket import SOCK_STREAM, getaddrinfo
from typing import Any

import httpcore

from kit.internet import is_public, retry_after

#: Time limit of an attempt in seconds.
TIMEOUT = 15.0
_NETWORK_ERRORS = (
    httpcore.NetworkError,
    httpcore.TimeoutException,
    httpcore.ProtocolError,
    httpcore.UnsupportedProtocol,
)
#: Resolves a host and a port to addresses.
Resolve = Callable[[str, int], Awaitable[Iterable[str]]]


#: Threads for name lookups, separate from those for files, which slow lookups would block.
_LOOKUP_THREADS = ThreadPoolExecutor(32, thread_name_prefix="kit-lookups")


async def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of a host name."""
    lookup = partial(getaddrinfo, host, port, type=SOCK_STREAM)
    found = await asyncio.get_running_loop().run_in_executor(_LOOKUP_THREADS, lookup)
    return [str(address[4][0]) for address in found]


class DeliverySender:
    """Sends messages to public addresses, and to this machine if allowed."""

    def __init__(self, resolve: Resolve, loopback: bool, *, seconds: float = TIMEOUT) -> None:
        self._backend, self._seconds = CheckedBackend(resolve, loopback), seconds
        self._certificates = ssl.create_default_context()

    async def send(
        self, url: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, float, str]:
        """Return the status of the response, the seconds of ``Retry-After``, and the error.

        The status is 0 if there was no response.
        """
        pool = httpcore.AsyncConnectionPool(self._certificates, network_backend=self._backend)
        try:
            # Closed after the headers: the body is not read.
            async with (
                asyncio.timeout(self._seconds),
                pool,
                pool.stream("POST", url, headers=[*headers.items()], content=body) as response,
            ):
                status, fields = response.status, response.headers
        except (*_NETWORK_ERRORS, OSError) as error:
            return 0, 0.0, (str(error) or type(error).__name__)[:200]
        retry = next((value for name, value in fields if name.lower() == b"retry-after"), b"")
        return status, retry_after(retry.decode("latin-1")) or 0.0, f"the answer was {status}"


class CheckedBackend(httpcore.AnyIOBackend):
    """Connects to public addresses only, and to this machine if allowed."""

    def __init__(self, resolve: Resolve, loopback: bool) -> None:
        self._resolve = resolve
        self._loopback = loopback

    async def connect_tcp(
        self, host: str, port: int, *args: Any, **kwargs: Any
    ) -> httpcore.AsyncNetworkStream:
        """Resolve a host and connect to it; raises `ConnectError` for a private network."""
        try:
            addresses = [*await self._resolve(host, port)]
        except OSError:
            raise httpcore.ConnectError(f"there is no {host}") from None
        if not addresses or not all(map(self._is_allowed, addresses)):
            raise httpcore.ConnectError("it leads to a private network")
        return await super().connect_tcp(addresses[0], port, *args, **kwargs)

    def _is_allowed(self, address: str) -> bool:
        is_local = ip_address(address.partition("%")[0]).is_loopback
        return is_public(address) or (self._loopback and is_local)
