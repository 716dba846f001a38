"""The service's database and settings for commands, whether the service runs or not."""

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
from kit.service.store.sqlite.file import RESTORE, find_damage

T = TypeVar("T")

#: Prefixes of variables for what services of one database share.
_PREFIXES = tuple(f"KIT_{it}" for it in ("DATABASE", "STORAGE", "SECRET", "CLUSTER", "PUBLIC"))


def settings_of(data: Path | None, database: str | None = None, **given: Any) -> ServiceSettings:
    """Return the service's settings from the command line and the environment."""
    return service_settings.load(data=data, database_url=database, **given)


def transact(settings: ServiceSettings, work: Transaction[T], *, create: bool = False) -> T:
    """Run a transaction on the service's database, whether the service runs or not."""
    if not create:
        check_exists(settings)
    return asyncio.run(with_database(settings, lambda database: database.write(work)))


def read(settings: ServiceSettings, work: Transaction[T]) -> T:
    """Run a read-only transaction on the service's database."""
    check_exists(settings)
    return asyncio.run(with_database(settings, lambda database: database.read(work)))


def check_exists(settings: ServiceSettings) -> None:
    """Raise if there is no database: its folder may be mistyped."""
    if settings.embedded and not settings.database_path.exists():
        where = f"there is no database at {settings.database_path}"
        raise ConfigError(f"{where}; 'kit accounts create' creates one")


def actor() -> str:
    """Return the actor for the audit log."""
    return f"cli:{machine.user()}"


@contextmanager
def isolate_services() -> Iterator[None]:
    """Make embedded services keep all data in their folder, whatever the environment says."""
    shared = {name: os.environ.pop(name) for name in [*os.environ] if name.startswith(_PREFIXES)}
    try:
        yield
    finally:
        os.environ.update(shared)


def check_database(settings: ServiceSettings) -> str:
    """Examine the service's database, if there is one, and return that it is intact.

    Raises `ConfigError` if it is damaged.
    """
    if not settings.embedded:
        read(settings, queue.count_states())
        return "the server answers, and has the schema of this version"
    check_data_folder(settings)
    path = settings.database_path
    if not path.exists():
        return f"there is none yet at {path}"
    if damage := find_damage(path):
        raise ConfigError(f"the database {path} is damaged: {damage}; {RESTORE}")
    return f"{path} is whole"
