"""Sounds of speech, put together from harmonics and noise."""

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


def _shaped(samples: np.ndarray, level: float) -> np.ndarray:
    edge = min(len(samples) // 4, round(0.015 * RATE))
    rise = np.ones(len(samples))
    rise[:edge] = np.linspace(0, 1, edge)
    rise[len(samples) - edge :] = np.linspace(1, 0, edge)
    scaled = samples / max(float(np.sqrt((samples**2).mean())), 1e-9) * level / 2
    return np.asarray(np.clip(scaled * rise, -1, 1), np.float32)
