"""Addresses: their validation, absolute URLs, and the location of a service that moves.

The embedded service moves with the process that hosts it. A studio and all its objects keep the
address with which it was opened; requests to it go to the current location.
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

_ABSOLUTE_URL = re.compile("[A-Za-z][A-Za-z0-9+.-]*://")


def absolute_url(base_url: str, url: str) -> str:
    """Return the absolute URL of a URL or path in a response.

    A path may or may not repeat the prefix under which a service is mounted. A service does not
    always know that a proxy adds TLS.
    """
    if _ABSOLUTE_URL.match(url):
        scheme, host, port = origin(base_url)
        if scheme == "https" and origin(url) in (("http", host, port), ("http", host, 80)):
            return urlsplit(url)._replace(scheme=scheme, netloc=urlsplit(base_url).netloc).geturl()
        return url
    if url.startswith("//"):  # with the same scheme
        return f"{base_url.partition(':')[0]}:{url}"
    path = url.removeprefix(f"{urlsplit(base_url).path}/")
    return f"{base_url}/{path.lstrip('/')}"


def mask(key: str) -> str:
    """Return the visible part of a key: the fixed prefix of its kind."""
    kind = re.match(r"[a-z]{2,8}_(?:live|test)_", key)
    return f"{kind.group() if kind else ''}…"


def check_address(url: str) -> str:
    """Return a service's address without trailing slash and ``/v1``, or raise an error about it."""
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
            f"the service's address must have only ASCII characters and no spaces: {shown}"
        )
    url = url.rstrip("/")
    return url.removesuffix("/v1").rstrip("/") if parts.path.rstrip("/").endswith("/v1") else url


def check_key(key: str) -> None:
    """Raise an error if a text cannot be an API key."""
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(
            "the API key is empty or has blanks or non-ASCII characters: copy it again, without "
            "the quotes around it"
        )


class ServiceLocation:
    """The current location of a service, shared by all clients of a studio in many threads.

    `find` takes an address that refused the connection and returns the current one, which gets the
    API key. Each new connection must pass `proof` before anything else is sent over it.
    """

    def __init__(
        self, base_url: str, find: Callable[[str], str], proof: Proof | None = None
    ) -> None:
        self.base_url = base_url
        self.proof = proof
        self._find = find
        self._origins = {origin(base_url)}
        self._lock = threading.Lock()
        self._failure = ""

    def current_url(self, url: str) -> str:
        """Return a URL of the service with its current address; other URLs are unchanged."""
        base_url = self.base_url
        if not self.knows(url) or origin(url) == origin(base_url):
            return url
        current = urlsplit(base_url)
        return urlsplit(url)._replace(scheme=current.scheme, netloc=current.netloc).geturl()

    def knows(self, url: str) -> bool:
        """Return whether a URL is at a current or former address of the service."""
        return origin(url) in self._origins

    def find_again(self, refused: str) -> bool:
        """Find the service after a refused connection; return whether it can be reached again.

        Blocks as long as a service takes to start.
        """
        with self._lock:
            if origin(refused) != origin(self.base_url):
                return True  # another thread was faster
            try:
                found = self._find(refused)
            except (KitError, OSError, RuntimeError) as error:  # no thread starts at exit
                self._failure = str(error)
                return False
            self._failure = ""
            self._origins.add(origin(found))
            self.base_url = found
            return True

    def follow(self, failure: NoReply) -> NoReply | None:
        """Return None if a refused request can be sent again, else the failure to report."""
        if self.find_again(failure.refused_url):
            return None
        why = f" ({self._failure})" if self._failure else ""
        sentence = (
            f"the embedded service at {failure.refused_url} is gone and could not be restarted"
            f"{why}: call kit.connect() again"
        )
        return replace(failure, message=sentence, permanent=True)


#: Takes an address and a challenge, returns the response that only the real service can give.
Proof = Callable[[str, str], str]
MAX_PROOF_BYTES = 10_000
_CONTENT_LENGTH = re.compile(rb"\r\ncontent-length: *(\d{1,4})\r\n", re.IGNORECASE)
ProofExchange = Generator[bytes, bytes, bool]
#: Takes a host and a port, returns the proof exchange for them, or None.
StartProof = Callable[[str, int], ProofExchange | None]


def ask_for_proof(url: str, proof: Proof) -> ProofExchange:
    """Ask for proof; yields bytes to send, or none to receive more, and receives the response.

    Returns whether it is the service, and the connection can be used for something else.
    """
    challenge = secrets.token_hex(16)
    expected = json.dumps(proof(url, challenge)).encode()
    host = urlsplit(url).netloc
    received = yield f"GET /healthz?challenge={challenge} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    while len(received) < MAX_PROOF_BYTES:
        head, end, body = received.partition(b"\r\n\r\n")
        length = _CONTENT_LENGTH.search(head + b"\r\n")
        if end and (length is None or len(body) >= int(length[1])):
            return head.startswith(b"HTTP/1.1 200 ") and expected in body
        more = yield b""
        if not more:
            return False
        received += more
    return False
