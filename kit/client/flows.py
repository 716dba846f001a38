"""Flows of requests: retries, waiting and paging, written once for both faces.

What is retried: a GET always; a POST only under an idempotency key that each attempt carries. A
``Retry-After`` is a lower bound; one that passes the deadline is not waited for at all.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from kit import wire
from kit.client import answers, calls
from kit.client.calls import Call
from kit.client.steps import Ask, Flow, Lost, Reply, Sleep
from kit.errors import ApiError, KitError, NoAnswerError

T = TypeVar("T")

_BUSY = frozenset({429, 503})
_GATEWAY = frozenset({502, 504})


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
        rest = policy.backoff(attempt, getattr(error, "retry_after", None))
        attempt += 1
        worth = attempt < policy.attempts and _again(call, outcome, error)
        if not worth or policy.clock() + rest > ends:
            raise error
        yield Sleep(rest)


def pause(policy: Policy, attempt: int) -> Flow[None]:
    """Let the time before another attempt pass."""
    yield Sleep(policy.backoff(attempt, None))


def wait(
    generation_id: str,
    *,
    status_url: str | None = None,
    timeout: float | None = None,
    on_update: Callable[[wire.Generation], None] = lambda _: None,
    policy: Policy = PATIENT,
) -> Flow[wire.Generation]:
    """Poll a generation until it is finished, whatever its end, and return it.

    The service's ``Retry-After`` sets the pace; without one it follows the time waited so far.

    Parameters
    ----------
    timeout : float or None
        Seconds in all; None waits for ever.
    on_update : callable
        Called with each answer; a progress display hangs here.

    Raises
    ------
    NoAnswerError
        It is still running after `timeout` seconds; every error carries `generation_id`.
    """
    call = calls.get_generation(generation_id, status_url=status_url)
    began = policy.clock()
    latest: wire.Generation | None = None
    etag = ""
    try:
        while True:
            reply = yield from exchange(call, policy, {"If-None-Match": etag} if etag else None)
            if reply.status != 304 or latest is None:
                latest = answers.read(call, reply)
                etag = reply.headers.get("etag", "")
            on_update(latest)
            if latest.finished:
                return latest
            waited = policy.clock() - began
            if timeout is not None and waited >= timeout:
                raise NoAnswerError(_unfinished(generation_id, timeout))
            rest = _pace(reply, waited, policy)
            yield Sleep(rest if timeout is None else min(rest, max(0.01, timeout - waited)))
    except KitError as error:
        error.generation_id = generation_id
        raise


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


def _pace(reply: Reply, waited: float, policy: Policy) -> float:
    """Return the seconds before the next poll: the service's hint, or a share of the time waited.

    Jitter keeps many notebooks that started together from asking together.
    """
    hint = answers.retry_after(reply.headers.get("retry-after"), datetime.now(UTC))
    rest = min(hint, 60.0) if hint else min(5.0, max(0.1, 0.15 * waited))
    return rest * (1.0 + 0.1 * policy.dice())


def _unfinished(generation_id: str, timeout: float) -> str:
    return (
        f"the generation {generation_id} is not finished after {timeout:g} s; it goes on, and "
        "waiting for it again costs nothing"
    )
