"""Structure checks of picture files before decoding, against decompression bombs.

A small file may have so many parts that reading it takes minutes: scans over the whole picture, or
millions of empty chunks. Their number is limited here, far above what any program writes.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from kit.errors import EngineError

#: Maximum number of scans of a JPEG; programs write up to about a dozen.
MAX_SCANS = 100
#: Maximum number of pictures of an animation.
MAX_FRAMES = 600
#: Maximum parts of a file: segments of a JPEG, chunks of a PNG, blocks of a GIF and their bits.
_MAX_SEGMENTS, _MAX_CHUNKS, _MAX_BLOCKS, _MAX_BITS = 4_000, 100_000, 20_000, 500_000
#: Bytes between two segments that decoders skip, and of a JPEG's segments other than its picture.
_MAX_JUNK, _MAX_BESIDE = 1 << 16, 16 << 20
_MARKER = re.compile(rb"\xff[\x01-\xcf\xd8-\xfe]")
_START_OF_SCAN, _END = 0xDA, 0xD9
_WITHOUT_LENGTH = frozenset({0x01, 0xD8})


def check_structure(path: Path) -> None:
    """Refuse a file with excessive parts: ``too_large``, or an animation ``too_long``."""
    with path.open("rb") as file:
        head = file.read(8)
        walk = next((walk for mark, walk in _WALKS.items() if head.startswith(mark)), None)
        if walk is not None:
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                walk(content)


def _walk_jpeg(content: mmap.mmap) -> None:
    at, scans, beside, in_scan = 2, 0, 0, False
    for _ in range(_MAX_SEGMENTS):
        marker = _MARKER.search(content, at)
        if marker is None:
            return  # truncated: the decoder reports it
        if not in_scan and marker.start() - at > _MAX_JUNK:
            raise _refusal("JPEG", f"{_MAX_JUNK:,} bytes between its segments")
        code, at = content[marker.start() + 1], marker.end()
        if code == _END:
            return
        in_scan = code == _START_OF_SCAN
        scans += in_scan
        if scans > MAX_SCANS:
            raise _refusal("JPEG", f"{MAX_SCANS} scans")
        length = 0 if code in _WITHOUT_LENGTH else int.from_bytes(content[at : at + 2])
        beside, at = beside + length, at + length
        if beside > _MAX_BESIDE:
            raise _refusal("JPEG", f"{_MAX_BESIDE:,} bytes beside its picture")
    raise _refusal("JPEG", f"{_MAX_SEGMENTS:,} segments")


def _walk_png(content: mmap.mmap) -> None:
    at = 8
    for _ in range(_MAX_CHUNKS):
        if content[at + 4 : at + 8] in (b"IEND", b""):
            return
        at += 12 + int.from_bytes(content[at : at + 4])
    raise _refusal("PNG", f"{_MAX_CHUNKS:,} chunks")


def _walk_gif(content: mmap.mmap) -> None:
    at, frames, bits = 13 + _colors(content[10]), 0, 0
    for _ in range(_MAX_BLOCKS):
        kind = content[at : at + 1]
        if kind in (b";", b""):
            return
        if kind == b",":
            frames += 1
            if frames > MAX_FRAMES:
                raise EngineError(f"the image has more than {MAX_FRAMES} frames", code="too_long")
            at += 11 + _colors(content[at + 9])
        elif kind == b"!":
            at += 2
        else:
            at += 1
            continue
        while at < len(content) and content[at]:
            at, bits = at + 1 + content[at], bits + 1
            if bits > _MAX_BITS:
                raise _refusal("GIF", f"{_MAX_BITS:,} blocks")
        at += 1
    raise _refusal("GIF", f"{_MAX_BLOCKS:,} blocks")


def _colors(flags: int) -> int:
    """Return the size of a color table in bytes."""
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


def _refusal(kind: str, most: str) -> EngineError:
    return EngineError(f"the {kind} file has more than {most}: save it again", code="too_large")


_WALKS: Mapping[bytes, Callable[[mmap.mmap], None]] = {
    b"\xff\xd8": _walk_jpeg,
    b"\x89PNG\r\n\x1a\n": _walk_png,
    b"GIF8": _walk_gif,
}
