"""A result with its actions: enlarge, download, generate again, use as input, edit.

Results drawn as static HTML have buttons that open them as long as their kernel runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import ipywidgets
import traitlets

from kit import wire
from kit.endings import guess_type
from kit.widgets import markup, snapshots
from kit.widgets.accessibility import Accessibility, PageScript, script
from kit.widgets.background import BackgroundRunner, guard
from kit.widgets.boxes import OpenedBox, close_with_styles

_DEFAULT = "Use as input for …"


class ResultService(Protocol):
    """The service as results use it; all calls may block, so they are made in the background."""

    def fetch_output(self, facts: wire.Generation) -> Path:
        """Return the file of a generation, unchanged."""

    def accepting_models(self, facts: wire.Generation) -> Sequence[wire.Model]:
        """Return the models that accept an output as an input."""

    def open_form(self, facts: wire.Generation, model_id: str | None = None) -> Any:
        """Return the form of a generation's request, or of a model with its output as an input."""


class FileReceiver(PageScript):
    """Saves or enlarges received files in the page; it is invisible."""

    _anywidget_id = traitlets.Unicode("kit.widgets.FileReceiver").tag(sync=True)
    _esm = script(__package__, "elements.js", "result.js")


class ResultCard(ipywidgets.VBox):
    """A result with its facts and a row of buttons.

    `edit`: called to load the request into the surrounding form; otherwise a form is opened below.
    `repeat`: called to generate another result with another seed.
    """

    def __init__(
        self,
        shown: Any,
        facts: wire.Generation,
        service: ResultService,
        *,
        background: BackgroundRunner,
        edit: Callable[[], None] | None = None,
        repeat: Callable[[], None] | None = None,
        new: Callable[..., Any] = lambda kind, **traits: kind(**traits),
    ) -> None:
        self._facts = facts
        self._service = service
        self._background = background
        self._new = new
        self._message = new(ipywidgets.HTML, _dom_classes=("kit-status",))
        self._page = new(FileReceiver)
        self._models = new(ipywidgets.Dropdown, options=[(_DEFAULT, "")], description=_DEFAULT)
        self._opened = new(OpenedBox, background=background)
        open_form = partial(self._open, None)
        has_file = facts.state == "completed"
        enlarge, download = partial(self._transfer, "enlarge"), partial(self._transfer, "download")
        buttons = [
            ("Enlarge", "expand", enlarge if has_file else None),
            ("Download", "download", download if has_file else None),
            ("New seed", "random", repeat),
            ("Reuse settings" if edit else "Open in a form", "pencil", edit or open_form),
        ]
        row = [self._button(word, icon, act) for word, icon, act in buttons if act is not None]
        row += [self._models, self._message, self._page]
        line = new(ipywidgets.HTML, value=markup.faint(describe(facts)))
        bar = new(ipywidgets.HBox, children=row, _dom_classes=("kit-bar", "kit-actions"))
        super().__init__(
            children=(shown, line, bar, self._opened),
            layout=shown.layout,
            _dom_classes=("kit-result",),
        )
        self._models.observe(self._model_chosen, "value")
        if has_file:
            background.begin(self._guard(self._find_models))
        else:
            self._models.add_class("kit-hidden")

    def __repr__(self) -> str:
        return f"<ResultCard {self._facts.id}>"

    def _button(self, word: str, icon: str, act: Callable[[], None]) -> Any:
        button = self._new(
            ipywidgets.Button, description=word, icon=icon, _dom_classes=("kit-click-once",)
        )
        button.on_click(lambda _: self._guard(act)())
        return button

    def _transfer(self, action: str) -> None:
        def work() -> None:
            path = self._service.fetch_output(self._facts)
            kind = guess_type(path.name) or "application/octet-stream"
            name = f"{self._facts.model_id or 'result'}-{self._facts.id}{path.suffix}"
            title = self._facts.prompt or name
            message = {"action": action, "name": name, "type": kind, "title": title}
            self._page.send(message, [path.read_bytes()])

        self._background.begin(self._guard(work))

    def _find_models(self) -> None:
        models = self._service.accepting_models(self._facts)
        self._models.options = [(_DEFAULT, ""), *((m.title or m.id, m.id) for m in models)]
        if not models:
            self._models.add_class("kit-hidden")

    def _model_chosen(self, change: Any) -> None:
        if change.new:
            self._open(change.new)
            self._models.value = ""

    def _open(self, model_id: str | None) -> None:
        self._opened.fill(lambda: self._service.open_form(self._facts, model_id))

    def _guard(self, act: Callable[[], None]) -> Callable[[], None]:
        def call() -> None:
            self._show_problem("")
            act()

        return guard(call, self._show_problem)

    def _show_problem(self, sentence: str) -> None:
        self._message.value = markup.problem(sentence)


def show_result(html: str, facts: wire.Generation, service: ResultService) -> ResultCard:
    """Return the card of a result drawn as HTML, outside of the form that created it."""
    return ResultCard(ipywidgets.HTML(html), facts, service, background=BackgroundRunner())


def describe(facts: wire.Generation) -> str:
    """Return seed, duration, time and id of a generation, as far as known."""
    seed = (facts.parameters or {}).get("seed")
    started, ended = facts.started_at or facts.created_at, facts.completed_at
    words = [
        "" if seed is None else f"seed {seed}",
        f"{(ended - started).total_seconds():.1f} s" if started and ended else "",
        f"{facts.created_at:%Y-%m-%d %H:%M} UTC" if facts.created_at else "",
        facts.id,
    ]
    return " · ".join(filter(None, words))


class OpenButtons(PageScript):
    """Adds buttons to the HTML above it in the page; it is invisible."""

    _anywidget_id = traitlets.Unicode("kit.widgets.OpenButtons").tag(sync=True)
    _esm = script(__package__, "elements.js", "kernel.js", "open_buttons.js")
    #: The CSS class of that HTML.
    place = traitlets.Unicode().tag(sync=True)


class ResultOpener(ipywidgets.VBox):
    """The card of the result whose button was clicked, below the HTML with the buttons."""

    def __init__(
        self, place: str, card: Callable[[int], Any], *, background: BackgroundRunner | None = None
    ) -> None:
        self._card = card
        self._opened = OpenedBox(background or BackgroundRunner())
        buttons = OpenButtons(place=place)
        buttons.on_msg(self._receive)
        style = ipywidgets.HTML(markup.style_element(__package__, "shared.css"))
        parts = (self._opened, style, buttons, accessibility := Accessibility())
        super().__init__(children=parts, _dom_classes=("kit-opener",))
        accessibility.box = self.model_id

    def __repr__(self) -> str:
        return "<ResultOpener>"

    def _receive(self, _: Any, message: Any, __: Any) -> None:
        match message:
            case {"open": int(number)}:
                self._opened.fill(partial(self._card, number))
            case {"open": None}:
                self._opened.fill(None)


def show_openable(html: str, text: str, card: Callable[[int], Any]) -> None:
    """Show static HTML in a notebook, and below it the widget that opens its results.

    `html`: has an empty element with a result's number as ``data-kit-result`` in place of each
    button.
    """
    place = snapshots.name(html)
    snapshots.publish({"text/plain": text, "text/html": snapshots.render_snapshot(place, html)})
    opener = ResultOpener(place, card)
    snapshots.publish({**(opener._repr_mimebundle_() or {}), "text/plain": ""})
    snapshots.call_when_replaced(partial(close_with_styles, opener))
