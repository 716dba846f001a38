"""A contact sheet as one picture, by Pillow."""

from __future__ import annotations

import io
import textwrap
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from PIL import Image, ImageDraw, ImageFont

from kit.explore.sweeps.sheet import raw
from kit.pictures import open_picture

if TYPE_CHECKING:
    from kit.explore.sweeps.sheet import Sheet, Tile

_INK, _FAINT, _PAPER, _EMPTY = "#222222", "#666666", "#FFFFFF", "#F0F0F0"
_GAP, _TEXT, _TITLE = 10, 15, 20
_SIDE, _LINES = 180, 3
_FONT = "engines/media/fonts/Inter-Medium.ttf"
#: Pixels that a sheet may have in all; tiles are made smaller beyond them.
_MOST = 60_000_000


def draw_sheet(sheet: Sheet) -> bytes:
    """Return a sheet as a PNG."""
    side = _SIDE if any(sheet.rows) else 0
    size, tall = sheet.size, _tall(sheet)
    head = max((len(_lines(name, size)) for name in sheet.columns if name), default=0)
    head = head * (_TEXT + 4) + 4 if head else 0
    foot = (_TEXT + 5) * (2 if any(tile.label for tile in sheet.tiles.values()) else 1)
    while size > 48:
        width, height = _extent(sheet, size, round(size * tall), side, head, foot)
        if width * height <= _MOST:
            break
        size = size * 3 // 4
    high = round(size * tall)
    paper = Image.new("RGB", _extent(sheet, size, high, side, head, foot), _PAPER)
    pen = ImageDraw.Draw(paper)
    pen.text((_GAP, _GAP), sheet.title, _INK, _font(_TITLE))
    top = _TITLE + 3 * _GAP
    for column, name in enumerate(sheet.columns):
        _written(pen, (side + _GAP + column * (size + _GAP), top), name, size)
    for row, name in enumerate(sheet.rows):
        y = top + head + row * (high + foot + _GAP)
        _written(pen, (_GAP, y), name, side - _GAP)
        for column in range(len(sheet.columns)):
            tile = sheet.tiles.get((row, column))
            if tile is not None:
                place = (side + _GAP + column * (size + _GAP), y, size, high)
                _placed(paper, pen, tile, place)
    buffer = io.BytesIO()
    paper.save(buffer, "PNG")
    return buffer.getvalue()


def _tall(sheet: Sheet) -> float:
    """Return the height of the tallest picture, of a width of 1: wide ones leave no gaps below."""
    found = []
    for tile in sheet.tiles.values():
        file = raw(tile)
        if file is not None:
            with open_picture(file) as opened:
                found.append(opened.height / opened.width)
    # without any picture there are only words, in boxes
    return min(1.0, max(found, default=0.5))


def _extent(sheet: Sheet, size: int, high: int, side: int, head: int, foot: int) -> tuple[int, int]:
    width = side + _GAP + len(sheet.columns) * (size + _GAP)
    height = _TITLE + 3 * _GAP + head + len(sheet.rows) * (high + foot + _GAP)
    title = 2 * _GAP + round(_font(_TITLE).getlength(sheet.title))
    return max(width, title, 320), height


def _placed(
    paper: Image.Image, pen: ImageDraw.ImageDraw, tile: Tile, place: tuple[int, int, int, int]
) -> None:
    """Draw a tile; its place is where it begins, and the width and height of its picture."""
    x, y, size, high = place
    file = raw(tile)
    if file is None:
        pen.rounded_rectangle((x, y, x + size - 1, y + high - 1), 6, _EMPTY)
    else:
        with open_picture(file) as opened:
            picture = opened.convert("RGB")
        picture.thumbnail((size, high))
        paper.paste(picture, (x + (size - picture.width) // 2, y + (high - picture.height) // 2))
    caption = f"★ {tile.caption}" if tile.favorite else tile.caption
    for line, words in enumerate(filter(None, (caption, tile.label))):
        at = (x, y + high + 2 + line * (_TEXT + 5))
        pen.text(at, _fitted(words, size), _FAINT if line == 0 else _INK, _font(_TEXT))


def _written(pen: ImageDraw.ImageDraw, at: tuple[int, int], words: str, width: int) -> None:
    for number, line in enumerate(_lines(words, width)):
        pen.text((at[0], at[1] + number * (_TEXT + 4)), line, _INK, _font(_TEXT))


def _lines(words: str, width: int) -> list[str]:
    return textwrap.wrap(words, max(6, int(width / (_TEXT * 0.55))))[:_LINES]


def _fitted(words: str, width: int) -> str:
    most = max(6, int(width / (_TEXT * 0.5)))
    return words if len(words) <= most else f"{words[: most - 3]}..."


@cache
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Return the package's own font: sheets look the same everywhere, and it has more letters."""
    file = files("kit").joinpath(_FONT)
    if not file.is_file():
        return ImageFont.load_default(size)
    return ImageFont.truetype(io.BytesIO(file.read_bytes()), size)
