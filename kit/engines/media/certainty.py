"""Certainty: how far a cutout can be trusted, told without knowing what its subject is.

A color model always ends somewhere. Where it ends well it stays when it is let go on alone, and
what it took has colors of its own; what is neither was cut somewhere in the midst of things.
"""

from __future__ import annotations

import cv2
import numpy as np

from kit.engines.media.color import Bytes
from kit.engines.media.cutout_marks import MAYBE_BACK, MAYBE_FRONT
from kit.engines.media.guesses import endings, fitted

__all__ = ["LEAST", "certainty"]

#: Less is no cutout that anybody would use.
LEAST = 0.5

_ROUNDS = 3  # that the models go on alone
_DOUBT = 0.14  # share that runs away, times that of colors in common: what is more is unsure
_SMALL, _ALONE = 0.06, 0.2  # of the picture; how much other guesses overlap what only one has found
_SIDES, _EDGE = 0.3, 0.95  # of both sides, and of the lower edge, that the ground takes at least
_LEVEL = 0.12  # of the height by which its upper edge rises and falls at most
_HIDDEN = 0.02  # of the upper edge that it touches at most


def certainty(small: Bytes, found: Bytes, *, person: bool) -> float:
    """Return how sure a cutout is, 0 to 1; `LEAST` divides what is of use from what is not.

    Fitted to 90 photos and 170 compositions: of cutouts that overlap the true subject by more than
    four fifths none is below, of those by less than a half a third is.

    Parameters
    ----------
    small : ndarray of uint8
        Shape (height, width, 3), RGB.
    found : ndarray of uint8
        Shape (height, width), 1 where the subject is and 0 elsewhere; somewhere at least.
    person : bool
        Whether it was found by a face.
    """
    doubt = (1.0 - _stays(small, found)) * _in_common(small, found) / _DOUBT
    if not person:
        doubt = max(doubt, float(_is_ground(found)) * 2.0, _lonely(small, found))
    return float(np.clip(1.0 - (1.0 - LEAST) * doubt, 0.0, 1.0))


def _stays(small: Bytes, found: Bytes) -> float:
    """Return the overlap of a subject with what becomes of it where nothing is held."""
    size = (max(8, small.shape[1] // 2), max(8, small.shape[0] // 2))
    half = np.asarray(cv2.resize(small, size, interpolation=cv2.INTER_AREA))
    share = cv2.resize(found.astype(np.float32), size, interpolation=cv2.INTER_AREA)
    marks = np.where(share > 0.5, np.uint8(MAYBE_FRONT), np.uint8(MAYBE_BACK))
    return _overlap(fitted(half, marks, _ROUNDS), (share > 0.5).astype(np.uint8))


def _in_common(small: Bytes, found: Bytes) -> float:
    """Return which share of their colors a subject and all the rest have in common."""
    lab = cv2.cvtColor(small, cv2.COLOR_RGB2LAB).astype(np.int64)
    # Light in sixteen steps, for it changes along a thing; the other two in 32.
    colors = (lab >> np.array([4, 3, 3])) @ np.array([1024, 32, 1])
    own, other = (np.bincount(colors[found == side], minlength=16384) for side in (1, 0))
    return float(np.minimum(own / max(1, own.sum()), other / max(1, other.sum())).sum())


def _is_ground(found: Bytes) -> bool:
    """Return whether all is taken up to a level line: ground or water, and nothing on it."""
    sides = min(float(found[:, 0].mean()), float(found[:, -1].mean()))
    if sides < _SIDES or found[-1].mean() < _EDGE or found[0].mean() > _HIDDEN:
        return False
    return float(found.argmax(axis=0).std()) < _LEVEL * len(found)


def _lonely(small: Bytes, found: Bytes) -> float:
    """Return how far beyond reason a small thing is one that no other guess has found."""
    if found.mean() >= _SMALL:
        return 0.0
    ends = [
        cv2.resize(end, found.shape[::-1], interpolation=cv2.INTER_NEAREST)
        for end in endings(small)
    ]
    alike = float(np.mean([_overlap(np.asarray(end), found) for end in ends])) if ends else 0.0
    return (1.0 - alike) / (1.0 - _ALONE)


def _overlap(one: Bytes, other: Bytes) -> float:
    either = np.count_nonzero(one | other)
    return np.count_nonzero(one & other) / either if either else 1.0
