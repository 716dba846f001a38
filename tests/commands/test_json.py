"""Every command that prints a table prints only JSON with ``--json``."""

from pathlib import Path

import pytest

from kit import commands
from tests.commands.conftest import Kit

#: Arguments of the commands that print tables -> whether the JSON is a list.
TABLES = {
    "accounts list": True,
    "audit": True,
    "keys list": True,
    "ledger verify": True,
    "models": False,
    "profiles": True,
    "webhooks list --account {account}": True,
}


@pytest.mark.parametrize("line", TABLES)
def test_a_table_is_printed_as_json_on_request(kit: Kit, account: str, line: str) -> None:
    done = kit(*line.format(account=account).split(), "--json")

    assert (done.code, done.err) == (0, "")
    assert isinstance(done.json, list if TABLES[line] else dict)


# `kit move` needs a PostgreSQL server: its own test covers its JSON.
def test_every_command_with_a_table_is_tested() -> None:
    folder = Path(str(commands.__file__)).parent
    shown = {path.stem for path in folder.glob("*.py") if " table(" in path.read_text("utf-8")}

    assert shown - {"options", "move"} <= {line.split()[0] for line in TABLES}
