"""Backdrops: what the background of a picture looks like, also behind its subject.

Only an even background can be told: a wall, a sky, a studio. Where it is busy nothing is claimed.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Bytes, Floats

__all__ = ["Backdrop", "backdrop", "in_lab"]

_MARGIN = 0.025  # around a subject, as a share of the longer side: its own rim may be there
_ROUNDS = 4
_DOUBT = 6.0  # from the fitted color in CIELAB, from where on a pixel counts for less
_REACH = 0.06  # over which the rest that a fit leaves is averaged, as a share of the longer side
_EVEN = 9.0  # from the color that is told: what is closer is the background
_MUCH = 0.75  # of what is outside of a subject must be so, or the background is not even
_LEAST = 200  # pixels of background that a fit needs


@dataclass(frozen=True, slots=True)
class Backdrop:
    """An even background.

    Parameters
    ----------
    away : ndarray of float32
        Shape (height, width): how far the picture is from it, in CIELAB.
    colors : ndarray of float32
        Shape (height, width, 3): the background in CIELAB, also behind the subject.
    rough : float
        How far the background itself is from that, mostly.
    even : float
        The share of what is outside of the subject that is near it, 0 to 1.
    """

    away: Floats
    colors: Floats
    rough: float
    even: float


def in_lab(pixels: Bytes) -> Floats:
    """Return a picture in CIELAB, lightness 0 to 100."""
    lab: Floats = cv2.cvtColor(pixels.astype(np.float32) / 255, cv2.COLOR_RGB2LAB)
    return lab


def backdrop(small: Bytes, found: Bytes) -> Backdrop | None:
    """Return the background around a subject, or None where it is not even.

    Parameters
    ----------
    small : ndarray of uint8
        Shape (height, width, 3), RGB.
    found : ndarray of uint8
        Shape (height, width), 1 where the subject is and 0 elsewhere.
    """
    reach = 2 * max(1, round(_MARGIN * max(found.shape))) + 1
    behind = cv2.dilate(found, np.ones((reach, reach), np.uint8)) == 0
    if behind.sum() < _LEAST:
        return None
    lab = in_lab(small)
    colors = _surface(lab, behind)
    rest = lab - colors
    near = behind & (np.linalg.norm(rest, axis=2) < 2 * _EVEN)
    colors += _spread(rest, near, _REACH * max(found.shape))
    away = np.asarray(np.linalg.norm(lab - colors, axis=2), np.float32)
    inside = behind & (away < _EVEN)
    even = float(inside.sum() / behind.sum())
    if inside.sum() < _LEAST or even < _MUCH:
        return None
    return Backdrop(away, colors, float(np.percentile(away[inside], 90)), even)


def _surface(lab: Floats, behind: NDArray[np.bool_]) -> Floats:
    """Return the smooth change of color over a picture that most of its background follows."""
    height, width = behind.shape
    rows, columns = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j].astype(np.float32)
    terms = np.stack([np.ones_like(rows), rows, columns, rows**2, columns**2, rows * columns], 2)
    some = np.flatnonzero(behind)[:: max(1, int(behind.sum()) // 4000)]
    base, colors = terms.reshape(-1, 6)[some], lab.reshape(-1, 3)[some]
    weights = np.ones(len(some), np.float32)
    # It starts from the color that most have: another thing must not pull it along.
    off = np.linalg.norm(colors - np.median(colors, axis=0), axis=1)
    weights = 1 / (1 + (off / (2 * _DOUBT)) ** 4)
    fit = np.zeros((6, 3), np.float32)
    for _ in range(_ROUNDS):
        weighted = base * weights[:, None]
        fit = np.linalg.solve(base.T @ weighted + 1e-3 * np.eye(6), weighted.T @ colors)
        off = np.linalg.norm(colors - base @ fit, axis=1)
        weights = 1 / (1 + (off / _DOUBT) ** 4)
    return np.asarray(terms @ fit, np.float32)


def _spread(rest: Floats, where: NDArray[np.bool_], reach: float) -> Floats:
    """Return the mean of what is near; nothing where nothing is."""
    share = where.astype(np.float32)
    weight = cv2.GaussianBlur(share, (0, 0), reach)
    near = cv2.GaussianBlur(rest * share[..., None], (0, 0), reach)
    return np.asarray(near / (weight + 0.02)[..., None], np.float32)
