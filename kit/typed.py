"""Typed text: parsed by the type of a parameter, and formatted so that parsing restores it.

Forms, magics and the command line share these functions: no other code converts text to values.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from kit.errors import ConfigError
from kit.parameters import NO_NAN_MESSAGE, suggest
from kit.wire import Model, Parameter


def parse_text(parameter: Parameter, text: str) -> Any:
    """Parse a text by the type of its parameter; blank text for other types than text is None.

    Unknown types accept a number, true, false or other JSON, else text.

    Examples
    --------
    >>> parse_text(Parameter(name="seed", type="integer"), " 7 ")
    7
    >>> parse_text(Parameter(name="noise", type="float32"), ".25")
    0.25
    >>> parse_text(Parameter(name="weights", type="tensor"), "[1, 2]")
    [1, 2]

    Raises `ValueError` with a message if the text is invalid.
    """
    kind = known_type(parameter)
    if kind == "string":
        return text
    if not text.strip():
        return None
    if (parse := _PARSERS.get(kind)) is None:
        return _parse_untyped(text)
    try:
        return parse(text.strip())
    except ValueError:
        if kind == parameter.type or _comma_hint(text.strip()):
            raise
        return _parse_untyped(text)  # a type of another service, which checks the value itself


def parse_item(parameter: Parameter, line: str) -> Any:
    """Parse a line of a list; text that would not survive as a plain line is JSON."""
    if known_type(parameter) != "string":
        return parse_text(parameter, line.strip())
    if line.startswith('"') and line.endswith('"'):
        try:
            return json.loads(line)
        except ValueError:
            return line
    return line


def format_line(parameter: Parameter, item: Any) -> str:
    """Return the line from which `parse_item` restores an item."""
    text = format_text(parameter, item)
    needs_json = not text.strip() or "\n" in text or "\r" in text or text.startswith('"')
    return json.dumps(item, ensure_ascii=False) if needs_json else text


def format_text(parameter: Parameter, value: Any) -> str:
    """Return the text from which `parse_text` restores a value."""
    if isinstance(value, str) and (known_type(parameter) == "string" or _is_text(value)):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def parse_pairs(texts: Iterable[str], where: str) -> dict[str, list[str]]:
    """Parse texts such as ``name=value``, by name; a name may occur several times.

    Other texts raise a `ConfigError`, whose message begins with `where`.

    Examples
    --------
    >>> parse_pairs(["palette=ember", "words=a", "words=b"], "-p")
    {'palette': ['ember'], 'words': ['a', 'b']}
    """
    found: dict[str, list[str]] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ConfigError(f"{where} must be NAME=VALUE, not {text!r}")
        found.setdefault(name.strip(), []).append(value)
    return found


def parse_values(
    model: Model, given: Mapping[str, Sequence[str]], *, others: Iterable[str] = ()
) -> dict[str, Any]:
    """Return a model's settings typed as ``name=value``, by name.

    A name without a match may be meant for one of `others`; bounds are checked later.

    Raises `ConfigError` if the model has no such setting, or it cannot be parsed.
    """
    known = {parameter.name: parameter for parameter in model.setting_parameters}
    for name in given:
        if name not in known:
            raise ConfigError(
                f"the model {model.id!r} has no parameter {name!r}"
                f"{suggest(name, {*known, *others})}"
            )
    return {name: parse_value(known[name], texts) for name, texts in given.items()}


def parse_value(parameter: Parameter, texts: Sequence[str]) -> Any:
    """Parse the texts typed for a parameter; a list has several texts, or is JSON.

    A choice is matched by its text, whatever its type is. Raises `ConfigError` if a text cannot be
    parsed, or if there is none, or more than one for a single value.

    Examples
    --------
    >>> parse_value(Parameter(name="times", enum=[1, 2, 3]), ["2"])
    2
    >>> parse_value(Parameter(name="words", max_items=3), ["a lake", "dawn"])
    ['a lake', 'dawn']
    """
    try:
        if parameter.max_items is not None:
            return _parse_list(parameter, texts)
        if len(texts) > 1:
            raise ConfigError(f"{parameter.name} is given more than once")
        value = _parse_one(parameter, texts[0], parse_text)
    except ValueError as problem:
        raise ConfigError(f"{parameter.name} {problem}") from None
    if value is None and not texts[0].strip():
        raise ConfigError(f"{parameter.name} has no value: leave it out to have its default")
    return value


def _parse_list(parameter: Parameter, texts: Sequence[str]) -> list[Any]:
    value = _parse_json(texts[0]) if len(texts) == 1 else None
    if isinstance(value, list):
        return value
    return [_parse_one(parameter, text, parse_item) for text in texts if text.strip()]


def _parse_one(parameter: Parameter, text: str, parse: Callable[[Parameter, str], Any]) -> Any:
    choices = parameter.enum or ()
    if text in choices:
        return text
    others = (choice for choice in choices if not isinstance(choice, str))
    same = (choice for choice in others if json.dumps(choice, default=str) == text.strip())
    found = next(same, None)
    return parse(parameter, text) if found is None else found


def known_type(parameter: Parameter) -> str:
    """Return the kit's name of a parameter's type, for the names of other services."""
    name = parameter.type.lower()
    return _SYNONYMS.get(name, name)


def _parse_json(text: str) -> Any:
    """Parse a text as JSON, else return the text; numbers that JSON cannot represent stay text."""
    try:
        return json.loads(text, parse_constant=_parse_finite, parse_float=_parse_finite)
    except (ValueError, RecursionError):
        return text


def _parse_untyped(text: str) -> Any:
    """Parse a text of an unknown type."""
    found = _parse_json(text)
    if found is text and not _is_text(text):
        raise ValueError(NO_NAN_MESSAGE)
    return found


def _is_text(text: str) -> bool:
    """Return whether a text is not JSON, and would not be if JSON had NaN."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return True
    return isinstance(found, float) and not math.isfinite(found)  # "NaN", or too large


def _parse_finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError
    return number


def _parse_integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"must be a whole number, not {text[:40]!r}") from None


def _parse_number(text: str) -> float | int:
    try:
        number = _parse_finite(text)
    except ValueError:
        raise ValueError(f"must be a number, not {text[:40]!r}{_comma_hint(text)}") from None
    return int(number) if number.is_integer() and "e" not in text.lower() else number


def _comma_hint(text: str) -> str:
    """Return a hint on a number whose comma may be a decimal point or separate thousands."""
    if re.fullmatch(r"[+-]?\d*,\d+", text) is None:
        return ""
    point, whole = text.replace(",", "."), text.replace(",", "")
    thousands = re.fullmatch(r"[+-]?[1-9]\d{0,2},\d{3}", text)
    return f": write {whole}, or {point} for decimals" if thousands else f": write {point}"


def _parse_boolean(text: str) -> bool:
    if text.lower() not in _BOOLEANS:
        raise ValueError(f"must be true or false, not {text[:40]!r}")
    return _BOOLEANS[text.lower()]


_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
#: Type -> function that parses its text; other types accept any value.
_PARSERS: dict[str, Callable[[str], Any]] = {
    "integer": _parse_integer,
    "number": _parse_number,
    "boolean": _parse_boolean,
}
#: Names of types in other services.
_SYNONYMS = {
    **dict.fromkeys(("str", "text"), "string"),
    **dict.fromkeys(("int", "long", "int32", "int64", "uint32", "uint64"), "integer"),
    **dict.fromkeys(("float", "double", "decimal", "float32", "float64"), "number"),
    "bool": "boolean",
}
