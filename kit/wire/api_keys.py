"""The format of this service's API keys, which client and service recognize by a checksum."""

from __future__ import annotations

import re
import zlib

LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_FORMAT = re.compile(r"cs_(?:live|test)_[0-9A-Za-z]{36}")


def checksum(text: str) -> str:
    """Return the checksum, the last six letters of a key. Source: contract, "Account and keys"."""
    number, letters = zlib.crc32(text.encode()), ""
    for _ in range(6):
        number, rest = divmod(number, 62)
        letters = LETTERS[rest] + letters
    return letters


def is_well_formed(text: str) -> bool:
    """Return whether a text has the format and checksum of a key; keys of other services do not.

    Examples
    --------
    >>> is_well_formed("cs_test_0123456789abcdef")
    False
    """
    return bool(_FORMAT.fullmatch(text)) and checksum(text[:-6]) == text[-6:]
