"""Sounds for models that take some: something like speech, and a little music.

Speech is harmonics of a falling voice under formants that glide from vowel to vowel; it says
nothing, but has the loudness, tone and pauses by which lips are moved.
"""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np

from kit.engines.media.color import Floats

_RATE = 48_000
#: First three formants in Hz. Source: Peterson and Barney (1952), women's means.
_VOWELS = {
    "a": (850, 1220, 2810),
    "e": (610, 2330, 2990),
    "i": (310, 2790, 3310),
    "o": (590, 920, 2710),
    "u": (370, 950, 2670),
}
_BANDS, _GAINS = (80.0, 110.0, 160.0), (1.0, 0.6, 0.3)
#: What is said: a vowel with its seconds, "s" for a hiss, "m" for closed lips, "-" for a pause.
_SAID = (
    *(("o", 0.22), ("m", 0.07), ("i", 0.16), ("s", 0.11), ("a", 0.26), ("e", 0.16), ("-", 0.2)),
    *(("u", 0.18), ("m", 0.06), ("a", 0.24), ("i", 0.14), ("s", 0.1), ("e", 0.18), ("-", 0.16)),
    *(("a", 0.2), ("m", 0.08), ("o", 0.28), ("u", 0.14), ("-", 0.2)),
)
_PITCH = 196.0
#: Chords as MIDI notes, two seconds each: C, A minor, F, G, with a step added.
_CHORDS = ((48, 64, 67, 74), (45, 60, 64, 71), (41, 60, 65, 69), (43, 59, 62, 69))
_BEAT, _ORDER = 0.25, (0, 2, 1, 3, 2, 1, 3, 2)


def speak() -> Floats:
    """Return something like speech, shape (1, n), float32, -1 to 1, at 48 kHz."""
    names = [name for name, seconds in _SAID for _ in range(round(seconds * _RATE))]
    count = len(names)
    voiced, humming, hissing = (
        _smooth(np.array([name in kind for name in names], np.float64), seconds)
        for kind, seconds in ((_VOWELS, 0.03), ("m", 0.02), ("s", 0.02))
    )
    time = np.arange(count) / _RATE
    pitch = _PITCH * (1.08 - 0.16 * time / time[-1]) * (1 + 0.04 * np.sin(time * 9.1))
    phase = 2 * np.pi * np.cumsum(pitch) / _RATE
    total = 0.35 * humming * np.sin(phase)
    formants = _formants(names)
    for number in range(1, 25):
        strength = np.full(count, 0.02)
        for formant, band, gain in zip(formants, _BANDS, _GAINS, strict=True):
            strength += gain / (1 + ((number * pitch - formant) / band) ** 2)
        total += voiced * strength * np.cos(number * phase + number**2) / (1 + 0.06 * number)
    hiss = np.diff(np.random.default_rng(5).standard_normal(count + 2), 2)
    total += 0.11 * hissing * hiss
    return _normalize(total[None])


def play_music() -> Floats:
    """Return quiet plucked music, shape (2, n), float32, -1 to 1, at 48 kHz; its end meets it."""
    bar = len(_ORDER) * _BEAT
    count = round(len(_CHORDS) * bar * _RATE)
    out = np.zeros((2, count), np.float32)
    for number, chord in enumerate(_CHORDS):
        _strike(out, number * bar, chord[0], 3.2, 0.55, 0.5)
        for step, place in enumerate(_ORDER):
            side = 0.5 + 0.3 * (-1) ** step
            _strike(out, number * bar + step * _BEAT, chord[place] + 12, 1.4, 0.3, side)
    return _normalize(out)


def write_wav(path: Path, samples: Floats) -> Path:
    """Write samples, shape (channels, n), as 16-bit WAV and return where."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(samples.shape[0])
        file.setsampwidth(2)
        file.setframerate(_RATE)
        file.writeframes((samples.T * 32767).round().astype("<i2").tobytes())
    return path


def _strike(
    out: Floats, start: float, note: int, seconds: float, level: float, side: float
) -> None:
    """Add a plucked note; what rings on after the end is heard at the start."""
    time = np.arange(round(seconds * _RATE)) / _RATE
    pitch = 440.0 * 2 ** ((note - 69) / 12)
    tone = np.zeros_like(time)
    for partial in range(1, 7):
        ringing = np.exp(-time * (1.6 + 1.1 * partial))
        tone += ringing * np.sin(2 * np.pi * pitch * partial * time) / partial**1.4
    tone *= level * np.clip(time / 0.004, 0, 1) * np.clip((seconds - time) / 0.1, 0, 1)
    places = (np.arange(len(time)) + round(start * _RATE)) % out.shape[1]
    out[0, places] += tone * (1 - side)
    out[1, places] += tone * side


def _formants(names: list[str]) -> list[Floats]:
    """Return three formants at every sample; what is no vowel is on its way to the next."""
    known = [_VOWELS["a"]]
    for name in reversed(names):
        known.append(_VOWELS.get(name, known[-1]))
    return [_smooth(row, 0.06) for row in np.array(known[:0:-1], np.float64).T]


def _smooth(values: Floats, seconds: float) -> Floats:
    half = round(seconds * _RATE / 2)
    window = np.hanning(2 * half + 1)
    padded = np.pad(values, half, mode="edge")
    size = len(padded) + len(window) - 1
    # By FFT: the window is thousands of samples long.
    product = np.fft.rfft(padded, size) * np.fft.rfft(window / window.sum(), size)
    return np.asarray(np.fft.irfft(product, size)[2 * half : 2 * half + len(values)])


def _normalize(samples: Floats) -> Floats:
    return np.asarray(samples / np.abs(samples).max() * 0.7, np.float32)
