"""File types and extensions, detected by content first, then by name or declared type.

A URL may have any extension or none; the first bytes of a file are reliable.
"""

from __future__ import annotations

import io
import mimetypes
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from kit import wire
from kit.endings import EXTENSIONS, guess_type
from kit.errors import ParameterError
from kit.pictures import HEIC, INPUT_FORMATS, NO_HEIC, has_heic, open_picture, to_srgb
from kit.private import replace_file

#: Offset and bytes of a file's signature, and its content type.
_SIGNATURES: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (8, b"WEBP", "image/webp"),
    (0, b"GIF8", "image/gif"),
    (0, b"\x1a\x45\xdf\xa3", "video/webm"),
    (8, b"WAVE", "audio/wav"),
    (0, b"fLaC", "audio/flac"),
    (0, b"OggS", "audio/ogg"),
    (0, b"ID3", "audio/mpeg"),
    *((0, b"\xff%c" % second, "audio/mpeg") for second in b"\xfa\xfb\xf2\xf3\xe2\xe3"),
    (0, b"\xff\xf1", "audio/aac"),
    (0, b"II*\0", "image/tiff"),
    (0, b"MM\0*", "image/tiff"),
    (0, b"BM", "image/bmp"),
    # images in an mp4 container, by the major brand
    *((4, b"ftyp" + brand, "image/heic") for brand in (b"hei", b"hev", b"mif1", b"msf1")),
    *((4, b"ftyp" + brand, "image/avif") for brand in (b"avif", b"avis")),
    (4, b"ftypqt", "video/quicktime"),
    (4, b"ftypM4A", "audio/mp4"),
    (4, b"ftyp", "video/mp4"),
)


def sniff_type(head: bytes) -> str | None:
    """Return the content type that matches the first 64 bytes of a file."""
    return next((kind for at, magic, kind in _SIGNATURES if head.startswith(magic, at)), None)


def type_of(head: bytes, name: str) -> str:
    """Return the content type of a file, by its first 64 bytes, then by its name."""
    sniffed, named = sniff_type(head), guess_type(name)
    # Audio of recorders and downloads begins like a video: the container is the same.
    return named if (sniffed, named) == ("video/mp4", "audio/mp4") else sniffed or named or UNKNOWN


def convert_picture(file: BinaryIO) -> bytes | None:
    """Return an image of any format as `_encode_picture`, or None if it cannot be read here."""
    try:
        from PIL import Image
    except ImportError:
        return None
    try:
        with open_picture(file, INPUT_FORMATS) as picture:
            # The first picture of a camera's raw file is only its thumbnail.
            is_reduced = getattr(picture, "tag_v2", {}).get(_SUBFILE_TYPE, 0) & 1
            return None if is_reduced else _encode_picture(picture)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None


def _encode_picture(picture: Any) -> bytes:
    """Return a picture as PNG, or as JPEG if its file was lossy: a PNG takes ten times as long.

    One that was opened from a file is upright, as the file itself would be.
    """
    from PIL import ImageFile, ImageOps

    buffer = io.BytesIO()
    mode, is_lossy = picture.mode, picture.format in _LOSSY_FORMATS
    if mode == "F":
        raise ParameterError("a picture of floats does not define white: save it with 8 or 16 bits")
    if isinstance(picture, ImageFile.ImageFile):
        picture = ImageOps.exif_transpose(picture)
    profile = picture.info.get("icc_profile")
    if mode == "CMYK":
        picture = to_srgb("CMYK", profile)(picture)
    elif is_lossy and mode in ("L", "RGB"):
        picture.save(buffer, "JPEG", quality=95, subsampling=0, icc_profile=profile)
        return buffer.getvalue()
    elif mode not in ("L", "LA", "RGB", "RGBA", "1", "P", "I;16"):
        picture = picture.convert(_MODES.get(mode, "RGB"))
    picture.save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


#: Formats of Pillow that photographs have.
_LOSSY_FORMATS = ("AVIF", "HEIF", "JPEG", "MPO")
_SUBFILE_TYPE = 254  # of TIFF; its first bit is set for a reduced picture
#: Modes of Pillow that lose too much as RGB, and their replacements.
_MODES = {"I": "I;16", "I;16B": "I;16", "I;16L": "I;16", "PA": "RGBA", "La": "LA", "RGBa": "RGBA"}


def _encode_array(array: Any) -> bytes:
    """Encode an array of shape (height, width[, 1, 3 or 4]).

    Values are floats from 0 to 1, booleans, 16 bits from 0 to 65,535, or integers from 0 to 255.
    """
    from PIL import Image

    shape = array.shape
    if array.ndim not in (2, 3) or (array.ndim == 3 and shape[2] not in (1, 3, 4)) or 0 in shape:
        raise ParameterError(f"an array is (height, width, 1, 3 or 4), not of shape {shape}")
    if array.dtype != "uint8":
        array = _to_eight_bits(array)
    return _encode_picture(Image.fromarray(array[:, :, 0] if shape[2:] == (1,) else array))


def _to_eight_bits(array: Any) -> Any:
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


def _encode_figure(figure: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    return buffer.getvalue()


def _encode_given(picture: Any) -> bytes:
    try:
        return _encode_picture(picture)
    except (OSError, ValueError, AssertionError, AttributeError) as error:  # the last two: Pillow's
        why = str(error) if isinstance(error, OSError | ValueError) else "its file is closed"
        raise ParameterError(f"the picture cannot be read: {why}") from None


#: Module and class of objects, and the function that encodes them as a file.
ENCODERS: tuple[tuple[str, str, Callable[[Any], bytes]], ...] = (
    ("PIL.Image", "Image", _encode_given),
    ("numpy", "ndarray", _encode_array),
    ("matplotlib.figure", "Figure", _encode_figure),
)


#: The type of a file whose content and name are both unknown.
UNKNOWN = "application/octet-stream"
_EXTENSIONS = (".bmp", ".tiff", *(end for ends in EXTENSIONS.values() for end in ends))
_DEFAULT_EXTENSIONS = {"video": ".mp4", "image": ".png"}
_MEDIA_PREFIXES = ("image/", "video/", "audio/")


def file_extension(content_type: str, url: str = "", asset_type: str = "") -> str:
    """Return the extension, with a dot, for a file not downloaded yet; empty if unknown."""
    extensions, named = _extensions(_strip_options(content_type)), _url_suffix(url)
    if extensions:
        return named if named in extensions else extensions[0]
    guessed = guess_type(f"file{named}")
    if named in _EXTENSIONS or guessed.startswith(_MEDIA_PREFIXES):
        return named
    return _DEFAULT_EXTENSIONS.get(asset_type.lower(), named)


def rename_by_content(path: Path, content_type: str = "", url: str = "") -> Path:
    """Rename a downloaded file so that its extension matches its content.

    If the content is not recognized, the declared type is used, for media only; the URL selects
    among several extensions.
    """
    with path.open("rb") as file:
        head = file.read(64)
    sniffed = sniff_type(head) or ""
    if sniffed == "video/webm" and b"matroska" in head:  # its container is that of WebM
        sniffed = "video/x-matroska"
    declared = _strip_options(content_type)
    extensions = _extensions(sniffed or (declared if declared.startswith(_MEDIA_PREFIXES) else ""))
    named = _url_suffix(url)
    extension = named if named in extensions else next(iter(extensions), "")
    return replace_file(path, path.with_suffix(extension)) if extension else path


def find_renamed(path: Path) -> Path:
    """Return the path of a file after `rename_by_content`; `path` if it does not exist."""
    if path.exists():
        return path
    others = (path.with_suffix(extension) for extension in _EXTENSIONS)
    return next((other for other in others if other.exists()), path)


def check_type(name: str, content_type: str) -> None:
    """Raise an error with the supported types if our own models do not accept a type."""
    if content_type in wire.CONTENT_TYPES:
        return
    if content_type == HEIC and not has_heic():
        raise ParameterError(f"{name!r} is of type {content_type}. {NO_HEIC}, or save it as PNG")
    if content_type.startswith("image/"):
        raise ParameterError(
            f"{name!r} is of type {content_type}, which no model takes and nothing installed here "
            "can read: save it as PNG or JPEG"
        )
    raise ParameterError(
        f"{name!r} is not a picture, video or sound of a type that services take: "
        f"{', '.join(wire.CONTENT_TYPES)}"
    )


def check_type_for(parameter: wire.Parameter, name: str, content_type: str) -> None:
    """Raise an error if a file's kind differs from its parameter's; unknown kinds pass."""
    kind = content_type.partition("/")[0]
    if parameter.type in wire.MEDIA_TYPES and kind != parameter.type and content_type != UNKNOWN:
        raise ParameterError(
            f"{parameter.name} takes a medium of type {parameter.type}, and {name!r} is of type "
            f"{content_type}"
        )


def _strip_options(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _extensions(content_type: str) -> tuple[str, ...]:
    if content_type in EXTENSIONS:
        return EXTENSIONS[content_type]
    guessed = mimetypes.guess_extension(content_type) if content_type != UNKNOWN else None
    return (guessed,) if guessed else ()


def _url_suffix(url: str) -> str:
    try:
        suffix = Path(urlsplit(url).path).suffix
    except ValueError:
        return ""
    return suffix.lower() if re.fullmatch(r"\.\w{1,5}", suffix) else ""
