"""Checks the settings and media of a model, so that no unusable one is offered.

For authors of models, in the file or in plug-ins. Models of other services are not checked: their
defaults are not ours to correct.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kit import parameters
from kit.engines.base import Definition, model_of
from kit.errors import ConfigError
from kit.wire import Parameter


def check_definition(
    definition: Definition, reserved: Collection[str] = (), reason: str = ""
) -> Definition:
    """Return a definition that the catalog accepts, and whose settings and media are all usable.

    `reserved` are names that no setting may have, `reason` says why.

    Raises
    ------
    ConfigError
        As `model_of`; or with a sentence for each duplicate or reserved name, each empty range, and
        each choice or default that its own parameter does not allow.
    """
    model_of(definition)
    inputs = [*definition.media, *definition.settings]
    names = [parameter.name for parameter in inputs]
    duplicates = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    problems = [f"two of its parameters have the name {name!r}" for name in duplicates]
    settings = {parameter.name for parameter in definition.settings}
    if conflicts := [repr(name) for name in reserved if name in settings]:
        problems.append(f"no parameter may be called {' or '.join(conflicts)}: {reason}")
    for parameter in inputs:
        problems += _problems(parameter)
    if problems:
        raise ConfigError("; ".join(problems))
    return definition


def _problems(parameter: Parameter) -> Iterator[str]:
    subject, low, high = f"its parameter {parameter.name!r}", parameter.minimum, parameter.maximum
    if low is not None and high is not None and low > high:
        yield f"{subject} has a minimum of {low:g}, above its maximum of {high:g}"
        return
    if parameter.enum is not None and not parameter.enum:
        yield f"{subject} has an empty list of choices"
        return
    free = parameter.model_copy(update={"enum": None, "max_items": None})
    for choice in parameter.enum or ():
        if problem := parameters.value_problem(free, choice):
            yield f"a choice of {subject} {problem}"
    if parameter.default is not None:
        problem = parameters.value_problem(parameter, parameter.default)
        if problem:
            yield f"the default of {subject} {problem}"
