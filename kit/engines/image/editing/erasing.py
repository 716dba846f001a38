"""Erasing: a hole in a picture is filled with patches from around it, coarse first.

The coarse levels decide what continues where, the fine ones bring the texture back.
"""

from __future__ import annotations

import math

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.image.editing.patches import Search
from kit.engines.media import faces
from kit.engines.media.color import Bytes

_COARSEST = 40  # pixels of the shorter side where the search begins
_FINEST = 460  # pixels of the longer side up to which patches are searched
_AROUND = 1.6  # how much of the surroundings is searched, in sizes of the hole
_ROUNDS = (10, 6, 4, 2)  # of looking and painting, on each level from the coarsest


def erased(pixels: Bytes, mask: Bytes, seed: int, progress: Progress) -> Bytes:
    """Return a picture whose masked part is filled with what surrounds it.

    Parameters
    ----------
    pixels : ndarray of uint8
        Shape (height, width, 3).
    mask : ndarray of uint8
        Shape (height, width), 255 where to erase.
    """
    grown = max(3, round(max(mask.shape) / 250)) | 1
    mask = cv2.dilate(mask, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (grown, grown)))
    rows, columns = _part(mask)
    part, hole = pixels[rows, columns], mask[rows, columns]
    scale = min(1.0, _FINEST / max(hole.shape))
    small, small_hole = _shrunk(part, hole, scale)
    barred = cv2.resize(_people(pixels)[rows, columns], small_hole.shape[::-1])
    filled = _filled(small, small_hole, barred, np.random.default_rng([seed, 31]), progress)
    out = pixels.copy()
    out[rows, columns] = _blended(part, hole, filled)
    return out


def _part(mask: Bytes) -> tuple[slice, slice]:
    """Return the rows and columns of the hole with enough around it to search in."""
    x, y, width, height = cv2.boundingRect(mask)
    reach = round(_AROUND * max(width, height)) + 16
    rows = slice(max(0, y - reach), min(mask.shape[0], y + height + reach))
    columns = slice(max(0, x - reach), min(mask.shape[1], x + width + reach))
    return rows, columns


def _people(pixels: Bytes) -> Bytes:
    """Return 255 where faces are: nobody's face is copied into a hole."""
    marks = np.zeros(pixels.shape[:2], np.uint8)
    for face in faces.find(pixels):
        center = (round(face.x + face.width / 2), round(face.y + face.height / 2))
        axes = (round(0.75 * face.width), round(0.95 * face.height))
        cv2.ellipse(marks, center, axes, 0, 0, 360, 255, -1)
    return marks


def _shrunk(part: Bytes, hole: Bytes, scale: float) -> tuple[Bytes, Bytes]:
    if scale >= 1.0:
        return part, hole
    size = (max(8, round(part.shape[1] * scale)), max(8, round(part.shape[0] * scale)))
    small = cv2.resize(part, size, interpolation=cv2.INTER_AREA)
    small_hole = cv2.resize(hole, size, interpolation=cv2.INTER_AREA)
    return small, np.asarray(small_hole > 0, np.uint8) * np.uint8(255)


def _blended(part: Bytes, hole: Bytes, filled: Bytes) -> Bytes:
    if filled.shape != part.shape:
        size = (part.shape[1], part.shape[0])
        filled = cv2.resize(filled, size, interpolation=cv2.INTER_CUBIC)
    share = cv2.GaussianBlur(hole, (0, 0), 1.2)
    share = np.maximum(share, hole)[..., None] / np.float32(255)
    return np.asarray(np.rint(part + share * (filled.astype(np.float32) - part)), np.uint8)


def _filled(
    pixels: Bytes, hole: Bytes, barred: Bytes, rng: np.random.Generator, progress: Progress
) -> Bytes:
    levels = _levels(min(hole.shape))
    canvas = cv2.inpaint(*_shrunk(pixels, hole, levels[0]), 3, cv2.INPAINT_TELEA)
    search: Search | None = None
    for number, scale in enumerate(levels):
        part, gap = _shrunk(pixels, hole, scale)
        size = (part.shape[1], part.shape[0])
        known = (gap == 0)[..., None]
        larger = cv2.resize(canvas, size, interpolation=cv2.INTER_CUBIC).astype(np.float32)
        larger = np.where(known, part, larger)
        closed = cv2.resize(barred, size, interpolation=cv2.INTER_NEAREST)
        if search := Search.over(gap, closed, search, rng):
            rounds = _ROUNDS[min(number, len(_ROUNDS) - 1)]
            # A level has four times the pixels of the one before.
            level = progress.part(scale**2 / 4, scale**2)
            for done in range(rounds):
                stretch = level.part(done / rounds, (done + 1) / rounds)
                larger = np.where(known, part, search.painted(larger, rng, stretch))
        canvas = np.rint(larger).clip(0, 255).astype(np.uint8)
    return np.asarray(canvas)


def _levels(side: int) -> list[float]:
    """Return by how much the picture is shrunk on each level, the smallest first."""
    count = max(0, math.ceil(math.log2(side / _COARSEST)))
    return [0.5**number for number in range(count, -1, -1)]
