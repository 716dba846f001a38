"""The command line, one module a noun; errors are one sentence on the error stream.

Only the module of the command that is asked for is loaded: the others need half of the kit.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module

import typer

from kit.errors import BadRequestError, ConfigError, KitError

#: Exit codes: 1 it failed, 2 it was asked wrongly, 130 it was interrupted.
FAILED, ASKED_WRONGLY, INTERRUPTED = 1, 2, 130

#: The commands, in the order in which the help shows them; the last ones have commands themselves.
COMMANDS = (
    "lab",
    "serve",
    "models",
    "generate",
    "login",
    "logout",
    "profiles",
    "backup",
    "restore",
    "migrate",
    "move",
    "doctor",
    "audit",
    "demo-data",
)
GROUPS = ("accounts", "credits", "keys", "ledger", "outputs")


def command_line(names: Iterable[str] = (*COMMANDS, *GROUPS)) -> typer.Typer:
    """Return the command line, with some of its commands."""
    app = typer.Typer(
        name="kit",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    # Without it a command line of one command would not want to hear its name.
    app.callback(help="Creative Studio: the service, and a client for it.")(_nothing)
    for name in names:
        module = import_module(f"kit.commands.{name.replace('-', '_')}")
        if name in GROUPS:
            app.add_typer(module.app, name=name)
        else:
            app.command(name)(module.command)
    return app


def build_parser(arguments: Sequence[str]) -> typer.Typer:
    """Return as much of the command line as some arguments need."""
    asked = [name for name in arguments[:1] if name in (*COMMANDS, *GROUPS)]
    return command_line(asked) if asked else command_line()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the process when left out.
    """
    given = sys.argv[1:] if arguments is None else arguments
    run(build_parser(given), given)


def run(app: typer.Typer, arguments: Sequence[str]) -> None:
    """Run a command line; an error is one sentence and an exit code."""
    try:
        app(args=arguments)
    except (ConfigError, BadRequestError) as error:
        _exit(str(error), ASKED_WRONGLY)
    except KitError as error:
        _exit(str(error), FAILED)
    except KeyboardInterrupt:
        _exit("interrupted", INTERRUPTED)
    except BrokenPipeError:
        # Whoever read the output has enough; the interpreter must not complain about it again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _nothing() -> None:
    """Do nothing before a command."""


def _exit(sentence: str, code: int) -> None:
    typer.echo(f"kit: {sentence}", err=True)
    raise SystemExit(code)
