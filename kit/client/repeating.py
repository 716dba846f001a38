"""Whether a start may be sent once more: who is known to honor idempotency keys.

The API document knows no such keys, so a service that says nothing is taken not to know them: what
was lost on the way back may have been charged for, and sending it again would charge twice.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping

#: How the keys of our own service look. Source: contract, "Account and keys".
_SHAPE = re.compile(r"cs_(?:live|test)_[0-9A-Za-z]{36}")
_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def issued_by_ours(api_key: str) -> bool:
    """Return whether our own service made an API key: nobody else's ends in its checksum.

    Examples
    --------
    >>> issued_by_ours("cs_test_0123456789abcdef")
    False
    """
    return bool(_SHAPE.fullmatch(api_key)) and _checksum(api_key[:-6]) == api_key[-6:]


def tells(headers: Mapping[str, str]) -> bool:
    """Return whether an answer shows that its service honors keys: it was kept from before."""
    return headers.get("idempotency-replayed", "").lower() == "true"


def _checksum(text: str) -> str:
    number, letters = zlib.crc32(text.encode()), ""
    for _ in range(6):
        number, rest = divmod(number, 62)
        letters = _BASE62[rest] + letters
    return letters
