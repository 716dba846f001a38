"""XMP and texts in PNG, JPEG, WebP and MP4, read and written without decoding pictures.

Source: PNG, third edition, 11.3.3; XMP part 3, "JPEG", "PNG", "WebP", "MPEG-4"; C2PA 2.2, A.3.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, NamedTuple, TypeVar

T = TypeVar("T")
_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8"
_XMP_PNG = b"XML:com.adobe.xmp"
_XMP_JPEG = b"http://ns.adobe.com/xap/1.0/\0"
_XMP_MP4 = bytes.fromhex("be7acfcb97a942e89c71999491e3afac")
_SIGNED_MP4 = bytes.fromhex("d8fec3d61b0e483c92975828877ec481")
#: Brands of pictures in an MP4 container.
_PICTURE_BRANDS = (b"avi", b"hei", b"hev", b"mif", b"msf")
#: Maximum of bytes in a JPEG segment, in a text, and in a picture file.
_MAX_SEGMENT, _MAX_TEXT, _MAX_PICTURE = 65_000, 1_000_000, 200_000_000
#: Maximum of parts of a file that are read.
_MAX_PARTS = 10_000


class _SkipFileError(Exception):
    """The file is of another format, has XMP already, is signed or damaged."""


_READ_ERRORS = (_SkipFileError, struct.error, LookupError, OverflowError, zlib.error)


class _FilePart(NamedTuple):
    """A chunk, segment or box: its name, and the start and end of its content."""

    name: bytes
    start: int
    end: int


def insert(path: Path, packet: bytes, text: str, is_own: Callable[[str], bool]) -> bool:
    """Write XMP, in PNG also a text ``parameters``, into a file; return whether it was done.

    Our own XMP is replaced; files with other XMP, or with a signature, are not changed.
    """
    fits = len(packet) <= _MAX_SEGMENT

    def append(file: IO[bytes]) -> None:
        if _is_signed_mp4(file):
            raise _SkipFileError
        if is_own(_decode(_mp4_packet(file))):
            _blank_in_mp4(file)
        if fits:
            _append_to_mp4(file, packet)

    def change(data: bytes, kind: str) -> bytes:
        if is_own(_decode(_picture_texts(data, kind)[0])) and not _is_signed_picture(data, kind):
            data = _remove_packet(data, kind)
        if any(label in _XMP or p.name == _C2PA[kind] for label, p in _label_parts(data, kind)):
            raise _SkipFileError
        return _WRITERS[kind](data, packet, text) if fits else data

    return _rewrite(path, append, change) and fits


def remove(path: Path) -> bool:
    """Remove XMP, the text ``parameters`` and their signature; return whether it was done."""
    return _rewrite(path, _blank_in_mp4, _remove_packet)


def _rewrite(
    path: Path, change_mp4: Callable[[IO[bytes]], None], change: Callable[[bytes, str], bytes]
) -> bool:
    try:
        with path.open("r+b") as file:
            kind = _find_format(file)
            if kind == "mp4":
                change_mp4(file)
                return True
            data = _read_picture(file)
            new = change(data, kind)
            file.seek(0)
            file.write(new)  # in place, because a new file would cost twenty times as much
            if len(new) < len(data):
                file.truncate()
    except _READ_ERRORS:
        return False
    return True


def _remove_packet(data: bytes, kind: str) -> bytes:
    """Return a picture without the parts that this module writes."""
    pieces, offset = [], 0
    before, after = _PART_OVERHEAD_BYTES[kind]
    for label, (name, start, end) in _label_parts(data, kind):
        if label in (*_XMP, b"iTXtparameters") or name == _C2PA[kind]:
            pieces.append(data[offset : start - before])
            offset = end + after + (end - start) % 2 * (kind == "webp")
    if not pieces:
        raise _SkipFileError
    new = b"".join([*pieces, data[offset:]])
    return b"RIFF" + struct.pack("<I", len(new) - 8) + new[8:] if kind == "webp" else new


def extract(path: Path) -> tuple[str, dict[str, str]]:
    """Return the XMP of a file and its texts by name, empty if there are none."""
    found = _read_with(path, lambda file: (_mp4_packet(file), {}), _picture_texts)
    packet, texts = found or (b"", {})
    return _decode(packet), texts


def is_signed(path: Path) -> bool:
    """Whether a file has C2PA credentials, which any change would invalidate."""
    return bool(_read_with(path, _is_signed_mp4, _is_signed_picture))


def _read_with(
    path: Path, from_mp4: Callable[[IO[bytes]], T], from_picture: Callable[[bytes, str], T]
) -> T | None:
    """Return the result of a function for a file; None for other formats and damaged files."""
    try:
        with path.open("rb") as file:
            kind = _find_format(file)
            return from_mp4(file) if kind == "mp4" else from_picture(_read_picture(file), kind)
    except _READ_ERRORS:
        return None


def _is_signed_mp4(file: IO[bytes]) -> bool:
    return any(_has_uuid(file, box, _SIGNED_MP4) for box in _mp4_boxes(file))


def _is_signed_picture(data: bytes, kind: str) -> bool:
    return any(part.name == _C2PA[kind] for part in _READERS[kind](data))


def _decode(packet: bytes) -> str:
    return packet[:_MAX_TEXT].decode("utf-8", "replace")


def _picture_texts(data: bytes, kind: str) -> tuple[bytes, dict[str, str]]:
    """Return the XMP of a picture, and its other texts by name."""
    if kind == "png":
        texts = _png_texts(data)
        return texts.pop(_XMP_PNG.decode(), "").encode(), texts
    head = len(_XMP_JPEG) if kind == "jpeg" else 0
    found = (data[p.start + head : p.end] for label, p in _label_parts(data, kind) if label in _XMP)
    return next(found, b""), {}


def _label_parts(data: bytes, kind: str) -> Iterator[tuple[bytes, _FilePart]]:
    """Yield the parts of a picture, each with its name and first word."""
    for part in _READERS[kind](data):
        first_word = b"" if kind == "webp" else data[part.start : part.start + 40].split(b"\0")[0]
        yield part.name + first_word, part


def _find_format(file: IO[bytes]) -> str:
    head = file.read(16)
    file.seek(0)
    formats = {"png": head[:8] == _PNG, "jpeg": head[:2] == _JPEG, "mp4": head[4:8] == b"ftyp"}
    formats["mp4"] &= head[8:11] not in _PICTURE_BRANDS
    formats["webp"] = (head[:4], head[8:12]) == (b"RIFF", b"WEBP")
    for name, found in formats.items():
        if found:
            return name
    raise _SkipFileError


def _read_picture(file: IO[bytes]) -> bytes:
    if os.fstat(file.fileno()).st_size > _MAX_PICTURE:
        raise _SkipFileError
    return file.read()


# PNG


def _png_chunks(data: bytes) -> Iterator[_FilePart]:
    offset = len(_PNG)
    for _ in range(_MAX_PARTS):
        length, name = struct.unpack_from(">I4s", data, offset)
        yield _FilePart(name, offset + 8, offset + 8 + length)
        if name == b"IEND":
            return
        offset += 12 + length


def _add_to_png(data: bytes, packet: bytes, text: str) -> bytes:
    chunks = b"".join(
        struct.pack(">I4s", len(body), b"iTXt")
        + body
        + struct.pack(">I", zlib.crc32(b"iTXt" + body))
        for keyword, content in ((_XMP_PNG, packet), (b"parameters", text.encode()))
        for body in [keyword + b"\0\0\0\0\0" + content]
    )
    after_header = len(_PNG) + 25
    return data[:after_header] + chunks + data[after_header:]


def _png_texts(data: bytes) -> dict[str, str]:
    texts = {}
    for name, start, end in _png_chunks(data):
        if name not in (b"tEXt", b"zTXt", b"iTXt") or end - start > _MAX_TEXT:
            continue
        keyword, _, rest = data[start:end].partition(b"\0")
        compressed = name == b"zTXt"
        if name == b"iTXt":
            compressed, rest = bool(rest[0]), rest[2:].split(b"\0", 2)[2]
        elif compressed:
            rest = rest[1:]
        content = zlib.decompressobj().decompress(rest, _MAX_TEXT) if compressed else rest
        encoding = "utf-8" if name == b"iTXt" else "latin-1"
        texts[keyword.decode("latin-1")] = content.decode(encoding, "replace")
    return texts


# JPEG


def _jpeg_segments(data: bytes) -> Iterator[_FilePart]:
    offset = 2
    for _ in range(_MAX_PARTS):
        marker = data[offset + 1 : offset + 2]
        if data[offset] != 0xFF or marker in (b"\xda", b"\xd9"):
            return
        (length,) = struct.unpack_from(">H", data, offset + 2)
        yield _FilePart(marker, offset + 4, offset + 2 + length)
        offset += 2 + length


def _add_to_jpeg(data: bytes, packet: bytes, _text: str) -> bytes:
    position = 2
    for marker, _, end in _jpeg_segments(data):
        if marker in (b"\xe0", b"\xe1"):  # JFIF and Exif come first
            position = end
    body = _XMP_JPEG + packet
    return data[:position] + b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body + data[position:]


# WebP


def _webp_chunks(data: bytes) -> Iterator[_FilePart]:
    offset = 12
    for _ in range(_MAX_PARTS):
        if offset + 8 > len(data):
            return
        name, length = struct.unpack_from("<4sI", data, offset)
        yield _FilePart(name, offset + 8, offset + 8 + length)
        offset += 8 + length + length % 2


def _add_to_webp(data: bytes, packet: bytes, _text: str) -> bytes:
    names = {part.name: part for part in _webp_chunks(data)}
    if b"VP8X" in names:
        flags = names[b"VP8X"].start
        body = data[12:flags] + bytes([data[flags] | 0x04]) + data[flags + 1 :]
    else:
        body = _extended_header(data, names) + data[12:]
    body += b"\0" * (len(body) % 2)
    chunk = b"XMP " + struct.pack("<I", len(packet)) + packet + b"\0" * (len(packet) % 2)
    return b"RIFF" + struct.pack("<I", 4 + len(body) + len(chunk)) + b"WEBP" + body + chunk


def _extended_header(data: bytes, names: dict[bytes, _FilePart]) -> bytes:
    """Return the header chunk for a single-picture WebP with XMP."""
    if b"VP8L" in names:
        (bits,) = struct.unpack_from("<I", data, names[b"VP8L"].start + 1)
        width, height, alpha = bits & 0x3FFF, bits >> 14 & 0x3FFF, bits >> 28 & 1
    else:
        width, height = struct.unpack_from("<HH", data, names[b"VP8 "].start + 6)
        width, height, alpha = (width & 0x3FFF) - 1, (height & 0x3FFF) - 1, 0
    sizes: bytes = width.to_bytes(3, "little") + height.to_bytes(3, "little")
    return b"VP8X" + struct.pack("<II", 10, 0x04 | alpha << 4) + sizes


# MP4


def _mp4_boxes(file: IO[bytes]) -> Iterator[_FilePart]:
    end = file.seek(0, 2)
    offset = 0
    for _ in range(_MAX_PARTS):
        if offset + 8 > end:
            return
        file.seek(offset)
        length, name, long_length = struct.unpack(">I4sQ", file.read(16).ljust(16, b"\0"))
        header = 16 if length == 1 else 8
        length = long_length if length == 1 else length or end - offset
        if length < header or offset + length > end:
            raise _SkipFileError
        yield _FilePart(name, offset + header, offset + length)
        offset += length


def _mp4_packet(file: IO[bytes]) -> bytes:
    for box in _mp4_boxes(file):
        file.seek(box.start)
        if box.name == b"uuid" and file.read(16) == _XMP_MP4:
            content: bytes = file.read(min(box.end - box.start - 16, _MAX_TEXT))
            return content
    return b""


def _append_to_mp4(file: IO[bytes], packet: bytes) -> None:
    """Add a box at the end, so that the offsets of other boxes stay the same."""
    if any(_has_uuid(file, box, _XMP_MP4) for box in _mp4_boxes(file)):
        raise _SkipFileError
    file.seek(0, 2)
    file.write(struct.pack(">I4s", 24 + len(packet), b"uuid") + _XMP_MP4 + packet)


def _blank_in_mp4(file: IO[bytes]) -> None:
    for box in list(_mp4_boxes(file)):
        if _has_uuid(file, box, _XMP_MP4, _SIGNED_MP4):
            file.seek(box.start - 4)
            file.write(b"free" + b"\0" * (box.end - box.start))


def _has_uuid(file: IO[bytes], box: _FilePart, *names: bytes) -> bool:
    """Whether a box has one of the given UUIDs of 16 bytes."""
    file.seek(box.start)
    return box.name == b"uuid" and file.read(16) in names


_WRITERS = {"png": _add_to_png, "jpeg": _add_to_jpeg, "webp": _add_to_webp}
_READERS = {"png": _png_chunks, "jpeg": _jpeg_segments, "webp": _webp_chunks}
#: Bytes of a part before and after its content.
_PART_OVERHEAD_BYTES = {"png": (8, 4), "jpeg": (4, 0), "webp": (8, 0)}
#: The parts with C2PA credentials.
_C2PA = {"png": b"caBX", "jpeg": b"\xeb", "webp": b"C2PA"}
#: Names and first words of parts with XMP.
_XMP = {b"iTXt" + _XMP_PNG, b"\xe1" + _XMP_JPEG[:-1], b"XMP "}
