"""Whether a start may be sent once more, and whether it may have been charged for.

The API document knows no idempotency keys, so a service that says nothing is taken not to know
them: what was lost on the way back may have been charged for, and sending it again would charge
twice. The same goes for an answer that says neither yes nor no.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from kit.client import answers
from kit.client.actions import NoReply, Reply
from kit.client.calls import GENERATIONS, Call
from kit.errors import KitError

E = TypeVar("E", bound=KitError)

#: Refusals by their number that say nothing of what has been done: the request took too long, or
#: its answer is elsewhere.
_UNSURE = frozenset({303, 408})
_MAYBE = "; it may have been carried out"


def honors_keys(headers: Mapping[str, str]) -> bool:
    """Return whether an answer shows that its service honors keys: it was kept from before."""
    return headers.get("idempotency-replayed", "").lower() == "true"


def may_have_run(call: Call[Any], outcome: Reply | NoReply) -> bool:
    """Return whether a call that did not go well may have been carried out, and charged.

    A refusal charges nothing. A failure of the service, or of a gateway before it, may come after
    the charge. A 503 is a refusal only where the service itself says so: with a ``Retry-After``, or
    with a code of its own.

    Examples
    --------
    >>> from kit import wire
    >>> from kit.client.calls import start_generation
    >>> call = start_generation(wire.StartGeneration(model_id="m"))
    >>> unsure(call, Reply(402)), unsure(call, Reply(502)), unsure(call, Reply(503))
    (False, True, True)
    """
    if not call.pays:
        return False
    if isinstance(outcome, NoReply):
        return outcome.sent
    later = "retry-after" in outcome.headers
    if outcome.status == 409:
        return later  # an earlier attempt under the same key is still being carried out
    if outcome.status == 503:
        return not (later or answers.has_own_code(outcome))
    return outcome.status >= 500 or outcome.status in _UNSURE


def mark_unsettled(call: Call[Any], error: E) -> E:
    """Return an error after which nobody knows whether a call was carried out; it says so."""
    error.unsettled = True
    text = str(error)
    if _MAYBE not in text:
        error.args = (f"{text}{unsettled_advice(call)}",)
    return error


def unsettled_advice(call: Call[Any]) -> str:
    """Return what to do about a call that may have been carried out, to end a sentence with."""
    if call.path != GENERATIONS:
        return f"{_MAYBE} and charged"
    return f"{_MAYBE}: look in the history (studio.history.list()) before sending it again"
