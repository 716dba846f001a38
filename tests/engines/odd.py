"""Files as people really have them: small, turned, deep, transparent, moving, and broken ones."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from PIL import Image, ImageCms

from tests.engines.drawn import ball

_WIDE, _HIGH = 40, 30
_ORIENTATION = 0x0112


def _written(picture: Image.Image, kind: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


def _of(width: int = _WIDE, height: int = _HIGH) -> Image.Image:
    return Image.fromarray(ball(width, height))


def _deep() -> bytes:
    gray = np.asarray(_of().convert("L")).astype(np.uint16) * 257
    return _written(Image.fromarray(gray), "PNG")


def _clear(kind: str = "PNG", **options: Any) -> bytes:
    return _written(_with_alpha(), kind, **options)


def _with_alpha(level: int | None = None) -> Image.Image:
    alpha = np.zeros((_HIGH, _WIDE), np.uint8)
    alpha[8:24, 10:30] = 255
    alpha = alpha if level is None else np.full_like(alpha, level)
    return Image.fromarray(np.dstack([ball(_WIDE, _HIGH), alpha]))


def _palette() -> bytes:
    return _written(_of().quantize(16), "PNG", transparency=3)


def _palette_of_shares() -> bytes:
    """A palette in which each color is transparent by a share of its own."""
    return _written(_of().quantize(16), "PNG", transparency=bytes(range(0, 256, 16)))


def _cmyk(*, marked: bool) -> bytes:
    data = _written(_of().convert("CMYK"), "JPEG", quality=90)
    if marked:
        assert b"Adobe" in data
        return data
    at = data.index(b"\xff\xee")
    return data[:at] + data[at + 2 + int.from_bytes(data[at + 2 : at + 4], "big") :]


def _turned(tag: int) -> bytes:
    exif = Image.Exif()
    exif[_ORIENTATION] = tag
    return _written(_of(), "JPEG", exif=exif)


def _profiled() -> bytes:
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()
    return _written(_of(), "PNG", icc_profile=profile)


def _moving(kind: str) -> bytes:
    pictures = [Image.fromarray(ball(_WIDE, _HIGH) // part) for part in (1, 2)]
    return _written(
        pictures[0], kind, save_all=True, append_images=pictures[1:], duration=100, loop=0
    )


def _without_end(kind: str) -> bytes:
    data = _written(_of(200, 150), kind)
    return data[: 2 * len(data) // 3]


def _bomb() -> bytes:
    """A PNG of a few bytes that says it has 900 megapixels."""
    head = struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", zlib.compress(bytes(90_001))), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


#: What must be read.
READ: dict[str, Callable[[], bytes]] = {
    "one pixel": lambda: _written(_of(1, 1), "PNG"),
    "a column": lambda: _written(_of(1, 50), "PNG"),
    "a row": lambda: _written(_of(50, 1), "PNG"),
    "four pixels": lambda: _written(_of(1, 4), "PNG"),
    "four pixels across": lambda: _written(_of(4, 1), "PNG"),
    "two columns": lambda: _written(_of(2, 31), "PNG"),
    "a long strip": lambda: _written(_of(700, 2), "PNG"),
    "gray": lambda: _written(_of().convert("L"), "PNG"),
    "gray of 16 bits": _deep,
    "gray with alpha": lambda: _written(_with_alpha().convert("LA"), "PNG"),
    "black and white": lambda: _written(_of().convert("1"), "PNG"),
    "alpha": _clear,
    "alpha that hides all": lambda: _written(_with_alpha(0), "PNG"),
    "alpha that hides half": lambda: _written(_with_alpha(128), "PNG"),
    "alpha in webp": lambda: _clear("WEBP", lossless=True),
    "palette with one clear color": _palette,
    "palette with shares": _palette_of_shares,
    "four inks": lambda: _cmyk(marked=True),
    "four inks, unmarked": lambda: _cmyk(marked=False),
    **{f"turned {tag}": lambda tag=tag: _turned(tag) for tag in (3, 6, 8)},
    "turned by nonsense": lambda: _turned(77),
    "a profile of another kind": _profiled,
    "gif that moves": lambda: _moving("GIF"),
    "webp that moves": lambda: _moving("WEBP"),
    "png that moves": lambda: _moving("PNG"),
    "all black": lambda: _written(Image.new("RGB", (_WIDE, _HIGH)), "PNG"),
    "all white": lambda: _written(Image.new("RGB", (_WIDE, _HIGH), "white"), "PNG"),
}
#: What must be refused, and by which code.
REFUSED: dict[str, tuple[str, Callable[[], bytes]]] = {
    "nothing": ("undecodable", lambda: b""),
    "jpeg that breaks off": ("undecodable", lambda: _without_end("JPEG")),
    "png that breaks off": ("undecodable", lambda: _without_end("PNG")),
    "webp that breaks off": ("undecodable", lambda: _without_end("WEBP")),
    "avif": ("undecodable", lambda: _written(_of(), "AVIF")),
    "bmp": ("undecodable", lambda: _written(_of(), "BMP")),
    "tiff": ("undecodable", lambda: _written(_of(), "TIFF")),
    "words": ("undecodable", lambda: b"this is no picture at all, though it is long enough"),
    "a bomb": ("too_large", _bomb),
}
