"""Lengths: whether a file is complete, and not longer than its price covers.

Downloads may be truncated: the header is compared with the index and the packets.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kit.containers import HOLD_AFTER_SECONDS
from kit.errors import EngineError

#: Seconds that may be missing at a file's end.
_INDEX_SLACK = 0.5
#: Maximum seconds, or a twentieth of the length if that is more, between the last frame and the end
#: that the header states.
_HEADER_SLACK = 1.0
#: Bytes of tolerance at the end of a WAV file's sound, and the length that means unknown.
_WAV_SLACK, _UNKNOWN_LENGTH = 1 << 16, 0x7FFF0000
_MAX_CHUNKS = 1000
#: How much longer than priced a file may be, as a share and in seconds: decoders start and end
#: within a packet, and sound may be longer than the pictures.
_EXTRA_SHARE, _EXTRA_SECONDS = 0.01, HOLD_AFTER_SECONDS + 0.1
#: The priced seconds of the files of the job that this process renders.
_priced_seconds: dict[Path, float] = {}


@contextmanager
def limit_seconds(seconds: Mapping[Path, float]) -> Iterator[None]:
    """Limit decoders to the priced seconds of these files, while the context is open.

    The limits are those of the whole process, which renders one job at a time: they apply to
    threads of an engine too.
    """
    _priced_seconds.update(seconds)
    try:
        yield
    finally:
        _priced_seconds.clear()


def check_priced(path: Path, seconds: float) -> None:
    """Refuse a file that is longer than was priced (``longer_than_priced``)."""
    paid = _priced_seconds.get(path)
    if paid is not None and seconds > paid * (1 + _EXTRA_SHARE) + _EXTRA_SECONDS:
        sentence = f"the file plays longer than the {paid:g} s that were priced"
        raise EngineError(f"{sentence}: send it again", code="longer_than_priced")


def check_index(container: Any, stream: Any) -> None:
    """Refuse a file that ends more than `_INDEX_SLACK` seconds before the end of its index.

    A truncated download has the complete index if the index precedes the pictures; files without
    an index pass.
    """
    index = stream.index_entries
    if not len(index) or not container.size or _end(index[len(index) - 1]) <= container.size:
        return
    first = bisect_right(range(len(index)), container.size, key=lambda at: _end(index[at]))
    there, whole = (
        float((index[at].timestamp - index[0].timestamp) * stream.time_base)
        for at in (first, len(index) - 1)
    )
    if whole - there > _INDEX_SLACK:
        sentence = f"the file is incomplete: it ends after {there:.1f} of {whole:.1f} s"
        raise EngineError(sentence, code="undecodable")


def check_wav(path: Path) -> None:
    """Refuse a WAV file with more or less data than its header states.

    Decoders stop at the end of the sound that the header states; other chunks may follow, and
    leftovers of some recorders. A header without a length was written before the sound.
    """
    size, sound, at = path.stat().st_size, 0, 12
    with path.open("rb") as file:
        for _ in range(_MAX_CHUNKS):
            file.seek(at)
            head = file.read(8)
            length = int.from_bytes(head[4:], "little")
            if head[:4] == b"data":
                sound = length or size
            elif len(head) < 8 or not all(32 <= letter < 127 for letter in head[:4]):
                break
            at += 8 + length + length % 2
    if size - at > max(sound, _WAV_SLACK):
        sentence = f"{size - at:,} bytes follow after the {sound:,} that the header states"
        raise EngineError(f"the file is damaged: {sentence}", code="undecodable")
    if at - size > _WAV_SLACK and sound < _UNKNOWN_LENGTH:
        raise EngineError(f"the file is incomplete: {size:,} of {at:,} bytes", code="undecodable")


def check_complete(end: float, whole: float) -> None:
    """Refuse a video that ends long before the end that its header states, in seconds."""
    if end < whole - max(_HEADER_SLACK, 0.05 * whole):
        raise EngineError(f"the file is incomplete: {end:.1f} of {whole:.1f} s", code="undecodable")


def _end(entry: Any) -> int:
    return int(entry.pos + entry.size)
