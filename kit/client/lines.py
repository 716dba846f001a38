"""Open connections: one transport for each origin, lent to requests, closed when none uses it.

A transport that is closed under a request of another thread would leave that thread on a socket
whose number may be somebody else's by then, or leave a socket behind that was just being opened.
A request that comes after the closing, from a widget's thread for instance, gets a transport of its
own, so that nothing stays open.
"""

from __future__ import annotations

import os
import ssl
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

import httpx

from kit.client.proxies import proxy
from kit.client.settings import origin

C = TypeVar("C", httpx.HTTPTransport, httpx.AsyncHTTPTransport)


@dataclass(slots=True)
class _Line(Generic[C]):
    transport: C
    requests: int = 0
    retired: bool = False


class Lines(Generic[C]):
    """The transports of one client, built on first use.

    Certificates cost 18 ms to load, and a service on plain http never asks for them. After a fork
    a new transport is built.

    Parameters
    ----------
    make : callable
        Builds a transport from ``verify`` and ``proxy``.
    """

    def __init__(self, make: Callable[..., Any]) -> None:
        self._make = make
        self._lines: dict[tuple[int, tuple[str, str, int]], _Line[C]] = {}
        self._lock = threading.Lock()
        self._kept = True

    def take(self, url: str) -> _Line[C]:
        """Take the line to an address's origin in this process; give it back with `give`."""
        place = origin(url)
        key = (os.getpid(), place)
        with self._lock:
            line = self._lines.get(key)
            if line is None:
                verify = _certificates() if place[0] == "https" else _no_certificates()
                transport = self._make(verify=verify, proxy=proxy(*place))
                line = _Line(transport, retired=not self._kept)
                if self._kept:
                    self._lines[key] = line
            line.requests += 1
            return line

    def give(self, line: _Line[C]) -> bool:
        """Give a line back; True when the caller must close its transport now."""
        with self._lock:
            line.requests -= 1
            return line.retired and not line.requests

    def retire(self) -> list[C]:
        """Keep no line from now on; return the transports to close, for those not in use.

        Whoever uses one last closes it.
        """
        with self._lock:
            self._kept = False
            mine = [line for (pid, _), line in self._lines.items() if pid == os.getpid()]
            self._lines.clear()
            for line in mine:
                line.retired = True
            return [line.transport for line in mine if not line.requests]


@contextmanager
def lent(lines: Lines[httpx.HTTPTransport], url: str) -> Generator[httpx.HTTPTransport, None, None]:
    """Lend the transport to an address's origin for one request, its answer's body included."""
    line = lines.take(url)
    try:
        yield line.transport
    finally:
        if lines.give(line):
            line.transport.close()


@asynccontextmanager
async def lent_async(
    lines: Lines[httpx.AsyncHTTPTransport], url: str
) -> AsyncGenerator[httpx.AsyncHTTPTransport, None]:
    """Lend the transport to an address's origin for one request on the private loop."""
    line = lines.take(url)
    try:
        yield line.transport
    finally:
        if lines.give(line):
            await line.transport.aclose()


@cache
def _certificates() -> ssl.SSLContext:
    return httpx.create_ssl_context()


@cache
def _no_certificates() -> ssl.SSLContext:
    """Return a context that trusts nobody: it costs nothing to build and http never uses it."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
