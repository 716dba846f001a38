"""Values as they can be sent: what notebooks hold, as text, numbers, flags, lists and mappings.

What cannot be sent is a sentence before anything is: a request must not break off halfway.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

from kit.errors import ParameterError
from kit.parameters import Problem

#: Levels of lists in lists: what goes deeper holds itself.
_DEEPEST = 20
_HALF = "holds half a character (a lone surrogate), which no service can read"


class _UnsendableError(ValueError):
    """A value that cannot be sent; the message ends a sentence about it."""


def json_parameters(given: Mapping[Any, Any]) -> dict[str, Any]:
    """Return settings as they can be sent; those that hold nothing are left out.

    Raises
    ------
    ParameterError
        With one sentence for each that cannot be.

    Examples
    --------
    >>> settings({"size": Decimal("0.5"), "style": None, "steps": (1, 2)})
    {'size': 0.5, 'steps': [1, 2]}
    """
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, value in given.items():
        try:
            found = json_value(value)
        except _UnsendableError as error:
            problems.append((f"parameters.{name}", str(error)))
            continue
        if found is not None:
            values[str(name)] = found
    if problems:
        raise ParameterError.fields(problems)
    return values


def json_text(value: Any, what: str) -> str | None:
    """Return a text as it can be sent, without blanks around it; None where there is none.

    Raises
    ------
    ParameterError
        It is no text.
    """
    if value is None:
        return None
    if not isinstance(value, str):
        raise ParameterError.fields([(what, f"must be text, not {_shown(value)}")])
    if not _whole(value):
        raise ParameterError.fields([(what, _HALF)])
    return str(value).strip() or None


def json_value(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON knows it; a missing one of pandas is None.

    Raises
    ------
    ValueError
        There is no way to send it.
    """
    if depth > _DEEPEST:
        raise _UnsendableError("holds lists in lists without an end")
    if value is None or isinstance(value, bool) or type(value) is int:
        return value
    for kind, make in _KINDS:
        if isinstance(value, kind):
            return make(value, depth)
    for attribute in ("item", "tolist"):  # numbers and arrays of numpy, series of pandas
        if _foreign(value) and hasattr(value, attribute):
            return _unpacked(value, depth)
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    raise _UnsendableError(
        f"must be text, a number, true or false, or a list of them, not {_shown(value)}"
    )


def _foreign(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] in ("numpy", "pandas")


def _unpacked(value: Any, depth: int) -> Any:
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if kind == "M":
        value = value.astype("datetime64[us]")  # finer ones would come as bare numbers
    whole = value.tolist() if hasattr(value, "tolist") else value.item()
    if kind == "m" or type(whole) is type(value):
        raise _UnsendableError(f"must be a number or text, not {_shown(value)}")
    return json_value(whole, depth + 1)


def _float(value: float, depth: int) -> float:
    if depth and not math.isfinite(value):  # one by itself is judged by its parameter
        raise _UnsendableError(f"holds {value}, which is no number that can be sent")
    return float(value)


def _exact(value: Decimal | Fraction, depth: int) -> float | int:
    if isinstance(value, Decimal) and not value.is_finite():
        return _float(float(value), depth)
    return int(value) if value == int(value) else float(value)


def _string(value: str, _depth: int) -> str:
    if not _whole(value):
        raise _UnsendableError(_HALF)
    return str(value)


def _whole(value: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in value)


def _mapping(value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    if malformed := [name for name in value if not isinstance(name, str)]:
        raise _UnsendableError(f"holds the name {_shown(malformed[0])}: names are text")
    return {_string(name, depth): json_value(each, depth + 1) for name, each in value.items()}


def _list(values: Any, depth: int) -> list[Any]:
    return [json_value(each, depth + 1) for each in values]


def _instant(value: date, _depth: int) -> str | None:
    return value.isoformat() if value == value else None  # pandas' missing time is not itself


def _member(value: enum.Enum, depth: int) -> Any:
    return json_value(value.value, depth + 1)


#: Kinds of values -> how they are written; the first that fits.
_KINDS: tuple[tuple[type | tuple[type, ...], Callable[[Any, int], Any]], ...] = (
    (enum.Enum, _member),
    (str, _string),
    (int, lambda value, _: int(value)),
    (float, _float),
    ((Decimal, Fraction), _exact),
    (Mapping, _mapping),
    ((list, tuple, range, Iterator), _list),
    (date, _instant),
)


def _shown(value: Any) -> str:
    """Return a value as a sentence shows it; one whose own words fail by its kind."""
    try:
        words = " ".join(ascii(value).split())
    except Exception:  # noqa: BLE001 - anything may go wrong in the words of a stranger
        words = f"a {type(value).__name__}"
    return words if len(words) <= 60 else f"{words[:57]}..."
