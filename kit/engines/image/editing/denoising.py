"""Denoising: what in small squares is weaker than the picture's own noise is taken for noise.

The noise is measured in the picture itself, for each color and fineness, so that the grain of a
sensor and what a JPEG left of it are treated alike, and a clean picture stays as it is.

Source: Yu and Sapiro, "DCT image denoising: a simple and effective image denoising algorithm"
(IPOL 2011).
"""

from __future__ import annotations

from itertools import product

import cv2
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from kit.engines.media.color import Bytes, Floats

SIDE = 8
_STEP = 2  # between squares: each pixel is a mean of 16 of them
_CLEAR = 2.6  # times the noise, at half strength: what is weaker goes
_FLAT = 0.25  # of the squares, the plainest, show the noise
_MOST = 32.0  # tones: what is stronger is a pattern
_DARK, _LIGHT = 6, 249  # tones beyond which noise is clipped
_SAMPLES = 12_000  # squares that are looked at
_FEWEST = 16  # below it nothing is known of the noise


def _waves() -> Floats:
    """Return the cosine waves of a square, shape (64, 64), one a row."""
    one = cv2.dct(np.eye(SIDE, dtype=np.float32), flags=cv2.DCT_ROWS).T
    return np.asarray(np.kron(one, one), np.float32)


#: Gray and two colors in which noise of the three channels is apart and as strong.
_MIX = np.array([[1, 1, 1], [1, 0, -1], [1, -2, 1]], np.float32)
_MIX /= np.linalg.norm(_MIX, axis=1, keepdims=True)


def noise_of(pixels: Bytes) -> Floats:
    """Return how strong the noise is, shape (3, 64): of gray and two colors, for each wave."""
    height, width = pixels.shape[:2]
    if min(height, width) < SIDE:
        return np.zeros((3, SIDE * SIDE), np.float32)
    # An odd step: squares lie differently on those of a JPEG.
    step = max(SIDE, int((height * width / _SAMPLES) ** 0.5)) | 1
    squares = sliding_window_view(pixels, (SIDE, SIDE), axis=(0, 1))[::step, ::step]
    flat = squares.reshape(-1, 3, SIDE * SIDE)
    mean = flat.mean(axis=2)
    found = (_MIX @ flat.astype(np.float32)) @ _waves().T
    rough = np.sqrt(np.square(found[:, 0, 1:]).mean(axis=1))
    usable = ((mean > _DARK) & (mean < _LIGHT)).all(axis=1)
    if np.count_nonzero(usable) < _FEWEST:
        return np.zeros((3, SIDE * SIDE), np.float32)
    plain = usable & (rough <= np.quantile(rough[usable], _FLAT))
    noise = np.sqrt(np.square(found[plain]).mean(axis=0))
    return np.asarray(np.minimum(noise, np.float32(_MOST)))


def denoised(pixels: Bytes, noise: Floats, strength: float) -> Bytes:
    """Return a picture without its noise.

    Parameters
    ----------
    pixels : ndarray of uint8
        Shape (height, width, 3).
    noise : ndarray of float32
        Shape (3, 64), from `noise_of`.
    strength : float
        From 0; 0.5 takes out what was measured, 1 twice that.
    """
    height, width = pixels.shape[:2]
    below, beside = (SIDE + -side % _STEP for side in (height, width))
    padded = cv2.copyMakeBorder(pixels, SIDE, below, SIDE, beside, cv2.BORDER_REFLECT)
    planes = np.ascontiguousarray((padded.astype(np.float32) @ _MIX.T).transpose(2, 0, 1))
    least = 2 * strength * _CLEAR * noise
    clean = np.stack([_cleared(plane, limits) for plane, limits in zip(planes, least, strict=True)])
    clean = clean[:, SIDE : SIDE + height, SIDE : SIDE + width]
    out = clean.transpose(1, 2, 0) @ _MIX
    return np.asarray(np.rint(out).clip(0, 255), np.uint8)


def _cleared(plane: Floats, limits: Floats) -> Floats:
    """Return a plane whose weak waves are gone, each pixel a mean of all squares that cover it."""
    waves = _waves()
    squares = sliding_window_view(plane, (SIDE, SIDE))[::_STEP, ::_STEP]
    rows, columns = squares.shape[:2]
    found = squares.reshape(-1, SIDE * SIDE) @ waves.T
    strong = np.abs(found) > limits
    strong[:, 0] = True  # its mean
    found *= strong
    # A square that a few waves describe is trusted more than one with an edge.
    trust = 1 / np.count_nonzero(strong, axis=1).astype(np.float32)
    back = (found @ waves) * trust[:, None]
    back = back.reshape(rows, columns, SIDE, SIDE)
    trust = trust.reshape(rows, columns)
    total, weight = np.zeros_like(plane), np.zeros_like(plane)
    for down, across in product(range(SIDE), repeat=2):
        lines = slice(down, down + _STEP * rows, _STEP)
        place = (lines, slice(across, across + _STEP * columns, _STEP))
        total[place] += back[:, :, down, across]
        weight[place] += trust
    return np.asarray(total / np.maximum(weight, 1e-9))
