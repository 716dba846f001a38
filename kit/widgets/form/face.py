"""The frame of a form: heading, fields, the bar with price and buttons, panels, results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import ipywidgets

from kit.parameters import Request
from kit.widgets.cards import card, facts, faint
from kit.widgets.form import markup, price, values
from kit.widgets.form.access import Access
from kit.widgets.form.field import Field
from kit.widgets.form.runs import MOST
from kit.widgets.form.service import BackgroundRunner
from kit.widgets.form.stock import Stock
from kit.widgets.pile import Pile
from kit.widgets.snapshots import StaticSnapshot, rerun_line
from kit.wire import Model, Quote

#: Seconds that the button rests after a click: another one is the second half of a double click.
DOUBLE = 0.5
#: Seconds until what was told at a field has been read.
READ = 1.5
_ICONS = {"Reset": "undo", "Code": "code", "Presets": "bookmark"}


class FormFace:
    """What a form shows around and below its fields.

    Parameters
    ----------
    generate : callable
        Called when the button is clicked.
    tools : mapping of str to callable
        The other buttons, by their words.
    changed : callable
        Called with all parts, top to bottom, whenever there are other ones.
    """

    def __init__(
        self,
        model: Model,
        fields: Sequence[Field],
        stock: Stock,
        *,
        generate: Callable[[], None],
        tools: Mapping[str, Callable[[], None]],
        changed: Callable[[list[Any]], None],
        background: BackgroundRunner,
    ) -> None:
        self._changed = changed
        self._model = model
        self.snapshot = StaticSnapshot(stock.new(ipywidgets.HTML))
        self._fields = fields
        self.price = stock.new(ipywidgets.HTML, _dom_classes=("kit-price",))
        self.go = stock.new(
            ipywidgets.Button,
            description="Generate",
            button_style="primary",
            _dom_classes=("kit-once",),
        )
        self._background = background
        self._pressed = -DOUBLE
        self._told = -READ
        self.go.on_click(lambda _: self._clicked(generate))
        self._panels: dict[str, Any] = {}
        self._new = stock.new
        self._below: tuple[Any, ...] = ()
        cells = [cell for one in fields for cell in (one.widget, one.note)]
        buttons = [_tool(stock, word, act) for word, act in tools.items()]
        self.access = stock.new(Access, typed=self._typed)
        bar = (self.go, self.price, *buttons, self.snapshot.style, self.access)
        self._frame = [
            stock.new(ipywidgets.HTML, value=markup.heading(model)),
            stock.new(ipywidgets.VBox, children=cells, _dom_classes=("kit-fields",)),
            stock.new(ipywidgets.HBox, children=bar, _dom_classes=("kit-bar",)),
        ]

    def ready(self) -> None:
        """Let the button be clicked again, as soon as the second half of a double click is over."""
        left = self._pressed + DOUBLE - self._background.clock()
        if left > 0:
            self._background.after(left, self._wake)
        else:
            self._wake()

    def _wake(self) -> None:
        self.go.disabled = False

    def _clicked(self, generate: Callable[[], None]) -> None:
        if self.go.disabled:
            return  # it was sent before the page knew that the button rests
        self._pressed = self._background.clock()
        self.go.disabled = True
        generate()

    def _typed(self, number: int, text: str, used: str) -> None:
        """Tell at a field that something else is used than was typed."""
        if not self._fields[number].heed(text, float(used.replace("−", "-"))):
            self._told = self._background.clock()

    def unread(self) -> bool:
        """Whether there was no time yet to read that a number was made to fit."""
        return self._background.clock() - self._told < READ

    @property
    def parts(self) -> list[Any]:
        """Everything that is shown, top to bottom."""
        return [*self._frame, *self._below]

    def panel(self, name: str) -> Any:
        """Return a panel that is open, or None."""
        return self._panels.get(name)

    def toggle(self, name: str, make: Callable[[], Any]) -> None:
        """Open a panel below the bar, or close it."""
        if self._panels.pop(name, None) is None:
            self._panels[name] = make()
        panels, _ = self._room()
        panels.children = tuple(self._panels.values())

    def result(self, widget: Any) -> None:
        """Show a result above the others."""
        _, results = self._room()
        results.put(widget)

    def _room(self) -> tuple[Any, Any]:
        """Return where panels and results are; neither is drawn anew for the other."""
        if not self._below:
            box = partial(self._new, ipywidgets.VBox)
            results = self._new(Pile, most=MOST, box=box)
            self._below = box(_dom_classes=results._dom_classes), results
            self._changed(self.parts)
        return self._below

    def say_price(self, html: str) -> None:
        """Show the price, or what else has to be said beside the button."""
        if self.price.value != html:
            self.price.value = html
        if any(one.touched for one in self._fields):
            self.snapshot.follow()  # what Python sets is in the cell already, what is typed is not

    def kept(self, request: Request, quote: Quote | None, back: str) -> str:
        """Return the form as a notebook keeps it: its values, and the code to get it back."""
        rows = facts({name: str(value) for name, value in values.rows(request)})
        html = card(self._model.title or self._model.id, rows + faint(price.text(quote)))
        return html + rerun_line(back)


def _tool(stock: Stock, word: str, act: Callable[[], None]) -> Any:
    button = stock.new(ipywidgets.Button, description=word, icon=_ICONS.get(word, ""))
    button.on_click(lambda _: act())
    return button
