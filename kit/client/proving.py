"""Who answers on a new connection to the embedded service: found out before anything else is sent.

Its port is free once its process is gone, and anybody on the machine may take it. The question is
put on the connection itself, so that whoever proves itself is the one who gets the key.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
import ssl
from collections.abc import Callable, Generator
from typing import Any
from urllib.parse import urlsplit

import httpcore
import httpx

from kit.errors import KitError

#: Takes an address and a challenge, returns what only the service there answers.
Proof = Callable[[str, str], str]
_SECONDS = 5.0
_BYTES = 10_000
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d{1,4})\r\n", re.IGNORECASE)
#: Of the connection, or in telling what is expected.
_FAILURES = (httpcore.NetworkError, httpcore.TimeoutException, OSError, KitError)

_STRANGER = "what answers there is another program"
#: Connections that are kept, as httpx keeps them.
_LIMITS: dict[str, Any] = {
    "max_connections": 100,
    "max_keepalive_connections": 20,
    "keepalive_expiry": 5.0,
}

Talk = Generator[bytes, bytes, bool]
#: Takes a host and a port, returns what is to be asked there, or None.
Ask = Callable[[str, int], Talk | None]


def asked(url: str, proof: Proof) -> Talk:
    """Ask for proof; yield what is to be sent, or nothing to hear more, and receive what comes.

    Returns
    -------
    bool
        Whether it is the service, and the connection can be used for something else.
    """
    challenge = secrets.token_hex(16)
    expected = proof(url, challenge)
    host = urlsplit(url).netloc
    heard = yield f"GET /healthz?challenge={challenge} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    while len(heard) < _BYTES:
        head, end, body = heard.partition(b"\r\n\r\n")
        length = _LENGTH.search(head + b"\r\n")
        if end and (length is None or len(body) >= int(length[1])):
            return head.startswith(b"HTTP/1.1 200 ") and hmac.compare_digest(
                _told(body).encode(), expected.encode()
            )
        more = yield b""
        if not more:
            return False
        heard += more
    return False


def _told(body: bytes) -> str:
    try:
        return str(json.loads(body)["proof"])
    except (ValueError, KeyError, TypeError):
        return ""


class ProvenTransport(httpx.HTTPTransport):
    """A transport whose connections to a service are proven as soon as they are open.

    Parameters
    ----------
    talk : callable
        Takes a host and a port and returns what is to be asked there, or None.
    """

    def __init__(self, talk: Ask, verify: ssl.SSLContext, proxy: Any) -> None:
        super().__init__(verify=verify, proxy=proxy)
        if proxy is None:  # the service is on this machine
            backend = _Proving(talk)
            self._pool = httpcore.ConnectionPool(verify, network_backend=backend, **_LIMITS)


class AsyncProvenTransport(httpx.AsyncHTTPTransport):
    """The awaited twin of `ProvenTransport`."""

    def __init__(self, talk: Ask, verify: ssl.SSLContext, proxy: Any) -> None:
        super().__init__(verify=verify, proxy=proxy)
        if proxy is None:
            backend = _AsyncProving(talk)
            self._pool = httpcore.AsyncConnectionPool(verify, network_backend=backend, **_LIMITS)


class _Proving(httpcore.SyncBackend):
    def __init__(self, talk: Ask) -> None:
        self._talk = talk

    def connect_tcp(self, host: str, port: int, *given: Any, **more: Any) -> httpcore.NetworkStream:
        stream = super().connect_tcp(host, port, *given, **more)
        talk = self._talk(host, port)
        if talk is None or _proven(stream, talk):
            return stream
        stream.close()
        raise httpcore.ConnectError(_STRANGER)


class _AsyncProving(httpcore.AnyIOBackend):
    def __init__(self, talk: Ask) -> None:
        self._talk = talk

    async def connect_tcp(
        self, host: str, port: int, *given: Any, **more: Any
    ) -> httpcore.AsyncNetworkStream:
        stream = await super().connect_tcp(host, port, *given, **more)
        talk = self._talk(host, port)
        if talk is None or await _async_proven(stream, talk):
            return stream
        await stream.aclose()
        raise httpcore.ConnectError(_STRANGER)


def _proven(stream: httpcore.NetworkStream, talk: Talk) -> bool:
    try:
        words = next(talk)
        while True:
            if words:
                stream.write(words, _SECONDS)
            words = talk.send(stream.read(_BYTES, _SECONDS))
    except StopIteration as end:
        return bool(end.value)
    except _FAILURES:
        return False


async def _async_proven(stream: httpcore.AsyncNetworkStream, talk: Talk) -> bool:
    try:
        words = next(talk)
        while True:
            if words:
                await stream.write(words, _SECONDS)
            words = talk.send(await stream.read(_BYTES, _SECONDS))
    except StopIteration as end:
        return bool(end.value)
    except _FAILURES:
        return False
