"""Titlesetting: headline, rule and subtitle become pieces of a stack, typeset for a width."""

from __future__ import annotations

from dataclasses import dataclass

from kit.engines.editing.title.rooms import Room, headline_room, margin_of, subtitle_room
from kit.engines.editing.title.styles import STYLES, TitleStyle
from kit.engines.editing.title.words import USUAL
from kit.engines.media.lettering import Block, Color, balanced
from kit.engines.media.typesetting import extent

_ALONE = 1.3  # how much larger the letters of a single word may be: it has the picture to itself


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

    @property
    def is_word(self) -> bool:
        """Whether the headline is a single word."""
        return len(self.headline.split()) == 1


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


def stacked(
    shape: tuple[int, ...],
    title: Title,
    width: float = 1.0,
    height: float = 1.0,
    *,
    large: bool = False,
) -> Stack:
    """Return a title set for a share of the width between the margins, and of its style's height.

    Parameters
    ----------
    large : bool
        Whether its letters may be larger than usual, as those of a single word.

    Raises
    ------
    EngineError
        The text has letters that no font has, or does not fit.
    """
    style = STYLES[title.style]
    inner = (shape[1] - 2 * margin_of(shape)) * width
    room = headline_room(shape, style, width, height)
    pieces = _pieces(shape, title, style, room, _ALONE if large else 1.0)
    wide = max(extent(piece.block)[0] for piece in pieces if piece.block)
    tall = sum(piece.height + piece.after for piece in pieces)
    return Stack(tuple(pieces), wide, tall, min(wide, round(style.rule_length * inner)))


def _pieces(
    shape: tuple[int, ...], title: Title, style: TitleStyle, room: Room, larger: float
) -> list[Piece]:
    headline = _headline(title, style, room, larger)
    gap = round(0.3 * headline.size)
    pieces = [Piece(headline, extent(headline)[1], 0, is_headline=True)]
    rule = Piece(None, max(2, round(style.rule * headline.size)), gap)
    if title.subtitle.strip():
        # A single word is larger than suits what stands below it.
        usual = min(headline.size, room.largest)
        small = _subtitle(title.subtitle, subtitle_room(shape, room, usual), style)
        piece = Piece(small, extent(small)[1], 0)
        first, second = (piece, pieces[0]) if style.kicker else (pieces[0], piece)
        pieces = [Piece(first.block, first.height, gap, first.is_headline)]
        pieces += [rule] if style.rule else []
        return [*pieces, second]
    return [rule, *pieces] if style.rule and not style.kicker else pieces


def _headline(title: Title, style: TitleStyle, room: Room, larger: float) -> Block:
    return balanced(
        title.headline,
        style.face if title.face == "auto" else title.face,
        room.width,
        height=room.height,
        most_lines=room.lines,
        largest=room.largest * larger,
        smallest=room.smallest,
        gap=style.gap,
        tracking=style.tracking,
    )


def _subtitle(text: str, room: Room, style: TitleStyle) -> Block:
    return balanced(
        text,
        style.small_face,
        room.width,
        height=room.height,
        most_lines=room.lines,
        largest=room.largest,
        smallest=room.smallest,
        gap=0.35,
        tracking=style.small_tracking,
    )
