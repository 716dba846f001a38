"""Magics for IPython: ``%load_ext kit`` registers ``%%generate`` and ``%credits``.

They use the studio of the notebook; if it has several, ``--studio NAME`` says which. Typing errors
are reported without a traceback.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from kit import typed, wire
from kit.errors import (
    BadRequestError,
    BudgetError,
    ConfigError,
    InsufficientCreditsError,
    KitError,
    NotFoundError,
)
from kit.parameters import suggest

if TYPE_CHECKING:
    from kit.studio import Generation, Studio

_USAGE = (
    "%%generate MODEL [name=value ...] [--tag key=value] [--again] [--studio NAME], "
    "and the prompt below it"
)
#: Errors that users can correct: shown without a traceback.
_USER_ERRORS = (BadRequestError, BudgetError, ConfigError, InsufficientCreditsError, NotFoundError)


@dataclass(frozen=True, slots=True)
class MagicLine:
    """The arguments of ``%%generate``."""

    model: str
    given: Mapping[str, list[str]] = field(default_factory=dict)
    again: bool = False
    studio: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)


class Magics:
    """The magics of one IPython shell; they look up studios among its variables."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell

    def generate(self, line: str, cell: str | None = None) -> Generation:
        """Generate a picture or a video from the prompt in the cell.

        ``%%generate poster size=1024 seed=7``, and the prompt below it; input files are given as
        paths. A repeated request returns the earlier result at no cost; ``--again`` generates and
        pays again. ``--tag campaign=winter`` adds a tag. ``%generate``, with one percent sign, is
        for models without a prompt. If the notebook has several studios, ``--studio NAME`` names
        the variable of the one to use.
        """
        try:
            request = parse_line(line)
            studio = self._studio(request.studio)
            model = studio.models[request.model]
            inputs = {parameter.name for parameter in model.media_parameters}
            media = {name: files for name, files in request.given.items() if name in inputs}
            settings = {name: texts for name, texts in request.given.items() if name not in inputs}
            return studio.generate(
                request.model,
                (cell or "").strip() or None,
                media=media or None,
                again=request.again,
                tags=request.tags,
                parameters=typed.parse_values(model, settings, others=inputs),
            )
        except _USER_ERRORS as error:
            if error.generation_id:
                raise
            raise UsageError(str(error)) from None

    def credits(self, line: str) -> wire.Account:
        """Return the account with its balance; if there are several studios, name one."""
        try:
            return self._studio(line.strip() or None).account
        except _USER_ERRORS as error:
            raise UsageError(str(error)) from None

    def complete(self, _shell: Any, event: Any) -> list[str]:
        """Return completions for the end of a ``%%generate`` line."""
        before = event.line.split()
        start = "" if event.line.endswith(" ") else before.pop()
        try:
            words = _split_words(event.line)
            name = words[words.index("--studio") + 1] if "--studio" in words[:-1] else None
            models = self._studio(name).models
        except (KitError, ValueError):
            return []  # running the cell reports the error
        if len(before) < 2:
            return [model_id for model_id in models if model_id.startswith(start)]
        model = models.get(before[1])
        words = [] if model is None else _setting_words(model)
        return [word for word in (*words, "--again", "--studio", "--tag") if word.startswith(start)]

    def _studio(self, name: str | None) -> Studio:
        """Return the studio of a variable, or the only studio of the notebook."""
        from kit.studio import AsyncStudio, Studio

        studios = {
            variable: value
            for variable, value in self._shell.user_ns.items()
            if isinstance(value, Studio | AsyncStudio) and not variable.startswith("_")
        }
        if name is not None and name not in studios:
            raise ConfigError(f"{name} is not a studio{suggest(name, studios)}")
        if not studios:
            raise ConfigError("this notebook has no studio; studio = kit.connect() makes one")
        if name is None and len(set(studios.values())) > 1:
            first, *rest = studios
            raise ConfigError(
                f"this notebook has the studios {', '.join(rest)} and {first}: say which, as in "
                f"--studio {first}"
            )
        found = studios[name] if name else next(iter(studios.values()))
        if isinstance(found, Studio):
            return found
        # the blocking version of the same studio, with the same history and budgets
        client, operations = found.client.blocking, found.session.operations
        return Studio(client.settings, client=client, operations=operations)


def load(shell: Any) -> None:
    """Register the magics in a shell."""
    magics = Magics(shell)
    shell.register_magic_function(magics.generate, "line_cell", "generate")
    shell.register_magic_function(magics.credits, "line", "credits")
    shell.set_hook("complete_command", magics.complete, str_key="%%generate")


def _split_words(line: str) -> list[str]:
    reader = shlex.shlex(line, posix=True)
    reader.whitespace_split, reader.commenters = True, ""
    if os.name == "nt":  # a backslash is part of a path
        reader.escape = ""
    return list(reader)


def parse_line(line: str) -> MagicLine:
    """Parse the arguments of ``%%generate``."""
    try:
        words = _split_words(line)
    except ValueError as error:
        raise ConfigError(f"{error}: write {_USAGE}") from None
    again, studio, others, tags = False, None, list[str](), list[str]()
    rest = iter(words)
    for word in rest:
        if word == "--again":
            again = True
        elif word == "--studio":
            studio = next(rest, "")
        elif word == "--tag":
            tags.append(next(rest, ""))
        else:
            others.append(word)
    model, *pairs = others or [""]
    if not model or "=" in model or model.startswith("-"):
        raise ConfigError(f"which model? Write {_USAGE}")
    labels = {name: texts[-1] for name, texts in typed.parse_pairs(tags, "--tag").items()}
    return MagicLine(model, typed.parse_pairs(pairs, "a setting"), again, studio, labels)


def _setting_words(model: wire.Model) -> list[str]:
    words = []
    for parameter in model.parameters:
        words += [f"{parameter.name}={value}" for value in parameter.enum or ()]
        words += [] if parameter.enum else [f"{parameter.name}="]
    return words
