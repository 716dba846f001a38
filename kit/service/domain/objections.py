"""What engines have to say against an order, asked without trusting them to answer.

A check runs in the process that answers all requests. The kit's own are called as they are; one of
a plug-in runs in a thread and has a little time, while other requests are answered.
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
from kit.engines.plugins import Pinned

#: Seconds that a plug-in's check may take; it should take none that anybody notices.
PATIENCE = 1.0
_BUILT_IN = "kit.engines."
#: Objections to one order, and characters of each, that are passed on.
_MOST, _LONGEST = 50, 500
_log = logging.getLogger(__name__)

#: What an engine objects to, or what it raised instead.
_Answer: TypeAlias = "tuple[list[Problem], BaseException | None]"


class Objections:
    """Asks engines what they object to.

    An engine that cannot answer has no objection: it may still be able to render. One that does not
    answer in time is not asked again, so that it holds up one order and not all of them.
    """

    def __init__(self) -> None:
        self._silent: set[str] = set()

    async def to(self, order: Order, model_id: str, engine: Engine) -> Sequence[Problem]:
        """Return why an order cannot work, as (parameter, sentence) pairs."""
        if model_id in self._silent or type(engine).check is Engine.check:
            return []
        answer = _asked(engine, order) if _is_ours(engine) else await _asked_aside(engine, order)
        if answer is None:
            self._silent.add(model_id)
            _log.warning(
                "the engine of %r takes longer than %g s to check an order and is not asked again",
                model_id,
                PATIENCE,
            )
            return []
        found, error = answer
        if error is not None:
            # Its text stays out of the log: it may repeat the prompt.
            kind = type(error).__name__
            _log.warning("the engine of %r could not check an order (%s)", model_id, kind)
        return found


def _is_ours(engine: Engine) -> bool:
    return type(engine).__module__.startswith(_BUILT_IN) and not isinstance(engine, Pinned)


def _asked(engine: Engine, order: Order) -> _Answer:
    try:
        found = [(_shown(name), _shown(why)) for name, why in islice(engine.check(order), _MOST)]
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a plug-in may raise anything
        return [], error
    return found, None


def _shown(text: object) -> str:
    cut = str(text)[:_LONGEST]
    return "".join(c if c.isprintable() else " " for c in cut)


async def _asked_aside(engine: Engine, order: Order) -> _Answer | None:
    """Return what an engine says in a thread of its own; None where that takes too long.

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

    threading.Thread(target=ask, name="check", daemon=True).start()
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            return await answer
    return None
