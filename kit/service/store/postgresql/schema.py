"""The schema of a PostgreSQL database: checked at a start, changed and filled by commands.

Several services may share a database, so none changes it unasked: the others would be surprised.
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
#: Whoever migrates holds this lock, so that two do it one after the other.
_LOCK = "SELECT pg_advisory_xact_lock(hashtext('kit.service.store.migrations'))"
_TABLE = "SELECT to_regclass('schema_version') IS NOT NULL"
_TABLES = "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()"
_FINGERPRINT = "SELECT secret FROM schema_version"
#: Of two that come first together, one waits and leaves what the other has kept.
_KEEP = "UPDATE schema_version SET secret = $1 WHERE secret IS NULL"


async def check(connection: Any) -> None:
    """Refuse a database that has not the newest schema."""
    number, wanted = await _number(connection), migrations.newest(NAME)
    if number > wanted:
        migrations.missing(NAME, number)
    if number < wanted:
        raise ConfigError(
            f"the database has the schema {number}, and this version of the kit needs {wanted}: "
            "run 'kit migrate' with the same KIT_DATABASE_URL"
        )


async def check_secret(connection: Any, secret: bytes | None) -> None:
    """Refuse another secret than the one that the database was first used with."""
    if secret is None:
        return
    mark = hmac.digest(secret, b"fingerprint of the secret", "sha256").hex()
    if await connection.fetchval(_FINGERPRINT) is None:
        await connection.execute(_KEEP, mark)
    if await connection.fetchval(_FINGERPRINT) != mark:
        raise ConfigError(
            "the secret of this service is not that of the others on its database, so none of "
            "their keys would work: copy their file 'secret' into the data folder, or name it "
            "with KIT_SECRET_FILE"
        )


async def migrate(connection: Any) -> list[int]:
    """Bring a database to the newest schema, as a whole, and return the numbers that it lacked."""
    async with connection.transaction():
        await connection.execute(_LOCK)
        missing = migrations.missing(NAME, await _number(connection))
        for number, text in missing:
            await connection.execute(text)
            await connection.execute("UPDATE schema_version SET number = $1", number)
    return [number for number, _ in missing]


async def _number(connection: Any) -> int:
    """Return the number of a database's schema; that of an empty one is 0."""
    if await connection.fetchval(_TABLE):
        return int(await connection.fetchval("SELECT number FROM schema_version"))
    if await connection.fetchval(_TABLES):
        raise ConfigError("this is a database of something else than the service")
    return 0


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


async def copy_tables(url: str, read: Read) -> dict[str, int]:
    """Copy every table, all or nothing, and return how many rows each has.

    What was written is read again before it is committed: it has the same digest, or nothing stays.
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
