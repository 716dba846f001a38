"""Identifiers: a prefix and a ULID, so that sorting by id is sorting by creation.

Ids created by one process in the same millisecond are in order, too: the random part counts up.
"""

from __future__ import annotations

import secrets
import threading

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_RANDOM_BITS = 80
_lock = threading.Lock()
_last = (0, 0)


def new(prefix: str, now: int) -> str:
    """Return an id such as ``gen_01JD...`` for a time in milliseconds since 1970.

    Source: contract, "Conventions"; the ULID specification, github.com/ulid/spec.
    """
    global _last
    with _lock:
        moment, random = now, secrets.randbits(_RANDOM_BITS - 1)
        if moment <= _last[0]:
            moment, random = _last[0], _last[1] + 1
        _last = (moment, random)
    return f"{prefix}_{_encode(moment << _RANDOM_BITS | random)}"


def pattern(prefix: str) -> str:
    """Return the regular expression of the ids with a prefix."""
    return f"^{prefix}_[{_ALPHABET}]{{26}}$"


def floor(prefix: str, moment: int) -> str:
    """Return the smallest id of a time: smaller ids were created earlier."""
    return f"{prefix}_{_encode(max(moment, 0) << _RANDOM_BITS)}"


def ceiling(prefix: str) -> str:
    """Return a string that sorts after all ids."""
    return f"{prefix}_Z"


def _encode(number: int) -> str:
    return "".join([_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5)])
