"""Video clips: frames stream into an MP4 or WebM file while the next ones are drawn.

The encoder runs in its own thread behind a short queue, so a clip of any length needs the memory
of a few frames. Leaving the ``with`` block, also by an error, ends that thread and closes the file;
without an error this takes a moment, as encoders hold dozens of frames back.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, Self, TypeAlias

import av
import cv2
import numpy as np

from kit.engines.media.color import RGB, YUV, Bytes
from kit.engines.media.encoding import FORMATS, SoundTrack, container_at, picture_stream
from kit.engines.media.sound import Sound
from kit.errors import EngineError

__all__ = ["CONTENT_TYPE", "FORMATS", "Clip", "Frame", "rgb_frame", "rgb_of", "views"]

#: Luma at full size, both chroma planes at half size; views into one I420 frame.
Frame: TypeAlias = tuple[Bytes, Bytes, Bytes]
CONTENT_TYPE = "video/mp4"
_QUEUE_FRAMES = 8
#: Seconds between calls of `check` while waiting for the encoder.
_CHECK_SECONDS = 0.2


class Clip:
    """A video file being written, ``.mp4`` or ``.webm``, of an even width and height in pixels.

    `quality` is a rate factor: a smaller one gives better quality and a larger file; 20 looks like
    the source with every codec of `kit.engines.media.encoding.CODECS`. The sound starts at the
    first frame and is cut at the end of the last one. `check` is called several times a second
    while waiting for the encoder; it may raise to abort.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "black.mp4")
    ...     with Clip(path, 64, 48, fps=24) as clip:
    ...         clip.add(rgb_frame(np.zeros((48, 64, 3), np.uint8)))
    ...     path.stat().st_size > 0
    True
    """

    def __init__(
        self,
        path: Path,
        width: int,
        height: int,
        *,
        fps: int | Fraction,
        quality: int = 20,
        codec: str = "h264",
        sound: Sound | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        if width % 2 or height % 2:
            raise EngineError(f"a clip needs even sizes, not {width} x {height}")
        self.frames = 0
        self._shape = (height * 3 // 2, width)
        self._container = container_at(path)
        self._stream = picture_stream(self._container, codec, (width, height), fps, quality)
        self._track = SoundTrack(self._container, path.suffix, sound) if sound else None
        self._rate = Fraction(fps)
        self._check = check
        self._queue: queue.Queue[Bytes | None] = queue.Queue(_QUEUE_FRAMES)
        self._stopped = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="clip-encoder", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._abort()
            return
        try:
            self._enqueue(None)
            while self._thread.is_alive():
                self._check()
                self._thread.join(_CHECK_SECONDS)
        except BaseException:
            self._abort()
            raise
        self._raise_error()

    def add(self, frame: Bytes) -> None:
        """Queue the next frame; waits while the encoder is more than a few frames behind.

        It is I420, shape (height * 3 / 2, width), contiguous, and must not be changed afterwards.
        """
        if frame.shape != self._shape:
            raise EngineError(f"a frame of shape {frame.shape} does not fit {self._shape}")
        self._raise_error()
        self._enqueue(frame)
        self.frames += 1

    def _enqueue(self, frame: Bytes | None) -> None:
        while True:
            try:
                self._queue.put(frame, timeout=_CHECK_SECONDS)
                return
            except queue.Full:
                self._check()

    def _abort(self) -> None:
        self._stopped.set()
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        frames = self._queued_frames()
        try:
            self._encode_all(frames)
        except Exception as error:  # noqa: BLE001 - re-raised in the drawing thread
            self._error = error
            # Callers that wait in `add` must not wait for ever.
            for _ in frames:
                pass
        try:
            self._container.close()
        except av.FFmpegError as error:
            # A clip aborted before its first frame has no header, and closing it may raise.
            if not self._stopped.is_set():
                self._error = self._error or error

    def _queued_frames(self) -> Iterator[Bytes]:
        while (frame := self._queue.get()) is not None:
            yield frame

    def _encode_all(self, frames: Iterator[Bytes]) -> None:
        for number, frame in enumerate(frames):
            if not self._stopped.is_set():
                self._encode(frame, number)
        if self._stopped.is_set():
            return
        for packet in self._stream.codec_context.encode_lazy(None):
            if self._stopped.is_set():
                return
            packet.stream = self._stream
            self._container.mux(packet)
        if self._track is not None:
            self._track.finish()

    def _encode(self, frame: Bytes, number: int) -> None:
        picture = _av_frame(frame)
        picture.pts = number
        picture.time_base = 1 / self._rate
        for packet in self._stream.encode(picture):
            self._container.mux(packet)
        if self._track is not None:
            self._track.encode_until((number + 1) / float(self._rate))

    def _raise_error(self) -> None:
        if self._error is not None:
            raise EngineError(f"the clip could not be encoded: {self._error}") from self._error


def rgb_frame(pixels: Bytes) -> Bytes:
    """Return an RGB picture of even size, shape (height, width, 3), as an I420 frame."""
    height, width = pixels.shape[:2]
    out = np.empty((height * 3 // 2, width), np.uint8)
    luma, *chromas = views(out, width, height)
    # All three planes at once: half the work of one by one.
    whole = cv2.transform(pixels, YUV)
    cv2.extractChannel(whole, 0, luma)
    half = cv2.resize(whole, (width // 2, height // 2), interpolation=cv2.INTER_AREA)
    for number, chroma in enumerate(chromas, start=1):
        cv2.extractChannel(half, number, chroma)
    return out


def rgb_of(frame: Bytes) -> Bytes:
    """Return an I420 frame as an RGB picture."""
    rows, width = frame.shape
    luma, *chromas = views(frame, width, rows * 2 // 3)
    size = luma.shape[::-1]
    planes = (luma, *(cv2.resize(c, size, interpolation=cv2.INTER_LINEAR) for c in chromas))
    return np.asarray(cv2.transform(cv2.merge(planes), RGB))


def _av_frame(frame: Bytes) -> Any:
    """Return an I420 frame as a PyAV frame, plane by plane.

    PyAV's own conversions get heights that are not multiples of 4 wrong, and the layout of chroma
    rows.
    """
    if frame.dtype != np.uint8:
        raise TypeError(f"frames are uint8, not {frame.dtype}")
    rows, width = frame.shape
    height = rows * 2 // 3
    flat, start = frame.reshape(-1), 0
    picture = av.VideoFrame(width, height, "yuv420p")
    for plane in picture.planes:
        count = plane.width * plane.height
        target = np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)
        target[: plane.height, : plane.width] = flat[start : start + count].reshape(
            plane.height, plane.width
        )
        start += count
    return picture


def views(frame: Bytes, width: int, height: int) -> Frame:
    """Return the three planes of an I420 frame, as views into it."""
    flat = frame.reshape(-1)
    size, half = width * height, (height // 2, width // 2)
    quarter = size // 4
    return (
        flat[:size].reshape(height, width),
        flat[size : size + quarter].reshape(half),
        flat[size + quarter : size + 2 * quarter].reshape(half),
    )
