"""``kit costs``: reports of costs."""

from __future__ import annotations

from typing import Annotated

import typer

import kit
from kit.client import settings
from kit.commands.options import Data, Output, Profile, check_folder, group
from kit.errors import ConfigError

app = group()


@app.command()
def report(
    month: Annotated[
        str | None, typer.Argument(help="Such as 2026-11; default: this month.")
    ] = None,
    output: Output = None,
    budget: Annotated[str | None, typer.Option(help="Budget in credits.")] = None,
    timezone: Annotated[str, typer.Option(help="Time zone in which days begin.")] = "UTC",
    profile: Profile = None,
    data: Data = None,
) -> None:
    """Write the report of a month as one HTML file."""
    check_folder(output)
    folder, service = settings.data_folder(data), settings.resolve(profile=profile, data=data)
    if service is None and not folder.is_dir():  # connecting would create it
        raise ConfigError(f"there is no data folder {folder}")
    with kit.connect(profile=profile, data=data) as studio:
        typer.echo(studio.costs.report(month, budget=budget, timezone=timezone).save(output))
