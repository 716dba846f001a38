"""``kit migrate``: the database is brought to the newest schema."""

from __future__ import annotations

import asyncio

import typer

from kit.commands.database import settings_of
from kit.commands.options import Data, DatabaseUrl
from kit.service.databases import migrate_database


def command(data: Data = None, database: DatabaseUrl = None) -> None:
    """Bring the database up to this version; an embedded one does so when it is opened."""
    done = asyncio.run(migrate_database(settings_of(data, database)))
    typer.echo(f"The database has the schema {done}.")
