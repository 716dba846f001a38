"""Which pause of a speech is the end of which word: the most likely way to lay one over the other.

Sentences end in pauses, most pauses are the end of something, and nobody keeps an exact pace: each
way to pair them is charged for what is unlikely about it, and the cheapest one wins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

#: Signs that a pause may follow, and those that one nearly always follows.
ENDS = tuple(".!?…,;:—–")
STOPS = tuple(".!?…")
#: What is charged: for a pause inside a phrase, for a pause that is no word's end, and for the end
#: of a sentence or of a phrase without a pause.
_INSIDE, _NOWHERE, _STOP, _PHRASE = 2.0, 2.5, 1.4, 0.3
#: Seconds that a pace is off after one second; it grows with the root of the time.
_UNSTEADY = 0.25
#: How far from its place at an even pace a word's end may be, in seconds and in shares of the time
#: since the last pause.
_REACH = (1.5, 0.25)
_BEAM = 16  # ways that are pursued at once

Line: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Way:
    """A way to pair the pauses so far: its price, the last word's end, and all the pairs."""

    price: float
    word: int
    pairs: tuple[tuple[float, float], ...]


def anchored(
    bounds: Line,
    texts: Sequence[str],
    pauses: Sequence[float],
    check: Callable[[], None] = lambda: None,
) -> Line:
    """Move the bounds between words so that pauses fall between words.

    Parameters
    ----------
    bounds : ndarray
        Shape (words + 1,): where each word ends at an even pace, in seconds of heard time.
    texts : sequence of str
        The words.
    pauses : sequence of float
        Moments of heard time at which somebody falls silent, rising.
    check : callable
        Called at each pause; it may raise to stop the work.

    Returns
    -------
    ndarray
        Shape (words + 1,), rising; the first and the last bound stay.
    """
    missed = np.concatenate([[0.0], np.cumsum([_charge(text) for text in texts])])
    ways = [_Way(0.0, 0, ((float(bounds[0]), float(bounds[0])),))]
    for pause in pauses:
        check()
        # A pause that is no word's end leaves every way as it was, at a price.
        longer = [_Way(way.price + _NOWHERE, way.word, way.pairs) for way in ways]
        for way in ways:
            for word in _near(way, pause, bounds):
                inside = 0.0 if texts[word - 1].endswith(ENDS) else _INSIDE
                longer.append(_on(way, word, pause, inside, bounds, missed))
        ways = _cheapest(longer)
    last, end = len(texts), float(bounds[-1])
    best = min((_on(w, last, end, 0.0, bounds, missed) for w in ways), key=lambda w: w.price)
    return np.interp(bounds, [old for old, _ in best.pairs], [new for _, new in best.pairs])


def _on(way: _Way, word: int, moment: float, extra: float, bounds: Line, missed: Line) -> _Way:
    """Return a way that goes on to the end of a word at a moment."""
    old, new = way.pairs[-1]
    even, real = float(bounds[word]) - old, moment - new
    pace = (even - real) ** 2 / (2 * _UNSTEADY**2 * max(real, 0.2))
    skipped = float(missed[word - 1] - missed[way.word])
    pairs = (*way.pairs, (float(bounds[word]), moment))
    return _Way(way.price + pace + skipped + extra, word, pairs)


def _near(way: _Way, pause: float, bounds: Line) -> range:
    """Return the words that may end at a pause; the last word ends with the speech."""
    old, new = way.pairs[-1]
    reach = _REACH[0] + _REACH[1] * (pause - new)
    middle = old + pause - new
    first, end = np.searchsorted(bounds, [middle - reach, middle + reach])
    return range(max(int(first), way.word + 1), min(int(end), len(bounds) - 1))


def _cheapest(ways: Sequence[_Way]) -> list[_Way]:
    """Return the cheapest ways, of those that end with the same pair only one."""
    best: dict[tuple[float, float], _Way] = {}
    for way in sorted(ways, key=lambda way: way.price):
        best.setdefault(way.pairs[-1], way)
    return list(best.values())[:_BEAM]


def _charge(text: str) -> float:
    """Return what it costs that no pause follows a word."""
    if text.endswith(STOPS):
        return _STOP
    return _PHRASE if text.endswith(ENDS) else 0.0
