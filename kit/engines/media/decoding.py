"""Decoded frames, converted to the standard form: whole RGB frames of one size and shape.

As video players do, it treats untagged large pictures as BT.709, deinterlaces by weaving, and
letterboxes pictures of another aspect than the first.
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
from kit.engines.media.scaling import resize
from kit.engines.media.sound import run_graph

#: Undecodable packets that are skipped before a file counts as broken.
_MAX_FAULTS = 20
#: Packets that are read to find the highest rate of a file with a variable frame rate.
_MAX_PACKETS = 20_000
#: Numbers of ITU-T H.273: matrix of BT.709, and "unspecified"; and of FFmpeg for ranges.
_BT709, _UNSPECIFIED = 1, 2
_LIMITED, _FULL = 1, 2
_HD_ROWS = 720
_PRESCALED_SHARE = 0.8  # of a frame's pixels: a smaller output is scaled before it is converted
#: Codec -> the decoder that supports its alpha; the default one shows hidden pixels.
_ALPHA_DECODERS = {"vp8": "libvpx", "vp9": "libvpx-vp9"}


def decode_frames(container: Any, stream: Any, *, reduced: bool, coarse: bool) -> Iterator[Any]:
    """Yield the frames of a stream, with alpha if they have it.

    If frames are `reduced` to half their sides or less, the deblocking filter is off, which takes
    a seventh of the time and is invisible at that size. If `coarse`, frames that are not
    references are skipped.
    """
    context = stream.codec_context
    if stream.metadata.get("alpha_mode") == "1" and context.name in _ALPHA_DECODERS:
        context = av.CodecContext.create(_ALPHA_DECODERS[context.name], "r")
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
            if faults > _MAX_FAULTS:
                raise undecodable() from None


def fast_rate(container: Any, stream: Any, even: float) -> float | None:
    """Return the frame rate of the fast parts: of the median step below the mean.

    Steps that differ by less than `even`, as a share of the mean, count as equal.
    """
    container.seek(0)
    times = [p.pts for p in islice(container.demux(stream), _MAX_PACKETS) if p.pts is not None]
    steps = np.diff(np.unique(times)) * float(stream.time_base)
    if not len(steps):
        return None
    step = float(np.median(steps[steps <= steps.mean() * (1 + even)]))
    return min(max(1 / step, 1.0), 240.0)


def rgb(frame: Any, width: int, height: int) -> Bytes:
    """Return a decoded frame as RGB of a size, shape (height, width, 3), composited over black."""
    if width * height < _PRESCALED_SHARE * frame.width * frame.height:
        # Scale in the frame's own planes first: a third of the work.
        frame = _rescale(frame, width, height, frame.format.name)
    # Without the flag white becomes gray on all but the fast path of 8-bit frames.
    flags = Interpolation.BICUBIC | Interpolation.FULL_CHR_H_INT
    options: dict[str, Any] = {"interpolation": flags, "dst_color_range": _FULL, **_matrix(frame)}
    if not any(component.is_alpha for component in frame.format.components):
        return np.asarray(frame.reformat(width, height, "rgb24", **options).to_ndarray())
    pixels = frame.reformat(width, height, "rgba", **options).to_ndarray()
    # Fully transparent pixels may have any color.
    cover = cv2.cvtColor(np.ascontiguousarray(pixels[:, :, 3]), cv2.COLOR_GRAY2RGB)
    color = np.ascontiguousarray(pixels[:, :, :3])
    return np.asarray(cv2.multiply(color, cover, scale=1 / 255))


def is_plain(frame: Any) -> bool:
    """Return whether a frame can be converted to I420 without RGB."""
    kind = frame.format.name
    return kind in ("yuv420p", "yuvj420p", "nv12") and frame.color_trc not in CURVES


def to_i420(frame: Any, width: int, height: int) -> Bytes:
    """Return a plain frame as I420 of an even size, the format of clips."""
    usual = _matrix(frame) or (frame.colorspace, frame.color_range) == (_BT709, _LIMITED)
    # An explicit color space costs FFmpeg twice the time, even where it is the same.
    asked = {} if usual else {"dst_colorspace": _BT709, "dst_color_range": _LIMITED}
    # OpenCV averages 2x2 pixels in a quarter of FFmpeg's time.
    halved = 2 * width <= frame.width and 2 * height <= frame.height and not asked
    ready = halved and frame.format.name != "nv12"
    small = frame if ready else _rescale(frame, width, height, "yuv420p", **asked)
    out = np.empty((height * 3 // 2, width), np.uint8)
    for plane, part in zip(small.planes, views(out, width, height), strict=True):
        rows = np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)
        part[:] = resize(rows[: plane.height, : plane.width], *part.shape[::-1])
    return out


def _rescale(frame: Any, width: int, height: int, kind: str, **asked: Any) -> Any:
    smaller = width * height < frame.width * frame.height
    way = Interpolation.AREA if smaller else Interpolation.BICUBIC
    return frame.reformat(width, height, kind, interpolation=way, **asked)


def _matrix(frame: Any) -> dict[str, Any]:
    untagged = frame.colorspace == _UNSPECIFIED and frame.color_trc not in CURVES
    # Untagged large pictures are treated as BT.709, as in players.
    return {"src_colorspace": _BT709} if untagged and frame.height >= _HD_ROWS else {}


def letterbox(frame: Any, width: int, height: int, shape: tuple[int, int]) -> Bytes:
    """Return a frame like `rgb`; if its aspect differs from the others, letterboxed in black.

    A recording of a window changes its shape when the user resizes the window. `shape` is the
    width and height that the size was computed for, in the frame's own pixels.
    """
    inner = inner_size(frame, width, height, shape)
    if inner == (width, height):
        return rgb(frame, width, height)
    pixels = np.zeros((height, width, 3), np.uint8)
    left, top = (width - inner[0]) // 2, (height - inner[1]) // 2
    pixels[top : top + inner[1], left : left + inner[0]] = rgb(frame, *inner)
    return pixels


def inner_size(frame: Any, width: int, height: int, shape: tuple[int, int]) -> tuple[int, int]:
    """Return the size of a letterboxed frame in an output that was computed for `shape`."""
    wider = frame.width * shape[1] / (frame.height * shape[0])
    return max(1, round(width * min(1.0, wider))), max(1, round(height / max(1.0, wider)))


def deinterlace(frames: Iterable[Any]) -> Iterator[Any]:
    """Yield decoded frames, deinterlaced if marked as interlaced, one for one.

    A recording may switch between both kinds, and change its size too.
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
