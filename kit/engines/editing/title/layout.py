"""Title layout: the position on a picture that hides little and needs little shade.

A few settings (full width, or a column at one side) are tried at a few heights; each is scored by
the saliency and the detail below its letters, and by the size of the letters.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import cv2
import numpy as np

from kit.engines.editing.title import (
    DEFAULT,
    STYLES,
    TitleRoom,
    headline_room,
    margin_of,
    subtitle_room,
)
from kit.engines.media.color import Bytes, Floats, decode
from kit.engines.media.lettering import Block, Color, balance_lines, extent
from kit.engines.media.line_breaks import is_rtl
from kit.engines.media.scaling import fit_size, resize
from kit.engines.media.subject import find
from kit.errors import EngineError

Box: TypeAlias = tuple[int, int, int, int]
LUMA = np.array([0.2126, 0.7152, 0.0722], np.float32)
_ALONE = 1.3  # how much larger the letters of a single word may be: it is alone on the picture


@dataclass(frozen=True, slots=True, kw_only=True)
class TitleText:
    """The text of a title; ``auto`` leaves face and position to style and picture."""

    headline: str
    subtitle: str = ""
    face: str = "auto"
    style: str = DEFAULT
    position: str = "auto"
    accent: Color | None = None

    @property
    def is_word(self) -> bool:
        """Whether the headline is a single word."""
        return len(self.headline.split()) == 1

    @property
    def side(self) -> str:
        """The alignment of its lines, unless its style centers them."""
        align = STYLES[self.style].align
        return "right" if align == "left" and is_rtl(self.headline) else align


@dataclass(frozen=True, slots=True)
class TitlePiece:
    """A block of text, or a rule if there is none, with its height and the gap below it."""

    block: Block | None
    height: int
    after: int
    is_headline: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """A title as set: its pieces from the top down, and the corner of its ink, in pixels."""

    pieces: tuple[TitlePiece, ...]
    width: int
    height: int
    rule: int
    left: int = 0
    top: int = 0
    align: str = "center"
    place: str = "center"
    side: str = "center"

    @property
    def headline(self) -> Block:
        """The block of the headline."""
        return next(p.block for p in self.pieces if p.is_headline and p.block)

    @property
    def box(self) -> Box:
        """Left, top, right and bottom of the ink."""
        return self.left, self.top, self.left + self.width, self.top + self.height


#: Vertical position of a title -> share of the free room above it, and its cost.
_PLACES = {"top": (0.0, 0.1), "center": (0.5, 0.3), "bottom": (1.0, 0.0)}
#: Shares of the width between the margins and of a style's height that a title may fill, and the
#: factor on the usual maximum letter size.
_ROOMS = ((1.0, 1.0, 1.0), (1.0, 0.68, 1.0), (0.62, 1.0, 1.0), (0.48, 1.0, 1.0), (1.0, 1.0, _ALONE))
_CHART_SIDE = 420  # pixels a side of the analyzed copy; smaller faces need not be kept free
_MAX_SIDE_WIDTH = 0.66  # share of that width up to which a title can be at a side
_SIDE_COST, _LOST_COST = 0.2, 0.5  # of leaving the style's side; a single word looks lost there
_SMALL_COST, _LARGE_GAIN = 1.3, 0.4  # of letters of half the size; of those of twice it
_FACE_COST = 5.0  # cost of covering all faces; a fifth of one is worse than small letters aside
_LINE_COST = 0.2  # cost of each further line of the subtitle
_HIDDEN_COST, _PEAK_COST, _DETAIL_COST, _SHADE_COST = 0.7, 1.1, 5.0, 0.2


def lay_out(pixels: Bytes, title: TitleText, *, people: bool = True) -> Layout:
    """Return a title set and placed where it hides little and needs little shade."""
    shape = (pixels.shape[0], pixels.shape[1])
    options = [place for stack in _stacks(shape, title) for place in _places(shape, title, stack)]
    chart = _cost_chart(pixels, people=people)
    # For a single word the first option has the usual size; larger is better, but less so.
    sizes = [layout.headline.size for layout in options]
    usual, cells = sizes[0] if title.is_word else max(sizes), chart.shape[2] / shape[1]
    return min(options, key=lambda layout: _cost(layout, chart, cells, title, usual))


def _stacks(shape: tuple[int, int], title: TitleText) -> Iterator[Layout]:
    style = STYLES[title.style]
    known: set[Block] = set()
    for width, height, larger in _ROOMS:
        if (width < 1.0 and shape[1] <= 0.9 * shape[0]) or (larger > 1.0 and not title.is_word):
            continue
        try:
            pieces = _pieces(shape, title, (width, height, larger))
        except EngineError:
            if not known:
                raise
            continue
        wide = max(extent(piece.block)[0] for piece in pieces if piece.block)
        rule = round(style.rule_length * width * (shape[1] - 2 * margin_of(shape)))
        tall = sum(piece.height + piece.after for piece in pieces)
        stack = Layout(tuple(pieces), wide, tall, min(wide, rule))
        if stack.headline not in known:
            known.add(stack.headline)
            yield stack


def _pieces(
    shape: tuple[int, int], title: TitleText, share: tuple[float, float, float]
) -> list[TitlePiece]:
    style = STYLES[title.style]
    room = headline_room(shape, style, *share[:2])

    def piece(text: str, face: str, room: TitleRoom, gap: float, tracking: float) -> TitlePiece:
        block = balance_lines(
            text, face, room.width, height=room.height, most_lines=room.lines,
            largest=room.largest, smallest=room.smallest, gap=gap, tracking=tracking,
        )  # fmt: skip
        return TitlePiece(block, extent(block)[1], 0)

    face = style.face if title.face == "auto" else title.face
    larger = replace(room, largest=room.largest * share[2])
    headline = piece(title.headline, face, larger, style.gap, style.tracking)
    headline = replace(headline, is_headline=True)
    size = headline.block.size if headline.block else 0
    gap = round(0.3 * size)
    rule = [TitlePiece(None, max(2, round(style.rule * size)), gap)] if style.rule else []
    if not title.subtitle.strip():
        return [headline] if style.kicker else [*rule, headline]
    # A single word is too large to size the subtitle by it.
    room = subtitle_room(shape, room, min(size, room.largest))
    small = piece(title.subtitle, style.small_face, room, 0.35, style.small_tracking)
    first, second = (small, headline) if style.kicker else (headline, small)
    return [replace(first, after=gap), *rule, second]


def _places(shape: tuple[int, int], title: TitleText, stack: Layout) -> Iterator[Layout]:
    margin = margin_of(shape)
    edge, rest = round(1.15 * margin), shape[1] - stack.width
    flush = "right" if is_rtl(title.headline) else "left"
    aside = ("left", "right") if stack.width <= _MAX_SIDE_WIDTH * (shape[1] - 2 * margin) else ()
    for side in dict.fromkeys((title.side, *aside)):
        left = {"left": margin, "right": rest - margin, "center": rest // 2}[side]
        align = "center" if side == "center" else flush
        for place in _PLACES if title.position == "auto" else (title.position,):
            top = round(edge + _PLACES[place][0] * (shape[0] - 2 * edge - stack.height))
            yield replace(stack, left=left, top=top, align=align, place=place, side=side)


def _cost_chart(pixels: Bytes, *, people: bool) -> Floats:
    """Return the costs of letters, shape (4, rows, columns).

    Saliency, detail, relative luminance, and 1 where faces are from brow to chin.
    """
    pixels = resize(pixels, *fit_size(pixels.shape, _CHART_SIDE))
    subject = find(pixels, people=people)
    draw = subject.attention
    small = resize(pixels, *draw.shape[::-1])
    gray = cv2.cvtColor(small, cv2.COLOR_RGB2GRAY).astype(np.float32) / 255
    near, cells = np.zeros_like(draw), draw.shape[1] / pixels.shape[1]
    for face in subject.faces:
        across, down = face.x * cells, face.y * cells
        rows = slice(max(0, round(down)), round(down + face.height * cells))
        near[rows, max(0, round(across)) : round(across + face.width * cells)] = 1.0
    return np.stack([draw, np.abs(cv2.Laplacian(gray, cv2.CV_32F)), luminance(small), near])


def _cost(layout: Layout, chart: Floats, cells: float, title: TitleText, usual: int) -> float:
    left, top, right, bottom = (max(0, round(edge * cells)) for edge in layout.box)
    draw, detail, light, near = chart[:, top : max(top, bottom) + 1, left : max(left, right) + 1]
    to_light, to_dark = shade_stops(light)
    stops = to_light if STYLES[title.style].night else min(to_light, to_dark)
    larger = float(np.log2(layout.headline.size / usual))
    lines = sum(len(p.block.lines) - 1 for p in layout.pieces if p.block and not p.is_headline)
    return (
        _HIDDEN_COST * float(draw.mean() / chart[0].mean())
        + _PEAK_COST * max(0.0, float(np.percentile(draw, 95)) - 0.3)
        + _FACE_COST * float(near.sum() / max(1.0, float(chart[3].sum())))
        + _DETAIL_COST * float(detail.mean())
        + _SHADE_COST * max(0.0, stops)
        + _PLACES[layout.place][1]
        + (_LOST_COST if title.is_word else _SIDE_COST) * (layout.side != title.side)
        + _LINE_COST * lines
        - (_LARGE_GAIN if larger > 0 else _SMALL_COST) * larger
    )


def shade_stops(light: Floats) -> tuple[float, float]:
    """Return the change in stops that light letters, and dark ones, need behind them."""
    low, high = (float(part) for part in np.percentile(light, (8, 92)))
    return math.log2((high + 0.05) / 0.15), math.log2(0.5 / (low + 0.05)) + 0.5


def luminance(color: Floats | Bytes) -> Floats:
    """Return the relative luminance of colors of 0 to 255, shape (..., 3). Source: WCAG 2.2."""
    return np.asarray(decode(np.asarray(color, np.float32) / 255) @ LUMA, np.float32)
