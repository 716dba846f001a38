"""The way from an embedded data folder to PostgreSQL and a bucket: all copied, and proved.

The secret stays in the folder, which the service goes on with; so do the files without a bucket.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path

from kit.errors import ConfigError
from kit.private import make_folder
from kit.service.app import create_storage, is_running
from kit.service.backup import check_file, hash_file, list_files, prove
from kit.service.databases import load_postgresql, migrate_database, with_database
from kit.service.settings import ServiceSettings
from kit.service.store.sqlite.file import table_reader


async def move(source: ServiceSettings, target: ServiceSettings) -> dict[str, int]:
    """Copy all files into a bucket, if there is one, and all rows into an empty database.

    Files come first, so that no row names one that is not there; each is read again and compared.
    What was copied before something failed is copied again.

    Both settings are of one data folder: with what it has itself, and with a server's database and
    perhaps a bucket. Returns how many rows each table has, and how many files were copied.

    Raises `ConfigError`: the service runs, there is nothing to move, the other database is not
    empty, or the books of either are wrong, or a file is gone or damaged; the data folder is left
    as it is.
    """
    if not source.database_path.is_file():
        raise ConfigError(f"there is no database at {source.database_path}")
    if is_running(source):
        raise ConfigError(f"a service runs on {source.data}: stop it first")
    await with_database(source, prove)
    await migrate_database(target)
    copied = {} if target.storage_url == source.storage_url else await _copy_files(source, target)
    with table_reader(source.database_path) as read:
        counts: dict[str, int] = await load_postgresql().copy_tables(target.database_url, read)
    await with_database(target, prove)
    return counts | copied


async def _copy_files(source: ServiceSettings, target: ServiceSettings) -> dict[str, int]:
    """Copy the files that the database names into the other storage and read each again."""
    named, _ = await with_database(source, list_files)
    storage = create_storage(target, source.secret())
    make_folder(target.scratch)
    count = 0
    with tempfile.TemporaryDirectory(dir=target.scratch) as name:
        for one in named:
            path, folder = source.objects / one.key, Path(name)
            if one.spare and not path.is_file():
                continue
            digest = check_file(path, one, "; nothing was moved")
            draft = folder / "draft"
            await asyncio.to_thread(shutil.copyfile, path, draft)
            await storage.keep({one.key: draft})
            again = await storage.local(one.key, folder)
            if hash_file(again) != digest:
                raise ConfigError(f"the storage gives back another file than {path}")
            again.unlink()
            count += 1
    return {"files": count}
