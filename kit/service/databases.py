"""Opens the database of the settings and checks its data folder."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import ModuleType
from typing import TypeVar

from kit.errors import ConfigError, require_extra
from kit.service.metrics import ServiceMetrics
from kit.service.settings import ServiceSettings, prepare
from kit.service.store import Database, migrations
from kit.service.store.sqlite import SQLite
from kit.service.store.sqlite.file import NAME, RESTORE, has_keys

T = TypeVar("T")
#: Seconds that a statement may run on a database server for a command.
_WORK_SECONDS = 3600.0


def open_database(
    settings: ServiceSettings, metrics: ServiceMetrics | None = None, *, seconds: float = 10.0
) -> Database:
    """Return the database of the settings; a new one gets its secret.

    A database server is connected to at the first use; a statement there may run for `seconds`.
    """
    prepare(settings.data)
    measure = (metrics or ServiceMetrics()).measure_commit
    if settings.embedded:
        check_data_folder(settings)
        embedded = SQLite(settings.database_path, measure)
        settings.make_secret()
        return embedded
    settings.make_secret()
    server, secret = load_postgresql(), settings.secret()
    database: Database = server.PostgreSQL(settings.database_url, measure, secret, seconds)
    return database


async def with_database(settings: ServiceSettings, work: Callable[[Database], Awaitable[T]]) -> T:
    """Open the database for some work only, and return the result of the work.

    Its statements may run for long, as those that check a large ledger do.
    """
    database = open_database(settings, seconds=_WORK_SECONDS)
    try:
        return await work(database)
    finally:
        await database.close()


async def migrate_database(settings: ServiceSettings) -> int:
    """Migrate the database of the settings to the newest schema and return its number."""
    if settings.embedded:
        await open_database(settings).close()
        return migrations.newest(NAME)
    await load_postgresql().migrate(settings.database_url)
    return migrations.newest(load_postgresql().NAME)


def load_postgresql() -> ModuleType:
    """Return the module of PostgreSQL, which needs an extra."""
    with require_extra("postgres", "PostgreSQL"):
        from kit.service.store import postgresql
    return postgresql


def check_data_folder(settings: ServiceSettings) -> None:
    """Raise if a data folder has lost its database or its secret; the folder is not changed."""
    path, secret = settings.database_path, settings.secret_path
    # In this order: another process may create both meanwhile, the database first.
    has_secret = secret.exists()
    size = path.stat().st_size if path.is_file() else None
    if has_secret and not size and not settings.secret_file:
        state = "gone" if size is None else "empty"
        raise ConfigError(
            f"the database {path} is {state}, and its secret {secret} is here; "
            f"{RESTORE}, set KIT_DATABASE_URL if it was moved, or remove the secret to start anew"
        )
    if size and not has_secret and has_keys(path) and not secret.exists():
        raise ConfigError(
            f"the secret {secret} of the database {path} is gone, without which none of its keys "
            f"works; {RESTORE}"
        )
