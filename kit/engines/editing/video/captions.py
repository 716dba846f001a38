"""Captions: a few words at a time while they are spoken, the current one in color.

There is no speech recognition: words are spread over the time of speech by their estimated
durations, and the ends of sentences aligned with the nearest pauses. A picture is drawn once per
word and composited on every frame that shows it, only where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from kit.engines.editing.video.checks import CAPTION_FACES, check_pace, speech_seconds, spoken_words
from kit.engines.media.clip import rgb_frame, views
from kit.engines.media.color import Bytes
from kit.engines.media.fonts import face_for, faces_with
from kit.engines.media.fonts.wording import capitals
from kit.engines.media.lettering import Color, balance_lines, sprite
from kit.engines.media.line_breaks import is_rtl
from kit.engines.media.sound import RATE, Sound
from kit.engines.text import speech

#: Signs that may precede a pause, and those that nearly always do.
_PAUSES, _STOPS = tuple(".!?…,;:—–"), tuple(".!?…")
_STEP, _BLOCK_STEPS = 0.02, 500  # seconds of an analysis step, and steps that are read at once
#: Minimum length of a pause in seconds, and minimum range of speech between loud and quiet in
#: decibels.
_MIN_PAUSE, _MIN_RANGE = 0.22, 12.0
#: Maximum slowdown of a text against its usual pace, and maximum speed-up of speech.
_MAX_SLOWDOWN, _MAX_SPEED = 1.8, 1.9
#: Time of a word, in syllables: for each of its syllables, each letter, and the word itself; and
#: the factor on the last word before a pause.
#: Source: fitted to nine recordings in four languages by eSpeak NG, which reports its times.
_SYLLABLE_TIME, _LETTER_TIME, _WORD_TIME, _LAST_FACTOR = 0.3, 0.24, 0.1, 1.25
#: Maximum seconds between a pause and the end of a word; pauses inside a sentence and inside a
#: phrase count as farther away by these amounts.
_REACH, _WITHIN, _INSIDE = 0.9, 0.15, 0.45
_LINGER_SECONDS = 0.18  # seconds that a group stays after its last word
_CLOSED_GAP = 0.7  # shorter gaps between two groups are closed
_MAX_GAP = 0.45  # longer gaps between two words start a new group
_WIDTH_SHARE = 0.88  # of the frame, for the letters
_POP_SECONDS, _POP_SCALE = 0.1, 0.84  # seconds in which a group grows, and its initial size
_PLACES = {"bottom": (0.87, 0.75), "middle": (0.5, 0.5), "top": (0.13, 0.16)}  # wide, tall

Line: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Word:
    """A word as written, with the start and end of its speech in seconds."""

    text: str
    start: float
    end: float
    ends_line: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Words shown together, their start and end, and whether they run from right to left."""

    words: tuple[Word, ...]
    start: float
    end: float
    rtl: bool


@dataclass(frozen=True, slots=True)
class CaptionStyle:
    """The style of captions."""

    face: str
    #: Of the letters, in shares of the frame's shorter side.
    size: float
    #: Maximum per group.
    words: int
    letters: int
    color: Color
    accent: Color
    #: Whether spoken words keep the color.
    keep: bool = False
    #: In ems.
    stroke: float = 0.0
    shadow: float = 0.0
    #: Opacity of the card behind the words, 0 to 1.
    card: float = 0.0
    capitals: bool = False
    pop: bool = False


_WHITE = (255, 255, 255)
STYLES = {
    "bold": CaptionStyle(
        *(CAPTION_FACES["bold"], 0.112, 3, 17, _WHITE, (255, 214, 10)),
        stroke=0.075,
        shadow=0.07,
        capitals=True,
        pop=True,
    ),
    "clean": CaptionStyle(
        *(CAPTION_FACES["clean"], 0.062, 4, 28, (204, 204, 204), _WHITE), stroke=0.05, shadow=0.14
    ),
    "karaoke": CaptionStyle(
        *(CAPTION_FACES["karaoke"], 0.066, 4, 26, _WHITE, (120, 220, 255)), keep=True, card=0.62
    ),
}


def time_words(
    text: str,
    seconds: float,
    sound: Sound | None = None,
    *,
    check: Callable[[], None] = lambda: None,
) -> list[Word]:
    """Return the words of a text with the times at which they are spoken in a clip.

    Without its sound, or if that is loud throughout, they are spread at an even pace, no slower
    than a slow reader. `check` is called several times a second; it may raise to stop. Raises
    EngineError if the text takes much longer to say than there is time.

    Examples
    --------
    >>> [word.text for word in time_words("Honey never spoils.", 3.0)]
    ['Honey', 'never', 'spoils.']
    """
    parts = spoken_words(text)
    if not parts:
        return []
    texts = [part for part, _ in parts]
    voice = None if sound is None else _speech(sound, seconds, check)
    if voice is not None and sum(map(speech_seconds, texts)) > _MAX_SPEED * voice.sum() * _STEP:
        voice = None  # too short for these words: the sound is something else
    active = np.ones(max(1, round(seconds / _STEP)), bool) if voice is None else voice
    clock = np.concatenate([[0.0], np.cumsum(active) * _STEP])
    lengths = np.array([_word_length(text, paced=voice is None) for text in texts])
    needed = lengths.sum() if voice is None else sum(map(speech_seconds, texts))
    check_pace(float(needed), float(clock[-1]))
    whole = min(clock[-1], needed * _MAX_SLOWDOWN) if voice is None else clock[-1]
    bounds = np.concatenate([[0.0], np.cumsum(lengths)]) * (whole / lengths.sum())
    if voice is not None:
        edges = np.flatnonzero(np.diff(active.astype(np.int8)) == -1) + 1
        bounds = _snap_bounds(bounds, texts, [m for m in clock[edges] if 0 < m < clock[-1] - 1e-6])
    times, hair = np.arange(len(clock)) * _STEP, 1e-6
    # Where the clock stands still, a word starts after the pause and ends before it.
    starts = times[np.clip(np.searchsorted(clock, bounds[:-1] + hair) - 1, 0, None)]
    stops = times[np.clip(np.searchsorted(clock, bounds[1:] - hair), 0, len(times) - 1)]
    return [
        Word(part, float(start), float(max(start + _STEP, min(stop, following))), last)
        for (part, last), stop, (start, following) in zip(
            parts, stops, pairwise([*starts, np.inf]), strict=True
        )
    ]


def _speech(sound: Sound, seconds: float, check: Callable[[], None]) -> NDArray[np.bool_] | None:
    """Return a mask of steps with speech, or None if it cannot be determined."""
    count, step = max(1, round(seconds / _STEP)), round(RATE * _STEP)
    power = []
    for first in range(0, count, _BLOCK_STEPS):
        check()
        line = sound.part(first * step, min(first + _BLOCK_STEPS, count) * step).mean(axis=0)
        power.append(np.square(line).reshape(-1, step).mean(axis=1))
    level = 10 * np.log10(np.concatenate(power) + 1e-9)
    quiet, loud = np.percentile(level, 8), np.percentile(level, 92)
    if loud - quiet < _MIN_RANGE or loud < -60:
        return None
    active = (level > max(quiet + 0.3 * (loud - quiet), loud - 30)).astype(np.uint8)[None]
    # Close gaps too short for a pause, then drop parts too short for a syllable.
    pause, blip = np.ones((1, round(_MIN_PAUSE / _STEP) | 1), np.uint8), np.ones((1, 3), np.uint8)
    active = cv2.morphologyEx(active, cv2.MORPH_CLOSE, pause)
    active = cv2.morphologyEx(active, cv2.MORPH_OPEN, blip)[0] > 0
    return active if active.any() else None


def _word_length(text: str, *, paced: bool) -> float:
    """Return the duration of a word: in seconds, with its pause, or in shares of the speech.

    With speech, relative durations matter: strength has one syllable, as a has.
    """
    ends = text.endswith(_PAUSES)
    if paced:
        pause = speech.STOP if text.endswith(_STOPS) else speech.COMMA
        return speech_seconds(text) + pause * ends
    length = 0.0
    for word in speech.words(text):
        figure = any(sign.isdigit() for sign in word)  # read as words
        letters = _LETTER_TIME * sum(sign.isalpha() for sign in word)
        syllables = speech.syllables(word)
        length += _WORD_TIME + (syllables if figure else _SYLLABLE_TIME * syllables + letters)
    return (length or 0.2) * (_LAST_FACTOR if ends else 1.0)


def _snap_bounds(bounds: Line, texts: Sequence[str], pauses: Sequence[float]) -> Line:
    """Move the boundaries between words to pauses, in speech time."""
    extra = np.array(
        [0.0 if t.endswith(_STOPS) else _WITHIN if t.endswith(_PAUSES) else _INSIDE for t in texts]
    )
    word, old, new = 0, [0.0], [0.0]
    for pause in pauses:
        # Words are evenly paced from the last pause on; the last one ends with the text.
        off = np.abs(bounds[word + 1 : -1] - old[-1] - (pause - new[-1])) + extra[word:-1]
        if len(off) and off.min() < _REACH:
            word += int(off.argmin()) + 1
            old, new = [*old, float(bounds[word])], [*new, pause]
    return np.asarray(np.interp(bounds, [*old, bounds[-1]], [*new, bounds[-1]]))


def group_words(words: Sequence[Word], style: CaptionStyle) -> list[Group]:
    """Return words in groups as a style shows them.

    A group ends with a sentence, a phrase or a line, after a silence, and where no font would have
    the letters of one more word as well.
    """
    parts: list[tuple[Sequence[Word], bool]] = []
    for sentence in _split(words, lambda last, _: last.text.endswith(_STOPS)):
        rtl = is_rtl(" ".join(word.text for word in sentence))
        for phrase in _split(
            sentence,
            lambda a, b: a.ends_line or a.text.endswith(_PAUSES) or b.start - a.end > _MAX_GAP,
        ):
            parts += [(part, rtl) for part in _divide(phrase, style)]
    groups = []
    for number, (part, rtl) in enumerate(parts):
        following = parts[number + 1][0][0].start if number + 1 < len(parts) else np.inf
        end = part[-1].end
        shown = following if following - end < _CLOSED_GAP else end + _LINGER_SECONDS
        groups.append(Group(tuple(part), part[0].start, shown, rtl))
    return groups


def _split(words: Sequence[Word], between: Callable[[Word, Word], bool]) -> list[Sequence[Word]]:
    cuts = [n for n in range(1, len(words)) if between(words[n - 1], words[n])]
    return [words[a:b] for a, b in pairwise([0, *cuts, len(words)]) if b > a]


def _divide(phrase: Sequence[Word], style: CaptionStyle) -> list[Sequence[Word]]:
    """Divide a phrase into as few groups as a style allows, of about equal length."""
    faces = [frozenset(faces_with(_style_word(word, style), style.face)) for word in phrase]
    # Number of groups, unevenness, and starts of the groups, for the words before each place.
    best: list[tuple[int, int, tuple[int, ...]]] = [(0, 0, ())]
    for end in range(1, len(phrase) + 1):
        ways = []
        for start in range(max(0, end - style.words), end):
            letters = sum(len(word.text) + 1 for word in phrase[start:end]) - 1
            fits = letters <= style.letters and frozenset.intersection(*faces[start:end])
            if fits or end - start == 1:
                groups, uneven, starts = best[start]
                ways.append((groups + 1, uneven + letters * letters, (*starts, start)))
        best.append(min(ways))
    return [phrase[a:b] for a, b in pairwise([*best[-1][2], len(phrase)])]


def _style_word(word: Word, style: CaptionStyle) -> str:
    """Return a word as set in a style."""
    if not style.capitals:
        return word.text
    # Large capitals need no commas and full stops; questions keep their marks.
    text = capitals(word.text.rstrip(".,;:… \u00a0\u202f")) or word.text
    # A few phonetic letters have capitals that no font has.
    return text if faces_with(text, style.face) else word.text


def _group_text(group: Group, style: CaptionStyle) -> str:
    return " ".join(_style_word(word, style) for word in group.words)


class Captions:
    """Captions of one clip, drawn frame by frame."""

    def __init__(
        self, words: Sequence[Word], style: str, position: str, size: tuple[int, int]
    ) -> None:
        self._style, self._size = STYLES[style], size
        self._groups = group_words(words, self._style)
        for group in self._groups:
            # Report missing letters now, not after minutes of rendering.
            face_for(_group_text(group, self._style), self._style.face)
        self._middle = _PLACES[position][size[0] < size[1]]

    def draw(self, frame: Bytes, moment: float) -> None:
        """Draw the words of a time in seconds on an I420 frame in place."""
        while self._groups and moment >= self._groups[0].end:
            self._groups.pop(0)
        if not self._groups or moment < self._groups[0].start:
            return
        group = self._groups[0]
        last = sum(word.start <= moment for word in group.words) - 1
        rest = max(0.0, 1 - (moment - group.start) / _POP_SECONDS) if self._style.pop else 0.0
        scale = round(1 - (1 - _POP_SCALE) * rest * rest, 3)
        layers = _draw_group(group, self._style, last, scale, self._size, self._middle)
        for plane, layer in zip(views(frame, *self._size), layers, strict=True):
            color, left, rows, columns = layer
            part = plane[rows, columns]
            cv2.multiply(part, left, dst=part, scale=1 / 255)
            cv2.add(part, color, dst=part)


@lru_cache(1)  # words come in order: no other picture is needed again
def _draw_group(
    group: Group, style: CaptionStyle, last: int, scale: float, size: tuple[int, int], middle: float
) -> list[tuple[Bytes, Bytes, slice, slice]]:
    """Return, for each plane, the changed part, the addition to it, and how much of it stays."""
    width, height = size
    picture = _draw_words(group, style, last, size)
    # Chroma has half the pixels: the part has even bounds, within the frame.
    wide, high = (
        min(side, own + own % 2 + 2) for side, own in zip(size, picture.shape[1::-1], strict=True)
    )
    x = (width - wide) // 4 * 2
    y = round(min(max(middle * height - high / 2, 0), height - high) / 2) * 2
    rest = (np.array([wide, high]) - scale * np.array(picture.shape[1::-1])) / 2
    rest = np.rint(rest) if scale == 1.0 else rest
    sheet = cv2.warpAffine(picture, np.column_stack([np.eye(2) * scale, rest]), (wide, high))
    planes = views(rgb_frame(np.ascontiguousarray(sheet[..., :3])), wide, high)
    alpha = np.ascontiguousarray(sheet[..., 3])
    half = cv2.resize(alpha, (wide // 2, high // 2), interpolation=cv2.INTER_AREA)
    layers = []
    for plane, cover, step in zip(planes, (alpha, half, half), (1, 2, 2), strict=True):
        rows, columns = (slice(a // step, (a + n) // step) for a, n in ((y, high), (x, wide)))
        color = np.asarray(cv2.multiply(plane, cover, scale=1 / 255))
        layers.append((color, np.asarray(cv2.bitwise_not(cover)), rows, columns))
    return layers


@lru_cache(1)  # the letters stay the same while it grows
def _draw_words(group: Group, style: CaptionStyle, last: int, size: tuple[int, int]) -> Bytes:
    """Return a group as a picture, shape (h, w, 4), with the word number `last` in color."""
    block = balance_lines(
        _group_text(group, style),
        style.face,
        _WIDTH_SHARE * size[0],
        most_lines=2,
        largest=max(10, round(style.size * min(size))),
        # Illegible in a tiny film, but that must not make the job fail.
        smallest=1,
        rtl=group.rtl,
    )
    # A word may be two on the block; count those before.
    firsts = np.cumsum([0, *(len(_style_word(word, style).split()) for word in group.words)])
    picture = sprite(
        block,
        color=style.color,
        accent=style.accent,
        accented=range(0 if style.keep else int(firsts[last]), int(firsts[last + 1])),
        stroke=style.stroke,
        shadow=style.shadow,
    )
    return _add_card(picture, style.card, block.size) if style.card else picture


def _add_card(picture: Bytes, opacity: float, size: int) -> Bytes:
    """Put a picture on a dark card with round corners."""
    across, down = round(0.55 * size), round(0.32 * size)
    height, width = picture.shape[0] + 2 * down, picture.shape[1] + 2 * across
    card = Image.new("L", (width * 2, height * 2))
    box, radius = (0, 0, width * 2 - 1, height * 2 - 1), round(0.8 * size)
    ImageDraw.Draw(card).rounded_rectangle(box, radius, round(255 * opacity))
    ground = Image.new("RGBA", (width, height))
    ground.putalpha(card.resize((width, height), Image.Resampling.BOX))
    ground.alpha_composite(Image.fromarray(picture), (across, down))
    return np.array(ground)
