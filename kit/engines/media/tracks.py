"""Sound as samples that are read part by part: from memory, from a file, or worked out when asked.

Minutes of sound are never held whole. Whatever works on a `Sound` answers with another one that
works out a part when it is asked for it, so a long chain of them needs the memory of a few parts.
"""

from __future__ import annotations

import tempfile
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kit.engines.media.color import Floats

#: Samples a second of every `Sound`.
RATE = 48_000
#: Samples that are looked at together, a whole number of milliseconds.
_TOGETHER = RATE


@dataclass(frozen=True, slots=True)
class Worked:
    """Samples that are worked out when they are asked for.

    Parameters
    ----------
    channels, count : int
        1 or 2, and the samples of each.
    part : callable
        From the numbers of the first sample and of the one after the last, both within the sound,
        to samples of shape (channels, n), float32, which nobody writes to.
    """

    channels: int
    count: int
    part: Callable[[int, int], Floats]


@dataclass(frozen=True, slots=True)
class Sound:
    """Samples of one or two channels at `RATE`, -1 to 1; more than that is clipped when encoded.

    Parameters
    ----------
    source : ndarray of float32 or Worked
        The samples, shape (channels, n), or how they are worked out.

    Examples
    --------
    >>> sound = Sound(np.ones((2, 480), np.float32))
    >>> sound.seconds
    0.01
    >>> sound.part(478, 482)[0].tolist()
    [1.0, 1.0, 0.0, 0.0]
    """

    source: Floats | Worked

    @property
    def channels(self) -> int:
        """1 or 2."""
        return self.source.channels if isinstance(self.source, Worked) else self.source.shape[0]

    @property
    def count(self) -> int:
        """Samples of each channel."""
        return self.source.count if isinstance(self.source, Worked) else self.source.shape[1]

    @property
    def seconds(self) -> float:
        """Length in seconds."""
        return self.count / RATE

    @property
    def samples(self) -> Floats:
        """All samples in memory, shape (channels, n), float32: for short sounds."""
        if isinstance(self.source, Worked):
            return np.ascontiguousarray(self.source.part(0, self.count))
        return self.source

    def part(self, first: int, last: int) -> Floats:
        """Return the samples from one number to before another, silence where there are none.

        Returns
        -------
        ndarray of float32
            Shape (channels, last - first); it must not be written to.
        """
        begin, end = max(first, 0), min(last, self.count)
        if begin >= end:
            return np.zeros((self.channels, max(0, last - first)), np.float32)
        inside = self._inside(begin, end)
        if (begin, end) == (first, last):
            return inside
        out = np.zeros((self.channels, last - first), np.float32)
        out[:, begin - first : end - first] = inside
        return out

    def parts(self, check: Callable[[], None] = lambda: None) -> Iterator[tuple[int, Floats]]:
        """Yield the number of the first sample and the samples of each second."""
        for first in range(0, self.count, _TOGETHER):
            check()
            yield first, self.part(first, min(first + _TOGETHER, self.count))

    def _inside(self, first: int, last: int) -> Floats:
        if isinstance(self.source, Worked):
            return self.source.part(first, last)
        return self.source[:, first:last]


class _File:
    """Samples in a file without a name; it is gone when nobody reads it any more."""

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


def gathered(parts: Iterable[Floats], channels: int, folder: Path | None = None) -> Sound:
    """Return parts that come one after another as one sound.

    Parameters
    ----------
    parts : iterable of ndarray
        Each of shape (channels, n), float32.
    folder : Path, optional
        Where the samples are kept on the disk as long as the sound is; without it, in memory.
    """
    if folder is None:
        return Sound(np.concatenate([np.zeros((channels, 0), np.float32), *parts], axis=1))
    file, count = _File(folder, channels), 0
    for part in parts:
        file.add(part)
        count += part.shape[1]
    return Sound(Worked(channels, count, file.part))
