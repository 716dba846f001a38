"""Titling: a headline set on a picture where it is quiet, with enough contrast to be read.

Contrast is measured on the picture behind the text and made up for with a scrim, so 4.5:1 (WCAG
2.2, level AA) holds for headline and subtitle on any picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from kit.engines.image.editing.scrims import (
    DARK,
    LIGHT,
    Tone,
    accent_on,
    contrast_on,
    scrimmed,
    tone_for,
)
from kit.engines.image.editing.titlestyles import STYLES, TitleStyle
from kit.engines.media import faces
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.lettering import Block, Color, balanced, mask, softened, sprite, stamp
from kit.engines.media.typesetting import extent

_MARGIN = 0.07  # of the shorter side
_ON_LIGHT = (168, 22, 46)  # the accent on bright pictures: a yellow made darker is mud
_MAP = 64  # pixels across of the map of busy places
_SMALLEST = 8.0  # pixels an em in which letters can still be told apart
_PLACES = {"top": 0.0, "center": 0.5, "bottom": 1.0}
_WEIGHTS = {"top": 1.0, "center": 1.2, "bottom": 0.95}  # what makes a place count as less quiet
#: Deviation, in ems, and strength of the halos that make up a glow.
_GLOWS = ((0.035, 0.9), (0.12, 0.75), (0.34, 1.0))
_OUTLINE: Color = (14, 14, 18)


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
    style: str = "bold"
    position: str = "auto"
    accent: Color | None = None


@dataclass(frozen=True, slots=True)
class _Piece:
    """A block of text, or a rule where there is none, with its height and the gap below it."""

    block: Block | None
    height: int
    after: int
    is_headline: bool = False


@dataclass(frozen=True, slots=True)
class _Pen:
    style: TitleStyle
    tone: Tone
    accent: Color


def titled(pixels: Bytes, title: Title) -> tuple[Bytes, dict[str, Any]]:
    """Return a picture with a title on it, and the facts of its setting.

    Raises
    ------
    EngineError
        The text has letters that no font has, or is too long.
    """
    style = STYLES[title.style]
    pieces = _pieces(pixels.shape, title, style)
    total = sum(piece.height + piece.after for piece in pieces)
    position = title.position
    if position == "auto":
        position = _quietest(pixels, total, style)
    top = _top(pixels.shape, total, position)
    rows = (top, top + total)
    tone = LIGHT if style.glow else tone_for(pixels, rows)
    least = style.scrim if tone is LIGHT else 0.0
    if style.dim:
        pixels = cv2.convertScaleAbs(pixels, alpha=1.0 - style.dim)
    out, ground = scrimmed(pixels, rows, tone, least)
    accent = title.accent or (_ON_LIGHT if tone is DARK and style.picks_word else style.accent)
    if not style.glow:
        # A glow only lights what is around the letters; they are read by their own brightness.
        accent = accent_on(accent, ground, tone)
    pen = _Pen(style, tone, accent)
    y = top
    for piece in pieces:
        _draw(out, piece, y, pen)
        y += piece.height + piece.after
    inks = (tone.ink, _tube(accent) if style.glow else accent)
    headline = next(p.block for p in pieces if p.is_headline)
    facts = {
        "position": position,
        "font": headline.face if headline else "",
        "lines": list(headline.lines) if headline else [],
        "contrast": round(min(contrast_on(color, ground) for color in inks), 1),
    }
    return out, facts


def _pieces(shape: tuple[int, ...], title: Title, style: TitleStyle) -> list[_Piece]:
    height, width = shape[:2]
    inner = (width - 2 * _margin(shape)) * style.width
    face = style.face if title.face == "auto" else title.face
    text = title.headline.upper() if style.capitals else title.headline
    headline = balanced(
        text,
        face,
        inner,
        height=style.height * height,
        most_lines=6 if height > width else 4,
        largest=0.34 * min(height, width),
        smallest=max(_SMALLEST, 0.022 * min(height, width)),
        gap=style.gap,
        tracking=style.tracking,
    )
    gap = round(0.3 * headline.size)
    pieces = [_Piece(headline, extent(headline)[1], 0, is_headline=True)]
    rule = _Piece(None, max(2, round(style.rule * headline.size)), gap)
    if title.subtitle.strip():
        small = _subtitle(title.subtitle, headline.size, inner, shape, style)
        piece = _Piece(small, extent(small)[1], 0)
        first, second = (piece, pieces[0]) if style.kicker else (pieces[0], piece)
        pieces = [_Piece(first.block, first.height, gap, first.is_headline)]
        pieces += [rule] if style.rule else []
        return [*pieces, second]
    return [rule, *pieces] if style.rule and not style.kicker else pieces


def _subtitle(
    text: str, size: int, inner: float, shape: tuple[int, ...], style: TitleStyle
) -> Block:
    least = 0.026 * min(shape[:2])
    capitals = text.upper() if style.tracked else text
    return balanced(
        capitals,
        style.small_face,
        inner,
        height=0.16 * shape[0],
        most_lines=3,
        largest=max(least, 0.34 * size, _SMALLEST),
        smallest=max(_SMALLEST, 0.6 * least),
        gap=0.35,
        tracking=0.14 if style.tracked else 0.0,
    )


def _margin(shape: tuple[int, ...]) -> int:
    return round(_MARGIN * min(shape[:2]))


def _top(shape: tuple[int, ...], total: int, position: str) -> int:
    edge = round(1.15 * _margin(shape))
    return round(edge + _PLACES[position] * (shape[0] - 2 * edge - total))


def _quietest(pixels: Bytes, total: int, style: TitleStyle) -> str:
    """Return the place with least detail behind the text, and no face."""
    height = pixels.shape[0]
    busy = _busy(pixels)
    scale = busy.shape[0] / height
    held = {}
    for place in _PLACES:
        top = _top(pixels.shape, total, place)
        first = max(0, int(top * scale))
        last = max(first + 1, int((top + total) * scale))
        reach = busy[first:last]
        if style.align == "left":
            reach = reach[:, : max(1, int(0.85 * reach.shape[1]))]
        held[place] = (float(reach.mean()) + 1.0) * _WEIGHTS[place]
    return min(held, key=lambda place: held[place])


def _busy(pixels: Bytes) -> Floats:
    height, width = pixels.shape[:2]
    size = (_MAP, max(8, round(_MAP * height / width)))
    gray = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    small = cv2.resize(gray, size, interpolation=cv2.INTER_AREA).astype(np.float32)
    busy = np.abs(cv2.Laplacian(small, cv2.CV_32F))
    scale = size[0] / width
    for face in faces.find(pixels):
        rows = slice(int(face.y * scale), int((face.y + 1.1 * face.height) * scale) + 1)
        columns = slice(int(face.x * scale), int((face.x + face.width) * scale) + 1)
        busy[rows, columns] += 120.0
    return np.asarray(busy, np.float32)


def _draw(out: Bytes, piece: _Piece, y: int, pen: _Pen) -> None:
    margin, style = _margin(out.shape), pen.style
    if piece.block is None:
        _draw_rule(out, piece, y, pen)
        return
    ink_width, ink_height, _ = extent(piece.block)
    left = margin if style.align == "left" else (out.shape[1] - ink_width) // 2
    if style.glow:
        _light_up(out, piece.block, (left, y), pen)
    picture = _lettered(piece.block, pen, is_headline=piece.is_headline)
    spare = (picture.shape[0] - ink_height) // 2
    stamp(out, picture, left - (picture.shape[1] - ink_width) // 2, y - spare)


def _lettered(block: Block, pen: _Pen, *, is_headline: bool) -> Bytes:
    style = pen.style
    light = pen.tone is LIGHT
    if not is_headline:
        color = pen.accent if style.kicker else pen.tone.ink
        shadow = max(0.1, style.shadow) if light else 0.0
        return sprite(block, color=color, shadow=shadow, align=style.align)
    words = " ".join(block.lines).split()
    return sprite(
        block,
        color=_tube(pen.accent) if style.glow else pen.tone.ink,
        accent=pen.accent,
        accented=_picked(words) if style.picks_word else (),
        stroke=style.stroke if light else 0.0,
        stroke_color=_OUTLINE,
        shadow=style.shadow if light else 0.0,
        align=style.align,
    )


def _picked(words: Sequence[str]) -> tuple[int, ...]:
    """Return the word to stress: the longest one, of several the last; none in a single word."""
    if len(words) < 2:
        return ()
    return (max(range(len(words)), key=lambda index: (len(words[index]), index)),)


def _draw_rule(out: Bytes, piece: _Piece, y: int, pen: _Pen) -> None:
    style = pen.style
    width, margin = out.shape[1], _margin(out.shape)
    length = round(style.rule_length * (width - 2 * margin))
    left = margin if style.align == "left" else (width - length) // 2
    out[y : y + piece.height, left : left + length] = pen.accent


def _tube(accent: Color) -> Color:
    """Return the color of the lit gas itself: nearly white with a breath of its glow."""
    red, green, blue = (round(255 - 0.16 * (255 - channel)) for channel in accent)
    return red, green, blue


def _light_up(out: Bytes, block: Block, at: tuple[int, int], pen: _Pen) -> None:
    """Add the glow of lit letters to a picture, in place."""
    reach = round(1.1 * block.size)
    letters = mask(block, margin=reach, align=pen.style.align)
    glow = np.zeros(letters.shape, np.float32)
    for share, amount in _GLOWS:
        glow += amount / 255 * softened(letters, max(1.0, share * block.size))
    colored = np.clip(glow, 0, 1)[..., None] * np.array(pen.accent, np.float32)
    rows = slice(max(0, at[1] - reach), min(out.shape[0], at[1] - reach + letters.shape[0]))
    columns = slice(max(0, at[0] - reach), min(out.shape[1], at[0] - reach + letters.shape[1]))
    top, left = at[1] - reach, at[0] - reach
    part = colored[rows.start - top : rows.stop - top, columns.start - left : columns.stop - left]
    below = out[rows, columns].astype(np.float32)
    out[rows, columns] = np.rint(255 - (255 - below) * (255 - part) / 255)
