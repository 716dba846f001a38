"""A database file: opened as every part of it must be, migrated, copied, examined."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import apsw

from kit.errors import ConfigError

_WAIT_MS = 10_000


def opened(path: Path, vfs: str | None = None) -> apsw.Connection:
    """Return a connection that waits for others and commits durably."""
    try:
        # Made here, for SQLite would let others read it; what it writes beside it is as private.
        if not path.exists():
            path.touch(mode=0o600)
        connection = apsw.Connection(os.fspath(path), vfs=vfs)
        connection.set_busy_timeout(_WAIT_MS)
        connection.execute("PRAGMA journal_mode = WAL")
        # FULL and not NORMAL: an acknowledged charge must survive a power cut.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
    except (apsw.Error, OSError) as error:
        raise ConfigError(f"the database {path} cannot be opened: {error}") from None
    return connection


class Schema:
    """What the migrations may do with this database."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def version(self) -> str | None:
        """Return the revision the file is at, or None for a new one."""
        tables = self._connection.execute(
            "SELECT 1 FROM sqlite_schema WHERE name = 'alembic_version'"
        )
        if not tables.fetchall():
            return None
        rows = self._connection.execute("SELECT version_num FROM alembic_version").fetchall()
        return str(rows[0][0]) if rows else None

    def run(self, statements: Callable[[str | None], Iterable[str]]) -> None:
        """Run statements chosen by the version, alone and as a whole."""
        self._connection.execute("BEGIN EXCLUSIVE")
        try:
            for statement in statements(self.version()):
                # All of it: what returns a row would stop there.
                self._connection.execute(statement).fetchall()
            self._connection.execute("COMMIT")
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise


def snapshot(path: Path, target: Path) -> None:
    """Copy a database as it is at one moment, while others go on to write to it.

    Parameters
    ----------
    target : Path
        The new file; only its owner can read it.

    Raises
    ------
    ConfigError
        There is no database at `path`, or it cannot be read.
    """
    if not path.is_file():
        raise ConfigError(f"there is no database at {path}")
    connection = opened(path)
    try:
        # Empty, it may be there: so it never had another mode.
        target.touch(mode=0o600, exist_ok=False)
        # One read transaction and not the backup API, which begins again at each foreign commit.
        connection.execute("VACUUM INTO ?", (os.fspath(target),))
    except apsw.Error as error:
        raise ConfigError(f"the database {path} cannot be copied: {error}") from None
    finally:
        connection.close()


def damage(path: Path) -> str | None:
    """Return the first thing that is wrong with a database file, or None."""
    connection = opened(path)
    try:
        (found,) = connection.execute("PRAGMA integrity_check(1)").fetchall()[0]
        strays = connection.execute("PRAGMA foreign_key_check").fetchall()
    except apsw.Error as error:
        return str(error)
    finally:
        connection.close()
    if found != "ok":
        return str(found)
    return f"a row of {strays[0][0]} refers to nothing" if strays else None
