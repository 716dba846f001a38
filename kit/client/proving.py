"""Who answers on a new connection to the embedded service: found out before anything else is sent.

Its port is free once its process is gone, and anybody on the machine may take it. The question is
put on the connection itself, so that whoever proves itself is the one who gets the key.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
from collections.abc import Callable, Generator
from typing import Any
from urllib.parse import urlsplit

import httpcore
import httpx

from kit.errors import KitError

#: Takes an address and a challenge, returns what only the service there answers.
Proof = Callable[[str, str], str]
#: How the transport calls the moment in which a connection is there and nothing was sent.
OPENED = "connection.connect_tcp.complete"
_SECONDS = 5.0
_BYTES = 10_000
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d{1,4})\r\n", re.IGNORECASE)
#: Of the connection, or in telling what is expected.
_FAILURES = (httpcore.NetworkError, httpcore.TimeoutException, OSError, KitError)

Talk = Generator[bytes, bytes, bool]


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


def prove(stream: Any, talk: Talk) -> None:
    """Have a new connection proven; it is closed where it is not.

    Raises
    ------
    httpx.ConnectError
        Something else answers there: to whoever wants the service it is not there.
    """
    try:
        words = next(talk)
        while True:
            if words:
                stream.write(words, _SECONDS)
            words = talk.send(stream.read(_BYTES, _SECONDS))
    except StopIteration as end:
        if end.value:
            return
    except _FAILURES:
        pass
    stream.close()
    raise _stranger()


async def prove_async(stream: Any, talk: Talk) -> None:
    """Do what `prove` does, awaited."""
    try:
        words = next(talk)
        while True:
            if words:
                await stream.write(words, _SECONDS)
            words = talk.send(await stream.read(_BYTES, _SECONDS))
    except StopIteration as end:
        if end.value:
            return
    except _FAILURES:
        pass
    await stream.aclose()
    raise _stranger()


def _stranger() -> httpx.ConnectError:
    return httpx.ConnectError("what answers there is another program")
