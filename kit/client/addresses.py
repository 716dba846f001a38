"""Addresses: what may be one, where one leads, and that of a service which moves.

The embedded service goes with the process that hosts it. A studio keeps the address under which it
was opened, and so does all that it has made; requests for it go where the service is now.
"""

from __future__ import annotations

import json
import re
import secrets
import threading
from collections.abc import Callable, Generator
from dataclasses import replace
from urllib.parse import urlsplit

from kit.client.calls import NoReply
from kit.errors import ConfigError, KitError
from kit.internet import origin

_WHOLE = re.compile("[A-Za-z][A-Za-z0-9+.-]*://")


def absolute_url(base_url: str, url: str) -> str:
    """Return the whole address of what an answer names, which may be one already.

    One that begins with a slash may or may not repeat the prefix under which a service is mounted.
    """
    if _WHOLE.match(url):
        return url
    if url.startswith("//"):  # in its scheme
        return f"{base_url.partition(':')[0]}:{url}"
    prefix = urlsplit(base_url).path
    if prefix and url.startswith(f"{prefix}/"):
        url = url.removeprefix(prefix)
    return f"{base_url}/{url.lstrip('/')}"


def mask(key: str) -> str:
    """Return what may be shown of a key: the fixed prefix of its kind."""
    kind = re.match(r"[a-z]{2,8}_(?:live|test)_", key)
    return f"{kind.group() if kind else ''}…"


def check_address(url: str) -> str:
    """Return the address of a service without a slash at its end, or say what is wrong."""
    shown = repr(url if len(url) <= 80 else f"{url[:77]}...")
    scheme, host, port = origin(url)
    if scheme not in ("http", "https") or not host or not port:
        raise ConfigError(
            f"the service's address must be a whole address such as "
            f"'https://studio.example', not {shown}"
        )
    parts = urlsplit(url)
    if parts.username is not None or parts.query or parts.fragment:
        raise ConfigError("the service's address must not contain a user, a password, '?' or '#'")
    if not url.isascii() or any(c.isspace() for c in url):
        raise ConfigError(
            f"the service's address must have only ASCII characters and no blanks: {shown}"
        )
    return url.rstrip("/")


def check_key(key: str) -> None:
    """Refuse what can be no API key."""
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(
            "the API key is empty or has blanks or non-ASCII characters: copy it again, without "
            "the quotes around it"
        )


class ServiceLocation:
    """Where a service is now; one for all clients of a studio, from many threads.

    `find` takes the address that refused and returns where the service is now, which gets the API
    key. Each new connection is asked for `proof` before anything else is sent over it.
    """

    def __init__(
        self, base_url: str, find: Callable[[str], str], proof: Proof | None = None
    ) -> None:
        self.base_url = base_url
        self.proof = proof
        self._find = find
        self._had = {origin(base_url)}
        self._lock = threading.Lock()
        self._why = ""

    def at(self, url: str) -> str:
        """Return an address that the service has or had as it is now, any other unchanged."""
        now = self.base_url
        if not self.knows(url) or origin(url) == origin(now):
            return url
        there = urlsplit(now)
        return urlsplit(url)._replace(scheme=there.scheme, netloc=there.netloc).geturl()

    def knows(self, url: str) -> bool:
        """Return whether an address is one that the service has or had."""
        return origin(url) in self._had

    def find_again(self, refused: str) -> bool:
        """Look for the service after an address refused; return whether it answers again.

        It blocks, for as long as a service takes to start.
        """
        with self._lock:
            if origin(refused) != origin(self.base_url):
                return True  # another thread was quicker
            try:
                now = self._find(refused)
            except (KitError, OSError, RuntimeError) as error:  # no thread starts at the very end
                self._why = str(error)
                return False
            self._why = ""
            self._had.add(origin(now))
            self.base_url = now
            return True

    def follow(self, lost: NoReply) -> NoReply | None:
        """Return None where what was refused can be sent again, else what is to be said of it."""
        if self.find_again(lost.refused):
            return None
        why = f" ({self._why})" if self._why else ""
        sentence = (
            f"the embedded service at {lost.refused} is gone and could not be restarted{why}: "
            "call kit.connect() again"
        )
        return replace(lost, message=sentence, lasting=True)


#: Takes an address and a challenge, returns what only the service there answers.
Proof = Callable[[str, str], str]
MOST_BYTES = 10_000
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d{1,4})\r\n", re.IGNORECASE)
ProofExchange = Generator[bytes, bytes, bool]
#: Takes a host and a port, returns what is to be asked there, or None.
ProofQuestion = Callable[[str, int], ProofExchange | None]


def ask_for_proof(url: str, proof: Proof) -> ProofExchange:
    """Ask for proof; yield what is to be sent, or nothing to hear more, and receive what comes.

    Returns whether it is the service, and the connection can be used for something else.
    """
    challenge = secrets.token_hex(16)
    expected = json.dumps(proof(url, challenge)).encode()
    host = urlsplit(url).netloc
    received = yield f"GET /healthz?challenge={challenge} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    while len(received) < MOST_BYTES:
        head, end, body = received.partition(b"\r\n\r\n")
        length = _LENGTH.search(head + b"\r\n")
        if end and (length is None or len(body) >= int(length[1])):
            return head.startswith(b"HTTP/1.1 200 ") and expected in body
        more = yield b""
        if not more:
            return False
        received += more
    return False
