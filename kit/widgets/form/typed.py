"""What is typed into a box, read by the type of a parameter, and written so that it reads back."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from kit.wire import Parameter


def parsed(parameter: Parameter, text: str) -> Any:
    """Return what a text says, by the type of its parameter; None for a blank that is no text.

    Examples
    --------
    >>> parsed(Parameter(name="seed", type="integer"), " 7 ")
    7
    >>> parsed(Parameter(name="weights", type="tensor"), "[1, 2]")
    [1, 2]

    Raises
    ------
    ValueError
        It is no number where a number is asked for.
    """
    if parameter.type == "string":
        return text
    if not text.strip():
        return None
    if parameter.type in _NUMBERS:
        return _NUMBERS[parameter.type](text.strip())
    try:
        return json.loads(text)
    except ValueError:
        return text  # of a type that nobody knows: perhaps text


def item(parameter: Parameter, line: str) -> Any:
    """Return the item that a line of a list says; text that is no plain line is JSON."""
    if parameter.type == "string" and line.startswith('"') and line.endswith('"'):
        try:
            return json.loads(line)
        except ValueError:
            return line
    return parsed(parameter, line if parameter.type == "string" else line.strip())


def line(parameter: Parameter, item: Any) -> str:
    """Return the line that `item` reads again."""
    text = shown(parameter, item)
    odd = not text.strip() or "\n" in text or "\r" in text or text.startswith('"')
    return json.dumps(item, ensure_ascii=False) if odd else text


def shown(parameter: Parameter, value: Any) -> str:
    """Return the text that `parsed` reads again."""
    if isinstance(value, str) and (parameter.type == "string" or not _is_json(value)):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"must be a whole number, not {text[:40]!r}") from None


def _real(text: str) -> float | int:
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"must be a number, not {text[:40]!r}") from None
    return int(value) if value.is_integer() and "e" not in text.lower() else value


_NUMBERS: dict[str, Callable[[str], Any]] = {"integer": _whole, "number": _real}
