"""The pages that belong to the panel itself: models, creation, reports."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from decimal import Decimal
from html import escape
from typing import Any

import ipywidgets

from kit import wire
from kit.widgets import panel
from kit.widgets.background import BackgroundRunner
from kit.widgets.markup import credits, error_text, figure, note, problem

_KINDS = ("all", "image", "video")
_MODELS_PER_PORTION = 30  # models


class ModelPage(ipywidgets.VBox):
    """All models as a grid, those that need no file first; long lists are shown in portions."""

    def __init__(self, models: Sequence[wire.Model], *, use: Callable[[str], None]) -> None:
        self._models = sorted(models, key=needs_a_file)
        self._kind = ipywidgets.ToggleButtons(
            options=_KINDS, description="Kind", tooltips=("Models of any kind",)
        )
        self._words = ipywidgets.Text(
            description="Search models", placeholder="search models", tooltip="Search models"
        )
        self._message = ipywidgets.HTML(_dom_classes=("kit-status",))
        self._use = use
        self._rows: dict[str, Any] = {}
        self._list = ipywidgets.VBox(_dom_classes=("kit-models",))
        self._more = ipywidgets.Button(description="Show more", icon="plus")
        self._more.on_click(lambda _: self._show(len(self._list.children) + _MODELS_PER_PORTION))
        filters = ipywidgets.HBox(
            children=(self._kind, self._words, self._message), _dom_classes=("kit-filter",)
        )
        super().__init__(children=(filters, self._list, self._more))
        for control in (self._kind, self._words):
            control.observe(lambda _: self._show(), "value")
        self._show()

    @property
    def shown(self) -> list[str]:
        """The ids of the models shown."""
        return [one.id for one in self._matching]

    def _matches(self, model: wire.Model) -> bool:
        kind = self._kind.value
        texts = (model.id, model.title or "", model.category or "", model.description or "")
        text = " ".join(texts).lower()
        found = all(word in text for word in self._words.value.lower().split())
        return found and kind in ("all", model.asset_type)

    def _show(self, limit: int = _MODELS_PER_PORTION) -> None:
        self._matching = matching = [one for one in self._models if self._matches(one)]
        self._list.children = tuple(self._row(one) for one in matching[:limit])
        self._more.layout.display = None if len(matching) > limit else "none"
        self._message.value = note(f"{len(matching)} of {len(self._models)}")

    def _row(self, model: wire.Model) -> Any:
        """Return the card of a model, created when first shown, because a catalog may be long."""
        if model.id not in self._rows:
            button = ipywidgets.Button(
                description="Use", tooltip=f"Create with {model.title or model.id}"
            )
            button.on_click(lambda _: self._use(model.id))
            html = ipywidgets.HTML(panel.model(model))
            self._rows[model.id] = ipywidgets.VBox(children=(html, button))
        return self._rows[model.id]


def needs_a_file(model: wire.Model) -> bool:
    """Return whether a model requires a file."""
    return any(parameter.required for parameter in model.media_parameters)


class CreatePage(ipywidgets.VBox):
    """A model picker with a form; forms of other models are kept unchanged."""

    def __init__(
        self,
        models: Sequence[wire.Model],
        *,
        form: Callable[[wire.Model], Any],
        model: str | None = None,
        background: BackgroundRunner | None = None,
    ) -> None:
        self._form = form
        self._background = background or BackgroundRunner()
        self._lock = threading.Lock()
        self._models = {one.id: one for one in models}
        self._forms: dict[str, Any] = {}
        options = [(f"{one.title or one.id} ({one.asset_type})", one.id) for one in models]
        self._model_picker = ipywidgets.Dropdown(options=options, description="Model")
        if model in self._models:
            self._model_picker.value = model
        self._model_picker.add_class("kit-pick")
        self._form_box = ipywidgets.VBox()
        super().__init__(children=(self._model_picker, self._form_box))
        self._model_picker.observe(self._show_form, "value")
        self._show_form()

    @property
    def model(self) -> str | None:
        """The id of the model whose form is shown; set it to show another."""
        return None if self._model_picker.value is None else str(self._model_picker.value)

    @model.setter
    def model(self, model_id: str) -> None:
        self._model_picker.value = model_id

    @property
    def form(self) -> Any:
        """The form that is shown; None while it is being built."""
        return self._forms.get(self.model or "")

    def close(self) -> None:
        """Close all forms, of which one is shown."""
        for form in [*self._forms.values()]:
            form.close()
        super().close()

    def _show_form(self, _: Any = None) -> None:
        if self.model is None:
            self._form_box.children = (ipywidgets.HTML(note("this service has no models")),)
        elif self.model in self._forms:
            self._form_box.children = (self._forms[self.model],)
        else:
            self._form_box.children = (ipywidgets.HTML(note("loading …")),)
            model = self._models[self.model]
            self._background.begin(lambda: self._make(model))

    def _make(self, model: wire.Model) -> None:
        try:
            form = self._form(model)
        except Exception as error:  # noqa: BLE001 - shown in place of the form
            form = None
            shown = ipywidgets.HTML(problem(error_text(error)))
        with self._lock:
            if form is not None:
                shown = self._forms.setdefault(model.id, form)
                if form.has_trait("model"):
                    form.observe(self._follow_switch, "model")
            if self.model == model.id:
                self._form_box.children = (shown,)

    def _follow_switch(self, change: Any) -> None:
        """Update the picker when a form was switched to another model."""
        with self._lock:
            self._forms = {
                name: one for name, one in self._forms.items() if one is not change.owner
            }
            self._forms[change.new.id] = change.owner
        if change.new.id in self._models:
            self.model = change.new.id


def page(html: str) -> Any:
    """Return a read-only page; the HTML is trusted."""
    return ipywidgets.HTML(html)


def figures(
    items: Sequence[tuple[str, Decimal | None]], basis: str = "", doubts: Sequence[str] = ()
) -> str:
    """Return amounts of credits as tiles; unknown amounts are left out.

    `items`: names and amounts; the first is the balance, which is never in doubt.
    `basis`: a sentence about the sources of the others.
    `doubts`: reasons why they may be wrong: they get "about", and the reasons as tooltip and below.
    """
    tiles = (
        f'<div title="{escape(" ".join(doubts if number else ()))}">'
        f'<span class="kit-note">{escape(name)}</span>'
        f"<b>{escape(_about(figure(amount), doubts if number else ()))}</b></div>"
        for number, (name, amount) in enumerate(items)
        if amount is not None
    )
    words = " ".join(filter(None, (basis, *doubts)))
    note = f'<div class="kit-note kit-basis">{escape(words)}</div>' if words else ""
    group = f'<div class="kit-figures" role="group" aria-label="credits">{"".join(tiles)}</div>'
    return group + note


def bars(title: str, rows: Sequence[tuple[str, Decimal, str]], doubts: Sequence[str] = ()) -> str:
    """Return a bar chart, one bar per row, with lengths relative to the largest.

    `rows`: a name, its credits, and a note shown after them.
    """
    most = max((amount for _, amount, _ in rows), default=Decimal(0))
    cells = (
        f'<span>{escape(name)}</span><i style="width:{_percent(amount, most):.1f}%"></i>'
        f"<span>{escape(_about(figure(amount), doubts))} "
        f'<span class="kit-note">{escape(note)}</span></span>'
        for name, amount, note in rows
    )
    return panel.sheet(title, f'<div class="kit-bars">{"".join(cells)}</div>')


def columns(title: str, days: Sequence[tuple[str, Decimal]], doubts: Sequence[str] = ()) -> str:
    """Return a column chart, one column per day, with amounts as tooltips."""
    most = max((amount for _, amount in days), default=Decimal(0))
    bars = "".join(
        f'<span title="{escape(f"{day}: {_about(credits(amount), doubts)}")}">'
        f'<i style="height:{_percent(amount, most):.1f}%"></i></span>'
        for day, amount in days
    )
    first, last = (days[0][0], days[-1][0]) if days else ("", "")
    most_text = f"{_about(credits(most), doubts)} on the peak day"
    shown = f'<div class="kit-days" role="img" aria-label="{escape(most_text)}">{bars}</div>'
    ends = (first, most_text, last)
    marks = "".join(f'<span class="kit-note">{escape(text)}</span>' for text in ends)
    return panel.sheet(title, f'{shown}<div class="kit-ends">{marks}</div>')


def _about(amount: str, doubts: Sequence[str]) -> str:
    return f"about {amount}" if doubts else amount


def _percent(amount: Decimal, most: Decimal) -> float:
    return float(100 * max(amount, Decimal(0)) / most) if most > 0 else 0.0
