"""``kit move`` to PostgreSQL and a bucket, and ``kit migrate`` to the newest schema."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Annotated

import typer

from kit.commands.database import check_exists, settings_of
from kit.commands.options import Data, DatabaseUrl, Json, show, table
from kit.errors import ConfigError
from kit.service.databases import migrate_database
from kit.service.move import move


def command(
    database: Annotated[
        str, typer.Option(help="URL of the PostgreSQL database.", envvar="KIT_DATABASE_URL")
    ],
    storage: Annotated[
        str | None,
        typer.Option(help="s3:// URL of a bucket for the files.", envvar="KIT_STORAGE_URL"),
    ] = None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Copy a data folder into PostgreSQL and S3, and verify the copy.

    Accounts, history and ledger go into the database; with --storage, files go into a bucket, and
    each is read back and compared. The service must be stopped. The data folder is not changed and
    keeps the secret, which the services still need.
    """
    target = settings_of(data, database, storage_url=storage)
    if target.embedded:
        raise ConfigError("--database must be the URL of a PostgreSQL database")
    in_bucket = target.storage_url.startswith("s3://")
    source = replace(target, database_url="", storage_url="" if in_bucket else target.storage_url)
    counts = asyncio.run(move(source, target))
    variables = "KIT_DATABASE_URL" + (", KIT_STORAGE_URL" if in_bucket else "")
    text = (
        f"{table(('table', 'rows'), list(counts.items()))}\n"
        "Every balance is the sum of its entries on both sides, and every row is the same.\n"
        f"Run services and commands with this {variables} and the same secret; remove "
        f"{source.database_path}, so that none uses it by mistake."
    )
    show(as_json, counts, text)


def migrate(data: Data = None, database: DatabaseUrl = None) -> None:
    """Migrate the database to this version; SQLite is migrated when it is opened."""
    settings = settings_of(data, database)
    check_exists(settings)
    typer.echo(f"The database has the schema {asyncio.run(migrate_database(settings))}.")
