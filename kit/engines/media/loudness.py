"""How loud a sound is, and gains over time that keep it in bounds.

A gain is one value for each millisecond: of ten minutes it is small enough to be worked out as a
whole, while the sound itself is read part by part.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Floats
from kit.engines.media.tracks import RATE, Sound

#: Biquads of the K weighting at 48 kHz, as (b, a). Source: ITU-R BS.1770-5, tables 1 and 2.
_WEIGHTING = (
    (
        (1.53512485958697, -2.69169618940638, 1.19839281085285),
        (1.0, -1.69065929318241, 0.73248077421585),
    ),
    ((1.0, -2.0, 1.0), (1.0, -1.99004745483398, 0.99007225036621)),
)
_BLOCK, _HOP = round(0.4 * RATE), round(0.1 * RATE)
#: Samples of a measured piece, those of its end that are new, and those of its beginning that only
#: let the filter settle.
_PIECE, _NEW = 1 << 17, 23 * _HOP
_SETTLE = _PIECE - _NEW
_GATE = -70.0
#: Samples for which one gain is worked out.
_STEP = 48


@dataclass(frozen=True, slots=True)
class Measured:
    """What was found in a sound.

    Parameters
    ----------
    lufs : float
        Integrated loudness; silence is -70 or less.
    peaks : ndarray of float32
        Shape (milliseconds,): the largest sample of each.
    """

    lufs: float
    peaks: Floats


def loudness(samples: Floats, check: Callable[[], None] = lambda: None) -> float:
    """Return the integrated loudness of samples of shape (channels, n) in LUFS."""
    return measured(Sound(samples), check).lufs


def measured(sound: Sound, check: Callable[[], None] = lambda: None) -> Measured:
    """Return the loudness and the peaks of a sound, which is read once.

    Parameters
    ----------
    check : callable
        Called several times a second while it works; it may raise to stop it.

    Source: ITU-R BS.1770-5, annex 1: 400 ms blocks, gated at -70 LUFS and 10 LU below the rest.
    """
    response = _response(_PIECE)
    hops, peaks = [np.zeros(0)], [np.zeros(0, np.float32)]
    for start in range(0, sound.count, _NEW):
        check()
        piece = sound.part(start - _SETTLE, start + _NEW)
        fresh = piece[:, _SETTLE : _SETTLE + sound.count - start]
        peaks.append(_per_step(np.abs(fresh).max(axis=0), np.max))
        weighted = np.fft.irfft(np.fft.rfft(piece.astype(np.float64)) * response)[:, _SETTLE:]
        energy = np.square(weighted).sum(axis=0).reshape(-1, _HOP).sum(axis=1)
        hops.append(energy[: fresh.shape[1] // _HOP])
    return Measured(_integrated(np.concatenate(hops)), np.concatenate(peaks))


def limiting(peaks: Floats, ceiling: float) -> Floats | None:
    """Return gains under which peaks stay below a ceiling, or None where they do anyway.

    Parameters
    ----------
    peaks : ndarray
        As `measured` returns them.
    ceiling : float
        0 to 1.
    """
    needed = np.minimum(1.0, ceiling / np.maximum(peaks, 1e-9)).astype(np.float32)
    if not len(needed) or needed.min() >= 1.0:
        return None
    # Hold each step's gain over its neighbors, then average: no peak escapes, no edge clicks.
    held = cv2.erode(needed[None], np.ones((1, 25), np.uint8), borderType=cv2.BORDER_REPLICATE)
    return np.asarray(cv2.blur(held, (21, 1), borderType=cv2.BORDER_REPLICATE)[0])


def ducking(
    voice: Sound,
    *,
    depth: float = 0.28,
    floor: float = 0.02,
    check: Callable[[], None] = lambda: None,
) -> Floats:
    """Return gains that make room for a voice and close the room after it.

    Parameters
    ----------
    depth : float
        Gain while somebody speaks; 0.28 is 11 dB down.
    floor : float
        Level, root of the mean square, above which somebody speaks.
    """
    parts = [np.zeros(0, np.float32)]
    parts += [_per_step(np.square(part).mean(axis=0), np.mean) for _, part in voice.parts(check)]
    # A running sum may end a hair below the zero of silence.
    level = np.sqrt(np.maximum(_averaged(np.concatenate(parts), 100), 0.0))
    speaks = (level > floor * min(1.0, float(level.max(initial=0.0)) / 0.1)).astype(np.float32)
    # Down a little before the first word, up only where a pause is a pause.
    held = cv2.dilate(speaks[None], np.ones((1, 701), np.uint8))[0]
    return np.asarray(1.0 - (1.0 - depth) * _averaged(held, 301), np.float32)


def per_sample(gains: Floats, first: int, last: int) -> Floats:
    """Return the gain of each sample from one number to before another.

    In straight lines from the middle of each millisecond to the middle of the next one.
    """
    begin = max(0, min(first // _STEP, len(gains)) - 2)
    near = gains[begin : last // _STEP + 2]
    at = (np.arange(first, last) + 0.5) / _STEP - 0.5
    return np.interp(at, np.arange(begin, begin + len(near)), near).astype(np.float32)


def _integrated(hops: NDArray[np.float64]) -> float:
    """Return the loudness of what has so much energy in each tenth of a second."""
    count = _BLOCK // _HOP
    if len(hops) < count:
        hops = np.pad(hops, (0, count - len(hops)))
    energy = np.convolve(hops, np.ones(count), "valid") / _BLOCK
    energy = energy[energy > 10 ** ((_GATE + 0.691) / 10)]
    if not len(energy):
        return _GATE
    energy = energy[energy >= energy.mean() / 10]
    return float(-0.691 + 10 * math.log10(energy.mean()))


def _averaged(values: NDArray[np.floating], steps: int) -> NDArray[np.floating]:
    if not len(values):
        return values
    line = np.ascontiguousarray(values[None], np.float32)
    return np.asarray(cv2.blur(line, (steps, 1), borderType=cv2.BORDER_REPLICATE)[0])


def _per_step(values: Floats, reduce: Callable[..., Any]) -> Floats:
    """Reduce a line of samples to one value for every `_STEP` of them."""
    padded = np.pad(values, (0, -len(values) % _STEP), mode="edge") if len(values) else values
    return np.asarray(reduce(padded.reshape(-1, _STEP), axis=1), np.float32)


def _response(count: int) -> NDArray[np.complex128]:
    turn = np.exp(-2j * np.pi * np.arange(count // 2 + 1) / count)
    response = np.ones(len(turn), np.complex128)
    for top, bottom in _WEIGHTING:
        response *= np.polyval(top[::-1], turn) / np.polyval(bottom[::-1], turn)
    return response
