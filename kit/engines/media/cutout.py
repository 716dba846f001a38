"""Cutouts: which pixels belong to the subject of a picture.

No trained network draws the outline: a color model of subject and background is fitted to the
picture (GrabCut), started from faces, from several guesses at a thing, or from where a caller says
that it is. It does well where the two differ in color, and guesses where they do not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.backdrops import backdrop
from kit.engines.media.certainty import LEAST, certainty
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.cutout_marks import FRONT, Box, people
from kit.engines.media.faces import find
from kit.engines.media.guesses import around, fitted, guessed
from kit.engines.media.matting import edged, keyed
from kit.engines.media.noise import smooth_step
from kit.engines.media.openings import company, opened
from kit.engines.media.outlines import whole

__all__ = ["LEAST", "cleaned", "judged", "subject"]

_SIDE = 352  # of the picture that the color model is fitted to
_EDGE_SIDE = 2048  # of the picture that leads the edges
_INNER_SIDE = 1200  # of the picture that the subject's own colors are spread in
_ROWS = 256  # of a band in which single pixels are changed
_SURELY = 250  # coverage from which on a pixel shows nothing but the subject
_ROUNDS = 2
_EMPTY = 0.004  # a smaller subject is none
_BESIDE = 0.4  # a second person's face has at least this share of the first one's width
_SMALLEST = 0.1  # of the shorter side: who has a smaller face may be anywhere in a scene
_CROWD = 6  # faces at most that make a person each


@dataclass(frozen=True, slots=True)
class _Seen:
    """A small copy of a picture, 1 in it where the subject is, and whether a face tells that."""

    small: Bytes
    found: Bytes
    person: bool


def subject(
    pixels: Bytes,
    on_report: Callable[[float], None] = lambda _: None,
    *,
    near: Bytes | None = None,
) -> Bytes:
    """Return how far each pixel belongs to the subject.

    Parameters
    ----------
    pixels : ndarray of uint8
        Shape (height, width, 3), RGB.
    on_report : callable
        Called with the share of the work done, 0 to 1; what it raises passes through.
    near : ndarray of uint8, optional
        Shape (height, width), over 127 about where the subject is: nothing else is looked for, and
        its outline is looked for near the one that is told.

    Returns
    -------
    ndarray of uint8
        Shape (height, width), 0 to 255, with soft edges; all 0 where no subject was found.

    Source: Rother, Kolmogorov and Blake, "GrabCut" (SIGGRAPH 2004); He, Sun and Tang, "Guided image
    filtering" (TPAMI 2013).
    """
    return _outlined(pixels, _seen(pixels, near, on_report), on_report)


def judged(
    pixels: Bytes,
    on_report: Callable[[float], None] = lambda _: None,
    *,
    near: Bytes | None = None,
) -> tuple[Bytes, float]:
    """Return what `subject` does, and how sure it is, 0 to 1; 1 where a caller says where to look.

    Below `LEAST` nobody would use it.
    """
    seen = _seen(pixels, near, on_report)
    alpha = _outlined(pixels, seen, on_report)
    if near is not None or not alpha.any():
        return alpha, 1.0
    return alpha, certainty(seen.small, seen.found, person=seen.person)


def _outlined(pixels: Bytes, seen: _Seen, on_report: Callable[[float], None]) -> Bytes:
    """Return how far each pixel belongs to what was found in the small picture."""
    height, width = pixels.shape[:2]
    if seen.found.mean() < _EMPTY:
        return np.zeros((height, width), np.uint8)
    guide = cv2.resize(pixels, _bounded(pixels.shape, _EDGE_SIDE)[0], interpolation=cv2.INTER_AREA)
    share = edged(guide, seen.small, seen.found)
    back = backdrop(seen.small, seen.found)
    if back is not None:
        share = keyed(guide, seen.found, back, share)
    on_report(0.9)
    alpha = np.rint(255 * smooth_step(0.12, 0.88, share)).astype(np.uint8)
    return np.asarray(cv2.resize(alpha, (width, height), interpolation=cv2.INTER_LINEAR))


def cleaned(
    pixels: Bytes, alpha: Bytes, on_report: Callable[[float], None] = lambda _: None
) -> Bytes:
    """Return pixels whose half-covered ones show the subject's own color, not the old background's.

    Without this a cutout carries a rim of its old background onto the new one.

    Parameters
    ----------
    on_report : callable
        Called with the share of the work done, 0 to 1; what it raises passes through.
    """
    if not _half(alpha).any() or not (alpha > _SURELY).any():
        return pixels
    on_report(0.1)
    near, known = _inner_colors(pixels, alpha)
    out = pixels.copy()
    on_report(0.4)
    # In bands: to pick single pixels keeps every other thread waiting.
    for top in range(0, len(out), _ROWS):
        rows = slice(top, top + _ROWS)
        edge = _half(alpha[rows])
        if edge.any():
            own, cover = near[rows][edge], alpha[rows][edge] / np.float32(255)
            share = (known[rows][edge] * smooth_step(1.0, 0.8, cover))[:, None]
            seen = pixels[rows][edge]
            mixed = seen + share * (own.astype(np.float32) - seen)
            out[rows][edge] = np.rint(mixed).clip(0, 255).astype(np.uint8)
        on_report(0.4 + 0.6 * min(1.0, rows.stop / len(out)))
    return out


def _half(alpha: Bytes) -> NDArray[np.bool_]:
    return np.asarray((alpha > 0) & (alpha <= _SURELY))


def _inner_colors(pixels: Bytes, alpha: Bytes) -> tuple[Bytes, Floats]:
    """Return the subject's colors spread beyond its edge, and where they reach, 0 to 1."""
    size, scale = _bounded(alpha.shape, _INNER_SIDE)
    sure = (cv2.resize(alpha, size, interpolation=cv2.INTER_AREA) > _SURELY).astype(np.float32)
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    reach = max(2.0, scale * max(alpha.shape) / 300)
    weight = cv2.GaussianBlur(sure, (0, 0), reach)
    near = cv2.GaussianBlur(small * sure[..., None], (0, 0), reach)
    near /= np.maximum(weight, 1e-4)[..., None]
    whole = alpha.shape[::-1]
    colors = cv2.resize(np.rint(near).clip(0, 255).astype(np.uint8), whole)
    return colors, cv2.resize(smooth_step(0.002, 0.02, weight), whole)


def _bounded(shape: tuple[int, ...], side: int) -> tuple[tuple[int, int], float]:
    """Return the width and height that fit a longer side, and by how much they are scaled."""
    scale = min(1.0, side / max(shape[:2]))
    return (max(1, round(shape[1] * scale)), max(1, round(shape[0] * scale))), scale


def _seen(pixels: Bytes, near: Bytes | None, on_report: Callable[[float], None]) -> _Seen:
    """Return what is found in a small copy of a picture."""
    height, width = pixels.shape[:2]
    scale = min(1.0, _SIDE / max(height, width))
    size = (max(16, round(width * scale)), max(16, round(height * scale)))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    if near is not None:
        told = cv2.resize(near, size, interpolation=cv2.INTER_AREA) > 127
        found = _tried(small, around(told.astype(np.uint8)), True, on_report)
        return _Seen(small, _opened(small, found), person=False)
    boxes = _faces(pixels, small)
    on_report(0.3)
    found = _person(small, boxes, on_report) if boxes else _thing(small, on_report)
    return _Seen(small, found, person=bool(boxes))


def _person(small: Bytes, boxes: list[Box], on_report: Callable[[float], None]) -> Bytes:
    marks = people(small, boxes)
    return _opened(small, _tried(small, marks, True, on_report), marks == FRONT)


def _thing(small: Bytes, on_report: Callable[[float], None]) -> Bytes:
    found = np.zeros(small.shape[:2], np.uint8)
    for marks in guessed(small, lambda: on_report(0.3)):
        found = _tried(small, marks, False, on_report)
        if found.mean() >= _EMPTY:
            break
    return _opened(small, _joined(small, found, on_report))


def _joined(small: Bytes, found: Bytes, on_report: Callable[[float], None]) -> Bytes:
    """Return a thing together with others that are as clear and of a like size."""
    back = backdrop(small, found) if found.any() else None
    others = company(small, found, back) if back is not None else np.zeros_like(found)
    if not others.any():
        return found
    both = _tried(small, around(found | others), False, on_report)
    return both if both.any() else found


def _opened(small: Bytes, found: Bytes, never: NDArray[np.bool_] | None = None) -> Bytes:
    back = backdrop(small, found) if found.any() else None
    return found if back is None else opened(small, found, back, never)


def _tried(small: Bytes, marks: Bytes, sure: bool, on_report: Callable[[float], None]) -> Bytes:
    found = fitted(small, marks, _ROUNDS, lambda: on_report(0.6))
    return whole(small, found, sure=sure) if found.any() else found


def _faces(pixels: Bytes, small: Bytes) -> list[Box]:
    """Return the faces of the people who are the subject, in the small picture."""
    scale = small.shape[1] / pixels.shape[1]
    boxes = [
        (face.x * scale, face.y * scale, face.width * scale, face.height * scale)
        for face in find(pixels)[:_CROWD]
    ]
    least = max(_BESIDE * boxes[0][2], _SMALLEST * min(small.shape[:2])) if boxes else 0.0
    return [box for box in boxes if box[2] > least]
