"""What a file holds, by its first bytes or its name, and how pictures and arrays become files.

Neither Pillow nor numpy is imported unless the caller has given one of their objects.
"""

from __future__ import annotations

import io
import mimetypes
from collections.abc import Callable
from typing import Any, BinaryIO

from kit.errors import ParameterError
from kit.pictures import OWNED, open_picture

#: (offset, bytes) that a file has, and its content type.
_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (8, b"WEBP", "image/webp"),
    (0, b"GIF8", "image/gif"),
    (0, b"\x1a\x45\xdf\xa3", "video/webm"),
    (8, b"WAVE", "audio/wav"),
    (0, b"fLaC", "audio/flac"),
    (0, b"OggS", "audio/ogg"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"\xff\xfb", "audio/mpeg"),
    (0, b"\xff\xf3", "audio/mpeg"),
    (0, b"\xff\xf1", "audio/aac"),
    (0, b"II*\0", "image/tiff"),
    (0, b"MM\0*", "image/tiff"),
    (0, b"BM", "image/bmp"),
    # pictures in the container of mp4, by the brand that comes first
    *((4, b"ftyp" + brand, "image/heic") for brand in (b"hei", b"hev", b"mif1", b"msf1")),
    *((4, b"ftyp" + brand, "image/avif") for brand in (b"avif", b"avis")),
    (4, b"ftypqt", "video/quicktime"),
    (4, b"ftypM4A", "audio/mp4"),
    (4, b"ftyp", "video/mp4"),
)
#: Names that systems use for a type, and the one that the wire uses.
_SYNONYMS = {"audio/x-wav": "audio/wav", "audio/x-flac": "audio/flac", "audio/x-m4a": "audio/mp4"}


def sniffed(head: bytes) -> str | None:
    """Return the content type that the first 64 bytes of a file tell."""
    return next((kind for at, magic, kind in _MAGIC if head.startswith(magic, at)), None)


def named(name: str) -> str:
    """Return the content type that a file's name tells, empty where it tells none."""
    guessed = mimetypes.guess_type(name)[0] or ""
    return _SYNONYMS.get(guessed, guessed)


def as_png(file: BinaryIO) -> bytes | None:
    """Return a picture of any kind as an upright PNG, or None where nothing here can read it."""
    try:
        from PIL import Image, ImageOps
    except ImportError:
        return None
    try:
        with open_picture(file, OWNED) as picture:
            return _picture(ImageOps.exif_transpose(picture))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None


def _picture(picture: Any) -> bytes:
    buffer = io.BytesIO()
    mode = picture.mode
    if mode == "F":
        raise ParameterError(
            "a picture of floats does not tell which of them is white: save it in 8 or 16 bits"
        )
    if mode not in ("L", "LA", "RGB", "RGBA", "1", "P", "I;16"):
        picture = picture.convert(_MODES.get(mode, "RGB"))
    picture.save(buffer, "PNG")
    return buffer.getvalue()


#: Modes of Pillow that lose more than they must as RGB, and what they become.
_MODES = {"I": "I;16", "I;16B": "I;16", "I;16L": "I;16", "PA": "RGBA", "La": "LA", "RGBa": "RGBA"}


def _array(array: Any) -> bytes:
    """Encode an array of shape (height, width[, 1, 3 or 4]).

    It holds floats from 0 to 1, booleans, 16 bits from 0 to 65,535, or whole numbers from 0 to 255.
    """
    from PIL import Image

    shape = array.shape
    if array.ndim not in (2, 3) or (array.ndim == 3 and shape[2] not in (1, 3, 4)) or 0 in shape:
        raise ParameterError(f"an array is (height, width, 1, 3 or 4), not of shape {shape}")
    if array.dtype != "uint8":
        array = _eight_bits(array)
    return _picture(Image.fromarray(array[:, :, 0] if shape[2:] == (1,) else array))


def _eight_bits(array: Any) -> Any:
    kind = array.dtype.kind
    if kind == "b":
        return array.astype("uint8") * 255
    if kind not in "fiu":
        raise ParameterError(
            f"an array is uint8, uint16, bool, or floats from 0 to 1, not {array.dtype}"
        )
    if kind == "u" and array.dtype.itemsize == 2:
        return ((array.astype("uint32") * 255 + 32767) // 65535).astype("uint8")
    most, what = (
        (1.0, "floats holds 0 to 1") if kind == "f" else (255, "whole numbers holds 0 to 255")
    )
    low, high = array.min(), array.max()
    if not 0 <= low <= high <= most:
        raise ParameterError(f"an array of {what}, not {low:g} to {high:g}")
    return (array * 255.0).round().astype("uint8") if kind == "f" else array.astype("uint8")


#: Module, class in it, and how its objects become the bytes of a file.
OBJECTS: tuple[tuple[str, str, Callable[[Any], bytes]], ...] = (
    ("PIL.Image", "Image", _picture),
    ("numpy", "ndarray", _array),
)
