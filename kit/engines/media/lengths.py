"""Lengths: how long a file lasts, and whether all of it is there.

Headers are written before or after the rest, or not at all, and downloads break off: what a header
tells is held against what the index and the packets tell.
"""

from __future__ import annotations

from bisect import bisect_right
from contextlib import suppress
from typing import Any

from kit.errors import EngineError

#: Seconds that a file may last.
SECONDS = 3600
#: Seconds that may be missing at a file's end.
_LOST = 0.5
#: Seconds, or a twentieth of the whole if that is more, by which the last frame may come before
#: the end that the header tells.
_MISSING = 1.0
#: Seconds of a single picture that does not tell how long it is on show.
_MOMENT = 0.04


def length(container: Any) -> float:
    """Return the length in seconds: what the header says, else what the packets add up to.

    Browsers record without a length; then the container is at its beginning again afterwards.

    Raises
    ------
    EngineError
        There is nothing in it (``undecodable``), or more than `SECONDS` (``too_long``).
    """
    seconds = (container.duration or 0) / 1_000_000 or _added_up(container)
    if seconds <= 0:
        raise EngineError("the file holds nothing that plays", code="undecodable")
    if seconds > SECONDS:
        raise EngineError(f"the file must last up to {SECONDS:,} s", code="too_long")
    return round(seconds, 3)


def _added_up(container: Any) -> float:
    _rewind(container)
    ends = [
        float((packet.pts + (packet.duration or 0)) * packet.time_base)
        for packet in container.demux()
        if packet.pts is not None
    ]
    _rewind(container)
    # A single picture may tell neither when it begins nor how long it stays.
    return max(ends) or _MOMENT if ends else 0.0


def _rewind(container: Any) -> None:
    import av

    # A file with nothing in it has no place to go to.
    with suppress(av.FFmpegError):
        container.seek(0)


def unbroken(container: Any, stream: Any) -> None:
    """Refuse a file that ends before what its index names; what has no index passes.

    A download that broke off has the index of the whole if that stands before the pictures.

    Raises
    ------
    EngineError
        More than `_LOST` seconds of the stream are missing, with code ``undecodable``.
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


def ends(container: Any, stream: Any) -> tuple[float, float]:
    """Return when the pictures end and when everything does, by the packets, in seconds.

    For files whose header is not clear about it: some count from 0, some from their first frame.
    """
    container.seek(container.duration)
    last = {stream.index: 0.0}
    for packet in container.demux():
        if packet.pts is not None:
            end = float((packet.pts + (packet.duration or 0)) * packet.time_base)
            last[packet.stream_index] = max(end, last.get(packet.stream_index, 0.0))
    return last[stream.index], max(last.values())


def complete(end: float, told: float) -> None:
    """Refuse a video that ends long before what its header tells, in seconds.

    Raises
    ------
    EngineError
        With code ``undecodable``.
    """
    if end < told - max(_MISSING, 0.05 * told):
        sentence = f"the video ends after {end:.1f} of {told:.1f} s: it is incomplete"
        raise EngineError(sentence, code="undecodable")


def _end(entry: Any) -> int:
    return int(entry.pos + entry.size)
