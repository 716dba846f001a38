"""Sound as samples that are read part by part, ready to be cut, mixed and leveled.

Minutes of sound are never held whole: whatever works on a `Sound` answers with another one that
works out a part when it is asked for it, so a long chain of them needs the memory of a few parts.
A gain over time is one value for each millisecond.
"""

from __future__ import annotations

import contextlib
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeAlias

import av
import cv2
import numpy as np

from kit.engines.media.color import Floats

#: Samples a second of every `Sound`.
RATE = 48_000
_TOGETHER = RATE  # samples that are looked at together, a whole number of milliseconds
_STEP = 48  # samples for which one gain is worked out
_LAYOUTS = {1: "mono", 2: "stereo"}
_SEAM = 0.05  # seconds of the crossfade where a loop begins again
_SHORT = 1 << 19  # samples up to which a loop is worked out once and kept
_CEILING = 10 ** (-1 / 20)
_SILENT = -69.0  # LUFS
_PAD, _EARLY = 0.2, 0.02  # seconds that a change of tempo keeps to itself, and is ahead of itself
_DUCKED, _SPEECH = 0.28, 0.02  # gain while somebody speaks, and the level above which they do

Check: TypeAlias = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Sound:
    """Samples of one or two channels at `RATE`, -1 to 1; more than that is clipped when encoded.

    They are worked out when they are asked for: `read` leads from the numbers of the first sample
    and of the one after the last, both within the sound, to samples of shape (channels, n).

    Examples
    --------
    >>> sound = Sound.of(np.ones((2, 480), np.float32))
    >>> sound.seconds
    0.01
    >>> sound.part(478, 482)[0].tolist()
    [1.0, 1.0, 0.0, 0.0]
    """

    channels: int  # 1 or 2
    count: int  # samples of each
    read: Callable[[int, int], Floats]

    @classmethod
    def of(cls, samples: Floats) -> Self:
        """Return the sound of samples in memory, shape (channels, n)."""
        channels, count = samples.shape
        return cls(channels, count, lambda first, last: samples[:, first:last])

    @property
    def seconds(self) -> float:
        """Length in seconds."""
        return self.count / RATE

    @property
    def samples(self) -> Floats:
        """All samples in memory, shape (channels, n), float32: for short sounds."""
        return np.ascontiguousarray(self.part(0, self.count))

    def part(self, first: int, last: int) -> Floats:
        """Return the samples from one number to before another, silence where there are none.

        They must not be written to.
        """
        begin, end = max(first, 0), min(last, self.count)
        if begin >= end:
            return np.zeros((self.channels, max(0, last - first)), np.float32)
        inside = self.read(begin, end)
        if (begin, end) == (first, last):
            return inside
        out = np.zeros((self.channels, last - first), np.float32)
        out[:, begin - first : end - first] = inside
        return out

    def parts(self, check: Check = lambda: None) -> Iterator[tuple[int, Floats]]:
        """Yield the number of the first sample and the samples of each second."""
        for first in range(0, self.count, _TOGETHER):
            check()
            yield first, self.part(first, min(first + _TOGETHER, self.count))


class _File:
    """Samples in a file without a name; it is gone with the last sound that reads it."""

    def __init__(self, folder: Path, channels: int) -> None:
        self._channels = channels
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - it outlives this call
        weakref.finalize(self, self._file.close)
        self._turn = threading.Lock()

    def add(self, samples: Floats) -> None:
        self._file.write(np.ascontiguousarray(samples.T, np.float32).data)

    def part(self, first: int, last: int) -> Floats:
        size = 4 * self._channels
        # One place in the file for all who read it: the encoder does so in its own thread.
        with self._turn:
            self._file.seek(first * size)
            content = self._file.read((last - first) * size)
        return np.frombuffer(content, np.float32).reshape(-1, self._channels).T


def gather(parts: Iterable[Floats], channels: int, folder: Path | None = None) -> Sound:
    """Return parts, each of shape (channels, n), that come one after another as one sound.

    In a folder the samples are kept on the disk as long as the sound is; without one, in memory.
    """
    if folder is None:
        return Sound.of(np.concatenate([np.zeros((channels, 0), np.float32), *parts], axis=1))
    file, count = _File(folder, channels), 0
    for part in parts:
        file.add(part)
        count += part.shape[1]
    return Sound(channels, count, file.part)


def cut(sound: Sound, start: float, end: float) -> Sound:
    """Return the sound between two seconds, silence where there is none."""
    first, last = round(start * RATE), round(end * RATE)
    return Sound(
        sound.channels, max(0, last - first), lambda a, b: sound.part(first + a, first + b)
    )


def overlay(sounds: Sequence[tuple[int, Sound]], seconds: float, *, channels: int = 2) -> Sound:
    """Return sounds laid over one another, each from a sample on, of so many seconds."""

    def part(first: int, last: int) -> Floats:
        out = np.zeros((channels, last - first), np.float32)
        for start, sound in sounds:
            begin, end = max(first, start), min(last, start + sound.count)
            if begin < end:
                out[:, begin - first : end - first] += sound.part(begin - start, end - start)
        return out

    return Sound(channels, max(0, round(seconds * RATE)), part)


def fit_length(
    sound: Sound, seconds: float, *, loop: bool = False, fade_in: float = 0.0, fade_out: float = 0.0
) -> Sound:
    """Return a sound of exactly a length: cut, or followed by silence.

    In a `loop` it begins again, through a short crossfade. It comes and goes over so many seconds.
    """
    count = round(seconds * RATE)
    if loop and sound.count:
        while sound.count < count:
            if sound.count <= _SHORT:
                sound = Sound.of(sound.samples)
            sound = crossfade(sound, sound, min(_SEAM, sound.seconds / 4))
    return _fade(cut(sound, 0.0, seconds), round(fade_in * RATE), round(fade_out * RATE))


def crossfade(one: Sound, other: Sound, overlap: float) -> Sound:
    """Return one sound after another, crossfaded over some seconds at equal power."""
    steps = min(round(overlap * RATE), one.count, other.count)
    start = one.count - steps
    sounds = [(0, _fade(one, 0, steps)), (start, _fade(other, steps, 0))]
    return overlay(sounds, (start + other.count) / RATE, channels=one.channels)


def normalize(sound: Sound, lufs: float = -14.0, *, check: Check = lambda: None) -> Sound:
    """Return a sound as loud as asked for, its peaks held below -1 dBFS.

    Silence stays silence, and nothing is made louder by more than 20 dB, so that a quiet room does
    not become noise. The sound is read once to know how loud it is.
    """
    found, peaks = measure(sound, check)
    if found <= _SILENT:
        return sound
    gain = np.float32(10 ** (min(lufs - found, 20.0) / 20))
    needed = np.minimum(1.0, _CEILING / np.maximum(peaks * gain, 1e-9)).astype(np.float32)
    # Hold each step's gain over its neighbors, then average: no peak escapes, no edge clicks.
    held = cv2.erode(needed[None], np.ones((1, 25), np.uint8), borderType=cv2.BORDER_REPLICATE)
    limits = _average(held[0], 21)

    def part(first: int, last: int) -> Floats:
        return sound.part(first, last) * gain * _per_sample(limits, first, last)

    return Sound(sound.channels, sound.count, part)


def stretch(
    sound: Sound, speed: float, *, folder: Path | None = None, check: Check = lambda: None
) -> Sound:
    """Return a sound that runs 0.25 to 4 times as fast at the same pitch."""
    if speed == 1.0 or not sound.count:
        return sound
    graph = av.filter.Graph()
    layout = _LAYOUTS[sound.channels]
    source = graph.add_abuffer(sample_rate=RATE, format="fltp", layout=layout)
    # One filter takes 0.5 or more; two of them take the rest.
    root = speed if speed >= 0.5 else speed**0.5
    tempos = [graph.add("atempo", f"{root:.9f}") for _ in range(1 if root == speed else 2)]
    # The filter prefers interleaved samples; planes are what goes in.
    planes = graph.add("aformat", f"sample_fmts=fltp:channel_layouts={layout}")
    graph.link_nodes(source, *tempos, planes, graph.add("abuffersink")).configure()
    # It answers a little early and keeps its last few milliseconds to itself: silence makes up for
    # both.
    padded = cut(sound, -_EARLY, sound.seconds + _PAD)
    pulled = _filter_parts(graph, (part for _, part in padded.parts(check)), sound.channels)
    parts = gather((frame.to_ndarray() for frame in pulled), sound.channels, folder)
    return cut(parts, 0.0, sound.seconds / speed)


def mix(voice: Sound, music: Sound, *, duck: bool = True, check: Check = lambda: None) -> Sound:
    """Return both together, as long as the longer one.

    To `duck` is to turn the music down by 11 dB while somebody speaks; the voice is read once to
    know when.
    """
    seconds = max(voice.seconds, music.seconds)
    over, under = cut(voice, 0.0, seconds), cut(music, 0.0, seconds)
    gains = _ducking(over, check) if duck else None

    def part(first: int, last: int) -> Floats:
        softer = np.float32(1.0) if gains is None else _per_sample(gains, first, last)
        return over.part(first, last) + under.part(first, last) * softer

    return Sound(over.channels, over.count, part)


def measure(sound: Sound, check: Check = lambda: None) -> tuple[float, Floats]:
    """Return the integrated loudness in LUFS, -70 of silence, and the peak of each millisecond.

    Source: ITU-R BS.1770-5, by FFmpeg's filter ``ebur128``.
    """
    graph = av.filter.Graph()
    layout = _LAYOUTS[sound.channels]
    source = graph.add_abuffer(sample_rate=RATE, format="fltp", layout=layout)
    meter = graph.add("ebur128", "metadata=1:framelog=quiet")
    graph.link_nodes(source, meter, graph.add("abuffersink")).configure()
    peaks, found = [np.zeros(0, np.float32)], -70.0

    def parts() -> Iterator[Floats]:
        for _, part in sound.parts(check):
            peaks.append(_per_step(np.abs(part).max(axis=0), np.max))
            yield part
        # Less than it takes to measure is measured with silence behind it.
        yield np.zeros((sound.channels, max(0, RATE // 2 - sound.count)), np.float32)

    for frame in _filter_parts(graph, parts(), sound.channels):
        found = float(frame.metadata.get("lavfi.r128.I", found))
    return max(found, -70.0), np.concatenate(peaks)


def _ducking(voice: Sound, check: Check) -> Floats:
    """Return gains that make room for a voice and close the room after it."""
    parts = [np.zeros(0, np.float32)]
    parts += [_per_step(np.square(part).mean(axis=0), np.mean) for _, part in voice.parts(check)]
    # A running sum may end a hair below the zero of silence.
    level = np.sqrt(np.maximum(_average(np.concatenate(parts), 100), 0.0))
    speaks = level > _SPEECH * min(1.0, float(level.max(initial=0.0)) / 0.1)
    # Down a little before the first word, up only where a pause is a pause.
    held = cv2.dilate(speaks.astype(np.float32)[None], np.ones((1, 701), np.uint8))[0]
    return np.asarray(1.0 - (1.0 - _DUCKED) * _average(held, 301), np.float32)


def _per_sample(gains: Floats, first: int, last: int) -> Floats:
    """Return the gain of each sample, in straight lines between the middles of milliseconds."""
    begin = max(0, min(first // _STEP, len(gains)) - 2)
    near = gains[begin : last // _STEP + 2]
    at = (np.arange(first, last) + 0.5) / _STEP - 0.5
    return np.interp(at, np.arange(begin, begin + len(near)), near).astype(np.float32)


def _per_step(values: Floats, reduce: Callable[..., Any]) -> Floats:
    """Reduce a line of samples to one value for every `_STEP` of them."""
    padded = np.pad(values, (0, -len(values) % _STEP), mode="edge") if len(values) else values
    return np.asarray(reduce(padded.reshape(-1, _STEP), axis=1), np.float32)


def _average(values: Floats, steps: int) -> Floats:
    if not len(values):
        return values
    line = np.ascontiguousarray(values[None], np.float32)
    return np.asarray(cv2.blur(line, (steps, 1), borderType=cv2.BORDER_REPLICATE)[0])


def _fade(sound: Sound, rising: int, falling: int) -> Sound:
    """Return a sound that comes and goes over so many samples, at equal power."""
    counts = (min(sound.count, steps) for steps in (rising, falling))
    up, down = (np.sin(np.linspace(0.0, np.pi / 2, n, dtype=np.float32)) for n in counts)
    start = sound.count - len(down)

    def part(first: int, last: int) -> Floats:
        samples = sound.part(first, last)
        if first >= len(up) and last <= start:
            return samples
        out = samples.copy()
        gains = up[first:last]
        out[:, : len(gains)] *= gains
        gains = down[::-1][max(first - start, 0) : max(last - start, 0)]
        out[:, out.shape[1] - len(gains) :] *= gains
        return out

    return Sound(sound.channels, sound.count, part)


def _filter_parts(graph: Any, parts: Iterable[Floats], channels: int) -> Iterator[Any]:
    """Yield the frames that a graph makes of samples."""
    start = 0
    for part in parts:
        frame = av.AudioFrame.from_ndarray(
            np.ascontiguousarray(part), format="fltp", layout=_LAYOUTS[channels]
        )
        frame.sample_rate, frame.pts = RATE, start
        start += part.shape[1]
        if part.shape[1]:
            yield from run_graph(graph, frame)
    yield from run_graph(graph, None)


def run_graph(graph: Any, frame: Any) -> Iterator[Any]:
    """Give a graph of filters a frame, or None at the end, and yield those that are ready."""
    graph.push(frame)
    with contextlib.suppress(av.BlockingIOError, av.EOFError):
        while True:
            yield graph.pull()
