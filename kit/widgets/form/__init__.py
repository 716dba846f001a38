"""The form of a model: controls, the exact price, a button and the results, in one widget.

Shortly after a change, the form validates the values by the rules of the service, shows problems at
their fields and updates the price. Only valid requests are sent.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import ipywidgets
import traitlets

from kit import parameters, wire
from kit.errors import BadRequestError, ConfigError, KitError, ParameterError
from kit.file_metadata import FileMetadata
from kit.parameters import Request
from kit.widgets import markup, prices
from kit.widgets.background import SETTLE_SECONDS, BackgroundRunner, Debounced, guard
from kit.widgets.boxes import NewestFirst
from kit.widgets.form import code, fields, files, parts, values
from kit.widgets.form.fields import Field
from kit.widgets.form.files import build_zone
from kit.widgets.form.layout import FormLayout, is_advanced
from kit.widgets.form.parts import WidgetFactory
from kit.widgets.form.presets import PresetFolder, Presets
from kit.widgets.form.quotes import Prices
from kit.widgets.form.runs import MAX_RUNS, MAX_SAVED, Run
from kit.widgets.form.service import Service
from kit.widgets.form.values import Checked
from kit.widgets.result import ResultCard
from kit.widgets.snapshots import SnapshotBox
from kit.wire import Model, Parameter

#: Seconds of quiet before a refresh.
QUIET_SECONDS = 0.15
_forms: weakref.WeakSet[Form] = weakref.WeakSet()


class Form(SnapshotBox):
    """A form for one model.

    Parameters
    ----------
    model : wire.Model
        A model of any service.
    initial : mapping, optional
        ``{"prompt": ..., "parameters": {...}, "media": {...}}``; each part may be missing.
    service : Service, optional
        Provides prices and generations; without one, the form only validates.
    presets : Presets, optional
        Saved values by name.
    awaited : bool
        Whether `code` contains ``await``.
    studio : str
        The variable of the studio in `code`.

    Examples
    --------
    >>> from kit.wire import Parameter
    >>> size = Parameter(name="size", type="integer", default=512, minimum=64, maximum=1024)
    >>> form = Form(wire.Model(id="poster", setting_parameters=[size]))
    >>> form.value = {"prompt": "a lake", "parameters": {"size": 256}}
    >>> form.code()
    'studio.generate("poster", "a lake", size=256)'
    """

    #: The current model; `switch` changes it.
    model = traitlets.Any()

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
        self._service = service
        self.background = background = background or BackgroundRunner()
        self._statement = partial(code.statement, awaited=awaited, studio=studio)
        self._lock = threading.RLock()
        self._is_writing = False
        self._factory = WidgetFactory()
        self._path = service.path if service else Path
        refresh = self._guard(self._refresh)
        self._refresh_soon = Debounced(refresh, QUIET_SECONDS, self.background)
        self._prices = Prices(service, self.background, refresh)
        box = partial(self._factory.new, ipywidgets.VBox)
        self._results = self._factory.new(NewestFirst, most=MAX_RUNS, box=box)
        #: The runs started last, newest at the end: as many as are shown.
        self.runs: list[Run] = []
        super().__init__((), "kit-form", background)
        self._script.on_msg(self._receive)
        self._models = {model.id: (model, presets)}
        self._open(model.id, initial or {})  # may reject the initial values
        _forms.add(self)
        if service is not None:
            self.follow(service.subscribe, self._prices.refresh)
            self.background.begin(self._prices.learn_balance)
            self.background.begin(partial(self._show_unfinished, service))

    def _open(self, model_id: str, initial: Mapping[str, Any]) -> None:
        """Show the fields of a loaded model."""
        model, presets = self._models[model_id]
        fields = _build_fields(model, self._factory, self._service, self.background)
        value = values.read_value(model, initial, self._path)
        with self._lock:
            self._fields, self._initial = fields, value
            self.presets, self._message = presets, ""
            self._service_problems: dict[str, str] = {}
            self._actions = {word: self._guard(act) for word, act in self._tools(presets).items()}
            self._view = FormLayout(
                model,
                fields,
                self._factory,
                generate=lambda: self.background.after(SETTLE_SECONDS, self._guard(self._submit)),
                tools=self._actions,
                background=self.background,
                results=self._results,
            )
            self.model = model
            self.children = (self._view.root, *self.children[-2:])
            self._write(value)
            for one in fields:
                one.control.observe(self._watch(one), "value")
            self._view.variants.observe(self._draw, "value")
            self._refresh()

    def switch(self, model_id: str, initial: Mapping[str, Any] | None = None) -> bool:
        """Switch to another model, keeping results; return whether the service has the model."""
        if self._service is None:
            return False
        try:
            if model_id not in self._models:
                self._models[model_id] = self._service.open_model(model_id)
        except KitError:
            return False
        before, panel = self._view, self._view.panel("file")
        if panel is not None:
            before.toggle("file", lambda: None)
        self._open(model_id, initial or {})
        if panel is not None:
            self._view.toggle("file", lambda: panel)
        before.close()
        return True

    @property
    def value(self) -> dict[str, Any]:
        """The current prompt, parameters and paths of input files.

        Setting it validates the values; fields that it does not contain are reset to defaults.
        """
        return values.to_value(self._checked().request)

    @value.setter
    def value(self, value: Mapping[str, Any]) -> None:
        self._write(values.read_value(self.model, value, self._path))
        self._refresh()

    @property
    def quote(self) -> wire.Quote | None:
        """The price of the current values; None if a value is invalid or the price unknown."""
        return self._prices.best(self._checked())

    @property
    def generation(self) -> Any:
        """The generation started last, in its last known state; None before the first."""
        run = next((run for run in reversed(self.runs) if run.facts is not None), None)
        if run is None or run.latest is None or self._service is None:
            return None
        return run.result() if run.state == "completed" else self._service.wrap(run.latest)

    @property
    def fields(self) -> dict[str, Field]:
        """The fields by name: ``prompt``, ``parameters.size``, ``mediaUploads.portrait``."""
        return {one.path: one for one in self._fields}

    def submit(self) -> Run:
        """Start a generation with the current values; ``run.result()`` waits for it.

        A prompt that is a template (see `kit.template`) starts a run for each of its prompts and
        returns the last one.

        Raises `ParameterError` if the values are invalid; then nothing is sent.
        """
        if self._service is None:
            raise ConfigError("this form has no service to send to")
        checked = self._checked()
        if checked.problems:
            raise ParameterError.fields(list(checked.problems.items()))
        requests = self._prices.requests(checked)
        return [self._begin(request, self._service) for request in requests][-1]

    def code(self) -> str:
        """Return the equivalent Python statement, without values that are defaults."""
        checked = self._checked()
        return self._statement(checked.request, template=self._prices.write_template(checked))

    def take(self, value: Mapping[str, Any]) -> list[str]:
        """Fill in the values that the model accepts; return a message for each of the others.

        For saved values of an older model; setting `value` accepts all of them or none.
        """
        found, problems = values.split_valid(self.model, value, self._path)
        self._write(found)
        self._refresh()
        return [f"{name.rpartition('.')[2]}: {sentence}" for name, sentence in problems]

    def fill(self, found: FileMetadata) -> list[str]:
        """Fill in the request from a file's metadata, keeping input files; return as `take`."""
        media = values.to_value(self._checked().request)["media"]
        value = {"prompt": found.prompt, "parameters": dict(found.parameters), "media": media}
        return [*self.take(value), *found.unread]

    def reset(self) -> None:
        """Reset to the initial values."""
        self._service_problems, self._message = {}, ""
        for one in self._fields:
            one.clear()
        self._write(self._initial)
        self._refresh()

    def __repr__(self) -> str:
        quote = self._prices.without_balance(self._checked())
        return f"<Form {self.model.id}{f' · {prices.text(quote)}' if quote else ''}>"

    def _html(self) -> str:
        checked = self._checked()
        code = self._statement(checked.request, verb="form")
        html = self._view.render_snapshot(
            checked.request, self._prices.without_balance(checked), code
        )
        ids = [run.facts.id for run in self.runs if run.state == "processing" and run.facts]
        if ids:
            words = f"started here, see studio.history: {', '.join(ids)}"
            html += f'<div style="{markup.FONT}">{markup.faint(words)}</div>'
        done = [run.html for run in self.runs if run.state == "completed"]
        return markup.side_by_side(html, "".join(reversed(done[-MAX_SAVED:])))

    # ── fields ───────────────────────────────────────────────────────────────────────────────────

    def _checked(self) -> Checked:
        checked = values.check_fields(self.model, self._fields)
        prompt = checked.request.prompt or ""
        plain = "{" not in prompt and "__" not in prompt
        if plain or self._service is None or "prompt" in checked.problems:
            return checked
        try:
            return replace(checked, variants=self._service.variants(prompt))
        except KitError as error:  # a template with a named list that does not exist
            return replace(checked, problems={**checked.problems, "prompt": str(error)})

    def _write(self, value: Mapping[str, Any]) -> None:
        with self._lock:
            self._is_writing = True
            try:
                for one in self._fields:
                    one.write(value.get(one.path, one.default))
            finally:
                self._is_writing = False

    # ── changes ──────────────────────────────────────────────────────────────────────────────────

    def _watch(self, one: Field) -> Callable[[Any], None]:
        def follow(_: Any) -> None:
            if not self._is_writing:
                one.touched = True
                self._message = ""
                self._service_problems.pop(one.path, None)
                self._refresh_soon()

        return follow

    def _refresh(self) -> None:
        """Show problems, the price, and the code if it is open."""
        with self._lock:
            checked = self._checked()
            problems = {**self._service_problems, **checked.problems}
            shown = {
                one.path: problems[one.path]
                for one in self._fields
                if one.path in problems and (one.touched or one.path in self._service_problems)
            }
            for one in self._fields:
                one.show_problem(shown.get(one.path))
            self._view.show_relevant(shown)
            self._show_price(checked)
            if (panel := self._view.panel("code")) is not None:
                panel.value = parts.code(self.code())

    def _show_price(self, checked: Checked) -> None:
        if any(one.touched for one in self._fields):
            self.snapshot.follow()  # set values are in the cell already, typed ones are not
        if self._message:
            self._view.price.value = markup.problem(self._message)
            return
        line = prices.line(self._prices.best(checked), asking=self._prices.request_better(checked))
        self._view.price.value = self._count(checked) + line + parts.missing(checked.problems)

    def _count(self, checked: Checked) -> str:
        """Show the number of prompts of a template, and return how many are generated."""
        found, count = checked.variants, len(self._prices.requests(checked))
        total = len(found or ())
        self._is_writing = True
        self._view.show_variants(total, count)
        self._is_writing = False
        if total < 2:
            return ""
        of = f" of {total:,}, drawn at random" if count < total else ""
        return f"<b>{count} variant{'s' if count > 1 else ''}</b>{of} · "

    def _draw(self, change: Any) -> None:
        """Set how many prompts of a template are generated."""
        if not self._is_writing:
            self._prices.prompt_count = change.new
            self._refresh_soon()

    def _show_message(self, sentence: str) -> None:
        self._message = sentence
        self._view.price.value = markup.problem(sentence)

    # ── starts ───────────────────────────────────────────────────────────────────────────────────

    def _submit(self) -> None:
        for one in self._fields:
            one.touched = True
        self._message = ""
        self._refresh()
        if self._view.has_fresh_notice():
            self._show_message("Not started: a number was adjusted. Check it and click again.")
        if self._message or self._checked().problems:
            self._view.enable()
        else:
            self.submit()

    def _show_unfinished(self, service: Service) -> None:
        """Show what was started before, such as by a kernel that was restarted meanwhile."""
        others = [form for form in tuple(_forms) if form.is_shown_by_another_cell(self)]
        shown = {run.facts.id for form in others for run in form.runs if run.facts}
        with suppress(KitError):  # the history has it, too
            found = service.list_unfinished(self.model.id)
            for place, facts in enumerate(one for one in found if one.id not in shown):
                names = {parameter.name for parameter in self.model.setting_parameters}
                given = {n: v for n, v in (facts.parameters or {}).items() if n in names}
                self._begin(Request(self.model, facts.prompt, given), service, facts, place)

    def _begin(
        self,
        request: Request,
        service: Service,
        started: wire.Generation | None = None,
        place: int = MAX_RUNS,
    ) -> Run:
        """Start a request, or show the generation that it started before those from `place` on."""
        run = Run(
            request,
            service,
            self._factory,
            background=self.background,
            card=partial(self._card, has_files=not (started and self.model.media_parameters)),
            on_start=lambda _: self._show_changed_run(),
            on_end=lambda run: self._guard(partial(self._finish_run, run))(),
        )
        self.runs.insert(place, run)
        self._view.add_result(run.widget)
        if len(self.runs) > MAX_RUNS:
            self.runs.pop(0).close_panel()
        run.follow(started) if started else run.start()
        return run

    def _show_changed_run(self) -> None:
        self._view.enable()
        self.snapshot.follow()

    def _finish_run(self, run: Run) -> None:
        self._show_changed_run()
        found = values.problems_by_field(run.error)
        if isinstance(run.error, BadRequestError) and run.request.model is self.model:
            self._service_problems = found
            self._refresh()
        ending = run.state if found.keys() & self.fields.keys() else run.ending  # said by a field
        self._script.send({"say": f"{self.model.title or self.model.id}: {ending}", "notify": True})

    def _card(self, run: Run, shown: Any, *, has_files: bool) -> Any:
        """Return the widget of a result; `has_files`: its input files are known."""
        facts, service = run.latest, self._service
        assert facts is not None  # noqa: S101 - it is completed
        assert service is not None  # noqa: S101
        has_seed = any(one.name == "seed" for one in run.request.model.setting_parameters)
        repeats = has_seed and has_files
        return ResultCard(
            shown,
            facts,
            service,
            background=self.background,
            edit=lambda: self._edit(run.request),
            repeat=(lambda: self._repeat(run.request)) if repeats else None,
            new=self._factory.new,
        )

    def _edit(self, request: Request) -> None:
        if request.model is not self.model:
            self.switch(request.model.id)
        self.value = values.to_value(request)

    def _repeat(self, request: Request) -> None:
        """Start a request again with a random seed of the service."""
        assert self._service is not None  # noqa: S101 - a result exists
        others = {name: v for name, v in request.parameters.items() if name != "seed"}
        self._begin(replace(request, parameters=others), self._service)

    # ── panels ───────────────────────────────────────────────────────────────────────────────────

    def _tools(self, presets: Presets | None) -> dict[str, Callable[[], None]]:
        """Return the actions of the other buttons; most open or close a panel below them."""
        factory, service = self._factory, self._service
        panels: dict[str, Callable[[], Any]] = {
            "code": lambda: factory.new(ipywidgets.HTML, value=parts.code(self.code()))
        }
        if service is not None:
            panels["file"] = lambda: build_zone(factory, service, self)
        if presets is not None:
            panels["presets"] = lambda: PresetFolder(factory, presets, form=self).widget

        def toggle(name: str) -> None:
            self._view.toggle(name, panels[name])

        return {"Reset": self.reset, **{n.capitalize(): partial(toggle, n) for n in panels}}

    def _receive(self, _: Any, message: Any, __: Any) -> None:
        match message:
            case {"field": int(field), "text": str(text), "used": str(used)}:
                self._view.check_typed(field, text, used)
            case {"dragged": True} if self._view.panel("file") is None:
                self._actions.get("File", lambda: None)()

    def _guard(self, act: Callable[[], None]) -> Callable[[], None]:
        def show(sentence: str) -> None:
            self._show_message(sentence)
            self._view.enable()

        return guard(act, show)


def _build_fields(
    model: Model, factory: WidgetFactory, service: Service | None, background: BackgroundRunner
) -> list[Field]:
    """Return fields for the prompt, input files and parameters of a model."""
    own = parameters.is_own(model)
    text = Parameter(name="prompt", type="string", required=model.prompt_required)
    prompt = [fields.build("prompt", text, factory)] if model.supports_prompt else []
    media = [
        files.build(p, factory, service=service, background=background, own=own)
        for p in model.media_parameters
    ]
    settings = [fields.build(f"parameters.{p.name}", p, factory) for p in model.setting_parameters]
    return sorted([*prompt, *media, *settings], key=lambda one: is_advanced(one.parameter))
