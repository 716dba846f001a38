"""Videos that come in: upright 8-bit RGB frames at a constant rate, one at a time.

Frames are taken by their time, not by their number: phones film at a varying rate. Time 0 is the
first frame's, and `kit.engines.media.sound` counts from it too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import av
import cv2
import numpy as np

from kit.engines.media.color import Bytes
from kit.engines.media.hdr import CURVES, Tones
from kit.engines.media.inspection import SECONDS, bounded, container_of, length, undecodable
from kit.errors import EngineError

#: Undecodable packets that are passed over before a file counts as broken.
_FAULTS = 20
#: Seconds, or a twentieth of the whole if that is more, by which the last frame may come before
#: the end that the header tells.
_MISSING = 1.0
#: Seconds by which sound may outlast the pictures before the last picture is held to its end.
_HELD = 0.5
#: Packets that are looked at to know how fast a varying rate gets.
_PACKETS = 20_000
_TURNS = {90: cv2.ROTATE_90_COUNTERCLOCKWISE, 180: cv2.ROTATE_180, 270: cv2.ROTATE_90_CLOCKWISE}
#: Numbers of ITU-T H.273: matrix of BT.709, and "not told".
_BT709, _UNTOLD = 1, 2
_HD_ROWS = 720
#: How far the rates of a file may be apart before it counts as varying.
_EVEN = 0.015


class Footage:
    """A video file, looked at once and read as often as wanted.

    Leaving the ``with`` block closes whatever is still being read.

    Parameters
    ----------
    path : Path
        MP4, QuickTime, Matroska or WebM.
    check : callable
        Called for every decoded frame; it may raise to stop the reading.

    Attributes
    ----------
    width, height : int
        Of the upright picture with square pixels; they may be odd.
    seconds : float
        From the first frame to the end of the last one, or to the end of a longer sound: the last
        picture stays on show.
    fps : float
        Nominal frames per second, 1 to 240; a varying rate's mean.
    quick : float
        Frames per second where a varying rate is fast; `fps` of a constant rate.
    has_sound : bool
        Whether there is a sound track.

    Raises
    ------
    EngineError
        The file holds no video (``wrong_type``), cannot be decoded (``undecodable``), or is too
        large or too long (``too_large``, ``too_long``).
    """

    def __init__(self, path: Path, *, check: Callable[[], None] = lambda: None) -> None:
        self._path = path
        self._check = check
        self._open: list[Any] = []
        try:
            with container_of(path) as container:
                self._look(container)
        except (av.FFmpegError, StopIteration, IndexError):
            raise undecodable() from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        while self._open:
            self._open.pop().close()

    def frames(
        self,
        fps: float,
        *,
        start: float = 0.0,
        end: float | None = None,
        size: tuple[int, int] | None = None,
    ) -> Iterator[Bytes]:
        """Yield the pictures on show at ``start``, ``start + 1 / fps`` and so on, before `end`.

        A picture may be yielded more than once where the video has fewer of them; it must not be
        written to.

        Parameters
        ----------
        fps : float
            Frames per second of the answer.
        start, end : float
            Seconds; an end past the video's is the video's.
        size : (width, height), optional
            Scale to this size; its shape is not kept.

        Yields
        ------
        ndarray of uint8
            Shape (height, width, 3), RGB, contiguous; at least one.

        Raises
        ------
        EngineError
            The video cannot be decoded up to the end that its header tells.
        """
        stop = self.seconds if end is None else min(end, self.seconds)
        count = max(1, round((stop - start) * fps))
        # A frame that comes a hair after its moment is the one that was meant.
        early = min(0.25 / fps, 0.004)
        tones = Tones.of(self._curve)
        number, shown = 0, None
        for moment, frame in self._timed(start):
            while number < count and shown is not None and moment > start + number / fps + early:
                shown = self._pixels(shown, size, tones)
                yield shown
                number += 1
            if number >= count:
                return
            shown = frame
        if shown is None:
            raise undecodable()
        shown = self._pixels(shown, size, tones)
        for _ in range(number, count):
            yield shown

    def _look(self, container: Any) -> None:
        stream = _stream(container)
        bounded(stream.width * stream.height)
        frame = next(container.decode(stream))
        bounded(frame.width * frame.height)
        self._origin = float(frame.time or 0.0)
        self._turn = round(frame.rotation / 90) * 90 % 360
        ratio = float(stream.sample_aspect_ratio or 1) or 1.0
        # The side that is too short grows, so that nothing is lost.
        wide = max(1, round(frame.width * max(1.0, ratio)))
        high = max(1, round(frame.height * max(1.0, 1.0 / ratio)))
        bounded(wide * high)
        self.width, self.height = (high, wide) if self._turn in (90, 270) else (wide, high)
        self._told = float(stream.duration * stream.time_base) if stream.duration else None
        self.seconds = self._told or max(0.001, length(container) - self._origin)
        whole = ((container.start_time or 0) + (container.duration or 0)) / 1e6 - self._origin
        if container.streams.audio and whole > self.seconds + _HELD:
            self.seconds = min(whole, float(SECONDS))
        rate = float(stream.average_rate or stream.guessed_rate or 30)
        self.fps = min(max(rate, 1.0), 240.0)
        self.quick = self.fps
        if stream.base_rate and abs(float(stream.base_rate) / rate - 1) > _EVEN:
            self.quick = _quick(container, stream) or self.fps
        self.has_sound = bool(container.streams.audio)
        self._curve = int(frame.color_trc)

    def _timed(self, start: float) -> Iterator[tuple[float, Any]]:
        """Yield frames with their times from the one on show at `start`, or an earlier one, on."""
        container = container_of(self._path)
        self._open.append(container)
        try:
            stream = _stream(container)
            if start > 0:
                # A file without an index is read from its beginning.
                with contextlib.suppress(av.FFmpegError):
                    container.seek(int((self._origin + start) * 1_000_000))
            for number, (moment, frame) in enumerate(self._decoded(container, stream)):
                if number == 0 and moment > start > 0:
                    # The index leads past the place: read from the beginning instead.
                    yield from self._timed(0.0)
                    return
                yield moment, frame
        except av.FFmpegError:
            raise undecodable() from None
        finally:
            container.close()
            if container in self._open:
                self._open.remove(container)

    def _decoded(self, container: Any, stream: Any) -> Iterator[tuple[float, Any]]:
        stream.thread_type = "AUTO"
        stream.codec_context.thread_count = 2
        end, last, faults = 0.0, -1.0, 0
        for packet in container.demux(stream):
            try:
                frames = packet.decode()
            except av.InvalidDataError:
                faults += 1
                if faults > _FAULTS:
                    raise undecodable() from None
                continue
            for frame in frames:
                self._check()
                bounded(frame.width * frame.height)
                step = 1 / self.fps
                moment = last + step if frame.time is None else frame.time - self._origin
                lasts = float(frame.duration * frame.time_base) if frame.duration else step
                end = max(end, moment + lasts)
                if moment > last:
                    last = moment
                    yield moment, frame
        if self._told is not None and end < self._told - max(_MISSING, 0.05 * self._told):
            sentence = f"the video ends after {end:.1f} of {self._told:.1f} s: it is incomplete"
            raise EngineError(sentence, code="undecodable")

    def _pixels(self, frame: Any, size: tuple[int, int] | None, tones: Tones | None) -> Bytes:
        if isinstance(frame, np.ndarray):
            return frame
        width, height = size or (self.width, self.height)
        if self._turn in (90, 270):
            width, height = height, width
        pixels = _rgb(frame, width, height)
        if tones is not None:
            pixels = tones.applied(pixels)
        if self._turn:
            pixels = np.asarray(cv2.rotate(pixels, _TURNS[self._turn]))
        return np.ascontiguousarray(pixels)


def _quick(container: Any, stream: Any) -> float | None:
    """Return the frames per second of the fast stretches: of the usual step below the mean."""
    container.seek(0)
    times = [p.pts for p in islice(container.demux(stream), _PACKETS) if p.pts is not None]
    steps = np.diff(np.unique(times)) * float(stream.time_base)
    if not len(steps):
        return None
    step = float(np.median(steps[steps <= steps.mean() * (1 + _EVEN)]))
    return min(max(1 / step, 1.0), 240.0)


def _stream(container: Any) -> Any:
    """Return the stream that a player would show; the cover picture of a song is none."""
    moving = [s for s in container.streams.video if "attached_pic" not in str(s.disposition)]
    if not moving:
        raise EngineError("the file holds no video", code="wrong_type")
    best = container.streams.best("video")
    return best if best in moving else moving[0]


def _rgb(frame: Any, width: int, height: int) -> Bytes:
    smaller = width * height < frame.width * frame.height
    asked: dict[str, Any] = {
        "width": width,
        "height": height,
        "interpolation": "AREA" if smaller else "BICUBIC",
        "dst_color_range": 2,
    }
    if frame.colorspace == _UNTOLD and frame.height >= _HD_ROWS and frame.color_trc not in CURVES:
        asked["src_colorspace"] = _BT709  # as players take it
    if not any(component.is_alpha for component in frame.format.components):
        return np.asarray(frame.reformat(format="rgb24", **asked).to_ndarray())
    pixels = frame.reformat(format="rgba", **asked).to_ndarray()
    # What is hidden may hold anything: lay it over black.
    cover = cv2.cvtColor(np.ascontiguousarray(pixels[:, :, 3]), cv2.COLOR_GRAY2RGB)
    color = np.ascontiguousarray(pixels[:, :, :3])
    return np.asarray(cv2.multiply(color, cover, scale=1 / 255))
