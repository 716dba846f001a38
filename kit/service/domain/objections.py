"""What engines have to say against an order, asked without trusting them to answer.

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
from kit.errors import TOLD

#: Seconds that a check may take; it should take none that anybody notices.
PATIENCE = 1.0
#: Characters of an objection that are passed on.
_LONGEST = 500
_log = logging.getLogger(__name__)

#: What an engine objects to, or what it raised instead.
_Answer: TypeAlias = "tuple[list[Problem], BaseException | None]"


class Objections:
    """Asks engines what they object to.

    An engine that cannot answer has no objection: it may still be able to render. One that does not
    answer in time is not asked again until it has, so that it holds up one order and not all of
    them.
    """

    def __init__(self) -> None:
        self._late: dict[str, threading.Thread] = {}

    async def to(self, order: Order, model_id: str, engine: Engine) -> Sequence[Problem]:
        """Return why an order cannot work, as (parameter, sentence) pairs."""
        late = self._late.get(model_id)
        if type(engine).check is Engine.check or (late and late.is_alive()):
            return []
        thread, answer = _asking(order, engine)
        try:
            async with asyncio.timeout(PATIENCE):
                found, error = await answer
        except TimeoutError:
            self._late[model_id] = thread
            _log.warning(
                "the engine of %r takes longer than %g s to check an order: until it has, others go"
                " unchecked",
                model_id,
                PATIENCE,
            )
            return []
        if error is not None:
            # Its text stays out of the log: it may repeat the prompt.
            kind = type(error).__name__
            _log.warning("the engine of %r could not check an order (%s)", model_id, kind)
        return found


def _asked(engine: Engine, order: Order) -> _Answer:
    try:
        found = [(_shown(name), _shown(why)) for name, why in islice(engine.check(order), TOLD)]
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a plug-in may raise anything
        return [], error
    return found, None


def _shown(text: object) -> str:
    cut = str(text)[:_LONGEST]
    return "".join(c if c.isprintable() else " " for c in cut)


def _asking(order: Order, engine: Engine) -> tuple[threading.Thread, asyncio.Future[_Answer]]:
    """Return a thread of its own that asks an engine, and what will hold its answer.

    The threads of a pool would be waited for when the service stops.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[_Answer] = loop.create_future()

    def settle(found: _Answer) -> None:
        if not answer.done():
            answer.set_result(found)

    def ask() -> None:
        found = _asked(engine, order)
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, found)

    thread = threading.Thread(target=ask, name="check", daemon=True)
    thread.start()
    return thread, answer
