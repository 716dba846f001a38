"""The widgets of the table and how they lie; what they do is said in `kit.widgets.table.table`.

Rows are one piece of HTML. A box lies over each of them, so that a click anywhere in a row chooses
it, and so does the keyboard.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

import ipywidgets as w
import pandas as pd

from kit.widgets import markup
from kit.widgets.accessibility import Accessibility
from kit.widgets.background import BackgroundRunner
from kit.widgets.boxes import OpenedBox
from kit.widgets.snapshots import StaticSnapshot
from kit.widgets.table import drawing, rows
from kit.widgets.table.drawing import TableColumn, classes, kind, sheet, tracks
from kit.widgets.table.rows import TableView

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
    forward: Any
    renew: Any
    words: Any
    clear: Any
    similar: Any
    card: Any
    problem: Any
    style: Any
    reach: Any
    whole: Any


def build(
    shown: Sequence[tuple[str, TableColumn]],
    statuses: Sequence[str],
    models: Sequence[str],
    rows: int,
    snapshot: StaticSnapshot,
    background: BackgroundRunner,
) -> Controls:
    """Return the widgets of a table with `rows` rows a page; `snapshot` is its static one."""
    plain = {"description_width": "initial"}
    text = w.Text(
        _dom_classes=("kit-table-filter",),
        description="search",
        placeholder="search words",
        continuous_update=False,
        tooltip="words of prompts, tags and models, or the beginning of an id; Enter searches",
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
    back, forward = _step("chevron-left", "page before"), _step("chevron-right", "next page")
    number = w.BoundedIntText(
        value=1, min=1, max=1, description="page", style=plain, layout=w.Layout(width="112px")
    )
    words = w.HTML(_dom_classes=("kit-status",))
    clear = w.Button(description="clear selection", layout=w.Layout(width="auto"))
    similar = w.Button(
        description="more like this",
        tooltip="what looks most like the one chosen last",
        layout=w.Layout(width="auto"),
    )
    renew = w.Button(
        icon="refresh",
        tooltip="refresh",
        layout=w.Layout(width="40px", display="none"),
    )
    card, problem, style = OpenedBox(background), w.HTML(), w.HTML(sheet(shown))
    problem.add_class("kit-status")
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
            w.Box([back, number, forward, renew, words, clear, similar], layout=wrap),
            problem,
            card,
            reach := Accessibility(),
            snapshot.style,
        ],
        layout=w.Layout(width="100%", max_width="1100px"),
    )
    reach.belong(whole)
    whole.add_class("kit-table")
    whole.add_class(kind(shown))
    return Controls(
        text, status, model, since, until, heads, page, boxes,
        back, number, forward, renew, words, clear, similar, card, problem, style, reach, whole,
    )  # fmt: skip


def _choice(noun: str, values: Sequence[str]) -> Any:
    return w.Dropdown(
        _dom_classes=("kit-table-filter",),
        options=filter_options(noun, values),
        description=noun,
        tooltip=noun,
        layout=w.Layout(width="auto", min_width="150px", flex="0 1 170px"),
    )


def filter_options(noun: str, values: Sequence[str]) -> list[tuple[str, str]]:
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
        icon=icon, tooltip=tooltip, layout=w.Layout(width="40px"), _dom_classes=("kit-paging",)
    )


_ARROWS = {"": "", "descending": " ▾", "ascending": " ▴"}
#: Fields of a view that have a widget.
FILTERS = ("text", "status", "model", "since", "until")


@dataclass(frozen=True, slots=True)
class TableHandlers:
    """What is called when the user does something.

    Parameters
    ----------
    look_for : callable
        Takes the field of a view and its new value.
    sort : callable
        Takes a column.
    choose : callable
        Takes the number of a row of the page and whether it is chosen.
    turn_to : callable
        Takes the number of a page, from 1.
    step : callable
        Takes how many pages to go on, or back.
    clear : callable
        Takes nothing: no row is to be chosen.
    show_similar : callable
        Takes nothing: more like what was chosen last is to be shown.
    renew : callable
        Takes nothing: the frame is to be asked for anew.
    """

    filter_by: Callable[[str, Any], None]
    sort: Callable[[str], None]
    choose: Callable[[int, bool], None]
    go_to_page: Callable[[int], None]
    step: Callable[[int], None]
    clear: Callable[[], None]
    show_similar: Callable[[], None]
    renew: Callable[[], None]


class Screen:
    """The widgets of one table.

    Parameters
    ----------
    lock : RLock
        Held while a callback works: callbacks arrive on any thread.
    snapshot : StaticSnapshot
        What a saved notebook keeps of the table; it follows what the user does.
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        size: int,
        handlers: TableHandlers,
        lock: threading.RLock,
        background: BackgroundRunner,
    ) -> None:
        self._lock = lock
        self.snapshot = StaticSnapshot(background=background)
        self._updating = False
        self._columns = drawing.columns(frame)
        self.controls: Controls = build(
            self._columns, *_choices(frame), size, self.snapshot, background
        )
        self._connect(handlers)

    def show_choices(self, frame: pd.DataFrame) -> None:
        """Offer what there is in another frame; what is looked for stays, if it is there."""
        with self._without_callbacks():
            for name, values in zip(("status", "model"), _choices(frame), strict=True):
                control, options = getattr(self.controls, name), tuple(filter_options(name, values))
                if control.options != options:  # else a choice that is on its way would be undone
                    control.options = options

    def show_view(self, view: TableView) -> None:
        """Show what is looked for, and by which column it is sorted."""
        with self._without_callbacks():
            for name in FILTERS:
                with suppress(ValueError, KeyError):  # a status that no row has is in no list
                    getattr(self.controls, name).value = getattr(view, name)
            for source, column in self._columns:
                order = drawing.order(source, view)
                head = self.controls.heads[source]
                head.description = f"{column.title}{_ARROWS[order]}"
                head.tooltip = f"sorted, {order}" if order else f"sort by {column.title}"

    def show_place(self, page: int, pages: int) -> None:
        """Show which page of how many is there."""
        made = self.controls
        with self._without_callbacks():
            made.number.max = pages
            made.number.value = page
            made.back.disabled = page <= 1
            made.forward.disabled = page >= pages

    def show_page(self, page: pd.DataFrame, html: str, chosen: Collection[str]) -> None:
        """Show the rows of a page and lay a box over each."""
        names, labels = list(map(str, page.index)), drawing.label(page)
        with self._without_callbacks():
            for number, box in enumerate(self.controls.boxes):
                there = number < len(names)
                with box.hold_sync():
                    box.value = there and names[number] in chosen
                    box.description = labels[number] if there else ""
                    box.layout = SHOWN if there else HIDDEN
            self.controls.page.value = html

    def show_words(self, words: str, view: TableView, *, chosen: bool) -> None:
        """Show how many there are and are chosen, and the order, for screen readers."""
        by = next((c.title for s, c in self._columns if s == view.sort), "")
        order = f", sorted by {by}, {drawing.order(view.sort, view)}" if by else ""
        unseen = f'<span class="kit-screen-reader">{escape(order)}</span>'
        self.controls.words.value = markup.faint(words) + unseen
        for button in (self.controls.clear, self.controls.similar):
            button.layout.visibility = "visible" if chosen else "hidden"

    @contextmanager
    def _without_callbacks(self) -> Iterator[None]:
        before, self._updating = self._updating, True
        try:
            yield
        finally:
            self._updating = before

    def _connect(self, handlers: TableHandlers) -> None:
        made = self.controls
        for name in FILTERS:
            self._changes(getattr(made, name), partial(handlers.filter_by, name))
        for number, box in enumerate(made.boxes):
            self._changes(box, partial(handlers.choose, number))
        self._changes(made.number, handlers.go_to_page)
        for source, head in made.heads.items():
            self._clicks(head, partial(handlers.sort, source))
        self._clicks(made.back, partial(handlers.step, -1))
        self._clicks(made.forward, partial(handlers.step, 1))
        self._clicks(made.clear, handlers.clear)
        self._clicks(made.similar, handlers.show_similar)
        self._clicks(made.renew, handlers.renew)

    def _changes(self, widget: Any, call: Callable[[Any], None]) -> None:
        guarded = self._guarded(call)
        widget.observe(lambda change: guarded(change.new), "value")

    def _clicks(self, button: Any, call: Callable[[], None]) -> None:
        guarded = self._guarded(lambda _: call())
        button.on_click(guarded)

    def _guarded(self, call: Callable[[Any], None]) -> Callable[[Any], None]:
        """Return a callback whose error is seen: Jupyter would put it into a hidden log."""

        def callback(event: Any) -> None:
            with self._lock:
                if self._updating:
                    return
                try:
                    call(event)
                    problem = ""
                except Exception as error:  # noqa: BLE001 - see above
                    problem = markup.warning(f"{type(error).__name__}: {error}")
                self.controls.problem.value = problem
            self.snapshot.follow()

        return callback


def _choices(frame: pd.DataFrame) -> tuple[list[str], list[str]]:
    return rows.choices(frame, "status"), rows.choices(frame, "model_id")
