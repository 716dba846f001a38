"""The comparison: generations side by side, differences highlighted, equal parameters folded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from html import escape
from pathlib import Path
from typing import Any

from kit import wire
from kit.widgets import markup, media, preview
from kit.widgets.gallery import GalleryItem, draw_items, mark, show_items

#: Maximum bytes of all pictures together.
MAX_TOTAL_BYTES = 300_000
#: Minimum width of a column in pixels; a wider table is scrolled.
_MIN_SIDE = 90
_PICTURE_STYLE = "display:block;width:100%;height:auto;border-radius:4px"
_DIFFERENT_STYLE = (
    "border-left:3px solid var(--jp-warn-color1,#f57c00);padding-left:6px;font-weight:600;"
    "overflow-wrap:anywhere"
)
#: No striped background behind pictures.
_PLAIN_STYLE = ";background:var(--jp-layout-color0,transparent)"
_NAME_STYLE = f"{markup.CELL};{markup.FAINT};width:110px;overflow-wrap:anywhere"
_MISSING = "—"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a comparison: a name, and the value of each generation."""

    name: str
    values: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether the values differ."""
        return len(set(self.values)) > 1


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Comparison:
    """Generations side by side; differences are relative to the first.

    `items`: at least two.
    """

    items: Sequence[GalleryItem]
    size: int = 320
    folder: Path | None = None

    def __repr__(self) -> str:
        differing = [row.name for row in self.rows() if row.differs]
        words = f"differ in {', '.join(differing)}" if differing else "no differences"
        return f"<Comparison of {len(self.items)} generations · {words}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.html()}

    def _ipython_display_(self) -> None:
        show_items(self, self.items)

    def rows(self) -> list[Row]:
        """Return the rows: model, prompt, and each parameter that any of them has."""
        facts = [item.facts for item in self.items]
        rows = [Row(name, tuple(map(get, facts))) for name, get in _INPUTS.items()]
        names = dict.fromkeys(name for e in self.items for name in e.settings())
        for name in names:
            values = [e.settings().get(name) for e in self.items]
            rows.append(Row(name, tuple(_MISSING if v is None else str(v) for v in values)))
        return rows

    def html(self) -> str:
        """Return the comparison as HTML of at most about 1 MB."""
        count = len(self.items)
        limit = min(media.IMAGE_LIMIT, MAX_TOTAL_BYTES // max(count, 1))
        fit = media.Fit(
            limit=limit,
            poster=min(limit, media.POSTER_LIMIT),
            width=max(self.size, 480),
            style=_PICTURE_STYLE,
        )
        shown = draw_items(self.items, fit, whole=True, folder=self.folder)
        marks = map(mark, self.items, range(count))
        rows, prices = self.rows(), [item.cost for item in self.items]
        style = f"{markup.CELL};font-weight:normal{_PLAIN_STYLE}"
        heads = (
            f'<th scope="col" style="{style}">{p}{m}</th>'
            for p, m in zip(shown, marks, strict=True)
        )
        lines = [
            f'<tr><td style="{_NAME_STYLE}{_PLAIN_STYLE}"></td>{"".join(heads)}</tr>',
            *(_line(row.name, map(escape, row.values), mark=True) for row in rows if row.differs),
            _line("credits", [_price(price, prices[0], n) for n, price in enumerate(prices)]),
            *(_line(n, [escape(get(e.facts)) for e in self.items]) for n, get in _RESULTS.items()),
        ]
        equal = [row for row in rows if not row.differs]
        width, least = (110 + side * count for side in (self.size + 12, _MIN_SIDE))
        style = (
            f"{markup.FONT};color:inherit;table-layout:fixed;width:{width}px;max-width:100%;"
            f"min-width:{least}px"
        )
        table = f'<table style="{style}">{"".join(lines)}</table>'
        return (
            f'<div style="{markup.FONT};{markup.COLOR}"><div style="overflow-x:auto">{table}</div>'
            f"{_equal_rows(equal)}</div>"
        )


def _line(name: str, cells: Any, *, mark: bool = False) -> str:
    style = _DIFFERENT_STYLE if mark else ""
    inside = "".join(
        f'<td style="{markup.CELL}"><div style="{style}">{markup.set_direction(cell)}</div></td>'
        for cell in cells
    )
    head = f"{'≠ ' if mark else ''}{name}"
    return f'<tr><th scope="row" style="{_NAME_STYLE}">{escape(head)}</th>{inside}</tr>'


def _equal_rows(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    table = markup.facts({row.name: row.values[0] for row in rows})
    names = ", ".join(row.name for row in rows)
    return (
        f'<details><summary style="cursor:pointer;{markup.FAINT}">the same: {escape(names)}'
        f"</summary>{table}</details>"
    )


def _price(price: Decimal | None, first: Decimal | None, number: int) -> str:
    text = markup.figure(price) if price is not None else _MISSING
    if not number or price is None or first is None or price == first:
        return escape(text)
    return f"{escape(text)} <b>({escape(markup.signed_amount(price - first))})</b>"


def _seconds(facts: wire.Generation) -> str:
    if not (facts.completed_at and facts.created_at):
        return _MISSING
    return f"{(facts.completed_at - facts.created_at).total_seconds():.1f} s"


def _shape(facts: wire.Generation) -> str:
    output = facts.output or wire.Output()
    size = markup.size(output.size_bytes) if output.size_bytes else ""
    return " · ".join(filter(None, (*preview.measures(output), size))) or _MISSING


#: Rows of the request other than parameters.
_INPUTS: dict[str, Callable[[wire.Generation], str]] = {
    "model": lambda g: g.model_id or g.model_name or _MISSING,
    "prompt": lambda g: g.prompt or _MISSING,
}
#: Rows of the result.
_RESULTS: dict[str, Callable[[wire.Generation], str]] = {
    "took": _seconds,
    "output": _shape,
    "state": lambda g: g.state,
}
