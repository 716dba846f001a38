"""The schema as it is made and as it is migrated to are one."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
from sqlalchemy.dialects import postgresql

from kit.errors import ConfigError
from kit.service.store import migrations
from kit.service.store.sqlite import SQLite, dialect


def normalized(sql: str) -> list[str]:
    """Return the clauses of a statement, without quotes and blanks, in no order."""
    plain = re.sub(r"\s+", " ", sql.replace('"', "")).replace("( ", "(").replace(" )", ")")
    head, _, rest = plain.partition("(")
    clauses = re.split(r", (?![^(]*\))", rest.strip().removesuffix(")"))
    return [head.strip(), *sorted(clause.strip() for clause in clauses)]


def schema(*statements: str) -> dict[str, list[str]]:
    """Return the objects of a database that some statements made."""
    connection = apsw.Connection(":memory:")
    for statement in statements:
        connection.execute(statement).fetchall()
    rows = connection.execute(
        "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"
    ).fetchall()
    connection.close()
    return {str(name): normalized(str(sql)) for name, sql in rows}


def test_a_new_schema_is_the_migrated_one() -> None:
    created = schema(*migrations.created(dialect()))
    migrated = schema(migrations.migrated("base", dialect()))

    assert created.keys() == migrated.keys()
    ours = created.keys() - {"alembic_version"}
    assert {name: created[name] for name in ours} == {name: migrated[name] for name in ours}
    assert len(created) > 15


def test_head_is_the_newest_file() -> None:
    folder = Path(migrations.__file__).parent / "versions"
    newest = max(path.name for path in folder.glob("[0-9]*.py"))

    assert newest.partition("_")[0] == migrations.HEAD


def test_both_ways_end_at_the_head() -> None:
    for statements in (migrations.created(dialect()), [migrations.migrated("base", dialect())]):
        connection = apsw.Connection(":memory:")
        for statement in statements:
            connection.execute(statement).fetchall()
        rows = connection.execute("SELECT version_num FROM alembic_version").fetchall()
        assert rows == [(migrations.HEAD,)]
        connection.close()


def test_the_schema_is_written_for_postgresql_too() -> None:
    other = postgresql.dialect()

    assert any("WHERE state = 'queued'" in text for text in migrations.created(other))
    assert "CREATE TABLE generations" in migrations.migrated("base", other)


@pytest.fixture
def newer(tmp_path: Path) -> Path:
    """A database that a later version of the kit has been at."""
    path = tmp_path / "kit.db"
    connection = apsw.Connection(str(path))
    connection.execute(
        "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"
    )
    connection.execute("INSERT INTO alembic_version VALUES ('9999')")
    connection.close()
    return path


def test_a_newer_database_is_refused_with_a_sentence(newer: Path) -> None:
    with pytest.raises(ConfigError, match=r"'9999'.*a newer one made it"):
        SQLite(newer)


class Recorded:
    """A schema that is at a revision and notes what is run."""

    def __init__(self, version: str | None) -> None:
        self.ran: list[str] = []
        self._version = version

    def version(self) -> str | None:
        return self._version

    def run(self, statements: Callable[[str | None], Any]) -> None:
        self.ran += statements(self._version)


def test_nothing_is_run_at_the_head() -> None:
    schema = Recorded(migrations.HEAD)
    migrations.upgrade(schema, dialect)

    assert schema.ran == []


def test_a_process_that_comes_second_finds_the_work_done() -> None:
    class Raced(Recorded):
        def run(self, statements: Callable[[str | None], Any]) -> None:
            self.ran += statements(migrations.HEAD)

    schema = Raced(None)
    migrations.upgrade(schema, dialect)

    assert schema.ran == []
