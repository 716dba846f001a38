"""Waiting for another machine, with an ear for cancels: asynchronous work under a `Progress`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from kit.engines.base import Progress
from kit.errors import EngineError

T = TypeVar("T")
_LOOK_EVERY = 0.2
#: Seconds that saying goodbye to the other machine may take: a cancel takes effect within one.
GOODBYE_SECONDS = 0.75

#: Tells how far the work is, 0 to 1.
Tell = Callable[[float], None]


def awaited(work: Callable[[Tell], Awaitable[T]], progress: Progress, *, seconds: float) -> T:
    """Run asynchronous work to its end in an event loop of its own and return its result.

    A cancel reaches the work as `asyncio.CancelledError` within a fifth of a second, wherever it
    waits; it may still say goodbye to the other machine.

    Raises
    ------
    CanceledError
        Raised by `progress`.
    EngineError
        The work took longer than `seconds` (``timed_out``), or raised it.
    """
    return asyncio.run(_watched(work, progress, seconds))


async def undoable(step: Awaitable[T], undo: Callable[[T], Awaitable[None]]) -> T:
    """Return what a step returns that has the other machine begin something.

    Where a cancel comes in the middle of it, its answer is waited for a moment longer and undone:
    else what was begun would be made, and paid for, for nobody.
    """
    task = asyncio.ensure_future(step)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        with suppress(EngineError, TimeoutError):
            async with asyncio.timeout(GOODBYE_SECONDS):
                await undo(await task)
        raise
    finally:
        task.cancel()


async def _watched(work: Callable[[Tell], Awaitable[T]], progress: Progress, seconds: float) -> T:
    far = 0.0

    def tell(fraction: float) -> None:
        nonlocal far
        far = fraction

    async def bounded() -> T:
        try:
            async with asyncio.timeout(seconds):
                return await work(tell)
        except TimeoutError:
            sentence = f"the remote service did not finish within {seconds:g} s"
            raise EngineError(sentence, code="timed_out") from None

    task = asyncio.create_task(bounded())
    try:
        while not task.done():
            await asyncio.wait({task}, timeout=_LOOK_EVERY)
            progress.report(far)
    except BaseException:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        raise
    return await task
