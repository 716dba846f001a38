"""Lettering: text is set in balanced lines, sized to fit, and drawn as a picture with alpha.

Widths scale with the size, so text is measured once at one size. Letters are shaped by raqm,
right-to-left scripts included; without raqm, letters are placed one after another.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont, features

from kit.engines.media import line_breaks
from kit.engines.media.color import Bytes
from kit.engines.media.fonts import face_for, path_of
from kit.engines.media.fonts.wording import compose
from kit.engines.media.scaling import blur
from kit.errors import EngineError

_MEASURED_SIZE = 100
_DESCENDER_SHARE = 0.4  # share of the descenders that counts: they rarely meet a tall letter below
_MIN_GAIN = 1.06  # an additional line must enlarge the letters by this factor
#: Share of the largest possible size above which given lines are kept, and words not broken.
_GIVEN_SHARE, _WHOLE_SHARE = 0.38, 0.6
#: Red, green, blue, 0 to 255.
Color: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Block:
    """Text set in lines."""

    lines: tuple[str, ...]
    face: str  # one of `FACES`; a fallback if the requested one lacks letters
    size: int  # of the letters, in pixels per em
    gap: float = 0.2  # between the ink of two lines of capitals, in ems
    tracking: float = 0.0  # added between letters, in ems; none in scripts with joined letters
    continued: tuple[int, ...] = ()  # indices of the lines that begin within a word
    rtl: bool | None = None  # whether lines run from right to left; None: as most letters do

    @property
    def direction(self) -> str | None:
        """Raqm's name of the direction of the lines: ``rtl`` or ``ltr``; None without raqm."""
        if not features.check_feature("raqm"):
            return None
        left = line_breaks.is_rtl("".join(self.lines)) if self.rtl is None else self.rtl
        return "rtl" if left else "ltr"


def balance_lines(
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
    rtl: bool | None = None,
) -> Block:
    """Return a text in lines of nearly equal length, as large as fits in the space in pixels.

    Line breaks in the text are kept up to `most_lines`, unless the letters would be tiny. `largest`
    and `smallest` limit the size in pixels per em; `rtl` says whether it runs from right to left
    (default: the direction of most letters). Raises EngineError if no face has some letter, or if
    the text does not fit at the smallest size.

    Examples
    --------
    >>> balance_lines("the mountain that swallowed a village", "anton", 400, most_lines=2).lines
    ('the mountain that', 'swallowed a village')
    """
    text = compose(text).strip()
    face = face_for(text, face)
    rtl = line_breaks.is_rtl(text) if rtl is None else rtl
    joined = _letter_kinds(text) & {"R", "AL"}  # joined letters get no tracking
    tracking = 0.0 if joined else tracking
    limit = width if largest is None else min(largest, width)

    def best_block(breaks: Iterable[tuple[tuple[str, ...], tuple[int, ...]]]) -> Block | None:
        best: Block | None = None
        for lines, continued in breaks:
            block = Block(lines, face, _MEASURED_SIZE, gap, tracking, continued, rtl)
            wide, high, _ = extent(block)
            share = min(width / wide, (height or 1e9) / high)
            block = replace(block, size=int(min(share * block.size, limit)))
            if block.size >= smallest and (best is None or block.size > best.size * _MIN_GAIN):
                best = block
        return best

    blocks = {
        share: block
        for share, breaks in _line_breaks(
            text, most_lines, lambda word: _width(word, face, _MEASURED_SIZE, tracking)
        )
        if (block := best_block(breaks)) is not None
    }
    if not blocks:
        raise EngineError("the text is too long to be readable in this space", code="text_too_long")
    largest = max(block.size for block in blocks.values())
    return next(block for share, block in blocks.items() if block.size >= share * largest)


def extent(block: Block) -> tuple[int, int, float]:
    """Return the width and height of the ink, and its height above the first baseline."""
    width = max(_width(line, block.face, block.size, block.tracking) for line in block.lines)
    top, bottom = _ink_extent(block)
    steps = (len(block.lines) - 1) * _line_pitch(block)
    return max(1, int(np.ceil(width))), max(1, int(np.ceil(bottom - top + steps))), -top


def _ink_extent(block: Block) -> tuple[float, float]:
    """Return the extent of ink above (negative) and below the baseline over all lines."""
    font = font_of(block.face, block.size)
    way = block.direction
    boxes = [font.getbbox(line, anchor="ls", direction=way) for line in block.lines]
    return min(box[1] for box in boxes), max(box[3] for box in boxes)


def _place_lines(block: Block, align: str) -> list[tuple[float, float, str]]:
    """Return each line with the left end of its baseline, relative to the corner of the ink."""
    share = {"left": 0.0, "center": 0.5, "right": 1.0}[align]
    width, _, rise = extent(block)
    pitch = _line_pitch(block)
    return [
        (
            share * (width - _width(line, block.face, block.size, block.tracking)),
            rise + number * pitch,
            line,
        )
        for number, line in enumerate(block.lines)
    ]


def _span(line: str, words: Sequence[str], number: int, block: Block) -> tuple[float, float]:
    """Return the left and right end of a word in its line, half a space wider on both sides."""

    def width(text: str) -> float:
        return _width(text, block.face, block.size, block.tracking)

    space = width("a a") - width("aa")
    order = line_breaks.visual_order(words, rtl=block.direction == "rtl")
    at = order.index(number)
    start = sum(width(words[other]) + space for other in order[:at])
    # Kerning over spaces makes the line slightly narrower than its words.
    scale = width(line) / max(1e-6, sum(map(width, words)) + space * (len(words) - 1))
    return (start - space / 2) * scale, (start + width(words[number]) + space / 2) * scale


@lru_cache(256)
def font_of(face: str, size: int) -> ImageFont.FreeTypeFont:
    """Return a face at a size in pixels per em."""
    return ImageFont.truetype(path_of(face), size)


def _line_breaks(
    text: str, most_lines: int, width: Callable[[str], float]
) -> Iterator[tuple[float, Iterable[tuple[tuple[str, ...], tuple[int, ...]]]]]:
    """Yield the possible line breaks of a text, best first, and the lines that begin within a word.

    Each comes with the share of the largest possible size that its letters must reach.
    """
    given = tuple(" ".join(line.split()) for line in text.splitlines() if line.strip())
    if 1 < len(given) <= most_lines:
        yield _GIVEN_SHARE, [(given, ())]
    parts, words = line_breaks.pieces(text), [line_breaks.TextPiece(word) for word in text.split()]
    line_breaks.check_words(parts)
    for share, units in ((_WHOLE_SHARE, words), (0.0, parts)):
        counts = range(1, min(most_lines, len(units)) + 1)
        yield share, (line_breaks.break_lines(units, count, width) for count in counts)


def _line_pitch(block: Block) -> float:
    top, bottom = _ink_extent(block)
    # Arabic letters reach above and below the line everywhere.
    below = 1.0 if any(_letter_kinds(line) & {"AL"} for line in block.lines) else _DESCENDER_SHARE
    return below * bottom - top + block.gap * block.size


def _width(text: str, face: str, size: int, tracking: float) -> float:
    extra = tracking * size * max(0, len(line_breaks.clusters(text)) - 1) if tracking else 0.0
    return font_of(face, size).getlength(text) + extra if text else 0.0


def _letter_kinds(text: str) -> set[str]:
    return {unicodedata.bidirectional(letter) for letter in text}


def mask(block: Block, *, stroke: float = 0.0, margin: int = 0, align: str = "center") -> Bytes:
    """Return the coverage of the letters, 0 to 255, aligned ``rtl``, ``center`` or ``right``.

    `stroke` widens the letters on all sides and `margin` is empty space, both in pixels; the
    margin must include the stroke.
    """
    width, height, _ = extent(block)
    sheet = Image.new("L", (width + 2 * margin, height + 2 * margin))
    pen = ImageDraw.Draw(sheet)
    for x, y, line in _place_lines(block, align):
        _draw(pen, (margin + x, margin + y), line, block, stroke)
    return np.asarray(sheet)


def sprite(
    block: Block,
    *,
    color: Color = (255, 255, 255),
    accent: Color | None = None,
    accented: Collection[int] = (),
    stroke: float = 0.0,
    stroke_color: Color = (0, 0, 0),
    shadow: float = 0.0,
    shadow_color: Color = (0, 0, 0),
    align: str = "center",
) -> Bytes:
    """Return a block of text as a picture, shape (height, width, 4), with straight alpha.

    The words with indices `accented`, counted over all lines from 0, have the accent color. The
    stroke lies around the letters, and a soft shadow below them, both in ems. The letters are
    centered: the margin for both is the same on all sides.
    """
    wide = stroke * block.size
    reach = shadow * block.size
    margin = int(np.ceil(wide + 2.5 * reach)) + 2
    letters = mask(block, margin=margin, align=align)
    fill = _color_letters(letters.shape, block, margin, align, (color, accent, accented))
    layers: list[tuple[Bytes, Color]] = []
    if reach:
        around = mask(block, stroke=wide, margin=margin, align=align)
        shift = np.array([[1, 0, 0], [0, 1, 0.5 * reach]], np.float32)
        moved = cv2.warpAffine(around, shift, around.shape[::-1])
        layers.append((blur(moved, max(0.5, 0.6 * reach)), shadow_color))
    if wide:
        layers.append((mask(block, stroke=wide, margin=margin, align=align), stroke_color))
    return _blend_layers([*layers, (letters, fill)])


def stamp(pixels: Bytes, picture: Bytes, left: int, top: int) -> None:
    """Alpha-blend a picture, shape (h, w, 4), onto another in place.

    Its corner is at column `rtl`, row `top`; what lies outside is clipped.
    """
    height, width = pixels.shape[:2]
    rows = slice(max(0, top), min(height, top + picture.shape[0]))
    columns = slice(max(0, left), min(width, left + picture.shape[1]))
    if rows.start >= rows.stop or columns.start >= columns.stop:
        return
    part = picture[rows.start - top : rows.stop - top, columns.start - left : columns.stop - left]
    below = pixels[rows, columns].astype(np.uint16)
    alpha = part[..., 3:].astype(np.uint16)
    pixels[rows, columns] = (part[..., :3] * alpha + below * (255 - alpha) + 127) // 255


def _draw(
    pen: ImageDraw.ImageDraw, at: tuple[float, float], line: str, block: Block, stroke: float
) -> None:
    font = font_of(block.face, block.size)
    if not block.tracking:
        way = block.direction
        pen.text(at, line, 255, font, anchor="ls", direction=way, stroke_width=stroke)
        return
    end = 0
    for number, letter in enumerate(line_breaks.clusters(line)):
        end += len(letter)
        x = at[0] + font.getlength(line[:end]) - font.getlength(letter)
        place = (x + number * block.tracking * block.size, at[1])
        pen.text(place, letter, fill=255, font=font, anchor="ls", stroke_width=stroke)


def _color_letters(
    shape: tuple[int, ...],
    block: Block,
    margin: int,
    align: str,
    colors: tuple[Color, Color | None, Collection[int]],
) -> Bytes:
    color, accent, accented = colors
    fill = np.full((*shape[:2], 3), color, np.uint8)
    if accent is None or not accented:
        return fill
    top, bottom = _ink_extent(block)
    first = 0
    for at, (x, y, line) in enumerate(_place_lines(block, align)):
        first -= at in block.continued  # its first word is the last one of the previous line
        rows = slice(max(0, int(margin + y + top - 1)), int(margin + y + bottom + 2))
        words = line.split()
        for number in (index - first for index in accented):
            if 0 <= number < len(words):
                left, right = _span(line, words, number, block)
                columns = slice(max(0, int(margin + x + left)), int(margin + x + right + 1))
                fill[rows, columns] = accent
        first += len(words)
    return fill


def _blend_layers(layers: Sequence[tuple[Bytes, Bytes | Color]]) -> Bytes:
    """Blend layers (coverage, color), lowest first, into one picture with straight alpha."""
    alpha = np.zeros(layers[0][0].shape, np.float32)
    # Plane by plane: NumPy takes several times as long over interleaved colors.
    color = [alpha.copy() for _ in range(3)]
    for coverage, fill in layers:
        share = np.float32(1 / 255) * coverage
        rest = 1 - share
        fills = cv2.split(fill) if isinstance(fill, np.ndarray) else map(np.uint8, fill)
        color = [own * share + plane * rest for own, plane in zip(fills, color, strict=True)]
        alpha = share + alpha * rest
    straight = [plane / np.maximum(alpha, 1e-6) for plane in color]
    return np.asarray(cv2.merge(list(map(cv2.convertScaleAbs, [*straight, 255 * alpha]))))
