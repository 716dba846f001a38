"""``kit move``: from the embedded database to PostgreSQL."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Annotated

import typer

from kit.commands.database import settings_of
from kit.commands.options import Data, show_table
from kit.errors import ConfigError
from kit.service.move import move


def command(
    database: Annotated[
        str, typer.Option(help="URL of the other database.", envvar="KIT_DATABASE_URL")
    ],
    data: Data = None,
) -> None:
    """Copy the accounts, history and ledger of a data folder into PostgreSQL, and prove the books.

    The service must not run. Its files and its secret stay in the data folder.
    """
    target = settings_of(data, database)
    if target.embedded:
        raise ConfigError("--database must be the URL of a PostgreSQL database")
    counts = asyncio.run(move(replace(target, database_url=""), target))
    show_table(("table", "rows"), list(counts.items()))
    typer.echo("Every balance is the sum of its entries on both sides, and every row is the same.")
    typer.echo("Run the service with this KIT_DATABASE_URL and the same data folder from now on.")
