"""Lengths: whether all of a file is there, and that no more of it is rendered than was priced.

Downloads break off: what a header tells is held against what the index and the packets tell.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kit.containers import HELD
from kit.errors import EngineError

#: Seconds that may be missing at a file's end.
_LOST = 0.5
#: Seconds, or a twentieth of the whole if that is more, by which the last frame may come before
#: the end that the header tells.
_MISSING = 1.0
#: Bytes about the end of a WAV file's sound that are of no concern, and its length where unknown.
_UNTOLD, _ENDLESS = 1 << 16, 0x7FFF0000
_CHUNKS = 1000
#: By how much a file may last longer than was priced, as a share and in seconds: decoders begin
#: and end within a packet, and sound may outlast the pictures.
_SHARE, _MORE = 0.01, HELD + 0.1
#: The seconds that were priced of the files of the job that this process renders.
_priced: dict[Path, float] = {}


@contextmanager
def priced(seconds: Mapping[Path, float]) -> Iterator[None]:
    """Have decoders refuse more of these files than so many seconds, while it is open.

    There is one for the whole process, which renders one job at a time: threads of an engine are
    bound by it too.
    """
    _priced.update(seconds)
    try:
        yield
    finally:
        _priced.clear()


def check_priced(path: Path, seconds: float) -> None:
    """Refuse a file that turns out to last longer than was priced (``longer_than_priced``)."""
    paid = _priced.get(path)
    if paid is not None and seconds > paid * (1 + _SHARE) + _MORE:
        sentence = f"the file plays longer than the {paid:g} s that its price is for"
        raise EngineError(f"{sentence}: send it again", code="longer_than_priced")


def check_unbroken(container: Any, stream: Any) -> None:
    """Refuse a file that ends more than `_LOST` seconds before what its index names.

    A download that broke off has the index of the whole if that stands before the pictures; what
    has no index passes.
    """
    index = stream.index_entries
    if not len(index) or not container.size or _end(index[len(index) - 1]) <= container.size:
        return
    first = bisect_right(range(len(index)), container.size, key=lambda at: _end(index[at]))
    there, whole = (
        float((index[at].timestamp - index[0].timestamp) * stream.time_base)
        for at in (first, len(index) - 1)
    )
    if whole - there > _LOST:
        sentence = f"the file is incomplete: it breaks off after {there:.1f} of {whole:.1f} s"
        raise EngineError(sentence, code="undecodable")


def check_wav(path: Path) -> None:
    """Refuse a WAV file of which more lies behind its sound than its header tells of, or less.

    Decoders stop where the header says that the sound ends; other chunks may follow, and what some
    recorders leave behind. A header that tells of nothing was written before the sound.
    """
    size, sound, at = path.stat().st_size, 0, 12
    with path.open("rb") as file:
        for _ in range(_CHUNKS):
            file.seek(at)
            head = file.read(8)
            length = int.from_bytes(head[4:], "little")
            if head[:4] == b"data":
                sound = length or size
            elif len(head) < 8 or not all(32 <= letter < 127 for letter in head[:4]):
                break
            at += 8 + length + length % 2
    if size - at > max(sound, _UNTOLD):
        sentence = f"{size - at:,} bytes follow after the {sound:,} that the header tells of"
        raise EngineError(f"the file is damaged: {sentence}", code="undecodable")
    if at - size > _UNTOLD and sound < _ENDLESS:
        raise EngineError(f"the file is incomplete: {size:,} of {at:,} bytes", code="undecodable")


def check_complete(end: float, told: float) -> None:
    """Refuse a video that ends long before what its header tells, in seconds."""
    if end < told - max(_MISSING, 0.05 * told):
        raise EngineError(f"the file is incomplete: {end:.1f} of {told:.1f} s", code="undecodable")


def _end(entry: Any) -> int:
    return int(entry.pos + entry.size)
