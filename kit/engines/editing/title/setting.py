"""Titlesetting: headline, rule and subtitle become pieces of a stack, typeset for a width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.editing.title.styles import (
    STYLES,
    USUAL,
    Room,
    TitleStyle,
    headline_room,
    margin_of,
    subtitle_room,
)
from kit.engines.media.color import Bytes, Floats, encode, lab_of, linear, paint
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


#: Least contrast of text to what is behind it. Source: WCAG 2.2, success criterion 1.4.3.
LEAST = 4.5
_SMALL = 48  # pixels a side that tell a picture's tints
#: Hues, in degrees of OKLCH, of accents on light pictures: crimson, blue, violet, teal.
_ACCENTS = (22.0, 262.0, 305.0, 190.0)


@dataclass(frozen=True, slots=True)
class Tone:
    """Light letters on shade, or dark letters on a light veil.

    Parameters
    ----------
    ink : tuple of int
        Color of the letters.
    light : bool
        Whether the letters are the lighter ones.
    end : float
        Lightness, in OKLab, towards which an accent is moved.
    """

    ink: Color
    light: bool
    end: float


LIGHT = Tone((255, 255, 255), True, 1.0)
DARK = Tone((18, 18, 24), False, 0.1)


@dataclass(frozen=True, slots=True)
class Tints:
    """What a picture's own darks and lights look like: RGB, 0 to 1, shape (3,)."""

    dark: Floats
    light: Floats
    ink: Color


def tints_of(pixels: Bytes, behind: Bytes) -> Tints:
    """Return the tints of a picture's darks and lights, no stronger than suits a part of it."""
    small = cv2.resize(pixels, (_SMALL, _SMALL), interpolation=cv2.INTER_AREA)
    lab = lab_of(small.reshape(-1, 3) / 255)
    chroma = np.hypot(lab[:, 1], lab[:, 2])
    low, high = np.percentile(lab[:, 0], (45, 60))
    dark = _mean_hue(lab, (lab[:, 0] <= low) * (chroma + 0.004))
    light = _mean_hue(lab, (lab[:, 0] >= high) * (chroma + 0.004))
    ink = paint((0.21, min(0.05, 0.8 * dark[0]), dark[1]))
    return Tints(
        paint((0.32, min(0.14, 1.7 * dark[0], 0.02 + 1.4 * _chroma(behind)), dark[1])),
        paint((0.975, min(0.022, 0.4 * light[0]), light[1])),
        _color(ink),
    )


def _chroma(pixels: Bytes) -> float:
    few = cv2.resize(pixels, (_SMALL, _SMALL), interpolation=cv2.INTER_AREA)
    lab = lab_of(few.reshape(-1, 3) / 255)
    return float(np.hypot(lab[:, 1], lab[:, 2]).mean())


def _mean_hue(lab: NDArray[np.float64], weights: NDArray[np.float64]) -> tuple[float, float]:
    """Return chroma, and hue in degrees, of a weighted mean of OKLab colors."""
    a, b = (weights[:, None] * lab[:, 1:]).sum(axis=0) / max(1e-9, weights.sum())
    return float(np.hypot(a, b)), float(np.degrees(np.arctan2(b, a)) % 360)


def accent_for(ground: Sequence[float]) -> Color:
    """Return an accent for dark letters: a deep hue that stands apart from what is behind it.

    Parameters
    ----------
    ground : sequence of float
        Mean color behind the text, RGB, 0 to 255.
    """
    _, a, b = lab_of(np.array(ground) / 255)
    hue = np.degrees(np.arctan2(b, a)) % 360
    gray = np.hypot(a, b) < 0.02

    def off(other: float) -> float:
        return float(abs((other - hue + 180) % 360 - 180))

    best = _ACCENTS[0] if gray else max(_ACCENTS, key=lambda other: min(120.0, off(other)))
    return _color(paint((0.5, 0.21, best)))


def contrast_on(color: Color, ground: float) -> float:
    """Return the contrast of a color to a relative luminance, 1 to 21."""
    light = float(luminance(np.array(color, np.float32)))
    high, low = max(light, ground), min(light, ground)
    return (high + 0.05) / (low + 0.05)


def accent_on(color: Color, ground: float, tone: Tone) -> Color:
    """Return a color, made lighter or darker in its own hue as far as it must be to stand out."""
    lab = lab_of(np.array(color) / 255)
    whole = max(1e-6, abs(tone.end - lab[0]))
    for lightness in np.linspace(lab[0], tone.end, 24):
        kept = min(1.0, abs(tone.end - lightness) / whole + 0.25)
        rgb = _color(encode(linear(np.array([lightness, *(lab[1:] * kept)]))))
        if contrast_on(rgb, ground) >= LEAST:
            return rgb
    return tone.ink


def luminance(color: Floats | Bytes) -> Floats:
    """Return the relative luminance of colors of 0 to 255, shape (..., 3). Source: WCAG 2.2."""
    value = np.asarray(color, np.float32) / 255
    light = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    return np.asarray(light @ np.array([0.2126, 0.7152, 0.0722]), np.float32)


def _color(rgb: Floats) -> Color:
    red, green, blue = (int(np.clip(np.rint(255 * channel), 0, 255)) for channel in rgb)
    return red, green, blue
