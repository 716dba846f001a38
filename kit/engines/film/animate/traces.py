"""Traces: what a cutout left of its subject along the outline, such as hairs and thin rims.

It differs from the ground around it, and it touches the subject; left where it was, it would stand
beside the subject that moves as a second outline.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Bytes
from kit.engines.media.fill.nearby import around
from kit.engines.media.noise import smooth_step

_SIDE = 400  # pixels of the longer side at which they are looked for
_BAND = 0.028  # around the outline, as a share of the longer side: what may be a trace
_RIM = 0.004  # of that, what touches the subject
_UNLIKE = 4.0  # variances of the ground by which a trace differs from it
_AT_LEAST = 150.0  # mean square of differences that it differs by besides
_SOMEWHERE = 700.0  # the same at the clearest pixel of a trace
_CALM = 300.0  # variance of a ground up to which a trace is surely the subject's
_CLEAR = (16.0, 60.0)  # from what is behind it: where a trace begins to be one, and is it fully


def traces(pixels: Bytes, alpha: Bytes, least: int) -> tuple[Bytes, Bytes]:
    """Return 255 where pixels beside a cutout are not the ground's, and where they surely are its.

    Parameters
    ----------
    pixels : ndarray of uint8
        Shape (height, width, 3).
    alpha : ndarray of uint8
        Shape (height, width).
    least : int
        The coverage from which on a pixel is the subject's.

    Returns
    -------
    tuple of ndarray of uint8
        Both of shape (height, width), soft at their edges; the second lies inside the first.
    """
    height, width = alpha.shape
    scale = min(1.0, _SIDE / max(height, width))
    size = (max(4, round(width * scale)), max(4, round(height * scale)))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA).astype(np.float32)
    outside = cv2.resize(alpha, size, interpolation=cv2.INTER_AREA) < least
    away = cv2.distanceTransform(outside.astype(np.uint8), cv2.DIST_L2, 5) / max(size)
    if not (away > _BAND).any() or outside.all():
        return np.zeros_like(alpha), np.zeros_like(alpha)
    mean, variance = around(small, away > _BAND)
    off = np.square(small - mean).mean(axis=2)
    pixel = 1.5 / max(size)
    rim = max(_RIM, pixel)
    unlike = (off > _UNLIKE * variance + _AT_LEAST) & (away > rim) & (away <= _BAND)
    labels = cv2.connectedComponents(unlike.astype(np.uint8))[1]
    begins = _labelled(labels, unlike & (away <= rim + pixel))
    # What goes on beyond the band is a part of the ground that only passes behind the subject.
    goes_on = _labelled(labels, unlike & (away > _BAND - pixel))
    clear = _labelled(labels, unlike & (off > _SOMEWHERE))
    calm = variance < _CALM
    found, own = begins & clear & (calm | ~goes_on), begins & clear & calm & ~goes_on
    return _large(found, alpha.shape), _large(own, alpha.shape)


def with_traces(pixels: Bytes, background: Bytes, alpha: Bytes, own: Bytes) -> Bytes:
    """Return the coverage of a subject together with its traces.

    Parameters
    ----------
    pixels, background : ndarray of uint8
        Shape (height, width, 3): a picture with the subject, and without it and its traces.
    alpha, own : ndarray of uint8
        Shape (height, width): where the subject is, and where traces surely are its.
    """
    off = cv2.blur(cv2.absdiff(pixels, background), (3, 3)).max(axis=2)
    clear = smooth_step(*_CLEAR, off.astype(np.float32)) * own
    return np.asarray(np.maximum(alpha, np.rint(clear).astype(np.uint8)))


def _labelled(labels: NDArray[np.int32], where: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return all pixels of the pieces that are somewhere."""
    found = np.zeros(int(labels.max()) + 1, bool)
    found[labels[where]] = True
    return np.asarray(found[labels])


def _large(found: NDArray[np.bool_], shape: tuple[int, ...]) -> Bytes:
    # A trace goes on to the subject itself.
    mask = cv2.dilate(np.where(found, np.uint8(255), np.uint8(0)), np.ones((5, 5), np.uint8))
    return np.asarray(cv2.resize(mask, shape[1::-1], interpolation=cv2.INTER_LINEAR))
