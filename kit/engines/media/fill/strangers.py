"""Strangers: what looks like nothing that touches a hole, and so does not belong into it.

Beside a cup that is to go stands a second one. Around the hole there is only table, so a patch of
that cup is a stranger there, and costs what it differs from the most alike patch of the rim.
"""

from __future__ import annotations

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats
from kit.engines.media.fill.comparing import RADIUS, Places, patches

__all__ = ["strangeness"]

_RIM = 0.08  # how wide the rim is, as a share of the hole's longer side
_LEAST = 3  # pixels that it is wide at least
_ASKED = 500  # places of the rim that are compared
_STEP = 2  # pixels from one place that is judged to the next
_APART = 2 * RADIUS + 1  # places of the rim that share no pixel
_USUAL = 80  # percentile of what places of the rim differ from each other
_ALLOWED, _DOUBT = 1.5, 60.0  # parts of that, and mean squares more, that cost nothing
_BLOCK = 512


def strangeness(canvas: Floats, gap: Bytes, usable: Bytes) -> Floats:
    """Return how unlike all that touches a hole each place is, as a mean square of differences.

    Parameters
    ----------
    canvas : ndarray of float32
        Shape (height, width, 3).
    gap, usable : ndarray of uint8
        Shape (height, width): 255 in the hole, and where a whole patch is known and may be taken.

    Returns
    -------
    ndarray of float32
        Shape (height, width), 0 for what is no more unlike it than its own places are.
    """
    rim = _rim(gap, usable)
    if rim.shape[1] < 2:
        return np.zeros(gap.shape, np.float32)
    seen = patches(canvas, rim).reshape(rim.shape[1], -1)
    away = np.abs(rim[:, :, None] - rim[:, None]).max(axis=0)
    usual = np.where(away < _APART, np.float32(np.inf), _unlike(seen, seen)).min(axis=1)
    usual = usual[np.isfinite(usual)]
    allowed = _ALLOWED * float(np.percentile(usual, _USUAL)) + _DOUBT if usual.size else np.inf
    there = _sampled(usable)
    off = np.zeros(usable[::_STEP, ::_STEP].shape, np.float32)
    for first in range(0, there.shape[1], _BLOCK):
        part = there[:, first : first + _BLOCK]
        found = patches(canvas, part).reshape(part.shape[1], -1)
        off[part[0] // _STEP, part[1] // _STEP] = _unlike(found, seen).min(axis=1)
    off = np.maximum(off - np.float32(min(allowed, 1e9)), 0)
    size = (gap.shape[1], gap.shape[0])
    return np.asarray(cv2.resize(off, size, interpolation=cv2.INTER_LINEAR))


def _rim(gap: Bytes, usable: Bytes) -> Places:
    """Return places whose patches lie next to the hole, evenly chosen."""
    wide = max(_LEAST, round(_RIM * max(cv2.boundingRect(gap)[2:])))
    reach = 2 * (RADIUS + wide) + 1
    near = cv2.dilate(gap, np.ones((reach, reach), np.uint8)) > 0
    at = np.array(np.nonzero(near & (usable > 0)))
    return at[:, :: max(1, -(-at.shape[1] // _ASKED))]


def _sampled(usable: Bytes) -> Places:
    return np.array(np.nonzero(usable[::_STEP, ::_STEP])) * _STEP


def _unlike(some: Floats, others: Floats) -> Floats:
    """Return the mean squares of differences, shape (n, m), of patches (n, values), (m, values)."""
    squares = (np.einsum("ni,ni->n", patch, patch) for patch in (some, others))
    own, other = squares
    off = own[:, None] + other[None] - 2 * (some @ others.T)
    return np.asarray(np.maximum(off, 0) / some.shape[1], np.float32)
