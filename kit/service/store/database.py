"""Transactions, written once for every database.

A transaction is a generator: it yields steps (a statement with its values) and receives rows, so
the same code is driven by SQLite's writer thread or by an awaiting connection, as httpx drives an
authentication flow. Statements are written by hand, see `kit.service.store.statements`.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Generator, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from kit.errors import KitError
from kit.service.store.statements import Step

if TYPE_CHECKING:  # its driver is an extra
    from kit.service.store.postgresql.shared import Shared

T = TypeVar("T")


class DuplicateError(KitError):
    """A row breaks a unique constraint: what it says was said before."""


Rows = list[Any]
Transaction = Generator[Step, Rows, T]
#: What is called for a transaction can be begun anew, should it lose a race with another.
Work = Transaction[T] | Callable[[], Transaction[T]]


class Examination(NamedTuple):
    """What a look through all that is stored has found."""

    #: The first thing that is wrong.
    wrong: str | None
    #: Processor time that it took.
    seconds: float


class Database(Protocol):
    """What runs transactions."""

    @property
    def shared(self) -> Shared | None:
        """What the services on a server's database share; None where there is one service."""
        ...

    async def read(self, transaction: Transaction[T]) -> T:
        """Run a transaction that only reads."""
        ...

    async def write(self, work: Work[T], *, durable: bool = True) -> T:
        """Run a transaction as a whole; what it returns is on disk when this returns.

        `durable`: False for what may be forgotten in a power cut, such as a claim: it waits for no
        disk.
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

    def clock(self) -> int:
        """Return the time in milliseconds since 1970, as all who share the database have it."""
        ...

    async def close(self) -> None:
        """Finish what was begun and let go of the database."""
        ...


def begin(work: Work[T]) -> Transaction[T]:
    """Return the transaction of some work."""
    return work() if callable(work) else work


def one(step: Step) -> Transaction[Any]:
    """Return the first row of a step, or None."""
    rows = yield step
    return rows[0] if rows else None


def row_maker(columns: Iterable[str]) -> Callable[[Iterable[Any]], Any]:
    """Return what makes a named tuple of a driver's row."""
    kind: Any = namedtuple("Row", [*columns])  # type: ignore[misc]
    return partial(tuple.__new__, kind)  # what the tuple's own does, without a frame for each row
