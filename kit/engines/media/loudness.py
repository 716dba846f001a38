"""How loud samples are, and gains over time that keep them in bounds.

It works on bare arrays of shape (channels, n) at 48 kHz; `kit.engines.media.sound` is its face.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Floats

_RATE = 48_000
#: Biquads of the K weighting at 48 kHz, as (b, a). Source: ITU-R BS.1770-5, tables 1 and 2.
_WEIGHTING = (
    (
        (1.53512485958697, -2.69169618940638, 1.19839281085285),
        (1.0, -1.69065929318241, 0.73248077421585),
    ),
    ((1.0, -2.0, 1.0), (1.0, -1.99004745483398, 0.99007225036621)),
)
#: Samples of a measured piece, and of its beginning that only lets the filter settle.
_PIECE, _SETTLE = 1 << 17, 1 << 14
_BLOCK, _HOP = round(0.4 * _RATE), round(0.1 * _RATE)
_GATE = -70.0
#: Samples for which one gain is worked out.
_STEP = 48


def loudness(samples: Floats, check: Callable[[], None] = lambda: None) -> float:
    """Return the integrated loudness in LUFS; silence is -70 or less.

    Parameters
    ----------
    check : callable
        Called several times a second while it works; it may raise to stop it.

    Source: ITU-R BS.1770-5, annex 1: 400 ms blocks, gated at -70 LUFS and 10 LU below the rest.
    """
    hops = _hop_energies(samples, check)
    count = _BLOCK // _HOP
    if len(hops) < count:
        hops = np.pad(hops, (0, count - len(hops)))
    energy = np.convolve(hops, np.ones(count), "valid") / _BLOCK
    energy = energy[energy > 10 ** ((_GATE + 0.691) / 10)]
    if not len(energy):
        return _GATE
    energy = energy[energy >= energy.mean() / 10]
    return float(-0.691 + 10 * math.log10(energy.mean()))


def limited(samples: Floats, ceiling: float) -> Floats:
    """Return samples that stay below a ceiling, 0 to 1, turned down smoothly around each peak."""
    count = samples.shape[1]
    peaks = _per_step(np.abs(samples).max(axis=0), np.max)
    needed = np.minimum(1.0, ceiling / np.maximum(peaks, 1e-9)).astype(np.float32)
    if not len(needed) or needed.min() >= 1.0:
        return samples
    # Hold each step's gain over its neighbors, then average: no peak escapes, no edge clicks.
    held = cv2.erode(needed[None], np.ones((1, 25), np.uint8), borderType=cv2.BORDER_REPLICATE)
    smooth = cv2.blur(held, (21, 1), borderType=cv2.BORDER_REPLICATE)[0]
    return np.asarray(samples * _per_sample(smooth, count), np.float32)


def ducking(voice: Floats, *, depth: float = 0.28, floor: float = 0.02) -> Floats:
    """Return the gain, shape (n,), that makes room for a voice and closes the room after it.

    Parameters
    ----------
    depth : float
        Gain while somebody speaks; 0.28 is 11 dB down.
    floor : float
        Level, root of the mean square, above which somebody speaks.
    """
    power = _per_step(np.square(voice).mean(axis=0), np.mean)
    level = np.sqrt(_averaged(power, 100))
    speaks = (level > floor * min(1.0, float(level.max(initial=0.0)) / 0.1)).astype(np.float32)
    # Down a little before the first word, up only where a pause is a pause.
    held = cv2.dilate(speaks[None], np.ones((1, 701), np.uint8))[0]
    gain = 1.0 - (1.0 - depth) * _averaged(held, 301)
    return _per_sample(gain.astype(np.float32), voice.shape[1])


def _averaged(values: NDArray[np.floating], steps: int) -> NDArray[np.floating]:
    line = np.ascontiguousarray(values[None], np.float32)
    return np.asarray(cv2.blur(line, (steps, 1), borderType=cv2.BORDER_REPLICATE)[0])


def _per_step(values: Floats, reduce: Callable[..., Any]) -> Floats:
    """Reduce a line of samples to one value for every `_STEP` of them."""
    padded = np.pad(values, (0, -len(values) % _STEP), mode="edge") if len(values) else values
    return np.asarray(reduce(padded.reshape(-1, _STEP), axis=1), np.float32)


def _per_sample(values: Floats, count: int) -> Floats:
    """Spread one value a step over its samples, in straight lines from middle to middle."""
    at = (np.arange(count, dtype=np.float32) + 0.5) / _STEP - 0.5
    return np.interp(at, np.arange(len(values)), values).astype(np.float32)


def _hop_energies(samples: Floats, check: Callable[[], None]) -> NDArray[np.float64]:
    """Return the K-weighted energy of every 100 ms, all channels together."""
    response = _response(_PIECE)
    count = samples.shape[1] // _HOP
    squares = np.zeros(count * _HOP)
    new = _PIECE - _SETTLE
    for start in range(0, count * _HOP, new):
        check()
        first = start - _SETTLE
        part = samples[:, max(first, 0) : start + new]
        piece = np.zeros((samples.shape[0], _PIECE))
        begin = max(-first, 0)
        piece[:, begin : begin + part.shape[1]] = part
        weighted = np.fft.irfft(np.fft.rfft(piece) * response)[:, _SETTLE:]
        stop = min(start + new, count * _HOP)
        squares[start:stop] = np.square(weighted[:, : stop - start]).sum(axis=0)
    return np.asarray(squares.reshape(-1, _HOP).sum(axis=1))


def _response(count: int) -> NDArray[np.complex128]:
    turn = np.exp(-2j * np.pi * np.arange(count // 2 + 1) / count)
    response = np.ones(len(turn), np.complex128)
    for top, bottom in _WEIGHTING:
        response *= np.polyval(top[::-1], turn) / np.polyval(bottom[::-1], turn)
    return response
