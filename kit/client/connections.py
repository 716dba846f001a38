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
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

import httpx

from kit.client.settings import origin

_HERE = frozenset({"127.0.0.1", "localhost", "::1"})


def proxy(scheme: str, host: str, _port: int = 0) -> str | None:
    """Return the proxy that the environment names for a host; none is asked for what is here.

    Examples
    --------
    >>> proxy("http", "127.0.0.1") is None
    True
    """
    if host in _HERE or urllib.request.proxy_bypass(host):
        return None
    known = urllib.request.getproxies()
    return known.get(scheme) or known.get("all")


C = TypeVar("C", httpx.HTTPTransport, httpx.AsyncHTTPTransport)


@dataclass(slots=True)
class _PooledConnection(Generic[C]):
    transport: C
    requests: int = 0
    retired: bool = False


class ConnectionPool(Generic[C]):
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
        self._entries: dict[tuple[int, tuple[str, str, int]], _PooledConnection[C]] = {}
        self._lock = threading.Lock()
        self._open = True

    def acquire(self, url: str) -> _PooledConnection[C]:
        """Return the entry for an address's origin in this process; `release` it afterwards."""
        target = origin(url)
        key = (os.getpid(), target)
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                verify = _certificates() if target[0] == "https" else _no_certificates()
                transport = self._make(verify=verify, proxy=proxy(*target))
                entry = _PooledConnection(transport, retired=not self._open)
                if self._open:
                    self._entries[key] = entry
            entry.requests += 1
            return entry

    def release(self, entry: _PooledConnection[C]) -> bool:
        """Release an entry; True when the caller must close its transport now."""
        with self._lock:
            entry.requests -= 1
            return entry.retired and not entry.requests

    def close(self) -> list[C]:
        """Pool nothing from now on; return the transports to close now, those not in use.

        The last user of another one closes it.
        """
        with self._lock:
            self._open = False
            ours = [entry for (pid, _), entry in self._entries.items() if pid == os.getpid()]
            self._entries.clear()
            for entry in ours:
                entry.retired = True
            return [entry.transport for entry in ours if not entry.requests]


@cache
def _certificates() -> ssl.SSLContext:
    return httpx.create_ssl_context()


@cache
def _no_certificates() -> ssl.SSLContext:
    """Return a context that trusts nobody: it costs nothing to build and http never uses it."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
