"""Patch search: finds the sources from which the pixels of a hole are filled.

Candidate moves (offsets) come from the rim of the hole; then the most similar known patch of each
place is searched, for all places at once, as arrays.

Source: He and Sun, "Statistics of patch offsets for image completion" (ECCV 2012); Wexler,
Shechtman and Irani, "Space-time completion of video" (TPAMI 2007); Barnes et al., "PatchMatch"
(SIGGRAPH 2009).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import Bytes, Floats

__all__ = ["Places", "Search"]

_Mask = NDArray[np.bool_]
_Indices = NDArray[np.intp]
Places = NDArray[np.int64]  # rows and columns, shape (2, n)
_RADIUS = 3
_SIZE = 2 * _RADIUS + 1
_DISTANCE_COST = 60.0  # cost of a match at a distance of the picture's length
_VERTICAL_FACTOR = 3.0  # factor of vertical distance: similar content is at the same height
_HOLE_WEIGHT = 0.25  # weight of pixels inside the hole in comparisons; known pixels have 1
_DEPTH_FACTOR = 1.25  # trust falls by this factor for each pixel of depth inside the hole
_MAX_PAIRS = 3_000_000  # pairs of places up to which the search is exhaustive
_BLOCK_PLACES = 256  # places compared at a time
_REACHES = (0.5, 0.12, 0.03)  # radius of random search around the best match, of the longer side
_WINDOW = np.array(list(product(range(-_RADIUS, _RADIUS + 1), repeat=2)))
_VISIBLE_STEP, _HIDING_STEP = 30.0, 4.0  # a visible step in tone; differences that hide it


def _patches(canvas: Floats, places: Places) -> Floats:
    """Return the patches centered at places, which must lie inside, shape (n, pixels, 3)."""
    height, width, depth = canvas.shape
    # A row of a patch is contiguous in memory.
    shape = (height - _SIZE + 1, width - _SIZE + 1, _SIZE, _SIZE * depth)
    steps = (*canvas.strides[:2], canvas.strides[0], canvas.itemsize)
    rows: Floats = np.ndarray(shape, canvas.dtype, np.ascontiguousarray(canvas), 0, steps)
    found = rows[places[0] - _RADIUS, places[1] - _RADIUS]
    return np.asarray(found.reshape(-1, _SIZE * _SIZE, depth))


@dataclass(frozen=True, slots=True)
class Search:
    """The places of a hole, and for each the best match, from which it is filled."""

    at: Places
    best: Places
    usable: _Mask  # centers of patches that lie whole in the picture and may be used
    free: _Mask  # pixels that may be used
    trust: Floats  # weight of each place when the hole is painted, at first
    weight: Floats  # and in the last round
    sure: Floats  # weight of each pixel when patches are compared

    @staticmethod
    def create(
        gap: Bytes, barred: Bytes, coarser: Search | None, rng: np.random.Generator
    ) -> Search | None:
        """Return a search that starts from the result of a coarser one, or at random.

        None if there is no hole, or nothing known to fill it from.
        """
        inside, window = np.zeros(gap.shape, bool), np.ones((_SIZE, _SIZE), np.uint8)
        inside[_RADIUS:-_RADIUS, _RADIUS:-_RADIUS] = True
        usable = inside & (cv2.dilate(gap | barred, window) == 0)
        at = np.array(np.nonzero(inside & (cv2.dilate(gap, window) > 0)))
        known = np.array(np.nonzero(usable))
        if not at.size or not known.size:
            return None
        depth = cv2.distanceTransform(gap, cv2.DIST_L2, 3)[at[0], at[1]]
        trust = np.maximum(_DEPTH_FACTOR**-depth, 1e-6).astype(np.float32)
        search = Search(
            at=at,
            best=known[:, rng.integers(0, known.shape[1], at.shape[1])],
            usable=usable,
            free=(gap | barred) == 0,
            trust=trust,
            weight=trust.copy(),
            sure=np.where(gap > 0, np.float32(_HOLE_WEIGHT), np.float32(1.0)),
        )
        if coarser is not None:
            search._accept(2 * coarser._matches_at(at // 2) + at % 2)
        return search

    def guess(self, canvas: Floats, gap: Bytes, progress: Progress) -> Floats:
        """Return the first guess, from which the search continues."""
        moves = _continue_rim(canvas, gap, self, progress)
        self._accept(self.at + moves[:, self.at[0], self.at[1]])
        rows, columns = np.indices(gap.shape) + moves
        return np.asarray(canvas[rows, columns])

    def paint(self, canvas: Floats, rng: np.random.Generator, progress: Progress) -> Floats:
        """Improve the matches, and return the canvas with the hole painted from them."""
        own = self._weighted_patches(canvas, self.at)
        if self.at.shape[1] * np.count_nonzero(self.usable) <= _MAX_PAIRS:
            known = np.array(np.nonzero(self.usable))
            self.best[:], cost = self.nearest(canvas, self.at, own, known, progress)
        else:
            cost = self._cost(canvas, own, np.arange(self.at.shape[1]), self.best)
            for done, candidates in enumerate(self._candidates(rng)):
                progress.report(done / 11)
                new = (candidates != self.best).any(axis=0)
                which = np.flatnonzero(new & self._is_usable(candidates))
                fresh = self._cost(canvas, own, which, candidates[:, which])
                better = fresh < cost[which]
                cost[which[better]] = fresh[better]
                self.best[:, which[better]] = candidates[:, which[better]]
        typical = 0.5 * float(np.percentile(cost, 60)) + 1.0
        self.weight[:] = self.trust * np.exp(-cost / typical) + 1e-9
        return self.fill_planes(canvas)

    def nearest(
        self,
        canvas: Floats,
        at: Places,
        own: tuple[Floats, Floats],
        known: Places,
        progress: Progress,
    ) -> tuple[Places, Floats]:
        """Return the most similar known place of each place, and its cost."""
        found = _patches(canvas, known)
        both = np.hstack([np.einsum("nij,nij->ni", found, found), found.reshape(len(found), -1)]).T
        best, cost = np.empty_like(at), np.empty(at.shape[1], np.float32)
        for start in range(0, len(cost), _BLOCK_PLACES):
            progress.report(start / len(cost))
            part = slice(start, start + _BLOCK_PLACES)
            pixels, weight = own[0][part].reshape(-1, _SIZE * _SIZE * 3), own[1][part]
            left = np.hstack([weight[:, ::3], -2 * weight * pixels])
            off = np.empty((len(left), known.shape[1]), np.float32)
            # Parts so small that BLAS does not use several threads.
            left = left.reshape(-1, math.gcd(len(left), 16), len(both))
            for first in range(0, known.shape[1], 80):
                to = off.reshape(*left.shape[:2], -1)[..., first : first + 80]
                np.matmul(left, both[:, first : first + 80], out=to)
            off += (weight * pixels * pixels).sum(axis=1, keepdims=True)
            off += self.move_cost(at[:, part, None], known[:, None])
            which = off.argmin(axis=1)
            best[:, part] = known[:, which]
            cost[part] = off[np.arange(len(which)), which]
        return best, np.maximum(cost, 0.0)

    def move_cost(self, here: Places, there: Places) -> Floats:
        """Return the cost of the distance of matches, mostly of vertical distance."""
        away = np.float32(_DISTANCE_COST / max(self.usable.shape))
        start, end = (place.astype(np.float32) * away for place in (here, there))
        down = np.abs(end[0] - start[0])
        down *= np.float32(_VERTICAL_FACTOR)
        down += np.abs(end[1] - start[1])
        return np.asarray(down)

    def fit(self, canvas: Floats, gap: Bytes) -> float:
        """Return the quality of the filled hole: 1 without visible seams between pieces."""
        own = np.dstack([np.diff(canvas, axis=n, append=canvas.take([-1], n)) for n in (1, 0)])
        inside = cv2.erode(gap, np.ones((3, 3), np.uint8)) > 0
        if not inside.any():
            return 1.0
        made, meant = own[inside], self.fill_planes(own)[inside]
        seam = np.count_nonzero(np.abs(made - meant).max(axis=1) > _VISIBLE_STEP)
        # Relative to the width of the hole in a smooth area: texture hides seams.
        rough = 1.0 + float(np.abs(made).mean()) / _HIDING_STEP
        return float(max(0.0, 1.0 - seam / (rough * math.sqrt(np.count_nonzero(gap)))))

    def fill_planes(self, planes: Floats) -> Floats:
        """Return planes, shape (height, width, any), the hole painted from the same matches."""
        height, width, depth = planes.shape
        flat = planes.reshape(-1, depth)
        total, weights = np.zeros_like(flat), np.full(len(flat), 1e-12, np.float32)
        here, there = self.at[0] * width + self.at[1], self.best[0] * width + self.best[1]
        for down, across in _WINDOW:
            # The places are distinct, so a step never adds to the same pixel twice.
            step = down * width + across
            share = np.float32(np.exp(-(down**2 + across**2) / 8.0)) * self.weight
            to = here + step
            weights[to] += share
            part = flat.take(there + step, axis=0)
            part *= share[:, None]
            part += total.take(to, axis=0)
            total[to] = part
        return np.asarray((total / weights[:, None]).reshape(height, width, depth))

    def moves(self) -> Places:
        """Return the move from each pixel to its match, shape (2, height, width), 0 without one."""
        moves = np.zeros((2, *self.usable.shape), np.int64)
        moves[:, self.at[0], self.at[1]] = self.best - self.at
        return moves

    def _weighted_patches(self, canvas: Floats, at: Places) -> tuple[Floats, Floats]:
        """Return the patch at each place, and the weights of its values."""
        weight = _patches(self.sure[..., None], at)[..., 0]
        weight /= 3 * weight.sum(axis=1, keepdims=True)
        return _patches(canvas, at), weight.repeat(3, axis=1)

    def _cost(
        self, canvas: Floats, own: tuple[Floats, Floats], which: NDArray[np.intp], others: Places
    ) -> Floats:
        cost = np.empty(len(which), np.float32)
        for start in range(0, len(which), 16 * _BLOCK_PLACES):
            part = slice(start, start + 16 * _BLOCK_PLACES)
            off = _patches(canvas, others[:, part]) - own[0][which[part]]
            off *= off
            cost[part] = np.einsum("nj,nj->n", off.reshape(len(off), -1), own[1][which[part]])
            cost[part] += self.move_cost(self.at[:, which[part]], others[:, part])
        return cost

    def _candidates(self, rng: np.random.Generator) -> Iterator[Places]:
        """Yield candidate matches of each place: those of its neighbors, then random ones."""
        for stride, (down, across) in product((4, 1), ((0, 1), (0, -1), (1, 0), (-1, 0))):
            step = np.array([[down * stride], [across * stride]])
            yield self._matches_at(self.at + step) - step
        for reach in _REACHES:
            most = max(2, round(reach * max(self.usable.shape)))
            yield self.best + rng.integers(-most, most + 1, self.best.shape)

    def _matches_at(self, places: Places) -> Places:
        """Return the matches of places; without a match, a place outside the picture."""
        height, width = self.usable.shape
        matches = np.full((2, height, width), -4 * (height + width))
        matches[:, self.at[0], self.at[1]] = self.best
        return np.asarray(matches[:, places[0].clip(0, height - 1), places[1].clip(0, width - 1)])

    def _accept(self, candidates: Places) -> None:
        which = self._is_usable(candidates)
        self.best[:, which] = candidates[:, which]

    def _is_usable(self, places: Places) -> _Mask:
        (rows, columns), inside = _clip_places(places, self.usable.shape)
        return np.asarray(inside & self.usable[rows, columns])


def _clip_places(places: Places, shape: tuple[int, ...]) -> tuple[Places, _Mask]:
    """Return places clipped to the picture, and a mask of those that were inside."""
    rows, columns = places[0].clip(0, shape[0] - 1), places[1].clip(0, shape[1] - 1)
    return np.array([rows, columns]), (rows == places[0]) & (columns == places[1])


_MAX_MOVES, _SIDE_MOVES, _RIM_PLACES = 56, 16, 400
_MIN_KNOWN = 0.35  # share of a patch at the rim that must be known for it to be used
_MIN_FILLED = 0.08  # share of the hole that a move straight to a side must fill
_UNKNOWN_COST = np.float32(1e4)  # cost of using an unknown pixel
_HALF_COST = 140.0  # difference that counts half: one hard edge is better than two softer ones
_SWEEPS = 4
_BLOCK_PIXELS = 16  # pixels whose moves are compared at once, to fit in the processor's cache


def _continue_rim(canvas: Floats, gap: Bytes, search: Search, progress: Progress) -> Places:
    """Return the move from each pixel of a hole to its source, shape (2, height, width).

    The candidates are moves to places that look like the rim of the hole. Each pixel gets one of
    them so that neighboring pieces match along their seams: a horizon is joined before the sky
    next to it can grow over it.
    """
    nodes = np.array(np.nonzero(gap))
    moves = _moves(canvas, gap, search, progress.part(0.0, 0.5))
    costs = _own_cost(canvas, gap, search, nodes, moves)
    pair_costs = _differences(canvas, nodes, moves)
    index = np.full(gap.shape, -1)
    index[nodes[0], nodes[1]] = np.arange(nodes.shape[1])
    joints = [_pairs_by_line(index, nodes, step, pair_costs) for step in ((0, 1), (1, 0))]
    # Belief propagation along and back: the minimum cost of each move for the pixels before.
    messages = [[np.zeros_like(costs) for _ in joints] for _ in range(2)]
    total = costs.copy()

    def send(source: _Indices, to: _Indices, joint: Floats, way: int, back: int) -> None:
        belief = total[source] - messages[1 - back][way][source]
        message = np.empty_like(belief)
        for first in range(0, len(belief), _BLOCK_PIXELS):
            part = slice(first, first + _BLOCK_PIXELS)
            np.minimum.reduce(joint[part] + belief[part, :, None], axis=1, out=message[part])
        message -= message.min(axis=1, keepdims=True)
        total[to] += message - messages[back][way][to]
        messages[back][way][to] = message

    for done, way in product(range(_SWEEPS), range(len(joints))):
        progress.report(0.5 + 0.5 * done / _SWEEPS)
        for source, to, joint in joints[way]:
            send(source, to, joint, way, 0)
        for source, to, joint in reversed(joints[way]):
            send(to, source, joint, way, 1)
    chosen = total.argmin(axis=1)
    out = np.zeros((2, *gap.shape), np.int64)
    # Pixels that no move reaches stay unchanged.
    reached = costs[np.arange(len(chosen)), chosen] < _UNKNOWN_COST
    out[:, nodes[0], nodes[1]] = moves[:, chosen] * reached
    return out


def _moves(canvas: Floats, gap: Bytes, search: Search, progress: Progress) -> Places:
    """Return the moves with the most votes from places at the rim, and some to the sides."""
    height, width = gap.shape
    window = np.ones((_SIZE, _SIZE), np.uint8)
    seen = cv2.boxFilter((gap == 0).astype(np.float32), -1, window.shape)
    rim = (cv2.dilate(gap, window) > 0) & (seen > _MIN_KNOWN)
    rim[:_RADIUS] = rim[-_RADIUS:] = rim[:, :_RADIUS] = rim[:, -_RADIUS:] = False
    at = np.array(np.nonzero(rim))
    at = at[:, :: max(1, at.shape[1] // _RIM_PLACES)]
    sure = _patches((gap == 0).astype(np.float32)[..., None], at)[..., 0]
    weight = sure / (3 * sure.sum(axis=1, keepdims=True) + 1e-6)
    own = _patches(canvas, at)
    mean = 3 * np.einsum("nij,ni->nj", own, weight)[:, None]
    strength = np.sqrt(np.einsum("nij,ni->n", np.square(own - mean), weight)) + 2.0
    votes = np.zeros((2 * height, 2 * width), np.float32)
    known, middle = np.array(np.nonzero(search.usable)), at[1].mean() if at.size else 0
    for side in (known[:, known[1] < middle], known[:, known[1] >= middle]):
        if side.size and at.size:
            pair = (own, weight.repeat(3, axis=1))
            best, cost = search.nearest(canvas, at, pair, side, progress)
            down, across = best - at
            np.add.at(votes, (down + height, across + width), strength * np.exp(-cost / 400.0))
    # The share of the hole that each move fills.
    hole, free = (np.fft.rfft2(p.astype(np.float32), votes.shape) for p in (gap > 0, search.free))
    share = np.fft.fftshift(np.fft.irfft2(np.conj(hole) * free, votes.shape))
    share = np.where(share > 1e-3 * np.count_nonzero(gap), share / np.count_nonzero(gap), 0.0)
    votes = cv2.GaussianBlur(votes, (0, 0), 0.7) * (0.1 + share.astype(np.float32))
    votes *= (votes >= cv2.dilate(votes, np.ones((3, 3), np.uint8))) & (share > 0)
    order = np.argsort(votes, axis=None, kind="stable")[::-1][:_MAX_MOVES]
    order = order[votes.ravel()[order] > 0]
    asked = [np.array(np.unravel_index(order, votes.shape))]
    for line, level in ((share[height], True), (share[:, width], False)):
        useful = np.flatnonzero(line > _MIN_FILLED)
        along = useful[np.linspace(0, useful.size - 1, min(_SIDE_MOVES, useful.size)).astype(int)]
        fixed = np.full_like(along, height if level else width)
        asked.append(np.array([fixed, along] if level else [along, fixed]))
    return np.asarray(np.unique(np.hstack(asked), axis=1) - np.array([[height], [width]]))


def _own_cost(canvas: Floats, gap: Bytes, search: Search, nodes: Places, moves: Places) -> Floats:
    """Return the cost of each move at each pixel alone: its mismatch with rim and colors."""
    cost = np.zeros((nodes.shape[1], moves.shape[1]), np.float32)
    seen = np.full(nodes.shape[1], 1e-6, np.float32)
    for step in product(range(-2, 3), repeat=2):
        rim, inside = _clip_places(nodes + np.array(step)[:, None], gap.shape)
        which = np.flatnonzero(inside & (gap[rim[0], rim[1]] == 0))
        rim = rim[:, which]
        there, _ = _clip_places(rim[:, :, None] + moves[:, None], gap.shape)
        off = canvas[there[0], there[1]] - canvas[rim[0], rim[1]][:, None]
        cost[which] += _soften(np.einsum("nmc,nmc->nm", off, off))
        seen[which] += 1
    cost *= (3 * np.minimum(seen / 5, 1) / seen)[:, None]
    there, inside = _clip_places(nodes[:, :, None] + moves[:, None], gap.shape)
    cost += 0.12 * search.move_cost(nodes[:, :, None], there)
    return np.where(inside & search.free[there[0], there[1]], cost, _UNKNOWN_COST)


def _differences(canvas: Floats, nodes: Places, moves: Places) -> Floats:
    """Return the difference of any two moves at each pixel, shape (n, moves, moves)."""
    there = nodes[:, :, None] + moves[:, None]
    steps = (np.array(step)[:, None, None] for step in product((-1, 0, 1), repeat=2))
    near = (_clip_places(there + step, canvas.shape)[0] for step in steps)
    flat = np.concatenate([canvas[rows, columns] for rows, columns in near], axis=2) / 3
    squares = np.einsum("nmc,nmc->nm", flat, flat)
    out = np.empty((len(flat), moves.shape[1], moves.shape[1]), np.float32)
    itself = np.arange(moves.shape[1])
    for first in range(0, len(flat), _BLOCK_PIXELS):
        part = slice(first, first + _BLOCK_PIXELS)
        off = np.matmul(flat[part], flat[part].transpose(0, 2, 1)) * -2
        off += squares[part, :, None] + squares[part, None]
        out[part] = _soften(np.maximum(off, 0)) + 1
        out[part][:, itself, itself] = 0
    return out


def _soften(squares: Floats) -> Floats:
    off = np.sqrt(squares)
    return np.asarray(off / (1 + off / np.float32(_HALF_COST)))


def _pairs_by_line(
    index: NDArray[np.int64], nodes: Places, step: tuple[int, int], pair_costs: Floats
) -> list[tuple[_Indices, _Indices, Floats]]:
    """Return, line by line, pixels of the hole, their successors, and the costs of move pairs."""
    before, inside = _clip_places(nodes - np.array(step)[:, None], index.shape)
    source = np.where(inside, index[before[0], before[1]], -1)
    along = nodes[0] if step[0] else nodes[1]
    lines = (np.flatnonzero((along == line) & (source >= 0)) for line in np.unique(along))
    return [(source[to], to, pair_costs[source[to]] + pair_costs[to]) for to in lines if to.size]
