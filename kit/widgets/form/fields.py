"""Fields: one control with its help for each parameter, built by a table.

A control is one widget wherever that is possible, and all of a form's controls share one layout and
one style of each kind: what makes a form slow to show is the number of its widgets.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

import ipywidgets

from kit.widgets import rules
from kit.widgets.form import markup, typed
from kit.widgets.form.field import Field, note
from kit.widgets.form.stock import Stock
from kit.wire import Parameter

_SEEDS = 2**32
#: Stands for None among the choices: to a selection None is that nothing is selected.
_LEFT_OUT = object()
#: Of a control that takes the whole width; its note stands below it.
_WIDE = ("kit-wide",)

#: What stands in the form, what is heard, how it is read, how it is written.
Parts = tuple[Any, Any, Callable[[], Any], Callable[[Any], None]]


def build(path: str, parameter: Parameter, stock: Stock) -> Field:
    """Return the field of a setting or of the prompt, showing its default."""
    kind = rules.control(parameter)
    widget, heard, read, write = _BUILDERS[kind](parameter, stock, markup.label(parameter))
    return Field(path, parameter, widget, note(parameter, stock), read, write, heard)


def _buttons(parameter: Parameter, stock: Stock, label: str) -> Parts:
    # without a tooltip of its own it shows one that reads "null"
    return _choice(ipywidgets.ToggleButtons, parameter, stock, label, tooltip=label)


def _dropdown(parameter: Parameter, stock: Stock, label: str) -> Parts:
    return _choice(ipywidgets.Dropdown, parameter, stock, label)


def _choice(kind: Any, parameter: Parameter, stock: Stock, label: str, **traits: Any) -> Parts:
    options = [
        (word, _LEFT_OUT if value is None else value) for word, value in rules.choices(parameter)
    ]
    initial = rules.default(parameter)
    shown = _LEFT_OUT if initial is None else initial
    made = stock.new(kind, options=options, value=shown, description=label, **traits)

    def read() -> Any:
        return None if made.value is _LEFT_OUT else made.value

    def write(value: Any) -> None:
        _set(made, _LEFT_OUT if value is None else value)

    return made, made, read, write


def _switch(parameter: Parameter, stock: Stock, label: str) -> Parts:
    made = stock.new(ipywidgets.Checkbox, value=parameter.default, description=label, indent=False)
    return made, made, lambda: made.value, lambda value: _set(made, bool(value))


def _slider(parameter: Parameter, stock: Stock, label: str) -> Parts:
    whole = parameter.type == "integer"
    traits: dict[str, Any] = {"step": rules.step(parameter)}
    if not whole:
        traits["readout_format"] = f".{rules.decimals(parameter)}f"
    made = stock.new(
        ipywidgets.IntSlider if whole else ipywidgets.FloatSlider,
        value=parameter.default,
        min=parameter.minimum,
        max=parameter.maximum,
        description=label,
        **traits,
    )
    given = parameter.default

    def read() -> Any:
        return given if made.value == given else _neat(made.value)

    def write(value: Any) -> None:
        nonlocal given
        given = value
        _set(made, value)

    return made, made, read, write


def _number(parameter: Parameter, stock: Stock, label: str) -> Parts:
    """Return a box for a number.

    It is one for text: a box of ipywidgets for numbers makes them fit without a word, and cannot be
    left blank.
    """
    return _with_dice(parameter, stock, _written(parameter, stock, label, ipywidgets.Text))


def _prose(parameter: Parameter, stock: Stock, label: str) -> Parts:
    return _written(parameter, stock, label, ipywidgets.Textarea, rows=3, _dom_classes=_WIDE)


def _text(parameter: Parameter, stock: Stock, label: str) -> Parts:
    return _written(parameter, stock, label, ipywidgets.Text)


def _written(parameter: Parameter, stock: Stock, label: str, kind: Any, **traits: Any) -> Parts:
    """Return a box for text that is read by the type of its parameter."""
    initial = rules.default(parameter)
    made = stock.new(
        kind,
        value="" if initial is None else typed.format_text(parameter, initial),
        description=label,
        placeholder=_blank(parameter),
        **traits,
    )

    def read() -> Any:
        return (
            None if not made.value and initial is None else typed.parse_text(parameter, made.value)
        )

    def write(value: Any) -> None:
        _set(made, "" if value is None else typed.format_text(parameter, value))

    return made, made, read, write


def _blank(parameter: Parameter) -> str:
    """Return what an empty box says; a number that is left out is its default."""
    initial = rules.default(parameter)
    number = parameter.type in ("integer", "number") and initial is not None
    return typed.format_text(parameter, initial) if number else rules.blank(parameter)


def _lines(parameter: Parameter, stock: Stock, label: str) -> Parts:
    """Return a box with an item a line: adding and removing are typing."""
    initial = rules.default(parameter) or ()
    made = stock.new(
        ipywidgets.Textarea,
        value="\n".join(typed.line(parameter, item) for item in initial),
        description=label,
        placeholder=rules.blank(parameter),
        rows=max(2, min(6, parameter.max_items or 2)),
        _dom_classes=_WIDE,
    )

    def read() -> Any:
        items = [typed.item(parameter, line) for line in made.value.split("\n") if line.strip()]
        return items or (None if not initial else [])

    def write(value: Any) -> None:
        _set(made, "\n".join(typed.line(parameter, item) for item in value or ()))

    return made, made, read, write


def _picks(parameter: Parameter, stock: Stock, label: str) -> Parts:
    """Return a box with an item a line, and a choice that adds one."""
    box, heard, read, write = _lines(parameter, stock, label)
    options = [(rules.label(value), value) for value in parameter.enum or ()]
    choice = stock.new(ipywidgets.Dropdown, options=options)
    add = stock.new(ipywidgets.Button, description="Add", icon="plus")

    def pick(_: Any) -> None:
        lines = [line for line in heard.value.split("\n") if line.strip()]
        heard.value = "\n".join([*lines, typed.line(parameter, choice.value)])

    add.on_click(pick)
    parts = (box, choice, add)
    row = stock.new(ipywidgets.HBox, children=parts, _dom_classes=("kit-row", *_WIDE))
    return row, heard, read, write


def _with_dice(parameter: Parameter, stock: Stock, parts: Parts) -> Parts:
    """Put a button beside a seed that draws a new one."""
    control, heard, read, write = parts
    if parameter.type != "integer" or not parameter.name.lower().endswith("seed"):
        return parts
    dice = stock.new(ipywidgets.Button, icon="random", tooltip="Draw a new seed")
    low = int(parameter.minimum or 0)
    high = min(_SEEDS - 1 if parameter.maximum is None else int(parameter.maximum), _SEEDS - 1)

    def draw(_: Any) -> None:
        write(low + secrets.randbelow(max(1, high - low + 1)))

    dice.on_click(draw)
    box = stock.new(ipywidgets.HBox, children=(control, dice), _dom_classes=("kit-row",))
    return box, heard, read, write


def _neat(value: float) -> float | int:
    """Return what a slider was drawn to as one would write it, 4 for 4.0."""
    value = round(value, 10)
    return int(value) if float(value).is_integer() else value


def _set(control: Any, value: Any) -> None:
    if control.value != value:
        control.value = value


#: Name of a control -> how it is built.
_BUILDERS: dict[str, Callable[[Parameter, Stock, str], Parts]] = {
    "buttons": _buttons,
    "dropdown": _dropdown,
    "switch": _switch,
    "slider": _slider,
    "count": _number,
    "number": _number,
    "prose": _prose,
    "text": _text,
    "lines": _lines,
    "picks": _picks,
    "json": _text,
    "media": _text,  # among the settings: an address, as text
}
