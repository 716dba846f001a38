"""Rules that choose the control for a parameter; `kit.widgets.form.fields` builds it.

Models of other services may be incomplete or contradictory: if no rule matches, the control is a
text field for JSON, and a default that its own parameter would reject counts as missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from kit.parameters import UNKNOWN_LIMITS, value_problem
from kit.typed import known_type
from kit.widgets.markup import bounds
from kit.wire import MEDIA_TYPES, Parameter

#: Maximum of slider steps; for a longer range the value is typed.
SLIDER_STEPS = 10_000
#: Slider step for sizes in pixels, which suits all codecs and models.
PIXEL_STEP = 64
#: Maximum of choices, and of letters in all of them, for a row of buttons.
MAX_BUTTONS, MAX_BUTTON_LETTERS = 4, 24

_PROSE_NAMES = ("prompt", "text", "script", "lyrics", "caption")
_NUMBER_TYPES = ("integer", "number")


def control(parameter: Parameter) -> str:
    """Return the name of the control for a parameter.

    It is ``media``, ``picks`` (a list of choices), ``lines`` (a list, one item per line),
    ``buttons``, ``dropdown``, ``switch``, ``slider``, ``count`` (an integer in a box), ``number``
    (an optional number), ``prose``, ``text`` or ``json``.
    """
    return next(name for name, suits in _RULES if suits(parameter))


def default(parameter: Parameter) -> Any:
    """Return a parameter's default, or None if there is none or the parameter would reject it."""
    value = parameter.default
    return (
        None if value is None or value_problem(_retype(parameter), value, UNKNOWN_LIMITS) else value
    )


def with_control_type(parameter: Parameter) -> Parameter:
    """Return a parameter with the type of values that its control holds."""
    return _retype(parameter) if control(parameter) in ("slider", "switch") else parameter


def _retype(parameter: Parameter) -> Parameter:
    return parameter.model_copy(update={"type": known_type(parameter)})


def takes_list(parameter: Parameter) -> bool:
    """Return whether a parameter takes a list; a media list of at most one is a single file."""
    return parameter.max_items is not None and (parameter.max_items > 1 or not parameter.media)


def step(parameter: Parameter) -> float:
    """Return the step of a slider: 1; 64 for pixels; of other numbers a 100th to a 1,000th part."""
    if known_type(parameter) == "integer":
        ends = (parameter.minimum or 0, parameter.default or 0)
        pixels = _span(parameter) >= 8 * PIXEL_STEP and all(end % PIXEL_STEP == 0 for end in ends)
        return PIXEL_STEP if pixels else 1
    return 10.0 ** math.floor(math.log10(_span(parameter) / 100))


def decimals(parameter: Parameter) -> int:
    """Return the number of decimals of a slider: those of its step and of its default."""
    return max(_decimals(step(parameter)), _decimals(default(parameter) or 0))


def choices(parameter: Parameter) -> list[tuple[str, Any]]:
    """Return the values of a choice with their labels; the first is None if there is no default."""
    if parameter.enum:
        found = [(label(value), value) for value in parameter.enum]
    else:
        found = [("yes", True), ("no", False)]
    if default(parameter) is not None:
        return found
    return [("choose …" if parameter.required else UNSET, None), *found]


def label(value: Any) -> str:
    """Return a value as a label."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value) or "(empty)"


def limits(parameter: Parameter) -> str:
    """Return the limits that a control does not show itself as text; empty if there are none."""
    kind = control(parameter)
    if kind in ("lines", "picks"):
        return f"one a line, at most {parameter.max_items}"
    if kind == "media":
        return f"at most {parameter.max_items}" if takes_list(parameter) else ""
    return _range(parameter) if kind in ("number", "count") else ""


#: The text of a control without a value, if none is required.
UNSET = "service decides"


def empty_text(parameter: Parameter) -> str:
    """Return the placeholder of an empty box; empty for text that can be left out."""
    if parameter.required or default(parameter):
        return ""
    return "optional" if known_type(parameter) == "string" else UNSET


def _range(parameter: Parameter) -> str:
    if 2**31 - 1 <= _span(parameter) < math.inf:
        return ""  # the limits of an integer type do not matter
    return bounds(parameter.minimum, parameter.maximum)


def _span(parameter: Parameter) -> float:
    if parameter.minimum is None or parameter.maximum is None:
        return math.inf
    return float(parameter.maximum) - float(parameter.minimum)


def _decimals(value: float) -> int:
    return len(f"{value:.10f}".rstrip("0").partition(".")[2])


def _fits_buttons(parameter: Parameter) -> bool:
    values = parameter.enum or []
    short = sum(len(label(value)) for value in values) <= MAX_BUTTON_LETTERS
    return 0 < len(values) <= MAX_BUTTONS and short and default(parameter) is not None


def _fits_slider(parameter: Parameter) -> bool:
    span = _span(parameter)
    numbers = known_type(parameter) in _NUMBER_TYPES and default(parameter) is not None
    return numbers and 0 < span < math.inf and span / step(parameter) <= SLIDER_STEPS


def _is_prose(parameter: Parameter) -> bool:
    if known_type(parameter) != "string":
        return False
    initial = str(parameter.default or "")
    named = any(word in parameter.name.lower() for word in _PROSE_NAMES)
    return named or len(initial) > 60 or "\n" in initial


_RULES: tuple[tuple[str, Callable[[Parameter], bool]], ...] = (
    ("media", lambda p: p.media or p.type in MEDIA_TYPES),
    ("picks", lambda p: p.max_items is not None and bool(p.enum)),
    ("lines", lambda p: p.max_items is not None),
    ("buttons", _fits_buttons),
    ("dropdown", lambda p: bool(p.enum)),
    ("switch", lambda p: known_type(p) == "boolean" and default(p) is not None),
    ("dropdown", lambda p: known_type(p) == "boolean"),
    ("slider", _fits_slider),
    ("count", lambda p: known_type(p) == "integer" and default(p) is not None),
    ("number", lambda p: known_type(p) in _NUMBER_TYPES),
    ("prose", _is_prose),
    ("text", lambda p: known_type(p) == "string"),
    ("json", lambda _: True),
)
