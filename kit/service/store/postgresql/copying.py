"""Rows of another database, copied into an empty one as they are."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import asyncpg
import orjson

from kit.errors import ConfigError
from kit.service.store.postgresql.schema import check

#: The tables with what their rows are ordered by, those first that others refer to.
TABLES = {
    **dict.fromkeys(("accounts", "keys", "ledger", "generations", "uploads"), "id"),
    **dict.fromkeys(("titles", "scripts", "audit", "webhooks", "deliveries"), "id"),
    "idempotency": "account_id, key",
    "removals": "key",
    "tags": "account_id, tag, generation_id",
    "checks": "name",
}
#: Columns and rows of a table, the rows in its order.
Read = Callable[[str, str], tuple[Sequence[str], Iterable[Sequence[Any]]]]


class Fingerprint:
    """A digest of rows as they go by, whatever the order of their columns."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.count = 0
        self._places = sorted(range(len(columns)), key=lambda place: columns[place])
        self._digest = hashlib.sha256()

    def add(self, row: Sequence[Any]) -> Sequence[Any]:
        """Take a row in and return it."""
        self.count += 1
        self._digest.update(orjson.dumps([row[place] for place in self._places]) + b"\n")
        return row

    @property
    def value(self) -> tuple[int, str]:
        """How many rows there were, and their digest."""
        return self.count, self._digest.hexdigest()


async def copy_tables(url: str, read: Read) -> dict[str, int]:
    """Copy every table, all or nothing, and return how many rows each has.

    What was written is read again before it is committed: it has the same digest, or nothing stays.

    Raises
    ------
    ConfigError
        The database is not empty or has not the newest schema, or what was read again differs.
    """
    connection = await asyncpg.connect(url)
    try:
        await check(connection)
        async with connection.transaction(isolation="serializable"):
            return {table: await _copy(connection, table, read) for table in TABLES}
    except asyncpg.PostgresError as error:
        raise ConfigError(f"the rows cannot be stored there: {error}") from None
    finally:
        await connection.close()


async def _copy(connection: Any, table: str, read: Read) -> int:
    order = TABLES[table]
    if await connection.fetchval(f"SELECT count(*) FROM {table}"):  # noqa: S608 - one of TABLES
        raise ConfigError(f"the database is not empty: it has {table}")
    columns, rows = read(table, order)
    sent = Fingerprint(columns)
    await connection.copy_records_to_table(
        table, columns=columns, records=(sent.add(row) for row in rows)
    )
    query = f"SELECT {', '.join(columns)} FROM {table} ORDER BY {order}"  # noqa: S608 - the same
    stored = Fingerprint(columns)
    async for record in connection.cursor(query, prefetch=1000):
        stored.add(tuple(record))
    if stored.value != sent.value:
        raise ConfigError(f"the rows of {table} are not what was read; nothing was moved")
    return sent.count
