"""What a file holds, by its first bytes or its name, and how pictures and arrays become files.

Neither Pillow nor numpy is imported unless the caller has given one of their objects.
"""

from __future__ import annotations

import io
import mimetypes
from collections.abc import Callable
from typing import Any

from kit.errors import ParameterError

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


def _picture(picture: Any) -> bytes:
    buffer = io.BytesIO()
    known = picture.mode in ("L", "LA", "RGB", "RGBA", "1", "P", "I;16")
    (picture if known else picture.convert("RGB")).save(buffer, "PNG")
    return buffer.getvalue()


def _array(array: Any) -> bytes:
    """Encode an array of shape (height, width[, 1, 3 or 4]), uint8 or floats from 0 to 1."""
    from PIL import Image

    shape = array.shape
    if array.ndim not in (2, 3) or (array.ndim == 3 and shape[2] not in (1, 3, 4)):
        raise ParameterError(f"an array is (height, width, 1, 3 or 4), not of shape {shape}")
    if array.dtype.kind == "f":
        low, high = float(array.min()), float(array.max())
        if not 0.0 <= low <= high <= 1.0:
            raise ParameterError(f"an array of floats holds 0 to 1, not {low:g} to {high:g}")
        array = (array * 255.0).round().astype("uint8")
    if array.dtype != "uint8":
        raise ParameterError(f"an array is uint8, or floats from 0 to 1, not {array.dtype}")
    return _picture(Image.fromarray(array[:, :, 0] if shape[2:] == (1,) else array))


#: Module, class in it, and how its objects become the bytes of a file.
OBJECTS: tuple[tuple[str, str, Callable[[Any], bytes]], ...] = (
    ("PIL.Image", "Image", _picture),
    ("numpy", "ndarray", _array),
)
