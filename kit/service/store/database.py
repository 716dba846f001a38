"""Transactions, written once for every database.

A transaction is a generator: it yields steps (a statement with its values) and receives rows, so
the same code is driven by SQLite's writer thread or by an awaiting connection, as httpx drives an
authentication flow. Statements are written by hand, see `kit.service.store.statements`.
"""

from __future__ import annotations

import logging
import time
from collections import namedtuple
from collections.abc import Awaitable, Callable, Generator, Iterable
from functools import partial
from typing import Any, NamedTuple, TypeVar

from kit.errors import KitError, NotFoundError, UnavailableError
from kit.parameters import shorten
from kit.service.store.statements import Step

T = TypeVar("T")
_log = logging.getLogger("kit.store")

#: When the next outage of a database may be logged.
_log_due: dict[str, float] = {}


class DuplicateError(KitError):
    """A row violates a unique constraint."""


Rows = list[Any]
Transaction = Generator[Step, Rows, T]
#: A callable is called again for a new attempt if its transaction lost a race with another.
Work = Transaction[T] | Callable[[], Transaction[T]]


class Examination(NamedTuple):
    """The result of checking all stored data."""

    #: The first error.
    problem: str | None
    #: Processor time of the check.
    seconds: float


def begin(work: Work[T]) -> Transaction[T]:
    """Return the transaction of some work."""
    return work() if callable(work) else work


def one(step: Step) -> Transaction[Any]:
    """Return the first row of a step, or None."""
    rows = yield step
    return rows[0] if rows else None


def require(step: Step, noun: str, name: str) -> Transaction[Any]:
    """Return the first row of a step; raises `NotFoundError` without one."""
    row = yield from one(step)
    if row is None:
        raise NotFoundError(f"there is no {noun} {shorten(name)}")
    return row


def row_maker(columns: Iterable[str]) -> Callable[[Iterable[Any]], Any]:
    """Return a function that turns rows of a driver into named tuples."""
    kind: Any = namedtuple("Row", [*columns])  # type: ignore[misc]
    return partial(tuple.__new__, kind)  # as namedtuple's own, without a Python call per row


def log_outage(database: object, reason: object) -> None:
    """Log that a database cannot be used, at most once in ten seconds."""
    if (now := time.monotonic()) >= _log_due.get(str(database), 0.0):
        _log_due[str(database)] = now + 10.0
        _log.warning("the database cannot be used now: %s", reason)


async def attempt(step: Callable[[], Awaitable[object]], failure: str) -> None:
    """Run a step of a loop; an error is logged, unless it is an outage, which was logged."""
    try:
        await step()
    except Exception as error:  # noqa: BLE001 - the next round may succeed
        if not isinstance(error, UnavailableError):
            _log.exception(failure)
