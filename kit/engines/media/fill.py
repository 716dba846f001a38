"""Inpainting: holes are filled with patches from their surroundings, coarse to fine.

The coarsest level decides how structures continue: large pieces are copied there from elsewhere,
chosen jointly so that they match along their seams. Finer levels refine the result patch by patch,
and the finest texture is copied.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.media import faces
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.patches import Places, Search
from kit.engines.media.scaling import resize

__all__ = ["POOR_FIT", "Filled", "erase"]

_MIN_SIDE = 96  # pixels of the shorter side at which the search may start
_MAX_FIRST_HOLE = 1000  # maximum pixels of the hole there
_MAX_SIDE = 460  # pixels of the longer side up to which patches are searched
_SURROUNDINGS = 1.6  # size of the searched surroundings, in sizes of the hole
_RIM = 6  # width in pixels of the blend around a hole
_ROUNDS = (4, 3, 2)  # of search and painting, on each level from the coarsest


@dataclass(frozen=True, slots=True)
class Filled:
    """A picture with its hole filled."""

    pixels: Bytes
    #: How well the hole continues its surroundings, 0 to 1: below `POOR_FIT` the erasure is
    #: visible.
    fit: float


#: Threshold of `Filled.fit`.
POOR_FIT = 0.35


def erase(pixels: Bytes, mask: Bytes, seed: int, progress: Progress) -> Filled:
    """Fill a picture in place where a mask is 255, from its surroundings; the mask is dilated."""
    grown = max(3, round(max(mask.shape) / 250)) | 1
    ring = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (grown, grown))
    x, y, width, height = cv2.boundingRect(mask)
    reach = round(_SURROUNDINGS * (max(width, height) + grown - 1)) + 16 + grown // 2
    rows, columns, *box = (
        slice(max(0, at - far), min(side, at + size + far))
        for far in (reach, grown // 2 + _RIM)
        for at, size, side in ((y, height, mask.shape[0]), (x, width, mask.shape[1]))
    )
    mask[*box] = cv2.dilate(mask[*box], ring)
    part, hole = pixels[rows, columns], mask[rows, columns]
    # Faces are not copied into a hole.
    barred = np.zeros(mask.shape, np.uint8)
    for face in faces.find(pixels):
        center, axes = face.center, (0.52 * face.width, 0.68 * face.height)
        cv2.ellipse(barred, tuple(map(round, center)), tuple(map(round, axes)), 0, 0, 360, 255, -1)
    small, gap = _shrink(part, hole, min(1.0, _MAX_SIDE / max(hole.shape)))
    closed = cv2.resize(barred[rows, columns], gap.shape[::-1])
    filled, moves, fit = _fill(small, gap, closed, np.random.default_rng([seed, 31]), progress)
    here = np.mgrid[*box] - np.array([[[rows.start]], [[columns.start]]])
    filled = _enlarge(filled, part, small, hole, here, moves)
    part, hole = pixels[*box], mask[*box]
    share = np.maximum(cv2.GaussianBlur(hole, (0, 0), 1.2), hole)[..., None] / np.float32(255)
    part[:] = np.rint(part + share * (filled - part.astype(np.float32)))
    return Filled(pixels, fit)


def _shrink(part: Bytes, hole: Bytes, scale: float) -> tuple[Bytes, Bytes]:
    size = (max(4, round(part.shape[1] * scale)), max(4, round(part.shape[0] * scale)))
    small, gap = resize(part, *size), resize(hole, *size)
    return np.asarray(small), np.where(gap > 0, np.uint8(255), np.uint8(0))


def _enlarge(
    filled: Bytes, part: Bytes, small: Bytes, hole: Bytes, here: Places, moves: Places
) -> Bytes:
    """Return places of a result that was filled small, with the fine texture of their source."""
    scale = np.divide(hole.shape, small.shape[:2])[:, None, None]
    down, across = (here / scale).astype(np.int64)
    there = here + np.rint(moves[:, down, across] * scale).astype(np.int64)
    there = there.clip(0, np.subtract(hole.shape, 1)[:, None, None])
    places = (((at + 0.5) / scale - 0.5).astype(np.float32) for at in (here, there))
    out, soft = (
        cv2.remap(it, x, y, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
        for it, (y, x) in zip((filled, small), places, strict=True)
    )
    grain = cv2.subtract(part[*there], soft, dtype=cv2.CV_16S)
    grain[cv2.dilate(hole, np.ones((5, 5), np.uint8))[*there] > 0] = 0
    return np.asarray(cv2.add(out, grain, dtype=cv2.CV_8U))


def _fill(
    pixels: Bytes, hole: Bytes, barred: Bytes, rng: np.random.Generator, progress: Progress
) -> tuple[Bytes, Places, float]:
    """Return the filled picture, the move from each pixel to its source, and the fit."""
    sides, count = min(hole.shape) / _MIN_SIDE, math.sqrt(np.count_nonzero(hole) / _MAX_FIRST_HOLE)
    levels = max(0, math.ceil(math.log2(max(sides, count, 1.0))))
    canvas, search = pixels.astype(np.float32), None
    for number in range(levels + 1):
        scale = 0.5 ** (levels - number)
        part, gap = _shrink(pixels, hole, scale)
        size = part.shape[1::-1]
        closed = cv2.resize(barred, size, interpolation=cv2.INTER_NEAREST)
        search = Search.create(gap, closed, search, rng)
        if number:
            canvas = cv2.resize(canvas, size, interpolation=cv2.INTER_CUBIC)
        else:
            canvas = cv2.inpaint(part, gap, 3, cv2.INPAINT_TELEA).astype(np.float32)
            if search:
                canvas = search.guess(canvas, gap, progress.part(0.0, 0.25))
        known = (gap == 0)[..., None]
        canvas = np.where(known, part, canvas).astype(np.float32)
        if search:
            # Each level has four times the pixels of the one before.
            level = progress.part(0.25, 1.0).part(scale**2 / 4, scale**2)
            rounds = _ROUNDS[min(number, len(_ROUNDS) - 1)]
            for done in range(rounds):
                stretch = level.part(done / rounds, (done + 1) / rounds)
                canvas = np.where(known, canvas, search.paint(canvas, rng, stretch))
            canvas = _join_tones(canvas, gap, search)
    out = np.rint(canvas).clip(0, 255).astype(np.uint8)
    nothing = np.zeros((2, *hole.shape), np.int64), 0.0
    return out, *((search.moves(), search.fit(canvas, gap)) if search else nothing)


_SOFT_STEP, _HARD_STEP = 6.0, 16.0  # steps in tone: smoothed, and kept as edges
_COLOR_WEIGHT = 0.004  # how strongly a pixel keeps its color


def _join_tones(canvas: Floats, gap: Bytes, search: Search) -> Floats:
    """Return the canvas with the tones of its hole blended into its surroundings.

    The differences between neighbors are those at their sources, except at edges.

    Source: Perez, Gangnet and Blake, "Poisson image editing" (SIGGRAPH 2003), solved by conjugate
    gradients.
    """
    across = np.diff(canvas, axis=1, append=canvas[:, -1:])
    slopes = search.fill_planes(np.dstack([across, np.diff(canvas, axis=0, append=canvas[-1:])]))
    x, y, width, height = cv2.boundingRect(gap)
    cells = np.s_[max(0, y - 1) : y + height + 1, max(0, x - 1) : x + width + 1]
    first, hole = canvas[cells], (gap[cells] > 0)[..., None].astype(np.float32)
    found = [np.diff(first, axis=1), np.diff(first, axis=0)]
    wanted = [slopes[cells][:, :-1, :3], slopes[cells][:-1, :, 3:]]
    kept = []
    for own, other in zip(found, wanted, strict=True):
        step = own - other
        # A change of all three channels alike is a change of light, other changes are structure.
        light = step.mean(axis=2, keepdims=True)
        color = 2 * np.abs(step - light).max(axis=2, keepdims=True)
        off = np.maximum(np.abs(step).max(axis=2, keepdims=True) - 0.65 * np.abs(light), color)
        kept.append(other + np.clip((off - _SOFT_STEP) / (_HARD_STEP - _SOFT_STEP), 0, 1) * step)

    def divergence(pair: list[Floats], pixels: Floats) -> Floats:
        out = _COLOR_WEIGHT * pixels
        out[:, :-1] -= pair[0]
        out[:, 1:] += pair[0]
        out[:-1] -= pair[1]
        out[1:] += pair[1]
        return np.asarray(out * hole)

    off = divergence(kept, first) - divergence(found, first)
    step, change = off.copy(), np.zeros_like(off)
    left, least = float(np.vdot(off, off)), 0.02 * float(hole.sum())
    for _ in range(60):
        if left <= least:
            break
        turned = divergence([np.diff(step, axis=1), np.diff(step, axis=0)], step)
        share = left / float(np.vdot(step, turned))
        change += share * step
        off -= share * turned
        before, left = left, float(np.vdot(off, off))
        step = off + left / before * step
    out = canvas.copy()
    out[cells] += change
    return out
