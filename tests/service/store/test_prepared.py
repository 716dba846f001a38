"""The statements that are written down are the statements, and a start needs nothing else."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from kit.service.store import accounts, generations, keys, prepared
from kit.service.store.database import Query, every
from kit.service.store.prepared import writing
from kit.service.store.sqlite import SQLite, dialect


def plain(entry: Any) -> Any:
    """Return an entry without what a release of SQLAlchemy may do otherwise: blanks."""
    if isinstance(entry, str):
        return " ".join(entry.split())
    if isinstance(entry, dict):
        return {name: plain(value) for name, value in entry.items()}
    return [plain(value) for value in entry] if isinstance(entry, list | tuple) else entry


def test_what_is_written_down_is_what_the_statements_are() -> None:
    written = writing.prepared_source("sqlite")

    assert plain(prepared.texts("sqlite")) == plain(written), (
        "statements have changed: python -m kit.service.store.prepared"
    )
    assert len(written) > 70


def test_the_writer_writes_a_file_that_can_be_read(tmp_path: Path) -> None:
    writing.write(tmp_path)

    told = orjson.loads((tmp_path / "sqlite.json").read_bytes())
    assert told == orjson.loads(orjson.dumps(writing.prepared_source("sqlite")))


def test_a_stand_in_has_what_its_module_has() -> None:
    module = prepared.load_statements("keys")
    names = [name for name, value in vars(module).items() if isinstance(value, Query)]

    assert len(names) > 5
    for name in names:
        query = getattr(keys, name)
        assert query.compiled("sqlite", dialect).text == str(
            getattr(module, name).compiled("sqlite", dialect).text
        )
    assert getattr(keys, names[0]) is getattr(keys, names[0])


def test_a_name_that_the_module_lacks_is_no_attribute() -> None:
    with pytest.raises(AttributeError):
        accounts.NOTHING  # noqa: B018 - asked for, not used


def test_a_page_that_nobody_wrote_down_is_composed_and_runs(tmp_path: Path) -> None:
    filters = frozenset({"state", "processing", "model"})
    values = dict.fromkeys(("account", "state", "model", "after", "until"), "x")
    assert prepared.label("generations", "page", filters) not in prepared.texts("sqlite")

    async def rows() -> list[Any]:
        database = SQLite(tmp_path / "kit.db")
        try:
            return await database.read(every(generations.page(filters)(**values, most=5)))
        finally:
            await database.close()

    assert asyncio.run(rows()) == []


_SERVED = """
import json, sys, urllib.request
from kit.commands.options import transact
from kit.commands.serve import command
from kit.service import server, settings
from kit.service.domain import accounts, keys
from kit.service.http.context import clock

config = settings.load({}, data=sys.argv[1], workers=0)
account = transact(config, accounts.create("Ada", "ada@localhost", 1000, clock()))
wish = keys.Wish(account_id=account.id, name="a", scopes=("creative:generate",))
key = transact(config, keys.create(wish, config.secret(), clock()))
running = server.start(config)
for path in ("creative-studio/models", "creative-studio/generations", "usage", "account"):
    asked = urllib.request.Request(
        f"{running.url}/v1/{path}", headers={"Authorization": f"Bearer {key.text}"}
    )
    with urllib.request.urlopen(asked) as answer:
        json.load(answer)
running.stop()
print(sorted({"sqlalchemy", "alembic", "websockets", "numpy", "pandas"} & sys.modules.keys()))
"""


def test_a_new_service_starts_and_answers_without_composing_sql(tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-c", _SERVED, str(tmp_path)], capture_output=True, text=True, check=True
    )

    assert told.stdout.strip() == "[]", told.stderr
