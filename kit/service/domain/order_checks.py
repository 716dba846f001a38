"""Order checks: engines are asked whether an order can work, without trust in their answers.

A check runs in the process that answers all requests, so it has a thread of its own and a little
time, while other requests are answered.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from typing import TypeAlias

from kit.engines.base import Engine, Order, Problem
from kit.errors import REPORTED

#: Seconds that a check may take; it should take none that a user notices.
_TIMEOUT = 1.0
#: Characters of a problem that are passed on.
_MAX_LENGTH = 500
_log = logging.getLogger(__name__)

#: The problems that an engine found, or what it raised instead.
_Outcome: TypeAlias = "tuple[list[Problem], BaseException | None]"


class OrderChecks:
    """Runs the checks of engines.

    Without an answer of its engine an order is accepted: it may still work. An engine that does not
    answer in time is not asked again until it has, so that it delays one order and not all of them.
    """

    def __init__(self, timeout: float = _TIMEOUT) -> None:
        self._timeout = timeout
        self._late: dict[str, threading.Thread] = {}

    async def run(self, order: Order, model_id: str, engine: Engine) -> Sequence[Problem]:
        """Return why an order cannot work, as (parameter, sentence) pairs."""
        late = self._late.get(model_id)
        if type(engine).check is Engine.check or (late and late.is_alive()):
            return []
        thread, outcome = _start(order, engine)
        try:
            async with asyncio.timeout(self._timeout):
                found, error = await outcome
        except TimeoutError:
            self._late[model_id] = thread
            sentence = "the engine of %r takes longer than %g s to check an order: until it has, "
            _log.warning(f"{sentence}others go unchecked", model_id, self._timeout)
            return []
        if error is not None:
            # Its text stays out of the log: it may repeat the prompt.
            kind = type(error).__name__
            _log.warning("the engine of %r could not check an order (%s)", model_id, kind)
        return found


def _check(engine: Engine, order: Order) -> _Outcome:
    try:
        found = [
            (_printable(name), _printable(why))
            for name, why in islice(engine.check(order), REPORTED)
        ]
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a plug-in may raise anything
        return [], error
    return found, None


def _printable(text: object) -> str:
    cut = str(text)[:_MAX_LENGTH]
    return "".join(c if c.isprintable() else " " for c in cut)


def _start(order: Order, engine: Engine) -> tuple[threading.Thread, asyncio.Future[_Outcome]]:
    """Return a thread that runs an engine's check, and the future of its outcome.

    The threads of a pool would be waited for when the service stops.
    """
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[_Outcome] = loop.create_future()

    def settle(found: _Outcome) -> None:
        if not outcome.done():
            outcome.set_result(found)

    def run() -> None:
        found = _check(engine, order)
        with suppress(RuntimeError):  # the loop is closed: the service has stopped
            loop.call_soon_threadsafe(settle, found)

    thread = threading.Thread(target=run, name="check", daemon=True)
    thread.start()
    return thread, outcome
