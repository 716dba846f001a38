"""Proxies: which one leads to a host, as the environment has it."""

from __future__ import annotations

import urllib.request

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
