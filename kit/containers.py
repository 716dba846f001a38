"""Video and audio files: opened with an allowlist of demuxers, and measured by their packets.

The service and the client measure files here, so that an estimate equals the charge. Headers may be
missing, late or forged, so durations are taken from the packets that a decoder gets.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

from kit.errors import EngineError

#: Maximum duration of a file, in seconds.
MAX_SECONDS = 3600
#: Seconds by which audio may outlast the video before the last picture is held to its end.
HOLD_AFTER_SECONDS = 0.5
_MAX_STREAMS = 32
_DEMUXERS = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,wav,mp3,flac,ogg,aac"
#: Duration in seconds of a single picture that does not declare one.
_PICTURE_SECONDS = 0.04
#: Seconds by which the packets of an MP3 may exceed its audio: a header that states slightly less
#: knows the padding.
_PADDING_SECONDS = 0.25
#: Maximum excess of the sum of packet durations over their timestamps, as a share and in seconds,
#: for the timestamps to be trusted.
_MAX_EXCESS = (0.05, 0.5)


def open_media(source: Path | IO[bytes], *, skip_pictures: bool = False) -> Any:
    """Open a video or audio file with the allowed demuxers and protocols.

    A playlist disguised as a video would read other files. The caller closes the container. With
    `skip_pictures`, none is decoded to detect more properties: for 4K this takes 60 ms or more.

    Raises `EngineError` if it has too many streams. Problems of the file itself are raised as
    PyAV's errors.
    """
    import av

    options = {"format_whitelist": _DEMUXERS, "protocol_whitelist": "file"}
    if skip_pictures:
        options["skip_frame"] = "all"
    file: Any = str(source) if isinstance(source, Path) else source
    container = av.open(file, options=options, timeout=(5.0, 5.0))
    if len(container.streams) > _MAX_STREAMS:
        container.close()
        raise EngineError(f"the file holds more than {_MAX_STREAMS} streams", code="too_large")
    return container


def moving_streams(container: Any) -> list[Any]:
    """Return the streams of moving pictures that can be decoded, without the cover of a song."""
    from av.stream import Disposition

    cover = Disposition.attached_pic
    return [s for s in container.streams.video if s.codec_context and not s.disposition & cover]


def video_stream(container: Any) -> Any:
    """Return the video stream that a player would show.

    Raises `EngineError` if there is none, with code ``wrong_type``.
    """
    return _best_stream(container, "video", moving_streams(container), "video", "wrong_type")


def audio_stream(container: Any) -> Any:
    """Return the audio stream that a player would play.

    Raises `EngineError` if there is none, with code ``no_sound``.
    """
    streams = [stream for stream in container.streams.audio if stream.codec_context]
    return _best_stream(container, "audio", streams, "sound", "no_sound")


def _best_stream(container: Any, kind: str, streams: list[Any], what: str, code: str) -> Any:
    """Return the best decodable stream of a kind: phones add some that cannot be decoded."""
    if not streams:
        unknown = any(not stream.codec_context for stream in getattr(container.streams, kind))
        rest = " that can be decoded: save it again with another program" if unknown else ""
        raise EngineError(f"the file holds no {what}{rest}", code=code)
    best = container.streams.best(kind)
    return best if best in streams else streams[0]


def measure(source: Path | IO[bytes], kind: str) -> float:
    """Return the duration of a file in seconds.

    Raises `EngineError` as `measure_video` does. Problems of the file itself are raised as PyAV's
    errors.
    """
    with open_media(source) as container:
        if kind == "video":
            return measure_video(container, video_stream(container)).seconds
        return _measure_audio(container, audio_stream(container))


class VideoFile(NamedTuple):
    """The duration of a video.

    `seconds`: from the first picture to the end of the last one, or to the end of audio that
    continues for more than `HOLD_AFTER_SECONDS` after it: the last picture is held.
    `end`: the end of everything in the file, which may not begin at 0.
    """

    seconds: float
    end: float


def measure_video(container: Any, stream: Any) -> VideoFile:
    """Measure a video.

    Packets are read from slightly before the end stated in the header; all of them if the header
    states too little, or nothing.

    Raises `EngineError` if nothing can be played (``undecodable``), or it is longer than
    `MAX_SECONDS` (``too_long``).
    """
    import av

    ends: dict[int, float] = {}
    for start in dict.fromkeys((container.duration or 0, 0)):
        # An empty file has no position to seek to.
        with suppress(av.FFmpegError):
            container.seek(start)
        ends = _find_ends(container)
        if stream.index in ends:
            break
    begin = float((stream.start_time or 0) * stream.time_base)
    # A single picture may have neither a start time nor a duration.
    pictures = ends[stream.index] - begin or _PICTURE_SECONDS if stream.index in ends else 0.0
    sound = max((ends.get(s.index, 0.0) - begin for s in container.streams.audio), default=0.0)
    seconds = _check_bounds(
        sound if pictures and sound > pictures + HOLD_AFTER_SECONDS else pictures
    )
    return VideoFile(seconds, max(ends.values()))


def _measure_audio(container: Any, stream: Any) -> float:
    """Return the duration of an audio stream, including gaps; the container is at its beginning.

    Plain streams have no index, and timestamps after a seek are guesses. The sound of a video is
    measured from its first picture.
    """
    begin, end, total = None, 0, 0
    limit, shown = MAX_SECONDS / stream.time_base, moving_streams(container)
    if shown:
        begin = round((shown[0].start_time or 0) * shown[0].time_base / stream.time_base)
    for packet in container.demux(stream):
        if packet.is_discard or (shown and packet.pts is not None and packet.pts < begin):
            continue
        duration = packet.duration or 0
        total += duration
        if packet.pts is not None and packet.size:
            # Packets before 0 only prepare the decoder.
            begin = max(packet.pts, 0) if begin is None else begin
            end = max(end, packet.pts + duration)
        if total > limit:
            break
    presented = float((end - (begin or 0)) * stream.time_base)
    summed = float(total * stream.time_base)
    share, margin = _MAX_EXCESS
    found = _check_bounds(summed if summed > presented * (1 + share) + margin else presented)
    header = (container.duration or 0) / 1_000_000
    is_padded = container.format.name == "mp3" and 0 < header <= found <= header + _PADDING_SECONDS
    return round(header, 3) if is_padded else found


def _find_ends(container: Any) -> dict[int, float]:
    """Return the end of each stream by its number, read from the container's position to its end.

    This is the end of the packet presented last; durations of others follow decoding order.
    """
    last: dict[int, tuple[int, int]] = {}
    for packet in container.demux():
        if packet.pts is not None and packet.size and not packet.is_discard:
            found = packet.pts, packet.duration or 0
            last[packet.stream_index] = max(found, last.get(packet.stream_index, found))
    streams = container.streams
    return {number: float(sum(found) * streams[number].time_base) for number, found in last.items()}


def _check_bounds(found: float) -> float:
    if found <= 0:
        raise EngineError("the file holds nothing that plays", code="undecodable")
    if found > MAX_SECONDS:
        raise EngineError(f"the file must last up to {MAX_SECONDS:,} s", code="too_long")
    return round(found, 3)
