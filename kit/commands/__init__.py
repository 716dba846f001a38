"""The command line, one module per noun; errors are one sentence on standard error.

Only the module of the requested command is imported: the others need half of the kit.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated

import typer

from kit.errors import BadRequestError, ConfigError, KitError, require_extra
from kit.version import __version__

#: Exit codes: 1 failed, 2 invalid usage, 130 interrupted.
FAILED, INVALID_USAGE, INTERRUPTED = 1, 2, 130

#: The commands with their help texts, in the order of the help. The texts are copies, so that
#: the help imports no command; a test compares them with the commands' own.
COMMANDS = {
    "lab": "Open JupyterLab on the first tutorial.",
    "serve": "Run the service.",
    "worker": "Render for the services on a Dask cluster.",
    "models": "List the models with their prices, or show one.",
    "generate": "Generate a picture or a video and write it to a file.",
    "login": "Save the address of a service and an API key.",
    "logout": "Delete a saved profile and its key.",
    "profiles": "List the saved profiles, without their keys.",
    "backup": "Back up a data folder.",
    "restore": "Restore a backup.",
    "migrate": "Migrate the database to this version.",
    "move": "Copy a data folder into PostgreSQL and S3.",
    "deploy": "Print a deployment file: compose, Kubernetes, nginx, systemd, Dockerfile.",
    "docs": "Write the reference as static pages.",
    "tour": "Write the tutorials and the gallery as static pages.",
    "doctor": "Check the installation, the data folder and the models.",
    "audit": "List created accounts and keys, granted credits.",
    "demo-data": "Create a data folder with a demo history.",
}
#: Commands in the module of another command.
_MODULES = {"login": "profiles", "logout": "profiles", "restore": "backup", "ledger": "credits"}
_MODULES |= {"migrate": "move"}
#: Commands with subcommands.
GROUPS = {
    "accounts": "Create and list accounts.",
    "costs": "Report what was spent.",
    "credits": "Grant credits to accounts.",
    "keys": "Create, list and revoke API keys.",
    "ledger": "Verify the ledger.",
    "outputs": "Delete output files.",
    "webhooks": "Manage webhooks, URLs notified when generations end.",
}


def command_line(names: Iterable[str] = (*COMMANDS, *GROUPS)) -> typer.Typer:
    """Return the command line; commands that are not in `names` have only their help text."""
    app = typer.Typer(
        name="kit",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    app.callback(help="Creative Studio: explore generative models, and run the service behind it.")(
        _options
    )
    loaded = set(names)
    for name, sentence in {**COMMANDS, **GROUPS}.items():
        if name not in loaded:
            app.command(name, help=sentence)(lambda: None)
            continue
        module = import_module(f"kit.commands.{_MODULES.get(name, name).replace('-', '_')}")
        if name in GROUPS:
            group = getattr(module, name if name in _MODULES else "app")
            app.add_typer(group, name=name, help=sentence)
        else:
            app.command(name)(getattr(module, name if name in _MODULES else "command"))
    return app


def build_parser(arguments: Sequence[str]) -> typer.Typer:
    """Return the part of the command line that the arguments need."""
    name = arguments[0] if arguments else "--help"
    extra = "lab" if name in ("lab", "tour") else "service"
    with report_errors(), require_extra(extra, f"`kit {name}`"):
        return command_line(arguments[:1])


def run(app: typer.Typer, arguments: Sequence[str]) -> None:
    """Run a command line."""
    with report_errors():
        for text in arguments:
            text.encode()  # names and notes that cannot be encoded cannot be stored
        try:
            app(args=arguments)
        except SystemExit as end:  # the library ends so after an interrupt
            interrupt = end.__context__ and end.__context__.__cause__
            for note in getattr(interrupt, "__notes__", ()):
                typer.echo(f"kit: {clean(note)}", err=True)
            raise


@contextmanager
def report_errors() -> Iterator[None]:
    """Turn an error into one sentence and an exit code."""
    try:
        yield
    except (ConfigError, BadRequestError) as error:
        _exit(str(error), INVALID_USAGE)
    except KitError as error:
        _exit(str(error), FAILED)
    except UnicodeEncodeError as error:
        _exit(f"an argument must be text in UTF-8, not {error.object!r}", INVALID_USAGE)
    except KeyboardInterrupt:
        _exit("interrupted", INTERRUPTED)
    except OSError as error:
        if _is_broken_pipe(error):
            # The reader has closed the output; the interpreter must not report that again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return
        # A read-only folder, a full disk: the system's message with the file; of two files, the
        # one that could not be created.
        name = error.filename2 or error.filename
        _exit(f"{name}: {error.strerror}" if name else str(error), FAILED)


def _is_broken_pipe(error: OSError) -> bool:
    """Whether the reader of an output has closed it, which Windows reports as invalid argument."""
    if isinstance(error, BrokenPipeError):
        return True
    has_no_file = error.filename is None and getattr(error, "winerror", 0) is None
    return os.name == "nt" and error.errno == errno.EINVAL and has_no_file


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"kit {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", is_eager=True, callback=_show_version
        ),
    ] = False,
) -> None:
    """Do nothing before a command."""


def clean(text: str) -> str:
    """Return text of a service without control characters, which could affect a terminal."""
    return "".join(c if c.isprintable() or c == "\n" else " " for c in text)


def _exit(sentence: str, code: int) -> None:
    typer.echo(f"kit: {clean(sentence)}", err=True)
    raise SystemExit(code)
