"""The schema of a PostgreSQL database: checked at the start, changed and filled by commands.

Several services may share a database, so a service never migrates it by itself.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import asyncpg
import orjson

from kit.errors import ConfigError
from kit.service.store import migrations

NAME = "postgresql"
#: Held during a migration, so that concurrent ones run one after the other.
_TAKE_LOCK = "SELECT pg_advisory_xact_lock(hashtext('kit.service.store.migrations'))"
_HAS_VERSION = "SELECT to_regclass('schema_version') IS NOT NULL"
_COUNT_TABLES = "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()"
_SELECT_FINGERPRINT = "SELECT secret FROM schema_version"
#: Of two concurrent first uses, the second waits and keeps the value of the first.
_SET_FINGERPRINT = "UPDATE schema_version SET secret = $1 WHERE secret IS NULL"


async def check(connection: Any) -> None:
    """Raise `ConfigError` if the schema is not the newest."""
    number = await _read_number(connection)
    if missing := migrations.missing(NAME, number):
        raise ConfigError(
            f"the database has the schema {number}, and this version of the kit needs "
            f"{missing[-1][0]}: run 'kit migrate' with the same KIT_DATABASE_URL"
        )


async def check_secret(connection: Any, secret: bytes | None) -> None:
    """Raise `ConfigError` if the secret is not that of the database's first use."""
    if secret is None:
        return
    fingerprint = hmac.digest(secret, b"fingerprint of the secret", "sha256").hex()
    if await connection.fetchval(_SELECT_FINGERPRINT) is None:
        await connection.execute(_SET_FINGERPRINT, fingerprint)
    if await connection.fetchval(_SELECT_FINGERPRINT) != fingerprint:
        raise ConfigError(
            "the secret of this service is not that of the others on its database, so none of "
            "their keys would work: copy their file 'secret' into the data folder, or name it "
            "with KIT_SECRET_FILE"
        )


async def migrate(connection: Any) -> list[int]:
    """Migrate to the newest schema atomically and return the numbers of the migrations."""
    async with connection.transaction():
        await connection.execute(_TAKE_LOCK)
        missing = migrations.missing(NAME, await _read_number(connection))
        for number, text in missing:
            await connection.execute(text)
            await connection.execute("UPDATE schema_version SET number = $1", number)
    return [number for number, _ in missing]


async def _read_number(connection: Any) -> int:
    """Return the number of a database's schema; 0 for an empty database."""
    if await connection.fetchval(_HAS_VERSION):
        return int(await connection.fetchval("SELECT number FROM schema_version"))
    if await connection.fetchval(_COUNT_TABLES):
        raise ConfigError("this is the database of another program")
    return 0


#: Tables with the columns that order their rows; referenced tables come first.
TABLES = {
    **dict.fromkeys(("accounts", "keys", "ledger", "generations", "uploads"), "id"),
    **dict.fromkeys(("titles", "scripts", "audit", "webhooks", "deliveries"), "id"),
    "idempotency": "account_id, key",
    "removals": "key",
    "tags": "account_id, tag, generation_id",
    "checks": "name",
}
#: Returns the columns and the ordered rows of a table.
Read = Callable[[str, str], tuple[Sequence[str], Iterable[Sequence[Any]]]]


async def copy_tables(url: str, read: Read) -> dict[str, int]:
    """Copy all tables atomically, and return the number of rows of each.

    Written rows are read back and compared by digest before the commit.
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
        raise ConfigError(
            f"the database is not empty: it has {table}; create it anew, also after a move that "
            "failed in its last check, and move again"
        )
    columns, rows = read(table, order)
    sent, stored, count = hashlib.sha256(), hashlib.sha256(), 0

    def send() -> Iterator[Sequence[Any]]:
        nonlocal count
        for row in rows:
            count += 1
            sent.update(orjson.dumps(row) + b"\n")
            yield row

    await connection.copy_records_to_table(table, columns=columns, records=send())
    query = f"SELECT {', '.join(columns)} FROM {table} ORDER BY {order}"  # noqa: S608 - the same
    async for record in connection.cursor(query, prefetch=1000):
        stored.update(orjson.dumps(tuple(record)) + b"\n")
    if stored.digest() != sent.digest():
        raise ConfigError(f"the rows of {table} are not what was read; nothing was moved")
    return count
