"""Moments: what is in a sound, a hundred times a second.

One pass over the sound measures all that the mouth and the ear need; each moment looks at 40 ms.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Floats
from kit.engines.media.sound import RATE

#: Moments a second at which the sound is looked at.
MOMENTS = 100
_HOP = RATE // MOMENTS
_SPAN = 1920
_FFT = 2048
_BATCH = 500
#: Bands in Hz of which mouths are made: voicing, jaw, round, spread, hiss.
_BANDS = ((80, 250), (250, 950), (950, 1600), (1600, 3200), (3600, 7900))
#: Edges in Hz of the bands by which voices are known, about as wide as hearing has them; there are
#: none above what telephones let through.
_EDGES = (
    *(100, 200, 300, 400, 510, 630, 770, 920, 1080),
    *(1270, 1480, 1720, 2000, 2320, 2700, 3150, 3700),
)
#: Lines of the spectrum among which periods and partials are looked for: 70 Hz to 3.5 kHz.
_PERIODIC, _PARTIAL = (3, 150), (8, 150)
#: Samples a second at which periods are looked for, how many the whole circle has, and how short
#: and long a period of a voice is: 500 and 70 Hz.
_COARSE, _CIRCLE, _PERIODS = 15_937.5, 680, (32, 228)
#: Lines over which partials stand out.
_AROUND = 15


@dataclass(frozen=True, slots=True)
class Moments:
    """What a sound is made of, float32 arrays; the last axis is time, `MOMENTS` a second.

    Parameters
    ----------
    mouth : ndarray
        Energy of the bands voicing, jaw, round, spread, hiss, shape (5, n); a full sine has 0.8.
    heard : ndarray
        Energy of 16 bands from 100 to 3700 Hz, shape (16, n).
    periodic : ndarray
        How much a moment repeats itself as a voice does, about 0 to 1.
    pitch : ndarray
        How often it does, the logarithm of Hz.
    partials : ndarray
        How far single lines of the spectrum stand out of those beside them, as a natural logarithm,
        shape (142, n).
    """

    mouth: Floats
    heard: Floats
    periodic: Floats
    pitch: Floats
    partials: Floats

    def __len__(self) -> int:
        return len(self.periodic)


def moments_of(samples: Floats, progress: Progress) -> Moments:
    """Return the moments of a sound, shape (n,) at `RATE`, and of a short silence after it."""
    # Silence at the end lets the mouth close before the clip ends, were it longer than the sound.
    padded = np.pad(samples, (_SPAN // 2, _SPAN + 20 * _HOP))
    window = np.hanning(_SPAN).astype(np.float32)
    spans = np.lib.stride_tricks.sliding_window_view(padded, _SPAN)[::_HOP]
    # Scaled so that a full sine is about 0 dB.
    scale = np.float32(2 * (2.0 / float(window.sum())) ** 2 / 4)
    parts: list[tuple[Floats, ...]] = []
    for start in progress.over(range(0, len(spans), _BATCH)):
        lines = np.fft.rfft(spans[start : start + _BATCH] * window, _FFT, axis=1)
        parts.append(_measured((np.abs(lines) ** 2 * scale).astype(np.float32)))
    mouth, heard, periodic, pitch, partials = (
        np.concatenate(column, axis=-1).astype(np.float32) for column in zip(*parts, strict=True)
    )
    return Moments(mouth + np.float32(1e-10), heard + np.float32(1e-11), periodic, pitch, partials)


def _measured(power: Floats) -> tuple[Floats, ...]:
    """Return the columns of `Moments` for spectra of shape (moments, lines)."""
    periodic, pitch = _periods(power)
    heard = tuple(pairwise(_EDGES))
    first, last = _PARTIAL
    lines = np.log(power[:, first:last] + np.float32(1e-12))
    partials = np.clip(lines - cv2.blur(lines, (_AROUND, 1)), -1.5, 3.0).T
    return _inside(_BANDS) @ power.T, _inside(heard) @ power.T, periodic, pitch, partials


def _inside(bands: tuple[tuple[int, int], ...]) -> Floats:
    frequencies = np.fft.rfftfreq(_FFT, 1 / RATE)
    rows = [(frequencies >= low) & (frequencies < high) for low, high in bands]
    return np.stack(rows).astype(np.float32)


def _periods(power: Floats) -> tuple[Floats, Floats]:
    """Return how much each spectrum is that of something periodic, and the logarithm of its Hz."""
    first, last = _PERIODIC
    # Roots of the energies keep a single strong resonance from looking like a pitch.
    amplitudes = np.zeros((len(power), last), np.float32)
    amplitudes[:, first:] = np.sqrt(power[:, first:last])
    likeness = np.fft.irfft(amplitudes, _CIRCLE, axis=1)
    shortest, longest = _PERIODS
    within = likeness[:, shortest:longest]
    best = within.argmax(axis=1)
    share = within.max(axis=1) / (likeness[:, 0] + 1e-9)
    return np.asarray(share, np.float32), np.log(_COARSE / (best + shortest)).astype(np.float32)
