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
from urllib.parse import urlsplit

#: Takes an address and a challenge, returns what only the service there answers.
Proof = Callable[[str, str], str]
MOST_BYTES = 10_000
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d{1,4})\r\n", re.IGNORECASE)
ProofExchange = Generator[bytes, bytes, bool]
#: Takes a host and a port, returns what is to be asked there, or None.
ProofQuestion = Callable[[str, int], ProofExchange | None]


def ask_for_proof(url: str, proof: Proof) -> ProofExchange:
    """Ask for proof; yield what is to be sent, or nothing to hear more, and receive what comes.

    Returns
    -------
    bool
        Whether it is the service, and the connection can be used for something else.
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
                _proof_in(body).encode(), expected.encode()
            )
        more = yield b""
        if not more:
            return False
        received += more
    return False


def _proof_in(body: bytes) -> str:
    try:
        return str(json.loads(body)["proof"])
    except (ValueError, KeyError, TypeError):
        return ""
