"""Signed URLs: each allows one operation on one file until it expires, without a key.

The signature covers the method, the path, the expiry, the number of sign-outs of the account and,
for uploads, the type and length of the body.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import quote

from kit.errors import AccessDeniedError

#: Path of the files at the service, below its base URL.
MEDIA = "/media/"


class Grant(NamedTuple):
    """What a signed URL allows until it expires, in seconds since 1970.

    `content_type`, `length`: of the body of a PUT; empty and 0 for a GET.
    `sign_outs`: of the account of the file; a further sign-out invalidates the URL.
    """

    method: str
    key: str
    expires: int
    content_type: str = ""
    length: int = 0
    sign_outs: int = 0

    @property
    def headers(self) -> dict[str, str]:
        """The headers that a PUT must have."""
        return {"Content-Type": self.content_type, "Content-Length": str(self.length)}


def proof(secret: bytes, authority: str, challenge: str) -> str:
    """Return the response to a challenge that requires the secret of the service.

    `authority`: host and port of the request, so that another service cannot relay the challenge.
    `challenge`: random. No other signed text starts with the word ``challenge``.
    """
    return hmac.digest(secret, f"challenge\n{authority}\n{challenge}".encode(), "sha256").hex()


@dataclass(frozen=True, slots=True)
class Signer:
    """Signs and checks URLs with the secret of the service."""

    secret: bytes = field(repr=False)

    def address(self, base: str, grant: Grant) -> str:
        """Return the URL below `base` for a grant."""
        path = quote(MEDIA + grant.key)
        return f"{base}{path}?expires={grant.expires}&signature={self._sign(grant)}"

    def check(self, grant: Grant, signature: str, now: int) -> None:
        """Check a grant against its signature and the time `now`, in milliseconds since 1970.

        Raises `AccessDeniedError` if it was altered or has expired; the message says which.
        """
        if not hmac.compare_digest(self._sign(grant).encode(), signature.encode()):
            raise AccessDeniedError(
                "the signature does not match: method, URL, Content-Type and Content-Length "
                "must be exactly as they were given; or a sign-out ended the URL: request a new one"
            )
        if now >= grant.expires * 1000:
            raise AccessDeniedError("the URL has expired; request a new one")

    def _sign(self, grant: Grant) -> str:
        return hmac.digest(self.secret, "\n".join(map(str, grant)).encode(), "sha256").hex()
