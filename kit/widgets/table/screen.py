"""The screen: puts what the table shows into its widgets, and hears what they are told.

What the screen sets in a widget comes back as a change; `quiet` is up meanwhile, so that it is not
taken for a wish.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

import pandas as pd

from kit.widgets import cards
from kit.widgets.form.service import BackgroundRunner
from kit.widgets.snapshots import StaticSnapshot
from kit.widgets.table import drawing, rows
from kit.widgets.table.controls import HIDDEN, SHOWN, Controls, any_of, build
from kit.widgets.table.rows import TableView

_ARROWS = {"": "", "descending": " ▾", "ascending": " ▴"}
#: Fields of a view that have a widget.
FILTERS = ("text", "status", "model", "since", "until")


@dataclass(frozen=True, slots=True)
class Hears:
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
    renew : callable
        Takes nothing: the frame is to be asked for anew.
    """

    look_for: Callable[[str, Any], None]
    sort: Callable[[str], None]
    choose: Callable[[int, bool], None]
    turn_to: Callable[[int], None]
    step: Callable[[int], None]
    clear: Callable[[], None]
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
        hears: Hears,
        lock: threading.RLock,
        background: BackgroundRunner,
    ) -> None:
        self._lock = lock
        self.snapshot = StaticSnapshot(background=background)
        self._quiet = False
        self._columns = drawing.columns(frame)
        self.controls: Controls = build(self._columns, *_choices(frame), size, self.snapshot.style)
        self._listen(hears)

    def show_choices(self, frame: pd.DataFrame) -> None:
        """Offer what there is in another frame; what is looked for stays, if it is there."""
        with self._quietly():
            for name, values in zip(("status", "model"), _choices(frame), strict=True):
                control, options = getattr(self.controls, name), tuple(any_of(name, values))
                if control.options != options:  # else a choice that is on its way would be undone
                    control.options = options

    def show_view(self, view: TableView) -> None:
        """Show what is looked for, and by which column it is sorted."""
        with self._quietly():
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
        with self._quietly():
            made.number.max = pages
            made.number.value = page
            made.back.disabled = page <= 1
            made.forth.disabled = page >= pages

    def show_page(self, page: pd.DataFrame, html: str, chosen: Collection[str]) -> None:
        """Show the rows of a page and lay a box over each."""
        names, labels = list(map(str, page.index)), drawing.label(page)
        with self._quietly():
            for number, box in enumerate(self.controls.boxes):
                there = number < len(names)
                with box.hold_sync():
                    box.value = there and names[number] in chosen
                    box.description = labels[number] if there else ""
                    box.layout = SHOWN if there else HIDDEN
            self.controls.page.value = html

    def show_words(self, words: str, view: TableView, *, chosen: bool) -> None:
        """Show how many there are and are chosen, and tell the order that arrows only show."""
        by = next((c.title for s, c in self._columns if s == view.sort), "")
        order = f", sorted by {by}, {drawing.order(view.sort, view)}" if by else ""
        unseen = f'<span class="kit-unseen">{escape(order)}</span>'
        self.controls.words.value = cards.faint(words) + unseen
        self.controls.clear.layout.visibility = "visible" if chosen else "hidden"

    @contextmanager
    def _quietly(self) -> Iterator[None]:
        before, self._quiet = self._quiet, True
        try:
            yield
        finally:
            self._quiet = before

    def _listen(self, hears: Hears) -> None:
        made = self.controls
        for name in FILTERS:
            self._changes(getattr(made, name), partial(hears.look_for, name))
        for number, box in enumerate(made.boxes):
            self._changes(box, partial(hears.choose, number))
        self._changes(made.number, hears.turn_to)
        for source, head in made.heads.items():
            self._clicks(head, partial(hears.sort, source))
        self._clicks(made.back, partial(hears.step, -1))
        self._clicks(made.forth, partial(hears.step, 1))
        self._clicks(made.clear, hears.clear)
        self._clicks(made.renew, hears.renew)

    def _changes(self, widget: Any, call: Callable[[Any], None]) -> None:
        guarded = self._guarded(call)
        widget.observe(lambda change: guarded(change.new), "value")

    def _clicks(self, button: Any, call: Callable[[], None]) -> None:
        guarded = self._guarded(lambda _: call())
        button.on_click(guarded)

    def _guarded(self, call: Callable[[Any], None]) -> Callable[[Any], None]:
        """Return a callback whose error is seen: Jupyter would put it where nobody looks."""

        def callback(event: Any) -> None:
            with self._lock:
                if self._quiet:
                    return
                try:
                    call(event)
                    problem = ""
                except Exception as error:  # noqa: BLE001 - see above
                    problem = cards.warning(f"{type(error).__name__}: {error}")
                self.controls.problem.value = problem
            self.snapshot.follow()

        return callback


def _choices(frame: pd.DataFrame) -> tuple[list[str], list[str]]:
    return rows.choices(frame, "status"), rows.choices(frame, "model_id")
