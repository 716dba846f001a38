"""Widths: how much room a text needs at least, told from the tables of its font alone.

So it is known whether a text is too long before anything is drawn. Kerning is not read: letters
that move together may take a little less.
"""

from __future__ import annotations

import struct
from functools import cache

from kit.engines.media.fonts import glyphs, path_of, table_of

__all__ = ["width_of"]


def width_of(text: str, face: str) -> float:
    """Return the width of a text in one line, in ems, as if no letters were joined or moved.

    Examples
    --------
    >>> round(width_of("Hello", "anton"), 1), width_of("", "anton")
    (2.0, 0.0)
    """
    found, widths = glyphs(face), _advances(face)
    last = len(widths) - 1
    return sum((widths[min(found.get(ord(letter), 0), last)] for letter in text), 0.0)


@cache
def _advances(face: str) -> tuple[float, ...]:
    """Return how far each glyph moves the pen, in ems; the last one stands for all that follow.

    Source: OpenType specification, "head", "hhea" and "hmtx".
    """
    data = path_of(face).read_bytes()
    (units,) = struct.unpack_from(">H", data, table_of(data, b"head") + 18)
    (count,) = struct.unpack_from(">H", data, table_of(data, b"hhea") + 34)
    start = table_of(data, b"hmtx")
    pairs = struct.iter_unpack(">Hh", data[start : start + 4 * count])
    return tuple(advance / units for advance, _ in pairs)
