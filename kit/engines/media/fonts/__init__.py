"""The typefaces of the kit, and the letters that each has.

Nothing heavy is imported here, so model definitions may offer these names as choices.
Licenses and sources: README.md in this folder.
"""

from __future__ import annotations

import struct
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from kit.errors import EngineError

__all__ = ["FACES", "faces_with", "fallbacks", "glyphs", "visible_codes"]
__all__ += ["letters", "path_of", "table_of", "width_of", "with_letters"]

#: Name -> file in this folder.
FACES = {
    "anton": "Anton-Regular.ttf",
    "bebas": "BebasNeue-Regular.ttf",
    "inter": "Inter-Medium.ttf",
    "inter-bold": "Inter-ExtraBold.ttf",
    "neon": "TiltNeon-Regular.ttf",
    "playfair": "PlayfairDisplay-Bold.ttf",
    "rubik": "Rubik-Bold.ttf",
    "script": "DancingScript-Bold.ttf",
}
#: Faces with many scripts, tried in this order if the requested one lacks letters.
_FALLBACK_FACES = ("inter-bold", "rubik")
_MAX_NAMED = 8
_NO_FRIBIDI = "right-to-left text needs the library FriBiDi (Debian: libfribidi0; macOS: fribidi)"


def path_of(face: str) -> Path:
    """Return the file of a face."""
    return Path(__file__).with_name(FACES[face])


def fallbacks(face: str) -> tuple[str, ...]:
    """Return the faces that a text may be set in, the requested one first."""
    return (face, *_FALLBACK_FACES)


def faces_with(text: str, face: str) -> tuple[str, ...]:
    """Return the faces that have all letters of a text, the requested one first.

    Examples
    --------
    >>> faces_with("Hello", "anton"), faces_with("Привет", "anton")
    (('anton', 'inter-bold', 'rubik'), ('inter-bold', 'rubik'))
    """
    needed = visible_codes(text)
    return tuple(name for name in fallbacks(face) if needed <= letters(name))


def face_for(text: str, face: str) -> str:
    """Return the face to set a text in: the given one, or another that has all its letters.

    Raises `EngineError` if no face has them all; the message names the missing ones.
    """
    names = faces_with(text, face)
    if names:
        return names[0]
    needed = visible_codes(text)
    missing = needed - frozenset().union(*map(letters, fallbacks(face)))
    if missing:
        drawn = any(code in glyphs(name) for name in fallbacks(face) for code in missing)
        why = _NO_FRIBIDI if drawn else "no font has these characters"
        raise EngineError(f"{why}: {_join(missing)}", code="no_letters")
    others = min((needed - letters(name) for name in fallbacks(face)), key=len)
    raise EngineError(
        f"no font has these characters together with the others: {_join(others)}", code="no_letters"
    )


@cache
def letters(face: str) -> frozenset[int]:
    """Return the code points that can be drawn in a face: no right-to-left letters without raqm."""
    from PIL import features

    every = frozenset(glyphs(face))
    if features.check_feature("raqm"):
        return every
    return every - {code for code in every if unicodedata.bidirectional(chr(code)) in ("R", "AL")}


@cache
def glyphs(face: str) -> Mapping[int, int]:
    """Return the glyph index of each code point of a face.

    Source: OpenType specification, "cmap", format 4: all but a few pictographs.
    """
    data = path_of(face).read_bytes()
    start = table_of(data, b"cmap")
    (count,) = struct.unpack_from(">H", data, start + 2)
    offsets = (struct.unpack_from(">4xL", data, start + 4 + 8 * n)[0] for n in range(count))
    return next(_segments(data, start + o) for o in offsets if data[start + o + 1] == 4)


def table_of(data: bytes, tag: bytes) -> int:
    """Return the offset of a table in a font file."""
    (count,) = struct.unpack_from(">H", data, 4)
    entries = (struct.unpack_from(">4s4xL", data, 12 + 16 * n) for n in range(count))
    return next(int(offset) for name, offset in entries if name == tag)


def _segments(data: bytes, at: int) -> dict[int, int]:
    """Read a segment subtable; code points mapped to glyph 0 are omitted."""
    (double,) = struct.unpack_from(">H", data, at + 6)
    count = double // 2
    form = f">{count}H"
    ends = struct.unpack_from(form, data, at + 14)
    starts, deltas, offsets = (
        struct.unpack_from(form, data, at + 16 + double * part) for part in (1, 2, 3)
    )
    found = {}
    for part, (first, last) in enumerate(zip(starts, ends, strict=True)):
        place = at + 16 + 3 * double + 2 * part
        for code in range(first, min(last, 0xFFFE) + 1):
            glyph = code
            if offsets[part]:
                step = offsets[part] + 2 * (code - first)
                (glyph,) = struct.unpack_from(">H", data, place + step)
            if offsets[part] == 0 or glyph:
                glyph = (glyph + deltas[part]) & 0xFFFF
            if glyph:
                found[code] = glyph
    return found


def visible_codes(text: Iterable[str]) -> set[int]:
    """Return the visible code points: no spaces, controls, joiners, variation selectors."""
    hidden = ("Cc", "Cf", "Zs", "Zl", "Zp")
    signs = (sign for sign in text if sign not in "\ufe0e\ufe0f")
    return {ord(sign) for sign in signs if unicodedata.category(sign) not in hidden}


def _join(codes: set[int]) -> str:
    return " ".join(map(chr, sorted(codes)[:_MAX_NAMED]))


def width_of(text: str, face: str) -> float:
    """Return the width of a text in one line, in ems, without ligatures and kerning.

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
    """Return the advance width of each glyph in ems; the last one applies to all that follow.

    Source: OpenType specification, "head", "hhea" and "hmtx".
    """
    data = path_of(face).read_bytes()
    (units,) = struct.unpack_from(">H", data, table_of(data, b"head") + 18)
    (count,) = struct.unpack_from(">H", data, table_of(data, b"hhea") + 34)
    start = table_of(data, b"hmtx")
    pairs = struct.iter_unpack(">Hh", data[start : start + 4 * count])
    return tuple(advance / units for advance, _ in pairs)
