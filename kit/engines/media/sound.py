"""Sound that comes in: any file's samples at one rate, ready to be cut, mixed and leveled.

Whatever works on sound here returns a new `Sound`, which reads what it was made of part by part:
minutes of it never lie in memory.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import av
import numpy as np

from kit.engines.media.color import Floats
from kit.engines.media.loudness import ducking, limiting, measured, per_sample
from kit.engines.media.soundfile import MOST, opened
from kit.engines.media.tracks import RATE, Sound, Worked, gathered

__all__ = [
    "MOST",
    "RATE",
    "Sound",
    "cut",
    "fitted",
    "joined",
    "laid",
    "leveled",
    "mixed",
    "opened",
    "silence",
    "stretched",
]

_LAYOUTS = {1: "mono", 2: "stereo"}
#: Seconds of the crossfade where a loop begins again.
_SEAM = 0.05
#: Samples up to which a loop is worked out once and kept.
_SHORT = 1 << 19
_CEILING = 10 ** (-1 / 20)
_CHUNK = 8192
_PAD = 0.2
#: Seconds by which a changed tempo is ahead of itself: half of the filter's window.
_EARLY = 0.02

Check = Callable[[], None]


def silence(seconds: float, *, channels: int = 2) -> Sound:
    """Return silence of a length."""
    return laid([], seconds, channels=channels)


def cut(sound: Sound, start: float, end: float) -> Sound:
    """Return the sound between two seconds, silence where there is none."""
    first, last = round(start * RATE), round(end * RATE)
    return Sound(
        Worked(sound.channels, max(0, last - first), lambda a, b: sound.part(first + a, first + b))
    )


def laid(sounds: Sequence[tuple[int, Sound]], seconds: float, *, channels: int = 2) -> Sound:
    """Return sounds laid over one another, each from a sample on, as long as told."""

    def part(first: int, last: int) -> Floats:
        out = np.zeros((channels, last - first), np.float32)
        for start, sound in sounds:
            begin, end = max(first, start), min(last, start + sound.count)
            if begin < end:
                out[:, begin - first : end - first] += sound.part(begin - start, end - start)
        return out

    return Sound(Worked(channels, max(0, round(seconds * RATE)), part))


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
    if loop and sound.count:
        while sound.count < count:
            if sound.count <= _SHORT:
                sound = Sound(sound.samples)
            sound = joined(sound, sound, min(_SEAM, sound.seconds / 4))
    return _faded(cut(sound, 0.0, seconds), round(fade_in * RATE), round(fade_out * RATE))


def joined(one: Sound, other: Sound, overlap: float) -> Sound:
    """Return one sound after another, crossfaded over some seconds at equal power."""
    steps = min(round(overlap * RATE), one.count, other.count)
    start = one.count - steps
    sounds = [(0, _faded(one, 0, steps)), (start, _faded(other, steps, 0))]
    return laid(sounds, (start + other.count) / RATE, channels=one.channels)


def leveled(sound: Sound, lufs: float = -14.0, *, check: Check = lambda: None) -> Sound:
    """Return a sound as loud as asked for, its peaks held below -1 dBFS.

    Silence stays silence, and nothing is made louder by more than 20 dB, so that a quiet room does
    not become noise. The sound is read once to know how loud it is.
    """
    found = measured(sound, check)
    if found.lufs <= -69.0:
        return sound
    gain = np.float32(10 ** (min(lufs - found.lufs, 20.0) / 20))
    limits = limiting(found.peaks * gain, _CEILING)

    def part(first: int, last: int) -> Floats:
        louder = sound.part(first, last) * gain
        return louder if limits is None else louder * per_sample(limits, first, last)

    return Sound(Worked(sound.channels, sound.count, part))


def stretched(
    sound: Sound, speed: float, *, folder: Path | None = None, check: Check = lambda: None
) -> Sound:
    """Return a sound that runs faster or slower at the same pitch, ``seconds / speed`` long.

    Parameters
    ----------
    speed : float
        0.25 to 4; 2 takes half the time.
    folder : Path, optional
        As of `opened`.
    """
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
    parts = gathered(_pulled(graph, padded, layout, check), sound.channels, folder)
    return cut(parts, 0.0, sound.seconds / speed)


def mixed(voice: Sound, music: Sound, *, duck: bool = True, check: Check = lambda: None) -> Sound:
    """Return both together, as long as the longer one.

    Parameters
    ----------
    duck : bool
        Turn the music down by 11 dB while somebody speaks; the voice is read once to know when.
    """
    seconds = max(voice.seconds, music.seconds)
    over, under = cut(voice, 0.0, seconds), cut(music, 0.0, seconds)
    gains = ducking(over, check=check) if duck else None

    def part(first: int, last: int) -> Floats:
        softer = np.float32(1.0) if gains is None else per_sample(gains, first, last)
        return over.part(first, last) + under.part(first, last) * softer

    return Sound(Worked(over.channels, over.count, part))


def _faded(sound: Sound, rising: int, falling: int) -> Sound:
    """Return a sound that comes and goes over so many samples, at equal power."""
    up, down = (_rise(min(sound.count, steps)) for steps in (rising, falling))
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

    return Sound(Worked(sound.channels, sound.count, part))


def _rise(steps: int) -> Floats:
    return np.sin(np.linspace(0.0, np.pi / 2, steps, dtype=np.float32))


def _pulled(graph: Any, sound: Sound, layout: str, check: Check) -> Iterator[Floats]:
    for start in [*range(0, sound.count, _CHUNK), None]:
        check()
        if start is not None:
            part = np.ascontiguousarray(sound.part(start, min(start + _CHUNK, sound.count)))
            frame = av.AudioFrame.from_ndarray(part, format="fltp", layout=layout)
            frame.sample_rate, frame.pts = RATE, start
            graph.push(frame)
        else:
            graph.push(None)
        with contextlib.suppress(av.BlockingIOError, av.EOFError):
            while True:
                yield graph.pull().to_ndarray()
