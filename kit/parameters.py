"""Validation of requests against a model's parameters, shared by forms, client and service.

Parameters of an unknown type are not checked here; the service decides. Limits beyond those of the
model (`Limits`) are this service's own, and apply only to its models.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from operator import index
from typing import Any

from pydantic_core import to_json

from kit.errors import MAX_SHOWN, ParameterError
from kit.wire import Model, Parameter, WriteScripts, bounds

#: The largest integer that every JSON parser keeps exact.
_MAX_INTEGER = 2**53 - 1
#: The message for numbers that JSON cannot represent.
NO_NAN_MESSAGE = "holds NaN or Infinity, which cannot be sent: JSON has no such numbers"
_NUMBER_TYPES = ("integer", "number")

#: Maximum characters of a name for which similar names are suggested.
_MAX_NAME_LENGTH = 100
#: Maximum of names listed in a message; a service may have hundreds of models.
_MAX_LIST = 40
_MAX_TEXT_LENGTH = 60

Problem = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a model, as forms, sweeps and cells pass it on until it is started.

    Parameters
    ----------
    parameters : mapping
        Values to send, by name; the service fills in the defaults.
    media : mapping of str to sequence
        Input files by parameter name.
    tags : mapping of str to str
        Its tags; requests that differ only in tags are equal.
    inputs : sequence of str
        Ids of the generations whose outputs are input files, if known.
    file_metadata : bool
        Whether the result contains the request as metadata.

    Examples
    --------
    >>> size = Parameter(name="size", type="integer", default=512)
    >>> Request(Model(id="demo", setting_parameters=[size]), "a lake").complete
    {'size': 512}
    """

    model: Model
    prompt: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    media: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    inputs: Sequence[str] = ()
    file_metadata: bool = True

    @property
    def complete(self) -> dict[str, Any]:
        """The parameters with all defaults filled in, on which the price depends."""
        defaults = {p.name: p.default for p in self.model.setting_parameters}
        return {name: v for name, v in {**defaults, **self.parameters}.items() if v is not None}


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a service in addition to those of its models.

    `prompt` and `text` are characters, the latter of texts whose parameter has no `max_length`;
    `items` and `depth` limit lists and objects; `size` is the bytes of all parameters as JSON.
    """

    prompt: float = math.inf
    text: float = math.inf
    number: float = math.inf
    items: float = math.inf
    depth: float = 100  # accepted by every JSON parser
    size: float = math.inf


#: Limits of this service, and of others: theirs are unknown, and they decide.
OWN_LIMITS = Limits(
    prompt=bounds.TEXT,
    text=bounds.TEXT,
    number=_MAX_INTEGER,
    items=bounds.ITEMS,
    depth=bounds.DEPTH,
    size=bounds.PARAMETERS,
)
UNKNOWN_LIMITS = Limits()


def is_own(model: Model) -> bool:
    """Return whether a model is of a service of this kind: only those publish a price rule.

    Examples
    --------
    >>> from kit.wire import Rule
    >>> is_own(Model(id="demo", pricing=Rule(base=1))), is_own(Model(id="demo"))
    (True, False)
    """
    return model.pricing is not None


def limits_of(model: Model) -> Limits:
    """Return the limits of a model's service."""
    return OWN_LIMITS if is_own(model) else UNKNOWN_LIMITS


def check(
    model: Model,
    *,
    prompt: str | None,
    parameters: Mapping[str, Any],
    media: Mapping[str, Sequence[Any]],
) -> dict[str, Any]:
    """Validate a request and return its parameters with all defaults filled in.

    Of input files only the number is checked.

    Raises
    ------
    ParameterError
        With one message for each problem.

    Examples
    --------
    >>> size = Parameter(name="size", type="integer", default=512, minimum=64, maximum=2048)
    >>> model = Model(id="demo", setting_parameters=[size])
    >>> check(model, prompt="a lake", parameters={}, media={})
    {'size': 512}

    Source: contract, "Generations".
    """
    values, problems = check_settings(
        model.setting_parameters,
        parameters,
        media_names={p.name for p in model.media_parameters},
        limits=limits_of(model),
    )
    problems = [*prompt_problems(model, prompt), *problems, *media_problems(model, media)]
    if problems:
        raise ParameterError.fields(problems)
    return values


def check_settings(
    known: Sequence[Parameter],
    given: Mapping[str, Any],
    *,
    media_names: Iterable[str] = (),
    limits: Limits = OWN_LIMITS,
) -> tuple[dict[str, Any], list[Problem]]:
    """Return the values with defaults filled in, and their problems; None means "not given"."""
    if len(given) > limits.items:
        return {}, [("parameters", bounds.too_many(len(given), limits.items))]
    problems = list(_unknown_names(given, [p.name for p in known], set(media_names)))
    values: dict[str, Any] = {}
    for parameter in known:
        value = given.get(parameter.name)
        if value is not None:
            problem = value_problem(parameter, value, limits)
        else:
            problem = "is required" if parameter.required and parameter.default is None else None
        if problem:
            problems.append((f"parameters.{parameter.name}", problem))
        value = _normalize(parameter, parameter.default if value is None else value)
        if value is not None:
            values[parameter.name] = value
    if not problems and (size := _json_bytes(given)) > limits.size:
        sentence = f"has {size:,} bytes as JSON, at most {limits.size:,} are allowed"
        problems.append(("parameters", sentence))
    return values, problems


def value_problem(parameter: Parameter, value: Any, limits: Limits = OWN_LIMITS) -> str | None:
    """Return a message if a value is invalid, or None."""
    if parameter.media:
        return None
    if parameter.max_items is None:
        return _item_problem(parameter, value, limits)
    if not isinstance(value, (list, tuple)):
        return f"must be a list, not {shorten(value)}"
    if len(value) > parameter.max_items:
        return bounds.too_many(len(value), parameter.max_items)
    return next((p for item in value if (p := _item_problem(parameter, item, limits))), None)


def prompt_problems(model: Model, prompt: str | None) -> Iterator[Problem]:
    """Yield the problems of a prompt for a model."""
    text = (prompt or "").strip()
    if text and not model.supports_prompt:
        yield "prompt", f"the model {model.id!r} takes no prompt: leave it out"
    elif not text and model.prompt_required and model.supports_prompt:
        yield "prompt", "is required and may not be blank"
    elif len(text) > (maximum := limits_of(model).prompt):
        yield "prompt", bounds.too_long(len(text), maximum)


def media_problems(model: Model, media: Mapping[str, Sequence[Any]]) -> Iterator[Problem]:
    """Yield problems of the number or names of input files for a model."""
    yield from rejected_media(model, media)
    for parameter in model.media_parameters:
        if parameter.required and not media.get(parameter.name):
            yield f"mediaUploads.{parameter.name}", "is required"


def rejected_media(model: Model, media: Mapping[str, Sequence[Any]]) -> Iterator[Problem]:
    """Yield the input files that a model cannot accept, whatever their content."""
    known = {p.name: p for p in model.media_parameters}
    unknown = [name for name in media if name not in known]
    for name in unknown:
        hint = _hint(name, known, len(unknown))
        yield f"mediaUploads.{name}", f"the model {model.id!r} takes no such medium{hint}"
    for parameter in model.media_parameters:
        count, maximum = len(media.get(parameter.name, ())), parameter.max_items or 1
        if count > maximum:
            sentence = f"holds {count} files, at most {maximum} are allowed"
            yield f"mediaUploads.{parameter.name}", sentence


def script_problems(request: WriteScripts) -> Iterator[Problem]:
    """Yield the fields of a script request that are too long or missing."""
    title, hook = request.title.strip(), (request.hook_angle or "").strip()
    if not 1 <= len(title) <= bounds.TITLE:
        yield "title", f"must have 1 to {bounds.TITLE} characters, not {len(title):,}"
    if len(hook) > bounds.HOOK:
        yield "hookAngle", bounds.too_long(len(hook), bounds.HOOK)


def file_name_problems(name: str) -> Iterator[Problem]:
    """Yield a problem if an upload cannot have this name."""
    if not 1 <= len(name) <= bounds.FILE_NAME:
        yield "fileName", f"must have 1 to {bounds.FILE_NAME} characters, not {len(name):,}"
    elif any(letter in "/\\" or unicodedata.category(letter) == "Cc" for letter in name):
        yield "fileName", "may not hold path separators or control characters"


def check_count(name: str, value: Any, least: int = 0, most: int | None = None) -> int:
    """Return the whole number that is given for an argument.

    Examples
    --------
    >>> check_count("limit", -1)
    Traceback (most recent call last):
    kit.errors.ParameterError: limit must be a whole number, 0 or more, not -1
    """
    with suppress(TypeError):
        if least <= (count := index(value)) and (most is None or count <= most):
            return count
    span = f", {least:,} or more" if most is None else f" from {least:,} to {most:,}"
    raise ParameterError(f"{name} must be a whole number{span}, not {shorten(value)}")


def check_limit(limit: Any, name: str = "limit") -> int | None:
    """Return a maximum that is given for an argument; None is no limit."""
    return None if limit is None else check_count(name, limit)


def suggest(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean ...?" or the list of known names, to append to a message."""
    # Imported here: most names are correct.
    import difflib

    names = sorted(known)
    words = {one.lower(): one for one in names}
    close = len(name) <= _MAX_NAME_LENGTH and difflib.get_close_matches(name.lower(), words, n=1)
    if close:
        return f"; did you mean {words[close[0]]!r}?"
    more = f" and {len(names) - _MAX_LIST:,} more" if len(names) > _MAX_LIST else ""
    return f"; there is {', '.join(map(repr, names[:_MAX_LIST])) or 'none'}{more}"


def _unknown_names(
    given: Iterable[str], known: Sequence[str], media: set[str]
) -> Iterator[Problem]:
    unknown = [name for name in given if name not in known]
    for name in unknown:
        if name in media:
            yield f"parameters.{name}", "is a medium: upload it and name it in mediaUploads"
        else:
            hint = _hint(name, [*known, *media], len(unknown))
            yield f"parameters.{name}", f"unknown parameter{hint}"


def _hint(name: str, known: Iterable[str], count: int) -> str:
    # nothing is suggested for many unknown names
    return suggest(name, known) if count <= MAX_SHOWN else ""


def _item_problem(parameter: Parameter, value: Any, limits: Limits) -> str | None:
    if any(_is_same(value, choice) for choice in parameter.enum or ()):
        return None  # a listed choice is valid, whatever the declared type
    expected = _TYPE_CHECKS.get(parameter.type, lambda _: None)(value)
    if expected:
        return f"must be {expected}, not {shorten(value)}"
    if parameter.enum:
        return f"must be one of {', '.join(map(shorten, parameter.enum))}, not {shorten(value)}"
    if _is_number(value):
        return _range_problem(parameter, value, limits.number)
    if isinstance(value, str) and parameter.max_length is not None:
        limits = replace(limits, text=parameter.max_length)
    return _inner_problem(value, limits)


def _range_problem(parameter: Parameter, value: float, largest: float) -> str | None:
    if parameter.type in _NUMBER_TYPES and abs(value) > largest:
        return f"must be a number of at most {largest:,} in size, not {shorten(value)}"
    if parameter.minimum is not None and value < parameter.minimum:
        return f"must be at least {_format_bound(parameter.minimum)}, not {shorten(value)}"
    if parameter.maximum is not None and value > parameter.maximum:
        return f"must be at most {_format_bound(parameter.maximum)}, not {shorten(value)}"
    return NO_NAN_MESSAGE if isinstance(value, float) and not math.isfinite(value) else None


def _inner_problem(value: Any, limits: Limits, level: int = 2) -> str | None:
    """Return a message if a value nested at a level of the parameters is invalid."""
    if isinstance(value, str) and len(value) > limits.text:
        return bounds.too_long(len(value), limits.text)
    if isinstance(value, float) and not math.isfinite(value):
        return NO_NAN_MESSAGE
    if not isinstance(value, (Mapping, list, tuple)):
        return None
    if len(value) > limits.items:
        return bounds.too_many(len(value), limits.items)
    if level > limits.depth:
        return f"is nested in more than {limits.depth} levels"
    items = [*value, *value.values()] if isinstance(value, Mapping) else value
    return next((p for item in items if (p := _inner_problem(item, limits, level + 1))), None)


def _json_bytes(given: Mapping[str, Any]) -> int:
    """Return the bytes of parameters as JSON; the encoder reports values that JSON lacks."""
    try:
        return len(to_json(given))
    except ValueError:
        return 0


def _format_bound(bound: float) -> str:
    """Format a bound with all its digits, a whole number without a decimal point."""
    if isinstance(bound, int):
        return f"{bound}"
    return str(int(bound)) if bound.is_integer() and abs(bound) <= _MAX_INTEGER else f"{bound}"


def _is_same(value: Any, choice: Any) -> bool:
    """Return whether two values are equal in JSON, where true is not 1."""
    return bool(value == choice) and _is_number(value) == _is_number(choice)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _check_integer(value: Any) -> str | None:
    if not _is_number(value) or (isinstance(value, float) and not value.is_integer()):
        return "a whole number"
    return _check_number(value)


def _check_number(value: Any) -> str | None:
    is_wrong = not _is_number(value) or (isinstance(value, float) and not math.isfinite(value))
    return "a number" if is_wrong else None


#: Type of a parameter -> function that returns what a value should be, or None if it is valid.
_TYPE_CHECKS: dict[str, Callable[[Any], str | None]] = {
    "integer": _check_integer,
    "number": _check_number,
    "boolean": lambda value: None if isinstance(value, bool) else "true or false",
    "string": lambda value: None if isinstance(value, str) else "text",
}


def _normalize(parameter: Parameter, value: Any) -> Any:
    """Convert 5.0 to 5 for integer parameters, so that equal requests look equal."""
    if parameter.type == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    return list(value) if isinstance(value, tuple) else value


def shorten(value: Any) -> str:
    """Return a short text for a value of any size."""
    if isinstance(value, bool):
        return {True: "true", False: "false"}[value]
    if isinstance(value, int) and abs(value) >= 10**40:
        return "a larger one"  # it has too many digits to show
    if isinstance(value, (Mapping, list, tuple)):
        return "an object" if isinstance(value, Mapping) else "a list"
    text = repr(value[:_MAX_TEXT_LENGTH] if isinstance(value, str) else value)
    return text if len(text) <= _MAX_TEXT_LENGTH else f"{text[: _MAX_TEXT_LENGTH - 3]}..."
