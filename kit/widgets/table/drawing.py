"""Renders a page of rows as HTML: live while a kernel runs, and as a snapshot in a notebook.

Both have the same cells. The live page has a style sheet and rows of fixed height, for the
checkboxes that cover them; the snapshot is plain HTML that also works in an untrusted notebook.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import pandas as pd

from kit.widgets import markup
from kit.widgets.media import data_address
from kit.widgets.table.rows import TableView

#: Size of a thumbnail in pixels, as in the style sheet.
THUMBNAIL = (64, 40)
#: Maximum of characters of a prompt, and of a sentence in place of a thumbnail.
_MAX_PROMPT, _MAX_ERROR = 400, 40


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column of the table.

    `sources`: columns of the frame; the first existing one is shown.
    `width`, `narrow`: CSS width of its track, and that on a narrow page; without the latter it is
    hidden there.
    """

    title: str
    sources: tuple[str, ...]
    width: str
    narrow: str
    text: Callable[[Any], str]
    number: bool = False


def _credits(value: Any) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _clip(text: Any, most: int = _MAX_PROMPT) -> str:
    return str(text) if len(str(text)) <= most else f"{str(text)[:most]}…"


COLUMNS = (
    TableColumn("when (UTC)", ("created_at",), "136px", "136px", "{:%Y-%m-%d %H:%M}".format),
    TableColumn("model", ("model_id",), "96px", "minmax(56px,76px)", str),
    TableColumn("status", ("status",), "98px", "98px", str),
    TableColumn("prompt", ("prompt",), "minmax(96px,1fr)", "minmax(56px,1fr)", _clip),
    TableColumn("credits", ("net", "credits"), "88px", "72px", _credits, number=True),
    TableColumn("took", ("seconds",), "72px", "", "{:.1f} s".format, number=True),
)
_DEFAULT_VIEW = TableView()
#: The style of a sentence in place of a thumbnail: three lines fit.
_SENTENCE_STYLE = (
    f"{markup.FAINT};display:block;width:{THUMBNAIL[0]}px;font-size:10px;line-height:1.2;"
    "white-space:normal"
)
#: Tracks before the columns: the checkbox, the thumbnail.
_FIRST_TRACKS = f"30px {THUMBNAIL[0] + 12}px"

#: Width in pixels below which a table is narrow.
_NARROW_WIDTH = 660

STYLE = markup.style_element(__package__, "table.css")


def columns(frame: pd.DataFrame) -> list[tuple[str, TableColumn]]:
    """Return the columns that a frame has data for, each with the name of its source."""
    known = set(frame.columns)
    found = ((next((s for s in c.sources if s in known), ""), c) for c in COLUMNS)
    return [(source, column) for source, column in found if source]


def tracks(shown: Sequence[tuple[str, TableColumn]]) -> str:
    """Return the tracks of the grid of header and rows."""
    return " ".join((_FIRST_TRACKS, *(column.width for _, column in shown)))


def kind(shown: Sequence[tuple[str, TableColumn]]) -> str:
    """Return the CSS class of tables with these columns."""
    return "-".join(("kit-table", *(str(COLUMNS.index(column)) for _, column in shown)))


def sheet(shown: Sequence[tuple[str, TableColumn]]) -> str:
    """Return the style sheet of a table with these columns; a narrow one shows fewer."""
    narrow = " ".join((_FIRST_TRACKS, *(column.narrow for _, column in shown if column.narrow)))
    name = kind(shown)
    return f"""{STYLE}<style>@container (max-width: {_NARROW_WIDTH}px) {{
.{name} .kit-table-head, .{name} .kit-table-row {{ grid-template-columns: {narrow} !important; }}
.{name} .kit-table-spare {{ display: none; }} }}</style>"""


def cells(page: pd.DataFrame, shown: Sequence[tuple[str, TableColumn]]) -> list[list[str]]:
    """Return the texts of a page, row by row; missing values are empty. Nothing is escaped."""
    texts = []
    for source, column in shown:
        values, missing = page[source].tolist(), page[source].isna().tolist()
        pairs = zip(values, missing, strict=True)
        texts.append(["" if is_missing else column.text(value) for value, is_missing in pairs])
    return [list(row) for row in zip(*texts, strict=True)]


def order(source: str, view: TableView) -> str:
    """Return how a view sorts a column: ``ascending``, ``descending``, or empty."""
    if source != view.sort:
        return ""
    return "descending" if view.descending else "ascending"


def live_page(
    page: pd.DataFrame, thumbnails: Mapping[str, bytes | str], view: TableView = _DEFAULT_VIEW
) -> str:
    """Return the HTML of a page while the kernel runs; its headers are for screen readers."""
    shown = columns(page)
    grid = f"grid-template-columns:{tracks(shown)}"
    reasons, rows = _reasons(page), []
    for name, texts in zip(map(str, page.index), cells(page, shown), strict=True):
        small = _picture(thumbnails.get(name) or reasons.get(name))
        inside = "".join(
            f'<span role="cell" class="{" ".join(classes(column))}">'
            f"{_color_cell(source, text)}</span>"
            for (source, column), text in zip(shown, texts, strict=True)
        )
        rows.append(
            f'<div class="kit-table-row" role="row" style="{grid}"><span></span>'
            f'<span role="cell">{small}</span>{inside}</div>'
        )
    plain = replace(view, sort="", descending=False) == _DEFAULT_VIEW
    words = "no generations yet" if plain else "no matching generations"
    empty = f'<div class="kit-table-row" role="row"><span role="cell">{words}</span></div>'
    return (
        '<div class="kit-table-page" role="table" aria-label="generations">'
        f"{_heads(shown, view)}{''.join(rows) or empty}</div>"
    )


def static_page(page: pd.DataFrame, thumbnails: Mapping[str, bytes | str], words: str) -> str:
    """Return the snapshot of a page in a saved notebook: plain HTML."""
    shown = columns(page)
    width, height = THUMBNAIL
    reasons, rows = _reasons(page), []
    for name, texts in zip(map(str, page.index), cells(page, shown), strict=True):
        small = _picture(
            thumbnails.get(name) or reasons.get(name),
            f'height="{height}" style="max-width:{width}px"',
        )
        line = [
            f'<span style="white-space:{"normal" if s == "prompt" else "nowrap"}">'
            f"{_color_cell(s, text)}</span>"
            for (s, _), text in zip(shown, texts, strict=True)
        ]
        rows.append([small, *line])
    body = markup.table(["", *(column.title for _, column in shown)], rows)
    return f'<div style="{markup.FONT};{markup.COLOR}">{body}{markup.faint(words)}</div>'


def _heads(shown: Sequence[tuple[str, TableColumn]], view: TableView) -> str:
    cells = ['<span role="columnheader">picture</span>']
    for source, column in shown:
        sort = order(source, view)
        aria = f' aria-sort="{sort}"' if sort else ""
        cells.append(f'<span role="columnheader"{aria}>{escape(column.title)}</span>')
    return f'<div role="row" class="kit-screen-reader">{"".join(cells)}</div>'


def label(page: pd.DataFrame) -> list[str]:
    """Return the text of each row of a page for screen readers."""
    return [", ".join(filter(None, row)) for row in cells(page, columns(page))]


def _color_cell(source: str, text: str) -> str:
    return markup.status(text) if source == "status" and text else escape(text)


def classes(column: TableColumn) -> list[str]:
    """Return the CSS classes of a column's cells and of its header."""
    spare = [] if column.narrow else ["kit-table-spare"]
    return [*(["kit-number"] if column.number else []), *spare]


def _reasons(page: pd.DataFrame) -> dict[str, str]:
    """Return the errors of failed generations, by id."""
    if "error" not in page:
        return {}
    return {str(name): _clip(error, _MAX_ERROR) for name, error in page["error"].dropna().items()}


def _picture(content: bytes | str | None, style: str = "") -> str:
    """Return a thumbnail, or the sentence in its place."""
    if not content:
        return ""
    if isinstance(content, str):
        return f'<small style="{_SENTENCE_STYLE}">{escape(content)}</small>'
    return f'<img src="{data_address("image/webp", content)}" alt="" {style}>'
