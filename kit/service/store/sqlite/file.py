"""A database file: opened with the settings that all users need, migrated, copied, examined."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from kit.errors import ConfigError
from kit.service.store import migrations

#: Maximum wait for a lock: of one write, and of a migration of a large history elsewhere.
_WAIT_MS, _MIGRATION_WAIT_MS = 10_000, 600_000
_SELECT_NAMES = "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'"
_SELECT_COLUMNS = "SELECT name FROM pragma_table_info(?)"
#: Instructions of SQLite's virtual machine, or pages, between two checks: less than a millisecond.
_STEPS_PER_CHECK = 1_000
NAME = "sqlite"
#: Queries for the schema version; releases before 8 stored Alembic revisions.
_VERSION_QUERIES = {
    "schema_version": "SELECT number FROM schema_version",
    "alembic_version": "SELECT version_num FROM alembic_version",
}
_FIRST_OWN_VERSION = 8
#: The remedy for a damaged database.
RESTORE = "restore both with 'kit restore' from a backup"
_BUSY_REMEDY = "another process is changing it: try again when that is done"
_FOLDER_REMEDY = (
    "its folder must be one that can be written, with room on the disk; where it is a shared or "
    "network folder, which may lack what a database needs, set KIT_DATA to another"
)
#: Errors of the file itself; others, such as a full disk, may be temporary.
DAMAGE_ERRORS = (apsw.CorruptError, apsw.NotADBError)


class DamageError(ConfigError):
    """The database file itself is damaged."""


def open_connection(path: Path, vfs: str | None = None) -> apsw.Connection:
    """Return a connection that waits for locks and commits durably."""
    try:
        # Created here, because SQLite's would be readable by others; its -wal file copies the mode.
        if not path.exists():
            path.touch(mode=0o600)
        connection = apsw.Connection(os.fspath(path), vfs=vfs)
        connection.set_busy_timeout(_WAIT_MS)
        names = _names(connection)
        if names and not names & _VERSION_QUERIES.keys():
            connection.close()
            raise ConfigError(f"{path} is the database of another program")
        connection.execute("PRAGMA journal_mode = WAL")
        # FULL instead of NORMAL: an acknowledged charge must survive a power cut.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")  # on macOS, also flush the drive's cache
        connection.execute("PRAGMA foreign_keys = ON")
        # Plans do not depend on bound values. Otherwise some statements are prepared again for new
        # values, which takes several times as long as running them.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    except (apsw.Error, OSError) as error:
        raise _open_error(path, error) from None
    return connection


def _open_error(path: Path | str, error: Exception) -> ConfigError:
    """Return the error for a database that cannot be opened."""
    remedy = _BUSY_REMEDY if isinstance(error, apsw.BusyError) else _FOLDER_REMEDY
    damaged = isinstance(error, DAMAGE_ERRORS)
    kind, remedy = (DamageError, RESTORE) if damaged else (ConfigError, remedy)
    return kind(f"the database {path} cannot be opened ({error}); {remedy}")


def _names(connection: apsw.Connection) -> set[str]:
    """Return the names of tables and indexes, without SQLite's own."""
    try:
        return {str(name) for (name,) in connection.execute(_SELECT_NAMES).fetchall()}
    except apsw.Error as error:
        raise _open_error(connection.filename, error) from None


def migrate(connection: apsw.Connection, wait_ms: int = _MIGRATION_WAIT_MS) -> None:
    """Migrate a file to the newest schema atomically; wait while another process does."""
    if _version(connection) != migrations.newest(NAME):
        connection.set_busy_timeout(wait_ms)
        try:
            connection.execute("BEGIN EXCLUSIVE")
            # Read again: another process may have been faster.
            for number, text in migrations.missing(NAME, _version(connection)):
                # Fetch all rows: execution would stop at the first one.
                connection.execute(text).fetchall()
                if number >= _FIRST_OWN_VERSION:
                    connection.execute("UPDATE schema_version SET number = ?", (number,))
            connection.execute("COMMIT")
        except BaseException as error:
            if connection.in_transaction:  # SQLite has ended it already if the disk is full
                connection.execute("ROLLBACK")
            if isinstance(error, apsw.Error) and not isinstance(error, apsw.SQLError):
                raise _open_error(connection.filename, error) from None
            raise
        connection.set_busy_timeout(_WAIT_MS)
    if lost := sorted(migrations.object_names(NAME) - _names(connection)):
        raise ConfigError(
            f"the database {connection.filename} has lost {', '.join(lost)}; {RESTORE}"
        )


def _version(connection: apsw.Connection) -> int:
    """Return the number of a file's schema; 0 for a new file."""
    names = _names(connection)
    if not names:
        return 0
    query = _VERSION_QUERIES["schema_version" if "schema_version" in names else "alembic_version"]
    rows = connection.execute(query).fetchall()
    if not rows:
        raise ConfigError(f"the database {connection.filename} has lost its version; {RESTORE}")
    return int(str(rows[0][0]))


def snapshot(path: Path, target: Path) -> None:
    """Copy a consistent snapshot of a database, even while others write to it."""
    if not path.is_file():
        raise ConfigError(f"there is no database at {path}")
    connection = open_connection(path)
    try:
        # Created empty first, so that it is never readable by others.
        target.touch(mode=0o600, exist_ok=False)
        # One read transaction; the backup API would restart at each commit of another process.
        connection.execute("VACUUM INTO ?", (os.fspath(target),))
    except apsw.Error as error:
        raise ConfigError(f"the database {path} cannot be copied: {error}") from None
    finally:
        connection.close()


@contextmanager
def table_reader(
    path: Path,
) -> Iterator[Callable[[str, str], tuple[list[str], Iterable[tuple[Any, ...]]]]]:
    """Yield a function that reads a table in an order, as columns and rows, from one snapshot."""
    connection = open_connection(path)

    def read(table: str, order: str) -> tuple[list[str], Iterable[tuple[Any, ...]]]:
        columns = [str(name) for (name,) in connection.execute(_SELECT_COLUMNS, (table,))]
        query = f"SELECT {', '.join(columns)} FROM {table} ORDER BY {order}"  # noqa: S608 - names
        return columns, connection.execute(query)

    try:
        connection.execute("BEGIN")
        yield read
    finally:
        connection.close()


def find_damage(path: Path, should_stop: Callable[[], bool] = lambda: False) -> str | None:
    """Return the first error in a database file, or None; raises if it cannot be read now."""
    try:
        connection = open_connection(path)
    except DamageError as error:
        return str(error)
    try:
        connection.set_progress_handler(should_stop, _STEPS_PER_CHECK)
        (found,) = connection.execute("PRAGMA integrity_check(1)").fetchall()[0]
        orphans = connection.execute("PRAGMA foreign_key_check").fetchall()
    except apsw.InterruptError:
        return None
    except DAMAGE_ERRORS as error:
        return str(error)
    except apsw.Error as error:
        raise ConfigError(f"the database {path} cannot be examined ({error})") from None
    finally:
        connection.close()
    if found != "ok":
        return str(found)
    return f"a row of {orphans[0][0]} refers to nothing" if orphans else None


def has_keys(path: Path) -> bool:
    """Whether a database has API keys, which are useless without the secret beside it."""
    connection = open_connection(path)
    try:
        return bool(connection.execute("SELECT 1 FROM keys LIMIT 1").fetchall())
    except apsw.SQLError:  # a new database without tables
        return False
    finally:
        connection.close()
