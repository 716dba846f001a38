"""The settings and media of a model, looked at: what can never be used is not offered.

For whoever writes a model, in the file or as a plug-in. The models of another service pass as they
are: their defaults are its affair.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kit import parameters
from kit.engines.base import Definition
from kit.errors import ConfigError
from kit.wire import Parameter


@dataclass(frozen=True, slots=True)
class Taken:
    """Names that a setting may not have, and why."""

    names: Collection[str]
    why: str


def usable(definition: Definition, taken: Taken | None = None) -> Definition:
    """Return a definition whose settings and media can all be used.

    Parameters
    ----------
    taken : Taken, optional
        Names that mean something else already.

    Raises
    ------
    ConfigError
        With a sentence for each name that is there twice or taken, each range without a value in
        it, and each choice or default that its own parameter does not allow.
    """
    inputs = [*definition.media, *definition.settings]
    problems = [*_names(inputs), *_taken(definition.settings, taken)]
    for parameter in inputs:
        problems += _values(parameter)
    if problems:
        raise ConfigError("; ".join(problems))
    return definition


def distinct(choices: Iterable[Any]) -> Sequence[Any]:
    """Return choices as they are.

    Raises
    ------
    ValueError
        One of them is there twice.
    """
    found = list(choices)
    for choice in found:
        if found.count(choice) > 1:
            raise ValueError(f"names {choice!r} twice")
    return found


def _names(inputs: Sequence[Parameter]) -> Iterator[str]:
    names = [parameter.name for parameter in inputs]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            yield f"it has two parameters of the name {name!r}"


def _taken(settings: Iterable[Parameter], taken: Taken | None) -> Iterator[str]:
    if taken is None:
        return
    named = {parameter.name for parameter in settings}
    wrong = [repr(name) for name in taken.names if name in named]
    if wrong:
        yield f"no parameter may be called {' or '.join(wrong)}: {taken.why}"


def _values(parameter: Parameter) -> Iterator[str]:
    whose, low, high = f"its parameter {parameter.name!r}", parameter.minimum, parameter.maximum
    if low is not None and high is not None and low > high:
        yield f"{whose} has a minimum of {low:g}, above its maximum of {high:g}"
        return
    if parameter.enum is not None and not parameter.enum:
        yield f"{whose} has an empty list of choices"
        return
    free = parameter.model_copy(update={"enum": None})
    for choice in parameter.enum or ():
        if problem := parameters.problem_with(free, choice):
            yield f"a choice of {whose} {problem}"
    if parameter.default is not None:
        problem = parameters.problem_with(parameter, parameter.default)
        if problem:
            yield f"the default of {whose} {problem}"
