"""The layout of a form: its fields, buttons and messages, with the results beside them.

Rarely needed fields are hidden at first, and some appear only with the fields that they depend on,
as defined in `relevance.toml`.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import resources
from typing import Any

import ipywidgets

from kit.parameters import Request
from kit.widgets import examples, markup, prices
from kit.widgets.background import BackgroundRunner
from kit.widgets.boxes import NewestFirst, close_all, mark_open
from kit.widgets.form import parts
from kit.widgets.form.fields import Field
from kit.widgets.form.files import read_name
from kit.widgets.form.parts import WidgetFactory
from kit.widgets.form.runs import MAX_RUNS
from kit.widgets.markup import card, facts, faint
from kit.widgets.snapshots import rerun_line
from kit.wire import Model, Parameter, Quote

#: Seconds that the button is disabled after a click: a double click starts only one generation.
DOUBLE_CLICK_SECONDS = 0.5
#: Seconds that a user needs to read a notice at a field.
READING_SECONDS = 1.5
_ICONS = {"Reset": "undo", "Code": "code", "Presets": "bookmark", "File": "file-import"}
_FILL_IN = "Fill in from the metadata of a generated file"
_OPENS: dict[str, Any] = {"_dom_classes": ("kit-opens",)}
_TRAITS = {"Reset": {}, "Code": _OPENS, "Presets": _OPENS, "File": {"tooltip": _FILL_IN, **_OPENS}}


class FormLayout:
    """The widgets of a form: its fields, rarely needed ones last, and `tools`, other buttons."""

    def __init__(
        self,
        model: Model,
        fields: Sequence[Field],
        factory: WidgetFactory,
        *,
        generate: Callable[[], object],
        tools: Mapping[str, Callable[[], None]],
        background: BackgroundRunner,
        results: NewestFirst,
    ) -> None:
        self._model = model
        self._fields = {one.path: one for one in fields}
        self._background = background
        self._pressed_at = -DOUBLE_CLICK_SECONDS
        self._notice_shown_at = -READING_SECONDS
        self._panels: dict[str, Any] = {}
        self._is_open = False
        self._results = results
        self.price = factory.new(ipywidgets.HTML, _dom_classes=("kit-price",))
        self.submit = factory.button(
            "Generate",
            "",
            lambda: self._submit_once(generate),
            button_style="primary",
            tooltip="Ctrl+Enter",
            _dom_classes=("kit-click-once", "kit-submit"),
        )
        self.variants = factory.new(
            ipywidgets.BoundedIntText,
            description="variants",
            min=1,
            max=MAX_RUNS,
            _dom_classes=("kit-drawn", "kit-hidden"),
        )
        box = partial(factory.new, ipywidgets.VBox)
        self._advanced = [one for one in fields if is_advanced(one.parameter)]
        self._advanced_button = factory.button(
            "",
            "chevron-right",
            lambda: self._open_advanced(not self._is_open),
            _dom_classes=("kit-more", "kit-opens"),
        )
        basic = [one for one in fields if one not in self._advanced]
        self._rare = box(children=_cells(self._advanced), _dom_classes=("kit-fields", "kit-hidden"))
        self._notify = factory.new(
            ipywidgets.HTML, value=parts.NOTIFY_CHECKBOX, _dom_classes=("kit-notify", "kit-hidden")
        )
        more = (self._advanced_button, self._rare, self._notify) if self._advanced else ()
        self._tools = {
            word.lower(): factory.button(word, _ICONS[word], act, **_TRAITS[word])
            for word, act in tools.items()
        }
        row = (self.submit, self.price, self.variants, *self._tools.values())
        bar = factory.new(ipywidgets.HBox, children=row, _dom_classes=("kit-bar",))
        self._below = box(_dom_classes=("kit-below",))
        inputs = (
            factory.new(ipywidgets.HTML, value=parts.heading(model)),
            box(children=_cells(basic), _dom_classes=("kit-fields",)),
            *more,
            bar,
            self._below,
        )
        example = "" if results.shown else parts.example(model)
        self._example = factory.new(ipywidgets.HTML, value=example, _dom_classes=("kit-example",))
        columns = (
            box(children=inputs, _dom_classes=("kit-inputs",)),
            box(children=(self._example, results), _dom_classes=("kit-results",)),
        )
        self.root = box(children=columns, _dom_classes=("kit-columns",))
        if prompt := self._fields.get("prompt"):
            words = examples.prompt(model)
            prompt.control.placeholder = f"for example: {words}" if words else ""

    def enable(self) -> None:
        """Enable the button, but not before the second half of a double click has passed."""
        left = self._pressed_at + DOUBLE_CLICK_SECONDS - self._background.clock()
        if left > 0:
            self._background.after(left, self.enable)
        else:
            self.submit.disabled = False

    def has_fresh_notice(self) -> bool:
        """Whether the notice about an adjusted number is too new to have been read."""
        return self._background.clock() - self._notice_shown_at < READING_SECONDS

    def panel(self, name: str) -> Any:
        """Return an open panel, or None."""
        return self._panels.get(name)

    def toggle(self, name: str, make: Callable[[], Any]) -> None:
        """Open a panel below the buttons, or close it."""
        if self._panels.pop(name, None) is None:
            self._panels[name] = make()
        self._below.children = tuple(self._panels.values())
        mark_open(self._tools[name], name in self._panels)

    def close(self) -> None:
        """Close all widgets but the results, which another layout shows."""
        self.root.children[1].children = (self._example,)
        close_all(self.root)

    def add_result(self, widget: Any) -> None:
        """Show a result above the others, and remove the example."""
        self._example.value = ""
        self._results.add(widget)

    def show_relevant(self, problems: Mapping[str, str]) -> None:
        """Show the fields that are relevant for the current values, and those with a problem."""
        for one in self._fields.values():
            one.show(one.path in problems or is_relevant(one, self._fields))
        changed = [
            f"{markup.label(one.parameter.name)} {one.current()}"
            for one in self._advanced
            if one.is_set()
        ]
        self._advanced_button.description = " · ".join(["Advanced", *changed])
        if any(one.path in problems for one in self._advanced):
            self._open_advanced(True)

    def show_variants(self, total: int, count: int) -> None:
        """Show how many prompts of a template are generated; hidden if there is only one."""
        (self.variants.remove_class if total > 1 else self.variants.add_class)("kit-hidden")
        self.variants.max = min(max(total, 1), MAX_RUNS)
        self.variants.value = count

    def render_snapshot(self, request: Request, quote: Quote | None, code: str) -> str:
        """Return the snapshot of the form in a notebook: its values, and code to show it again."""
        files = {name: ", ".join(map(read_name, found)) for name, found in request.media.items()}
        settings = {name: str(value) for name, value in request.parameters.items()}
        rows = facts({"prompt": request.prompt, **files, **settings})
        html = card(self._model.title or self._model.id, rows + faint(prices.text(quote)))
        return html + rerun_line(code)

    def _submit_once(self, generate: Callable[[], object]) -> None:
        if self.submit.disabled:
            return  # sent before the page disabled the button
        self._pressed_at = self._background.clock()
        self.submit.disabled = True
        generate()

    def check_typed(self, number: int, text: str, used: str) -> None:
        """Show at a field that another value than the typed one is used."""
        field = list(self._fields.values())[number]
        if not field.check_typed(text, float(used.replace("−", "-"))):
            self._notice_shown_at = self._background.clock()

    def _open_advanced(self, is_open: bool) -> None:
        self._is_open = is_open
        mark_open(self._advanced_button, is_open)
        self._advanced_button.icon = "chevron-down" if is_open else "chevron-right"
        for part in (self._rare, self._notify):
            (part.remove_class if is_open else part.add_class)("kit-hidden")


def is_advanced(parameter: Parameter) -> bool:
    """Return whether a setting is rarely needed."""
    return not parameter.required and parameter.name in _load_relevance()["advanced"]


def is_relevant(field: Field, fields: Mapping[str, Field]) -> bool:
    """Return whether a field is relevant with the current values; a changed one always is."""
    if field.is_set():
        return True
    needed: Mapping[str, list[Any]] = _load_relevance()["depends"].get(field.parameter.name, {})
    return all(_is_chosen(name, values, fields) for name, values in needed.items())


def _is_chosen(name: str, values: list[Any], fields: Mapping[str, Field]) -> bool:
    other = fields.get(f"parameters.{name}") or fields.get(f"mediaUploads.{name}")
    if other is None:
        return True
    if not values:
        return other.is_set()
    if not set(values) <= set(other.parameter.enum or ()):
        return True  # a setting with the same name but another meaning
    return other.current(other.default) in values


@functools.cache
def _load_relevance() -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath("relevance.toml").read_text("utf-8"))


def _cells(fields: Sequence[Field]) -> list[Any]:
    return [cell for one in fields for cell in (one.widget, one.note)]
