"""Ears: whether what is heard is a voice, or hiss, hum, wind, applause, drums or music.

It weighs how a sound moves about each moment (two seconds or so), not how loud it is: speech rises
and falls with its syllables, is now periodic and now not, and its pitch glides; hiss does nothing
of that, and notes hold their pitch, begin at once and ring out.

Source: E. Scheirer and M. Slaney, "Construction and evaluation of a robust multifeature
speech/music discriminator" (1997); K. Seyerlehner et al., "Automatic music detection in television
productions" (2007), for partials that stand still.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import Floats
from kit.engines.media.noise import smooth_step
from kit.engines.media.sound import RATE

#: From 13 traits, in the order of `traits`, to 6 mixtures of them.
HIDDEN = np.array(
    [
        [
            -0.847,
            3.15,
            -2.8,
            -0.359,
            -6.11,
            1.71,
            -0.571,
            0.365,
            0.00844,
            0.0874,
            0.864,
            1.55,
            -1.66,
        ],
        [
            0.691,
            0.525,
            0.246,
            0.115,
            10.7,
            1.1,
            0.48,
            -0.582,
            -0.0239,
            0.0149,
            -1.61,
            0.847,
            -0.218,
        ],
        [
            0.997,
            -2.88,
            -2.39,
            0.367,
            -10.3,
            5.45,
            -0.468,
            -0.459,
            -0.0234,
            -0.0107,
            1.05,
            -0.0999,
            1.08,
        ],
        [
            1.74,
            1.79,
            -0.587,
            1.93,
            2.79,
            -0.17,
            -0.66,
            -0.295,
            -0.00874,
            -0.031,
            -0.189,
            0.831,
            -3.16,
        ],
        [1.43, 1.09, 1.36, 0.607, -3.85, 3.41, -0.211, 0.297, -0.0408, -0.103, -4.1, -2.25, 0.609],
        [
            0.337,
            2.22,
            1.58,
            -0.28,
            -1.16,
            -0.203,
            -0.443,
            -0.67,
            0.00789,
            -0.0441,
            -1.17,
            2.51,
            1.17,
        ],
    ],
    np.float32,
)
HIDDEN_BIAS = np.array([0.0679, 3.76, -11.5, -1.64, 5.18, -6.76], np.float32)
#: From those to the logarithm of the odds that it is a voice.
OUT = np.array([3.14, 4.6, 2.05, -2.39, -4.27, -3.87], np.float32)
OUT_BIAS = -3.15


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
_MOMENTS_AROUND = 15


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
    partials = np.clip(lines - cv2.blur(lines, (_MOMENTS_AROUND, 1)), -1.5, 3.0).T
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


#: Seconds, as deviations, over which a sound is weighed, and over which the verdict is smoothed.
_AROUND, _VERDICT = 0.35, 0.7
#: Nothing farther below the loud moments than this counts, nor softer than this, in dB.
_RANGE, _FAINT = 45.0, -70.0
#: From one verdict to the other: below the first all is noise, from the second on all is voice.
_NOISE, _VOICE = -1.6, 0.2
#: Seconds of sound that must be heard before they count against its being a voice, and how much
#: speaks for one before anything is heard: who orders a talking mouth mostly gives a voice.
_PATIENCE, _TRUST = 0.5, 1.2
_MOST = 5.0
#: How many seconds there must be from the first sound to the last.
_ENOUGH = 1.4, 3.0


def voiced(moments: Moments) -> Floats:
    """Return how sure each moment belongs to a voice, 0 to 1, shape (n,)."""
    loudness = _decibels(moments.heard.sum(axis=0))
    weight = _weight(loudness)
    verdict = np.clip(judged(traits(moments)), -_MOST, _MOST)
    # Loud moments decide for the soft ones beside them.
    steady = soft(weight, _VERDICT)
    smooth = soft(verdict * weight, _VERDICT) / steady
    # As much of the time about each moment as has been full of sound, in seconds; from a word or
    # two alone a voice cannot be told.
    enough = smooth_step(*_ENOUGH, np.asarray([_length(weight)], np.float32))
    evidence = 2.5 * _VERDICT * steady * enough
    smooth = (smooth * evidence + _TRUST * _PATIENCE) / (evidence + _PATIENCE)
    return np.asarray(smooth_step(_NOISE, _VOICE, smooth), np.float32)


def judged(traits: Floats) -> Floats:
    """Return how much speaks for a voice, the logarithm of the odds, by traits of shape (13, n)."""
    inner = np.tanh(HIDDEN @ traits + HIDDEN_BIAS[:, None])
    return np.asarray(OUT @ inner + OUT_BIAS, np.float32)


def traits(moments: Moments) -> Floats:
    """Return what tells voices from other sounds, shape (13, n); none depends on the volume."""
    energy = moments.heard.sum(axis=0)
    loudness = _decibels(energy)
    weight = _weight(loudness)
    loudness = np.maximum(loudness, max(_top(loudness) - _RANGE, _FAINT))
    bands = _decibels(moments.heard)
    tops = np.percentile(bands, 95, axis=1, keepdims=True)
    bands = np.maximum(np.maximum(bands, tops - _RANGE), _FAINT - 5)
    return np.stack(
        [
            *_rhythm(bands, loudness, weight),
            *_melody(moments, weight),
            *_color(moments.heard, bands, weight),
            *_pauses(loudness),
        ]
    )


def soft(track: NDArray[np.floating], seconds: float) -> Floats:
    """Return tracks smoothed over a deviation in time, the last axis."""
    rows = np.atleast_2d(track).astype(np.float32)
    kernel = cv2.getGaussianKernel(int(6 * seconds * MOMENTS) | 1, seconds * MOMENTS)
    # At the ends time is mirrored; a sound that is shorter than the kernel is held instead.
    border = cv2.BORDER_REFLECT if rows.shape[1] > len(kernel) else cv2.BORDER_REPLICATE
    smooth = cv2.sepFilter2D(rows, -1, kernel, np.ones((1, 1)), borderType=border)
    return np.asarray(smooth.reshape(np.shape(track)))


def _rhythm(bands: Floats, loudness: Floats, weight: Floats) -> tuple[Floats, ...]:
    """Return how bands rise and fall: as syllables do, together, faster, and how abruptly."""
    syllables = soft(bands, 0.02) - soft(bands, 0.11)
    depth = np.sqrt(_mean(syllables**2, weight)).mean(axis=0)
    together = np.sqrt(_mean((soft(loudness, 0.02) - soft(loudness, 0.11)) ** 2, weight))
    faster = np.sqrt(_mean((bands - soft(bands, 0.02)) ** 2, weight)).mean(axis=0)
    slope = np.zeros_like(bands)
    slope[:, 1:-1] = np.diff(soft(bands, 0.012), axis=1)[:, :-1]
    slope[:, 1:-1] += np.diff(soft(bands, 0.012), axis=1)[:, 1:]
    rise, fall = (
        _mean(np.clip(side, 0, None) ** 2, weight).mean(axis=0) for side in (slope, -slope)
    )
    return (
        np.log(depth + 0.3),
        np.log((together + 0.5) / (depth + 0.5)),
        np.log((faster + 0.2) / (depth + 0.3)),
        np.log((rise + 0.3) / (fall + 0.3)),
    )


def _melody(moments: Moments, weight: Floats) -> tuple[Floats, ...]:
    """Return how periodicity varies, lasts, how pitch glides, and whether partials stand still."""
    periodic, pitch = moments.periodic, moments.pitch
    changing = np.sqrt(np.clip(_mean(periodic**2, weight) - _mean(periodic, weight) ** 2, 0, None))
    jump = np.abs(np.diff(pitch, prepend=pitch[:1]))
    sure = np.clip((periodic - 0.3) / 0.3, 0, 1)
    lasting = _mean(np.exp(-jump / 0.06) * sure, weight)
    held = (soft((jump < 0.05).astype(np.float32), 0.02) > 0.9) * sure * weight
    speed = np.abs(np.gradient(soft(pitch, 0.015))) if len(pitch) > 1 else np.zeros_like(pitch)
    around = soft(weight, _AROUND)
    glide = (soft(speed * held, _AROUND) + 6e-5 * around) / (soft(held, _AROUND) + 0.05 * around)
    standing = soft(moments.partials * weight, 0.2) / soft(weight, 0.2)
    standing = (np.clip(standing, 0, None) ** 2).mean(axis=0)
    return changing, lasting, np.log(glide + 5e-4), np.log(_mean(standing, weight) + 0.01)


def _color(energy: Floats, bands: Floats, weight: Floats) -> tuple[Floats, ...]:
    """Return how dark a sound is, how flat its spectrum, and how much that changes in 0.15 s."""
    dark = 10 * np.log10(energy[:6].sum(axis=0) / energy[7:].sum(axis=0))
    mean = bands.mean(axis=0)
    flat = mean - 10 * np.log10((10 ** (bands / 10)).mean(axis=0))
    shape, lag = bands - mean, 15
    later = np.pad(shape, ((0, 0), (0, lag)), mode="edge")[:, lag:]
    change = np.roll(np.sqrt(((later - shape) ** 2).mean(axis=0)), lag // 2)
    return (
        _mean(np.clip(dark, -20, 35), weight),
        _mean(flat, weight),
        np.log(_mean(change, weight) + 0.5),
    )


def _pauses(loudness: Floats) -> tuple[Floats, ...]:
    """Return how much of the time is soft, and how much loudness varies."""
    energy = 10 ** (loudness / 10)
    quiet = soft((energy < 0.3 * soft(energy, 0.5)).astype(np.float32), 0.5)
    spread = np.clip(soft(loudness**2, 0.5) - soft(loudness, 0.5) ** 2, 0, None)
    return quiet, np.log(np.sqrt(spread) + 1)


def _mean(track: NDArray[np.floating], weight: Floats) -> Floats:
    """Return the mean about each moment of what is heard there."""
    return np.asarray(soft(track * weight, _AROUND) / soft(weight, _AROUND))


def _weight(loudness: Floats) -> Floats:
    """Return how much each moment counts: hardly where it is silent."""
    top = _top(loudness)
    floor = max(top - _RANGE, _FAINT)
    loud = np.clip((np.maximum(loudness, floor) - (top - 35)) / 10, 0, 1)
    return np.asarray(soft(loud, 0.03) + 0.02, np.float32)


def _length(weight: Floats) -> float:
    """Return the seconds from the first sound to the last."""
    loud = np.flatnonzero(weight > 0.5)
    return float(loud[-1] - loud[0]) / MOMENTS if len(loud) else 0.0


def _top(loudness: Floats) -> float:
    return float(np.percentile(loudness, 95))


def _decibels(energy: Floats) -> Floats:
    return np.asarray(10 * np.log10(energy), np.float32)
