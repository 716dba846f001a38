"""A service that moves: the embedded one goes with the process that hosts it.

A studio keeps the address under which it was opened, and so does all that it has made. Requests for
that address, and for any that the service has had since, go where it is now.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
import threading
from collections.abc import Callable, Generator
from dataclasses import replace
from urllib.parse import urlsplit

from kit.client.actions import NoReply
from kit.client.addresses import origin
from kit.errors import KitError


class ServiceLocation:
    """Where a service is now; one for all clients of a studio, from many threads.

    `find` takes the address that refused and returns where the service is now, which gets the API
    key. Each new connection is asked for `proof` before anything else is sent over it.

    Examples
    --------
    >>> service = ServiceLocation("http://127.0.0.1:8001", lambda refused: "http://127.0.0.1:8002")
    >>> service.find_again("http://127.0.0.1:8001")
    True
    >>> service.at("http://127.0.0.1:8001/media/a.png"), service.at("https://cdn.test/a.png")
    ('http://127.0.0.1:8002/media/a.png', 'https://cdn.test/a.png')
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
            f"the embedded service at {lost.refused} is gone and could not be started anew{why}: "
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
    expected = proof(url, challenge)
    host = urlsplit(url).netloc
    received = yield f"GET /healthz?challenge={challenge} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    while len(received) < MOST_BYTES:
        head, end, body = received.partition(b"\r\n\r\n")
        length = _LENGTH.search(head + b"\r\n")
        if end and (length is None or len(body) >= int(length[1])):
            return head.startswith(b"HTTP/1.1 200 ") and hmac.compare_digest(
                _read_proof(body).encode(), expected.encode()
            )
        more = yield b""
        if not more:
            return False
        received += more
    return False


def _read_proof(body: bytes) -> str:
    try:
        return str(json.loads(body)["proof"])
    except (ValueError, KeyError, TypeError):
        return ""
