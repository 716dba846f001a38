"""Tone mapping of high dynamic range and wide colors to sRGB, by a color table.

Phones record HLG and cameras PQ, both with the wide primaries of BT.2020; without conversion they
look gray and dull, and so does a screen recording in Display P3. The table is computed once for a
video and costs as much as a color grade.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from kit.engines.media.color import Bytes, decode, encode

_TABLE_SIDE = 33
#: Nits of diffuse white, and of the brightest highlight that is kept. Source: ITU-R BT.2408.
_WHITE_NITS, _PEAK_NITS = 203.0, 1000.0
_KNEE = 0.72
#: Numbers of ITU-T H.273 for the primaries of BT.2020, and of Display P3.
_BT2020, _P3 = 9, 12
#: Primaries -> conversion of their linear light to BT.709. Source: ITU-R BT.2087, SMPTE EG 432-1.
_TO_709 = {
    _BT2020: np.array(
        [[1.6605, -0.5876, -0.0728], [-0.1246, 1.1329, -0.0083], [-0.0182, -0.1006, 1.1187]]
    ),
    _P3: np.array([[1.2249, -0.2249, 0.0], [-0.0420, 1.0420, 0.0], [-0.0197, -0.0786, 1.0983]]),
}


def _pq(signal: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return nits. Source: SMPTE ST 2084."""
    root = signal ** (32 / 2523)
    low = np.maximum(root - 3424 / 4096, 0.0)
    return np.asarray(10_000.0 * (low / (2413 / 128 - 2392 / 128 * root)) ** (8192 / 1305))


def _hlg(signal: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return nits on a display of `_PEAK_NITS`. Source: ITU-R BT.2100."""
    a, b, c = 0.17883277, 0.28466892, 0.55991073
    scene = np.where(signal <= 0.5, signal**2 / 3, (np.exp((signal - c) / a) + b) / 12)
    light = scene @ np.array([0.2627, 0.6780, 0.0593])
    return np.asarray(_PEAK_NITS * scene * np.maximum(light, 1e-6)[..., None] ** 0.2)


#: Transfer curve, by its number in ITU-T H.273 -> the light of a signal of 0 to 1.
CURVES = {16: _pq, 18: _hlg}
_OTHER_CURVE = 0  # for all other curves


def tone_map_for(curve: int, primaries: int) -> Callable[[Bytes], Bytes] | None:
    """Return the conversion from a transfer curve and primaries to sRGB RGB; None if already so."""
    if curve not in CURVES and primaries not in _TO_709:
        return None
    wide = primaries if primaries in _TO_709 else _BT2020
    table = _table(curve if curve in CURVES else _OTHER_CURVE, wide)
    return lambda pixels: np.array(Image.fromarray(pixels).filter(table))


@cache
def _table(curve: int, primaries: int) -> ImageFilter.Color3DLUT:
    axis = np.linspace(0.0, 1.0, _TABLE_SIDE)
    blue, green, red = np.meshgrid(axis, axis, axis, indexing="ij")
    signal = np.stack([red, green, blue], axis=-1)
    if curve == _OTHER_CURVE:
        # Decoded and encoded by the same curve: gray is unchanged, as in a video of normal colors.
        shown = encode(decode(signal) @ _TO_709[primaries].T)
        return ImageFilter.Color3DLUT(_TABLE_SIDE, shown.reshape(-1, 3))
    light = np.maximum(CURVES[curve](signal) / _WHITE_NITS @ _TO_709[primaries].T, 0.0)
    # By the brightest channel, so that colors keep their hue when darkened.
    bright = np.maximum(light.max(axis=-1, keepdims=True), 1e-6)
    shown = encode(light * (_compress(bright) / bright))
    return ImageFilter.Color3DLUT(_TABLE_SIDE, shown.reshape(-1, 3))


def _compress(light: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compress values above the knee so that the peak becomes 1."""
    value = np.minimum(light, _PEAK_NITS / _WHITE_NITS) ** (1 / 2.4)
    room, reach = 1.0 - _KNEE, (_PEAK_NITS / _WHITE_NITS) ** (1 / 2.4) - _KNEE
    over = np.maximum(value - _KNEE, 0.0) / reach
    # A rational curve of slope 1 at the knee.
    slope = reach / room
    bent = _KNEE + room * slope * over / (1 + (slope - 1) * over)
    return np.asarray(np.where(value <= _KNEE, value, bent) ** 2.4)
