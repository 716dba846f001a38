"""Views of a sweep: a table in a notebook, and a contact sheet as static HTML or PNG."""

from __future__ import annotations

import base64
import io
import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image, ImageDraw, ImageFont

from kit.errors import ConfigError
from kit.explore.sweeps import COLUMNS, PREFIX, SweepPlan, to_frame_value
from kit.pictures import open_picture
from kit.private import user_path

#: Maximum of rows in the table, and columns hidden before a run, and after it.
_MAX_ROWS = 20
_HIDDEN_BEFORE_RUN = frozenset(COLUMNS) - {"price", "status", "error"}
_HIDDEN_AFTER_RUN = frozenset({"price", "generation_id"})
CSS = (
    "font-family:var(--jp-ui-font-family,system-ui,sans-serif);font-size:13px;"
    "color:var(--jp-ui-font-color1,inherit)"
)
FAINT = "color:color-mix(in srgb,var(--jp-ui-font-color1,currentcolor) 70%,transparent)"
#: The head of a saved page, light or dark as the system of the reader.
_PAGE = (
    "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport "
    'content="width=device-width"><title>{}</title><style>:root{{color-scheme:light dark;'
    "background:canvas}}</style>"
)
_STAR = "★"
_CELL = "padding:4px;text-align:center;vertical-align:top"
_HEAD = "padding:4px 8px;font-weight:600;text-align:center;max-width:220px;overflow-wrap:break-word"
#: Colors, gaps and heights of the picture, in pixels.
_INK, _PALE_INK, _PAPER, _EMPTY = "#222222", "#666666", "#FFFFFF", "#F0F0F0"
_GAP, _TEXT, _TITLE = 10, 15, 20
_SIDE, _LINES = 180, 3
_FONT = "engines/media/fonts/Inter-Medium.ttf"
#: Maximum of pixels in a sheet; tiles are scaled down to stay below it.
_MAX_PIXELS = 60_000_000


@dataclass(frozen=True, slots=True)
class Tile:
    """One result."""

    picture: str | None  # a ``data:`` address
    caption: str  # its cost, or why there is no picture
    label: str = ""  # its values, for sheets without axes
    favorite: bool = False
    number: int | None = None  # of its request, to open the result


@dataclass(frozen=True, slots=True)
class Sheet:
    """A contact sheet; a notebook displays it, and `save` writes ``.html`` or ``.png``."""

    title: str
    columns: Sequence[str]  # labels; empty ones are hidden
    rows: Sequence[str]
    tiles: Mapping[tuple[int, int], Tile]  # by row and column; some may be missing
    size: int = 200
    show: Callable[[Sheet], None] | None = None  # in a notebook, with buttons for results

    def __repr__(self) -> str:
        return f"<Sheet {len(self.rows)} × {len(self.columns)}: {self.title}>"

    def _repr_html_(self) -> str:
        return self.html()

    def _ipython_display_(self) -> None:
        if self.show is None:
            raise NotImplementedError  # IPython shows the HTML alone
        self.show(self)

    def html(self) -> str:
        """Return the sheet as static HTML with embedded pictures."""
        corner = "<td></td>" if any(self.rows) else ""
        head = "".join(
            f'<th scope="col" style="{_HEAD}">{escape(name)}</th>' for name in self.columns
        )
        lines = [f"<tr>{corner}{head}</tr>"] if any(self.columns) else []
        for row, name in enumerate(self.rows):
            side = f'<th scope="row" style="{_HEAD};text-align:right">{escape(name)}</th>'
            cells = "".join(self._cell(row, column) for column in range(len(self.columns)))
            lines.append(f"<tr>{side if corner else ''}{cells}</tr>")
        return (
            f'<div style="{CSS};overflow-x:auto"><div style="font-weight:600;font-size:14px;'
            f'padding:4px">{escape(self.title)}</div><table style="{CSS};border-collapse:'
            f'collapse">{"".join(lines)}</table></div>'
        )

    def png(self) -> bytes:
        """Return the sheet as a PNG with a white background."""
        side = _SIDE if any(self.rows) else 0
        size, ratio = self.size, _tallest_ratio(self)
        head = max((len(_wrap_lines(name, size)) for name in self.columns if name), default=0)
        head = head * (_TEXT + 4) + 4 if head else 0
        foot = (_TEXT + 5) * (2 if any(tile.label for tile in self.tiles.values()) else 1)
        top = _TITLE + 3 * _GAP
        title = 2 * _GAP + round(_font(_TITLE).getlength(self.title))

        def extent() -> tuple[int, int]:
            width = side + _GAP + len(self.columns) * (size + _GAP)
            height = top + head + len(self.rows) * (round(size * ratio) + foot + _GAP)
            return max(width, title, 320), height

        while size > 48 and math.prod(extent()) > _MAX_PIXELS:
            size = size * 3 // 4
        height = round(size * ratio)
        canvas = Image.new("RGB", extent(), _PAPER)
        draw = ImageDraw.Draw(canvas)
        draw.text((_GAP, _GAP), self.title, _INK, _font(_TITLE))
        for column, name in enumerate(self.columns):
            _write_text(draw, (side + _GAP + column * (size + _GAP), top), name, size)
        for row, name in enumerate(self.rows):
            y = top + head + row * (height + foot + _GAP)
            _write_text(draw, (_GAP, y), name, side - _GAP)
            for column in range(len(self.columns)):
                if (tile := self.tiles.get((row, column))) is not None:
                    place = (side + _GAP + column * (size + _GAP), y, size, height)
                    _draw_tile(canvas, draw, tile, place)
        buffer = io.BytesIO()
        canvas.save(buffer, "PNG")
        return buffer.getvalue()

    def save(self, file: Path | str) -> Path:
        """Save the sheet as HTML or PNG, as the suffix of the file says, and return the path."""
        path = user_path(file)
        if path.suffix.lower() not in (".png", ".html"):
            raise ConfigError(f"a sheet is saved as .png or .html, not as {path.suffix!r}")
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix.lower() == ".png":
            path.write_bytes(self.png())
        else:
            path.write_text(_PAGE.format(escape(self.title)) + self.html(), "utf-8")
        return path

    def _cell(self, row: int, column: int) -> str:
        if (tile := self.tiles.get((row, column))) is None:
            return f'<td style="{_CELL}"></td>'
        style = f"max-width:{self.size}px;height:auto;border-radius:4px;display:block;margin:auto"
        label = f"<div>{escape(tile.label)}</div>" if tile.label else ""
        words = tile.label or " · ".join(filter(None, (self.rows[row], self.columns[column])))
        picture = f'<img src="{tile.picture}" alt="{escape(words)}" style="{style}">'
        star = f'<span title="favorite">{_STAR}</span> ' if tile.favorite else ""
        is_openable = self.show is not None and tile.number is not None
        button = f' <span data-kit-result="{tile.number}"></span>' if is_openable else ""
        caption = f'<div style="{FAINT}">{star}{escape(tile.caption)}{button}</div>'
        return f'<td style="{_CELL}">{picture if tile.picture else ""}{caption}{label}</td>'


def lay_out_sheet(
    plan: SweepPlan,
    tiles: Sequence[Tile | None],
    title: str,
    *,
    x: str | None,
    y: str | None,
    size: int,
) -> Sheet:
    """Return the sheet of a plan: one axis across, all others down; or a simple grid.

    Raises `ConfigError` if the plan has no such axis, or `x` and `y` are the same.

    `tiles`: one per request.
    `x`, `y`: axes; after `y`, the labels of rows contain the remaining axes.
    """
    if x is not None and x == y:
        raise ConfigError(f"{x!r} cannot be both x and y")
    for name in (x, y):
        if name is not None and name not in plan.axes:
            names = ", ".join(plan.axes) or "none"
            raise ConfigError(f"{name!r} does not vary in this sweep; there is {names}")
    varying = [name for name, values in plan.axes.items() if len(values) > 1]
    if x is None and (not plan.grid or not varying):
        per_row = max(1, min(len(tiles), 960 // (size + 8)))
        wrapped = {divmod(n, per_row): tile for n, tile in enumerate(tiles) if tile is not None}
        return Sheet(title, [""] * per_row, [""] * -(-len(tiles) // per_row), wrapped, size)
    across = x or next(name for name in reversed(varying) if name != y)
    down = [y] if y else []
    down += [name for name in plan.axes if name not in (across, *down)]
    columns = [repr(value) for value in plan.axes[across]]
    rows: dict[str, tuple[int, str]] = {}  # long texts may share a label
    placed: dict[tuple[int, int], Tile] = {}
    for request, tile in zip(plan.requests, tiles, strict=True):
        given = {name: request[name] for name in down if name in request}
        label = " · ".join(_label(name, value) for name, value in given.items())
        row, _ = rows.setdefault(repr(given), (len(rows), label))
        if tile is not None and across in request:
            placed[row, columns.index(repr(request[across]))] = replace(tile, label="")
    headings = [_label(across, value) for value in plan.axes[across]]
    return Sheet(title, headings, [label for _, label in rows.values()], placed, size)


def text(value: Any, most: int = 60) -> str:
    """Return a value as a short label; a float keeps all its digits."""
    written = str(to_frame_value(value))
    if isinstance(value, float):
        written = np.format_float_positional(round(value, 9), trim="-")
    return written if len(written) <= most else f"{written[: most - 1]}…"


def picture_bytes(tile: Tile) -> io.BytesIO | None:
    """Return the bytes of a tile's picture."""
    if not tile.picture:
        return None
    return io.BytesIO(base64.b64decode(tile.picture.partition(",")[2]))


def _label(name: str, value: Any) -> str:
    return text(value) if name == "prompt" else f"{name} {text(value)}"


def _tallest_ratio(sheet: Sheet) -> float:
    """Return the height of the tallest picture at a width of 1, so that rows have no gaps."""
    found = []
    for tile in sheet.tiles.values():
        if (file := picture_bytes(tile)) is not None:
            with open_picture(file) as opened:
                found.append(opened.height / opened.width)
    # without pictures, tiles are boxes of text
    return min(1.0, max(found, default=0.5))


def _draw_tile(
    canvas: Image.Image, draw: ImageDraw.ImageDraw, tile: Tile, place: tuple[int, int, int, int]
) -> None:
    """Draw a tile; its place is its position, and the width and height of its picture."""
    x, y, size, height = place
    if (file := picture_bytes(tile)) is None:
        draw.rounded_rectangle((x, y, x + size - 1, y + height - 1), 6, _EMPTY)
    else:
        with open_picture(file) as opened:
            picture = opened.convert("RGB")
        picture.thumbnail((size, height))
        canvas.paste(picture, (x + (size - picture.width) // 2, y + (height - picture.height) // 2))
    caption = f"{_STAR} {tile.caption}" if tile.favorite else tile.caption
    for line, words in enumerate(filter(None, (caption, tile.label))):
        corner, most = (x, y + height + 2 + line * (_TEXT + 5)), max(6, int(size / (_TEXT * 0.5)))
        shortened = words if len(words) <= most else f"{words[: most - 3]}..."
        draw.text(corner, shortened, _PALE_INK if line == 0 else _INK, _font(_TEXT))


def _write_text(draw: ImageDraw.ImageDraw, corner: tuple[int, int], words: str, width: int) -> None:
    for number, line in enumerate(_wrap_lines(words, width)):
        draw.text((corner[0], corner[1] + number * (_TEXT + 4)), line, _INK, _font(_TEXT))


def _wrap_lines(words: str, width: int) -> list[str]:
    letter = max(_TEXT * 0.55, 1.05 * _font(_TEXT).getlength(words) / (len(words) or 1))
    return textwrap.wrap(words, max(6, int(width / letter)))[:_LINES]


@cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    """Return the included font, which makes sheets look the same everywhere."""
    return ImageFont.truetype(io.BytesIO(files("kit").joinpath(_FONT).read_bytes()), size)


def html(frame: pd.DataFrame, title: str, description: str, *, new: bool) -> str:
    """Return a sweep as HTML: its requests, its price, and how to run it."""
    rows = frame.head(_MAX_ROWS)
    hidden = _HIDDEN_BEFORE_RUN if new else _HIDDEN_AFTER_RUN
    names = [n for n in rows if n not in hidden and (n not in COLUMNS or rows[n].notna().any())]
    short = {n: str(n).removeprefix(PREFIX) for n in names}
    words = {n: str(n) if s in COLUMNS else s for n, s in short.items()}
    sides = {n: "right" if pd.api.types.is_numeric_dtype(rows[n]) else "left" for n in names}
    style = {n: f'style="text-align:{side};padding:2px 10px 2px 0"' for n, side in sides.items()}
    head = "".join(f"<th {style[n]}>{escape(word)}</th>" for n, word in words.items())
    lines = "".join(
        f'<tr><td style="padding:2px 10px 2px 0;{FAINT}">{number}</td>'
        + "".join(f"<td {style[n]}>{_text(row[n])}</td>" for n in names)
        + "</tr>"
        for number, row in enumerate(rows.to_dict("records"))
    )
    more = f"<div>... and {len(frame) - _MAX_ROWS} more</div>" if len(frame) > _MAX_ROWS else ""
    option = "unpriced=True" if "price" in frame and frame["price"].isna().any() else ""
    hint = f"<code>.run({option})</code> makes them; nothing was sent yet" if new else ""
    return (
        f'<div style="{CSS};overflow-x:auto"><b style="font-size:14px">{escape(title)}</b> '
        f'<span>{escape(description)}</span><table style="{CSS};border-collapse:collapse">'
        f'<tr><th></th>{head}</tr>{lines}</table>{more}<div style="{FAINT}">{hint}</div></div>'
    )


def _text(value: Any) -> str:
    return "" if pd.api.types.is_scalar(value) and pd.isna(value) else escape(text(value, 80))
