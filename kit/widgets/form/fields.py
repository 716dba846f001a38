"""Fields: one control with a help text for each parameter, built from a table.

A control is a single widget if possible, and all controls of a form share one layout and one style
per kind, because the number of widgets determines how slow a form is.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import ipywidgets

from kit.typed import format_line, format_text, known_type, parse_item, parse_text
from kit.widgets import markup
from kit.widgets.form import controls, parts
from kit.widgets.form.parts import WidgetFactory
from kit.wire import Parameter


def describe_adjustment(parameter: Parameter, text: str, used: float) -> str:
    """Return the message if a control uses another number than the typed one."""
    try:
        value = parse_text(parameter, text)
    except ValueError as problem:
        return f"{problem}; {markup.number(used)} is used"
    if value is None or math.isclose(value, used, abs_tol=1e-9):
        return ""  # an empty box visibly returns to the number
    return f"{text.strip()[:40]} {_describe_limit(parameter, value)}; {markup.number(used)} is used"


def _describe_limit(parameter: Parameter, value: float) -> str:
    low, high = parameter.minimum, parameter.maximum
    if high is not None and value > high:
        return f"is more than {markup.number(high)}, the most"
    if low is not None and value < low:
        return f"is less than {markup.number(low)}, the least"
    return "is between two steps"


@dataclass(slots=True)
class Notice:
    """The message about a typed number, shown as long as the number used instead is there.

    `arrived`: whether the page has sent that number, which may be after the typed text.
    """

    sentence: str
    used: float
    arrived: bool


@dataclass(slots=True)
class Field:
    """A parameter's control, and how its value is read and written.

    `path`: its name in problems: ``prompt``, ``parameters.size``, ``mediaUploads.portrait``.
    `widget`: the widget in the form, left of (or above) the note.
    `read`: returns the value, None if left out; raises `ValueError` with a message.
    `write`: shows a value; None shows that it is left out.
    `control`: the widget whose ``value`` changes.
    """

    path: str
    parameter: Parameter
    widget: Any
    note: Any
    read: Callable[[], Any]
    write: Callable[[Any], None]
    control: Any
    touched: bool = field(default=False)
    _problem: str | None = field(default=None, init=False)
    _notice: Notice | None = field(default=None, init=False)
    _shown: bool = field(default=True, init=False)

    def current(self, otherwise: Any = None) -> Any:
        """Return the value, or `otherwise` if it is invalid or left out."""
        try:
            value = self.read()
        except ValueError:
            return otherwise
        return otherwise if value is None else value

    @property
    def default(self) -> Any:
        """The value shown if none is given; files have no default."""
        return None if self.path.startswith("mediaUploads.") else controls.default(self.parameter)

    def is_set(self) -> bool:
        """Return whether the value differs from the default."""
        return bool(self.current(self.default) != self.default)

    def show(self, shown: bool) -> None:
        """Show or hide the control and its note."""
        for part in (self.widget, self.note) if shown != self._shown else ():
            (part.remove_class if shown else part.add_class)("kit-hidden")
        self._shown = shown

    def show_problem(self, problem: str | None) -> None:
        """Show a problem at the control, or the help text if there is none."""
        if self._problem != problem:
            self._problem = problem
            self._update_note()

    def check_typed(self, text: str, used: float) -> bool:
        """Show how a typed number was adjusted, until it changes; return whether it was valid."""
        sentence = describe_adjustment(self.parameter, text, used)
        if sentence and self._notice is None:
            self.control.observe(self._value_changed, "value")
        self._notice = Notice(sentence, used, self._holds(used)) if sentence else None
        self._update_note()
        return not sentence

    def clear(self) -> None:
        """Forget typed text and user changes."""
        self.touched = False
        self._notice = None
        self._update_note()

    def _value_changed(self, _: Any) -> None:
        if (notice := self._notice) is None:
            return
        if self._holds(notice.used):
            notice.arrived = True
        elif notice.arrived:
            self._notice = None
            self._update_note()

    def _holds(self, used: float) -> bool:
        """Whether the control holds a number that was read from the page, where it is rounded."""
        value: float = self.control.value
        return abs(value - used) <= 0.5 * 10.0 ** -controls.decimals(self.parameter)

    def _update_note(self) -> None:
        shown = parts.help_text(self.parameter)
        if self._problem:
            shown = markup.problem(self._problem, markup.label(self.parameter.name))
        elif self._notice:
            shown = markup.notice(self._notice.sentence)
        if self.note.value != shown:
            self.note.value = shown
        change = self.widget.add_class if self._problem else self.widget.remove_class
        change("kit-invalid")


def watch_field(widget: Any, parameter: Parameter, check: Callable[[str], str]) -> Field:
    """Return a field outside of a form; problems are shown below it while the user types.

    `check`: takes the value and returns the problem with it, or an empty text.
    """
    note = ipywidgets.HTML(_dom_classes=("kit-field-note",))
    field = Field(
        parameter.name, parameter, widget, note, lambda: widget.value, lambda _: None, widget
    )
    widget.observe(lambda change: field.show_problem(check(change.new)), "value")
    return field


def build_note(parameter: Parameter, factory: WidgetFactory) -> Any:
    """Return the note of a control: its help text, and later problems."""
    text = parts.help_text(parameter)
    return factory.new(ipywidgets.HTML, value=text, _dom_classes=("kit-field-note",))


_SEEDS = 2**32
#: Represents None among the choices: for ipywidgets None means that nothing is selected.
_NO_VALUE = object()
#: The class of a control with full width; its note is below it.
_WIDE = ("kit-wide",)

#: Widget in the form, control, function to read, function to write.
Parts = tuple[Any, Any, Callable[[], Any], Callable[[Any], None]]


def build(path: str, parameter: Parameter, factory: WidgetFactory) -> Field:
    """Return the field of a setting or of the prompt, with its default."""
    kind = controls.control(parameter)
    widget, control, read, write = _BUILDERS[kind](parameter, factory, parts.label(parameter))
    return Field(path, parameter, widget, build_note(parameter, factory), read, write, control)


def _build_choice(parameter: Parameter, factory: WidgetFactory, label: str, kind: Any) -> Parts:
    options = [
        (word, _NO_VALUE if value is None else value) for word, value in controls.choices(parameter)
    ]
    initial = controls.default(parameter)
    shown = _NO_VALUE if initial is None else initial
    control = factory.new(kind, options=options, value=shown, description=label)

    def read() -> Any:
        return None if control.value is _NO_VALUE else control.value

    def write(value: Any) -> None:
        _set_value(control, _NO_VALUE if value is None else value)

    return control, control, read, write


def _build_switch(parameter: Parameter, factory: WidgetFactory, label: str) -> Parts:
    box = factory.new(ipywidgets.Checkbox, value=parameter.default, description=label, indent=False)
    return box, box, lambda: box.value, lambda value: _set_value(box, bool(value))


def _build_slider(parameter: Parameter, factory: WidgetFactory, label: str) -> Parts:
    is_integer = known_type(parameter) == "integer"
    traits: dict[str, Any] = {"step": controls.step(parameter)}
    if not is_integer:
        traits["readout_format"] = f".{controls.decimals(parameter)}f"
    control = factory.new(
        ipywidgets.IntSlider if is_integer else ipywidgets.FloatSlider,
        value=parameter.default,
        min=parameter.minimum,
        max=parameter.maximum,
        description=label,
        **traits,
    )
    given = parameter.default

    def read() -> Any:
        if control.value == given:
            return given
        rounded = round(control.value, 10)
        return int(rounded) if float(rounded).is_integer() else rounded  # as a user would write it

    def write(value: Any) -> None:
        nonlocal given
        given = value
        _set_value(control, value)

    return control, control, read, write


def _build_number(parameter: Parameter, factory: WidgetFactory, label: str) -> Parts:
    """Return a text box, as number boxes clip values; a seed has a button that draws one."""
    box, control, read, write = _build_text(parameter, factory, label)
    if known_type(parameter) == "integer" and parameter.name.lower().endswith("seed"):
        low = int(parameter.minimum or 0)
        high = min(_SEEDS - 1 if parameter.maximum is None else int(parameter.maximum), _SEEDS - 1)

        def draw() -> None:
            write(low + secrets.randbelow(max(1, high - low + 1)))

        button = factory.button("", "random", draw, tooltip="Draw a new seed")
        box = factory.new(ipywidgets.HBox, children=(control, button), _dom_classes=("kit-row",))
    return box, control, read, write


def _build_text(
    parameter: Parameter,
    factory: WidgetFactory,
    label: str,
    kind: Any = ipywidgets.Text,
    **traits: Any,
) -> Parts:
    """Return a text box that is parsed by the type of its parameter."""
    initial = controls.default(parameter)
    box = factory.new(
        kind,
        value="" if initial is None else format_text(parameter, initial),
        description=label,
        placeholder=_placeholder(parameter),
        **traits,
    )

    def read() -> Any:
        return None if not box.value and initial is None else parse_text(parameter, box.value)

    def write(value: Any) -> None:
        _set_value(box, "" if value is None else format_text(parameter, value))

    return box, box, read, write


def _placeholder(parameter: Parameter) -> str:
    """Return the placeholder of an empty box; for an optional number its default."""
    initial = controls.default(parameter)
    number = known_type(parameter) in ("integer", "number") and initial is not None
    return format_text(parameter, initial) if number else controls.empty_text(parameter)


def _build_lines(parameter: Parameter, factory: WidgetFactory, label: str) -> Parts:
    """Return a box with one item per line, so that items are added and removed by typing."""
    initial = controls.default(parameter) or ()
    control = factory.new(
        ipywidgets.Textarea,
        value="\n".join(format_line(parameter, item) for item in initial),
        description=label,
        placeholder=controls.empty_text(parameter),
        rows=max(2, min(6, parameter.max_items or 2)),
        _dom_classes=_WIDE,
    )

    def read() -> Any:
        items = [parse_item(parameter, line) for line in control.value.split("\n") if line.strip()]
        return items or (None if not initial else [])

    def write(value: Any) -> None:
        _set_value(control, "\n".join(format_line(parameter, item) for item in value or ()))

    return control, control, read, write


def _build_picks(parameter: Parameter, factory: WidgetFactory, label: str) -> Parts:
    """Return a box with one item per line, and a dropdown that adds one."""
    box, control, read, write = _build_lines(parameter, factory, label)
    options = [(controls.label(value), value) for value in parameter.enum or ()]
    choice = factory.new(ipywidgets.Dropdown, options=options)

    def pick() -> None:
        lines = [line for line in control.value.split("\n") if line.strip()]
        control.value = "\n".join([*lines, format_line(parameter, choice.value)])

    parts = (box, choice, factory.button("Add", "plus", pick))
    row = factory.new(ipywidgets.HBox, children=parts, _dom_classes=("kit-row", *_WIDE))
    return row, control, read, write


def _set_value(control: Any, value: Any) -> None:
    if control.value != value:
        control.value = value


#: Name of a control -> function that builds it.
_BUILDERS: dict[str, Callable[[Parameter, WidgetFactory, str], Parts]] = {
    "buttons": partial(_build_choice, kind=ipywidgets.ToggleButtons),
    "dropdown": partial(_build_choice, kind=ipywidgets.Dropdown),
    "switch": _build_switch,
    "slider": _build_slider,
    "count": _build_number,
    "number": _build_number,
    "prose": partial(_build_text, kind=ipywidgets.Textarea, rows=3, _dom_classes=_WIDE),
    "text": _build_text,
    "lines": _build_lines,
    "picks": _build_picks,
    "json": _build_text,
    "media": _build_text,  # among the settings: a URL as text
}
