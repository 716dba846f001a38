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
#: Between squares, down and across: each pixel is a mean of 16 of them in gray and of 8 in the two
#: colors, whose detail the eye sees less.
_STEPS = ((2, 2), (2, 4), (2, 4))
_WIDEST = 4  # of the steps
_AT_ONCE = 4096  # squares: about what the processor's cache holds
#: Squares that are multiplied at once: of more, BLAS makes work for several threads, and that they
#: wait for each other takes ten times as long as the work.
_COLUMNS = 64
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
    below, beside = (SIDE + -side % _WIDEST for side in (height, width))
    padded = cv2.copyMakeBorder(pixels, SIDE, below, SIDE, beside, cv2.BORDER_REFLECT)
    planes = cv2.split(cv2.transform(padded.astype(np.float32), _MIX))
    least = 2 * strength * _CLEAR * noise
    clean = [
        _cleared(plane, limits, steps)[SIDE : SIDE + height, SIDE : SIDE + width]
        for plane, limits, steps in zip(planes, least, _STEPS, strict=True)
    ]
    mixed = cv2.transform(cv2.merge(clean), _MIX.T)
    return np.asarray(cv2.convertScaleAbs(np.maximum(mixed, 0.0, out=mixed)))


def _cleared(plane: Floats, limits: Floats, steps: tuple[int, int]) -> Floats:
    """Return a plane whose weak waves are gone, each pixel a mean of all squares that cover it.

    The plane is taken apart into its phases, pixels that are a step apart: what the same pixel of
    all squares shows is then one block of memory, and arithmetic runs along it.
    """
    down, across = steps
    height, width = plane.shape[0] // down, plane.shape[1] // across
    phases = plane.reshape(height, down, width, across).transpose(1, 3, 0, 2).copy()
    tall, wide = SIDE // down, SIDE // across
    squares = sliding_window_view(phases, (tall, wide), axis=(2, 3)).transpose(4, 0, 5, 1, 2, 3)
    rows, columns = squares.shape[4:]
    high = max(1, _AT_ONCE // columns)
    clear = _Clearing(limits, high * columns)
    total, weight = np.zeros_like(phases), np.zeros((height, width), np.float32)
    for row in range(0, rows, high):
        back, trust = clear(squares[..., row : row + high, :])
        for low, right in product(range(tall), range(wide)):
            place = (slice(row + low, row + low + len(trust)), slice(right, right + columns))
            total[..., *place] += back[low, :, right]
            weight[place] += trust
    total /= np.maximum(weight, 1e-9)
    return total.transpose(2, 0, 3, 1).reshape(plane.shape)


class _Clearing:
    """Takes the weak waves out of squares, in memory that is taken once.

    Parameters
    ----------
    limits : ndarray of float32
        Shape (64,): below which strength a wave is weak.
    most : int
        Squares at a time.
    """

    def __init__(self, limits: Floats, most: int) -> None:
        waves, unit = _waves(), np.maximum(limits, 1e-6)
        # Measured in their limits, all waves are compared with 1.
        self._ahead, self._back = waves / unit[:, None], (waves * unit[:, None]).T.copy()
        self._memory = np.zeros((3, SIDE * SIDE * _whole(most)), np.float32)

    def __call__(self, squares: Floats) -> tuple[Floats, Floats]:
        """Return squares without their weak waves, times how far they are trusted, and that.

        Parameters
        ----------
        squares : ndarray of float32
            The pixels of a square in the first four axes, the squares in the last two.
        """
        count = squares.shape[4] * squares.shape[5]
        whole = _whole(count)
        flat = (part[: SIDE * SIDE * whole].reshape(-1, whole) for part in self._memory)
        pixels, found, strong = flat
        pixels[:, :count].reshape(squares.shape)[:] = squares
        np.matmul(self._ahead, _in_blocks(pixels), out=_in_blocks(found))
        np.multiply(found, found, out=strong)
        cv2.threshold(strong, 1.0, 1.0, cv2.THRESH_BINARY, dst=strong)
        strong[0] = 1.0  # its mean
        found *= strong
        # A square that a few waves describe is trusted more than one with an edge.
        trust = np.float32(1.0) / strong.sum(axis=0)
        found *= trust
        np.matmul(self._back, _in_blocks(found), out=_in_blocks(pixels))
        back = pixels[:, :count].reshape(squares.shape)
        return back, trust[:count].reshape(squares.shape[4:])


def _whole(count: int) -> int:
    """Return a number of squares that can be multiplied in blocks."""
    return count + -count % _COLUMNS


def _in_blocks(flat: Floats) -> Floats:
    """See a matrix of 64 rows in blocks of `_COLUMNS`, shape (blocks, 64, columns)."""
    return flat.reshape(len(flat), -1, _COLUMNS).transpose(1, 0, 2)
