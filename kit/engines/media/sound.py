"""Sound that comes in: any file's samples at one rate, ready to be cut, mixed and leveled.

Whatever works on sound here returns a new `Sound` and keeps nothing. Time 0 of a video's sound is
its first frame, so that what is cut at the same second stays together.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import numpy as np

from kit.engines.media.color import Floats
from kit.engines.media.inspection import container_of, undecodable
from kit.engines.media.loudness import ducking, limited, loudness
from kit.errors import EngineError

#: Samples a second of every `Sound`.
RATE = 48_000
#: Seconds of one file that are held at most: half an hour of stereo takes 690 MB.
MOST = 1800.0
_LAYOUTS = {1: "mono", 2: "stereo"}
#: Seconds that the file's clock and its samples may differ before silence fills the gap.
_GAP = 0.1
#: Seconds of the crossfade where a loop begins again.
_SEAM = 0.05
_CEILING = 10 ** (-1 / 20)
_CHUNK = 8192
_PAD = 0.2
#: Seconds by which a changed tempo is ahead of itself: half of the filter's window.
_EARLY = 0.02


@dataclass(frozen=True, slots=True)
class Sound:
    """Samples of one or two channels.

    Parameters
    ----------
    samples : ndarray of float32
        Shape (channels, n) at `RATE`, -1 to 1; more than that is clipped when it is encoded.
    """

    samples: Floats

    @property
    def seconds(self) -> float:
        """Length in seconds."""
        return float(self.samples.shape[1] / RATE)

    @property
    def channels(self) -> int:
        """1 or 2."""
        return int(self.samples.shape[0])


def opened(
    path: Path,
    *,
    seconds: float | None = None,
    channels: int = 2,
    check: Callable[[], None] = lambda: None,
) -> Sound:
    """Return the sound of a sound file or of a video's sound track.

    Parameters
    ----------
    seconds : float, optional
        Stop after so many; without it a file of more than `MOST` is refused.
    channels : int
        1 or 2; other numbers of channels are mixed to it.
    check : callable
        Called many times a second while it works; it may raise to stop it.

    Raises
    ------
    EngineError
        There is no sound in it (``no_sound``), it is broken (``undecodable``) or too long.
    """
    return Sound(_read(path, RATE, seconds, channels, check))


def mono(path: Path, rate: int = 16_000, seconds: float | None = None) -> Floats:
    """Return one channel of a file's sound at any rate, shape (n,), float32."""
    samples: Floats = _read(path, rate, seconds, 1, lambda: None)[0]
    return samples


def silence(seconds: float, *, channels: int = 2) -> Sound:
    """Return silence of a length."""
    return Sound(np.zeros((channels, round(seconds * RATE)), np.float32))


def cut(sound: Sound, start: float, end: float) -> Sound:
    """Return the sound between two seconds, silence where there is none."""
    first, last = round(start * RATE), round(end * RATE)
    out = np.zeros((sound.channels, max(0, last - first)), np.float32)
    part = sound.samples[:, max(first, 0) : max(last, 0)]
    begin = max(-first, 0)
    out[:, begin : begin + part.shape[1]] = part
    return Sound(out)


def fitted(
    sound: Sound, seconds: float, *, loop: bool = False, fade_in: float = 0.0, fade_out: float = 0.0
) -> Sound:
    """Return a sound of exactly a length: cut, or followed by silence or by itself.

    Parameters
    ----------
    loop : bool
        Begin again, through a short crossfade, instead of falling silent.
    fade_in, fade_out : float
        Seconds over which it comes and goes.
    """
    count = round(seconds * RATE)
    if loop and sound.samples.shape[1]:
        while sound.samples.shape[1] < count:
            sound = joined(sound, sound, min(_SEAM, sound.seconds / 4))
    out = cut(sound, 0.0, seconds).samples
    for length, part in ((fade_in, slice(None)), (fade_out, slice(None, None, -1))):
        steps = min(count, round(length * RATE))
        out[:, part][:, :steps] *= _rise(steps)
    return Sound(out)


def joined(one: Sound, other: Sound, overlap: float) -> Sound:
    """Return one sound after another, crossfaded over some seconds at equal power."""
    steps = min(round(overlap * RATE), one.samples.shape[1], other.samples.shape[1])
    rise = _rise(steps)
    cross = one.samples[:, one.samples.shape[1] - steps :] * rise[::-1]
    cross = cross + other.samples[:, :steps] * rise
    before = one.samples[:, : one.samples.shape[1] - steps]
    return Sound(np.concatenate([before, cross, other.samples[:, steps:]], axis=1))


def leveled(
    sound: Sound, lufs: float = -14.0, *, check: Callable[[], None] = lambda: None
) -> Sound:
    """Return a sound as loud as asked for, its peaks held below -1 dBFS.

    Silence stays silence, and nothing is made louder by more than 20 dB, so that a quiet room does
    not become noise.
    """
    found = loudness(sound.samples, check)
    if found <= -69.0:
        return sound
    gain = 10 ** (min(lufs - found, 20.0) / 20)
    return Sound(limited(sound.samples * np.float32(gain), _CEILING))


def stretched(sound: Sound, speed: float, *, check: Callable[[], None] = lambda: None) -> Sound:
    """Return a sound that runs faster or slower at the same pitch, ``seconds / speed`` long.

    Parameters
    ----------
    speed : float
        0.25 to 4; 2 takes half the time.
    """
    if speed == 1.0 or not sound.samples.shape[1]:
        return sound
    graph = av.filter.Graph()
    layout = _LAYOUTS[sound.channels]
    source = graph.add_abuffer(sample_rate=RATE, format="fltp", layout=layout)
    # One filter takes 0.5 or more; two of them take the rest.
    root = speed if speed >= 0.5 else speed**0.5
    tempos = [graph.add("atempo", f"{root:.9f}") for _ in range(1 if root == speed else 2)]
    # The filter prefers interleaved samples; planes are what the rest of this module holds.
    planes = graph.add("aformat", f"sample_fmts=fltp:channel_layouts={layout}")
    graph.link_nodes(source, *tempos, planes, graph.add("abuffersink")).configure()
    # It answers a little early and keeps its last few milliseconds to itself: silence makes up for
    # both.
    padded = cut(sound, -_EARLY, sound.seconds + _PAD)
    parts = []
    for part in _pulled(graph, padded, layout):
        check()
        parts.append(part)
    samples = np.concatenate(parts, axis=1)
    return cut(Sound(samples), 0.0, sound.seconds / speed)


def mixed(voice: Sound, music: Sound, *, duck: bool = True) -> Sound:
    """Return both together, as long as the longer one.

    Parameters
    ----------
    duck : bool
        Turn the music down by 11 dB while somebody speaks.
    """
    seconds = max(voice.seconds, music.seconds)
    over, under = cut(voice, 0.0, seconds).samples, cut(music, 0.0, seconds).samples
    gain = ducking(over) if duck else np.float32(1.0)
    return Sound(over + under * gain)


def _rise(steps: int) -> Floats:
    return np.sin(np.linspace(0.0, np.pi / 2, steps, dtype=np.float32))


def _pulled(graph: Any, sound: Sound, layout: str) -> Iterator[Floats]:
    count = sound.samples.shape[1]
    for start in [*range(0, count, _CHUNK), None]:
        if start is not None:
            part = np.ascontiguousarray(sound.samples[:, start : start + _CHUNK])
            frame = av.AudioFrame.from_ndarray(part, format="fltp", layout=layout)
            frame.sample_rate, frame.pts = RATE, start
            graph.push(frame)
        else:
            graph.push(None)
        with contextlib.suppress(av.BlockingIOError, av.EOFError):
            while True:
                yield graph.pull().to_ndarray()


def _read(
    path: Path, rate: int, seconds: float | None, channels: int, check: Callable[[], None]
) -> Floats:
    bound = MOST if seconds is None else min(seconds, MOST)
    wanted = round(bound * rate)
    parts: list[Floats] = []
    held = 0
    try:
        with container_of(path) as container:
            for part in _parts(container, rate, channels):
                check()
                parts.append(part)
                held += part.shape[1]
                if held > wanted:
                    break
    except (av.FFmpegError, IndexError):
        raise undecodable() from None
    if held > wanted and seconds is None:
        raise EngineError(f"the sound must last up to {MOST:,.0f} s", code="too_long")
    if not held:
        raise EngineError("the recording is empty", code="undecodable")
    return np.concatenate(parts, axis=1)[:, :wanted]


def _parts(container: Any, rate: int, channels: int) -> Iterator[Floats]:
    """Yield a file's sound in pieces of shape (channels, n), from time 0 on."""
    if not container.streams.audio:
        raise EngineError("the file holds no sound", code="no_sound")
    stream = container.streams.best("audio")
    resampler = av.AudioResampler(format="fltp", layout=_LAYOUTS[channels], rate=rate)
    origin = _origin(container, stream)
    skip, position = 0, 0.0
    for number, frame in enumerate(_frames(container, stream)):
        moment = position if frame.time is None else frame.time - origin
        late = moment - position
        if number == 0:
            # Sound that begins before the picture is cut off, one that begins later waits.
            skip = max(0, round(-late * rate))
        if late > _GAP or (number == 0 and late > 0):
            yield np.zeros((channels, round(late * rate)), np.float32)
            position = moment
        elif number == 0:
            position = moment
        position += frame.samples / frame.sample_rate
        frame.pts = None
        for piece in resampler.resample(frame):
            samples = piece.to_ndarray()
            yield samples[:, skip:]
            skip = max(0, skip - samples.shape[1])
    for piece in resampler.resample(None):
        yield piece.to_ndarray()[:, skip:]


def _frames(container: Any, stream: Any) -> Iterator[Any]:
    """Yield decoded frames; a packet that cannot be decoded is left out."""
    for packet in container.demux(stream):
        try:
            yield from packet.decode()
        except av.InvalidDataError:
            continue


def _origin(container: Any, stream: Any) -> float:
    """Return the time of the first picture, or of the first sound where there is no picture."""
    moving = [s for s in container.streams.video if "attached_pic" not in str(s.disposition)]
    first = moving[0] if moving else stream
    return float((first.start_time or 0) * first.time_base)
