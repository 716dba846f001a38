"""Versions of the schema: numbered SQL files, one folder per database.

A new database runs all of them, an older one those that it lacks. The table `schema_version` stores
the number of the last one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from kit.errors import ConfigError

_FOLDER = Path(__file__).parent
_DDL = re.compile(r"^(CREATE|DROP) (?:TABLE|(?:UNIQUE )?INDEX) (?:IF EXISTS )?(\w+)", re.M)


def newest(database: str) -> int:
    """Return the number of a database's newest schema."""
    return max(number for number, _ in _files(database))


def missing(database: str, number: int) -> list[tuple[int, str]]:
    """Return the numbers and the SQL of the migrations after a number, in order."""
    if number > newest(database):
        raise ConfigError(
            f"the database has the schema {number}, which this version of the kit does not know; "
            "a newer one made it: upgrade this one"
        )
    later = sorted(file for file in _files(database) if file[0] > number)
    return [(number, path.read_text(encoding="utf-8")) for number, path in later]


def object_names(database: str) -> set[str]:
    """Return the names of the tables and indexes of the newest schema."""
    found: set[str] = set()
    for _, text in missing(database, 0):
        for verb, name in _DDL.findall(text):
            found = found | {name} if verb == "CREATE" else found - {name}
    return found


def _files(database: str) -> Iterator[tuple[int, Path]]:
    for path in (_FOLDER / database).glob("[0-9]*.sql"):
        yield int(path.name.partition("_")[0]), path
