"""Cutouts: which pixels belong to the subject of a picture, and with what certainty.

A network, a hint of the caller, or a distinct color gives the rough position of the subject; a
color model of subject and background finds the outline from there (GrabCut), and a guided filter
aligns it with the edges of the full picture.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Bytes, Floats
from kit.engines.media.edges import grow, open_gaps, refine_edge, resize_like, shrink_to, to_lab
from kit.engines.media.noise import smooth_step
from kit.engines.media.subject import subject_probability

__all__ = ["MIN_CERTAINTY", "Box", "Cutout", "cut_out"]

#: Cutouts of less certainty are not usable.
MIN_CERTAINTY = 0.5

_SIDE, _GUESS_SIDE = 352, 120  # of the pictures that color models are fitted to
_EDGE_SIDE = 2560  # maximum side of the picture that guides the edges
_ROUNDS = 2
_MIN_SHARE = 0.004  # of the picture: smaller subjects are ignored
_SMALL_SHARE, _MARGIN = 0.6, 0.3  # smaller subjects are searched again, with a margin
#: Shares of the picture, and of its upper edge, that a subject of the network may cover.
_MIN_COVER, _MAX_COVER, _MAX_TOP = 0.008, 0.97, 0.8
_INNER, _OUTER = 0.03, 0.06  # certain distance inside and outside of a mark, of the longer side
_MIN_OVERLAP = 0.7  # a color model that overlaps its marks by less has found something else
_MIN_PIECE, _MIN_NEAR_PIECE, _NEAR_REACH = 0.12, 0.008, 0.06  # of the largest piece; of a side
_MIN_PROBABILITY = 0.03  # network probability below which a place is not part of the subject
_MIN_INSIDE = 0.6  # of an object that must lie inside the hint
#: Overlap with a box from which no other method is tried: of the result without it, and inside it.
_GOOD_OVERLAP, _FAIR_OVERLAPS = 0.75, (0.6, 0.15)
_MAX_HOLE = 0.01  # holes below this share of the picture are filled

BACK, FRONT = np.uint8(cv2.GC_BGD), np.uint8(cv2.GC_FGD)
MAYBE_BACK, MAYBE_FRONT = np.uint8(cv2.GC_PR_BGD), np.uint8(cv2.GC_PR_FGD)

#: Slices of rows and columns.
Box: TypeAlias = tuple[slice, slice]


@dataclass(frozen=True, slots=True)
class Cutout:
    """The mask of a subject."""

    alpha: Bytes  # coverage of each pixel; all 0 if no subject was found
    certainty: float  # 0 to 1; 1 if the caller gives the position


def cut_out(pixels: Bytes, near: Bytes | Box | None = None) -> Cutout:
    """Return the subject of a picture.

    With `near`, the search is limited to that box, or to where that mask is above 127.

    Source: Rother, Kolmogorov and Blake, "GrabCut" (SIGGRAPH 2004); He, Sun and Tang, "Guided image
    filtering" (TPAMI 2013).
    """
    small = shrink_to(pixels, _SIDE)
    hint = resize_like(near, small) > 127 if isinstance(near, np.ndarray) else None
    found, certainty = _find_by_network(pixels, small, hint)
    good = _GOOD_OVERLAP
    if hint is not None:
        # If the network finds something else, use the hint itself.
        if _overlap_of(found > 0, hint) < _MIN_COVER * 50:
            found = _find_by_color(small, _marks_around(hint))
        certainty = 1.0
    elif certainty < MIN_CERTAINTY:
        guess, good = _find_distinct(small), 1.0
        if guess[1] >= certainty:
            found, certainty = guess
    if isinstance(near, tuple):
        found, certainty = _fit_box(pixels, small, near, found, good), 1.0
    found = _remove_crumbs(found)
    if found.mean() < _MIN_SHARE:
        return Cutout(np.zeros(pixels.shape[:2], np.uint8), 1.0)
    guide, longer = pixels, max(pixels.shape)
    if longer > _EDGE_SIDE:  # halving is fast, all other steps are not
        guide = shrink_to(pixels, longer // (1 << (longer // _EDGE_SIDE).bit_length()))
    share = refine_edge(guide, small, *open_gaps(small, found))
    steps = np.rint(255 * smooth_step(0.12, 0.88, np.arange(256) / 255)).astype(np.uint8)
    alpha = cv2.LUT(cv2.convertScaleAbs(np.maximum(share, 0.0), alpha=255), steps)
    return Cutout(np.asarray(cv2.resize(alpha, pixels.shape[1::-1])), certainty)


def _find_by_network(
    pixels: Bytes, small: Bytes, hint: NDArray[np.bool_] | None
) -> tuple[Bytes, float]:
    """Return a mask of the network's subject, its outline found by color, and its certainty."""
    height, width = small.shape[:2]
    cover = resize_like(subject_probability(pixels), small)
    rough = cover > 0.5 if hint is None else hint
    x, y, wide, high = cv2.boundingRect(rough.astype(np.uint8))
    if 0 < wide * high < _SMALL_SHARE * rough.size:
        margin = _MARGIN * max(wide, high)
        rows = slice(max(0, round(y - margin)), min(height, round(y + high + margin)))
        columns = slice(max(0, round(x - margin)), min(width, round(x + wide + margin)))
        cover = _look_closer(pixels, small, (rows, columns))
    inside = cover > 0.5
    if not _MIN_COVER < inside.mean() < _MAX_COVER or inside[0].mean() > _MAX_TOP:
        return np.zeros(inside.shape, np.uint8), 0.0
    doubt = np.count_nonzero((cover > 0.2) & (cover < 0.8)) / np.count_nonzero(inside)
    marks = _marks_around(inside, cover > 0.85)
    marks[cover < _MIN_PROBABILITY] = BACK
    found = _keep_inside(_find_by_color(small, marks), inside)
    overlap = _overlap_of(found > 0, inside)
    if overlap < _MIN_OVERLAP:
        found = inside.astype(np.uint8)
    certainty = float(cover[inside].mean()) - 0.5 * doubt + 0.3 * overlap - 0.15
    clear = min(max(2.8 * _measure_outline(small, found) - 0.4, 0.0), 1.0)
    return found, clear * min(max(certainty, 0.0), 1.0)


def _look_closer(pixels: Bytes, small: Bytes, box: Box) -> Floats:
    """Return the subject probability of a small picture, from a closer look at a part of it."""
    scales = (whole / less for whole, less in zip(pixels.shape, small.shape[:2], strict=False))
    part = pixels[
        tuple(
            slice(int(side.start * scale), math.ceil(side.stop * scale))
            for side, scale in zip(box, scales, strict=True)
        )
    ]
    cover = np.zeros(small.shape[:2], np.float32)
    cover[box] = cv2.resize(subject_probability(part), cover[box].shape[::-1])
    return cover


def _fit_box(pixels: Bytes, small: Bytes, box: Box, found: Bytes, good: float) -> Bytes:
    """Return 1 for the subject in a box of a picture: the object that the box bounds best.

    That is the subject `found` without the box; if its overlap is below `good`, the network's
    result on the box alone; if neither has about the size of the box, the area whose color
    differs from its surroundings; and if there is none, the middle of the box.
    """
    height, width = small.shape[:2]
    rows, columns = (
        slice(int(side.start * less / whole), max(1, math.ceil(side.stop * less / whole)))
        for side, less, whole in zip(box, (height, width), pixels.shape, strict=False)
    )
    inside = np.zeros((height, width), bool)
    inside[rows, columns] = True
    cover, middle = _look_closer(pixels, small, (rows, columns)), np.zeros(inside.shape, np.uint8)
    sides = columns.stop - columns.start, rows.stop - rows.start
    box_of = ((columns.start + sides[0] / 2, rows.start + sides[1] / 2), sides, 0)
    cv2.ellipse(middle, box_of, 1, -1)
    ways = [
        np.where(inside, _marks_around(cover > 0.5, cover > 0.85), BACK),
        np.where(inside, MAYBE_FRONT, BACK),
        _marks_around(middle > 0),
    ]

    def fit(thing: Bytes) -> float:
        x, y, wide, high = cv2.boundingRect(thing)
        around = np.zeros((height, width), bool)
        around[y : y + high, x : x + wide] = True
        return _overlap_of(around, inside)

    best = _keep_inside(found, inside)
    for marks, least in zip(ways, (good, *_FAIR_OVERLAPS), strict=True):
        if fit(best) < least:
            best = max(best, _find_by_color(small, marks), key=fit)
    return best


def _keep_inside(found: Bytes, inside: NDArray[np.bool_]) -> Bytes:
    """Return the objects that are mostly inside the hint, or else the part inside it."""
    _, parts = cv2.connectedComponents(found)
    within = np.bincount(parts[inside], minlength=int(parts.max()) + 1)
    meant = within > _MIN_INSIDE * np.bincount(parts.ravel())
    meant[0] = False
    return np.asarray(meant[parts] if meant.any() else found & inside, np.uint8)


def _marks_around(inside: NDArray[np.bool_], surely: NDArray[np.bool_] | None = None) -> Bytes:
    """Return marks for a color model: certain except along the outline of the hint."""
    surely = inside if surely is None else surely
    side = max(inside.shape)
    marks = np.where(inside, MAYBE_FRONT, MAYBE_BACK)
    marks[grow(1 - surely.astype(np.uint8), _INNER * side) == 0] = FRONT
    marks[grow(inside.astype(np.uint8), _OUTER * side) == 0] = BACK
    return marks


def _find_by_color(small: Bytes, marks: Bytes, rounds: int = _ROUNDS) -> Bytes:
    """Return 1 for the subject and 0 for the rest, by color models fitted to the marks."""
    inside = np.isin(marks, (FRONT, MAYBE_FRONT))
    if not inside.any() or inside.all():
        return np.zeros(marks.shape, np.uint8)
    cv2.setRNGSeed(0)  # the models start from random clusters
    marks, models = marks.copy(), np.zeros((2, 1, 65))
    cv2.grabCut(small, marks, None, models[0], models[1], rounds, cv2.GC_INIT_WITH_MASK)
    return np.isin(marks, (FRONT, MAYBE_FRONT)).astype(np.uint8)


#: Initial ellipses of a guess, as center height and half axes in shares of the frame, and whether
#: it avoids the lower edge: in the middle, standing on that edge, and nearly everything.
_START_ELLIPSES = ((0.53, 0.42, 0.45, True), (0.80, 0.36, 0.62, False), (0.50, 9.00, 9.00, False))
#: Weights of the features of `_measure_shape`. Fitted to a hundred pictures with known subjects.
#: -
_WEIGHTS = (-0.6, 2.5, 0.6, -0.45, -1.1, -0.38, 0.8)
_MAX_DOUBT = 0.14  # unstable share times share of common colors: more is uncertain


def _find_distinct(small: Bytes) -> tuple[Bytes, float]:
    """Return the most distinct object by color alone, and its certainty.

    A color model finds another object from each initial shape; each result is scored like a
    shape drawn by hand: compact, away from the frame's edges, in colors of its own.
    """
    tiny = shrink_to(small, _GUESS_SIDE)
    best, most = np.zeros(tiny.shape[:2], np.uint8), -math.inf
    for marks in _starting_marks(tiny):
        guess = _find_by_color(tiny, marks)
        if _MIN_SHARE < guess.mean() < 0.97:
            rank = float(np.dot(_WEIGHTS, _measure_shape(tiny, guess)))
            best, most = (guess, rank) if rank > most else (best, most)
    if not best.any():
        return np.zeros(small.shape[:2], np.uint8), 0.0
    found = _find_by_color(small, _marks_around(resize_like(best * np.uint8(255), small) > 127))
    if not found.any() or found.all():
        return found, 0.0
    return found, _certainty_of(small, found)


def _starting_marks(tiny: Bytes) -> Iterator[Bytes]:
    height, width = tiny.shape[:2]
    rows, columns = np.mgrid[0:height, 0:width]
    rim = max(1, round(0.02 * min(height, width)))
    for y, wide, high, floats in _START_ELLIPSES:
        away = ((columns / width - 0.5) / wide) ** 2 + ((rows / height - y) / high) ** 2
        marks = np.where(away < 1, MAYBE_FRONT, MAYBE_BACK)
        marks[:rim] = marks[:, :rim] = marks[:, -rim:] = BACK
        if floats:
            marks[-rim:] = BACK
        yield marks


def _measure_shape(tiny: Bytes, guess: Bytes) -> list[float]:
    """Return the features of a guess.

    The square of its size, its size up to an eighth, its fill, its contact with both sides of the
    frame, its distance from the center, the share of its colors that are also around it, and the
    share of its outline along which the color changes.
    """
    share = float(guess.mean())
    lines = cv2.findContours(guess, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)[0]
    hull = cv2.contourArea(cv2.convexHull(np.vstack(lines)))
    columns = np.linspace(-0.5, 0.5, guess.shape[1])
    ring = grow(guess, 0.09 * max(guess.shape)) > guess
    return [
        share**2,
        min(share, 0.12),
        min(1.0, float(guess.sum()) / max(1.0, hull)),
        math.sqrt(float(guess[:, 0].mean() * guess[:, -1].mean())),
        abs(float((guess.sum(axis=0) * columns).sum() / guess.sum())),
        _share_of_colors(tiny, guess > 0, ring),
        _measure_outline(tiny, guess),
    ]


def _measure_outline(small: Bytes, found: Bytes) -> float:
    """Return the share of a subject's outline along which the color changes.

    The outline of an object follows edges of the picture; that of a wrong guess crosses even areas.
    """
    lab, box = to_lab(small), (9, 9)
    sides = [
        cv2.blur(lab * side[..., None], box)
        / np.maximum(cv2.blur(side.astype(np.float32), box), 1e-3)[..., None]
        for side in (found, 1 - found)
    ]
    outline = cv2.morphologyEx(found, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8)) > 0
    change = np.linalg.norm(sides[0] - sides[1], axis=2)[outline]
    return float((change > 14).mean()) if change.size else 0.0


def _certainty_of(small: Bytes, found: Bytes) -> float:
    """Return the certainty of a guess: it is stable when refitted alone, in colors of its own."""
    half = shrink_to(small, max(small.shape) // 2)
    share = resize_like(found * np.uint8(255), half) > 127
    refitted = _find_by_color(half, np.where(share, MAYBE_FRONT, MAYBE_BACK), 3)
    common = _share_of_colors(small, found > 0, found == 0)
    doubt = (1.0 - _overlap_of(refitted > 0, share)) * common / _MAX_DOUBT
    sides = min(float(found[:, 0].mean()), float(found[:, -1].mean()))
    if sides > 0.3 and found[-1].mean() > 0.95 and found[0].mean() < 0.02:
        doubt = max(doubt, 2.0)  # only ground or water up to a line
    doubt = max(doubt, 3.0 - 3.0 * _measure_outline(small, found))
    return float(np.clip(1.0 - (1.0 - MIN_CERTAINTY) * doubt, 0.0, 1.0))


def _share_of_colors(pixels: Bytes, one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    """Return the share of their colors that two parts of a picture have in common."""
    # Lightness in 16 steps, as it varies along an object; the other two in 32.
    lab = cv2.cvtColor(pixels, cv2.COLOR_RGB2LAB).astype(np.int64) >> np.array([4, 3, 3])
    colors = lab @ np.array([1024, 32, 1])
    own, rest = (np.bincount(colors[part], minlength=16384) for part in (one, other))
    return float(np.minimum(own / max(1, own.sum()), rest / max(1, rest.sum())).sum())


def _remove_crumbs(found: Bytes) -> Bytes:
    """Return a subject without small pieces and pinholes."""
    count, labels, facts, _ = cv2.connectedComponentsWithStats(found)
    if count < 2:
        return found
    areas = facts[:, cv2.CC_STAT_AREA]
    main = 1 + int(areas[1:].argmax())
    near = grow((labels == main).astype(np.uint8), _NEAR_REACH * max(found.shape)) > 0
    close = np.isin(np.arange(count), labels[near])
    kept = areas >= np.where(close, _MIN_NEAR_PIECE, _MIN_PIECE) * areas[main]
    kept[0] = False
    solid = cv2.morphologyEx(kept[labels].astype(np.uint8), cv2.MORPH_CLOSE, np.ones((3, 3)))
    _, labels, facts, _ = cv2.connectedComponentsWithStats(1 - solid, connectivity=4)
    holes = facts[:, cv2.CC_STAT_AREA] < _MAX_HOLE * found.size
    edge = np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]])
    holes[0] = False
    holes[edge] = False
    return np.asarray(solid | holes[labels].astype(np.uint8))


def _overlap_of(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    either = np.count_nonzero(one | other)
    return np.count_nonzero(one & other) / either if either else 1.0
