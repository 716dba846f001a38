"""Captions: a few words at a time, the one that is being said in another color.

A sprite is drawn once for each word and laid over every frame on which it is shown, in the planes
of the frame and only where it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import cv2
import numpy as np
from PIL import Image, ImageDraw

from kit.engines.editing.video.captionwords import CAPTION_FACES
from kit.engines.editing.video.spoken import ENDS, STOPS, Word
from kit.engines.media.clip import rgb_frame, views
from kit.engines.media.color import Bytes
from kit.engines.media.direction import leftward
from kit.engines.media.fonts import able, with_letters
from kit.engines.media.fonts.wording import capitals
from kit.engines.media.lettering import Color, balanced, sprite

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


_WIDTH = 0.88  # of the frame, for the letters
_POP, _POP_FROM = 0.1, 0.84  # seconds in which a group grows, and from which size
_PLACES = {"bottom": (0.87, 0.75), "middle": (0.5, 0.5), "top": (0.13, 0.16)}  # wide, tall

__all__ = ["STYLES", "Captions", "grouped", "lettered"]

#: Multiplied color and what is left of the frame, for luma and both chromas; left and top.
Patch: TypeAlias = tuple[tuple[tuple[Bytes, Bytes], ...], int, int]


class Captions:
    """Captions of one clip, drawn as it goes on.

    Parameters
    ----------
    size : (width, height)
        Of the frames.
    """

    def __init__(
        self, words: Sequence[Word], style: str, position: str, size: tuple[int, int]
    ) -> None:
        self._style = STYLES[style]
        self._groups = grouped(words, self._style)
        for group in self._groups:
            # A letter that no font has is told now, not after minutes of rendering.
            with_letters(_text(group, self._style), self._style.face)
        self._size = size
        wide, tall = _PLACES[position]
        self._middle = wide if size[0] >= size[1] else tall
        # Words come in order: the patch on show is the only one that is needed again.
        self._key: tuple[int, int, float] | None = None
        self._patch: Patch | None = None

    def draw(self, frame: Bytes, moment: float) -> None:
        """Lay the words of a moment, in seconds, over an I420 frame in place."""
        while self._groups and moment >= self._groups[0].end:
            self._groups.pop(0)
        if not self._groups or moment < self._groups[0].start:
            return
        group = self._groups[0]
        said = sum(word.start <= moment for word in group.words) - 1
        scale = self._grown(moment - group.start)
        key = (id(group), said, scale)
        if key != self._key or self._patch is None:
            self._key, self._patch = key, self._drawn(group, said, scale)
        _lay(frame, self._size, self._patch)

    def _grown(self, age: float) -> float:
        if not self._style.pop or age >= _POP:
            return 1.0
        rest = 1 - age / _POP
        return round(1 - (1 - _POP_FROM) * rest * rest, 3)

    def _drawn(self, group: Group, said: int, scale: float) -> Patch:
        width, height = self._size
        picture = lettered(group, self._style, said, (width, height))
        if scale != 1.0:
            picture = _resized(picture, scale)
        left = (width - picture.shape[1]) // 2
        top = round(self._middle * height - picture.shape[0] / 2)
        return _patch(picture, left, min(max(top, 0), height - picture.shape[0]), self._size)


def lettered(group: Group, style: Style, said: int, size: tuple[int, int]) -> Bytes:
    """Return a group as a picture, shape (h, w, 4), with the word number `said` in its color."""
    side = min(size)
    block = balanced(
        _text(group, style),
        style.face,
        _WIDTH * size[0],
        most_lines=2,
        largest=max(10, round(style.size * side)),
        # Unreadable in a tiny film, but a job does not fail for it.
        smallest=1,
        left=group.left,
    )
    # A word may be two on the block; count those before.
    firsts = np.cumsum([0, *(len(written(word, style).split()) for word in group.words)])
    begin = 0 if style.said else int(firsts[said])
    picture = sprite(
        block,
        color=style.color,
        accent=style.accent,
        accented=range(begin, int(firsts[said + 1])),
        stroke=style.stroke,
        shadow=style.shadow,
    )
    return _carded(picture, style.card, block.size) if style.card else picture


def _text(group: Group, style: Style) -> str:
    return " ".join(written(word, style) for word in group.words)


def _carded(picture: Bytes, opacity: float, size: int) -> Bytes:
    """Put a picture on a dark card with round corners."""
    across, down = round(0.55 * size), round(0.32 * size)
    height, width = picture.shape[0] + 2 * down, picture.shape[1] + 2 * across
    card = Image.new("L", (width * 2, height * 2))
    shade = round(255 * opacity)
    radius = round(0.8 * size)
    ImageDraw.Draw(card).rounded_rectangle((0, 0, width * 2 - 1, height * 2 - 1), radius, shade)
    under = np.asarray(card.resize((width, height), Image.Resampling.BOX), np.float32) / 255
    over = np.zeros((height, width, 4), np.float32)
    over[down : height - down, across : width - across] = picture
    share = over[..., 3] / 255
    alpha = share + under * (1 - share)
    color = over[..., :3] * (share / np.maximum(alpha, 1e-6))[..., None]
    return np.rint(np.dstack([color, alpha * 255])).astype(np.uint8)


def _resized(picture: Bytes, scale: float) -> Bytes:
    size = (max(2, round(picture.shape[1] * scale)), max(2, round(picture.shape[0] * scale)))
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA))


def _patch(picture: Bytes, left: int, top: int, size: tuple[int, int]) -> Patch:
    """Return a picture as planes that can be added to a frame, cut to the frame."""
    width, height = size
    # Chroma has half the pixels: the patch begins and ends on even ones.
    columns, rows = (left & ~1, top & ~1)
    wide = min(width, left + picture.shape[1] + 1 & ~1) - max(columns, 0)
    high = min(height, top + picture.shape[0] + 1 & ~1) - max(rows, 0)
    sheet = np.zeros((high, wide, 4), np.uint8)
    dx, dy = left - max(columns, 0), top - max(rows, 0)
    part = picture[max(-dy, 0) : high - dy, max(-dx, 0) : wide - dx]
    sheet[max(dy, 0) : max(dy, 0) + part.shape[0], max(dx, 0) : max(dx, 0) + part.shape[1]] = part
    planes = views(rgb_frame(np.ascontiguousarray(sheet[..., :3])), wide, high)
    alpha = np.ascontiguousarray(sheet[..., 3])
    half = cv2.resize(alpha, (wide // 2, high // 2), interpolation=cv2.INTER_AREA)
    covers = (alpha, half, half)
    layers = tuple(
        (cv2.multiply(plane, cover, scale=1 / 255), cv2.bitwise_not(cover))
        for plane, cover in zip(planes, covers, strict=True)
    )
    return layers, max(columns, 0), max(rows, 0)


def _lay(frame: Bytes, size: tuple[int, int], patch: Patch) -> None:
    layers, left, top = patch
    for number, (plane, (color, rest)) in enumerate(zip(views(frame, *size), layers, strict=True)):
        x, y = (left // 2, top // 2) if number else (left, top)
        piece = plane[y : y + color.shape[0], x : x + color.shape[1]]
        cv2.multiply(piece, rest, dst=piece, scale=1 / 255)
        cv2.add(piece, color, dst=piece)
