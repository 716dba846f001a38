"""Sounds of speech, put together from harmonics and noise."""

import itertools
from functools import cache
from pathlib import Path
from typing import Any

import av
import numpy as np

RATE = 48_000
#: First two formants in Hz. Source: Peterson and Barney (1952), men's means.
VOWELS = {"ah": (730, 1090), "ee": (270, 2290), "oo": (300, 870)}
_CODECS = {
    ".wav": "pcm_s16le",
    ".flac": "flac",
    ".mp3": "libmp3lame",
    ".ogg": "libopus",
    ".m4a": "aac",
}


def vowel(name: str, seconds: float, level: float = 0.5, pitch: float = 120.0) -> np.ndarray:
    """Return a vowel, shape (n,), whose root mean square is about half of `level`."""
    time = np.arange(round(seconds * RATE)) / RATE
    total = np.zeros_like(time)
    for number in range(1, int(5000 / pitch)):
        frequency = number * pitch
        formants = (*VOWELS[name], 2500)
        strength = sum(
            gain / (1 + ((frequency - formant) / 90) ** 2)
            for formant, gain in zip(formants, (1.0, 0.5, 0.15), strict=True)
        )
        strength += 0.12 / number
        total += strength * np.cos(2 * np.pi * frequency * time + number**2)
    return _shaped(total, level)


def hum(seconds: float, level: float = 0.3) -> np.ndarray:
    """Return the sound of closed lips."""
    time = np.arange(round(seconds * RATE)) / RATE
    return _shaped(np.sin(2 * np.pi * 120 * time) + 0.2 * np.sin(2 * np.pi * 240 * time), level)


def hiss(seconds: float, level: float = 0.2) -> np.ndarray:
    """Return the sound of teeth together."""
    noise = np.random.default_rng(5).standard_normal(round(seconds * RATE))
    spectrum = np.fft.rfft(noise)
    spectrum[np.fft.rfftfreq(len(noise), 1 / RATE) < 4000] = 0
    return _shaped(np.fft.irfft(spectrum, len(noise)), level)


@cache
def sentence(
    seconds: float, *, pitch: float = 120.0, larger: float = 1.0, manner: str = "spoken"
) -> np.ndarray:
    """Return syllables: vowels of gliding resonances with stops, nasals and hisses between them.

    `pitch` in Hz; `larger` scales the resonances, 1 a man's, 1.3 a child's; `manner` is spoken,
    whispered or sung, which has longer syllables that hold their notes and tremble.
    """
    rng = np.random.default_rng(7)
    count = round(seconds * RATE)
    tones, gains = np.full(count, pitch), np.zeros(count)
    resonances, hissing = np.zeros((3, count)), np.zeros(count)
    at, lengths = 0, (0.3, 0.9) if manner == "sung" else (0.12, 0.3)
    while at < count:
        end = min(count, at + round(rng.uniform(*lengths) * RATE))
        steps = rng.choice([0, 2, 4, 5, 7]) if manner == "sung" else rng.uniform(-4, 5)
        tones[at:end] = pitch * 2 ** (steps / 12)
        name = ("ah", "ee", "oo")[rng.integers(3)]
        resonances[:, at:end] = larger * np.array([*VOWELS[name], 2500.0])[:, None]
        gains[at:end] = rng.uniform(0.5, 1)
        start = min(end, at + round(rng.uniform(0.05, 0.11) * RATE))
        kind = rng.integers(5)
        gains[at:start] *= (0, 0, 0.15, 1, 1)[kind]
        hissing[at:start] = kind == 1
        # After some words there is a breath.
        at = end + round(rng.uniform(0.15, 0.4) * RATE) * int(rng.random() < 0.15)
    slow = 0.05 if manner == "sung" else 0.2
    tones = _smoothed(tones, slow) * (1 + 0.01 * np.sin(np.arange(count) * 2 * np.pi * 5.5 / RATE))
    resonances = np.stack([_smoothed(row, 0.07) for row in resonances])
    breath = np.random.default_rng(8).standard_normal(count)
    whispered = manner == "whispered"
    total = _whispered(breath, resonances) if whispered else _sung(tones, resonances)
    total = total / max(np.abs(total).max(), 1e-9) * _smoothed(gains, 0.03)
    high = np.diff(breath, prepend=0.0) * 0.05
    return np.asarray(0.5 * (total + _smoothed(hissing, 0.02) * high), np.float32)


@cache
def chords(seconds: float, *, attack: float = 0.01, each: float = 0.5) -> np.ndarray:
    """Return triads of plucked or bowed strings, one after another."""
    rng, count = np.random.default_rng(3), round(seconds * RATE)
    out = np.zeros(count)
    for start in range(0, count, round(each * RATE)):
        time = np.arange(min(round(each * RATE), count - start)) / RATE
        root = 110 * 2 ** (rng.choice([0, 3, 5, 7, 10]) / 12)
        for step, number in itertools.product((0, 4, 7), range(1, 10)):
            wave = np.sin(2 * np.pi * root * 2 ** (step / 12) * number * time)
            out[start : start + len(time)] += wave * np.exp(-time * number) / number
        out[start : start + len(time)] *= np.clip(time / attack, 0, 1) * np.exp(-1.5 * time)
    return np.asarray(0.5 * out / np.abs(out).max(), np.float32)


@cache
def drums(seconds: float) -> np.ndarray:
    """Return a beat: kick, snare and hats."""
    rng, count = np.random.default_rng(4), round(seconds * RATE)
    out, time = np.zeros(count + RATE), np.arange(RATE // 4) / RATE
    for number, start in enumerate(range(0, count, round(0.3 * RATE))):
        hit = np.diff(rng.standard_normal(len(time) + 1)) * np.exp(-time / 0.03) * 0.25
        if number % 4 == 0:
            hit = hit + 1.5 * np.sin(2 * np.pi * (50 + 40 * np.exp(-time / 0.03)) * time) * np.exp(
                -time / 0.12
            )
        if number % 4 == 2:
            hit = hit + 0.6 * rng.standard_normal(len(time)) * np.exp(-time / 0.09)
        out[start : start + len(time)] += hit
    return np.asarray(0.6 * out[:count] / np.abs(out).max(), np.float32)


@cache
def noise(seconds: float, slope: float = 0.0, level: float = 0.2) -> np.ndarray:
    """Return steady noise whose amplitudes fall with this power of the frequency."""
    spectrum = np.fft.rfft(np.random.default_rng(6).standard_normal(round(seconds * RATE)))
    frequencies = np.maximum(np.fft.rfftfreq(round(seconds * RATE), 1 / RATE), 40)
    return _shaped(np.fft.irfft(spectrum * frequencies**-slope, round(seconds * RATE)), level)


@cache
def wind(seconds: float) -> np.ndarray:
    """Return gusts."""
    time = np.arange(round(seconds * RATE)) / RATE
    gusts = 0.5 + 0.3 * np.sin(2.1 * time) + 0.2 * np.sin(5.3 * time + 1)
    return np.asarray(noise(seconds, 0.8, 0.4) * gusts, np.float32)


@cache
def applause(seconds: float) -> np.ndarray:
    """Return many claps."""
    rng, count = np.random.default_rng(9), round(seconds * RATE)
    out, clap = np.zeros(count + RATE), np.exp(-np.arange(2400) / RATE / 0.012)
    for start in rng.integers(0, count, round(70 * seconds)):
        out[start : start + 2400] += clap * rng.standard_normal(2400) * rng.uniform(0.2, 1)
    return np.asarray(0.6 * out[:count] / np.abs(out).max(), np.float32)


def over(voice: np.ndarray, other: np.ndarray, decibels: float) -> np.ndarray:
    """Return a voice with something behind it that is softer than what it says."""
    loud = np.abs(voice) > 0.02
    gain = np.sqrt((voice[loud] ** 2).mean() / (other**2).mean()) * 10 ** (-decibels / 20)
    return np.asarray(voice + other[: len(voice)] * gain, np.float32)


def pause(seconds: float) -> np.ndarray:
    """Return silence."""
    return np.zeros(round(seconds * RATE), np.float32)


def saved(path: Path, *parts: np.ndarray) -> Path:
    """Write sounds one after another to a file; its ending says which kind."""
    samples = np.concatenate(parts).astype(np.float32)[None]
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream(_CODECS[path.suffix], rate=RATE)
        stream.codec_context.layout = "mono"
        resampler = av.AudioResampler(stream.codec_context.format, "mono", RATE, 960)
        frame = av.AudioFrame.from_ndarray(samples, format="flt", layout="mono")
        frame.sample_rate, frame.pts = RATE, 0
        for piece in [*resampler.resample(frame), *resampler.resample(None)]:
            container.mux(stream.encode(piece))
        container.mux(stream.encode(None))
    return path


def _sung(tones: np.ndarray, resonances: np.ndarray) -> np.ndarray:
    phase, total = 2 * np.pi * np.cumsum(tones) / RATE, np.zeros(len(tones))
    for number in range(1, int(4500 / tones.min())):
        near = (number * tones - resonances) / 55
        strength = np.array([1, 0.6, 0.3]) @ (1 / (1 + near**2)) + 0.02
        total += strength / number**0.6 * np.cos(number * phase + number**2)
    return total


def _whispered(noise: np.ndarray, resonances: np.ndarray) -> np.ndarray:
    """Return breath through gliding resonances: noise moved to where each of them is."""
    breadth = round(RATE / 150)
    total = np.zeros(len(noise))
    for gain, row in zip((1, 0.7, 0.5), resonances, strict=True):
        soft = np.convolve(noise, np.hanning(breadth), "same")
        total += gain * soft * np.cos(2 * np.pi * np.cumsum(row) / RATE)
    return total


def _smoothed(track: np.ndarray, seconds: float) -> np.ndarray:
    width = round(seconds * RATE) | 1
    padded = np.pad(track, width // 2, mode="edge")
    sums = np.cumsum(np.pad(padded, (1, 0)))
    return np.asarray((sums[width:] - sums[:-width]) / width)


def _shaped(samples: np.ndarray, level: float) -> np.ndarray:
    edge = min(len(samples) // 4, round(0.015 * RATE))
    rise = np.ones(len(samples))
    rise[:edge] = np.linspace(0, 1, edge)
    rise[len(samples) - edge :] = np.linspace(1, 0, edge)
    scaled = samples / max(float(np.sqrt((samples**2).mean())), 1e-9) * level / 2
    return np.asarray(np.clip(scaled * rise, -1, 1), np.float32)
