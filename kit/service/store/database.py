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
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from kit.errors import KitError

if TYPE_CHECKING:  # what composes SQL is loaded where a statement is not written down
    from sqlalchemy import Dialect
    from sqlalchemy.sql import ClauseElement

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
    columns : sequence of str
        Names of what comes back, none where no rows do.
    row : callable or None
        Makes a named tuple of a driver's row; None where no rows come back.
    """

    text: str
    constants: Mapping[str, Any]
    columns: Sequence[str]
    order: Sequence[str]
    row: Callable[[Sequence[Any]], Any] | None

    @classmethod
    def of(
        cls,
        text: str,
        constants: Mapping[str, Any],
        columns: Sequence[str],
        order: Sequence[str] = (),
    ) -> Compiled:
        """Return a statement with what makes named tuples of its rows."""
        row: Any = namedtuple("Row", columns) if columns else None
        return cls(text, constants, columns, order, row._make if row else None)


class Query:
    """A statement that is compiled on first use and called with its values.

    Parameters
    ----------
    statement : ClauseElement or callable
        The statement, or what composes it when it is first needed.
    known : callable
        Given a dialect's name, what is known of the statement beforehand, or None.
    """

    __slots__ = ("_compiled", "_known", "_statement")

    def __init__(
        self,
        statement: ClauseElement | Callable[[], ClauseElement],
        known: Callable[[str], Compiled | None] = lambda _: None,
    ) -> None:
        self._statement = statement
        self._known = known
        self._compiled: dict[str, Compiled] = {}

    def __call__(self, **values: Any) -> Step:
        """Return the step that runs this statement with these values."""
        return Step(self, values)

    @property
    def statement(self) -> ClauseElement:
        """The statement as it was composed."""
        return self._statement() if callable(self._statement) else self._statement

    def compiled(self, name: str, dialect: Callable[[], Dialect]) -> Compiled:
        """Return the statement in a dialect, which is asked for if that takes compiling."""
        known = self._compiled.get(name)
        if known is None:
            known = self._known(name) or _compile(self.statement, dialect())
            self._compiled[name] = known
        return known


class Step(NamedTuple):
    """A statement and its values, as a transaction yields it."""

    query: Query
    values: dict[str, Any]


Rows = list[Any]
Transaction = Generator[Step, Rows, T]


class Examination(NamedTuple):
    """What a look through all that is stored has found.

    Parameters
    ----------
    wrong : str or None
        The first thing that is wrong.
    seconds : float
        Processor time that it took.
    """

    wrong: str | None
    seconds: float


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

    damage: str | None
    """What was found to be wrong with the stored data so far, or None."""

    async def examine(self) -> Examination:
        """Look through all that is stored.

        It takes as long as it takes, and gives way to everything else.
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
    from sqlalchemy.sql.compiler import SQLCompiler

    compiled = statement.compile(dialect=dialect)
    assert isinstance(compiled, SQLCompiler)  # noqa: S101 - what every SQL statement compiles to
    names = compiled.bind_names.items()
    constants = {str(name): bind.value for bind, name in names if not bind.required}
    columns = getattr(statement, "exported_columns", None)
    rows = [str(name) for name in columns.keys()] if columns is not None else []  # noqa: SIM118
    order = list(getattr(compiled, "positiontup", None) or ())
    return Compiled.of(str(compiled), constants, rows, order)
