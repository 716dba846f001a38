"""Which words of captions are shown together, and how each style shows them.

A group is set in one font and is on show until the next one comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from kit.engines.editing.video.captionwords import CAPTION_FACES
from kit.engines.editing.video.pauses import ENDS, STOPS
from kit.engines.editing.video.spoken import Word
from kit.engines.media.direction import leftward
from kit.engines.media.fonts import able
from kit.engines.media.fonts.wording import capitals
from kit.engines.media.lettering import Color

_LINGER = 0.18  # seconds that a group stays after its last word
_BRIDGE = 0.7  # a shorter gap between two groups is closed
_BREATH = 0.45  # a longer gap between two words begins a new group


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How captions look.

    Parameters
    ----------
    size : float
        Of the letters, in shares of the frame's shorter side.
    words, letters : int
        At most in a group.
    said : bool
        Whether words that were said keep the color.
    stroke, shadow : float
        In ems.
    card : float
        How opaque the card behind the words is, 0 to 1.
    """

    face: str
    size: float
    words: int
    letters: int
    color: Color
    accent: Color
    said: bool = False
    stroke: float = 0.0
    shadow: float = 0.0
    card: float = 0.0
    capitals: bool = False
    pop: bool = False


STYLES = {
    "bold": Style(
        face=CAPTION_FACES["bold"],
        size=0.112,
        words=3,
        letters=17,
        color=(255, 255, 255),
        accent=(255, 214, 10),
        stroke=0.075,
        shadow=0.07,
        capitals=True,
        pop=True,
    ),
    "clean": Style(
        face=CAPTION_FACES["clean"],
        size=0.062,
        words=4,
        letters=28,
        color=(204, 204, 204),
        accent=(255, 255, 255),
        stroke=0.05,
        shadow=0.14,
    ),
    "karaoke": Style(
        face=CAPTION_FACES["karaoke"],
        size=0.066,
        words=4,
        letters=26,
        color=(255, 255, 255),
        accent=(120, 220, 255),
        said=True,
        card=0.62,
    ),
}


@dataclass(frozen=True, slots=True)
class Group:
    """Words that are shown together, from and to when.

    Parameters
    ----------
    left : bool
        Whether the sentence that they are of runs from right to left.
    """

    words: tuple[Word, ...]
    start: float
    end: float
    left: bool = False


def grouped(words: Sequence[Word], style: Style) -> list[Group]:
    """Return words in groups as a style shows them.

    A group ends where a sentence does, and where no font has the letters of one more word as well.
    """
    parts = [
        (part, left)
        for sentence in _sentences(words)
        for left in (leftward(" ".join(word.text for word in sentence)),)
        for phrase in _phrases(sentence)
        for part in _divided(phrase, style)
    ]
    starts = [part[0].start for part, _ in parts] + [float("inf")]
    groups = []
    for (part, left), (_, following) in zip(parts, pairwise(starts), strict=True):
        end = part[-1].end
        bridged = following if following - end < _BRIDGE else end + _LINGER
        groups.append(Group(tuple(part), part[0].start, bridged, left))
    return groups


def written(word: Word, style: Style) -> str:
    """Return a word as it is set in a style."""
    if not style.capitals:
        return word.text
    # Capitals in large letters need no commas and full stops; questions stay questions.
    text = capitals(word.text.rstrip(".,;:… \u00a0\u202f")) or word.text
    # A few letters of phonetics have capitals that no font knows.
    return text if able(text, style.face) else word.text


def _sentences(words: Sequence[Word]) -> list[list[Word]]:
    sentences: list[list[Word]] = []
    for word in words:
        if not sentences or sentences[-1][-1].text.endswith(STOPS):
            sentences.append([])
        sentences[-1].append(word)
    return sentences


def _phrases(words: Sequence[Word]) -> list[list[Word]]:
    """Divide words where a sign of punctuation, the end of a line or a silence does."""
    phrases: list[list[Word]] = []
    for word in words:
        last = phrases[-1][-1] if phrases else None
        if last is None or _parted(last, word):
            phrases.append([])
        phrases[-1].append(word)
    return phrases


def _parted(last: Word, word: Word) -> bool:
    return last.ends_line or last.text.endswith(ENDS) or word.start - last.end > _BREATH


def _divided(phrase: Sequence[Word], style: Style) -> list[Sequence[Word]]:
    """Divide a phrase into as few groups as a style allows, all of about the same length."""
    faces = [frozenset(able(written(word, style), style.face)) for word in phrase]
    # best[end]: groups, unevenness, and where the last of them begins, for the words before `end`.
    best: list[tuple[int, int, int]] = [(0, 0, 0)]
    for end in range(1, len(phrase) + 1):
        ways = []
        for start in range(max(0, end - style.words), end):
            letters = sum(len(word.text) + 1 for word in phrase[start:end]) - 1
            fits = letters <= style.letters and frozenset.intersection(*faces[start:end])
            if fits or end - start == 1:
                groups, uneven, _ = best[start]
                ways.append((groups + 1, uneven + letters * letters, start))
        best.append(min(ways))
    parts: list[Sequence[Word]] = []
    end = len(phrase)
    while end:
        start = best[end][2]
        parts.append(phrase[start:end])
        end = start
    return parts[::-1]
