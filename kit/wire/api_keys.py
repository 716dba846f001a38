"""What an API key of this service looks like: both wings know it by its checksum."""

from __future__ import annotations

import re
import zlib

LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SHAPE = re.compile(r"cs_(?:live|test)_[0-9A-Za-z]{36}")


def checksum(text: str) -> str:
    """Return the six letters that a key ends with. Source: contract, "Account and keys"."""
    number, letters = zlib.crc32(text.encode()), ""
    for _ in range(6):
        number, rest = divmod(number, 62)
        letters = LETTERS[rest] + letters
    return letters


def looks_right(text: str) -> bool:
    """Return whether a text has the shape and the checksum of a key; nobody else's keys have both.

    Examples
    --------
    >>> looks_right("cs_test_0123456789abcdef")
    False
    """
    return bool(_SHAPE.fullmatch(text)) and checksum(text[:-6]) == text[-6:]
