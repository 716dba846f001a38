"""Magics: ``%load_ext kit`` teaches IPython ``%%generate`` and ``%credits``.

They use the variable `studio` of the notebook where it is one, else the studio that `kit.connect()`
returns. What was typed wrongly is a sentence without a traceback.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
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

if TYPE_CHECKING:
    from kit.studio import AsyncStudio, Generation, Studio

_USAGE = "%%generate MODEL [name=value ...] [--again], and the prompt below it"
#: What the person at the keyboard can put right: the sentence is enough.
_MISTAKES = (
    BadRequestError,
    BudgetError,
    ConfigError,
    InsufficientCreditsError,
    NotFoundError,
)


@dataclass(frozen=True, slots=True)
class MagicLine:
    """What stands behind ``%%generate``."""

    model: str
    given: Mapping[str, list[str]] = field(default_factory=dict)
    again: bool = False


class Magics:
    """The magics of one IPython shell.

    Parameters
    ----------
    shell : InteractiveShell
        Whose variables are looked at.
    connect : callable
        Returns the studio where the notebook has none.
    """

    def __init__(self, shell: Any, connect: Callable[[], Studio]) -> None:
        self._shell = shell
        self._connect = connect
        #: What was made for a shell without a studio that blocks, and what it was made of.
        self.own: tuple[AsyncStudio | None, Studio] | None = None

    def generate(self, line: str, cell: str | None = None) -> Generation:
        """Make a picture or a video of the prompt in the cell.

        ``%%generate poster size=1024 seed=7`` and the prompt below it; a medium is given by its
        file. The same request is paid for once; ``--again`` makes it anew. ``%generate``, with one
        percent sign, is for models that take no prompt.
        """
        try:
            asked = parse_line(line)
            studio = self._studio()
            model = studio.models[asked.model]
            named = {parameter.name for parameter in model.media_parameters}
            media = {name: files for name, files in asked.given.items() if name in named}
            settings = {name: texts for name, texts in asked.given.items() if name not in named}
            return studio.generate(
                asked.model,
                (cell or "").strip() or None,
                media=media or None,
                again=asked.again,
                parameters=typed.parse_values(model, settings, others=named),
            )
        except _MISTAKES as error:
            if error.generation_id:
                raise
            raise UsageError(str(error)) from None

    def credits(self, line: str) -> wire.Account:
        """Return the account with what it can spend."""
        if line.strip():
            raise UsageError("%credits takes nothing behind it")
        try:
            return self._studio().account
        except _MISTAKES as error:
            raise UsageError(str(error)) from None

    def complete(self, _shell: Any, event: Any) -> list[str]:
        """Return what can stand at the end of a ``%%generate`` line."""
        before = event.line.split()
        begun = "" if event.line.endswith(" ") else before.pop()
        try:
            models = self._studio().models
        except KitError:
            return []  # the magic itself says what is wrong
        if len(before) < 2:
            return [model_id for model_id in models if model_id.startswith(begun)]
        model = models.get(before[1])
        words = [] if model is None else _words(model)
        return [word for word in (*words, "--again") if word.startswith(begun)]

    def _studio(self) -> Studio:
        from kit.studio import AsyncStudio, Studio

        found = self._shell.user_ns.get("studio")
        if isinstance(found, Studio):
            return found
        awaited = found if isinstance(found, AsyncStudio) else None
        if self.own is None or self.own[0] is not awaited:
            # another account by now: what was made before would go on paying
            if self.own is not None:
                self.own[1].close()
            self.own = awaited, _blocking(awaited) if awaited else self._connect()
        return self.own[1]


def load(shell: Any, connect: Callable[[], Studio]) -> None:
    """Teach a shell the magics."""
    magics = Magics(shell, connect)
    shell.register_magic_function(magics.generate, "line_cell", "generate")
    shell.register_magic_function(magics.credits, "line", "credits")
    shell.set_hook("complete_command", magics.complete, str_key="%%generate")


def parse_line(line: str) -> MagicLine:
    """Return what a line asks for.

    Raises
    ------
    ConfigError
        It names no model, or holds something that is not ``name=value``.

    Examples
    --------
    >>> parse_line("poster seed=7 --again")
    MagicLine(model='poster', given={'seed': ['7']}, again=True)
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise ConfigError(f"{error}: write {_USAGE}") from None
    again = "--again" in words
    model, *pairs = [word for word in words if word != "--again"] or [""]
    if not model or "=" in model or model.startswith("-"):
        raise ConfigError(f"which model? Write {_USAGE}")
    given: dict[str, list[str]] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise ConfigError(f"{pair!r} is not name=value: write {_USAGE}")
        given.setdefault(name, []).append(value)
    return MagicLine(model, given, again)


def _blocking(studio: AsyncStudio) -> Studio:
    """Return the same studio for a cell that waits: one history, one budget."""
    from kit.studio import Studio

    return Studio(studio.client.settings, operations=studio.session.operations)


def _words(model: wire.Model) -> list[str]:
    words = []
    for parameter in model.parameters:
        words += [f"{parameter.name}={value}" for value in parameter.enum or ()]
        words += [] if parameter.enum else [f"{parameter.name}="]
    return words
