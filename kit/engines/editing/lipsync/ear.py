"""Ears: whether what is heard is a voice, or hiss, hum, wind, applause, drums or music.

It weighs how a sound moves about each moment (two seconds or so), not how loud it is: speech rises
and falls with its syllables, is now periodic and now not, and its pitch glides; hiss does nothing
of that, and notes hold their pitch, begin at once and ring out.

Source: E. Scheirer and M. Slaney, "Construction and evaluation of a robust multifeature
speech/music discriminator" (1997); K. Seyerlehner et al., "Automatic music detection in television
productions" (2007), for partials that stand still.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.editing.lipsync.ear_weights import HIDDEN, HIDDEN_BIAS, OUT, OUT_BIAS
from kit.engines.editing.lipsync.moments import MOMENTS, Moments
from kit.engines.media.color import Floats
from kit.engines.media.noise import smooth_step

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
