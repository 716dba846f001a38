"""Voice analysis: the mouth's motion for every frame of a clip.

Loudness between 250 and 1000 Hz gives the opening of the jaw, the balance of the bands above it
spread or round lips, hiss brings the teeth together, and a short drop between two louder moments
is a closure. It detects mouth motion, not letters. Sound without the syllables and changing pitch
of a voice, such as noise, keeps the mouth shut.

Source: the ranges of the first two formants and of frication, G. E. Peterson and H. L. Barney,
"Control methods used in a study of the vowels" (1952); modulation as a mark of speech, E. Scheirer
and M. Slaney, "Construction and evaluation of a robust speech/music discriminator" (1997).
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
from kit.engines.media.sound import RATE, Sound

#: Analysis frames per second, and samples of each.
_MOMENT_RATE = 100
_HOP, _SPAN, _FFT, _BATCH = RATE // _MOMENT_RATE, 1920, 2048, 500
#: Bands in Hz for mouth shapes: voicing, jaw, round, spread, hiss; and edges of those for voice
#: detection, about as wide as in hearing.
_BANDS = ((80, 250), (250, 950), (950, 1600), (1600, 3200), (3600, 7900))
_EDGES = (100, 200, 300, 400, 510, 630, 770, 920, 1080, 1270, 1480, 1720, 2000, 2320, 2700, 3150)
#: Spectral lines of the pitch search, points of its autocorrelation, and shortest and longest
#: period of a voice in them: 500 and 70 Hz.
_PERIODIC, _CIRCLE, _PERIODS = (3, 150), 680, (32, 228)
#: From syllable depth and change of periodicity to the log odds of a voice; below the last but one
#: figure there is none, above the last there is one.
_DEPTH, _CHANGE, _BIAS, _NOISE, _VOICE = 2.75, 38.0, -8.9, -1.5, -0.3
_AROUND, _VERDICT = 0.35, 0.8  # seconds, as deviations
#: Softer sounds are not voice, in dB of full scale; and the range of loud moments, which decide.
_MIN_LEVEL, _LEVEL_RANGE = -52.0, 45.0
#: Seconds that a mouth takes to open and to close, and by which it moves before its sound.
_OPEN_SECONDS, _CLOSE_SECONDS, _LEAD_SECONDS = 0.028, 0.060, 0.045


@dataclass(frozen=True, slots=True)
class Speech:
    """The mouth's motion in each frame, float32 arrays of shape (frames,)."""

    #: Opening of the mouth: 0 closed, about 1 at the loudest open vowels.
    jaw: Floats
    #: -1: lips round as in "oo", to 1: spread as in "ee".
    spread: Floats
    #: 0 to 1: teeth together, as in "s".
    hiss: Floats
    #: 0 to 1: lips pressed together, as in "p".
    closure: Floats
    #: 0 to 1: slow loudness, which drives nodding.
    stress: Floats

    def __len__(self) -> int:
        return len(self.jaw)


def analyze_voice(sound: Sound, fps: int, progress: Progress) -> Speech:
    """Return the mouth's motion for a sound, one value per frame of its length, at least one."""
    count = max(1, int(np.ceil(sound.seconds * fps - 1e-6)))
    mouth, energy, periodic = _measure_moments(sound.samples.mean(axis=0), progress)
    tracks = _mouth_tracks(mouth, _voice_probability(energy, periodic))
    at = (np.arange(count) + 0.5) / fps + _LEAD_SECONDS
    times = np.arange(len(periodic)) / _MOMENT_RATE
    return Speech(*(np.interp(at, times, track).astype(np.float32) for track in tracks))


def _measure_moments(samples: Floats, progress: Progress) -> tuple[Floats, Floats, Floats]:
    """Return the energies of both kinds of bands, and the periodicity of each moment, 0 to 1."""
    # Silence at the end lets the mouth close before the clip ends if that is longer than the sound.
    padded = np.pad(samples, (_SPAN // 2, _SPAN + 20 * _HOP))
    window = np.hanning(_SPAN).astype(np.float32)
    spans = np.lib.stride_tricks.sliding_window_view(padded, _SPAN)[::_HOP]
    frequencies = np.fft.rfftfreq(_FFT, 1 / RATE)
    sums = np.array(
        [(frequencies >= low) & (frequencies < high) for low, high in (*_BANDS, *pairwise(_EDGES))],
        np.float32,
    )
    scale = np.float32((2.0 / float(window.sum())) ** 2 / 2)  # a full-scale sine is about 0 dB
    first, last = _PERIODIC
    energies, periodic = [], []
    for start in progress.over(range(0, len(spans), _BATCH)):
        lines = np.fft.rfft(spans[start : start + _BATCH] * window, _FFT, axis=1)
        power = (np.abs(lines) ** 2 * scale).astype(np.float32)
        energies.append(sums @ power.T)
        # Roots of the energies prevent a single strong resonance from looking like a pitch.
        roots = np.pad(np.sqrt(power[:, first:last]), ((0, 0), (first, 0)))
        likeness = np.fft.irfft(roots, _CIRCLE, axis=1)
        periodic.append(likeness[:, slice(*_PERIODS)].max(axis=1) / (likeness[:, 0] + 1e-9))
    energy = np.concatenate(energies, axis=1) + np.float32(1e-10)
    return energy[: len(_BANDS)], energy[len(_BANDS) :], np.concatenate(periodic).astype(np.float32)


def _voice_probability(energy: Floats, periodic: Floats) -> Floats:
    """Return the probability that each moment belongs to a voice, 0 to 1."""
    loudness = _decibels(energy.sum(axis=0))
    top = float(np.percentile(loudness, 95))
    weight = _smooth(np.clip((loudness - (top - 35)) / 10, 0, 1), 0.03) + 0.02

    def mean(track: Floats) -> Floats:
        return np.asarray(_smooth(track * weight, _AROUND) / _smooth(weight, _AROUND))

    bands = _decibels(energy)
    tops = np.percentile(bands, 95, axis=1, keepdims=True)
    bands = np.maximum(bands, tops - _LEVEL_RANGE)
    syllables = np.sqrt(mean((_smooth(bands, 0.02) - _smooth(bands, 0.11)) ** 2)).mean(axis=0)
    changing = np.sqrt(np.maximum(mean(periodic**2) - mean(periodic) ** 2, 0))
    verdict = _DEPTH * np.log(syllables + 0.3) + _CHANGE * changing + _BIAS
    verdict = np.clip(verdict, -5, 5)
    smooth = _smooth(verdict * weight, _VERDICT) / _smooth(weight, _VERDICT)
    return smooth_step(_NOISE, _VOICE, smooth) * (top > _MIN_LEVEL)


def _mouth_tracks(bands: Floats, sure: Floats) -> tuple[Floats, ...]:
    # Subtract the constant background; keep some of it for the comparison of bands.
    behind = cv2.erode(_smooth(bands, 0.05), np.ones((1, 4 * _MOMENT_RATE), np.uint8))
    bands = np.maximum(bands - 1.5 * _smooth(behind, 0.5), 0.02 * bands)
    voicing, low, middle, high, hissing = bands
    total = bands.sum(axis=0)
    loudness, level = _decibels(total), _decibels(low + middle + 0.3 * voicing)
    spoken = sure > 0.5
    gate = sure * smooth_step(_MIN_LEVEL, _MIN_LEVEL + 5, level)
    top = _peak_level(loudness, spoken)
    gate *= smooth_step(top - 30, top - 25, loudness)
    hiss = smooth_step(0.25, 0.7, hissing / total)
    hiss *= np.clip(1.6 * (1 + (loudness - top) / 26), 0, 1)
    # The balance of the bands differs between voices too.
    balance = np.log(high / middle)
    usual = float(np.clip(np.median(balance[gate > 0.5]), -2.5, 2.0)) if (gate > 0.5).any() else 0.0
    spread = np.clip(0.4 * (balance + 0.105 - 0.65 * usual), -1, 1) * gate * (1 - hiss)
    # Open vowels have a high lowest resonance, closed ones and hums one close to the voicing.
    above = np.clip(1 + (level - _peak_level(level, spoken)) / 26, 0, 1.1)
    jaw = above**1.35 * (0.3 + 0.7 * low / (low + voicing)) * (1 - 0.7 * hiss) * gate
    # Between "ee" and "oo": neither a spread nor a round mouth is ever wide open.
    jaw *= 1 - 0.35 * np.abs(spread) ** 1.5
    opened = jaw[(jaw > 0.05) & spoken]
    jaw /= max(0.25, float(np.percentile(opened, 92)) if len(opened) else 1.0)
    # How much softer each moment is than the loudest 30 to 110 ms before and after it.
    views = np.lib.stride_tricks.sliding_window_view(np.pad(loudness, 11, mode="edge"), 23)
    dip = np.minimum(views[:, :8].max(axis=1), views[:, -8:].max(axis=1)) - loudness
    closure = _smooth(smooth_step(7, 15, dip) * (hiss < 0.3), 0.012) * sure
    return (
        _ease(np.clip(jaw, 0, 1.15), _OPEN_SECONDS, _CLOSE_SECONDS) * (1 - closure),
        _smooth(_ease(spread, 0.05, 0.07), 0.015),
        _smooth(hiss * gate, 0.02),
        closure,
        _smooth(np.clip(1 + (level - _peak_level(level, spoken)) / 30, 0, 1.1) * gate, 0.22),
    )


def _peak_level(level: Floats, spoken: NDArray[np.bool_]) -> float:
    """Return the peak level of the voice; louder other sounds, such as music, do not count."""
    return max(float(np.percentile(level[spoken] if spoken.any() else level, 95)), _MIN_LEVEL + 20)


def _decibels(energy: Floats) -> Floats:
    return np.asarray(10 * np.log10(energy), np.float32)


def _ease(track: Floats, rise: float, fall: float) -> Floats:
    """Return a track that follows with one time constant upward and another downward, seconds."""
    up, down = (1 - float(np.exp(-1 / (_MOMENT_RATE * seconds))) for seconds in (rise, fall))
    out, value = np.empty(len(track), np.float32), 0.0
    for number, wanted in enumerate(track.tolist()):
        value += (wanted - value) * (up if wanted > value else down)
        out[number] = value
    return out


def _smooth(track: Floats, seconds: float) -> Floats:
    """Return tracks smoothed by a deviation in seconds, along the last axis; ends are extended."""
    rows, edge = np.atleast_2d(track).astype(np.float32), cv2.BORDER_REPLICATE
    kernel = cv2.getGaussianKernel(int(6 * seconds * _MOMENT_RATE) | 1, seconds * _MOMENT_RATE)
    smooth = cv2.sepFilter2D(rows, -1, kernel, np.ones((1, 1)), borderType=edge)
    return np.asarray(smooth.reshape(np.shape(track)))
