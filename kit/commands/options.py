"""Options that several commands take, and how they print."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from kit.errors import ConfigError
from kit.pricing import millicredits
from kit.service import machine
from kit.service import settings as service_settings
from kit.service.app import check_data_folder, open_database
from kit.service.domain import queue
from kit.service.settings import ServiceSettings
from kit.service.store.database import Database, Transaction
from kit.service.store.sqlite import RESTORE, damage

T = TypeVar("T")

Data = Annotated[
    Path | None,
    typer.Option(help="Folder of the service's data.", envvar="KIT_DATA", show_default=False),
]
DatabaseUrl = Annotated[
    str | None,
    typer.Option("--database", help="Database URL.", envvar="KIT_DATABASE_URL"),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Account = Annotated[str, typer.Option(help="Account id.")]


def settings_of(data: Path | None, database: str | None = None, **given: Any) -> ServiceSettings:
    """Return the service's settings as the command line and the environment have them."""
    return service_settings.load(data=data, database_url=database, **given)


def transact(settings: ServiceSettings, work: Transaction[T]) -> T:
    """Run a transaction on the service's own database, whether the service runs or not."""
    return _on(settings, lambda database: database.write(work))


def read(settings: ServiceSettings, work: Transaction[T]) -> T:
    """Run a transaction that only reads: however long it takes, a running service can write."""
    return _on(settings, lambda database: database.read(work))


def actor() -> str:
    """Return who gives an order here, for the audit."""
    return f"cli:{machine.user()}"


def check_database(settings: ServiceSettings) -> str:
    """Look through the service's database, if there is one, and say that nothing is wrong with it.

    Raises
    ------
    ConfigError
        The data folder is not whole; the sentence says what is wrong.
    """
    if not settings.embedded:
        read(settings, queue.count_states())
        return "the server answers, and has the schema of this version"
    check_data_folder(settings)
    path = settings.database_path
    if not path.exists():
        return f"there is none yet at {path}"
    if wrong := damage(path):
        raise ConfigError(f"the database {path} is damaged: {wrong}; {RESTORE}")
    return f"{path} is whole"


def amount(text: str, name: str) -> int:
    """Return credits as they were typed, in millicredits."""
    try:
        value = Decimal(text)
        if not value.is_finite():
            raise InvalidOperation
        return millicredits(value)
    except (InvalidOperation, ValueError):
        sentence = f"{name} must be a number of credits with up to 3 decimals, not {text!r}"
        raise ConfigError(sentence) from None


def instant(text: str) -> int:
    """Return an ISO 8601 date or time as milliseconds since 1970; without a zone it is UTC."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(
            f"--expires must be an ISO 8601 time such as 2030-01-31T12:00:00Z, not {text!r}"
        ) from None
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    return int(moment.timestamp() * 1000)


def show_json(value: Any) -> None:
    """Print a value as JSON."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def show_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print rows under their columns, as wide as they are."""
    cells = [[str(cell) for cell in row] for row in [columns, *rows]]
    widths = [max(len(row[place]) for row in cells) for place in range(len(columns))]
    for row in cells:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        typer.echo(line.rstrip())


def _on(settings: ServiceSettings, work: Callable[[Database], Awaitable[T]]) -> T:
    async def alone() -> T:
        database = open_database(settings)
        try:
            return await work(database)
        finally:
            await database.close()

    return asyncio.run(alone())
