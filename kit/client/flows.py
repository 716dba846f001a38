"""Flows of requests: retries and paging, written once for both faces.

What is retried: a GET always; a POST only under an idempotency key that each attempt carries. A
``Retry-After`` is a lower bound; one that passes the deadline is not waited for at all.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from kit.client import answers
from kit.client.calls import Call
from kit.client.steps import Ask, Flow, Lost, Reply, Sleep
from kit.errors import ApiError, NoAnswerError

T = TypeVar("T")

_BUSY = frozenset({429, 503})
_GATEWAY = frozenset({502, 504})
#: Seconds that a service must ask for before the person who waits is told.
_WORTH_TELLING = 2.0


@dataclass(frozen=True, slots=True)
class Policy:
    """How patient the client is; the clock and the dice are arguments, so tests need no time.

    Parameters
    ----------
    attempts : int
        How often a request is sent at most.
    deadline : float
        Seconds after which no further attempt begins.
    first, longest : float
        Seconds before the second attempt, doubled each time, up to `longest`.
    """

    attempts: int = 5
    deadline: float = 60.0
    first: float = 0.2
    longest: float = 8.0
    clock: Callable[[], float] = time.monotonic
    dice: Callable[[], float] = random.random

    def backoff(self, attempt: int, least: float | None) -> float:
        """Return the seconds before the next attempt: at least `least`, with jitter on top."""
        wait = min(self.longest, self.first * 2.0**attempt)
        return max(least or 0.0, wait * 0.5) + wait * 0.5 * self.dice()


PATIENT = Policy()
ONCE = Policy(attempts=1)


def ask(call: Call[T], policy: Policy = PATIENT) -> Flow[T]:
    """Send a call, patiently, and return what it says."""
    reply = yield from exchange(call, policy)
    return answers.read(call, reply)


def exchange(
    call: Call[Any], policy: Policy = PATIENT, headers: Mapping[str, str] | None = None
) -> Flow[Reply]:
    """Send a call, patiently, and return its reply.

    Raises
    ------
    ApiError
        The class for what the service answered.
    NoAnswerError
        It could not be reached, or not in time.
    """
    sent = {**(headers or {}), **({"Idempotency-Key": call.key} if call.key else {})}
    ends = policy.clock() + policy.deadline
    attempt = 0
    while True:
        outcome = yield Ask(call, sent)
        error = _error(outcome)
        if error is None:
            assert isinstance(outcome, Reply)  # noqa: S101 - narrows the type
            return outcome
        asked = getattr(error, "retry_after", None) or 0.0
        rest = policy.backoff(attempt, asked)
        attempt += 1
        worth = attempt < policy.attempts and _again(call, outcome, error)
        if not worth or policy.clock() + rest > ends:
            raise _told(error, asked)
        yield Sleep(rest, _told(error, asked).args[0] if asked >= _WORTH_TELLING else "")


def pause(policy: Policy, attempt: int) -> Flow[None]:
    """Let the time before another attempt pass."""
    yield Sleep(policy.backoff(attempt, None))


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some items of a list, and the call that fetches the next ones, if any."""

    items: list[T]
    following: Call[list[T]] | None


def page(call: Call[list[T]], policy: Policy = PATIENT) -> Flow[Page[T]]:
    """Fetch one page of a list; without a ``Link`` header there is only one."""
    reply = yield from exchange(call, policy)
    following = answers.next_link(reply.headers.get("link"))
    more = Call("GET", following, call.answer) if following else None
    return Page(answers.read(call, reply), more if more and more.path != call.path else None)


def listing(
    call: Call[list[T]], limit: int | None = None, policy: Policy = PATIENT
) -> Flow[list[T]]:
    """Fetch page after page until `limit` items are there, or all of them."""
    items: list[T] = []
    following: Call[list[T]] | None = call
    while following and (limit is None or len(items) < limit):
        found = yield from page(following, policy)
        items += found.items
        following = found.following if found.items else None
    return items if limit is None else items[:limit]


def _error(outcome: Reply | Lost) -> ApiError | NoAnswerError | None:
    return NoAnswerError(outcome.message) if isinstance(outcome, Lost) else answers.problem(outcome)


def _told(error: ApiError | NoAnswerError, asked: float) -> ApiError | NoAnswerError:
    """Return an error whose sentence says how long the service asks to be left alone."""
    if asked >= _WORTH_TELLING:
        error.args = (f"{error}; the service asks to wait {_span(asked)} before the next request",)
    return error


def _span(seconds: float) -> str:
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def _again(call: Call[Any], outcome: Reply | Lost, error: ApiError | NoAnswerError) -> bool:
    """Whether sending a call once more can neither do harm nor is pointless."""
    reading = call.method == "GET"
    if not reading and call.key is None:
        return False
    if isinstance(outcome, Lost):
        # a service that knows no idempotency keys may have charged for what timed out
        return reading or not outcome.timed_out
    still_running = outcome.status == 409 and getattr(error, "retry_after", None) is not None
    return outcome.status in (_BUSY | _GATEWAY if reading else _BUSY) or (
        still_running and not reading
    )
