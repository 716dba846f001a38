"""What a decoder gives, brought to what the rest expects: whole RGB frames of one size and shape.

A player does the same without being asked: it takes an untagged large picture for BT.709, weaves
interlaced rows, and shows a picture whole that is of another shape than the one before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import av
import cv2
import numpy as np
from av.video.reformatter import Interpolation

from kit.engines.media.clip import views
from kit.engines.media.color import Bytes
from kit.engines.media.hdr import CURVES
from kit.engines.media.inspection import undecodable
from kit.engines.media.scaling import scaled
from kit.engines.media.sound import run_graph

#: Undecodable packets that are passed over before a file counts as broken.
_FAULTS = 20
#: Packets that are looked at to know how fast a varying rate gets.
_PACKETS = 20_000
#: Numbers of ITU-T H.273: matrix of BT.709, and "not told"; and of FFmpeg for ranges.
_BT709, _UNTOLD = 1, 2
_LIMITED, _FULL = 1, 2
_HD_ROWS = 720
_LESS = 0.8  # of a frame's pixels: a smaller picture is scaled before it is converted
#: Codec -> the decoder that knows of its transparency; the usual one shows what is hidden by it.
_SEE_THROUGH = {"vp8": "libvpx", "vp9": "libvpx-vp9"}


def decoded(container: Any, stream: Any, *, reduced: bool, coarse: bool) -> Iterator[Any]:
    """Yield the frames of a stream, with their transparency if they have any.

    Of frames that are `reduced` to half of their sides or less the edges of blocks stay as they
    are, which takes a seventh of the time and cannot be seen there. Where it may be `coarse`,
    frames that no other one is made from are passed over.
    """
    context = stream.codec_context
    if stream.metadata.get("alpha_mode") == "1" and context.name in _SEE_THROUGH:
        context = av.CodecContext.create(_SEE_THROUGH[context.name], "r")
    context.thread_type, context.thread_count = "AUTO", 2
    if reduced:
        context.options = {**context.options, "skip_loop_filter": "all"}
    if coarse:
        context.options = {**context.options, "skip_frame": "noref"}
    faults = 0
    for packet in container.demux(stream):
        try:
            yield from context.decode(packet)
        except av.InvalidDataError:
            faults += 1
            if faults > _FAULTS:
                raise undecodable() from None


def quick(container: Any, stream: Any, even: float) -> float | None:
    """Return the frames per second of the fast stretches: of the usual step below the mean.

    Steps that are apart by less than `even`, in shares of the mean, are the same.
    """
    container.seek(0)
    times = [p.pts for p in islice(container.demux(stream), _PACKETS) if p.pts is not None]
    steps = np.diff(np.unique(times)) * float(stream.time_base)
    if not len(steps):
        return None
    step = float(np.median(steps[steps <= steps.mean() * (1 + even)]))
    return min(max(1 / step, 1.0), 240.0)


def rgb(frame: Any, width: int, height: int) -> Bytes:
    """Return a decoded frame as RGB of a size, shape (height, width, 3), laid over black."""
    if width * height < _LESS * frame.width * frame.height:
        # In its own planes first: that is a third of the work.
        frame = _scaled(frame, width, height, frame.format.name)
    # Without the flag white comes out gray wherever the fast way of 8-bit frames is not taken.
    way = Interpolation.BICUBIC | Interpolation.FULL_CHR_H_INT
    asked: dict[str, Any] = {"interpolation": way, "dst_color_range": _FULL, **_matrix(frame)}
    if not any(component.is_alpha for component in frame.format.components):
        return np.asarray(frame.reformat(width, height, "rgb24", **asked).to_ndarray())
    pixels = frame.reformat(width, height, "rgba", **asked).to_ndarray()
    # What is hidden may hold anything.
    cover = cv2.cvtColor(np.ascontiguousarray(pixels[:, :, 3]), cv2.COLOR_GRAY2RGB)
    color = np.ascontiguousarray(pixels[:, :, :3])
    return np.asarray(cv2.multiply(color, cover, scale=1 / 255))


def is_plain(frame: Any) -> bool:
    """Tell whether a frame becomes I420 without being RGB on the way."""
    kind = frame.format.name
    return kind in ("yuv420p", "yuvj420p", "nv12") and frame.color_trc not in CURVES


def planes(frame: Any, width: int, height: int) -> Bytes:
    """Return a plain frame as I420 of an even size, as clips have them."""
    usual = _matrix(frame) or (frame.colorspace, frame.color_range) == (_BT709, _LIMITED)
    # Asked for what it has, FFmpeg takes twice the time.
    asked = {} if usual else {"dst_colorspace": _BT709, "dst_color_range": _LIMITED}
    # OpenCV takes means of two by two in a quarter of FFmpeg's time.
    halved = 2 * width <= frame.width and 2 * height <= frame.height and not asked
    ready = halved and frame.format.name != "nv12"
    small = frame if ready else _scaled(frame, width, height, "yuv420p", **asked)
    out = np.empty((height * 3 // 2, width), np.uint8)
    for plane, part in zip(small.planes, views(out, width, height), strict=True):
        rows = np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)
        part[:] = scaled(rows[: plane.height, : plane.width], *part.shape[::-1])
    return out


def _scaled(frame: Any, width: int, height: int, kind: str, **asked: Any) -> Any:
    smaller = width * height < frame.width * frame.height
    way = Interpolation.AREA if smaller else Interpolation.BICUBIC
    return frame.reformat(width, height, kind, interpolation=way, **asked)


def _matrix(frame: Any) -> dict[str, Any]:
    untold = frame.colorspace == _UNTOLD and frame.color_trc not in CURVES
    # An untagged large picture is taken for BT.709, as players take it.
    return {"src_colorspace": _BT709} if untold and frame.height >= _HD_ROWS else {}


def boxed(frame: Any, width: int, height: int, shape: tuple[int, int]) -> Bytes:
    """Return a frame as `rgb` does; one of another shape than the rest whole, with black around it.

    A recording of a window changes its shape when somebody drags the window's corner. `shape` is
    the width and height of the frames for which the size was meant, in their own pixels.
    """
    inner = inner_size(frame, width, height, shape)
    if inner == (width, height):
        return rgb(frame, width, height)
    pixels = np.zeros((height, width, 3), np.uint8)
    left, top = (width - inner[0]) // 2, (height - inner[1]) // 2
    pixels[top : top + inner[1], left : left + inner[0]] = rgb(frame, *inner)
    return pixels


def inner_size(frame: Any, width: int, height: int, shape: tuple[int, int]) -> tuple[int, int]:
    """Return the size of a whole frame within one of `shape` that is shown in a size."""
    wider = frame.width * shape[1] / (frame.height * shape[0])
    return max(1, round(width * min(1.0, wider))), max(1, round(height / max(1.0, wider)))


def woven(frames: Iterable[Any]) -> Iterator[Any]:
    """Yield decoded frames, those that are marked as interlaced made whole, one for one.

    A recording may change from one kind to the other, and its size with it, in its middle.
    """
    graph, kind = None, None
    for frame in frames:
        if graph is None and not frame.interlaced_frame:
            yield frame
            continue
        now = (frame.width, frame.height, frame.format.name)
        if graph is None or now != kind:
            yield from () if graph is None else run_graph(graph, None)
            graph, kind = av.filter.Graph(), now
            size = {"width": frame.width, "height": frame.height}
            source = graph.add_buffer(**size, format=now[2], time_base=frame.time_base)
            weaver = graph.add("bwdif", "mode=send_frame:deint=interlaced")
            graph.link_nodes(source, weaver, graph.add("buffersink")).configure()
        yield from run_graph(graph, frame)
    yield from () if graph is None else run_graph(graph, None)
