"""Input videos, read as upright 8-bit RGB frames at a constant rate, one at a time.

Frames are selected by their time, not by their number: phones record at a variable rate. Time 0 is
the first frame's; `kit.engines.media.sound` uses the same origin.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import av
import cv2
import numpy as np

from kit.containers import open_media, video_stream
from kit.engines.media import decoding
from kit.engines.media.clip import rgb_frame, views
from kit.engines.media.color import Bytes
from kit.engines.media.hdr import tone_map_for
from kit.engines.media.inspection import check_pixels, probe_video, undecodable
from kit.engines.media.lengths import check_complete, check_priced

#: By quarter turns: OpenCV's axis of the flip, after odd turns are transposed.
_FLIPS = (None, 0, -1, 1)
#: Relative difference of a file's rates from which its rate counts as variable.
_RATE_TOLERANCE = 0.015
#: Frames per second from which frames may be skipped: at lower rates it would be visible.
_SKIP_FPS = 15


class Footage:
    """A video file, probed once and readable any number of times.

    Leaving the ``with`` block closes all open readers; `check` is called for every decoded frame
    and may raise to stop decoding.

    Raises
    ------
    EngineError
        The file has no video (``wrong_type``), is not a video or damaged (``undecodable``), or too
        large (``too_large``).
    """

    width: int  # of the upright picture with square pixels; may be odd
    height: int
    seconds: float  # to the end of the last frame, or of a longer sound: that frame stays
    fps: float  # nominal, 1 to 240; the mean of a variable rate
    fast_fps: float  # frames per second of the fast parts of a variable rate
    has_sound: bool
    plain: bool  # whether its frames can be converted to I420 without RGB

    def __init__(self, path: Path, *, check: Callable[[], None] = lambda: None) -> None:
        self._path = path
        self._check = check
        self._open: list[Any] = []
        try:
            with open_media(path) as container:
                self._probe(container)
        except (av.FFmpegError, StopIteration, IndexError):
            raise undecodable() from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        while self._open:
            self._open.pop().close()

    def frames(
        self,
        fps: float,
        *,
        start: float = 0.0,
        end: float | None = None,
        size: tuple[int, int] | None = None,
        i420: bool = False,
        coarse: bool = False,
        check: Callable[[], None] | None = None,
    ) -> Iterator[Bytes]:
        """Yield the frames shown at ``start``, ``start + 1 / fps`` and so on, before `end`.

        At least one, scaled to `size` (width, height) without keeping the aspect: read-only RGB, or
        `i420` of an even size as for clips, which costs half as much. If `coarse`, frames that are
        not references are skipped: the previous one stays on screen. `check` replaces the video's
        own: a start far from a key frame takes a while.

        Raises
        ------
        EngineError
            The video cannot be decoded up to the end that its header states.
        """
        stop = self.seconds if end is None else min(end, self.seconds)
        count = max(1, round((stop - start) * fps))
        # A frame slightly later than its nominal time counts as on time.
        early = min(0.25 / fps, 0.004)
        tones = tone_map_for(*self._transfer)
        whole = self.width * self.height
        reduced = size is not None and 4 * size[0] * size[1] <= whole
        options = {"reduced": reduced, "coarse": coarse and self.fps >= _SKIP_FPS}
        number, last = 0, None
        for moment, frame in self._timed_frames(start, check or self._check, options):
            while number < count and last is not None and moment > start + number / fps + early:
                last = self._convert(last, size, tones, i420)
                number += 1
                again = i420 and moment > start + number / fps + early
                yield last.copy() if again else last
            if number >= count:
                return
            last = frame
        if last is None:
            raise undecodable()
        last = self._convert(last, size, tones, i420)
        for _ in range(number, count):
            yield last.copy() if i420 else last

    def _probe(self, container: Any) -> None:
        stream, frame, self.seconds = probe_video(container)
        self._origin = float(frame.time or 0.0)
        self._shape = frame.width, frame.height
        matrix, turn = None, round(frame.rotation / 90)
        with contextlib.suppress(ValueError):  # PyAV 18 does not know all kinds of such side data
            matrix = frame.side_data.get("DISPLAYMATRIX")
        a, b, _, c, d = np.frombuffer(matrix, np.int32)[:5].tolist() if matrix else (1, 0, 0, 0, 1)
        self._sideways = turn % 2 == 1
        self._flip = _FLIPS[(turn + (a * d < b * c)) % 4]  # mirrored: one index further
        ratio = float(stream.sample_aspect_ratio or 1) or 1.0
        # The side that is too short is enlarged, so that no detail is lost.
        wide = max(1, round(frame.width * max(1.0, ratio)))
        high = max(1, round(frame.height * max(1.0, 1.0 / ratio)))
        check_pixels(wide * high)
        self.width, self.height = (high, wide) if self._sideways else (wide, high)
        rate = float(stream.average_rate or stream.guessed_rate or 30)
        self.fps = min(max(rate, 1.0), 240.0)
        self.fast_fps = self.fps
        if stream.base_rate and abs(float(stream.base_rate) / rate - 1) > _RATE_TOLERANCE:
            self.fast_fps = decoding.fast_rate(container, stream, _RATE_TOLERANCE) or self.fps
        self.has_sound = bool(container.streams.audio)
        self.plain = decoding.is_plain(frame)
        self._transfer = int(frame.color_trc), int(frame.color_primaries)
        self._stated = float(stream.duration * stream.time_base) if stream.duration else None
        check_priced(self._path, self.seconds)

    def _timed_frames(
        self, start: float, check: Callable[[], None], options: Mapping[str, bool]
    ) -> Iterator[tuple[float, Any]]:
        """Yield frames with their times, starting at the one shown at `start` or earlier."""
        container = open_media(self._path, skip_pictures=True)
        self._open.append(container)
        try:
            stream = video_stream(container)
            if start > 0:
                # A file without an index is read from its beginning.
                with contextlib.suppress(av.FFmpegError):
                    container.seek(int((self._origin + start) * 1_000_000))
            frames = decoding.decode_frames(container, stream, **options)
            for number, (moment, frame) in enumerate(self._decode(frames, check)):
                if number == 0 and moment > start > 0:
                    # The index points past the place: read from the beginning instead.
                    yield from self._timed_frames(0.0, check, options)
                    return
                yield moment, frame
        except av.FFmpegError:
            raise undecodable() from None
        finally:
            container.close()
            if container in self._open:
                self._open.remove(container)

    def _decode(
        self, frames: Iterator[Any], check: Callable[[], None]
    ) -> Iterator[tuple[float, Any]]:
        step = 1 / self.fps
        end, last = 0.0, -1.0
        for frame in decoding.deinterlace(frames):
            check()
            check_pixels(frame.width * frame.height)
            moment = last + step if frame.time is None else frame.time - self._origin
            lasts = float(frame.duration * frame.time_base) if frame.duration else step
            end = max(end, moment + lasts)
            if moment > last:
                last = moment
                yield moment, frame
        if self._stated is not None:
            check_complete(end, self._stated)

    def _convert(
        self,
        frame: Any,
        size: tuple[int, int] | None,
        tones: Callable[[Bytes], Bytes] | None,
        i420: bool,
    ) -> Bytes:
        if isinstance(frame, np.ndarray):
            return frame
        shown = size or (self.width, self.height)
        width, height = shown[::-1] if self._sideways else shown
        whole = decoding.inner_size(frame, width, height, self._shape) == (width, height)
        if i420 and whole and tones is None and decoding.is_plain(frame):
            ready = decoding.to_i420(frame, width, height)
            if not self._sideways and self._flip is None:
                return ready
            out = np.empty((shown[1] * 3 // 2, shown[0]), np.uint8)
            for plane, target in zip(views(ready, width, height), views(out, *shown), strict=True):
                self._turn_upright(plane, target)
            return out
        pixels = decoding.letterbox(frame, width, height, self._shape)
        if tones is not None:
            pixels = tones(pixels)
        pixels = np.ascontiguousarray(self._turn_upright(pixels))
        return rgb_frame(pixels) if i420 else pixels

    def _turn_upright(self, plane: Bytes, out: Bytes | None = None) -> Bytes:
        """Return pixels turned upright, written to `out` if given."""
        plane = np.asarray(cv2.transpose(plane, dst=out)) if self._sideways else plane
        return plane if self._flip is None else np.asarray(cv2.flip(plane, self._flip, dst=out))
