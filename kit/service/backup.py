"""Backup of all data of a service, possible while it runs, and restore.

First a snapshot of the database is copied, then the files that it refers to. Files never change
under their key, so both fit together at any time. Files may be deleted meanwhile, by their owner or
by age; their references are then removed from the copy.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import orjson

from kit.errors import ConfigError
from kit.private import Lock, flush_path, flush_tree, make_folder, make_private, replace_file
from kit.service.archive import Add, open_writer, unpack
from kit.service.domain import credits, outputs, queue
from kit.service.domain.uploads import remove
from kit.service.settings import ServiceSettings
from kit.service.storage.keys import upload_key
from kit.service.store import Database, generations, uploads
from kit.service.store.database import Rows, Transaction
from kit.service.store.sqlite import SQLite
from kit.service.store.sqlite.file import find_damage, snapshot
from kit.service.store.statements import Statement
from kit.version import __version__

T = TypeVar("T")

_DATABASE, _SECRET, _DEMO, _NOTE = "kit.db", "secret", "demo.json", "backup.json"
_OBJECTS = "objects"
_LOCK = "draft.lock"
_PAGE_ROWS = 1000
_NO_LIMIT = 2**62


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of a generation or an upload in the database."""

    key: str
    owner: str
    #: Expected SHA-256; thumbnails have none.
    sha256: str | None = None
    #: An upload that no generation used: it may have been deleted.
    unused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The contents of a backup."""

    files: int
    size_bytes: int
    #: Generations that were queued or running; a service will render them again.
    unfinished: int
    #: Keys of files that were missing at the backup, if that was allowed.
    missing: list[str] = field(default_factory=list)


def backup(
    settings: ServiceSettings,
    target: Path,
    *,
    skip_missing: bool = False,
    copy_database: Callable[[Path, Path], None] = snapshot,
) -> Report:
    """Copy a service's data into an archive or a folder, whether it runs or not.

    Raises `ConfigError` if `target` exists, or something cannot be read.

    Parameters
    ----------
    target : Path
        Ends in ``.tar.gz`` or ``.tar.zst`` for an archive; anything else is a folder. Only its
        owner can read it.
    skip_missing : bool
        Continue if a file of a generation is missing, and report it.
    """
    if target.exists():
        raise ConfigError(f"{target} exists already; choose another name")
    if not settings.embedded or settings.storage_url.startswith("s3://"):
        raise ConfigError(
            "this copies a data folder; of PostgreSQL and a bucket keep three things, in this "
            f"order: {settings.secret_path}, pg_dump of the database, then a copy of the bucket "
            "(files never change, so a later copy has all that the rows name)"
        )
    with (
        _explain_os_errors(f"{target} cannot be made"),
        _draft_folder(target.absolute().parent) as draft,
    ):
        copy, absent = draft / _DATABASE, list[StoredFile]()
        copy_database(settings.database_path, copy)
        with open_writer(target, draft / "archive") as add:

            def add_file(one: StoredFile) -> int | None:
                with suppress(FileNotFoundError):
                    return add(f"{_OBJECTS}/{one.key}", settings.objects / one.key)
                absent.append(one)
                return None

            report = _measure_files(copy, add_file)
            # Files that the database no longer refers to were deleted during the copy.
            deleted = {one.owner for one in absent}
            if deleted:
                _measure_files(settings.database_path, lambda one: deleted.discard(one.owner))
            report.missing.extend(_refuse_gaps(absent, deleted, skip_missing))
            _run_on(copy, lambda it: it.write(_remove_deleted(absent, deleted)))
            # Last, because it must not refer to a missing file.
            add(_DATABASE, copy)
            _add_private(add, settings, draft, report)
    return report


def restore(source: Path, settings: ServiceSettings) -> Report:
    """Restore a backup into an empty data folder and verify it.

    Raises `ConfigError` if the folder is not empty, or the backup is damaged: it then stays so.
    """
    if settings.database_url or settings.storage_url:
        raise ConfigError(
            "a backup is restored into a data folder: leave the URLs out, and take it to "
            "PostgreSQL and a bucket with 'kit move' afterwards"
        )
    folder = settings.data
    exists = folder.exists()
    # An existing folder may be a mount point and is kept; the file that marks it comes last.
    place = folder if exists else folder.parent
    _remove_drafts(place)
    if exists and (not folder.is_dir() or {it.name for it in folder.iterdir()} - {"lost+found"}):
        raise ConfigError(f"{folder} is not empty; restore into a new folder")
    make_folder(folder.parent)
    with _explain_os_errors(f"{folder} cannot be made"), _draft_folder(place) as draft:
        data = draft / "data"
        data.mkdir(mode=0o700)
        unpack(source, data)
        report = verify(data)
        (data / _NOTE).unlink()
        (data / _OBJECTS).mkdir(mode=0o700, exist_ok=True)
        flush_tree(data)
        if exists:
            make_private(folder)
            for path in sorted(data.iterdir(), key=lambda it: it.name == _DATABASE):
                replace_file(path, folder / path.name)
        else:
            replace_file(data, folder)
        flush_path(place)
    return report


def verify(data: Path) -> Report:
    """Return the contents of a restored folder; raises `ConfigError` with what is wrong in it."""
    for name in (_DATABASE, _SECRET, _NOTE):
        if not (data / name).is_file():
            raise ConfigError(f"this is not a backup of the service: it has no {name}")
    problem = find_damage(data / _DATABASE)
    if problem:
        raise ConfigError(f"the database of the backup is damaged: {problem}")
    note = json.loads((data / _NOTE).read_text())
    _run_on(data / _DATABASE, check_ledger)
    missing = set(note["missing"])

    def check(one: StoredFile) -> int | None:
        if one.key in missing:
            return None
        path = data / _OBJECTS / one.key
        check_file(path, one)
        return path.stat().st_size

    report = _measure_files(data / _DATABASE, check)
    report.missing.extend(note["missing"])
    return report


async def check_ledger(database: Database) -> None:
    """Raise `ConfigError` if the ledger of a database is wrong."""
    if errors := await database.read(credits.verify()):
        raise ConfigError(f"the ledger is wrong: {errors[0].subject}: {errors[0].problem}")


def check_file(path: Path, stored: StoredFile, then: str = "") -> str:
    """Return the SHA-256 of a stored file; raises if it is missing or damaged."""
    if not path.is_file():
        raise ConfigError(f"{stored.key} of {stored.owner} is gone{then}")
    if stored.sha256 not in (None, found := hash_file(path)):
        raise ConfigError(f"{stored.key} of {stored.owner} is damaged{then}: SHA-256 {found}")
    return found


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _refuse_gaps(absent: Sequence[StoredFile], deleted: Set[str], skip_missing: bool) -> list[str]:
    """Return the keys of missing files; raises unless `skip_missing` allows them."""
    gaps = [one for one in absent if not one.unused and one.owner not in deleted]
    if gaps and not skip_missing:
        raise ConfigError(
            f"{len(gaps)} stored file(s) are gone, first {gaps[0].key} of {gaps[0].owner}; "
            "look for them, or back up the rest with --skip-missing"
        )
    return [one.key for one in gaps]


def _add_private(add: Add, settings: ServiceSettings, draft: Path, report: Report) -> None:
    secret, note = draft / _SECRET, draft / _NOTE
    secret.touch(mode=0o600)
    secret.write_bytes(settings.secret())
    add(_SECRET, secret)
    # Other data that cannot be recreated: the demo's key and models, and of notebooks the
    # generations by request, ratings, rates and presets.
    data = settings.data
    for path in (data / _DEMO, data / "engines.toml", *sorted((data / "notebook").rglob("*"))):
        name = path.relative_to(data)
        if path.is_file() and name.parts[1:2] not in (("history",), ("outputs",)):
            with suppress(FileNotFoundError):
                add(name.as_posix(), path)
    note.write_text(json.dumps({"version": __version__, **asdict(report)}, indent=1))
    add(_NOTE, note)


def _run_on(path: Path, work: Callable[[SQLite], Coroutine[Any, Any, T]]) -> T:
    async def run() -> T:
        database = SQLite(path)
        try:
            return await work(database)
        finally:
            await database.close()

    return asyncio.run(run())


def _measure_files(path: Path, measure: Callable[[StoredFile], int | None]) -> Report:
    """Add up the sizes that a function returns for the files of a database; None is not counted."""

    async def work(database: SQLite) -> Report:
        count = total = 0
        async for one in list_files(database):
            size = measure(one)
            count, total = count + (size is not None), total + (size or 0)
        unfinished = sum((await database.read(queue.count_states())).values())
        return Report(files=count, size_bytes=total, unfinished=unfinished)

    return _run_on(path, work)


async def list_files(database: Database) -> AsyncIterator[StoredFile]:
    """Yield the files that a database refers to; only a page of its rows is in memory."""
    async for row in _read_all(database, generations.with_output):
        output = orjson.loads(row.output)
        main, *thumbnails = outputs.files_of(output)
        yield StoredFile(main, row.id, output["sha256"])
        for key in thumbnails:
            yield StoredFile(key, row.id)
    async for row in _read_all(database, uploads.with_file):
        yield StoredFile(upload_key(row), row.id, row.sha256, unused=row.used_at is None)


def _remove_deleted(absent: Sequence[StoredFile], deleted: Set[str]) -> Transaction[None]:
    """Remove from the copy what was deleted while it was made."""
    for one in absent:
        if one.owner.startswith("upl_"):
            if one.unused or one.owner in deleted:
                yield from remove(one.owner, _NO_LIMIT)
        elif one.owner in deleted:
            yield generations.delete_outputs(id=one.owner, now=time.time_ns() // 1_000_000)


async def _read_all(database: Database, statement: Statement) -> AsyncIterator[Any]:
    def read(after: str) -> Transaction[Rows]:
        return (yield statement(after=after, most=_PAGE_ROWS))

    last = ""
    while page := await database.read(read(last)):
        for row in page:
            yield row
        last = page[-1].id


@contextmanager
def _explain_os_errors(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ConfigError(f"{what}: {error}") from None


@contextmanager
def _draft_folder(folder: Path) -> Iterator[Path]:
    """Yield a private folder beside the target, so that the last step is only a rename."""
    if not os.access(folder, os.W_OK):
        raise ConfigError(f"the folder {folder} cannot be written")
    _remove_drafts(folder)
    draft = Path(tempfile.mkdtemp(prefix=".kit-draft-", dir=folder))
    lock = Lock(draft / _LOCK)
    try:
        lock.acquire()
        yield draft
    finally:
        lock.release()
        shutil.rmtree(draft, ignore_errors=True)


def _remove_drafts(folder: Path) -> None:
    """Remove the drafts of processes that were killed: nothing holds their locks."""
    for path in folder.glob(f".kit-draft-*/{_LOCK}"):
        lock = Lock(path)
        if lock.acquire():
            lock.release()
            shutil.rmtree(path.parent, ignore_errors=True)
