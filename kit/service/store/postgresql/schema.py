"""The schema of a PostgreSQL database: looked at when a service starts, changed by ``kit migrate``.

Several services may share a database, so none changes it unasked: the others would be surprised.
"""

from __future__ import annotations

import hmac
from typing import Any

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
    """Refuse a database that has not the newest schema.

    Raises
    ------
    ConfigError
        It is older, newer, or of something else.
    """
    number, wanted = await _number(connection), migrations.newest(NAME)
    if number > wanted:
        migrations.missing(NAME, number)
    if number < wanted:
        raise ConfigError(
            f"the database has the schema {number}, and this version of the kit needs {wanted}: "
            "run 'kit migrate' with the same KIT_DATABASE_URL"
        )


async def check_secret(connection: Any, secret: bytes | None) -> None:
    """Refuse another secret than the one that the database was first used with.

    Raises
    ------
    ConfigError
        Neither keys nor signed addresses of one service would work at the other.
    """
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
