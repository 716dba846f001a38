"""The service's own database and settings, as commands use them; the service may run or not."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from kit.errors import ConfigError
from kit.service import machine
from kit.service import settings as service_settings
from kit.service.databases import check_data_folder, with_database
from kit.service.domain import queue
from kit.service.settings import ServiceSettings
from kit.service.store.database import Transaction
from kit.service.store.sqlite.file import RESTORE, damage

T = TypeVar("T")

#: What services of one database share; names of variables, and how some begin.
_SHARED = ("KIT_DATABASE_URL", "KIT_STORAGE_URL", "KIT_SECRET_FILE", "KIT_CLUSTER")


def settings_of(data: Path | None, database: str | None = None, **given: Any) -> ServiceSettings:
    """Return the service's settings as the command line and the environment have them."""
    return service_settings.load(data=data, database_url=database, **given)


def transact(settings: ServiceSettings, work: Transaction[T]) -> T:
    """Run a transaction on the service's own database, whether the service runs or not."""
    return asyncio.run(with_database(settings, lambda database: database.write(work)))


def read(settings: ServiceSettings, work: Transaction[T]) -> T:
    """Run a transaction that only reads: however long it takes, a running service can write.

    A folder that is mistyped has no database, and gets none: nothing would be wrong in it.
    """
    if settings.embedded and not settings.database_path.exists():
        where = f"there is no database at {settings.database_path}"
        raise ConfigError(f"{where}; 'kit accounts create' creates one")
    return asyncio.run(with_database(settings, lambda database: database.read(work)))


def actor() -> str:
    """Return who gives an order here, for the audit."""
    return f"cli:{machine.user()}"


@contextmanager
def apart() -> Iterator[None]:
    """Have embedded services keep everything in their folder, whatever others share."""
    shared = {name: os.environ.pop(name) for name in [*os.environ] if name.startswith(_SHARED)}
    try:
        yield
    finally:
        os.environ.update(shared)


def check_database(settings: ServiceSettings) -> str:
    """Look through the service's database, if there is one, and say that nothing is wrong with it.

    What is not whole is a `ConfigError`.
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
