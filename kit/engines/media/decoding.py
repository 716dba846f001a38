"""What a decoder gives, brought to what the rest expects: the right stream, whole frames, RGB.

A player does the same without being asked: it leaves out the cover of a song, weaves the two halves
of an interlaced frame and takes an untagged large picture for BT.709.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from av.stream import Disposition
from av.video.reformatter import Interpolation

from kit.engines.media.color import Bytes
from kit.engines.media.hdr import CURVES
from kit.engines.media.inspection import MAGIC, undecodable
from kit.errors import EngineError

#: Packets that are looked at to know how fast a varying rate gets.
_PACKETS = 20_000
#: Numbers of ITU-T H.273: matrix of BT.709, and "not told".
_BT709, _UNTOLD = 1, 2
_HD_ROWS = 720
#: Codec -> the decoder that knows of its transparency; the usual one shows what is hidden by it.
_SEE_THROUGH = {"vp8": "libvpx", "vp9": "libvpx-vp9"}
#: Kind of file -> what can be read of it.
_READ = {
    "video": "a video in MP4, QuickTime or WebM",
    "audio": "sound in MP3, WAV, M4A, AAC, Ogg or FLAC",
}


def moving(container: Any) -> list[Any]:
    """Return the streams of pictures that move; the cover of a song is none."""
    return [s for s in container.streams.video if not s.disposition & Disposition.attached_pic]


def shown(container: Any) -> Any:
    """Return the stream that a player would show.

    Raises
    ------
    EngineError
        There is none, with code ``wrong_type``.
    """
    streams = moving(container)
    if not streams:
        raise EngineError("the file holds no video", code="wrong_type")
    best = container.streams.best("video")
    return best if best in streams else streams[0]


def decoder(stream: Any) -> Callable[[Any], Iterable[Any]]:
    """Return what makes frames of a stream's packets, with their transparency if they have any."""
    context = stream.codec_context
    if stream.metadata.get("alpha_mode") == "1" and context.name in _SEE_THROUGH:
        context = av.CodecContext.create(_SEE_THROUGH[context.name], "r")
    context.thread_type = "AUTO"
    context.thread_count = 2
    frames: Callable[[Any], Iterable[Any]] = context.decode
    return frames


def unreadable(path: Path, kind: str) -> EngineError:
    """Return what a file is told that could not be opened or decoded.

    Parameters
    ----------
    kind : str
        ``"video"`` or ``"audio"``: what it was taken for; sound may also be in a video.
    """
    with path.open("rb") as file:
        head = file.read(32)
    kinds = ("video/",) if kind == "video" else ("video/", "audio/")
    marks = [mark for name in MAGIC if name.startswith(kinds) for mark in MAGIC[name]]
    if any(head[at : at + len(mark)] == mark for at, mark in marks):
        return undecodable()
    return EngineError(f"the file is not {_READ[kind]}", code="wrong_type")


def quick(container: Any, stream: Any, even: float) -> float | None:
    """Return the frames per second of the fast stretches: of the usual step below the mean.

    Parameters
    ----------
    even : float
        How far steps may be apart, in shares of the mean, and still be the same.
    """
    container.seek(0)
    times = [p.pts for p in islice(container.demux(stream), _PACKETS) if p.pts is not None]
    steps = np.diff(np.unique(times)) * float(stream.time_base)
    if not len(steps):
        return None
    step = float(np.median(steps[steps <= steps.mean() * (1 + even)]))
    return min(max(1 / step, 1.0), 240.0)


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


class Weaver:
    """Interlaced frames made whole, one for one.

    Parameters
    ----------
    stream : av.VideoStream
        What the frames are decoded from.
    """

    def __init__(self, stream: Any) -> None:
        self._graph = av.filter.Graph()
        weave = self._graph.add("bwdif", "mode=send_frame:deint=interlaced")
        ends = self._graph.add_buffer(template=stream), weave, self._graph.add("buffersink")
        self._graph.link_nodes(*ends).configure()

    def woven(self, frames: Iterable[Any]) -> Iterator[Any]:
        """Yield the frames that are whole by now; one of them waits for the frame after it."""
        for frame in frames:
            self._graph.push(frame)
            yield from self._ready()

    def rest(self) -> Iterator[Any]:
        """Yield what still waits."""
        self._graph.push(None)
        yield from self._ready()

    def _ready(self) -> Iterator[Any]:
        with contextlib.suppress(av.BlockingIOError, av.EOFError):
            while True:
                yield self._graph.pull()


def rgb(frame: Any, width: int, height: int) -> Bytes:
    """Return a decoded frame as RGB of a size, shape (height, width, 3), laid over black."""
    smaller = width * height < frame.width * frame.height
    way = Interpolation.AREA if smaller else Interpolation.BICUBIC
    asked: dict[str, Any] = {
        "width": width,
        "height": height,
        # Without it white comes out gray wherever the fast way of 8-bit frames is not taken.
        "interpolation": way | Interpolation.FULL_CHR_H_INT,
        "dst_color_range": 2,
    }
    if frame.colorspace == _UNTOLD and frame.height >= _HD_ROWS and frame.color_trc not in CURVES:
        asked["src_colorspace"] = _BT709  # as players take it
    if not any(component.is_alpha for component in frame.format.components):
        return np.asarray(frame.reformat(format="rgb24", **asked).to_ndarray())
    pixels = frame.reformat(format="rgba", **asked).to_ndarray()
    # What is hidden may hold anything.
    cover = cv2.cvtColor(np.ascontiguousarray(pixels[:, :, 3]), cv2.COLOR_GRAY2RGB)
    color = np.ascontiguousarray(pixels[:, :, :3])
    return np.asarray(cv2.multiply(color, cover, scale=1 / 255))
