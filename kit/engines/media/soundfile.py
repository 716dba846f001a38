"""Sound files and sound tracks of videos, decoded into samples at one rate.

Time 0 of a video's sound is its first frame, so that what is cut at the same second stays together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import av
import numpy as np

from kit.containers import heard_stream, moving_streams, open_media
from kit.engines.media.color import Floats
from kit.engines.media.decoding import unreadable
from kit.engines.media.lengths import check_priced
from kit.engines.media.tracks import RATE, Sound, gathered
from kit.errors import EngineError

#: Seconds of one file that are taken at most.
MOST = 1800.0
_LAYOUTS = {1: "mono", 2: "stereo"}
#: Seconds that the file's clock and its samples may differ before silence fills the gap, or what
#: is too much is left out.
_GAP = 0.1
#: Seconds by which a clock that goes back has begun anew; it is set right once in so many, as one
#: that stands still would leave nothing to hear.
_BACK = 1.0
#: Samples over which what comes after a part that is left out comes in.
_SEAM = 480

Check = Callable[[], None]


def opened(
    path: Path,
    *,
    seconds: float | None = None,
    channels: int = 2,
    folder: Path | None = None,
    check: Check = lambda: None,
) -> Sound:
    """Return the sound of a sound file or of a video's sound track.

    Parameters
    ----------
    seconds : float, optional
        Stop after so many; without it a file of more than `MOST` is refused.
    channels : int
        1 or 2; other numbers of channels are mixed to it.
    folder : Path, optional
        Where the samples are kept on the disk as long as the sound is; without it they are held in
        memory, 23 MB for each minute of stereo.
    check : callable
        Called many times a second while it works; it may raise to stop it.

    Raises
    ------
    EngineError
        There is no sound in it (``no_sound``), it is broken (``undecodable``) or too long.
    """
    most = round((MOST if seconds is None else min(seconds, MOST)) * RATE)
    try:
        with open_media(path) as container:
            parts = _bounded(_parts(container, channels), most, check, whole=seconds is None)
            sound = gathered(_within_price(parts, path), channels, folder)
    except (av.FFmpegError, IndexError):
        raise unreadable(path, "audio") from None
    if not sound.count:
        raise EngineError("the recording is empty", code="undecodable")
    return sound


def _bounded(parts: Iterator[Floats], most: int, check: Check, *, whole: bool) -> Iterator[Floats]:
    """Yield parts up to a number of samples; refuse a `whole` that has more of them."""
    held = 0
    for part in parts:
        check()
        yield part[:, : most - held]
        held += part.shape[1]
        if held > most:
            break
    if held > most and whole:
        raise EngineError(f"the sound must last up to {MOST:,.0f} s", code="too_long")


def _within_price(parts: Iterator[Floats], path: Path) -> Iterator[Floats]:
    """Yield parts as long as they are within what a file's price is for."""
    held = 0
    for part in parts:
        held += part.shape[1]
        check_priced(path, held / RATE)
        yield part


def _parts(container: Any, channels: int) -> Iterator[Floats]:
    """Yield a file's sound in pieces of shape (channels, n), from time 0 on."""
    stream = heard_stream(container)
    mixer, shears = _Mixer(channels), _Shears()
    clock = _Clock(_origin(container, stream))
    for frame in _frames(container, stream):
        late = round(clock.off(frame) * RATE)
        yield from _silence(late, channels)
        shears.leave_out(-late)
        yield from map(shears.cut, mixer.mixed(frame))
    yield from map(shears.cut, mixer.rest())


class _Shears:
    """Samples of which some are left out, without a click: what would have gone on fades away."""

    def __init__(self) -> None:
        self._skip = 0
        self._heard = False
        self._old: Floats | None = None
        self._at = 0

    def leave_out(self, count: int) -> None:
        """Leave out so many of the samples that come next; none for less than 1."""
        if count > 0:
            self._skip += count
            self._old, self._at = None, 0

    def cut(self, samples: Floats) -> Floats:
        """Return what is left of the next samples, shape (channels, n)."""
        out, kept = samples[:, : self._skip], samples[:, self._skip :]
        self._skip -= out.shape[1]
        # Before the first sound that is heard there is nothing that could go on.
        if self._heard and out.shape[1]:
            held = [out] if self._old is None else [self._old, out]
            self._old = np.concatenate(held, axis=1)[:, :_SEAM]
        if self._old is not None:
            kept = self._blended(kept, self._old)
        self._heard = self._heard or kept.shape[1] > 0
        return kept

    def _blended(self, kept: Floats, old: Floats) -> Floats:
        steps = min(old.shape[1] - self._at, kept.shape[1])
        up = (np.arange(steps, dtype=np.float32) + self._at + 1) / (old.shape[1] + 1)
        gone = old[:, self._at : self._at + steps] * (1 - up)
        self._at += steps
        return np.concatenate([gone + kept[:, :steps] * up, kept[:, steps:]], axis=1)


class _Clock:
    """What the times of frames say against the samples that have come so far.

    Recorders do not count as exactly as they sample: over minutes the two drift apart.
    """

    def __init__(self, origin: float) -> None:
        self._origin = origin
        self._position = 0.0
        self._set: float | None = None

    def off(self, frame: Any) -> float:
        """Return by how many seconds a frame is to wait, less than 0 to be cut; 0 for a trifle.

        Sound that begins before the picture is cut off, one that begins later waits.
        """
        moment = self._position if frame.time is None else frame.time - self._origin
        late = moment - self._position
        if self._matters(late, moment):
            self._position = self._set = moment
        else:
            late = 0.0
        self._position += frame.samples / frame.sample_rate
        return late

    def _matters(self, late: float, moment: float) -> bool:
        if self._set is None or late > _GAP:
            return True
        return -_BACK < late < -_GAP and moment - self._set > _BACK


class _Mixer:
    """Frames of any kind as samples at one rate, in so many channels.

    The kind may change on the way: a broadcast has a film in six channels and its news in two.
    """

    def __init__(self, channels: int) -> None:
        self._channels = channels
        self._kind: tuple[str, str, int] | None = None
        self._resampler: Any = None

    def mixed(self, frame: Any) -> Iterator[Floats]:
        """Yield what is ready after one more frame, shape (channels, n)."""
        kind = frame.format.name, frame.layout.name, frame.sample_rate
        if kind != self._kind:
            yield from self.rest()
            # One channel is heard at its own level from both sides, as players do it; the
            # resampler would take 3 dB away.
            layout = _LAYOUTS[1 if frame.layout.nb_channels == 1 else self._channels]
            self._kind = kind
            self._resampler = av.AudioResampler(format="fltp", layout=layout, rate=RATE)
        frame.pts = None
        yield from map(self._spread, self._resampler.resample(frame))

    def rest(self) -> Iterator[Floats]:
        """Yield what is left at the end."""
        if self._resampler is not None:
            yield from map(self._spread, self._resampler.resample(None))

    def _spread(self, piece: Any) -> Floats:
        samples = piece.to_ndarray()
        missing = self._channels // samples.shape[0]
        return np.repeat(samples, missing, axis=0) if missing > 1 else samples


def _silence(count: int, channels: int) -> Iterator[Floats]:
    """Yield samples of silence; a clock that jumps by a year must not fill the memory."""
    for first in range(0, count, RATE):
        yield np.zeros((channels, min(RATE, count - first)), np.float32)


def _frames(container: Any, stream: Any) -> Iterator[Any]:
    """Yield decoded frames; a packet that cannot be decoded is left out."""
    for packet in container.demux(stream):
        try:
            yield from packet.decode()
        except av.InvalidDataError:
            continue


def _origin(container: Any, stream: Any) -> float:
    """Return the time of the first picture, or of the first sound where there is no picture."""
    first = next(iter(moving_streams(container)), stream)
    return float((first.start_time or 0) * first.time_base)
