"""``kit migrate`` and ``kit move``: both databases get the newest schema, and commands work."""

import re
from pathlib import Path

import pytest

from tests.commands.conftest import Kit


@pytest.fixture
def database_url(either_database: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Set the database URL for the commands."""
    monkeypatch.setenv("KIT_DATABASE_URL", either_database)
    return either_database


def test_commands_work_on_a_migrated_database(kit: Kit, database_url: str) -> None:
    assert kit("migrate").code == (0 if database_url else 2)  # SQLite is not created

    created = kit("accounts", "create", "--name", "Ada", "--email", "a@b", "--credits", 5, "--json")
    account = created.json["id"]
    assert re.fullmatch(r"The database has the schema \d+.\n", kit("migrate").out)
    assert kit("keys", "create", "--account", account, "--name", "k").code == 0
    assert kit("accounts", "list", "--json").json[0]["credits"] == 5
    assert kit("ledger", "verify").code == 0
    assert "ok    database: " in kit("doctor").out


def test_a_backup_of_postgresql_is_refused_with_a_hint_to_pg_dump(
    kit: Kit, empty_postgresql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIT_DATABASE_URL", empty_postgresql)
    assert kit("accounts", "list").code == 0

    done = kit("backup", "copy")
    assert done.code == 2
    assert "pg_dump of the database, then a copy of the bucket" in done.err


def test_an_unreachable_database_server_is_reported(
    kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIT_DATABASE_URL", "postgresql://ada:secret@127.0.0.1:9/kit")

    done = kit("accounts", "list")
    assert done.code == 1
    assert done.err.endswith(
        "the database at 127.0.0.1/kit cannot be reached: it must run, and KIT_DATABASE_URL must "
        "name it\n"
    )
    assert "secret" not in done.out + done.err


def test_a_data_folder_can_be_moved_to_postgresql(
    kit: Kit, account: str, empty_postgresql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = kit("move", "--database", empty_postgresql, "--json")
    assert done.code == 0, done.err
    assert done.json["accounts"] == 1

    monkeypatch.setenv("KIT_DATABASE_URL", empty_postgresql)
    assert kit("accounts", "list", "--json").json[0]["id"] == account
    assert kit("ledger", "verify").code == 0
    assert kit("move", "--database", "sqlite:///x").code == 2


def test_after_a_move_commands_that_lack_the_database_are_refused(
    kit: Kit, account: str, empty_postgresql: str
) -> None:
    done = kit("move", "--database", empty_postgresql)
    advice = re.search(r"remove (\S+kit\.db), so that none uses it by mistake", done.out)
    assert advice
    Path(advice[1]).unlink()

    refused = kit("accounts", "create", "--name", "Bob", "--email", "bob@example.org")
    assert refused.code == 2
    assert "set KIT_DATABASE_URL if it was moved" in refused.err
