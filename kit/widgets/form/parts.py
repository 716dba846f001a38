"""The style sheet of a form, and its small pieces of HTML.

The style sheet is sent with each form and affects nothing outside of it. Colors are those of
JupyterLab's theme.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

import ipywidgets

from kit.widgets import examples, markup
from kit.widgets.form import controls
from kit.widgets.markup import style_element
from kit.wire import Model, Parameter

SHEET = style_element(__package__, "form.css")
#: A checkbox read by the form's script; the browser remembers its state.
NOTIFY_CHECKBOX = (
    '<label class="kit-note"><input type="checkbox"> '
    "notify me when a run ends while this tab is in the background</label>"
)


def heading(model: Model) -> str:
    """Return the style sheet, and the head of a form: the model in two lines."""
    facts = " · ".join(filter(None, (model.asset_type, model.category)))
    about = escape(model.description)
    text = f'<div class="kit-note kit-summary" title="{about}">{about}</div>' if about else ""
    title = f'<b style="font-size:15px">{escape(model.title or model.id)}</b>'
    return f'{SHEET}{title} <span class="kit-note">{escape(facts)}</span>{text}'


def example(model: Model) -> str:
    """Return the example picture shown in place of the results; empty if there is none."""
    if not (address := examples.picture(model)):
        return ""
    words = examples.prompt(model)
    text = f"Example: {words}" if words else "Example"
    return (
        f'<figure><img src="{address}" alt="{escape(text)}">'
        f'<figcaption class="kit-note">{escape(text)}</figcaption></figure>'
    )


def label(parameter: Parameter) -> str:
    """Return the label of a control; a star marks required ones."""
    return f"{markup.label(parameter.name)}{' *' if parameter.required else ''}"


def help_text(parameter: Parameter) -> str:
    """Return the description of a parameter, and the limits that its control does not show."""
    words = " · ".join(filter(None, (parameter.description, controls.limits(parameter))))
    return f'<span class="kit-note">{escape(words)}</span>' if words else ""


def missing(problems: Mapping[str, str]) -> str:
    """Return the names of fields with problems; empty if there are none."""
    if not problems:
        return ""
    names = [markup.label(path.rpartition(".")[2]) for path in problems]
    return f'<div class="kit-note">missing or wrong: {escape(", ".join(names))}</div>'


def code(text: str) -> str:
    """Return Python code as HTML."""
    return f'<pre class="kit-code">{escape(text)}</pre>'


class WidgetFactory:
    """Creates the widgets of one form with a shared layout, and a shared style per kind."""

    def __init__(self) -> None:
        self._layout = ipywidgets.Layout()
        self._styles: dict[Any, Any] = {}
        self._shared: dict[Any, dict[str, Any]] = {}

    def new(self, kind: Any, **traits: Any) -> Any:
        """Return a new widget with the shared layout and style."""
        if kind not in self._shared:
            self._shared[kind] = {"layout": self._layout}
            if trait := kind.class_traits().get("style"):
                self._styles[trait.klass] = self._styles.get(trait.klass) or trait.klass()
                self._shared[kind]["style"] = self._styles[trait.klass]
        for one in self._shared[kind].values():
            one.open()  # again, if the form is closed: its runs continue
        return kind(**self._shared[kind], **traits)

    def button(self, word: str, icon: str, act: Callable[[], None], **traits: Any) -> Any:
        """Return a button with an action."""
        button = self.new(ipywidgets.Button, description=word, icon=icon, **traits)
        button.on_click(lambda _: act())
        return button
