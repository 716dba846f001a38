"""What was typed, read by the type of a parameter, and written so that it reads back.

Forms, magics and the command line read alike: there is no other place where text becomes a value.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from kit.errors import ConfigError
from kit.parameters import NO_NAN, suggest
from kit.wire import Model, Parameter


def parse_text(parameter: Parameter, text: str) -> Any:
    """Return what a text says, by the type of its parameter; None for a blank that is no text.

    Of an unknown type it is a number, true, false or other JSON where it can be read so.

    Examples
    --------
    >>> parse_text(Parameter(name="seed", type="integer"), " 7 ")
    7
    >>> parse_text(Parameter(name="noise", type="float32"), ".25")
    0.25
    >>> parse_text(Parameter(name="weights", type="tensor"), "[1, 2]")
    [1, 2]

    Raises `ValueError` with a sentence where it cannot be read so.
    """
    kind = known_type(parameter)
    if kind == "string":
        return text
    if not text.strip():
        return None
    read = _READERS.get(kind)
    if read is None:
        return _parse_open(text)
    try:
        return read(text.strip())
    except ValueError:
        if kind == parameter.type or _comma_hint(text.strip()):
            raise
        return _parse_open(text)  # another service's name of a type: what it takes, it knows


def parse_item(parameter: Parameter, line: str) -> Any:
    """Return the item that a line of a list says; text that is no plain line is JSON."""
    if known_type(parameter) != "string":
        return parse_text(parameter, line.strip())
    if line.startswith('"') and line.endswith('"'):
        try:
            return json.loads(line)
        except ValueError:
            return line
    return line


def format_line(parameter: Parameter, item: Any) -> str:
    """Return the line that `parse_item` reads again."""
    text = format_text(parameter, item)
    needs_json = not text.strip() or "\n" in text or "\r" in text or text.startswith('"')
    return json.dumps(item, ensure_ascii=False) if needs_json else text


def format_text(parameter: Parameter, value: Any) -> str:
    """Return the text that `parse_text` reads again."""
    if isinstance(value, str) and (known_type(parameter) == "string" or _is_text(value)):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def parse_pairs(texts: Iterable[str], where: str) -> dict[str, list[str]]:
    """Return what was typed as ``name=value``, by name; a name may stand several times.

    Anything else is a `ConfigError`, whose sentence begins with `where` it stands.

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
    """Return a model's settings that were typed as ``name=value``, by name.

    A name that is none may have meant one of `others`; bounds are checked later.

    Raises `ConfigError`: the model has no such setting, or it cannot be read.
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
    """Return the value that was typed for a parameter; a list in several texts, or as JSON.

    A choice is the one that reads as it was typed, whatever type it has. What cannot be read is a
    `ConfigError`, and so is nothing, or more than one where one is asked for.

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
        read = _parse_one(parameter, texts[0], parse_text)
    except ValueError as problem:
        raise ConfigError(f"{parameter.name} {problem}") from None
    if read is None and not texts[0].strip():
        raise ConfigError(f"{parameter.name} has no value: leave it out to have its default")
    return read


def _parse_list(parameter: Parameter, texts: Sequence[str]) -> list[Any]:
    whole = _parse_json(texts[0]) if len(texts) == 1 else None
    if isinstance(whole, list):
        return whole
    return [_parse_one(parameter, text, parse_item) for text in texts if text.strip()]


def _parse_one(parameter: Parameter, text: str, read: Callable[[Parameter, str], Any]) -> Any:
    choices = parameter.enum or ()
    if text in choices:
        return text
    worded = (choice for choice in choices if not isinstance(choice, str))
    same = (choice for choice in worded if json.dumps(choice, default=str) == text.strip())
    found = next(same, None)
    return read(parameter, text) if found is None else found


def known_type(parameter: Parameter) -> str:
    """Return the type of a parameter by the name that it has here, where other services differ."""
    name = parameter.type.lower()
    return _SYNONYMS.get(name, name)


def _parse_json(text: str) -> Any:
    """Return what a text says as JSON, else the text; what JSON cannot send stays text."""
    try:
        return json.loads(text, parse_constant=_parse_finite, parse_float=_parse_finite)
    except (ValueError, RecursionError):
        return text


def _parse_open(text: str) -> Any:
    """Return what a text says where anything may be said."""
    found = _parse_json(text)
    if found is text and not _is_text(text):
        raise ValueError(NO_NAN)
    return found


def _is_text(text: str) -> bool:
    """Return whether a text is no JSON, nor what would be if there were NaN in JSON."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return True
    return isinstance(found, float) and not math.isfinite(found)  # a word, or too large a number


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
    """Return how a number is written whose comma may stand for decimals, or between thousands."""
    if re.fullmatch(r"[+-]?\d*,\d+", text) is None:
        return ""
    point, whole = text.replace(",", "."), text.replace(",", "")
    thousands = re.fullmatch(r"[+-]?[1-9]\d{0,2},\d{3}", text)
    return f": write {whole}, or {point} for decimals" if thousands else f": write {point}"


def _parse_boolean(text: str) -> bool:
    if text.lower() not in _TRUTHS:
        raise ValueError(f"must be true or false, not {text[:40]!r}")
    return _TRUTHS[text.lower()]


_TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
#: Type -> how its text is read; any other is read freely.
_READERS: dict[str, Callable[[str], Any]] = {
    "integer": _parse_integer,
    "number": _parse_number,
    "boolean": _parse_boolean,
}
#: What other services call these types.
_SYNONYMS = {
    **dict.fromkeys(("str", "text"), "string"),
    **dict.fromkeys(("int", "long", "int32", "int64", "uint32", "uint64"), "integer"),
    **dict.fromkeys(("float", "double", "decimal", "float32", "float64"), "number"),
    "bool": "boolean",
}
