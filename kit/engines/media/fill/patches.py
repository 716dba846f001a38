"""Patches: for each place at a hole, the known place that looks most like it.

Each place keeps its best find, tries those of its neighbors and some at random; all places work at
once, as arrays. The hole is then painted from all patches that cover each of its pixels.

Source: Wexler, Shechtman and Irani, "Space-time completion of video" (TPAMI 2007); Barnes et al.,
"PatchMatch" (SIGGRAPH 2009).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Self, TypeAlias

import cv2
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import Bytes, Floats

#: Rows and columns of places.
Places: TypeAlias = NDArray[np.int64]
#: Patches, shape (n, pixels, 3), and how much each of their values counts, shape (n, pixels * 3).
Own: TypeAlias = tuple[Floats, Floats]
#: Returns what it costs to fill places from other places.
Toll: TypeAlias = Callable[[Places, Places], Floats]

RADIUS = 3
SIZE = 2 * RADIUS + 1

_FAR = 60.0  # added to a difference for a find that lies as far away as the picture is long
_LAYERED = 3.0  # how much more a step up or down costs than one to the side
_BLOCK = 256


def far(here: Places, there: Places, shape: tuple[int, ...]) -> Floats:
    """Return what a find costs for lying far away, and more so for lying higher or lower.

    Pictures lie in layers: at the same height there is more of the same.
    """
    away = np.float32(_FAR / max(shape[:2]))
    (high, left), (other_high, other_left) = here.astype(np.float32), there.astype(np.float32)
    down = np.abs(other_high - high)
    down *= np.float32(_LAYERED) * away
    across = np.abs(other_left - left)
    across *= away
    down += across
    return np.asarray(down)


def whole_patches(gap: Bytes, barred: Bytes) -> NDArray[np.bool_]:
    """Return around which places a whole patch lies in the picture, known and not barred."""
    closed = cv2.dilate(gap | barred, np.ones((SIZE, SIZE), np.uint8)) > 0
    return np.asarray(inside_of(gap.shape) & ~closed)


def inside_of(shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return around which places of a picture a whole patch lies in it."""
    inside = np.zeros(shape, bool)
    inside[RADIUS:-RADIUS, RADIUS:-RADIUS] = True
    return inside


def patches(canvas: Floats, places: Places) -> Floats:
    """Return the pixels around places that a whole patch fits around, shape (n, pixels, 3)."""
    depth = canvas.shape[2]
    # A row of a patch is one stretch of memory.
    rows = sliding_window_view(canvas.reshape(len(canvas), -1), (SIZE, SIZE * depth))[:, ::depth]
    found = rows[places[0] - RADIUS, places[1] - RADIUS]
    return np.asarray(found.reshape(-1, SIZE * SIZE, depth))


def nearest(
    canvas: Floats,
    at: Places,
    own: Own,
    known: Places,
    progress: Progress,
    toll: Toll | None = None,
) -> tuple[Places, Floats]:
    """Return for each place the known place that looks most like it, and how much they differ.

    Parameters
    ----------
    canvas : ndarray of float32
        Shape (height, width, 3).
    at, known : ndarray of int
        Shapes (2, n) and (2, m).
    own : pair of ndarray of float32
        The patches at the places, shape (n, pixels, 3), and how much each of their values counts,
        shape (n, pixels * 3).
    toll : Toll, optional
        What finds cost beside looking different; without it that is `far`.
    """
    toll = toll or partial(far, shape=canvas.shape)
    found = patches(canvas, known)
    both = np.hstack([np.einsum("nij,nij->ni", found, found), found.reshape(len(found), -1)]).T
    best, cost = np.empty_like(at), np.empty(at.shape[1], np.float32)
    for start in range(0, len(cost), _BLOCK):
        progress.report(start / len(cost))
        part = slice(start, start + _BLOCK)
        here = at[:, part]
        pixels = own[0][part].reshape(here.shape[1], -1)
        weight = own[1][part]
        off = np.hstack([weight[:, :: canvas.shape[2]], -2 * weight * pixels]) @ both
        off += (weight * pixels * pixels).sum(axis=1, keepdims=True)
        off += toll(here[:, :, None], known[:, None])
        which = off.argmin(axis=1)
        best[:, part] = known[:, which]
        cost[part] = off[np.arange(len(which)), which]
    return best, np.maximum(cost, 0.0)


Whole: TypeAlias = NDArray[np.intp]

_WINDOW = np.array(list(product(range(-RADIUS, RADIUS + 1), repeat=2)))
_NEIGHBORS = ((0, 1), (0, -1), (1, 0), (-1, 0))
_STRIDES = (4, 1)
_REACHES = (0.5, 0.12, 0.03)  # of a random try around the best find, of the longer side
_TRIES = len(_STRIDES) * len(_NEIGHBORS) + len(_REACHES)
_DEEPER = 1.25  # a place is trusted less by this much for each pixel further inside the hole
_GUESSED = 0.25  # how much a pixel inside the hole counts against a known one when patches compare
_ALL = 3_000_000  # pairs of places up to which each is compared with every other
_MOST = 4096  # places compared at a time; bounds the memory


@dataclass(frozen=True, slots=True)
class Search:
    """The places at a hole and what they are filled from.

    Parameters
    ----------
    at, best : ndarray of int
        Shape (2, n): rows and columns of each place and of the best find for it.
    usable : ndarray of bool
        Shape (height, width): where a whole patch is known.
    trust : ndarray of float32
        Shape (n,): how much a place weighs when the hole is painted.
    sure : ndarray of float32
        Shape (height, width): how much a pixel counts when patches are compared.
    weight : ndarray of float32
        Shape (n,): how much each place counted when the hole was last painted.
    toll : Toll
        What finds cost beside looking different.
    """

    at: Places
    best: Places
    usable: NDArray[np.bool_]
    trust: Floats
    sure: Floats
    weight: Floats
    toll: Toll

    @classmethod
    def over(
        cls,
        gap: Bytes,
        barred: Bytes,
        coarser: Search | None,
        rng: np.random.Generator,
        toll: Toll | None = None,
    ) -> Self | None:
        """Return a search that begins where a coarser one ended, or at random.

        None where there is no hole, or nothing known to fill it from.

        Parameters
        ----------
        gap, barred : ndarray of uint8
            Shape (height, width): 255 in the hole, and where nothing may be copied from.
        toll : Toll, optional
            What finds cost beside looking different; without it that is `far`.
        """
        touched = cv2.dilate(gap, np.ones((SIZE, SIZE), np.uint8)) > 0
        usable = whole_patches(gap, barred)
        at = np.array(np.nonzero(inside_of(gap.shape) & touched))
        known = np.array(np.nonzero(usable))
        if not at.size or not known.size:
            return None
        best = known[:, rng.integers(0, known.shape[1], at.shape[1])]
        depth = cv2.distanceTransform(gap, cv2.DIST_L2, 3)[at[0], at[1]]
        trust = np.maximum(_DEEPER**-depth, 1e-6).astype(np.float32)
        sure = np.where(gap > 0, np.float32(_GUESSED), np.float32(1.0))
        toll = toll or partial(far, shape=gap.shape)
        search = cls(at, best, usable, trust, sure, trust.copy(), toll)
        if coarser is not None:
            search._take(2 * coarser._found(at // 2) + at % 2)
        return search

    def painted(self, canvas: Floats, rng: np.random.Generator, progress: Progress) -> Floats:
        """Look for better finds, and return the canvas with the hole painted from them.

        Parameters
        ----------
        canvas : ndarray of float32
            Shape (height, width, 3), the hole filled with the last guess.
        """
        if self.at.shape[1] * np.count_nonzero(self.usable) <= _ALL:
            return self._voted(canvas, self._compare_all(canvas, progress))
        own = self._own(canvas)
        cost = self._cost(canvas, own, np.arange(self.at.shape[1]), self.best)
        for done, candidates in enumerate(self._candidates(rng)):
            progress.report(done / _TRIES)
            self._improve(canvas, own, cost, candidates)
        return self._voted(canvas, cost)

    def _compare_all(self, canvas: Floats, progress: Progress) -> Floats:
        """Take for each place the best find there is; return how much they differ."""
        known = np.array(np.nonzero(self.usable))
        best, cost = nearest(canvas, self.at, self._own(canvas), known, progress, self.toll)
        self.best[:] = best
        return cost

    def _candidates(self, rng: np.random.Generator) -> Iterator[Places]:
        """Yield what else each place might be filled from."""
        for stride, (down, across) in product(_STRIDES, _NEIGHBORS):
            step = np.array([[down * stride], [across * stride]])
            yield self._found(self.at + step) - step
        for reach in _REACHES:
            most = max(2, round(reach * max(self.usable.shape)))
            yield self.best + rng.integers(-most, most + 1, self.best.shape)

    def _found(self, places: Places) -> Places:
        """Return the finds of places; where there is none, a place outside the picture."""
        height, width = self.usable.shape
        finds = np.full((2, height, width), -4 * (height + width))
        finds[:, self.at[0], self.at[1]] = self.best
        rows, columns = places[0].clip(0, height - 1), places[1].clip(0, width - 1)
        return np.asarray(finds[:, rows, columns])

    def _improve(self, canvas: Floats, own: Own, cost: Floats, candidates: Places) -> None:
        """Take each candidate that is usable and looks more like its place."""
        new = (candidates != self.best).any(axis=0)
        which = np.flatnonzero(new & self._is_usable(candidates))
        fresh = self._cost(canvas, own, which, candidates[:, which])
        better = fresh < cost[which]
        cost[which[better]] = fresh[better]
        self.best[:, which[better]] = candidates[:, which[better]]

    def _take(self, candidates: Places) -> None:
        which = self._is_usable(candidates)
        self.best[:, which] = candidates[:, which]

    def _is_usable(self, places: Places) -> NDArray[np.bool_]:
        height, width = self.usable.shape
        rows, columns = places[0].clip(0, height - 1), places[1].clip(0, width - 1)
        return np.asarray((rows == places[0]) & (columns == places[1]) & self.usable[rows, columns])

    def _own(self, canvas: Floats) -> Own:
        """Return the patch at each place, and how much each of its pixels counts."""
        weight = patches(self.sure[..., None], self.at)[..., 0]
        weight /= canvas.shape[2] * weight.sum(axis=1, keepdims=True)
        return patches(canvas, self.at), weight.repeat(canvas.shape[2], axis=1)

    def _cost(self, canvas: Floats, own: Own, which: Whole, others: Places) -> Floats:
        """Return how much patches differ, places `which` against other places."""
        cost = np.empty(len(which), np.float32)
        pixels, weight = own
        for start in range(0, len(which), _MOST):
            part = slice(start, start + _MOST)
            chosen, there = which[part], others[:, part]
            off = patches(canvas, there)
            off -= pixels[chosen]
            off *= off
            cost[part] = np.einsum("nj,nj->n", off.reshape(len(off), -1), weight[chosen])
            cost[part] += self.toll(self.at[:, chosen], there)
        return cost

    def moves(self) -> Places:
        """Return the move from each pixel to its find, shape (2, height, width), 0 without one."""
        moves = np.zeros((2, *self.usable.shape), np.int64)
        moves[:, self.at[0], self.at[1]] = self.best - self.at
        return moves

    def follow(self, moves: Places) -> None:
        """Take the finds that moves lead to, where they are usable."""
        self._take(self.at + moves[:, self.at[0], self.at[1]])

    def laid(self, planes: Floats) -> Floats:
        """Return planes, shape (height, width, any), painted anew as the canvas was last."""
        height, width, depth = planes.shape
        flat = planes.reshape(-1, depth)
        total, weights = np.zeros_like(flat), np.full(len(flat), 1e-12, np.float32)
        here, there = self.at[0] * width + self.at[1], self.best[0] * width + self.best[1]
        for down, across in _WINDOW:
            # The places differ, so no pixel is named twice in one step.
            step = down * width + across
            share = np.float32(np.exp(-(down**2 + across**2) / 8.0)) * self.weight
            to = here + step
            weights[to] += share
            laid = flat.take(there + step, axis=0)
            laid *= share[:, None]
            laid += total.take(to, axis=0)
            total[to] = laid
        return np.asarray((total / weights[:, None]).reshape(height, width, depth))

    def _voted(self, canvas: Floats, cost: Floats) -> Floats:
        """Return the canvas painted anew: each pixel a mean of all patches that cover it."""
        typical = 0.5 * float(np.percentile(cost, 60)) + 1.0
        self.weight[:] = self.trust * np.exp(-cost / typical) + 1e-9
        return self.laid(canvas)


_ROUNDS = 60
_SOFT, _HARD = 6.0, 16.0  # steps in tone that are evened out, and that stay an edge
_SHADE = 0.65  # how much less a step in light alone counts
_TONE, _MUCH = 3.0, 14.0  # pixels over which tones are compared, and by how much they may differ
_HELD = 0.004  # how strongly a pixel is held to the color that it had


def evened(canvas: Floats, gap: Bytes, slopes: Floats, *, shades: bool = False) -> Floats:
    """Return the canvas with the tones of its hole joined to what surrounds it.

    Parameters
    ----------
    canvas : ndarray of float32
        Shape (height, width, 3).
    gap : ndarray of uint8
        Shape (height, width), 255 in the hole.
    slopes : ndarray of float32
        Shape (height, width, 6): by how much the next pixel to the right, and the next one below,
        is to differ.
    shades : bool
        Whether larger steps are evened out as well where only light changes and no color: one wall
        in two lights, put together.

    Source: Perez, Gangnet and Blake, "Poisson image editing" (SIGGRAPH 2003), solved by conjugate
    gradients.
    """
    x, y, width, height = cv2.boundingRect(gap)
    rows = slice(max(0, y - 1), y + height + 1)
    columns = slice(max(0, x - 1), x + width + 1)
    hole = (gap[rows, columns] > 0)[..., None].astype(np.float32)
    first = canvas[rows, columns]
    across, down = slopes[rows, columns, :3], slopes[rows, columns, 3:]
    across = _kept(across[:, :-1], np.diff(first, axis=1), shades)
    down = _kept(down[:-1], np.diff(first, axis=0), shades)
    wanted = _gathered(across, down, first.shape) + _HELD * first
    off = (wanted - _applied(first)) * hole
    step, found = off.copy(), np.zeros_like(off)
    left = float(np.vdot(off, off))
    least = 0.02 * float(hole.sum())
    for _ in range(_ROUNDS):
        if left <= least:
            break
        turned = _applied(step) * hole
        share = left / float(np.vdot(step, turned))
        found += share * step
        off -= share * turned
        before, left = left, float(np.vdot(off, off))
        step *= left / before
        step += off
    out = canvas.copy()
    out[rows, columns] += found
    return out


def toned(canvas: Floats, gap: Bytes, before: Floats) -> Floats:
    """Return the canvas with the tones that its hole had before it was painted anew.

    What was evened out in a smaller picture would come back with the colors of where patches are
    from. Where it is not the tone that differs but what is shown, it stays as it is painted.

    Parameters
    ----------
    canvas, before : ndarray of float32
        Shape (height, width, 3).
    gap : ndarray of uint8
        Shape (height, width), 255 in the hole.
    """
    hole = (gap > 0).astype(np.float32)
    off = cv2.GaussianBlur((before - canvas) * hole[..., None], (0, 0), _TONE)
    off /= np.maximum(cv2.GaussianBlur(hole, (0, 0), _TONE), 1e-3)[..., None]
    much = np.abs(off).max(axis=2)
    share = hole * np.clip(2.0 - much / _MUCH, 0, 1)
    return np.asarray(canvas + share[..., None] * off, np.float32)


def _kept(wanted: Floats, found: Floats, shades: bool) -> Floats:
    """Return wanted slopes, but those found where the two differ so much that it is an edge."""
    step = found - wanted
    off = np.abs(step).max(axis=2, keepdims=True)
    if shades:
        # As much as the three colors change together is light, the rest is another thing.
        light = step.mean(axis=2, keepdims=True)
        color = np.abs(step - light).max(axis=2, keepdims=True)
        off = np.maximum(off - _SHADE * np.abs(light), 2 * color)
    share = np.clip((off - _SOFT) / (_HARD - _SOFT), 0, 1)
    return np.asarray(wanted + share * step)


def _applied(pixels: Floats) -> Floats:
    return _gathered(np.diff(pixels, axis=1), np.diff(pixels, axis=0), pixels.shape) + (
        _HELD * pixels
    )


def _gathered(across: Floats, down: Floats, shape: tuple[int, ...]) -> Floats:
    """Return for each pixel the sum of how much it exceeds its neighbors."""
    out = np.zeros(shape, np.float32)
    out[:, :-1] -= across
    out[:, 1:] += across
    out[:-1] -= down
    out[1:] += down
    return out
