"""Sound as samples that are computed part by part: cutting, mixing and leveling.

Long sounds are never held in memory: operations on a `Sound` return another one that computes a
part when it is read, so a long chain of them needs the memory of a few parts. A gain over time has
one value per millisecond.
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

#: Sample rate of every `Sound` in Hz.
RATE = 48_000
_CHUNK_SAMPLES = RATE  # samples that are processed at once, a whole number of milliseconds
_STEP = 48  # samples per gain value
_LAYOUTS = {1: "mono", 2: "stereo"}
_SEAM_SECONDS = 0.05  # of the crossfade at the seam of a loop
_MAX_KEPT = 1 << 19  # samples up to which a loop is computed once and kept
_PEAK_CEILING = 10 ** (-1 / 20)
_SILENT_LUFS = -69.0
_PAD_SECONDS, _EARLY_SECONDS = 0.2, 0.02  # that the tempo filter holds back; by which it is early
_DUCKED_GAIN, _SPEECH_LEVEL = 0.28, 0.02  # of the music during speech; above it there is speech

Check: TypeAlias = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Sound:
    """Samples of one or two channels at `RATE`, -1 to 1; larger values are clipped by encoding.

    They are computed on demand: `read` takes the indices of the first sample and of the one after
    the last, both within the sound, and returns samples of shape (channels, n).

    Examples
    --------
    >>> sound = Sound.of(np.ones((2, 480), np.float32))
    >>> sound.seconds
    0.01
    >>> sound.part(478, 482)[0].tolist()
    [1.0, 1.0, 0.0, 0.0]
    """

    channels: int  # 1 or 2
    count: int  # per channel
    read: Callable[[int, int], Floats]

    @classmethod
    def of(cls, samples: Floats) -> Self:
        """Return a sound from samples in memory, shape (channels, n)."""
        channels, count = samples.shape
        return cls(channels, count, lambda first, last: samples[:, first:last])

    @property
    def seconds(self) -> float:
        """Length in seconds."""
        return self.count / RATE

    @property
    def samples(self) -> Floats:
        """All samples in memory, shape (channels, n), float32; only for short sounds."""
        return np.ascontiguousarray(self.part(0, self.count))

    def part(self, first: int, last: int) -> Floats:
        """Return the samples ``first`` to ``last - 1``, with silence outside the sound.

        The array is read-only.
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
        """Yield each second of samples with the index of its first sample."""
        for first in range(0, self.count, _CHUNK_SAMPLES):
            check()
            yield first, self.part(first, min(first + _CHUNK_SAMPLES, self.count))


class _File:
    """Samples in an anonymous file, deleted with the last sound that reads it."""

    def __init__(self, folder: Path, channels: int) -> None:
        self._channels = channels
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - it outlives this call
        weakref.finalize(self, self._file.close)
        self._turn = threading.Lock()

    def add(self, samples: Floats) -> None:
        self._file.write(np.ascontiguousarray(samples.T, np.float32).data)

    def part(self, first: int, last: int) -> Floats:
        size = 4 * self._channels
        # The file position is shared by all readers; the encoder reads in its own thread.
        with self._turn:
            self._file.seek(first * size)
            content = self._file.read((last - first) * size)
        return np.frombuffer(content, np.float32).reshape(-1, self._channels).T


def gather(parts: Iterable[Floats], channels: int, folder: Path | None = None) -> Sound:
    """Return consecutive parts, each of shape (channels, n), as one sound.

    With a `folder` the samples are kept on disk as long as the sound exists, otherwise in memory.
    """
    if folder is None:
        return Sound.of(np.concatenate([np.zeros((channels, 0), np.float32), *parts], axis=1))
    file, count = _File(folder, channels), 0
    for part in parts:
        file.add(part)
        count += part.shape[1]
    return Sound(channels, count, file.part)


def cut(sound: Sound, start: float, end: float) -> Sound:
    """Return the sound between two times in seconds, with silence outside."""
    first, last = round(start * RATE), round(end * RATE)
    return Sound(
        sound.channels, max(0, last - first), lambda a, b: sound.part(first + a, first + b)
    )


def overlay(sounds: Sequence[tuple[int, Sound]], seconds: float, *, channels: int = 2) -> Sound:
    """Return the sum of sounds, each starting at a sample index, `seconds` long."""

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
    """Return a sound of an exact length: cut, or padded with silence.

    A `loop` repeats with a short crossfade. The sound fades in and out over the given seconds.
    """
    count = round(seconds * RATE)
    if loop and sound.count:
        while sound.count < count:
            if sound.count <= _MAX_KEPT:
                sound = Sound.of(sound.samples)
            sound = crossfade(sound, sound, min(_SEAM_SECONDS, sound.seconds / 4))
    return _fade(cut(sound, 0.0, seconds), round(fade_in * RATE), round(fade_out * RATE))


def crossfade(one: Sound, other: Sound, overlap: float) -> Sound:
    """Return two sounds in sequence, crossfaded over some seconds at equal power."""
    steps = min(round(overlap * RATE), one.count, other.count)
    start = one.count - steps
    sounds = [(0, _fade(one, 0, steps)), (start, _fade(other, steps, 0))]
    return overlay(sounds, (start + other.count) / RATE, channels=one.channels)


def normalize(sound: Sound, lufs: float = -14.0, *, check: Check = lambda: None) -> Sound:
    """Return a sound at a target loudness, with peaks limited to -1 dBFS.

    Silence stays silent, and the gain is at most 20 dB, so that a quiet room does not become
    noise. The sound is read once to measure its loudness.
    """
    found, peaks = measure(sound, check)
    if found <= _SILENT_LUFS:
        return sound
    gain = np.float32(10 ** (min(lufs - found, 20.0) / 20))
    needed = np.minimum(1.0, _PEAK_CEILING / np.maximum(peaks * gain, 1e-9)).astype(np.float32)
    # Take the lowest gain of neighboring steps, then average: no peak escapes, no edge clicks.
    held = cv2.erode(needed[None], np.ones((1, 25), np.uint8), borderType=cv2.BORDER_REPLICATE)
    limits = _average(held[0], 21)

    def part(first: int, last: int) -> Floats:
        return sound.part(first, last) * gain * _per_sample(limits, first, last)

    return Sound(sound.channels, sound.count, part)


def stretch(
    sound: Sound, speed: float, *, folder: Path | None = None, check: Check = lambda: None
) -> Sound:
    """Return a sound at 0.25 to 4 times the speed with the same pitch."""
    if speed == 1.0 or not sound.count:
        return sound
    graph = av.filter.Graph()
    layout = _LAYOUTS[sound.channels]
    source = graph.add_abuffer(sample_rate=RATE, format="fltp", layout=layout)
    # A filter takes 0.5 or more; two in sequence cover the rest.
    root = speed if speed >= 0.5 else speed**0.5
    tempos = [graph.add("atempo", f"{root:.9f}") for _ in range(1 if root == speed else 2)]
    # The filter prefers interleaved samples; the input is planar.
    planes = graph.add("aformat", f"sample_fmts=fltp:channel_layouts={layout}")
    graph.link_nodes(source, *tempos, planes, graph.add("abuffersink")).configure()
    # The filter output is slightly early and lacks its last few milliseconds: silence compensates
    # both.
    padded = cut(sound, -_EARLY_SECONDS, sound.seconds + _PAD_SECONDS)
    pulled = _filter_parts(graph, (part for _, part in padded.parts(check)), sound.channels)
    parts = gather((frame.to_ndarray() for frame in pulled), sound.channels, folder)
    return cut(parts, 0.0, sound.seconds / speed)


def mix(voice: Sound, music: Sound, *, duck: bool = True, check: Check = lambda: None) -> Sound:
    """Return the sum of both, as long as the longer one.

    `duck` lowers the music by 11 dB during speech; the voice is read once to detect it.
    -
    """
    seconds = max(voice.seconds, music.seconds)
    over, under = cut(voice, 0.0, seconds), cut(music, 0.0, seconds)
    gains = _ducking_gains(over, check) if duck else None

    def part(first: int, last: int) -> Floats:
        softer = np.float32(1.0) if gains is None else _per_sample(gains, first, last)
        return over.part(first, last) + under.part(first, last) * softer

    return Sound(over.channels, over.count, part)


def measure(sound: Sound, check: Check = lambda: None) -> tuple[float, Floats]:
    """Return the integrated loudness in LUFS, -70 for silence, and the peak of each millisecond.

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
        # Sounds shorter than the measurement window are padded with silence.
        yield np.zeros((sound.channels, max(0, RATE // 2 - sound.count)), np.float32)

    for frame in _filter_parts(graph, parts(), sound.channels):
        found = float(frame.metadata.get("lavfi.r128.I", found))
    return max(found, -70.0), np.concatenate(peaks)


def _ducking_gains(voice: Sound, check: Check) -> Floats:
    """Return gains that lower the music during speech."""
    parts = [np.zeros(0, np.float32)]
    parts += [_per_step(np.square(part).mean(axis=0), np.mean) for _, part in voice.parts(check)]
    # Rounding of a running sum may end slightly below zero in silence.
    level = np.sqrt(np.maximum(_average(np.concatenate(parts), 100), 0.0))
    speaks = level > _SPEECH_LEVEL * min(1.0, float(level.max(initial=0.0)) / 0.1)
    # Down slightly before the first word, up only at a real pause.
    held = cv2.dilate(speaks.astype(np.float32)[None], np.ones((1, 701), np.uint8))[0]
    return np.asarray(1.0 - (1.0 - _DUCKED_GAIN) * _average(held, 301), np.float32)


def _per_sample(gains: Floats, first: int, last: int) -> Floats:
    """Return the gain of each sample, interpolated linearly between centers of milliseconds."""
    begin = max(0, min(first // _STEP, len(gains)) - 2)
    near = gains[begin : last // _STEP + 2]
    at = (np.arange(first, last) + 0.5) / _STEP - 0.5
    return np.interp(at, np.arange(begin, begin + len(near)), near).astype(np.float32)


def _per_step(values: Floats, reduce: Callable[..., Any]) -> Floats:
    """Reduce samples to one value per `_STEP` samples."""
    padded = np.pad(values, (0, -len(values) % _STEP), mode="edge") if len(values) else values
    return np.asarray(reduce(padded.reshape(-1, _STEP), axis=1), np.float32)


def _average(values: Floats, steps: int) -> Floats:
    if not len(values):
        return values
    line = np.ascontiguousarray(values[None], np.float32)
    return np.asarray(cv2.blur(line, (steps, 1), borderType=cv2.BORDER_REPLICATE)[0])


def _fade(sound: Sound, rising: int, falling: int) -> Sound:
    """Return a sound with a fade-in and a fade-out of so many samples, at equal power."""
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
    """Yield the frames that a filter graph returns for samples."""
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
    """Push a frame, or None at the end, into a filter graph and yield its output frames."""
    graph.push(frame)
    with contextlib.suppress(av.BlockingIOError, av.EOFError):
        while True:
            yield graph.pull()
