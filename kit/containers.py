"""Video and sound files: opened with named demuxers, and how long they play by their packets.

Both wings measure a file here, so that an estimate is the charge. Headers are written before or
after the rest, or not at all, and anybody can write one: what counts is what a decoder gets.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

from kit.errors import EngineError

#: Seconds that a file may play.
SECONDS = 3600
#: Seconds by which sound may outlast the pictures before the last picture is held to its end.
HELD = 0.5
_STREAMS = 32
_DEMUXERS = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,wav,mp3,flac,ogg,aac"
#: Seconds of a single picture that does not say how long it is on show.
_MOMENT = 0.04
#: Seconds by which the packets of an MP3 may last longer than its sound: a header that says so
#: little less knows what is padding.
_PADDING = 0.25
#: By how much the lengths of packets may add up to more than their times say, as a share and in
#: seconds, before the times are not believed.
_APART = (0.05, 0.5)


def open_media(source: Path | IO[bytes], *, unseen: bool = False) -> Any:
    """Open a video or sound file with the demuxers and protocols that are allowed.

    A playlist that calls itself a video would read other files. The caller closes the container.
    Where pictures stay `unseen`, none is decoded to know more of them: 4K takes 60 ms or more.

    Raises `EngineError`: it holds too many streams. What the file itself is wrong with comes as
    PyAV's error.
    """
    import av

    options = {"format_whitelist": _DEMUXERS, "protocol_whitelist": "file"}
    if unseen:
        options["skip_frame"] = "all"
    file: Any = str(source) if isinstance(source, Path) else source
    container = av.open(file, options=options, timeout=(5.0, 5.0))
    if len(container.streams) > _STREAMS:
        container.close()
        raise EngineError(f"the file holds more than {_STREAMS} streams", code="too_large")
    return container


def moving_streams(container: Any) -> list[Any]:
    """Return the streams of pictures that move, as far as they can be decoded.

    The cover of a song is none.
    """
    from av.stream import Disposition

    cover = Disposition.attached_pic
    return [s for s in container.streams.video if s.codec_context and not s.disposition & cover]


def video_stream(container: Any) -> Any:
    """Return the stream that a player would show.

    Raises `EngineError`: there is none, with code ``wrong_type``.
    """
    return _best(container, "video", moving_streams(container), "video", "wrong_type")


def audio_stream(container: Any) -> Any:
    """Return the stream that a player would let hear.

    Raises `EngineError`: there is none, with code ``no_sound``.
    """
    streams = [stream for stream in container.streams.audio if stream.codec_context]
    return _best(container, "audio", streams, "sound", "no_sound")


def _best(container: Any, kind: str, streams: list[Any], what: str, code: str) -> Any:
    """Return the best of the streams of a kind that can be decoded: phones add some that cannot."""
    if not streams:
        unknown = any(not stream.codec_context for stream in getattr(container.streams, kind))
        rest = " that can be decoded: save it again with another program" if unknown else ""
        raise EngineError(f"the file holds no {what}{rest}", code=code)
    best = container.streams.best(kind)
    return best if best in streams else streams[0]


def measure(source: Path | IO[bytes], kind: str) -> float:
    """Return the seconds that a file plays.

    Raises `EngineError`: as `measure_film`. What the file itself is wrong with comes as PyAV's
    error.
    """
    with open_media(source) as container:
        if kind == "video":
            return measure_film(container, video_stream(container)).seconds
        return _measure_sound(container, audio_stream(container))


class VideoFile(NamedTuple):
    """How long a video plays.

    `seconds`: from the first picture to the end of the last one, or to the end of sound that goes
    on for more than `HELD` after it: the last picture stays on show.
    `end`: when everything in the file ends, which may not begin at 0.
    """

    seconds: float
    end: float


def measure_film(container: Any, stream: Any) -> VideoFile:
    """Measure a video.

    Read is what comes after the end that its header names, and a little before it: all of it where
    the header names too little, or nothing.

    Raises `EngineError`: nothing in it plays (``undecodable``), or more than `SECONDS`
    (``too_long``).
    """
    import av

    ends: dict[int, float] = {}
    for start in dict.fromkeys((container.duration or 0, 0)):
        # A file with nothing in it has no place to go to.
        with suppress(av.FFmpegError):
            container.seek(start)
        ends = _ends(container)
        if stream.index in ends:
            break
    begin = float((stream.start_time or 0) * stream.time_base)
    # A single picture may say neither when it begins nor how long it stays.
    pictures = ends[stream.index] - begin or _MOMENT if stream.index in ends else 0.0
    sound = max((ends.get(s.index, 0.0) - begin for s in container.streams.audio), default=0.0)
    seconds = _bounded(sound if pictures and sound > pictures + HELD else pictures)
    return VideoFile(seconds, max(ends.values()))


def _measure_sound(container: Any, stream: Any) -> float:
    """Return how long a stream of sound plays, with the gaps in it, at whose beginning it is.

    Plain streams have no index, and times after a jump are guesses.
    """
    begin, end, total = None, 0, 0
    most = SECONDS / stream.time_base
    for packet in container.demux(stream):
        if packet.is_discard:
            continue
        lasts = packet.duration or 0
        total += lasts
        if packet.pts is not None and packet.size:
            # What comes before 0 only wakes the decoder.
            begin = max(packet.pts, 0) if begin is None else begin
            end = max(end, packet.pts + lasts)
        if total > most:
            break
    timed = float((end - (begin or 0)) * stream.time_base)
    added = float(total * stream.time_base)
    share, more = _APART
    found = _bounded(added if added > timed * (1 + share) + more else timed)
    header = (container.duration or 0) / 1_000_000
    padded = container.format.name == "mp3" and 0 < header <= found <= header + _PADDING
    return round(header, 3) if padded else found


def _ends(container: Any) -> dict[int, float]:
    """Return when each stream ends, by its number, read from where the container is to its end.

    That is the end of what is shown last: others say how long they are in the way of a decoder.
    """
    last: dict[int, tuple[int, int]] = {}
    for packet in container.demux():
        if packet.pts is not None and packet.size and not packet.is_discard:
            found = packet.pts, packet.duration or 0
            last[packet.stream_index] = max(found, last.get(packet.stream_index, found))
    streams = container.streams
    return {number: float(sum(found) * streams[number].time_base) for number, found in last.items()}


def _bounded(found: float) -> float:
    if found <= 0:
        raise EngineError("the file holds nothing that plays", code="undecodable")
    if found > SECONDS:
        raise EngineError(f"the file must last up to {SECONDS:,} s", code="too_long")
    return round(found, 3)
