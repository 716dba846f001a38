"""A database of every release is migrated to the newest schema, with its content."""

import asyncio
import re
from pathlib import Path

import apsw
import pytest

from kit.errors import ConfigError
from kit.service.domain import credits, generations, queue
from kit.service.machine import clock
from kit.service.store import ids, migrations
from kit.service.store.sqlite import SQLite, file
from kit.service.store.sqlite.file import NAME, open_connection

#: Revisions from the time when Alembic created the schema.
REVISIONS = range(1, 8)
RELEASED = (Path(__file__).parent / "released" / "0007.sql").read_text()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of the database."""
    return tmp_path / "kit.db"


def write(path: Path, *texts: str) -> None:
    connection = apsw.Connection(str(path))
    for text in texts:
        connection.execute(text).fetchall()
    connection.close()


def create_released(path: Path, revision: int, *rows: str) -> None:
    """Create a database as the release of an Alembic revision did, with some rows."""
    texts = [text for number, text in migrations.missing(NAME, 0) if number <= revision]
    version = f"CREATE TABLE alembic_version AS SELECT '{revision:04}' AS version_num"
    write(path, *texts, version, *rows)


def read_schema(path: Path) -> dict[str, list[str]]:
    """Return the columns and clauses of each table and index, sorted."""
    connection = apsw.Connection(str(path))
    rows = connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
    found = {str(name): normalize(str(sql)) for name, sql in rows}
    connection.close()
    return found


def normalize(sql: str) -> list[str]:
    plain = re.sub(r"\s+", " ", sql.replace('"', "")).replace("( ", "(").replace(" )", ")")
    head, _, rest = plain.partition("(")
    return [head.strip(), *sorted(re.split(r", (?![^(]*\))", rest.strip().removesuffix(")")))]


def migrate(path: Path) -> None:
    asyncio.run(SQLite(path).close())


def read(path: Path, sql: str) -> list[tuple[object, ...]]:
    connection = apsw.Connection(str(path))
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def test_a_new_database_has_every_part_of_the_newest_schema(path: Path) -> None:
    migrate(path)

    assert read_schema(path).keys() == migrations.object_names(NAME)
    assert len(migrations.object_names(NAME)) > 15
    assert read(path, "SELECT number FROM schema_version") == [(migrations.newest(NAME),)]


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_database_of_every_release_gets_the_schema_of_a_new_one(
    path: Path, tmp_path: Path, revision: int
) -> None:
    create_released(path, revision)
    migrate(path)
    migrate(tmp_path / "new.db")

    assert read_schema(path) == read_schema(tmp_path / "new.db")
    assert read(path, "SELECT number FROM schema_version") == [(migrations.newest(NAME),)]


def test_a_migration_waits_for_another_process_and_says_so_if_that_never_ends(path: Path) -> None:
    create_released(path, 7)
    other, mine = apsw.Connection(str(path)), open_connection(path)
    other.execute("BEGIN EXCLUSIVE")

    with pytest.raises(ConfigError, match=r"database is locked.*try again when that is done"):
        file.migrate(mine, wait_ms=20)
    other.execute("ROLLBACK")
    file.migrate(mine)

    assert read(path, "SELECT number FROM schema_version") == [(migrations.newest(NAME),)]
    mine.close()
    other.close()


def test_the_last_release_created_the_schema_of_the_migrations(path: Path, tmp_path: Path) -> None:
    write(path, RELEASED)
    create_released(tmp_path / "same.db", 7)
    tables = read_schema(path), read_schema(tmp_path / "same.db")

    ours = tables[0].keys() - {"alembic_version"}
    assert {name: tables[0][name] for name in ours} == {name: tables[1][name] for name in ours}
    assert len(ours) > 15


def test_a_database_of_the_last_release_still_works(path: Path) -> None:
    write(path, RELEASED)

    async def work() -> tuple[list[str], list[str], int, list[credits.Discrepancy]]:
        database = SQLite(path)
        ((account,),) = read(path, "SELECT id FROM accounts")
        page = await database.read(generations.page(str(account), most=9, model="scene-fast"))
        claimed = await database.write(queue.claim("w", 9, lease=2**41, now=2**41))
        balance = await database.read(credits.balance(str(account), 0))
        wrong = await database.read(credits.verify())
        await database.close()
        return ([row.state for row in page], [row.id for row in claimed], balance["balance"], wrong)

    states, claimed, balance, wrong = asyncio.run(work())

    assert states == ["queued", "completed", "failed"]
    assert claimed == ["gen_01M8AGH1BBC31FAPGGAK7GG01K"]
    assert (balance, wrong) == (9940, [])


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


@pytest.mark.parametrize("early", ["gen_Z1", "gen_00"])
def test_an_older_database_is_migrated_with_its_totals(path: Path, early: str) -> None:
    now = clock()
    create_released(path, 1, _OLD.format(now=now).replace("gen_Z1", early))
    migrate(path)

    assert read(path, "SELECT charged, refunded FROM accounts ORDER BY id") == [(250, 100), (0, 0)]
    assert read(path, "SELECT charged_after, refunded_after FROM ledger ORDER BY id") == [
        (0, 0),
        (100, 0),
        (100, 100),
        (250, 100),
    ]
    # A refund of this month reduces what was spent in it only if its charge is of this month.
    ((spent, since),) = read(path, "SELECT spent, spent_since FROM keys")
    assert spent == (50 if early == "gen_Z1" else 150)
    assert isinstance(since, int)
    assert now - 32 * 24 * 3600 * 1000 < since <= now


def test_the_month_of_a_migration_is_the_month_of_the_ids(path: Path) -> None:
    create_released(path, 1, _OLD.format(now=clock()))
    migrate(path)
    ((since,),) = read(path, "SELECT spent_since FROM keys")
    assert isinstance(since, int)
    first = ids.floor("gen", since)
    path.unlink()
    for name, spent in ((first, 50), (ids.floor("gen", since - 1), 150)):
        create_released(path, 1, _OLD.format(now=clock()).replace("gen_Z1", name))
        migrate(path)
        assert read(path, "SELECT spent FROM keys") == [(spent,)]
        path.unlink()


@pytest.mark.parametrize(
    "version",
    [
        "CREATE TABLE alembic_version AS SELECT '9999' AS version_num",
        "CREATE TABLE schema_version AS SELECT 9999 AS number",
    ],
)
def test_a_newer_database_is_refused(path: Path, version: str) -> None:
    write(path, version)

    with pytest.raises(ConfigError, match=r"9999.*a newer one made it"):
        SQLite(path)


def test_concurrent_processes_migrate_a_database_once(path: Path) -> None:
    create_released(path, 3)

    async def work() -> None:
        databases = await asyncio.gather(*(asyncio.to_thread(SQLite, path) for _ in range(4)))
        for database in databases:
            await database.close()

    asyncio.run(work())
    assert read_schema(path).keys() == migrations.object_names(NAME)


def test_a_failed_migration_leaves_the_database_unchanged(path: Path) -> None:
    create_released(path, 6, "CREATE TABLE checks (x)")
    before = read_schema(path)

    with pytest.raises(apsw.SQLError, match="checks already exists"):
        SQLite(path)
    assert read_schema(path) == before
