"""Erasing: a hole in a picture is filled with patches from around it, coarse first.

The coarsest level decides what continues where, the others refine it; the finest texture is copied.
"""

from __future__ import annotations

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media import faces
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.fill.continuing import continued
from kit.engines.media.fill.nearby import Nearby, mirrored, strangeness
from kit.engines.media.fill.patches import Places, Search, Toll, evened, far, toned, whole_patches

_COARSEST = 96  # pixels of the shorter side where the search may begin
_FIRST = 1000  # pixels that the hole may have there
_FINEST = 460  # pixels of the longer side up to which patches are searched
_AROUND = 1.6  # how much of the surroundings is searched, in sizes of the hole
_ROUNDS = (4, 3, 2)  # of looking and painting, on each level from the coarsest
_BEGUN = 0.25  # of the work is done when there is a first guess

_Shorts = NDArray[np.int16]


def erased(
    pixels: Bytes, mask: Bytes, seed: int, progress: Progress, *, near: bool = False
) -> Bytes:
    """Return a picture whose masked part is filled with what surrounds it.

    Parameters
    ----------
    pixels : ndarray of uint8
        Shape (height, width, 3).
    mask : ndarray of uint8
        Shape (height, width), 255 where to erase.
    near : bool
        Whether each part of the hole is filled from what lies next to it, and nothing comes there
        that is unlike that: for a hole of which only the rim will be seen.
    """
    grown = max(3, round(max(mask.shape) / 250)) | 1
    mask = cv2.dilate(mask, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (grown, grown)))
    rows, columns = _part(mask)
    part, hole = pixels[rows, columns], mask[rows, columns]
    scale = min(1.0, _FINEST / max(hole.shape))
    small, small_hole = _shrunk(part, hole, scale)
    barred = cv2.resize(_people(pixels)[rows, columns], small_hole.shape[::-1])
    filled = _filled(small, small_hole, barred, np.random.default_rng([seed, 31]), progress, near)
    out = pixels.copy()
    out[rows, columns] = _blended(part, hole, *filled)
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
        axes = (round(0.52 * face.width), round(0.68 * face.height))
        cv2.ellipse(marks, center, axes, 0, 0, 360, 255, -1)
    return marks


def _shrunk(part: Bytes, hole: Bytes, scale: float) -> tuple[Bytes, Bytes]:
    if scale >= 1.0:
        return part, hole
    size = (max(8, round(part.shape[1] * scale)), max(8, round(part.shape[0] * scale)))
    small = cv2.resize(part, size, interpolation=cv2.INTER_AREA)
    small_hole = cv2.resize(hole, size, interpolation=cv2.INTER_AREA)
    return small, np.asarray(small_hole > 0, np.uint8) * np.uint8(255)


def _blended(part: Bytes, hole: Bytes, filled: Bytes, moves: Places) -> Bytes:
    """Return the part with its hole filled; what shrinking took from the texture is put back."""
    if filled.shape != part.shape:
        size = (part.shape[1], part.shape[0])
        large = cv2.resize(filled, size, interpolation=cv2.INTER_CUBIC)
        filled = cv2.add(large, _grain(part, hole, filled.shape, moves), dtype=cv2.CV_8U)
    share = cv2.GaussianBlur(hole, (0, 0), 1.2)
    share = np.maximum(share, hole)[..., None] / np.float32(255)
    return np.asarray(np.rint(part + share * (filled.astype(np.float32) - part)), np.uint8)


def _grain(part: Bytes, hole: Bytes, small: tuple[int, ...], moves: Places) -> _Shorts:
    """Return the finest texture of where each pixel of the hole was taken from."""
    height, width = hole.shape
    soft = cv2.resize(part, (small[1], small[0]), interpolation=cv2.INTER_AREA)
    soft = cv2.resize(soft, (width, height), interpolation=cv2.INTER_CUBIC)
    grain = cv2.subtract(part, soft, dtype=cv2.CV_16S)
    grain[cv2.dilate(hole, np.ones((5, 5), np.uint8)) > 0] = 0
    at = np.array(np.nonzero(hole))
    scale = np.array([[height / small[0]], [width / small[1]]])
    near = (at / scale).astype(np.int64)
    there = at + np.rint(moves[:, near[0], near[1]] * scale).astype(np.int64)
    there = there.clip(0, [[height - 1], [width - 1]])
    out = np.zeros_like(grain)
    out[at[0], at[1]] = grain[there[0], there[1]]
    return np.asarray(out)


def _filled(
    pixels: Bytes,
    hole: Bytes,
    barred: Bytes,
    rng: np.random.Generator,
    progress: Progress,
    near: bool,
) -> tuple[Bytes, Places]:
    """Return the picture without its hole, and the move to where each pixel was found."""
    canvas, search, strange = pixels, None, None
    nearby = Nearby.over(pixels, hole, barred) if near else None
    for number, scale in enumerate(_levels(hole)):
        part, gap = _shrunk(pixels, hole, scale)
        size = (part.shape[1], part.shape[0])
        closed = cv2.resize(barred, size, interpolation=cv2.INTER_NEAREST)
        if strange is None and not nearby:
            strange = _strange(part, gap, closed)
        toll = nearby.seen(part).cost if nearby else _toll(strange, gap.shape)
        search = Search.over(gap, closed, search, rng, toll)
        if number:
            larger = cv2.resize(canvas, size, interpolation=cv2.INTER_CUBIC).astype(np.float32)
            larger = np.where((gap == 0)[..., None], part, larger)
        else:
            larger = _begun(part, gap, closed, search, strange, progress.part(0.0, _BEGUN))
        if search:
            # A level has four times the pixels of the one before.
            level = progress.part(_BEGUN, 1.0).part(scale**2 / 4, scale**2)
            rounds = _ROUNDS[min(number, len(_ROUNDS) - 1)]
            painted = _improved(larger, gap, search, rounds, rng, level)
            if not near:
                painted = toned(painted, gap, larger) if number else painted
            larger = evened(painted, gap, _slopes(painted, search), shades=not near)
        canvas = np.rint(larger).clip(0, 255).astype(np.uint8)
    return canvas, np.zeros((2, *hole.shape), np.int64) if search is None else search.moves()


def _strange(part: Bytes, gap: Bytes, closed: Bytes) -> Floats:
    """Return what it costs to take each place, as it is told in the smallest picture."""
    usable = whole_patches(gap, closed).astype(np.uint8)
    return strangeness(part.astype(np.float32), gap, usable)


def _toll(strange: Floats | None, shape: tuple[int, ...]) -> Toll | None:
    if strange is None or not strange.any():
        return None
    costs = cv2.resize(strange, (shape[1], shape[0]), interpolation=cv2.INTER_LINEAR)

    def toll(here: Places, there: Places) -> Floats:
        return np.asarray(far(here, there, shape) + costs[there[0], there[1]])

    return toll


def _begun(
    part: Bytes,
    gap: Bytes,
    closed: Bytes,
    search: Search | None,
    strange: Floats | None,
    progress: Progress,
) -> Floats:
    """Return the first guess; the search goes on from it."""
    canvas = cv2.inpaint(part, gap, 3, cv2.INPAINT_TELEA).astype(np.float32)
    if search:
        if strange is None:
            moves = mirrored(gap, search.usable)
        else:
            free = (gap | closed) == 0
            moves = continued(canvas, gap, free, search.usable, progress, strange)
        rows, columns = np.indices(gap.shape) + moves
        canvas = canvas[rows, columns]
        search.follow(moves)
    return np.asarray(canvas)


def _improved(
    canvas: Floats,
    gap: Bytes,
    search: Search,
    rounds: int,
    rng: np.random.Generator,
    progress: Progress,
) -> Floats:
    known = (gap == 0)[..., None]
    for done in range(rounds):
        stretch = progress.part(done / rounds, (done + 1) / rounds)
        canvas = np.where(known, canvas, search.painted(canvas, rng, stretch))
    return canvas


def _slopes(canvas: Floats, search: Search) -> Floats:
    """Return by how much neighbors differ where each pixel was taken from."""
    across = np.diff(canvas, axis=1, append=canvas[:, -1:])
    down = np.diff(canvas, axis=0, append=canvas[-1:])
    return search.laid(np.dstack([across, down]))


def _levels(hole: Bytes) -> list[float]:
    """Return by how much the picture is shrunk on each level, the smallest first."""
    sides = min(hole.shape) / _COARSEST
    pixels = math.sqrt(np.count_nonzero(hole) / _FIRST)
    count = max(0, math.ceil(math.log2(max(sides, pixels, 1.0))))
    return [0.5**number for number in range(count, -1, -1)]
