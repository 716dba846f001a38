"""Statements as text, written down ahead: a service starts without what composes and compiles SQL.

SQLAlchemy takes a quarter of a start and of an idle service's memory. What it makes of the
statements for a database lies beside this file; ``python -m kit.service.store.prepared`` writes it
anew, and a test compares it with the statements. One that is not in there is composed when it is
first wanted.
"""

from __future__ import annotations

from collections.abc import Set
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import orjson

from kit.service.store.database import Compiled, Query

#: The dialects whose statements are written down.
DIALECTS = ("sqlite",)
#: The modules of statements.
MODULES = (
    "accounts",
    "audit",
    "checks",
    "generations",
    "idempotency",
    "keys",
    "ledger",
    "removals",
    "uploads",
    "writing",
)
FOLDER = Path(__file__).parent
#: Where a dialect's file has the statements that make a new database.
SCHEMA = "schema"


class StandIn:
    """A module of statements that is loaded when one of its statements was not written down."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if any(f"{self._module}.{name}" in texts(dialect) for dialect in DIALECTS):
            found: Any = _query(self._module, name)
        elif name in _CHOOSING:
            found = cache(lambda *args, **how: _query(self._module, name, *args, **how))
        else:
            found = getattr(load_statements(self._module), name)
        # The next one to ask finds it without asking here.
        setattr(self, name, found)
        return found


def stand_in(module: str) -> StandIn | None:
    """Return what stands in for a module of the store; None for one without statements."""
    return _STAND_INS.get(module)


def label(module: str, name: str, *args: Any, **how: Any) -> str:
    """Return what a statement is called in the file.

    Examples
    --------
    >>> label("keys", "ADD")
    'keys.ADD'
    >>> label("generations", "page", frozenset({"state", "model"}), whole=False)
    'generations.page(model+state, whole=False)'
    """
    told = [_told(value) for value in args]
    told += [f"{key}={_told(value)}" for key, value in sorted(how.items())]
    return f"{module}.{name}({', '.join(told)})" if told else f"{module}.{name}"


def load_statements(module: str) -> Any:
    """Return a module of statements itself."""
    return import_module(f"kit.service.store.{module}")


@cache
def texts(dialect: str) -> dict[str, Any]:
    """Return what is written down for a dialect: by label text, constants and columns."""
    path = FOLDER / f"{dialect}.json"
    found: dict[str, Any] = orjson.loads(path.read_bytes()) if path.is_file() else {}
    return found


def schema(dialect: str) -> list[str] | None:
    """Return the statements that make a new database, where they are written down."""
    return texts(dialect).get(SCHEMA)


def _query(module: str, name: str, *args: Any, **how: Any) -> Query:
    called = label(module, name, *args, **how)

    def composed() -> Any:
        found = getattr(load_statements(module), name)
        return (found(*args, **how) if args or how else found).statement

    def known(dialect: str) -> Compiled | None:
        entry = texts(dialect).get(called)
        return Compiled.of(**entry) if entry else None

    return Query(composed, known)


def _told(value: Any) -> str:
    return "+".join(sorted(value)) if isinstance(value, Set) else str(value)


#: Functions that choose among statements.
_CHOOSING = ("page",)
_STAND_INS = {name: StandIn(name) for name in MODULES}
