"""Signed addresses: who holds one may do one thing with one file for a while, without a key.

The signature covers the method, the path, the time of expiry, how often the account was signed out
and, for uploads, the type and length of the body.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import quote

from kit.errors import AccessDeniedError

#: Where the service serves files, below its base address.
MEDIA = "/media/"


class Grant(NamedTuple):
    """What a signed address allows, until so many seconds since 1970.

    `content_type`, `length`: of the body of a PUT; empty and 0 for a GET.
    `sign_outs`: of the account that the file belongs to; one more ends the address.
    """

    method: str
    key: str
    expires: int
    content_type: str = ""
    length: int = 0
    sign_outs: int = 0

    @property
    def headers(self) -> dict[str, str]:
        """What a PUT must say of its body."""
        return {"Content-Type": self.content_type, "Content-Length": str(self.length)}


def proof(secret: bytes, place: str, challenge: str) -> str:
    """Return what only a service with this secret answers to a challenge.

    `place`: host and port of the request, so that a service elsewhere cannot answer for this one.
    `challenge`: random. Nothing else that is signed begins with the word ``challenge``.
    """
    return hmac.digest(secret, f"challenge\n{place}\n{challenge}".encode(), "sha256").hex()


@dataclass(frozen=True, slots=True)
class Signer:
    """Signs and checks addresses with the service's secret."""

    secret: bytes = field(repr=False)

    def address(self, base: str, grant: Grant) -> str:
        """Return the address below `base` that carries a grant."""
        path = quote(MEDIA + grant.key)
        return f"{base}{path}?expires={grant.expires}&signature={self._sign(grant)}"

    def check(self, grant: Grant, signature: str, now: int) -> None:
        """Refuse a grant that was altered, or is past its time `now`, in milliseconds since 1970.

        Raises `AccessDeniedError`: the message says which of the two.
        """
        if not hmac.compare_digest(self._sign(grant).encode(), signature.encode()):
            raise AccessDeniedError(
                "the signature does not match: method, address, Content-Type and Content-Length "
                "must be exactly as they were given; or the address was ended: ask for a new one"
            )
        if now >= grant.expires * 1000:
            raise AccessDeniedError("the address is past its time; ask for a new one")

    def _sign(self, grant: Grant) -> str:
        return hmac.digest(self.secret, "\n".join(map(str, grant)).encode(), "sha256").hex()
