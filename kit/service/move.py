"""Migration from an embedded data folder to PostgreSQL and a bucket, with verification.

The secret stays in the folder, which the service still uses; without a bucket, so do the files.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path

from kit.errors import ConfigError
from kit.private import make_folder
from kit.service.app import create_storage, is_running
from kit.service.backup import check_file, check_ledger, hash_file, list_files
from kit.service.databases import load_postgresql, migrate_database, with_database
from kit.service.settings import ServiceSettings
from kit.service.store import Database
from kit.service.store.sqlite.file import table_reader


async def move(source: ServiceSettings, target: ServiceSettings) -> dict[str, int]:
    """Copy all files into a bucket, if there is one, and all rows into an empty database.

    Files are copied first, so that no row refers to a missing one; each is read back and compared.
    After a failure, everything is copied again.

    Both settings are for the same data folder, which is not changed: `source` with its own
    database, `target` with a database server and optionally a bucket. Returns the number of rows by
    table, and of files.
    """
    if not source.database_path.is_file():
        raise ConfigError(f"there is no database at {source.database_path}")
    if is_running(source):
        raise ConfigError(f"a service runs on {source.data}: stop it first")
    await with_database(source, check_ledger)
    await migrate_database(target)
    copied = {} if target.storage_url == source.storage_url else await _copy_files(source, target)
    with table_reader(source.database_path) as read:
        counts: dict[str, int] = await load_postgresql().copy_tables(target.database_url, read)
    await with_database(target, check_ledger)
    return counts | copied


async def _copy_files(source: ServiceSettings, target: ServiceSettings) -> dict[str, int]:
    """Copy the files of the database into the other storage and read each back."""
    storage = create_storage(target, source.secret())
    make_folder(target.scratch)
    with tempfile.TemporaryDirectory(dir=target.scratch) as name:
        folder = Path(name)

        async def copy_all(database: Database) -> int:
            count = 0
            async for one in list_files(database):
                path = source.objects / one.key
                if one.unused and not path.is_file():
                    continue
                digest = check_file(path, one, "; nothing was moved")
                draft = folder / "draft"
                await asyncio.to_thread(shutil.copyfile, path, draft)
                await storage.keep({one.key: draft})
                copy = await storage.fetch_local(one.key, folder)
                if hash_file(copy) != digest:
                    raise ConfigError(f"the storage returns another file than {path}")
                copy.unlink()
                count += 1
            return count

        return {"files": await with_database(source, copy_all)}
