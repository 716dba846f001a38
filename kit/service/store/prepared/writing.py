"""How the files of prepared statements are written: the only part that composes them all."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import orjson

from kit.service.store import migrations, sqlite
from kit.service.store.database import Query
from kit.service.store.prepared import FOLDER, MODULES, SCHEMA, label, load_statements

_DIALECTS = {sqlite.NAME: sqlite.dialect}


def prepared_source(dialect: str) -> dict[str, Any]:
    """Return all that a dialect's file has to say."""
    statements = {
        name: {"text": compiled.text, "constants": compiled.constants, "columns": compiled.columns}
        for name, query in _statements()
        for compiled in [query.compiled(dialect, _DIALECTS[dialect])]
    }
    return {SCHEMA: list(migrations.schema_statements(_DIALECTS[dialect]())), **statements}


def write(folder: Path = FOLDER) -> None:
    """Write each dialect's file."""
    for dialect in _DIALECTS:
        content = orjson.dumps(prepared_source(dialect), option=orjson.OPT_INDENT_2)
        (folder / f"{dialect}.json").write_bytes(content + b"\n")


def _statements() -> Iterator[tuple[str, Query]]:
    for name in MODULES:
        module = load_statements(name)
        for constant, value in vars(module).items():
            if isinstance(value, Query):
                yield label(name, constant), value
    for module in ("audit", "ledger"):
        for before in (False, True):
            yield label(module, "page", before=before), load_statements(module).page(before=before)
    page = load_statements("generations").page
    for filters in _asked():
        for whole in (False, True):
            yield label("generations", "page", filters, whole=whole), page(filters, whole=whole)


def _asked() -> Iterator[frozenset[str]]:
    """Yield the filters of every list that can be asked for; no one asks for two states."""
    filters = load_statements("generations").FILTERS
    for size in range(len(filters) + 1):
        for chosen in combinations(sorted(filters), size):
            if not {"state", "processing"} <= {*chosen}:
                yield frozenset(chosen)
