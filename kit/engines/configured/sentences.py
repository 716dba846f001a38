"""What is wrong with a key of the file, in a sentence: what it must be, not what a library says."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from kit.errors import KitError

_NUMBER = "must be a number"
_WHOLE = "must be a whole number"
_TEXT = "must be text in quotes"
_FINITE = "must be a finite number"

#: Kind of problem -> what would be right.
_SAID: dict[str, str] = {
    "string_type": _TEXT,
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_from_float": _WHOLE,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "decimal_type": _NUMBER,
    "decimal_parsing": _NUMBER,
    "finite_number": _FINITE,
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "list_type": "must be a list, such as [...]",
    "model_type": "must be a table, such as { ... }",
    "dict_type": "must be a table, such as { ... }",
}
#: Kind of problem -> what would be right, with the limit that the problem names.
_LIMITS: dict[str, tuple[str, str]] = {
    "greater_than": ("must be greater than {}", "gt"),
    "greater_than_equal": ("must be at least {}", "ge"),
    "less_than": ("must be less than {}", "lt"),
    "less_than_equal": ("must be at most {}", "le"),
    "literal_error": ("must be {}", "expected"),
    "string_too_short": ("must have at least {} characters", "min_length"),
    "string_too_long": ("must have at most {} characters", "max_length"),
    "too_short": ("must have at least {} entries", "min_length"),
    "too_long": ("must have at most {} entries", "max_length"),
}
#: What a form that texts must have means.
_FORMS: dict[str, str] = {
    r"^[a-z0-9][a-z0-9.-]{0,99}$": (
        "must be small letters, digits, dots and dashes, at most 100, a letter or digit first"
    ),
    r"^[a-z0-9][a-z0-9-]{0,39}$": (
        "must be small letters, digits and dashes, at most 40, a letter or digit first"
    ),
    r"^[A-Za-z_][A-Za-z0-9_]*$": "must be letters, digits and underscores, no digit first",
    r"^[A-Za-z0-9_]*$": "must be letters, digits and underscores",
    r"^(string|integer|number|boolean)$": "must be string, integer, number or boolean",
    r"^(auto|cpu|mps|cuda(:\d+)?)$": "must be auto, cpu, mps, cuda or a numbered one: cuda:1",
}
#: Longest text of the file that is repeated: a longer one may be a key in the wrong place.
_SHORT = 16


def sentence(problem: Mapping[str, Any]) -> str:
    """Return what a value must be, and what it is where that is short.

    Parameters
    ----------
    problem : mapping
        One of pydantic's ``errors()``.

    Examples
    --------
    >>> sentence({"type": "float_parsing", "input": "soon", "msg": "Input should be a number"})
    "must be a number, not 'soon'"
    """
    kind, context = problem["type"], problem.get("ctx", {})
    if kind == "value_error":
        return str(problem["msg"]).removeprefix("Value error, ")
    found = _SAID.get(kind) or _limit(kind, context) or _form(context)
    return f"{found}{_instead(problem.get('input'))}" if found else str(problem["msg"])


def _limit(kind: str, context: Mapping[str, Any]) -> str:
    words, name = _LIMITS.get(kind, ("", ""))
    limit = context.get(name)
    return words.format(_plain(limit) if isinstance(limit, float) else limit)


def _form(context: Mapping[str, Any]) -> str:
    pattern = str(context.get("pattern", ""))
    return _FORMS.get(pattern, f"must have the form {pattern}" if pattern else "")


def _instead(value: Any) -> str:
    shown = _SHOWN.get(type(value), lambda _: "")(value)
    return f", not {shown}" if shown else ""


#: How values of the file are repeated; those of other types are not.
_SHOWN: dict[type, Callable[[Any], str]] = {
    str: lambda text: repr(text) if len(text) <= _SHORT else "",
    bool: lambda flag: str(flag).lower(),
    int: str,
    float: lambda number: _plain(number),
}


def _plain(number: float) -> str:
    """Return a number as people write it: 60, not 60.0."""
    return f"{number:.0f}" if number.is_integer() else str(number)


def said(error: BaseException) -> str:
    """Return an error in one line, even one whose own text cannot be had."""
    if isinstance(error, KitError):
        return str(getattr(error, "detail", "")) or str(error)
    if isinstance(error, ValidationError):
        return "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
    return " ".join(traceback.format_exception_only(error)[-1].split())
