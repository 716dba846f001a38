"""Crops: the part of a picture to keep when the frame has another shape."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from kit.engines.media import faces
from kit.engines.media.color import Bytes, Floats

__all__ = ["attention", "cut", "window"]

_SIDE = 96  # pixels of the map; where to look needs no detail
_FACE = 2.4  # a face outweighs whatever else is striking
_HEADROOM = 0.9  # how far above and around a face still matters, in its own size


def window(pixels: Bytes, aspect: float) -> tuple[int, int, int, int]:
    """Return the largest crop of an aspect that keeps what draws the eye.

    Parameters
    ----------
    pixels : ndarray of uint8
        Shape (height, width, 3), RGB.
    aspect : float
        Width over height of the crop.

    Returns
    -------
    tuple of int
        Left, top, width and height in pixels, inside the picture.
    """
    height, width = pixels.shape[:2]
    size = (min(width, max(1, round(height * aspect))), min(height, max(1, round(width / aspect))))
    if size == (width, height):
        return 0, 0, width, height
    weights = attention(pixels)
    if size[0] < width:
        return _best(weights.sum(axis=0), size[0], width), 0, *size
    return 0, _best(weights.sum(axis=1), size[1], height), *size


def cut(pixels: Bytes, aspect: float) -> Bytes:
    """Return the crop of `window`, a view on the picture."""
    x, y, width, height = window(pixels, aspect)
    return pixels[y : y + height, x : x + width]


def attention(
    pixels: Bytes, *, people: bool = True, found: Sequence[faces.Face] | None = None
) -> Floats:
    """Return how much each place draws the eye, a map of at most 96 pixels a side, about 0 to 3.

    Rare textures (spectral residual), colors that differ from the rest, faces, and a little the
    center.

    Parameters
    ----------
    people : bool
        Whether to look for faces, which takes most of the time.
    found : sequence of Face
        The faces, where they are known; they are not looked for then.

    Source: Hou and Zhang, "Saliency detection: a spectral residual approach" (CVPR 2007).
    """
    height, width = pixels.shape[:2]
    scale = _SIDE / max(height, width)
    size = (max(8, round(width * scale)), max(8, round(height * scale)))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    lab = cv2.cvtColor(small, cv2.COLOR_RGB2LAB).astype(np.float32)
    striking = 0.6 * _residual(lab[..., 0]) + 0.6 * _contrast(lab) + 0.1
    rows, columns = np.mgrid[0 : size[1], 0 : size[0]].astype(np.float32)
    across, down = columns / size[0] - 0.5, rows / size[1] - 0.48
    center = np.exp(-((across / 0.42) ** 2) - (down / 0.45) ** 2)
    weights = striking * (0.35 + 0.65 * center)
    if found is None:
        found = faces.find(pixels) if people else ()
    for face in found:
        x, y = face.x + face.width / 2, face.y + face.height / 2
        reach = np.float32(_HEADROOM * face.width * size[0] / width)
        squares = (columns - x * size[0] / width) ** 2 + (rows - y * size[1] / height) ** 2
        weights += _FACE * np.exp(-squares / reach**2)
    return np.asarray(weights, np.float32)


def _best(weights: Floats, length: int, whole: int) -> int:
    """Return where a stretch of a length holds most weight, in pixels of the whole."""
    sums = np.concatenate([[0.0], np.cumsum(weights, dtype=np.float64)])
    knots = np.linspace(0.0, whole, len(sums))
    starts = np.arange(whole - length + 1)
    held = np.interp(starts + length, knots, sums) - np.interp(starts, knots, sums)
    # Of equal stretches the middle one: a plain picture is cut in its center.
    best = np.flatnonzero(held >= held.max() - 1e-6 * max(1.0, sums[-1]))
    return int(best[len(best) // 2])


def _residual(gray: Floats) -> Floats:
    spectrum = np.fft.fft2(gray)
    loud = np.log(np.abs(spectrum) + 1e-6).astype(np.float32)
    rest = loud - cv2.blur(loud, (3, 3))
    energy = np.abs(np.fft.ifft2(np.exp(rest + 1j * np.angle(spectrum)))) ** 2
    return _unit(cv2.GaussianBlur(energy.astype(np.float32), (0, 0), 3))


def _contrast(lab: Floats) -> Floats:
    apart = np.linalg.norm(lab - lab.mean(axis=(0, 1)), axis=2)
    return _unit(cv2.GaussianBlur(apart, (0, 0), 2))


def _unit(weights: Floats) -> Floats:
    return np.asarray(weights / max(float(weights.max()), 1e-6), np.float32)
