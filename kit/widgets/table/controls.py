"""The widgets of the table and how they lie; what they do is said in `kit.widgets.table.face`.

Rows are one piece of HTML. A box lies over each of them, so that a click anywhere in a row chooses
it, and so does the keyboard.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ipywidgets as w

from kit.widgets.reach import Reach
from kit.widgets.table.drawing import TableColumn, classes, kind, sheet, tracks

SHOWN = w.Layout(width="100%", margin="0")
HIDDEN = w.Layout(display="none")
_SAME_PLACE = "1 / 1 / 2 / 2"


@dataclass(frozen=True, slots=True)
class Controls:
    """Every widget that says something or is asked something."""

    text: Any
    status: Any
    model: Any
    since: Any
    until: Any
    heads: dict[str, Any]
    page: Any
    boxes: list[Any]
    back: Any
    number: Any
    forth: Any
    renew: Any
    words: Any
    clear: Any
    preview: Any
    problem: Any
    style: Any
    whole: Any


def build(
    shown: Sequence[tuple[str, TableColumn]],
    statuses: Sequence[str],
    models: Sequence[str],
    rows: int,
    snapshot: Any,
) -> Controls:
    """Return the widgets of a table with `rows` rows a page; `snapshot` hides the static one."""
    plain = {"description_width": "initial"}
    text = w.Text(
        _dom_classes=("kit-table-filter",),
        description="search prompts",
        placeholder="search prompts",
        continuous_update=False,
        tooltip="part of a prompt, or the beginning of an id; Enter searches",
        layout=w.Layout(width="auto", min_width="160px", flex="1 1 180px"),
    )
    status, model = (_choice(n, v) for n, v in (("status", statuses), ("model", models)))
    day = w.Layout(width="auto", flex="0 1 180px")
    since, until = (
        w.DatePicker(description=word, tooltip=f"{end} day, UTC", style=plain, layout=day)
        for word, end in (("from", "first"), ("to", "last"))
    )
    heads = {source: _head(column) for source, column in shown}
    page = w.HTML(layout=w.Layout(grid_area=_SAME_PLACE, width="100%", margin="0"))
    boxes = [_box() for _ in range(rows)]
    over = w.VBox(boxes, layout=w.Layout(grid_area=_SAME_PLACE, width="100%", margin="0"))
    over.add_class("kit-table-over")
    back, forth = _step("chevron-left", "page before"), _step("chevron-right", "next page")
    number = w.BoundedIntText(
        value=1, min=1, max=1, description="page", style=plain, layout=w.Layout(width="112px")
    )
    words = w.HTML(_dom_classes=("kit-said",))
    clear = w.Button(description="choose none", layout=w.Layout(width="auto"))
    renew = w.Button(
        icon="refresh",
        tooltip="look again",
        layout=w.Layout(width="40px", display="none"),
    )
    preview, problem, style = w.HTML(), w.HTML(), w.HTML(sheet(shown))
    problem.add_class("kit-said")
    head = w.GridBox(
        [style, w.HTML(), *heads.values()],
        layout=w.Layout(grid_template_columns=tracks(shown), width="100%"),
    )
    head.add_class("kit-table-head")
    grid = w.GridBox([page, over], layout=w.Layout(grid_template_columns="100%", width="100%"))
    body = w.VBox([head, grid], layout=w.Layout(width="100%"))
    body.add_class("kit-table-wide")
    wrap = w.Layout(flex_flow="row wrap", align_items="center", width="100%")
    whole = w.VBox(
        [
            w.Box([text, status, model, since, until], layout=wrap),
            body,
            w.Box([back, number, forth, renew, words, clear], layout=wrap),
            problem,
            preview,
            reach := Reach(),
            snapshot,
        ],
        layout=w.Layout(width="100%", max_width="1100px"),
    )
    reach.belong(whole)
    whole.add_class("kit-table")
    whole.add_class(kind(shown))
    return Controls(
        text, status, model, since, until, heads, page, boxes,
        back, number, forth, renew, words, clear, preview, problem, style, whole,
    )  # fmt: skip


def _choice(noun: str, values: Sequence[str]) -> Any:
    return w.Dropdown(
        _dom_classes=("kit-table-filter",),
        options=any_of(noun, values),
        description=noun,
        tooltip=noun,
        layout=w.Layout(width="auto", min_width="150px", flex="0 1 170px"),
    )


def any_of(noun: str, values: Sequence[str]) -> list[tuple[str, str]]:
    """Return the options of a filter: any, or one of these values."""
    return [(f"any {noun}", ""), *((value, value) for value in values)]


def _head(column: TableColumn) -> Any:
    button = w.Button(description=column.title, tooltip=f"sort by {column.title}")
    for name in classes(column):
        button.add_class(name)
    return button


def _box() -> Any:
    box = w.Checkbox(indent=False, layout=SHOWN)
    box.add_class("kit-table-box")
    return box


def _step(icon: str, tooltip: str) -> Any:
    return w.Button(
        icon=icon, tooltip=tooltip, layout=w.Layout(width="40px"), _dom_classes=("kit-step",)
    )
