"""The schema's versions. A new database is made as it is now; an older one is led here by Alembic.

Alembic only writes the SQL (its offline mode) and the database's own driver runs it, so that no
second driver ever opens the file.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from kit.errors import ConfigError

if TYPE_CHECKING:
    from sqlalchemy import Dialect

#: The newest revision; a test holds it against the folder `versions`.
HEAD = "0007"


class Schema(Protocol):
    """What a database lets the migrations do."""

    def version(self) -> str | None:
        """Return the revision the database is at, or None for a new one."""
        ...

    def run(self, statements: Callable[[str | None], Iterable[str]]) -> None:
        """Run the statements for the version that it is at, alone and as a whole."""
        ...


def upgrade(
    schema: Schema, dialect: Callable[[], Dialect], made: Sequence[str] | None = None
) -> None:
    """Bring a database to the newest schema.

    Parameters
    ----------
    dialect : callable
        Returns the database's dialect; asked only where SQL has to be composed.
    made : sequence of str, optional
        The statements that make a new database, where they are known beforehand.
    """

    def statements(version: str | None) -> Iterable[str]:
        if version is None:
            return made or schema_statements(dialect())
        return [migration_sql(version, dialect())] if version != HEAD else []

    if schema.version() != HEAD:
        schema.run(statements)


def schema_statements(dialect: Dialect) -> Iterator[str]:
    """Yield the statements that make a new database."""
    # Here, because a database that is up to date needs none of it.
    from sqlalchemy.schema import CreateIndex, CreateTable

    from kit.service.store.tables import metadata

    for table in metadata.sorted_tables:
        yield str(CreateTable(table).compile(dialect=dialect))
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            yield str(CreateIndex(index).compile(dialect=dialect))
    yield "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"
    yield f"INSERT INTO alembic_version (version_num) VALUES ('{HEAD}')"  # noqa: S608 - a constant


def migration_sql(version: str, dialect: Dialect, to: str = "head") -> str:
    """Return the SQL that leads from a revision ("base" for none) to the newest or another."""
    # Here, because only an old database needs it and it takes longer to load than the service.
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    written = io.StringIO()
    config = Config(output_buffer=written)
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.set_main_option("dialect", dialect.name)
    try:
        command.upgrade(config, f"{version}:{to}", sql=True)
    except CommandError:
        raise ConfigError(
            f"the database is at revision {version!r}, which this version of the kit does not "
            "know; a newer one made it"
        ) from None
    return written.getvalue()
