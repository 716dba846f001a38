"""What engines have to say against an order, asked without trusting them to answer.

A check runs in the process that answers all requests. The kit's own are called as they are; one of
a plug-in runs in a thread and has a little time, for an endless one would stop the service.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import TypeAlias

from kit.engines.base import Engine, Order, Problem

#: Seconds that a plug-in's check may take; it should take none that anybody notices.
PATIENCE = 1.0
_BUILT_IN = "kit.engines."
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

    def to(self, order: Order, model_id: str, engine: Engine) -> Sequence[Problem]:
        """Return why an order cannot work, as (parameter, sentence) pairs."""
        if model_id in self._silent or type(engine).check is Engine.check:
            return []
        answer = _asked(engine, order) if _is_ours(engine) else _asked_aside(engine, order)
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
    return type(engine).__module__.startswith(_BUILT_IN)


def _asked(engine: Engine, order: Order) -> _Answer:
    try:
        return [(str(name), str(why)) for name, why in engine.check(order)], None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a plug-in may raise anything
        return [], error


def _asked_aside(engine: Engine, order: Order) -> _Answer | None:
    """Return what an engine says in a thread of its own; None where that takes too long."""
    answers: queue.SimpleQueue[_Answer] = queue.SimpleQueue()
    thread = threading.Thread(
        target=lambda: answers.put(_asked(engine, order)), name="check", daemon=True
    )
    thread.start()
    with suppress(queue.Empty):
        return answers.get(timeout=PATIENCE)
    return None
