"""Statements and transactions, written once for every database.

A transaction is a generator: it yields steps (a statement with its values) and receives rows, so
the same code is driven by SQLite's writer thread or by an awaiting connection, as httpx drives an
authentication flow. Statements are SQLAlchemy Core objects, compiled once per dialect to the text
that the raw driver runs.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

from sqlalchemy import Dialect
from sqlalchemy.sql import ClauseElement
from sqlalchemy.sql.compiler import SQLCompiler

from kit.errors import KitError

T = TypeVar("T")


class DuplicateError(KitError):
    """A row breaks a unique constraint: what it says was said before."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A statement as the raw driver takes it.

    Parameters
    ----------
    text : str
        SQL with the dialect's placeholders.
    constants : mapping
        Values that stand in the statement itself.
    row : callable or None
        Makes a named tuple of a driver's row; None where no rows come back.
    """

    text: str
    constants: Mapping[str, Any]
    order: Sequence[str]
    row: Callable[[Sequence[Any]], Any] | None


class Query:
    """A statement that is compiled on first use and called with its values."""

    __slots__ = ("_compiled", "_statement")

    def __init__(self, statement: ClauseElement) -> None:
        self._statement = statement
        self._compiled: dict[str, Compiled] = {}

    def __call__(self, **values: Any) -> Step:
        """Return the step that runs this statement with these values."""
        return Step(self, values)

    def compiled(self, dialect: Dialect) -> Compiled:
        """Return the statement in a dialect."""
        known = self._compiled.get(dialect.name)
        if known is None:
            known = self._compiled[dialect.name] = _compile(self._statement, dialect)
        return known


class Step(NamedTuple):
    """A statement and its values, as a transaction yields it."""

    query: Query
    values: dict[str, Any]


Rows = list[Any]
Transaction = Generator[Step, Rows, T]


class Database(Protocol):
    """What runs transactions."""

    async def read(self, transaction: Transaction[T]) -> T:
        """Run a transaction that only reads."""
        ...

    async def write(self, transaction: Transaction[T], *, durable: bool = True) -> T:
        """Run a transaction as a whole; what it returns is on disk when this returns.

        Parameters
        ----------
        durable : bool
            False for what may be forgotten in a power cut, such as a claim: it waits for no disk.
        """
        ...

    def version(self) -> object:
        """Return something that differs whenever anything may have been written since."""
        ...

    async def close(self) -> None:
        """Finish what was begun and let go of the database."""
        ...


def one(query: Step) -> Transaction[Any]:
    """Return the first row of a step, or None."""
    rows = yield query
    return rows[0] if rows else None


def every(query: Step) -> Transaction[Rows]:
    """Return all rows of a step."""
    return (yield query)


def _compile(statement: ClauseElement, dialect: Dialect) -> Compiled:
    compiled = statement.compile(dialect=dialect)
    assert isinstance(compiled, SQLCompiler)  # noqa: S101 - what every SQL statement compiles to
    constants = {name: b.value for name, b in compiled.binds.items() if not b.required}
    columns = getattr(statement, "exported_columns", None)
    names = [str(name) for name in columns.keys()] if columns is not None else []  # noqa: SIM118
    row: Any = namedtuple("Row", names) if names else None
    order = list(getattr(compiled, "positiontup", None) or ())
    return Compiled(str(compiled), constants, order, row._make if row else None)
