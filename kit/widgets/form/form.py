"""The form of a model: controls, the exact price, a button and the results, in one widget.

A change leads to one refresh a moment later: the values are checked by the rules of the service,
problems are shown at their fields, and the price is worked out. Nothing is sent that is not valid.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import ipywidgets

from kit import parameters, wire
from kit.errors import BadRequestError, ConfigError, KitError, ParameterError
from kit.parameters import Request
from kit.widgets import markup, prices
from kit.widgets.background import BackgroundRunner, Debounced
from kit.widgets.boxes import NewestFirst
from kit.widgets.form import code, fields, files, parts, values
from kit.widgets.form.access import Access
from kit.widgets.form.fields import Field
from kit.widgets.form.parts import WidgetFactory
from kit.widgets.form.presets import PresetFolder, Presets
from kit.widgets.form.prices import Prices
from kit.widgets.form.runs import MOST, Run, Runs
from kit.widgets.form.service import Service
from kit.widgets.form.values import Checked
from kit.widgets.markup import card, facts, faint
from kit.widgets.snapshots import StaticSnapshot, rerun_line
from kit.wire import Model, Quote

#: Seconds that the button is disabled after a click: a double click starts one generation.
DOUBLE_CLICK = 0.5
#: Seconds that a person needs to read a notice at a field.
READING = 1.5
_ICONS = {"Reset": "undo", "Code": "code", "Presets": "bookmark"}


class FormLayout:
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
        stock: WidgetFactory,
        *,
        generate: Callable[[], None],
        tools: Mapping[str, Callable[[], None]],
        changed: Callable[[list[Any]], None],
        background: BackgroundRunner,
    ) -> None:
        self._changed = changed
        self._model = model
        self.snapshot = StaticSnapshot(stock.new(ipywidgets.HTML), background=background)
        self._fields = fields
        self.price = stock.new(ipywidgets.HTML, _dom_classes=("kit-price",))
        self.go = stock.new(
            ipywidgets.Button,
            description="Generate",
            button_style="primary",
            _dom_classes=("kit-click-once",),
        )
        self._background = background
        self._pressed = -DOUBLE_CLICK
        self._notice_shown_at = -READING
        self.go.on_click(lambda _: self._submit_once(generate))
        self._panels: dict[str, Any] = {}
        self._new = stock.new
        self._below: tuple[Any, ...] = ()
        cells = [cell for one in fields for cell in (one.widget, one.note)]
        buttons = [_tool(stock, word, act) for word, act in tools.items()]
        self.access = stock.new(Access, typed=self._check_typed)
        bar = (self.go, self.price, *buttons, self.snapshot.style, self.access)
        self._frame = [
            stock.new(ipywidgets.HTML, value=parts.heading(model)),
            stock.new(ipywidgets.VBox, children=cells, _dom_classes=("kit-fields",)),
            stock.new(ipywidgets.HBox, children=bar, _dom_classes=("kit-bar",)),
        ]

    def enable(self) -> None:
        """Let the button be clicked again, as soon as the second half of a double click is over."""
        left = self._pressed + DOUBLE_CLICK - self._background.clock()
        if left > 0:
            self._background.after(left, self._enable)
        else:
            self._enable()

    def _enable(self) -> None:
        self.go.disabled = False

    def _submit_once(self, generate: Callable[[], None]) -> None:
        if self.go.disabled:
            return  # it was sent before the page knew that the button rests
        self._pressed = self._background.clock()
        self.go.disabled = True
        generate()

    def _check_typed(self, number: int, text: str, used: str) -> None:
        """Tell at a field that something else is used than was typed."""
        if not self._fields[number].check_typed(text, float(used.replace("−", "-"))):
            self._notice_shown_at = self._background.clock()

    def has_fresh_notice(self) -> bool:
        """Whether there was no time yet to read that a number was made to fit."""
        return self._background.clock() - self._notice_shown_at < READING

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
        panels, _ = self._panels_and_results()
        panels.children = tuple(self._panels.values())

    def add_result(self, widget: Any) -> None:
        """Show a result above the others."""
        _, results = self._panels_and_results()
        results.add(widget)

    def _panels_and_results(self) -> tuple[Any, Any]:
        """Return where panels and results are; neither is drawn anew for the other."""
        if not self._below:
            box = partial(self._new, ipywidgets.VBox)
            results = self._new(NewestFirst, most=MOST, box=box)
            self._below = box(_dom_classes=results._dom_classes), results
            self._changed(self.parts)
        return self._below

    def show_price(self, html: str) -> None:
        """Show the price, or what else has to be said beside the button."""
        if self.price.value != html:
            self.price.value = html
        if any(one.touched for one in self._fields):
            self.snapshot.follow()  # what Python sets is in the cell already, what is typed is not

    def render_snapshot(self, request: Request, quote: Quote | None, back: str) -> str:
        """Return the form as a notebook keeps it: its values, and the code to get it back."""
        rows = facts({name: str(value) for name, value in values.rows(request)})
        html = card(self._model.title or self._model.id, rows + faint(prices.text(quote)))
        return html + rerun_line(back)


def _tool(stock: WidgetFactory, word: str, act: Callable[[], None]) -> Any:
    button = stock.new(ipywidgets.Button, description=word, icon=_ICONS.get(word, ""))
    button.on_click(lambda _: act())
    return button


#: Seconds of quiet before a refresh, and from a click to reading: what was typed may come later.
QUIET, SETTLING = 0.15, 0.12


class Form(ipywidgets.VBox):
    """A form for one model.

    Parameters
    ----------
    model : wire.Model
        Of any service; what it leaves out is left out here.
    initial : mapping, optional
        ``{"prompt": ..., "parameters": {...}, "media": {...}}``; each part may be missing.
    service : Service, optional
        What is asked for prices and generations; without one the form shows and checks.
    presets : Presets, optional
        Where values are kept by name.
    awaited : bool
        Whether `code` writes ``await``.
    studio : str
        What `code` calls the studio.

    Examples
    --------
    >>> from kit.wire import Parameter
    >>> size = Parameter(name="size", type="integer", default=512, minimum=64, maximum=1024)
    >>> form = Form(wire.Model(id="poster", setting_parameters=[size]))
    >>> form.value = {"prompt": "a lake", "parameters": {"size": 256}}
    >>> form.code()
    'studio.generate("poster", "a lake", size=256)'
    """

    def __init__(
        self,
        model: wire.Model,
        initial: Mapping[str, Any] | None = None,
        *,
        service: Service | None = None,
        presets: Presets | None = None,
        background: BackgroundRunner | None = None,
        awaited: bool = False,
        studio: str = "studio",
    ) -> None:
        self.model = model
        self.presets = presets
        self._service = service
        self._background = background or BackgroundRunner()
        self._statement = partial(code.statement, awaited=awaited, studio=studio)
        self._lock = threading.RLock()
        self._silent, self._message = False, ""
        self._refused: dict[str, str] = {}
        self._stock = WidgetFactory()
        self._path = service.path if service else Path
        refresh = self._guarded(self._refresh)
        self._refresh_soon = Debounced(refresh, QUIET, self._background)
        self._prices = Prices(model, service, self._background, refresh)
        self._fields = _build_fields(model, self._stock, service, self._background)
        self._initial = self._by_field(initial or {})
        self._face = FormLayout(
            model,
            self._fields,
            self._stock,
            generate=self._submit_soon,
            tools=self._tools(),
            changed=lambda parts: setattr(self, "children", parts),
            background=self._background,
        )
        self._runs = Runs(
            self._stock,
            self._background,
            show=self._face.add_result,
            on_start=lambda _: self._face.enable(),
            on_end=lambda run: self._guarded(partial(self._finish_run, run))(),
        )
        super().__init__(children=self._face.parts, _dom_classes=("kit-form",))
        self._face.access.belong(self)
        self._write(self._initial)
        for one in self._fields:
            one.control.observe(self._watch(one), "value")
        self._refresh()
        self._prices.ask_balance()

    @property
    def value(self) -> dict[str, Any]:
        """The prompt, the settings and the paths of the media, as they are now.

        It is checked when it is set; what it does not name goes back to its default.
        """
        return values.to_value(self._checked().request)

    @value.setter
    def value(self, value: Mapping[str, Any]) -> None:
        self._write(self._by_field(value))
        self._refresh()

    @property
    def quote(self) -> wire.Quote | None:
        """The price of what the form holds; None if a setting is wrong or the price unknown."""
        return self._prices.best(self._checked())

    @property
    def generation(self) -> Any:
        """The generation that was started last, as it is known; None before the first."""
        run = self._runs.latest()
        if run is None or run.latest is None or self._service is None:
            return None
        return run.result() if run.state == "completed" else self._service.held(run.latest)

    @property
    def fields(self) -> dict[str, Field]:
        """The fields by name: ``prompt``, ``parameters.size``, ``mediaUploads.portrait``."""
        return {one.path: one for one in self._fields}

    @property
    def runs(self) -> list[Run]:
        """Everything that was started here, the newest last."""
        return list(self._runs.all)

    def submit(self) -> Run:
        """Start what the form holds and return the run at once; ``run.result()`` waits for it.

        Raises
        ------
        ParameterError
            The values break a rule of the model; nothing was sent.
        """
        if self._service is None:
            raise ConfigError("this form has no service to send to")
        checked = self._checked()
        if checked.problems:
            raise ParameterError.fields(list(checked.problems.items()))
        return self._runs.begin(checked.request, self._service)

    def code(self) -> str:
        """Return the statement that does the same; values that are the defaults are left out."""
        return self._statement(self._checked().request)

    def take(self, value: Mapping[str, Any]) -> list[str]:
        """Hold what the model takes of a value, and return a sentence for each thing it does not.

        Setting `value` is all or nothing; this is for what was kept of an older model.
        """
        found, problems = values.split_valid(self.model, value, self._path)
        self._write(found)
        self._refresh()
        return [f"{name.rpartition('.')[2]}: {sentence}" for name, sentence in problems]

    def reset(self) -> None:
        """Go back to the values that the form began with."""
        self._refused, self._message = {}, ""
        for one in self._fields:
            one.clear()
        self._write(self._initial)
        self._refresh()

    def __repr__(self) -> str:
        quote = self._prices.without_balance(self._checked())
        return f"<Form {self.model.id}{f' · {prices.text(quote)}' if quote else ''}>"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**options) or {}
        checked = self._checked()
        back = self._statement(checked.request, verb="form")
        html = self._face.render_snapshot(
            checked.request, self._prices.without_balance(checked), back
        )
        return {
            **bundle,
            "text/plain": repr(self),
            "text/html": html + self._runs.render_snapshot(),
        }

    def _ipython_display_(self) -> None:
        self._face.snapshot.show(self._repr_mimebundle_)

    # ── fields ───────────────────────────────────────────────────────────────────────────────────

    def _by_field(self, value: Mapping[str, Any]) -> dict[str, Any]:
        return values.read_value(self.model, value, self._path)

    def _checked(self) -> Checked:
        return values.check_fields(self.model, self._fields)

    def _write(self, value: Mapping[str, Any]) -> None:
        with self._lock:
            self._silent = True
            try:
                for one in self._fields:
                    one.write(value.get(one.path, values.default(one)))
            finally:
                self._silent = False

    # ── changes ──────────────────────────────────────────────────────────────────────────────────

    def _watch(self, one: Field) -> Callable[[Any], None]:
        def follow(_: Any) -> None:
            if not self._silent:
                one.touched = True
                self._message = ""
                self._refused.pop(one.path, None)
                self._refresh_soon()

        return follow

    def _refresh(self) -> None:
        """Show what is wrong, what it costs, and the code where it is open."""
        with self._lock:
            checked = self._checked()
            problems = {**self._refused, **checked.problems}
            for one in self._fields:
                control = one.touched or one.path in self._refused
                one.show_problem(problems.get(one.path) if control else None)
            self._show_price(checked)
            if (panel := self._face.panel("code")) is not None:
                panel.value = parts.code(self.code())

    def _show_price(self, checked: Checked) -> None:
        if self._message:
            self._face.show_price(markup.problem(self._message))
            return
        line = prices.line(self._prices.best(checked), asking=self._prices.request_better(checked))
        self._face.show_price(line + parts.missing(checked.problems))

    def _show_message(self, sentence: str) -> None:
        self._message = sentence
        self._face.show_price(markup.problem(sentence))

    # ── starts ───────────────────────────────────────────────────────────────────────────────────

    def _submit_soon(self) -> None:
        self._background.after(SETTLING, self._guarded(self._submit))

    def _submit(self) -> None:
        for one in self._fields:
            one.touched = True
        self._message = ""
        self._refresh()
        if self._face.has_fresh_notice():
            self._show_message("Not started: a number was adjusted. Check it and click again.")
        if self._message or self._checked().problems:
            self._face.enable()
        else:
            self.submit()

    def _finish_run(self, run: Run) -> None:
        self._face.enable()
        if isinstance(run.error, BadRequestError):
            self._refused = values.problems_by_field(run.error)
            self._refresh()
        self._prices.refresh()  # a run ends in the background

    # ── panels ───────────────────────────────────────────────────────────────────────────────────

    def _tools(self) -> dict[str, Callable[[], None]]:
        tools = {"Reset": self.reset, "Code": self._toggle_code}
        if self.presets is not None:
            tools["Presets"] = self._toggle_presets
        return {word: self._guarded(act) for word, act in tools.items()}

    def _toggle_code(self) -> None:
        text = parts.code(self.code())
        self._face.toggle("code", lambda: self._stock.new(ipywidgets.HTML, value=text))

    def _toggle_presets(self) -> None:
        kept = self.presets
        assert kept is not None  # noqa: S101 - there is no button without them
        self._face.toggle("presets", lambda: PresetFolder(self._stock, kept, form=self).widget)

    def _guarded(self, act: Callable[[], None]) -> Callable[[], None]:
        """Return a call whose error is shown: callbacks have nowhere else to leave one."""

        def call() -> None:
            try:
                act()
            except Exception as problem:  # noqa: BLE001 - whatever it is, it is shown or lost
                kind = "" if isinstance(problem, KitError) else f"{type(problem).__name__}: "
                self._show_message(f"{kind}{problem}")
                self._face.enable()

        return call


def _build_fields(
    model: Model, stock: WidgetFactory, service: Service | None, background: BackgroundRunner
) -> list[Field]:
    """Return a field for the prompt, for each medium and for each setting of a model."""
    own = parameters.is_own(model)
    prompt = [fields.build("prompt", values.prompt(model), stock)] if model.supports_prompt else []
    media = [
        files.build(p, stock, service=service, background=background, own=own)
        for p in model.media_parameters
    ]
    settings = [fields.build(f"parameters.{p.name}", p, stock) for p in model.setting_parameters]
    return [*prompt, *media, *settings]
