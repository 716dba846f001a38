"""Continuing: the first guess of what a hole hides, as large pieces moved there from elsewhere.

Which moves may help is read from the rim of the hole: where something looks like what ends there.
Then each pixel takes one of them, all at once and so that pieces meet where they look alike: a
horizon is joined before the sky beside it can grow over it.

Source: He and Sun, "Statistics of patch offsets for image completion" (ECCV 2012); Felzenszwalb and
Huttenlocher, "Efficient belief propagation for early vision" (IJCV 2006).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.fill.patches import RADIUS, Places, Whole, far, nearest, patches

_MOVES = 56  # that are read from the rim
_STRAIGHT = 16  # more that go straight to the sides, and as many straight up or down
_USEFUL = 0.08  # of the hole must be filled by such a move
_RIM = 400  # places at the rim that are asked
_SEEN = 0.35  # of a patch at the rim must be known for its place to be asked
_ALIKE = 400.0  # a mean square of differences that still counts as alike
_NEVER = np.float32(1e4)  # the cost of taking what is not known
_SEAM = 1.0  # the cost of a seam, for each pixel of it, wherever it runs
_MOST = 140.0  # a difference so large counts half: one hard edge beats two softer ones
_AFAR = 0.12  # how much the distance of a move counts
_STRANGE = 0.5  # how much it counts that a pixel looks like nothing around the hole
_SWEEPS = 4
_AT_ONCE = 16  # pixels whose moves are compared with each other

_Where = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Joint:
    """Pixels of a line of the hole, those that follow them, and what two moves cost there.

    Parameters
    ----------
    cost : ndarray of float32
        Shape (n, moves, moves), symmetric.
    """

    source: Whole
    to: Whole
    cost: Floats


def continued(
    canvas: Floats,
    gap: Bytes,
    free: _Where,
    usable: _Where,
    progress: Progress,
    strange: Floats | None = None,
) -> Places:
    """Return the move to where each pixel of a hole is taken from.

    Parameters
    ----------
    canvas, gap : ndarray
        Shape (height, width, 3) float32, and (height, width) uint8, 255 in the hole.
    free, usable : ndarray of bool
        Shape (height, width): which pixels may be taken, and around which of them a whole patch is
        known and may be; at least one.
    strange : ndarray of float32, optional
        Shape (height, width): what it costs to take each pixel, as a mean square of differences.

    Returns
    -------
    ndarray of int
        Shape (2, height, width): steps down and across, 0 outside the hole.
    """
    nodes = np.array(np.nonzero(gap))
    moves = _moves(canvas, gap, free, usable, progress.part(0.0, 0.5))
    own = _own_cost(canvas, gap, free, nodes, moves)
    if strange is not None:
        (rows, columns), _ = _kept(nodes[:, :, None] + moves[:, None], gap.shape)
        own += _STRANGE * _bounded(strange[rows, columns])
    joints = _joints(_apart(canvas, nodes, moves), nodes, gap.shape)
    chosen = _chosen(own, joints, progress.part(0.5, 1.0))
    out = np.zeros((2, *gap.shape), np.int64)
    # What no move reaches stays where it is.
    reached = own[np.arange(len(chosen)), chosen] < _NEVER
    out[:, nodes[0], nodes[1]] = moves[:, chosen] * reached
    return out


def _moves(canvas: Floats, gap: Bytes, free: _Where, usable: _Where, progress: Progress) -> Places:
    """Return the moves that many places at the rim ask for, and some to the sides."""
    height, width = gap.shape
    votes = np.zeros((2 * height, 2 * width), np.float32)
    for here, there, vote in _wishes(canvas, gap, usable, progress):
        down, across = there - here
        np.add.at(votes, (down + height, across + width), vote)
    share = _share(gap, free)
    votes = cv2.GaussianBlur(votes, (0, 0), 0.7) * (0.1 + share)
    votes *= (votes >= cv2.dilate(votes, np.ones((3, 3), np.uint8))) & (share > 0)
    asked = _strongest(votes, _MOVES)
    middle = np.array([[height], [width]])
    level, upright = _straight(share, height), _straight(share.T, width)[::-1]
    return np.asarray(np.unique(np.hstack([asked, level, upright]), axis=1) - middle)


def _straight(share: Floats, middle: int) -> Places:
    """Return, of the moves along one row, some that fill a part of the hole, far apart."""
    useful = np.flatnonzero(share[middle] > _USEFUL)
    along = useful[np.linspace(0, useful.size - 1, min(_STRAIGHT, useful.size)).astype(int)]
    return np.array([np.full_like(along, middle), along])


def _strongest(votes: Floats, most: int) -> Places:
    order = np.argsort(votes, axis=None, kind="stable")[::-1][:most]
    order = order[votes.ravel()[order] > 0]
    return np.array(np.unravel_index(order, votes.shape))


def _wishes(
    canvas: Floats, gap: Bytes, usable: _Where, progress: Progress
) -> Iterator[tuple[Places, Places, Floats]]:
    """Yield places at the rim, what looks most like them on one side, and how much it counts."""
    known = np.array(np.nonzero(usable))
    sure = (gap == 0).astype(np.float32)
    at = _rim(gap)
    own = patches(canvas, at)
    weight = patches(sure[..., None], at)[..., 0]
    weight /= 3 * weight.sum(axis=1, keepdims=True) + 1e-6
    mean = 3 * np.einsum("nij,ni->nj", own, weight)[:, None]
    strength = np.sqrt(np.einsum("nij,ni->n", np.square(own - mean), weight)) + 2.0
    middle = at[1].mean() if at.size else 0
    for side in (known[:, known[1] < middle], known[:, known[1] >= middle]):
        if side.size:
            best, cost = nearest(canvas, at, (own, weight.repeat(3, axis=1)), side, progress)
            yield at, best, strength * np.exp(-cost / _ALIKE)


def _rim(gap: Bytes) -> Places:
    window = np.ones((2 * RADIUS + 1, 2 * RADIUS + 1), np.uint8)
    seen = cv2.boxFilter((gap == 0).astype(np.float32), -1, window.shape)
    rim = (cv2.dilate(gap, window) > 0) & (seen > _SEEN)
    rim[:RADIUS] = rim[-RADIUS:] = False
    rim[:, :RADIUS] = rim[:, -RADIUS:] = False
    at = np.array(np.nonzero(rim))
    return at[:, :: max(1, at.shape[1] // _RIM)]


def _share(gap: Bytes, free: _Where) -> Floats:
    """Return for each move, shape (2 height, 2 width), which share of the hole it fills."""
    height, width = gap.shape
    size = (2 * height, 2 * width)
    hole = np.fft.rfft2((gap > 0).astype(np.float32), size)
    known = np.fft.rfft2(free.astype(np.float32), size)
    both = np.fft.irfft2(np.conj(hole) * known, size)
    share = np.fft.fftshift(both) / np.count_nonzero(gap)
    return np.asarray(np.where(share > 1e-3, share, 0.0), np.float32)


def _own_cost(canvas: Floats, gap: Bytes, free: _Where, nodes: Places, moves: Places) -> Floats:
    """Return what each move costs at each pixel by itself: how badly it fits the rim."""
    cost = np.zeros((nodes.shape[1], moves.shape[1]), np.float32)
    seen = np.full(nodes.shape[1], 1e-6, np.float32)
    for step in product(range(-2, 3), repeat=2):
        rim, inside = _kept(nodes + np.array(step)[:, None], gap.shape)
        which = np.flatnonzero(inside & (gap[rim[0], rim[1]] == 0))
        rim = rim[:, which]
        there, _ = _kept(rim[:, :, None] + moves[:, None], gap.shape)
        off = canvas[there[0], there[1]] - canvas[rim[0], rim[1]][:, None]
        cost[which] += _bounded(np.einsum("nmc,nmc->nm", off, off))
        seen[which] += 1
    cost *= (3 * np.minimum(seen / 5, 1) / seen)[:, None]
    cost += _AFAR * far(np.zeros((2, 1), int), moves, gap.shape)
    there, inside = _kept(nodes[:, :, None] + moves[:, None], gap.shape)
    return np.where(inside & free[there[0], there[1]], cost, _NEVER)


def _kept(places: Places, shape: tuple[int, ...]) -> tuple[Places, NDArray[np.bool_]]:
    """Return places moved into the picture, and which of them were there."""
    rows, columns = places[0].clip(0, shape[0] - 1), places[1].clip(0, shape[1] - 1)
    return np.array([rows, columns]), (rows == places[0]) & (columns == places[1])


def _apart(canvas: Floats, nodes: Places, moves: Places) -> Floats:
    """Return how much any two moves differ at each pixel, shape (n, moves, moves)."""
    there = nodes[:, :, None] + moves[:, None]
    steps = (np.array(step)[:, None, None] for step in product((-1, 0, 1), repeat=2))
    near = (_kept(there + step, canvas.shape)[0] for step in steps)
    flat = np.concatenate([canvas[rows, columns] for rows, columns in near], axis=2) / 3
    squares = np.einsum("nmc,nmc->nm", flat, flat)
    out = np.empty((len(flat), moves.shape[1], moves.shape[1]), np.float32)
    itself = np.arange(moves.shape[1])
    # A few pixels at a time: the differences of all would leave the processor's cache at each step.
    for first in range(0, len(flat), _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        off = np.matmul(flat[part], flat[part].transpose(0, 2, 1), out=out[part])
        off *= -2
        off += squares[part, :, None]
        off += squares[part, None]
        off[:] = _bounded(np.maximum(off, 0, out=off))
        off += np.float32(_SEAM)
        off[:, itself, itself] = 0
    return out


def _bounded(squares: Floats) -> Floats:
    off = np.sqrt(squares)
    off /= 1 + off / np.float32(_MOST)
    return np.asarray(off)


def _joints(apart: Floats, nodes: Places, shape: tuple[int, ...]) -> list[list[_Joint]]:
    """Return what neighbors cost that take different moves, across and down, line by line."""
    return [
        [_Joint(source, to, apart[source] + apart[to]) for source, to in _way(nodes, shape, step)]
        for step in ((0, 1), (1, 0))
    ]


def _chosen(own: Floats, joints: list[list[_Joint]], progress: Progress) -> NDArray[np.intp]:
    """Return the move of each pixel, found by messages that run across the hole and back."""
    total = own.copy()
    ahead, back = ([np.zeros_like(own) for _ in joints] for _ in range(2))
    for done, way in product(range(_SWEEPS), range(len(joints))):
        progress.report(done / _SWEEPS)
        for joint in joints[way]:
            _tell(total, joint.source, joint.to, joint.cost, ahead[way], back[way])
        for joint in reversed(joints[way]):
            _tell(total, joint.to, joint.source, joint.cost, back[way], ahead[way])
    return np.asarray(total.argmin(axis=1))


def _tell(
    total: Floats, source: Whole, to: Whole, joint: Floats, sent: Floats, heard: Floats
) -> None:
    """Tell pixels what each of their moves costs those before them, at the least."""
    # What the one before holds, but for what it was told from here.
    held = total[source] - heard[source]
    told = np.empty_like(held)
    for first in range(0, len(held), _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        np.minimum.reduce(joint[part] + held[part, :, None], axis=1, out=told[part])
    told -= told.min(axis=1, keepdims=True)
    total[to] += told - sent[to]
    sent[to] = told


def _way(
    nodes: Places, shape: tuple[int, ...], step: tuple[int, int]
) -> Iterator[tuple[Whole, Whole]]:
    """Yield, line by line in a direction, pixels of the hole and those that follow them."""
    index = np.full(shape, -1)
    index[nodes[0], nodes[1]] = np.arange(nodes.shape[1])
    before, inside = _kept(nodes - np.array(step)[:, None], shape)
    source = np.where(inside, index[before[0], before[1]], -1)
    along = nodes[0] if step[0] else nodes[1]
    for line in np.unique(along):
        to = np.flatnonzero((along == line) & (source >= 0))
        if to.size:
            yield source[to], to
