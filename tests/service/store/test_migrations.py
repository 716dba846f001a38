"""The schema as it is made and as it is migrated to are one."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
from sqlalchemy.dialects import postgresql

from kit.errors import ConfigError
from kit.service.http.context import clock
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
    created = schema(*migrations.schema_statements(dialect()))
    migrated = schema(migrations.migration_sql("base", dialect()))

    assert created.keys() == migrated.keys()
    ours = created.keys() - {"alembic_version"}
    assert {name: created[name] for name in ours} == {name: migrated[name] for name in ours}
    assert len(created) > 15


def test_head_is_the_newest_file() -> None:
    folder = Path(migrations.__file__).parent / "versions"
    newest = max(path.name for path in folder.glob("[0-9]*.py"))

    assert newest.partition("_")[0] == migrations.HEAD


def test_both_ways_end_at_the_head() -> None:
    for statements in (
        migrations.schema_statements(dialect()),
        [migrations.migration_sql("base", dialect())],
    ):
        connection = apsw.Connection(":memory:")
        for statement in statements:
            connection.execute(statement).fetchall()
        rows = connection.execute("SELECT version_num FROM alembic_version").fetchall()
        assert rows == [(migrations.HEAD,)]
        connection.close()


def test_the_schema_is_written_for_postgresql_too() -> None:
    other = postgresql.dialect()

    assert any("WHERE state = 'queued'" in text for text in migrations.schema_statements(other))
    assert "CREATE TABLE generations" in migrations.migration_sql("base", other)


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


_OLD = """
INSERT INTO accounts VALUES ('acc_1', 'Ada', 'a@b', 850, 1), ('acc_2', 'Bo', 'b@b', 0, 1);
INSERT INTO keys VALUES
    ('key_1', 'acc_1', 'k', 'cs_live_1234', 'd', 'read', 500, 1, NULL, NULL, NULL);
INSERT INTO ledger VALUES
    ('led_1', 'acc_1', 'grant', 'g', 1000, 1000, NULL, NULL, NULL, NULL, NULL, 1),
    ('led_2', 'acc_1', 'generation', 'gen_Z1', -100, 900, 'gen_Z1', 'm', 'key_1', NULL, NULL, 2),
    ('led_3', 'acc_1', 'refund', 'gen_Z1', 100, 1000, 'gen_Z1', 'm', 'key_1', NULL, NULL, {now}),
    ('led_4', 'acc_1', 'generation', 'gen_Z2', -150, 850, NULL, 'm', 'key_1', NULL, NULL, {now});
"""


def test_an_older_database_is_brought_here_with_its_totals(tmp_path: Path) -> None:
    path, now = tmp_path / "kit.db", clock()
    first, _, _ = migrations.migration_sql("base", dialect()).partition(
        "-- Running upgrade 0001 -> 0002"
    )
    connection = apsw.Connection(str(path))
    connection.execute(first).fetchall()
    connection.execute(_OLD.format(now=now)).fetchall()
    connection.close()
    asyncio.run(SQLite(path).close())

    connection = apsw.Connection(str(path))
    read = lambda sql: connection.execute(sql).fetchall()  # noqa: E731
    assert read("SELECT version_num FROM alembic_version") == [(migrations.HEAD,)]
    assert read("SELECT charged, refunded FROM accounts ORDER BY id") == [(250, 100), (0, 0)]
    assert read("SELECT charged_after, refunded_after FROM ledger ORDER BY id") == [
        (0, 0),
        (100, 0),
        (100, 100),
        (250, 100),
    ]
    # What was given back this month was spent in it as far as its id tells.
    ((spent, since),) = read("SELECT spent, spent_since FROM keys")
    assert spent == 50
    assert now - 32 * 24 * 3600 * 1000 < since <= now
    connection.close()
