"""Unusual pictures: small, rotated, deep, transparent, animated, and broken ones."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from PIL import Image, ImageCms

from tests.engines.drawings import ball

_WIDE, _HIGH = 40, 30
_ORIENTATION = 0x0112


def _encode(picture: Image.Image, kind: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


def _ball(width: int = _WIDE, height: int = _HIGH) -> Image.Image:
    return Image.fromarray(ball(width, height))


def _deep() -> bytes:
    gray = np.asarray(_ball().convert("L")).astype(np.uint16) * 257
    return _encode(Image.fromarray(gray), "PNG")


def _clear(kind: str = "PNG", **options: Any) -> bytes:
    return _encode(_with_alpha(), kind, **options)


def _with_alpha(level: int | None = None) -> Image.Image:
    alpha = np.zeros((_HIGH, _WIDE), np.uint8)
    alpha[8:24, 10:30] = 255
    alpha = alpha if level is None else np.full_like(alpha, level)
    return Image.fromarray(np.dstack([ball(_WIDE, _HIGH), alpha]))


def _palette() -> bytes:
    return _encode(_ball().quantize(16), "PNG", transparency=3)


def _palette_of_shares() -> bytes:
    """Return a picture with a palette in which each color has its own opacity."""
    return _encode(_ball().quantize(16), "PNG", transparency=bytes(range(0, 256, 16)))


def _cmyk(*, marked: bool) -> bytes:
    data = _encode(_ball().convert("CMYK"), "JPEG", quality=90)
    if marked:
        assert b"Adobe" in data
        return data
    at = data.index(b"\xff\xee")
    return data[:at] + data[at + 2 + int.from_bytes(data[at + 2 : at + 4], "big") :]


def _rotate(tag: int) -> bytes:
    exif = Image.Exif()
    exif[_ORIENTATION] = tag
    return _encode(_ball(), "JPEG", exif=exif)


def _with_profile() -> bytes:
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()
    return _encode(_ball(), "PNG", icc_profile=profile)


def _animate(kind: str) -> bytes:
    pictures = [Image.fromarray(ball(_WIDE, _HIGH) // part) for part in (1, 2)]
    return _encode(
        pictures[0], kind, save_all=True, append_images=pictures[1:], duration=100, loop=0
    )


def _truncate(kind: str) -> bytes:
    data = _encode(_ball(200, 150), kind)
    return data[: 2 * len(data) // 3]


def _bomb() -> bytes:
    """Return a PNG of a few bytes whose header claims 900 megapixels."""
    head = struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", zlib.compress(bytes(90_001))), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


#: Pictures that must be read.
READ: dict[str, Callable[[], bytes]] = {
    "one pixel": lambda: _encode(_ball(1, 1), "PNG"),
    "a column": lambda: _encode(_ball(1, 50), "PNG"),
    "a row": lambda: _encode(_ball(50, 1), "PNG"),
    "four pixels": lambda: _encode(_ball(1, 4), "PNG"),
    "four pixels across": lambda: _encode(_ball(4, 1), "PNG"),
    "two columns": lambda: _encode(_ball(2, 31), "PNG"),
    "a long strip": lambda: _encode(_ball(700, 2), "PNG"),
    "gray": lambda: _encode(_ball().convert("L"), "PNG"),
    "gray of 16 bits": _deep,
    "gray with alpha": lambda: _encode(_with_alpha().convert("LA"), "PNG"),
    "black and white": lambda: _encode(_ball().convert("1"), "PNG"),
    "alpha": _clear,
    "alpha that hides all": lambda: _encode(_with_alpha(0), "PNG"),
    "alpha that hides half": lambda: _encode(_with_alpha(128), "PNG"),
    "alpha in webp": lambda: _clear("WEBP", lossless=True),
    "palette with one clear color": _palette,
    "palette with shares": _palette_of_shares,
    "four inks": lambda: _cmyk(marked=True),
    "four inks, unmarked": lambda: _cmyk(marked=False),
    **{f"turned {tag}": lambda tag=tag: _rotate(tag) for tag in (3, 6, 8)},
    "turned by nonsense": lambda: _rotate(77),
    "a profile of another kind": _with_profile,
    "gif that moves": lambda: _animate("GIF"),
    "webp that moves": lambda: _animate("WEBP"),
    "png that moves": lambda: _animate("PNG"),
    "all black": lambda: _encode(Image.new("RGB", (_WIDE, _HIGH)), "PNG"),
    "all white": lambda: _encode(Image.new("RGB", (_WIDE, _HIGH), "white"), "PNG"),
}
#: Files that must be refused, with their error code.
REFUSED: dict[str, tuple[str, Callable[[], bytes]]] = {
    "nothing": ("undecodable", lambda: b""),
    "jpeg that breaks off": ("undecodable", lambda: _truncate("JPEG")),
    "png that breaks off": ("undecodable", lambda: _truncate("PNG")),
    "webp that breaks off": ("undecodable", lambda: _truncate("WEBP")),
    "avif": ("undecodable", lambda: _encode(_ball(), "AVIF")),
    "bmp": ("undecodable", lambda: _encode(_ball(), "BMP")),
    "tiff": ("undecodable", lambda: _encode(_ball(), "TIFF")),
    "words": ("undecodable", lambda: b"this is no picture at all, though it is long enough"),
    "a bomb": ("too_large", _bomb),
}
