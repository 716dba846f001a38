"""Options and output shared by several commands."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from kit.commands import clean
from kit.errors import ConfigError
from kit.pricing import millicredits


def _folder(text: str) -> Path:
    if not text:  # it would be the current folder; a script's variable may not be set
        raise ConfigError("--data must name a folder")
    return Path(text)


_DATA_HELP = "Data folder of the service."
Data = Annotated[
    Path | None, typer.Option(parser=_folder, metavar="<path>", help=_DATA_HELP, envvar="KIT_DATA")
]
DatabaseUrl = Annotated[
    str | None, typer.Option("--database", help="Database URL.", envvar="KIT_DATABASE_URL")
]
Profile = Annotated[
    str | None, typer.Option(help="Saved profile, or `embedded`; default: KIT_PROFILE.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Account = Annotated[str, typer.Option(help="Account id.")]
LogStyle = StrEnum("LogStyle", ["TEXT", "JSON"])
LogFormat = Annotated[LogStyle, typer.Option(help="Format of log lines.", envvar="KIT_LOG_FORMAT")]


def _output(text: str) -> Path:
    if text.endswith(("/", os.sep)) and not Path(text).is_dir():
        raise ConfigError(f"the folder {text} does not exist")
    if text == "-":
        raise ConfigError("-o names a file; - for the standard output is not supported")
    return Path(text)


Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        parser=_output,
        metavar="<path>",
        help="File to write.",
        show_default=False,
    ),
]


def group() -> typer.Typer:
    """Return an app with subcommands, even if there is only one."""
    app = typer.Typer(no_args_is_help=True)
    app.callback()(lambda: None)
    return app


def check_folder(output: Path | None) -> None:
    """Raise if the folder of an output file does not exist, before anything is charged."""
    if output is not None and not output.absolute().parent.is_dir():
        raise ConfigError(f"the folder {output.absolute().parent} does not exist")


#: More is a typing error, and would exceed the ledger's range sooner or later.
_MAX_CREDITS = 10**12


def amount(text: str, name: str) -> int:
    """Return credits on the command line as millicredits."""
    try:
        value = Decimal(text)
        if not value.is_finite() or abs(value) >= _MAX_CREDITS:
            raise InvalidOperation
        return millicredits(value)
    except (InvalidOperation, ValueError):
        rule = f"{name} must be a number of credits with up to 3 decimals, below a trillion"
        raise ConfigError(f"{rule}, not {text!r}") from None


def instant(text: str) -> int:
    """Return an ISO 8601 date or time as milliseconds since 1970; without a zone it is UTC."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(
            f"a time must be in ISO 8601, such as 2030-01-31T12:00:00Z, not {text!r}"
        ) from None
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    return int(moment.timestamp() * 1000)


def show(as_json: bool, value: Any, text: str) -> None:
    """Print a value as JSON or as text."""
    # JSON can escape characters that the output's encoding does not have.
    unicode = (sys.stdout.encoding or "utf").lower().startswith("utf")
    typer.echo(json.dumps(value, indent=2, ensure_ascii=not unicode) if as_json else text)


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return rows as text in aligned columns, one line per row."""
    cells = [[clean(str(cell)).replace("\n", " ") for cell in row] for row in [columns, *rows]]
    widths = [max(len(row[index]) for row in cells) for index in range(len(columns))]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in cells)
