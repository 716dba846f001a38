"""SQLite: a writer thread that commits transactions of many callers at once; reads in the loop.

Only this package has SQL for SQLite only. It uses apsw, whose SQLite is newer than Python's; two
SQLite libraries on one file in one process would release each other's locks, so no other code may
open the file.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import apsw

from kit.errors import ConfigError, UnavailableError
from kit.service.store.database import (
    DuplicateError,
    Examination,
    Rows,
    Transaction,
    Work,
    begin,
    log_outage,
    row_maker,
)
from kit.service.store.sqlite.file import DAMAGE_ERRORS, NAME, find_damage, migrate, open_connection
from kit.service.store.statements import Statement, Step

T = TypeVar("T")
_log = logging.getLogger("kit.store")

#: Temporary errors: a full disk, a lock of another process, a folder that became read-only.
_TEMPORARY_ERRORS = (
    apsw.BusyError,
    apsw.FullError,
    apsw.IOError,
    apsw.ReadOnlyError,
    apsw.CantOpenError,
)
#: Maximum of transactions in one commit.
_MAX_BATCH = 256
#: Seconds for which an examination works at a time, and its pauses as a multiple of them.
_WORK_SECONDS, _PAUSE_FACTOR = 0.002, 4
#: The return value of a transaction, or its error.
_Result = tuple[Any, Exception | None]


class _Write(NamedTuple):
    transaction: Transaction[Any]
    future: asyncio.Future[Any]
    durable: bool


class SQLite:
    """A database in one file, which is created and migrated to the newest schema.

    `on_commit` is called in the writer thread with the number of transactions of each commit and
    its seconds. `vfs` names a virtual file system of SQLite, e.g. one that loses unsynced writes.

    Source: https://sqlite.org/wal.html; figures of group commit in the decisions.
    """

    def __init__(
        self,
        path: Path,
        on_commit: Callable[[int, float], None] = lambda _size, _seconds: None,
        vfs: str | None = None,
    ) -> None:
        #: The damage to the file that a statement or an examination has found, or None.
        self.damage: str | None = None
        self.shared = None  # only one service uses a file
        self._path = path
        self._on_commit = on_commit
        self._writer = open_connection(path, vfs)
        self._write_driver = _Driver(self._writer)
        try:
            migrate(self._writer)
        except BaseException:
            self._writer.close()
            raise
        self._reader = open_connection(path, vfs)
        self._reader.execute("PRAGMA query_only = ON")
        # No memory mapping: a truncated file or a bad sector would end the process.
        self._reader.execute("PRAGMA mmap_size = 0")
        self._read_driver = _Driver(self._reader)
        self._durable = True
        self._closed = threading.Event()
        self._examinations: set[asyncio.Task[Examination]] = set()
        self._queue: queue.SimpleQueue[_Write | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="kit-sqlite-writer", daemon=True)
        self._thread.start()

    async def read(self, transaction: Transaction[T]) -> T:
        """Run a read-only transaction here: an indexed read is faster than a thread switch."""
        try:
            return self._read_driver.drive(transaction)
        except apsw.ReadOnlyError:  # the transaction tried to write
            raise
        except apsw.Error as error:
            raise self._translate(error) from None

    async def write(self, work: Work[T], *, durable: bool = True) -> T:
        """Run a transaction in the writer thread; its changes are on disk when this returns."""
        if not self._thread.is_alive():
            raise UnavailableError("the database is closed")
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._queue.put(_Write(begin(work), future, durable))
        # A canceled caller does not cancel its transaction: it still completes or fails, without
        # a report.
        return await future

    def version(self) -> object:
        """Return a value that changes whenever the database may have changed."""
        try:
            return self._reader.execute("PRAGMA data_version").fetchone()
        except apsw.Error as error:
            raise self._translate(error) from None

    async def examine(self) -> Examination:
        """Check the whole file, with pauses most of the time; `close` interrupts it."""
        task = asyncio.create_task(asyncio.to_thread(self._examine_file))
        self._examinations.add(task)
        task.add_done_callback(self._examinations.discard)
        examination = await asyncio.shield(task)
        self.damage = examination.problem
        return examination

    def _examine_file(self) -> Examination:
        begun = time.thread_time()
        try:
            problem = find_damage(self._path, _make_pause(self._closed))
        except ConfigError as error:
            _log.warning("%s", error)
            raise UnavailableError("the database cannot be examined now") from None
        return Examination(problem, time.thread_time() - begun)

    def clock(self) -> int:
        """Return this machine's time in milliseconds since 1970."""
        return time.time_ns() // 1_000_000

    async def close(self) -> None:
        """Commit queued transactions and close the file."""
        self._closed.set()
        self._queue.put(None)
        # Not in another thread: none can be started while the process ends.
        self._thread.join()
        await asyncio.gather(*self._examinations, return_exceptions=True)
        self._reader.close()
        self._writer.close()

    def _work(self) -> None:
        while (first := self._queue.get()) is not None:
            batch, last = self._gather(first)
            started = time.perf_counter()
            _answer(batch, self._commit(batch))
            self._on_commit(len(batch), time.perf_counter() - started)
            if last:
                return

    def _gather(self, first: _Write) -> tuple[list[_Write], bool]:
        batch = [first]
        while len(batch) < _MAX_BATCH:
            try:
                write = self._queue.get_nowait()
            except queue.Empty:
                break
            if write is None:
                return batch, True
            batch.append(write)
        return batch, False

    def _commit(self, batch: list[_Write]) -> list[_Result]:
        """Run a batch and commit it once; results are final only after the commit."""
        connection = self._writer
        try:
            # A sync covers all earlier commits.
            if (durable := any(write.durable for write in batch)) != self._durable:
                self._writer.pragma("synchronous", "FULL" if durable else "NORMAL")
                self._durable = durable
            connection.execute("BEGIN IMMEDIATE")
            results = [self._run_one(write.transaction) for write in batch]
            connection.execute("COMMIT")
        except apsw.Error as error:
            if connection.in_transaction:
                with suppress(apsw.Error):  # if it cannot be undone now, it is with the next batch
                    connection.execute("ROLLBACK")
            return [(None, self._translate(error))] * len(batch)
        return results

    def _run_one(self, transaction: Transaction[Any]) -> _Result:
        """Run one caller's transaction in its own savepoint; return its result or error."""
        connection = self._writer
        connection.execute("SAVEPOINT unit")
        try:
            result = self._write_driver.drive(transaction)
        except Exception as error:
            if not connection.in_transaction:  # a full disk ends the transaction of the whole batch
                raise
            connection.execute("ROLLBACK TO unit")
            connection.execute("RELEASE unit")
            return None, self._translate(error)
        connection.execute("RELEASE unit")
        return result, None

    def _translate(self, error: Exception) -> Exception:
        if isinstance(error, apsw.ConstraintError):
            kinds = (apsw.SQLITE_CONSTRAINT_UNIQUE, apsw.SQLITE_CONSTRAINT_PRIMARYKEY)
            duplicate = getattr(error, "extendedresult", 0) in kinds
            return DuplicateError(str(error)) if duplicate else error
        if isinstance(error, DAMAGE_ERRORS):
            self.damage = self.damage or str(error)
            _log.error("the database is damaged: %s", error)
            return UnavailableError("the database is damaged; nothing was charged")
        if isinstance(error, _TEMPORARY_ERRORS):
            log_outage(self._path, error)
            is_full = isinstance(error, apsw.FullError)
            state = "the service's disk is full" if is_full else "the database cannot be used now"
            return UnavailableError(f"{state}; nothing was charged")
        return error


class _Driver:
    """Runs transactions on a connection and names the columns of their rows."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        #: Functions that create a named tuple of a row; added with a statement's first row.
        self._row_makers: dict[Statement, Callable[[Any], Any]] = {}

    def drive(self, transaction: Transaction[T]) -> T:
        try:
            step = next(transaction)
            while True:
                step = transaction.send(self._run(step))
        except StopIteration as end:
            result: T = end.value
            return result

    def _run(self, step: Step) -> Rows:
        cursor = self.connection.execute(step.statement.text(NAME), step.values)
        row = self._row_makers.get(step.statement)
        if row is None:
            try:
                columns = [name for name, *_ in cursor.getdescription()]
            except apsw.ExecutionCompleteError:  # no rows
                return []
            row = self._row_makers[step.statement] = row_maker(columns)
        return [row(values) for values in cursor]


def _answer(batch: list[_Write], results: list[_Result]) -> None:
    def resolve() -> None:
        for write, (result, error) in zip(batch, results, strict=True):
            if write.future.done():
                continue
            if error is None:
                write.future.set_result(result)
            else:
                write.future.set_exception(error)

    loop = batch[0].future.get_loop()
    if not loop.is_closed():
        loop.call_soon_threadsafe(resolve)


def _make_pause(stopped: threading.Event) -> Callable[[], bool]:
    """Return a function that pauses when called, and returns whether to stop.

    Pauses instead of a low priority: a thread with one may be descheduled while it holds the GIL.
    """
    begun = time.perf_counter()

    def pause() -> bool:
        nonlocal begun
        worked = time.perf_counter() - begun
        if worked >= _WORK_SECONDS:
            stopped.wait(worked * _PAUSE_FACTOR)
            begun = time.perf_counter()
        return stopped.is_set()

    return pause
