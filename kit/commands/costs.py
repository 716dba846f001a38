"""``kit costs``: what was spent on what."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import kit
from kit.commands.options import Data
from kit.errors import ConfigError

app = typer.Typer(help="Costs: what was spent on what.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """Report what was spent."""


@app.command()
def report(
    month: Annotated[str | None, typer.Argument(help="Such as 2026-11; the present one.")] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File to write.", show_default=False)
    ] = None,
    budget: Annotated[
        str | None, typer.Option(help="Credits that were to be spent at most.")
    ] = None,
    timezone: Annotated[str, typer.Option(help="Where days begin.")] = "UTC",
    data: Data = None,
) -> None:
    """Write the report of a month as one HTML file."""
    if output is not None and not output.absolute().parent.is_dir():
        raise ConfigError(f"the folder {output.absolute().parent} does not exist")
    with kit.connect(data=data) as studio:
        typer.echo(studio.costs.report(month, budget=budget, timezone=timezone).save(output))
