"""Flows of requests: retries and pagination, shared by both faces.

GETs are always retried. POSTs are retried only with an idempotency key, the same for each attempt.
Without a response they are retried only if nothing was sent, or if the service is known to honor
such keys: other services may have charged for it, as after a gateway error. An error after which
that is unknown is `unsettled`, and says so. ``Retry-After`` is a lower bound; one that exceeds the
deadline is not waited for. Waiting for a rate limit is no failed attempt: many requests at once
take their turns.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, TypeVar
from urllib.parse import urljoin, urlsplit

from kit import wire
from kit.client import answers
from kit.client.calls import Call, Flow, NoReply, Reply, SendRequest, Sleep, Step
from kit.errors import ApiError, BadRequestError, NoAnswerError, RateLimitError

T = TypeVar("T")
Listed = TypeVar("Listed", wire.Generation, wire.Entry)
#: Maximum of empty pages that are skipped.
_MAX_EMPTY_PAGES = 5

_BUSY = frozenset({429, 503})
_GATEWAY = frozenset({502, 504})
_FAILED = frozenset({500})
#: Seconds of a requested pause, or of an outage, from which on a message mentions it.
MIN_REPORTED_SECONDS = 2.0
#: Seconds that one task may wait for a rate limit in total.
_MAX_LIMITED_SECONDS = 300.0
#: Seconds by which a pause may exceed its time limit.
_GRACE = 0.05


@dataclass(frozen=True, slots=True)
class Policy:
    """How often and how long to retry; clock and dice are arguments, so tests need no time.

    No attempt starts after `deadline` seconds. The pause before the second attempt is `first`
    seconds, doubled each time. `quick` is for callers that handle outages themselves: then only
    errors from the service itself are retried.
    """

    attempts: int = 5
    deadline: float = 60.0
    first: float = 0.2
    longest: float = 8.0
    quick: bool = False
    clock: Callable[[], float] = time.monotonic
    # Own dice, so that requests do not change the numbers of a `random` that the user has seeded.
    dice: Callable[[], float] = random.Random().random  # noqa: S311 - jitter, no secret

    def backoff(self, attempt: int, least: float | None) -> float:
        """Return the seconds before the next attempt: at least `least`, plus jitter."""
        wait = min(self.longest, self.first * 2.0 ** min(attempt, 60))  # more overflows a float
        return max(least or 0.0, wait * 0.5) + wait * 0.5 * self.dice()


PATIENT = Policy()
ONCE = Policy(attempts=1)


def ask(call: Call[T], policy: Policy = PATIENT) -> Flow[T]:
    """Send a call, with retries, and return its parsed response."""
    reply = yield from exchange(call, policy)
    try:
        return answers.read(call, reply)
    except ApiError as error:
        raise (answers.mark_unsettled(call, error) if call.pays else error) from None


def exchange(
    call: Call[Any], policy: Policy = PATIENT, headers: Mapping[str, str] | None = None
) -> Flow[Reply]:
    """Send a call, with retries, and return its raw response."""
    sent_headers = {**(headers or {}), **({"Idempotency-Key": call.key} if call.key else {})}
    tries = Attempts(policy, ends_at=policy.clock() + policy.deadline)
    may_have_run = False
    while True:
        outcome = yield SendRequest(call, sent_headers)
        if (error := find_error(outcome)) is None:
            assert isinstance(outcome, Reply)  # noqa: S101 - narrows the type
            answers.check_data(call, outcome)
            return outcome
        may_have_run = may_have_run or answers.may_have_run(call, outcome)
        is_over = (policy.quick and is_outage(outcome)) or not _may_repeat(call, outcome, error)
        if is_over or not (yield from tries.sleep(error)):
            explained = answers.explain_missing(call, explain_retry_after(error))
            raise answers.mark_unsettled(call, explained) if may_have_run else explained


class UnreachableError(NoAnswerError):
    """No response was received, and a retry would not help."""


class Late(Exception):  # noqa: N818 - it is thrown into a flow, and no caller sees it
    """A pause would have exceeded the time limit of a flow."""


@dataclass(slots=True)
class Attempts:
    """The attempts at one task, with the pauses between them, as long as a retry makes sense.

    None starts after the time `ends_at`; without it only pauses count, for tasks that may take long
    themselves, such as files. `outlasts_outages` retries lost connections without a limit.
    """

    policy: Policy
    ends_at: float | None = None
    outlasts_outages: bool = False
    failed: int = 0
    slept: float = 0.0
    #: Pauses for a rate limit, and their seconds; none of the above counts them.
    limited: int = 0
    limited_seconds: float = 0.0

    def sleep(self, error: Exception | None = None) -> Flow[bool]:
        """Pause before the next attempt; return False if there should be none.

        The ``retry_after`` of the last attempt's error is a lower bound of the pause.
        """
        requested = getattr(error, "retry_after", None) or 0.0
        pause = self.policy.backoff(self.failed + self.limited, requested)
        if isinstance(error, RateLimitError) and requested and self.policy.attempts > 1:
            self.limited += 1
            self.limited_seconds += pause
            if pause > self.policy.deadline or self.limited_seconds > _MAX_LIMITED_SECONDS:
                return False
            self.ends_at = self.ends_at and self.ends_at + pause
            shown = max(requested, self.limited_seconds) >= MIN_REPORTED_SECONDS
            return (yield from _sleep(pause, _wait_text(error, requested) if shown else ""))
        self.failed += 1
        outlasting = self.outlasts_outages and is_connection_error(error)
        if (self.failed >= self.policy.attempts and not outlasting) or self._is_over(pause):
            return False
        why = _wait_text(error, requested) if requested >= MIN_REPORTED_SECONDS else ""
        if outlasting and self.slept >= MIN_REPORTED_SECONDS:
            why = no_connection_text(self.slept)
        self.slept += pause
        return (yield from _sleep(pause, why))

    def _is_over(self, pause: float) -> bool:
        if self.ends_at is None:
            return self.slept + pause > self.policy.deadline
        return self.policy.clock() + pause > self.ends_at


def _sleep(seconds: float, why: str) -> Flow[bool]:
    """Pause, and return whether the time limit of the flow allowed it."""
    try:
        yield Sleep(seconds, why)
    except Late:
        return False
    return True


def limit_time(flow: Flow[T], end: float | None, clock: Callable[[], float]) -> Flow[T]:
    """Run a flow with a time limit: a pause that would exceed it is not started.

    The flow then raises the error that it was retrying, e.g. that the service is busy, or `Late`.
    """

    def execute(step: Step) -> Flow[Any]:
        if isinstance(step, Sleep) and end is not None and clock() + step.seconds > end + _GRACE:
            raise Late
        return (yield step)

    return run_steps(flow, execute)


def run_steps(flow: Flow[T], execute: Callable[[Step], Flow[Any]]) -> Flow[T]:
    """Run a flow whose steps are executed by `execute`; `Late` is thrown into it."""
    try:
        step = next(flow)
        while True:
            try:
                outcome = yield from execute(step)
            except Late as late:
                step = flow.throw(late)
            else:
                step = flow.send(outcome)
    except StopIteration as stop:
        result: T = stop.value
        return result
    finally:
        flow.close()


def fetch_page(
    call: Call[list[T]], policy: Policy = PATIENT
) -> Flow[tuple[list[T], Call[list[T]] | None]]:
    """Fetch one page of a list and the call that fetches the next one, as `fetch_rows` does."""
    reply, following = yield from fetch_rows(call, policy)
    return answers.read(call, reply), following


def fetch_rows(
    call: Call[list[T]], policy: Policy = PATIENT
) -> Flow[tuple[Reply, Call[list[T]] | None]]:
    """Fetch one raw page of a list, and the call for the next page, if any.

    Without a ``Link`` header there is only one page. The query is additive: it is left out if the
    service refuses it. Some services filter after pagination: a few empty pages before others are
    skipped.
    """
    for _ in range(_MAX_EMPTY_PAGES):
        try:
            reply = yield from exchange(call, policy)
        except BadRequestError:
            if not call.query:
                raise
            call = replace(call, query={})
            reply = yield from exchange(call, policy)
        if reply.status == 204:  # an empty list, at some services
            return replace(reply, content=b"[]"), None
        link = urlsplit(urljoin(call.path, answers.next_link(reply.headers.get("link")) or ""))
        # behind a proxy it may name the service's internal host
        following = link._replace(scheme="", netloc="").geturl()
        if following == call.path:
            return reply, None
        call = Call("GET", following, call.parse)
        if reply.content.strip() != b"[]":
            break
    return reply, call


def list_all(
    call: Call[list[Listed]],
    limit: int | None = None,
    keep: Callable[[Listed], bool] = lambda _: True,
    is_last: Callable[[Listed], bool] = lambda _: False,
) -> Flow[list[Listed]]:
    """Fetch pages until there are `limit` items that `keep` accepts, or all of them.

    No page is fetched after one whose last item `is_last`.
    """
    items: dict[str, Listed] = {}  # pages shift while they are read: duplicates are merged
    following: Call[list[Listed]] | None = call
    seen: set[str] = set()
    while following and following.path not in seen and (limit is None or len(items) < limit):
        seen.add(following.path)  # avoids an endless loop of pages
        page, following = yield from fetch_page(following)
        items |= {item.id: item for item in page if keep(item)}
        following = following if page and not is_last(page[-1]) else None
    return sort_newest_first(items.values())[:limit]


def sort_newest_first(page: Iterable[Listed]) -> list[Listed]:
    """Return a page sorted, as not every service does; what has no time counts as new."""
    now = datetime.now(UTC)
    return sorted(page, key=lambda row: row.created_at or now, reverse=True)


def find_error(outcome: Reply | NoReply) -> ApiError | NoAnswerError | None:
    """Return the error of an outcome, or None if it is a success."""
    if not isinstance(outcome, NoReply):
        return answers.find_error(outcome)
    return (UnreachableError if outcome.permanent else NoAnswerError)(outcome.message)


def is_outage(outcome: Reply | NoReply) -> bool:
    """Return whether the service itself did not respond, and may be available again soon.

    Examples
    --------
    >>> is_outage(NoReply("no connection")), is_outage(Reply(502)), is_outage(Reply(500))
    (True, True, False)
    """
    if isinstance(outcome, NoReply):
        return not outcome.permanent
    silent = "retry-after" not in outcome.headers
    return outcome.status in _GATEWAY or (outcome.status == 503 and silent)


def explain_retry_after(error: ApiError | NoAnswerError) -> ApiError | NoAnswerError:
    """Return an error whose message says how long the service asks to wait."""
    seconds = getattr(error, "retry_after", None) or 0.0
    if seconds >= MIN_REPORTED_SECONDS:
        error.args = (_wait_text(error, seconds),)
    return error


def format_duration(seconds: float) -> str:
    """Return a duration as people say it.

    Examples
    --------
    >>> format_duration(0.25), format_duration(3.94), format_duration(59.7), format_duration(7200)
    ('0.2 s', '4 s', '60 s', '2 hours')
    """
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 1 else f"{seconds:.1g} s"


def no_connection_text(seconds: float) -> str:
    """Return the message shown during a lost connection."""
    return f"no connection for {format_duration(seconds)}, trying again"


def is_connection_error(error: Exception | None) -> bool:
    """Return whether an error is a lost connection, which may be temporary."""
    return isinstance(error, NoAnswerError) and not isinstance(error, UnreachableError)


def _wait_text(error: Exception | None, seconds: float) -> str:
    message, duration = str(error), format_duration(seconds)
    if message.endswith(f" {duration}"):  # as our own service says it
        return message
    return f"{message}; the service asks to wait {duration} before the next request"


def _may_repeat(call: Call[Any], outcome: Reply | NoReply, error: ApiError | NoAnswerError) -> bool:
    """Whether sending a call again is both safe and useful."""
    reading = call.method == "GET"
    if not reading and call.key is None:
        return False
    if isinstance(outcome, NoReply):
        return not outcome.permanent and (reading or call.free or outcome.harmless)
    still_running = outcome.status == 409 and getattr(error, "retry_after", None) is not None
    if (still_running and not reading) or (outcome.harmless and is_outage(outcome)):
        return True
    repeatable = _BUSY | _GATEWAY | _FAILED if reading else _BUSY | _GATEWAY if call.free else _BUSY
    return outcome.status in repeatable and not answers.may_have_run(call, outcome)


def report_waits(flow: Flow[T], on_wait: Callable[[str], None]) -> Flow[T]:
    """Return a flow that also reports why it waits."""

    def execute(step: Step) -> Flow[Any]:
        if isinstance(step, Sleep) and step.why:
            on_wait(step.why)
        return (yield step)

    return run_steps(flow, execute)
