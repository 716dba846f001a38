"""The command line, one module a noun; errors are one sentence on the error stream."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import typer

from kit.commands import (
    accounts,
    backup,
    credits,
    demo_data,
    doctor,
    generate,
    keys,
    lab,
    ledger,
    login,
    logout,
    models,
    profiles,
    restore,
    serve,
)
from kit.errors import BadRequestError, ConfigError, KitError

#: Exit codes: 1 it failed, 2 it was asked wrongly, 130 it was interrupted.
FAILED, ASKED_WRONGLY, INTERRUPTED = 1, 2, 130

app = typer.Typer(
    name="kit",
    help="Creative Studio: the service, and a client for it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for _module in (
    lab,
    serve,
    models,
    generate,
    login,
    logout,
    profiles,
    backup,
    restore,
    doctor,
    demo_data,
):
    app.command()(_module.command)
    app.registered_commands[-1].name = _module.NAME
for _group in (accounts, credits, keys, ledger):
    app.add_typer(_group.app, name=_group.NAME)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the process when left out.
    """
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


def _exit(sentence: str, code: int) -> None:
    typer.echo(f"kit: {sentence}", err=True)
    raise SystemExit(code)
