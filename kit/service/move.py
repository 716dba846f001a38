"""The way from an embedded data folder to a database of its own: rows copied, books proved.

The secret and the files stay in the folder, which the service goes on with.
"""

from __future__ import annotations

from kit.errors import ConfigError
from kit.service import server
from kit.service.app import load_postgresql, migrate_database, open_database
from kit.service.domain import credits
from kit.service.settings import ServiceSettings
from kit.service.store.database import Database
from kit.service.store.sqlite import table_reader


async def move(source: ServiceSettings, target: ServiceSettings) -> dict[str, int]:
    """Copy all rows of an embedded database into an empty one and return how many each table has.

    Parameters
    ----------
    source, target : Settings
        Of one data folder, with its own database and with a server's.

    Raises
    ------
    ConfigError
        The service runs, there is nothing to move, the other database is not empty, or the books
        of either are wrong; the embedded database is left as it is.
    """
    if not source.database_path.is_file():
        raise ConfigError(f"there is no database at {source.database_path}")
    if url := server.find(source.data):
        raise ConfigError(f"the service runs at {url}: stop it first")
    await _prove(open_database(source))
    await migrate_database(target)
    with table_reader(source.database_path) as read:
        counts: dict[str, int] = await load_postgresql().copy_tables(target.database_url, read)
    await _prove(open_database(target))
    return counts


async def _prove(database: Database) -> None:
    """Refuse a database whose books are wrong."""
    try:
        wrong = await database.read(credits.verify())
    finally:
        await database.close()
    if wrong:
        raise ConfigError(f"the ledger is wrong: {wrong[0].subject}: {wrong[0].problem}")
