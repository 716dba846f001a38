"""What a form says of what was typed; it is read as `kit.typed` reads it everywhere."""

from __future__ import annotations

import math

from kit.typed import format_text, item, line, parse_text
from kit.wire import Parameter

__all__ = ["format_text", "item", "line", "made_to_fit", "parse_text"]


def made_to_fit(parameter: Parameter, text: str, used: float) -> str:
    """Return what is to be said of a number that was typed where a control used another one.

    Examples
    --------
    >>> steps = Parameter(name="steps", type="integer", default=20, minimum=1, maximum=50)
    >>> made_to_fit(steps, "60", 50)
    '60 is more than 50, the most; 50 is used'
    >>> made_to_fit(steps, "12x", 12), made_to_fit(steps, " 12 ", 12)
    ("must be a whole number, not '12x'; 12 is used", '')
    """
    try:
        value = parse_text(parameter, text)
    except ValueError as problem:
        return f"{problem}; {_plain(used)} is used"
    if value is None or math.isclose(value, used, abs_tol=1e-9):
        return ""  # of an empty box the number comes back, which is plain to see
    return f"{text.strip()[:40]} {_unfit(parameter, value)}; {_plain(used)} is used"


def _unfit(parameter: Parameter, value: float) -> str:
    low, high = parameter.minimum, parameter.maximum
    if high is not None and value > high:
        return f"is more than {_plain(high)}, the most"
    if low is not None and value < low:
        return f"is less than {_plain(low)}, the least"
    return "is between two steps"


def _plain(number: float) -> str:
    return f"{int(number)}" if float(number).is_integer() else f"{number}"
