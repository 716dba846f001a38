"""Contact sheets: the results of a sweep side by side, each with its cost; static HTML or a PNG."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

from kit.errors import ConfigError
from kit.explore.sweeps.grid import SweepPlan

_STAR = "★"
_FAINT = "color:var(--jp-ui-font-color2,#767676)"
_CSS = (
    "font-family:var(--jp-ui-font-family,system-ui,sans-serif);font-size:13px;line-height:1.35;"
    "color:var(--jp-ui-font-color1,inherit)"
)
_CELL = "padding:4px;text-align:center;vertical-align:top"
_HEAD = "padding:4px 8px;font-weight:600;text-align:center;max-width:220px"


@dataclass(frozen=True, slots=True)
class Tile:
    """One result.

    Parameters
    ----------
    picture : str or None
        A ``data:`` address.
    caption : str
        What it cost, or why there is no picture.
    label : str
        Its values, for sheets without axes.
    """

    picture: str | None
    caption: str
    label: str = ""
    favorite: bool = False


@dataclass(frozen=True, slots=True)
class Sheet:
    """A contact sheet; it shows itself, and `save` writes it as ``.html`` or ``.png``.

    Parameters
    ----------
    columns, rows : sequence of str
        Labels; empty ones are not shown.
    tiles : mapping of (row, column) to Tile
        Where nothing was made there is none.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[str]
    tiles: Mapping[tuple[int, int], Tile]
    size: int = 200

    def __repr__(self) -> str:
        return f"<Sheet {len(self.rows)} × {len(self.columns)}: {self.title}>"

    def _repr_html_(self) -> str:
        return self.html()

    def html(self) -> str:
        """Return the sheet as static HTML, with all pictures inside."""
        corner = "<td></td>" if any(self.rows) else ""
        head = "".join(f'<th style="{_HEAD}">{escape(name)}</th>' for name in self.columns)
        lines = [f"<tr>{corner}{head}</tr>"] if any(self.columns) else []
        for row, name in enumerate(self.rows):
            side = f'<th style="{_HEAD};text-align:right">{escape(name)}</th>' if corner else ""
            cells = "".join(self._cell(row, column) for column in range(len(self.columns)))
            lines.append(f"<tr>{side}{cells}</tr>")
        return (
            f'<div style="{_CSS};overflow-x:auto"><div style="font-weight:600;font-size:14px;'
            f'padding:4px">{escape(self.title)}</div><table style="{_CSS};border-collapse:'
            f'collapse">{"".join(lines)}</table></div>'
        )

    def png(self) -> bytes:
        """Return the sheet as a picture on white."""
        from kit.explore.sweeps.drawing import draw_sheet

        return draw_sheet(self)

    def save(self, file: Path | str) -> Path:
        """Write the sheet to a file, whose ending says how, and return where it is."""
        path = Path(file).expanduser()
        if path.suffix.lower() not in (".png", ".html"):
            raise ConfigError(f"a sheet is saved as .png or .html, not as {path.suffix!r}")
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix.lower() == ".png":
            path.write_bytes(self.png())
        else:
            page = f"<!doctype html><meta charset=utf-8><title>{escape(self.title)}</title>"
            path.write_text(page + self.html(), "utf-8")
        return path

    def _cell(self, row: int, column: int) -> str:
        tile = self.tiles.get((row, column))
        if tile is None:
            return f'<td style="{_CELL}"></td>'
        style = f"max-width:{self.size}px;height:auto;border-radius:4px;display:block;margin:auto"
        label = f"<div>{escape(tile.label)}</div>" if tile.label else ""
        shown = f'<img src="{tile.picture}" alt="{escape(tile.label)}" style="{style}">'
        star = f'<span title="favorite">{_STAR}</span> ' if tile.favorite else ""
        caption = f'<div style="{_FAINT}">{star}{escape(tile.caption)}</div>'
        return f'<td style="{_CELL}">{shown if tile.picture else ""}{caption}{label}</td>'


def laid_out(
    plan: SweepPlan,
    tiles: Sequence[Tile | None],
    title: str,
    *,
    x: str | None,
    y: str | None,
    size: int,
) -> Sheet:
    """Return the sheet of a plan: one axis across, all others down; or a plain grid.

    Parameters
    ----------
    tiles : sequence of Tile or None
        One a request.
    x, y : str or None
        Axes; with `y` the remaining axes are told in the labels of the rows after it.

    Raises
    ------
    ConfigError
        The plan has no such axis, or one is to go both ways.
    """
    if x is not None and x == y:
        raise ConfigError(f"{x!r} cannot go across and down; x and y are two that vary")
    for name in (x, y):
        if name is not None and name not in plan.axes:
            there = ", ".join(plan.axes) or "none"
            raise ConfigError(f"{name!r} does not vary in this sweep; there is {there}")
    varying = [name for name, values in plan.axes.items() if len(values) > 1]
    if x is None and (not plan.grid or not varying):
        return _wrapped(tiles, title, size)
    across = x or next(name for name in reversed(varying) if name != y)
    down = [y] if y else []
    down += [name for name in plan.axes if name not in (across, *down)]
    columns = [text(value) for value in plan.axes[across]]
    rows: dict[str, int] = {}
    placed: dict[tuple[int, int], Tile] = {}
    for request, tile in zip(plan.requests, tiles, strict=True):
        label = " · ".join(_told(name, request[name]) for name in down if name in request)
        row = rows.setdefault(label, len(rows))
        if tile is not None and across in request:
            placed[row, columns.index(text(request[across]))] = replace(tile, label="")
    heads = [_told(across, name) for name in columns]
    return Sheet(title, heads, list(rows), placed, size)


def text(value: Any) -> str:
    """Return a value as a short label."""
    written = f"{value:g}" if isinstance(value, float) else str(value)
    return written if len(written) <= 60 else f"{written[:59]}…"


def raw(tile: Tile) -> io.BytesIO | None:
    """Return the bytes of a tile's picture."""
    if not tile.picture:
        return None
    return io.BytesIO(base64.b64decode(tile.picture.partition(",")[2]))


def _told(name: str, value: Any) -> str:
    return text(value) if name == "prompt" else f"{name} {text(value)}"


def _wrapped(tiles: Sequence[Tile | None], title: str, size: int) -> Sheet:
    across = max(1, min(len(tiles), 960 // (size + 8)))
    placed = {divmod(n, across): tile for n, tile in enumerate(tiles) if tile is not None}
    return Sheet(title, [""] * across, [""] * -(-len(tiles) // across), placed, size)
