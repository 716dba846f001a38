"""Titlesetting: headline, rule and subtitle become pieces of a stack, typeset for a width."""

from __future__ import annotations

from dataclasses import dataclass

from kit.engines.image.editing.titlestyles import STYLES, TitleStyle
from kit.engines.image.editing.titlewords import USUAL
from kit.engines.media.lettering import Block, Color, balanced
from kit.engines.media.typesetting import extent

_MARGIN = 0.07  # of the shorter side
_SMALLEST = 8.0  # pixels an em in which letters can still be told apart


@dataclass(frozen=True, slots=True, kw_only=True)
class Title:
    """What is to be set on a picture, and how.

    Parameters
    ----------
    face, style, position : str
        ``auto`` leaves the face to the style, and the position to the picture.
    accent : tuple of int, optional
        Instead of the style's own.
    """

    headline: str
    subtitle: str = ""
    face: str = "auto"
    style: str = USUAL
    position: str = "auto"
    accent: Color | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """A block of text, or a rule where there is none, with its height and the gap below it."""

    block: Block | None
    height: int
    after: int
    is_headline: bool = False


@dataclass(frozen=True, slots=True)
class Stack:
    """The pieces of a title from the top down, and the room their ink takes.

    Parameters
    ----------
    width, height : int
        In pixels; a rule is no wider than the letters.
    rule : int
        Length of the rule in pixels.
    """

    pieces: tuple[Piece, ...]
    width: int
    height: int
    rule: int

    @property
    def headline(self) -> Block:
        """The block of the headline."""
        return next(p.block for p in self.pieces if p.is_headline and p.block)

    @property
    def wrapped(self) -> int:
        """How many lines the subtitle has beyond its first."""
        small = (p.block for p in self.pieces if p.block and not p.is_headline)
        return sum(len(block.lines) - 1 for block in small)


def stacked(shape: tuple[int, ...], title: Title, width: float = 1.0, height: float = 1.0) -> Stack:
    """Return a title set for a share of the width between the margins, and of its style's height.

    Raises
    ------
    EngineError
        The text has letters that no font has, or does not fit.
    """
    style = STYLES[title.style]
    inner = (shape[1] - 2 * margin_of(shape)) * width
    room = (inner * style.width, height * style.height * shape[0])
    pieces = _pieces(shape, title, style, room)
    wide = max(extent(piece.block)[0] for piece in pieces if piece.block)
    tall = sum(piece.height + piece.after for piece in pieces)
    return Stack(tuple(pieces), wide, tall, min(wide, round(style.rule_length * inner)))


def margin_of(shape: tuple[int, ...]) -> int:
    """Return the least distance of letters from the edge of a picture, in pixels."""
    return round(_MARGIN * min(shape[:2]))


def _pieces(
    shape: tuple[int, ...], title: Title, style: TitleStyle, room: tuple[float, float]
) -> list[Piece]:
    headline = _headline(shape, title, style, room)
    gap = round(0.3 * headline.size)
    pieces = [Piece(headline, extent(headline)[1], 0, is_headline=True)]
    rule = Piece(None, max(2, round(style.rule * headline.size)), gap)
    if title.subtitle.strip():
        small = _subtitle(title.subtitle, headline.size, room[0], shape, style)
        piece = Piece(small, extent(small)[1], 0)
        first, second = (piece, pieces[0]) if style.kicker else (pieces[0], piece)
        pieces = [Piece(first.block, first.height, gap, first.is_headline)]
        pieces += [rule] if style.rule else []
        return [*pieces, second]
    return [rule, *pieces] if style.rule and not style.kicker else pieces


def _headline(
    shape: tuple[int, ...], title: Title, style: TitleStyle, room: tuple[float, float]
) -> Block:
    height, width = shape[:2]
    return balanced(
        title.headline,
        style.face if title.face == "auto" else title.face,
        room[0],
        height=room[1],
        most_lines=6 if height > width else 4,
        largest=0.34 * min(height, width),
        smallest=max(_SMALLEST, 0.022 * min(height, width)),
        gap=style.gap,
        tracking=style.tracking,
    )


def _subtitle(
    text: str, size: int, inner: float, shape: tuple[int, ...], style: TitleStyle
) -> Block:
    least = 0.026 * min(shape[:2])
    return balanced(
        text,
        style.small_face,
        inner,
        height=0.16 * shape[0],
        most_lines=3,
        largest=max(least, 0.34 * size, _SMALLEST),
        smallest=max(_SMALLEST, 0.6 * least),
        gap=0.35,
        tracking=0.14 if style.tracked else 0.0,
    )
