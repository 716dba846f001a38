"""Lettering: text set in lines becomes a picture with alpha, ready to lie on another picture."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeAlias

import cv2
import numpy as np
from PIL import Image, ImageDraw

from kit.engines.media.breaking import clusters
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.fonts import FACES
from kit.engines.media.typesetting import Block, balanced, extent, font_of, ink, placed, span

__all__ = ["FACES", "Block", "Color", "balanced", "mask", "softened", "sprite", "stamp"]

#: Red, green, blue, 0 to 255.
Color: TypeAlias = tuple[int, int, int]

_FINE = 5.0  # deviation of the widest blur that is made in full size, in pixels


def mask(block: Block, *, stroke: float = 0.0, margin: int = 0, align: str = "center") -> Bytes:
    """Return the coverage of the letters, shape (height, width), 0 to 255.

    Parameters
    ----------
    stroke : float
        Widens the letters on all sides, in pixels.
    margin : int
        Empty pixels on all sides; a stroke needs room for itself.
    align : str
        ``left``, ``center`` or ``right``.
    """
    width, height, _ = extent(block)
    sheet = Image.new("L", (width + 2 * margin, height + 2 * margin))
    pen = ImageDraw.Draw(sheet)
    for x, y, line in placed(block, align):
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
    """Return a block of text as a picture with alpha.

    Parameters
    ----------
    accent, accented : color, collection of int
        Another color for some words, counted over all lines from 0.
    stroke : float
        Width of the outline, in ems; it lies around the letters and eats nothing of them.
    shadow : float
        Reach of a soft shadow below the letters, in ems.

    Returns
    -------
    ndarray of uint8
        Shape (height, width, 4), RGBA with straight alpha. The letters stand in the middle: the
        margin, which stroke and shadow need, is the same on all sides.
    """
    wide = stroke * block.size
    reach = shadow * block.size
    margin = int(np.ceil(wide + 2.5 * reach)) + 2
    letters = mask(block, margin=margin, align=align)
    fill = _fill(letters.shape, block, margin, align, (color, accent, accented))
    layers: list[tuple[Bytes, Bytes]] = []
    if reach:
        layers.append((_shadow(block, margin, align, wide, reach), _flat(letters, shadow_color)))
    if wide:
        around = mask(block, stroke=wide, margin=margin, align=align)
        layers.append((around, _flat(letters, stroke_color)))
    return _stacked([*layers, (letters, fill)])


def stamp(pixels: Bytes, picture: Bytes, left: int, top: int) -> None:
    """Blend a picture with alpha into another in place; what lies outside is cut off.

    Parameters
    ----------
    pixels : ndarray of uint8
        Shape (height, width, 3).
    picture : ndarray of uint8
        Shape (h, w, 4), straight alpha; its corner goes to column `left`, row `top`.
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


def softened(letters: Bytes, sigma: float) -> Bytes:
    """Return a mask blurred by a deviation in pixels; a wide blur is made in a smaller copy."""
    scale = min(1.0, _FINE / sigma)
    if scale == 1.0:
        return np.asarray(cv2.GaussianBlur(letters, (0, 0), sigma))
    height, width = letters.shape
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    small = cv2.resize(letters, size, interpolation=cv2.INTER_AREA)
    soft = cv2.GaussianBlur(small, (0, 0), _FINE)
    return np.asarray(cv2.resize(soft, (width, height), interpolation=cv2.INTER_CUBIC))


def _draw(
    pen: ImageDraw.ImageDraw, at: tuple[float, float], line: str, block: Block, stroke: float
) -> None:
    font = font_of(block.face, block.size)
    if not block.tracking:
        way = block.direction
        pen.text(at, line, 255, font, anchor="ls", direction=way, stroke_width=stroke)
        return
    end = 0
    for number, letter in enumerate(clusters(line)):
        end += len(letter)
        x = at[0] + font.getlength(line[:end]) - font.getlength(letter)
        place = (x + number * block.tracking * block.size, at[1])
        pen.text(place, letter, fill=255, font=font, anchor="ls", stroke_width=stroke)


def _fill(
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
    top, bottom = ink(block)
    first = 0
    for at, (x, y, line) in enumerate(placed(block, align)):
        first -= at in block.carried  # its first word is the last one of the line before
        rows = slice(max(0, int(margin + y + top - 1)), int(margin + y + bottom + 2))
        words = line.split()
        for number in (index - first for index in accented):
            if 0 <= number < len(words):
                left, right = span(line, words, number, block)
                columns = slice(max(0, int(margin + x + left)), int(margin + x + right + 1))
                fill[rows, columns] = accent
        first += len(words)
    return fill


def _shadow(block: Block, margin: int, align: str, stroke: float, reach: float) -> Bytes:
    around = mask(block, stroke=stroke, margin=margin, align=align)
    shift = np.array([[1, 0, 0], [0, 1, 0.5 * reach]], np.float32)
    moved = cv2.warpAffine(around, shift, around.shape[::-1])
    return softened(moved, max(0.5, 0.6 * reach))


def _flat(letters: Bytes, color: Color) -> Bytes:
    return np.full((*letters.shape, 3), color, np.uint8)


def _stacked(layers: Sequence[tuple[Bytes, Bytes]]) -> Bytes:
    """Blend layers (coverage, color), the lowest first, into one picture with straight alpha."""
    height, width = layers[0][0].shape
    color: Floats = np.zeros((height, width, 3), np.float32)
    alpha: Floats = np.zeros((height, width, 1), np.float32)
    for coverage, fill in layers:
        share = np.float32(1 / 255) * coverage[..., None]
        color = fill * share + color * (1 - share)
        alpha = share + alpha * (1 - share)
    straight = color / np.maximum(alpha, 1e-6)
    return np.concatenate([straight, alpha * 255], axis=2).round().clip(0, 255).astype(np.uint8)
