"""Typesetting: text broken into balanced lines, sized to fit, and measured.

Widths grow in proportion to the size, so everything is measured once at one size. Letters are
shaped by raqm, right-to-left scripts included.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from PIL import ImageFont

from kit.engines.media.breaking import Piece, broken, check_words, clusters, pieces
from kit.engines.media.direction import in_sight, leftward
from kit.engines.media.fonts import path_of, with_letters
from kit.engines.media.fonts.wording import composed
from kit.errors import EngineError

_MEASURE = 100
_UNDER = 0.4  # share of the descenders that counts: few of them meet a tall letter below
_CLOSE = 1.06  # a further line must make the letters this much larger
#: Share of the largest possible size above which given lines are kept, and words whole.
_GIVEN, _WHOLE = 0.38, 0.6


@dataclass(frozen=True, slots=True)
class Block:
    """Text set in lines.

    Parameters
    ----------
    face : str
        One of `FACES`; it may be another than was asked for, if that one lacks letters.
    size : int
        Of the letters, in pixels an em.
    gap : float
        Between the ink of two lines of capitals, in ems.
    tracking : float
        Added between letters, in ems; scripts that join their letters have none.
    carried : tuple of int
        Numbers of the lines that begin within a word of the line before.
    left : bool or None
        Whether the lines run from right to left; None: as most of their letters do.
    """

    lines: tuple[str, ...]
    face: str
    size: int
    gap: float = 0.2
    tracking: float = 0.0
    carried: tuple[int, ...] = ()
    left: bool | None = None

    @property
    def direction(self) -> str:
        """How raqm calls the way that the lines run: ``rtl`` or ``ltr``."""
        left = leftward("".join(self.lines)) if self.left is None else self.left
        return "rtl" if left else "ltr"


def balanced(
    text: str,
    face: str,
    width: float,
    *,
    height: float | None = None,
    most_lines: int = 4,
    largest: float | None = None,
    smallest: float = 8,
    gap: float = 0.2,
    tracking: float = 0.0,
    left: bool | None = None,
) -> Block:
    """Return a text in lines of nearly equal length, as large as the space allows.

    Parameters
    ----------
    text : str
        Line breaks in it are kept as far as `most_lines` allows, unless the letters would be tiny.
    width, height : float
        The space in pixels; without a height only the width and `largest` bound the size.
    largest, smallest : float
        Bounds of the size in pixels an em.
    left : bool, optional
        Whether it runs from right to left; left out, as most of its letters do.

    Raises
    ------
    EngineError
        A letter is in no face, or the text does not fit at the smallest size.

    Examples
    --------
    >>> balanced("the mountain that swallowed a village", "anton", 400, most_lines=2).lines
    ('the mountain that', 'swallowed a village')
    """
    text = composed(text).strip()
    face = with_letters(text, face)
    left = leftward(text) if left is None else left
    tracking = tracking if _separate(text) else 0.0
    limit = width if largest is None else min(largest, width)
    space = (width, height if height is not None else 1e9)

    def fitted(ways: Iterable[tuple[tuple[str, ...], tuple[int, ...]]]) -> Block | None:
        best: Block | None = None
        for lines, carried in ways:
            block = Block(lines, face, _MEASURE, gap, tracking, carried, left)
            block = replace(block, size=int(min(_fit(block, space), limit)))
            if block.size >= smallest and (best is None or block.size > best.size * _CLOSE):
                best = block
        return best

    blocks = {
        share: block
        for share, ways in _ways(
            text, most_lines, lambda word: _width(word, face, _MEASURE, tracking)
        )
        if (block := fitted(ways)) is not None
    }
    if not blocks:
        raise EngineError("the text is too long to be readable in this space", code="text_too_long")
    largest = max(block.size for block in blocks.values())
    return next(block for share, block in blocks.items() if block.size >= share * largest)


def extent(block: Block) -> tuple[int, int, float]:
    """Return the width and height of the ink, and how far it rises above its first baseline."""
    width = max(_width(line, block.face, block.size, block.tracking) for line in block.lines)
    top, bottom = ink(block)
    steps = (len(block.lines) - 1) * _pitch(block)
    return max(1, int(np.ceil(width))), max(1, int(np.ceil(bottom - top + steps))), -top


def ink(block: Block) -> tuple[float, float]:
    """Return how far ink reaches above (negative) and below the baseline in any of the lines."""
    font = font_of(block.face, block.size)
    way = block.direction
    boxes = [font.getbbox(line, anchor="ls", direction=way) for line in block.lines]
    return min(box[1] for box in boxes), max(box[3] for box in boxes)


def placed(block: Block, align: str) -> list[tuple[float, float, str]]:
    """Return each line with the left end of its baseline, from the corner of the block's ink."""
    share = {"left": 0.0, "center": 0.5, "right": 1.0}[align]
    width, _, rise = extent(block)
    pitch = _pitch(block)
    return [
        (
            share * (width - _width(line, block.face, block.size, block.tracking)),
            rise + number * pitch,
            line,
        )
        for number, line in enumerate(block.lines)
    ]


def span(line: str, words: Sequence[str], number: int, block: Block) -> tuple[float, float]:
    """Return from where to where a word reaches in its line, half a space on either side."""

    def width(text: str) -> float:
        return _width(text, block.face, block.size, block.tracking)

    space = width("a a") - width("aa")
    order = in_sight(words, left=block.direction == "rtl")
    at = order.index(number)
    start = sum(width(words[other]) + space for other in order[:at])
    # Letters that move closer over a space make the line a little narrower than its words.
    scale = width(line) / max(1e-6, sum(map(width, words)) + space * (len(words) - 1))
    return (start - space / 2) * scale, (start + width(words[number]) + space / 2) * scale


@lru_cache(256)
def font_of(face: str, size: int) -> ImageFont.FreeTypeFont:
    """Return a face at a size in pixels an em."""
    return ImageFont.truetype(path_of(face), size, layout_engine=ImageFont.Layout.RAQM)


def _ways(
    text: str, most_lines: int, width: Callable[[str], float]
) -> Iterator[tuple[float, Iterable[tuple[tuple[str, ...], tuple[int, ...]]]]]:
    """Yield what may be done with a text, the best first: its lines, and those that go on a word.

    With each comes the share of the largest possible size that its letters must have.
    """
    given = tuple(" ".join(line.split()) for line in text.splitlines() if line.strip())
    if 1 < len(given) <= most_lines:
        yield _GIVEN, [(given, ())]
    parts, words = pieces(text), [Piece(word) for word in text.split()]
    check_words(parts)
    for share, units in ((_WHOLE, words), (0.0, parts)):
        counts = range(1, min(most_lines, len(units)) + 1)
        yield share, (broken(units, count, width) for count in counts)


def _fit(block: Block, space: tuple[float, float]) -> float:
    width, height, _ = extent(block)
    return block.size * min(space[0] / width, space[1] / height)


def _pitch(block: Block) -> float:
    top, bottom = ink(block)
    # Arabic letters reach below and above the line everywhere.
    below = 1.0 if any(_kinds(line) & {"AL"} for line in block.lines) else _UNDER
    return below * bottom - top + block.gap * block.size


def _width(text: str, face: str, size: int, tracking: float) -> float:
    extra = tracking * size * max(0, len(clusters(text)) - 1) if tracking else 0.0
    return font_of(face, size).getlength(text) + extra if text else 0.0


def _separate(text: str) -> bool:
    """Tell whether letters stand alone, so that they can be moved apart."""
    return not _kinds(text) & {"R", "AL"}


def _kinds(text: str) -> set[str]:
    return {unicodedata.bidirectional(letter) for letter in text}
