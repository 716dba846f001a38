"""Guesses: several ways to begin a cutout where no face says what the subject is, and the best end.

A color model finds another thing from each place it is started in. Each end is judged like a shape
that a hand might have drawn: closed, clear along its outline, sharp, away from the picture's edges.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats
from kit.engines.media.cutout_marks import BACK, FRONT, MAYBE_BACK, MAYBE_FRONT, things
from kit.engines.media.outlines import outlined

__all__ = ["around", "endings", "fitted", "guessed"]

_SIDE = 120  # of the picture that the guesses are made in
_ROUNDS = 2
_TRIED = 3  # guesses that are tried in full
_RIM = 0.02  # share of the frame that is background where a start says so
_LEAST, _MOST = 0.004, 0.97  # shares of the picture between which a guess is one
_RING = 0.09  # what is around a guess, as a share of the longer side
_SMALL = 0.12  # of the picture: what is smaller is judged by its size as well
_SHARP = (0.2, 0.5, 0.85)  # of the sharpest: background, perhaps and surely the subject
_KEPT, _BEYOND = 0.035, 0.07  # how far inside and outside of a guess all is sure, of the side


#: A guess with as much of the colors around it may be a thing with some of its ground, but for one
#: of such a rank. It is that thing alone that has fewer of them, a clear outline, lies inside with
#: this share of it, and ranks lower by no more than that.
_MIXED, _GOOD = 0.6, 0.6
_PURE, _CLEAR, _INSIDE, _LOWER = 0.5, 0.98, 0.9, 0.25


@dataclass(frozen=True, slots=True)
class _Guess:
    """What may be the subject, what is measured on it, and whether it began with what strikes."""

    where: Bytes
    facts: list[float]
    striking: bool

    @property
    def rank(self) -> float:
        return float(np.dot(_WEIGHTS, self.facts))

    @property
    def alike(self) -> float:
        return self.facts[-1]


@dataclass(frozen=True, slots=True)
class _Start:
    """An ellipse that may be the subject, in shares of the frame, and the sides it keeps off."""

    x: float
    y: float
    wide: float
    high: float
    free: str


#: A thing in the middle, one that stands on the lower edge, one that comes in from a side, and
#: nearly all there is.
_STARTS = (
    _Start(0.50, 0.53, 0.42, 0.45, "tblr"),
    _Start(0.50, 0.80, 0.36, 0.62, "tlr"),
    _Start(0.12, 0.60, 0.40, 0.42, "tr"),
    _Start(0.88, 0.60, 0.40, 0.42, "tl"),
    _Start(0.50, 0.50, 9.00, 9.00, "tlr"),
)
#: How much each fact speaks for a thing, in their order: a large share of the picture, up to
#: `_SMALL` a larger one, being full, touching both sides of the frame, being off its middle,
#: sharper than the rest, in the colors of what is around. Fitted to a hundred pictures whose
#: subject was known.
_WEIGHTS = (-0.6, 2.5, 0.6, -0.45, -1.1, 0.1, -0.38)


def guessed(small: Bytes, check: Callable[[], None]) -> Iterator[Bytes]:
    """Yield marks for a color model, around what looks most like a thing first.

    Parameters
    ----------
    small : ndarray of uint8
        Shape (height, width, 3), RGB.
    check : callable
        Called between the guesses; what it raises passes through.
    """
    height, width = small.shape[:2]
    tiny, sharp = _reduced(small)
    starts = _begun(tiny, sharp)
    striking = starts[-1]
    guesses = [
        _Guess(where, _facts(tiny, where, sharp), start is striking)
        for start, where in _ended(tiny, starts, check)
    ]
    for guess in _ranked(tiny, guesses)[:_TRIED]:
        marks = around(np.asarray(cv2.resize(guess.where, (width, height))))
        # What hangs from a thing by a thread no guess may have held.
        more = cv2.resize(striking, (width, height), interpolation=cv2.INTER_NEAREST)
        marks[(marks == MAYBE_BACK) & np.isin(more, (FRONT, MAYBE_FRONT))] = MAYBE_FRONT
        yield marks


def endings(small: Bytes) -> Iterator[Bytes]:
    """Yield where the color models end from each start, 1 on a subject, in a reduced picture."""
    tiny, sharp = _reduced(small)
    for _, where in _ended(tiny, _begun(tiny, sharp), lambda: None):
        yield where


def _reduced(small: Bytes) -> tuple[Bytes, Floats]:
    """Return the picture that guesses are made in, and how sharp each place of it is."""
    height, width = small.shape[:2]
    scale = min(1.0, _SIDE / max(height, width))
    size = (max(8, round(width * scale)), max(8, round(height * scale)))
    return np.asarray(cv2.resize(small, size, interpolation=cv2.INTER_AREA)), _sharpness(
        small, size
    )


def _begun(tiny: Bytes, sharp: Floats) -> list[Bytes]:
    """Return the marks that the guesses begin with, those of what strikes last."""
    starts = [_drawn(start, tiny.shape[:2]) for start in _STARTS]
    return [*starts, _by_sharpness(sharp), things(tiny)]


def _ended(
    tiny: Bytes, starts: list[Bytes], check: Callable[[], None]
) -> Iterator[tuple[Bytes, Bytes]]:
    """Yield each start that leads to a guess, and that guess."""
    for start in starts:
        where = fitted(tiny, start, _ROUNDS)
        if _LEAST < where.mean() < _MOST:
            yield start, where
        check()


def fitted(
    small: Bytes, marks: Bytes, rounds: int, check: Callable[[], None] = lambda: None
) -> Bytes:
    """Return 1 for the subject and 0 for the rest after fitting color models to what is marked.

    Source: Rother, Kolmogorov and Blake, "GrabCut" (SIGGRAPH 2004).
    """
    inside = (marks == FRONT) | (marks == MAYBE_FRONT)
    if not inside.any() or inside.all():
        return np.zeros(marks.shape, np.uint8)
    cv2.setRNGSeed(0)  # the models start from random clusters
    marks, models = marks.copy(), np.zeros((2, 1, 65))
    mode = cv2.GC_INIT_WITH_MASK
    for _ in range(rounds):
        cv2.grabCut(small, marks, None, models[0], models[1], 1, mode)
        mode = cv2.GC_EVAL
        check()
    return np.asarray((marks == FRONT) | (marks == MAYBE_FRONT), np.uint8)


def _ranked(tiny: Bytes, guesses: list[_Guess]) -> list[_Guess]:
    """Return the best guess first; what strikes alone is better than it with ground around it."""
    ranked = sorted(guesses, key=lambda guess: -guess.rank)
    if not ranked or ranked[0].alike < _MIXED or ranked[0].rank > _GOOD:
        return ranked
    for guess in ranked[1:]:
        if guess.striking and _pure(tiny, guess, ranked[0]):
            return [guess, *(other for other in ranked if other is not guess)]
    return ranked


def _pure(tiny: Bytes, guess: _Guess, mixed: _Guess) -> bool:
    """Return whether a guess is the thing in another one that holds some of its ground."""
    inside = float(mixed.where[guess.where > 0].mean())
    near = mixed.rank - guess.rank < _LOWER and inside > _INSIDE
    return near and guess.alike < _PURE and outlined(tiny, guess.where) > _CLEAR


def _drawn(start: _Start, shape: tuple[int, int]) -> Bytes:
    height, width = shape
    rows, columns = np.mgrid[0:height, 0:width]
    away = ((columns / width - start.x) / start.wide) ** 2
    away = away + ((rows / height - start.y) / start.high) ** 2
    marks = np.where(away < 1, np.uint8(MAYBE_FRONT), np.uint8(MAYBE_BACK))
    rim = max(1, round(_RIM * min(shape)))
    sides = {"t": marks[:rim], "b": marks[-rim:], "l": marks[:, :rim], "r": marks[:, -rim:]}
    for side in start.free:
        sides[side][:] = BACK
    return marks


def _sharpness(small: Bytes, size: tuple[int, int]) -> Floats:
    """Return how sharp each place is: what is out of focus is background."""
    gray = cv2.cvtColor(small, cv2.COLOR_RGB2GRAY).astype(np.float32)
    edges = cv2.dilate(np.abs(cv2.Laplacian(gray, cv2.CV_32F)), np.ones((5, 5), np.uint8))
    soft = cv2.GaussianBlur(edges, (0, 0), max(small.shape) / 80)
    return np.asarray(cv2.resize(soft, size, interpolation=cv2.INTER_AREA))


def _by_sharpness(sharp: Floats) -> Bytes:
    soft = cv2.GaussianBlur(sharp, (0, 0), max(sharp.shape) / 40)
    share = soft / max(float(np.percentile(soft, 99)), 1e-6)
    marks = np.full(sharp.shape, MAYBE_BACK, np.uint8)
    back, maybe, sure = _SHARP
    marks[share < back], marks[share > maybe], marks[share > sure] = BACK, MAYBE_FRONT, FRONT
    return marks


def _facts(tiny: Bytes, guess: Bytes, sharp: Floats) -> list[float]:
    """Return what is measured on a guess, see `_WEIGHTS`."""
    share = float(guess.mean())
    left, right = float(guess[:, 0].mean()), float(guess[:, -1].mean())
    columns = np.linspace(-0.5, 0.5, guess.shape[1])
    middle = float((guess.sum(axis=0) * columns).sum() / guess.sum())
    return [
        share**2,
        min(share, _SMALL),
        _solid(guess),
        math.sqrt(min(left, right)),
        abs(middle),
        _sharper(guess, sharp),
        _alike(tiny, guess),
    ]


def _solid(guess: Bytes) -> float:
    """Return the share of a band pulled tight around all of a guess that it fills."""
    lines = cv2.findContours(guess, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)[0]
    around = cv2.contourArea(cv2.convexHull(np.vstack(lines)))
    return min(1.0, float(guess.sum()) / max(1.0, around))


def _sharper(guess: Bytes, sharp: Floats) -> float:
    """Return how much sharper a guess is than the rest, as a logarithm."""
    inside, outside = (_grown(1 - side, 3) == 0 for side in (guess, 1 - guess))
    if not inside.any() or not outside.any():
        return 0.0
    share = np.log((sharp[inside].mean() + 1) / (sharp[outside].mean() + 1))
    # Bounded: before a noisy wall what is smooth is a thing as well.
    return float(np.clip(share, -2, 2))


def _alike(tiny: Bytes, guess: Bytes) -> float:
    """Return how much the colors of a guess are those of what is around it, 0 to 1."""
    colors = (tiny >> 5).astype(np.int64) @ np.array([64, 8, 1])
    ring = _grown(guess, _RING * max(guess.shape)) > guess
    own, other = (np.bincount(colors[part], minlength=512) for part in (guess > 0, ring))
    total = math.sqrt(max(1, int(own.sum())) * max(1, int(other.sum())))
    return float(np.sqrt(own * other).sum() / total)


def around(guess: Bytes) -> Bytes:
    """Return marks for a color model: sure but along the outline of a guess.

    Parameters
    ----------
    guess : ndarray of uint8
        Shape (height, width), 1 where the subject may be and 0 elsewhere.
    """
    marks = np.where(guess > 0, np.uint8(MAYBE_FRONT), np.uint8(MAYBE_BACK))
    side = max(guess.shape)
    marks[_grown(1 - guess, _KEPT * side) == 0] = FRONT
    marks[_grown(guess, _BEYOND * side) == 0] = BACK
    return marks


def _grown(mask: Bytes, reach: float) -> Bytes:
    size = 2 * max(1, round(reach)) + 1
    return np.asarray(cv2.dilate(mask, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size))))
