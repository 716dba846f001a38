"""The widgets of the table and their layout; `kit.widgets.table` implements their actions.

All rows are one piece of HTML. An invisible checkbox covers each row, so that a row is selected by
a click anywhere in it, and by keyboard.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import ipywidgets as w
import pandas as pd

from kit.widgets import markup
from kit.widgets.background import BackgroundRunner, guard
from kit.widgets.boxes import OpenedBox
from kit.widgets.snapshots import SnapshotBox
from kit.widgets.table import drawing, rows
from kit.widgets.table.drawing import classes, kind, sheet, tracks
from kit.widgets.table.rows import TableView

_STYLE = {"description_width": "initial"}
_ARROWS = {"": "", "descending": " ▾", "ascending": " ▴"}
#: Fields of a view with a widget, those of them with a dropdown, and the columns of these.
FILTERS = ("text", "status", "model", "since", "until")
CHOICES = {"status": "status", "model": "model_id"}


class TableControls(SnapshotBox):
    """The widgets of one table.

    `actions`: the callbacks for user actions: ``filter_by(field of a view, value)``,
    ``sort(column)``, ``choose(row of the page, whether)``, ``go_to_page(number)``,
    ``step(pages)``, ``clear()``, ``show_similar()``, ``renew()``.
    `html`: returns the snapshot of the table.
    `lock`: held during callbacks, which arrive on any thread.
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        size: int,
        actions: Mapping[str, Callable[..., None]],
        html: Callable[[], str],
        lock: threading.RLock,
        background: BackgroundRunner,
    ) -> None:
        self._lock = lock
        self._render_snapshot = html
        self._updating = False
        self._columns = drawing.columns(frame)
        filters = self._build_filters(frame)
        body = self._build_body(size)
        paging = self._build_paging()
        self.problem = w.HTML(_dom_classes=("kit-status",))
        self.card = OpenedBox(background)
        wrap = w.Layout(flex_flow="row wrap", align_items="center", width="100%")
        bars = (w.Box(filters, layout=wrap), body, w.Box(paging, layout=wrap))
        super().__init__((*bars, self.problem, self.card), "kit-table", background)
        self.layout.width, self.layout.max_width = "100%", "1100px"
        self.add_class(kind(self._columns))
        self._connect(actions)

    def _html(self) -> str:
        return self._render_snapshot()

    def _build_filters(self, frame: pd.DataFrame) -> list[Any]:
        self.text = w.Text(
            _dom_classes=("kit-table-filter",),
            description="search",
            placeholder="search words, then Enter",
            continuous_update=False,
            tooltip="words of prompts, tags and models, or the beginning of an id; Enter searches",
            layout=w.Layout(width="auto", min_width="160px", flex="1 1 180px"),
        )
        self.status, self.model = (
            w.Dropdown(
                _dom_classes=("kit-table-filter",),
                options=_options(noun, rows.choices(frame, column)),
                description=noun,
                tooltip=noun,
                layout=w.Layout(width="auto", min_width="150px", flex="0 1 170px"),
            )
            for noun, column in CHOICES.items()
        )
        day = w.Layout(width="auto", flex="0 1 180px")
        self.since, self.until = (
            w.DatePicker(description=word, tooltip=f"{end} day, UTC", style=_STYLE, layout=day)
            for word, end in (("from", "first"), ("to", "last"))
        )
        return [self.text, self.status, self.model, self.since, self.until]

    def _build_body(self, size: int) -> Any:
        self.heads = {
            source: w.Button(
                description=column.title,
                tooltip=f"sort by {column.title}",
                _dom_classes=tuple(classes(column)),
            )
            for source, column in self._columns
        }
        same_cell = w.Layout(grid_area="1 / 1 / 2 / 2", width="100%", margin="0")
        self.page, self.sheet = w.HTML(layout=same_cell), w.HTML(sheet(self._columns))
        self._shown = w.Layout(width="100%", margin="0")
        self.boxes = [
            w.Checkbox(indent=False, layout=self._shown, _dom_classes=("kit-table-box",))
            for _ in range(size)
        ]
        over = w.VBox(self.boxes, layout=same_cell, _dom_classes=("kit-table-over",))
        head = w.GridBox(
            [self.sheet, w.HTML(), *self.heads.values()],
            layout=w.Layout(grid_template_columns=tracks(self._columns), width="100%"),
            _dom_classes=("kit-table-head",),
        )
        whole = w.Layout(grid_template_columns="100%", width="100%")
        grid = w.GridBox([self.page, over], layout=whole)
        wide = w.Layout(width="100%")
        return w.VBox([head, grid], layout=wide, _dom_classes=("kit-table-wide",))

    def _build_paging(self) -> list[Any]:
        self.back, self.forward = (
            w.Button(
                icon=icon,
                tooltip=tooltip,
                layout=w.Layout(width="40px"),
                _dom_classes=("kit-paging",),
            )
            for icon, tooltip in (("chevron-left", "page before"), ("chevron-right", "next page"))
        )
        narrow, auto = w.Layout(width="112px"), {"width": "auto"}
        self.number = w.BoundedIntText(
            value=1, min=1, max=1, description="page", style=_STYLE, layout=narrow
        )
        self.words = w.HTML()
        self.clear = w.Button(description="clear selection", layout=auto)
        self.similar = w.Button(
            description="more like this",
            tooltip="pictures similar to the selected one",
            layout=auto,
        )
        hidden = w.Layout(width="40px", display="none")
        self.renew = w.Button(icon="refresh", tooltip="refresh", layout=hidden)
        row = [self.back, self.number, self.forward, self.renew]
        return [*row, self.words, self.clear, self.similar]

    def show_choices(self, frame: pd.DataFrame) -> None:
        """Update the options from another frame; selected ones are kept if they still exist."""
        with self._without_callbacks():
            for noun, column in CHOICES.items():
                control, options = getattr(self, noun), _options(noun, rows.choices(frame, column))
                if control.options != options:  # else a new choice would be reset
                    control.options = options

    def show_view(self, view: TableView, page: int, pages: int) -> None:
        """Show the filters, the sorted column, the page number and the number of pages."""
        with self._without_callbacks():
            for name in FILTERS:
                with suppress(ValueError, KeyError):  # a status that no row has is no option
                    getattr(self, name).value = getattr(view, name)
            for source, column in self._columns:
                order, head = drawing.order(source, view), self.heads[source]
                head.description = f"{column.title}{_ARROWS[order]}"
                head.tooltip = f"sorted, {order}" if order else f"sort by {column.title}"
            self.number.max = pages
            self.number.value = page
            self.back.disabled = page <= 1
            self.forward.disabled = page >= pages

    def show_page(self, page: pd.DataFrame, html: str, chosen: Collection[str]) -> None:
        """Show the rows of a page, each covered by a checkbox."""
        names, labels = list(map(str, page.index)), drawing.label(page)
        with self._without_callbacks():
            for number, box in enumerate(self.boxes):
                is_used = number < len(names)
                with box.hold_sync():
                    box.value = is_used and names[number] in chosen
                    box.description = labels[number] if is_used else ""
                    box.layout = self._shown if is_used else self.snapshot.style.layout  # hidden
            self.page.value = html

    def show_words(self, words: str, view: TableView, chosen: Any, *, say: bool) -> None:
        """Show the numbers of rows and selected ones, and tell screen readers also the order."""
        by = next((c.title for s, c in self._columns if s == view.sort), "")
        order = f", sorted by {by}, {drawing.order(view.sort, view)}" if by else ""
        self.words.value = markup.faint(words)
        if say:
            self._script.send({"say": words + order})
        for button in (self.clear, self.similar):
            button.layout.visibility = "visible" if chosen else "hidden"

    def show_problem(self, sentence: str) -> None:
        """Show an error, or remove it."""
        self.problem.value = markup.warning(sentence) if sentence else ""

    @contextmanager
    def _without_callbacks(self) -> Iterator[None]:
        before, self._updating = self._updating, True
        try:
            yield
        finally:
            self._updating = before

    def _connect(self, actions: Mapping[str, Callable[..., None]]) -> None:
        changes: dict[Any, Callable[..., None]] = {
            **{getattr(self, name): partial(actions["filter_by"], name) for name in FILTERS},
            **{box: partial(actions["choose"], number) for number, box in enumerate(self.boxes)},
            self.number: actions["go_to_page"],
        }
        clicks: dict[Any, Callable[..., None]] = {
            **{head: partial(actions["sort"], source) for source, head in self.heads.items()},
            self.back: partial(actions["step"], -1),
            self.forward: partial(actions["step"], 1),
            self.clear: actions["clear"],
            self.similar: actions["show_similar"],
            self.renew: actions["renew"],
        }
        for widget, act in changes.items():
            widget.observe(lambda change, act=act: self._run(partial(act, change.new)), "value")
        for button, act in clicks.items():
            button.on_click(partial(self._run, act))

    def _run(self, act: Callable[[], None], _: Any = None) -> None:
        with self._lock:
            if self._updating:
                return
            self.show_problem("")
            guard(act, self.show_problem)()
        self.snapshot.follow()


def _options(noun: str, values: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the options of a filter: any, or one of these values."""
    return ((f"any {noun}", ""), *((value, value) for value in values))
