"""A private event loop in a daemon thread, on which all coroutines of the kit run.

`submit` returns a `LoopJob` immediately; `run` blocks the calling thread, which may be that of a
script, a cell with a running loop or a widget's callback. The notebook's own loop is not used.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
import warnings
import weakref
from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec, TypeVar

from kit.errors import show_own_lines

P = ParamSpec("P")
T = TypeVar("T")

#: Seconds between checks of an awaited job. The signal of a notebook's Stop button does not wake an
#: idle loop, so an await without a heartbeat could not be interrupted.
HEARTBEAT = 0.2


async def to_thread(call: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """Await a blocking call on another thread; Stop interrupts the wait."""
    work = asyncio.ensure_future(asyncio.to_thread(call, *args, **options))
    try:
        while not work.done():
            await asyncio.wait({work}, timeout=HEARTBEAT)
        return work.result()
    finally:
        work.cancel()


class KitLoop(asyncio.SelectorEventLoop):
    """A loop class of our own, so that making it re-entrant changes no other loop."""


@dataclass(frozen=True, slots=True, eq=False)
class LoopJob(Generic[T]):
    """A coroutine that runs in the background; ``await job`` works from any loop.

    `ended` is set when the coroutine has ended, including its cleanup.
    """

    _future: concurrent.futures.Future[T]
    _ended: threading.Event
    _thread: threading.Thread | None

    def __await__(self) -> Generator[Any, None, T]:
        return self._wait().__await__()

    def cancel(self) -> bool:
        """Request cancellation; return False if it has already ended."""
        return self._future.cancel()

    def result(self, timeout: float | None = None) -> T:
        """Block until the result is available; interrupting the wait cancels the job."""
        if threading.current_thread() is self._thread and not self._future.done():
            raise RuntimeError("the job would wait for itself: write `await job`")
        try:
            return self._future.result(timeout)
        except KeyboardInterrupt:
            self.cancel()
            self._ended.wait(2)
            raise

    async def _wait(self) -> T:
        future = asyncio.wrap_future(self._future)
        try:
            while not future.done():
                await asyncio.wait({future}, timeout=HEARTBEAT)
            return future.result()
        except asyncio.CancelledError as interruption:
            self.cancel()
            show_own_lines(interruption)
            raise


class Bridge:
    """The loop, its thread, and access to it; started by the first use in each process."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # garbage collection may submit
        self._loop: KitLoop | None = None
        self._thread: threading.Thread | None = None
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def submit(self, work: Coroutine[Any, Any, T]) -> LoopJob[T]:
        """Start a coroutine on the private loop and return its job."""
        return self._submit(work, threading.Event(), [])

    def _submit(
        self, work: Coroutine[Any, Any, T], ended: threading.Event, tasks: list[asyncio.Task[Any]]
    ) -> LoopJob[T]:
        loop = self.loop()

        async def whole() -> T:
            if (task := asyncio.current_task()) is not None:
                tasks.append(task)
            try:
                return await work
            finally:
                ended.set()

        coroutine = whole()
        # Canceled before its first step, it never awaits the work, which Python warns about.
        weakref.finalize(coroutine, work.close).atexit = False
        return LoopJob(asyncio.run_coroutine_threadsafe(coroutine, loop), ended, self._thread)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the private loop and block until its result is available.

        On the private loop's own thread, e.g. in a callback of a job, it runs nested.
        """
        if threading.current_thread() is self._thread:
            loop = self.loop()
            _make_reentrant(loop)
            return loop.run_until_complete(work)
        ended, tasks = threading.Event(), list[asyncio.Task[Any]]()
        try:
            return self._submit(work, ended, tasks).result()
        except KeyboardInterrupt:
            # The interrupt may come before `_submit` has returned, with the coroutine running.
            if tasks and not ended.is_set():
                self.loop().call_soon_threadsafe(tasks[0].cancel)
                ended.wait(2)
            raise

    def loop(self) -> KitLoop:
        """Return the running loop of this process."""
        with self._lock:
            if self._loop is None:
                self._loop, self._thread = _start_loop()
            return self._loop

    def _forget(self) -> None:
        """Reset in a forked child: threads do not survive a fork, locks may be held."""
        self._lock = threading.RLock()
        self._loop = self._thread = None


def _start_loop() -> tuple[KitLoop, threading.Thread]:
    loop, ready = KitLoop(), threading.Event()

    def main() -> None:
        asyncio.set_event_loop(loop)
        loop.call_soon(ready.set)
        loop.run_forever()

    thread = threading.Thread(target=main, name="kit-loop", daemon=True)
    thread.start()
    ready.wait()
    return loop, thread


def _make_reentrant(loop: KitLoop) -> None:
    """Allow `loop` to run inside itself; it patches the loop's class, and that class is ours.

    `nest_asyncio` also replaces `asyncio.run`, with one that breaks servers in threads from
    Python 3.12 on: that is undone.
    """
    if hasattr(KitLoop, "_nest_patched"):
        return
    import nest_asyncio

    run = asyncio.run
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of policies, in Python 3.14
            nest_asyncio.apply(loop)
    finally:
        asyncio.run = run


#: The bridge of this process.
bridge = Bridge()
