"""When each word of a text is said in a sound, by how long words take to say and where it is loud.

Nothing here recognizes speech: syllables are laid over the time in which somebody is heard, and
the ends of sentences over the pauses that are nearest to them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.editing.video.captionwords import in_time, saying, spoken_words
from kit.engines.media.color import Floats
from kit.engines.media.sound import RATE, Sound
from kit.engines.text import speech

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


#: Seconds of one step of the analysis.
_STEP = 0.02
#: Steps whose sound is read at once.
_TOGETHER = 500
#: A pause is at least so long; a shorter one belongs to the words.
_PAUSE = 0.22
#: Decibels between the loud and the quiet parts of a sound that is taken for speech.
_RANGE = 12.0
#: How much slower than usual a text is shown at most.
_SLOWEST = 1.8
#: How much faster than usual somebody who is heard may speak.
_HURRIED = 1.9
#: What a word takes of the time in which somebody is heard: so much of a syllable for each of its
#: syllables, for each letter, and for itself; and how much longer the last word before a pause is.
#: Source: fitted to nine recordings in four languages by eSpeak NG, which tells its times.
_SYLLABLE, _LETTER, _ITSELF, _DRAWN = 0.3, 0.24, 0.1, 1.25


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it is written, and the seconds from and to which it is said."""

    text: str
    start: float
    end: float
    ends_line: bool = False


def timed(
    text: str,
    seconds: float,
    sound: Sound | None = None,
    *,
    check: Callable[[], None] = lambda: None,
) -> list[Word]:
    """Return the words of a text with the times at which they are said.

    Parameters
    ----------
    seconds : float
        Length of the clip.
    sound : Sound, optional
        Where the text is heard. Without it, or where it is loud throughout, the words are spread
        over the clip at an even pace, no slower than a slow reader.
    check : callable
        Called several times a second while it works; it may raise to stop it.

    Raises
    ------
    EngineError
        The text takes much longer to say than there is time (``captions_too_long``).

    Examples
    --------
    >>> [word.text for word in timed("Honey never spoils.", 3.0)]
    ['Honey', 'never', 'spoils.']
    """
    parts = spoken_words(text)
    if not parts:
        return []
    texts = [part for part, _ in parts]
    heard = None if sound is None else _heard(sound, seconds, check)
    if heard is not None and sum(map(saying, texts)) > _HURRIED * heard.sum() * _STEP:
        heard = None  # too short for these words: what is heard is something else
    ends = np.cumsum(_paced(texts) if heard is None else _shares(texts))
    active = np.ones(max(1, round(seconds / _STEP)), bool) if heard is None else heard
    clock = np.concatenate([[0.0], np.cumsum(active) * _STEP])
    in_time(float(ends[-1]), float(clock[-1]))
    whole = min(clock[-1], ends[-1] * _SLOWEST) if heard is None else clock[-1]
    bounds = np.concatenate([[0.0], ends * (whole / ends[-1])])
    if heard is not None:
        bounds = anchored(bounds, texts, _pauses(active, clock), check)
    return _placed(parts, bounds, clock)


def _heard(sound: Sound, seconds: float, check: Callable[[], None]) -> NDArray[np.bool_] | None:
    """Return in which steps somebody is heard, or None where there is no telling."""
    level = _levels(sound, seconds, check)
    quiet, loud = np.percentile(level, 8), np.percentile(level, 92)
    if loud - quiet < _RANGE or loud < -60:
        return None
    threshold = max(quiet + 0.3 * (loud - quiet), loud - 30)
    active = (level > threshold).astype(np.uint8)[None]
    # Close what is too short for a pause, then drop what is too short for a syllable.
    gap, blip = round(_PAUSE / _STEP) | 1, 3
    closed = cv2.morphologyEx(active, cv2.MORPH_CLOSE, np.ones((1, gap), np.uint8))
    opened = cv2.morphologyEx(closed, cv2.MORPH_OPEN, np.ones((1, blip), np.uint8))[0]
    return opened > 0 if opened.any() else None


def _levels(sound: Sound, seconds: float, check: Callable[[], None]) -> Floats:
    """Return how loud each step is, in decibels; past the end of the sound it is silent."""
    count, step = max(1, round(seconds / _STEP)), round(RATE * _STEP)
    power = []
    for first in range(0, count, _TOGETHER):
        check()
        last = min(first + _TOGETHER, count)
        line = sound.part(first * step, last * step).mean(axis=0)
        power.append(np.square(line).reshape(-1, step).mean(axis=1))
    return np.asarray(10 * np.log10(np.concatenate(power) + 1e-9), np.float32)


def _paced(texts: Sequence[str]) -> list[float]:
    """Return how long words take to say one after another, with the pauses behind them."""
    stops = [speech.STOP if text.endswith(STOPS) else speech.COMMA for text in texts]
    return [
        saying(text) + (stop if text.endswith(ENDS) else 0.0)
        for text, stop in zip(texts, stops, strict=True)
    ]


def _shares(texts: Sequence[str]) -> Line:
    """Return how long words take to say, together as long as their syllables do.

    Where somebody is heard it matters who takes longer: strength has one syllable, as a has.
    """
    shares = np.array([_length(text) * (_DRAWN if text.endswith(ENDS) else 1.0) for text in texts])
    return np.asarray(shares * (sum(map(saying, texts)) / shares.sum()))


def _length(text: str) -> float:
    """Return how long a word is in syllables, by its letters as well."""
    return sum(map(_extent, speech.words(text))) or 0.2


def _extent(word: str) -> float:
    syllables = speech.syllables(word)
    if any(sign.isdigit() for sign in word):
        return float(syllables) + _ITSELF  # a figure is read as words
    letters = sum(sign.isalpha() for sign in word)
    return _SYLLABLE * syllables + _LETTER * letters + _ITSELF


def _pauses(active: NDArray[np.bool_], clock: Line) -> list[float]:
    """Return at which moments of heard time somebody falls silent, the two ends left out."""
    edges = np.flatnonzero(np.diff(active.astype(np.int8)) == -1) + 1
    return [float(clock[edge]) for edge in edges if 0 < clock[edge] < clock[-1] - 1e-6]


def _placed(parts: Sequence[tuple[str, bool]], bounds: Line, clock: Line) -> list[Word]:
    """Turn bounds in heard time into times of the clip."""
    hair = 1e-6
    times = np.arange(len(clock)) * _STEP
    # Where the clock stands still a word begins after the pause and ends before it.
    starts = times[np.clip(np.searchsorted(clock, bounds[:-1] + hair) - 1, 0, None)]
    stops = times[np.clip(np.searchsorted(clock, bounds[1:] - hair), 0, len(times) - 1)]
    starts = np.concatenate([starts, [np.inf]])
    return [
        Word(text, float(start), float(max(start + _STEP, min(stop, following))), last)
        for (text, last), stop, (start, following) in zip(
            parts, stops, pairwise(starts), strict=True
        )
    ]
