"""Waiting for generations: all waits of a session share a few requests.

A single waiter uses long polling: it asks the service to hold its response until something changes.
A service without long polling is polled at the rate that it suggests. If there are many waiters,
one asks for all: it reads the newest pages of the list, and then fetches the missing ones singly,
the longest unseen first. The API document specifies no size, order or completeness of the list, so
further pages are read only while they contain several of ours. On average this takes at most four
requests a second for any number of waiters.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from kit import errors, wire
from kit.client import answers, calls, flows
from kit.client.calls import Flow, Reply, Sleep
from kit.client.flows import PATIENT, Policy
from kit.errors import KitError

OnUpdate = Callable[[wire.Generation], None]

#: Maximum of seconds between polls during an outage, and between messages about it.
_MAX_POLL_SECONDS, _MESSAGE_SECONDS = 10.0, 1.0
#: Seconds that the service is asked to hold a response. Source: RFC 7240, section 4.3.
HOLD_SECONDS = 20
#: An ETag that no generation has: the first response comes immediately.
_UNKNOWN_ETAG = '"unseen"'
#: Maximum of generations that are fetched singly, with long polling and without.
_MAX_SINGLE_HELD, _MAX_SINGLE = 4, 1
#: Maximum of requests per second, on average, for polling many.
_REQUESTS_PER_SECOND = 4
#: Minimum and maximum of requests in one poll besides the list's first page, whatever the interval.
_MIN_REQUESTS, _MAX_REQUESTS = 8, 20
#: Seconds in which a generation that was just started may be unknown to other servers of a service.
UNKNOWN_SECONDS = 10
#: Polls with hardly any of ours in the list, after which only every so many polls read it.
_MAX_MISSES, _POLLS_PER_LIST = 3, 8
#: Maximum of generations in a list for each of ours; a longer one is no cheaper than single ones.
_MAX_PER_MATCH = 100
#: Minimum of our generations on a page for the next page to be cheaper than single requests.
_MIN_PER_PAGE = 2
#: Error statuses that concern the key or are temporary, and not the requested generation.
_GENERAL = frozenset({401, 402, 408, 425, 429, 502, 503, 504})
#: Errors that may be temporary, like a lost connection.
_TEMPORARY_ERRORS = (errors.UnavailableError, errors.RateLimitError)


@dataclass(slots=True)
class RetryState:
    """The outage of a service, shared by all who ask it together; ends with a response."""

    policy: Policy
    since: float | None = None
    failed: int = 0
    error: KitError | None = None
    announced: bool = False

    def reset(self) -> None:
        """Record that the service has responded."""
        self.since = self.error = None
        self.failed, self.announced = 0, False

    def pause(self, error: KitError, *, began: float, left: float | None = None) -> float:
        """Return the seconds to wait before a retry, or raise if a retry is pointless."""
        requested = _requested_seconds(error)
        is_late = left is not None and max(left, 0.0) < requested
        is_temporary = flows.is_connection_error(error) or isinstance(error, _TEMPORARY_ERRORS)
        if not is_temporary or requested > self.policy.deadline or is_late:
            raise error
        self.since = began if self.since is None else self.since
        self.error = error
        self.failed += 1
        return replace(self.policy, longest=_MAX_POLL_SECONDS).backoff(self.failed - 1, requested)

    def sleep(self, seconds: float) -> Flow[None]:
        """Sleep; during an outage, report how long it has lasted."""
        while self.since is not None and seconds > _MESSAGE_SECONDS:
            yield self._sleep_step(_MESSAGE_SECONDS)
            seconds -= _MESSAGE_SECONDS
        yield self._sleep_step(seconds)

    def _sleep_step(self, seconds: float) -> Sleep:
        lasted = 0.0 if self.since is None else self.policy.clock() - self.since
        if lasted < flows.MIN_REPORTED_SECONDS:
            return Sleep(seconds)
        announced, self.announced = self.announced, True
        why = f"the service has been unavailable for {flows.format_duration(lasted)}, trying again"
        if isinstance(self.error, errors.NoAnswerError):
            why = flows.no_connection_text(lasted)
        return Sleep(seconds, why, repeated=announced)


@dataclass(slots=True, eq=False)
class Waiter:
    """One wait for a generation, and its last known state."""

    id: str
    status_url: str | None
    since: float
    ends_at: float | None
    outage: RetryState
    is_new: bool = False
    asked_at: float = 0.0
    etag: str = _UNKNOWN_ETAG
    latest: wire.Generation | None = None
    error: KitError | None = None

    def may_be_unknown(self, error: KitError, now: float) -> bool:
        """Whether an error says that it does not exist, although it was started just now."""
        if not (self.is_new and isinstance(error, errors.NotFoundError)):
            return False
        is_shown = self.latest is not None and not self.latest.finished  # by a list, meanwhile
        return now - self.since <= UNKNOWN_SECONDS and not is_shown

    def left(self, now: float) -> float | None:
        """Return the remaining seconds, or None without a timeout."""
        return None if self.ends_at is None else self.ends_at - now


class SharedWait:
    """All waits of one session; shared by flows of many threads."""

    def __init__(self, policy: Policy = PATIENT) -> None:
        self._patient = policy
        # no retries per request: outages are handled here
        self._policy = replace(policy, quick=True)
        self._begin()
        self._due = 0.0
        self._interval = 0.0
        self._held = False
        self._outage = RetryState(policy)
        self._polls = 0
        self._misses = 0
        self._has_list = True

    def _begin(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._waiters: list[Waiter] = []
        self._leading = False

    def wait(
        self,
        generation_id: str,
        *,
        status_url: str | None = None,
        timeout: float | None = None,
        began: float | None = None,
        on_update: OnUpdate = lambda _: None,
        is_new: bool = False,
    ) -> Flow[wire.Generation]:
        """Wait until a generation is finished, whatever its final state, and return it.

        Outages of the service are waited for as well. `timeout` counts from `began`, a time on the
        policy's clock, by default now. Every error carries `generation_id`. One that `is_new` may
        be unknown to some of the service's servers for seconds.

        Raises `NoAnswerError` if it still runs after `timeout` seconds, or its state is unknown.
        """
        now = self._policy.clock()
        ends_at = None if timeout is None else (now if began is None else began) + timeout
        waiter = Waiter(generation_id, status_url, now, ends_at, RetryState(self._policy), is_new)
        waiting = self._wait(waiter, timeout or 0.0, on_update)
        return (yield from flows.limit_time(waiting, ends_at, self._policy.clock))

    def _wait(self, waiter: Waiter, timeout: float, on_update: OnUpdate) -> Flow[wire.Generation]:
        if self._process != os.getpid():
            self._begin()  # a forked process has no leader and no other waiters
        self._waiters.append(waiter)
        try:
            while True:
                count = len({one.id for one in list(self._waiters)})
                together = count > (_MAX_SINGLE_HELD if self._held else _MAX_SINGLE)
                outage = self._outage if together else waiter.outage
                ask = self._ask_together if together else self._ask_alone
                rest = yield from ask(waiter)
                if waiter.latest is not None and outage.since is None:
                    on_update(waiter.latest)
                    if waiter.latest.finished:
                        return waiter.latest
                left = waiter.left(self._policy.clock())
                if left is not None and left <= 0:
                    raise errors.NoAnswerError(_unfinished_text(waiter.id, timeout, outage.error))
                rest = rest if left is None else min(rest, max(0.01, left))
                yield from outage.sleep(rest)
        except KitError as error:
            error.generation_id = waiter.id
            raise
        finally:
            self._waiters.remove(waiter)

    def check_all(
        self, addresses: Mapping[str, str | None]
    ) -> Flow[dict[str, wire.Generation | KitError]]:
        """Return the current states by id, or why one cannot be read; unknown ids are left out."""
        outage = RetryState(self._patient)
        waiters = {name: Waiter(name, url, 0.0, None, outage) for name, url in addresses.items()}
        yield from self._poll(waiters, 2 * len(waiters), self._patient)
        found = {name: one.latest or one.error for name, one in waiters.items()}
        unknown = (errors.NotFoundError, type(None))
        return {name: each for name, each in found.items() if not isinstance(each, unknown)}

    # ── alone ────────────────────────────────────────────────────────────────────────────────────

    def _ask_alone(self, waiter: Waiter) -> Flow[float]:
        """Fetch one generation and return how long to sleep, also after a failure."""
        call = calls.get_generation(waiter.id, status_url=waiter.status_url)
        start = self._policy.clock()
        left = waiter.left(start)
        patience = HOLD_SECONDS if left is None else min(HOLD_SECONDS, int(left))
        headers = {"If-None-Match": waiter.etag} if waiter.etag else {}
        headers |= {"Prefer": f"wait={patience}"} if patience > 0 else {}
        try:
            reply = yield from flows.exchange(call, self._policy, headers)
            if reply.status != 304:
                waiter.latest = answers.read(call, reply)
        except KitError as error:
            if waiter.may_be_unknown(error, start):
                return self._pace(Reply(404), start - waiter.since)
            return waiter.outage.pause(error, began=start, left=waiter.left(self._policy.clock()))
        waiter.outage.reset()
        now = self._policy.clock()
        if reply.status != 304:
            waiter.etag = reply.headers.get("etag", "")
        elif waiter.latest is None:
            waiter.etag = ""  # 304 to an ETag that no generation has: ask without one
            return 0.0
        waited = now - waiter.since
        # a service that claims to wait, but responds at once without news, did not wait
        held = "preference-applied" in reply.headers and (reply.status != 304 or now - start >= 1)
        self._held = self._held or held
        return min(0.5, max(0.05, 0.03 * waited)) if held else self._pace(reply, waited)

    def _pace(self, reply: Reply, waited: float) -> float:
        """Return the seconds before the next poll: the service's hint, or a share of those waited.

        Jitter keeps notebooks that started at the same time from polling at the same time.
        """
        hint = answers.retry_seconds(reply)
        rest = min(hint, 60.0) if hint else min(5.0, max(0.1, 0.15 * waited))
        return rest * (1.0 + 0.1 * self._policy.dice())

    # ── together ─────────────────────────────────────────────────────────────────────────────────

    def _ask_together(self, waiter: Waiter) -> Flow[float]:
        """Poll for all waiters if it is time and no other thread does; return how long to sleep."""
        with self._lock:
            leads = not self._leading and self._policy.clock() >= self._due
            self._leading = self._leading or leads
        if leads:
            try:
                yield from self._ask_for_all(waiter)
            finally:
                self._leading = False
        if waiter.error is not None:
            raise _copy_error(waiter.error)  # a copy for each waiter, with its id
        if self._leading:
            return 0.1 if self._outage.since is None else 1.0
        return max(self._due - self._policy.clock(), 0.02)

    def _ask_for_all(self, leader: Waiter) -> Flow[None]:
        waiters, began = list(self._waiters), self._policy.clock()
        by_id = {one.id: one for one in reversed(waiters)}
        most = min(_MAX_REQUESTS, max(_MIN_REQUESTS, int(_REQUESTS_PER_SECOND * self._interval)))
        try:
            requests = yield from self._poll(by_id, most, self._policy)
        except KitError as error:
            left = leader.left(self._policy.clock())
            if left is not None and _requested_seconds(error) > left:
                raise  # other waiters may have more time left
            try:
                self._interval = self._outage.pause(error, began=began)
            except KitError:  # final for all waiters
                for one in waiters:
                    one.error = error
                self._interval = self._next_interval(0.0, 1)
        else:
            self._outage.reset()
            for one in waiters:
                state = by_id[one.id]
                one.latest, one.error = state.latest or one.latest, state.error
            newest = max(one.since for one in waiters)
            self._interval = self._next_interval(self._policy.clock() - newest, requests)
        self._due = self._policy.clock() + self._interval

    def _next_interval(self, waited: float, requests: int) -> float:
        """Return the seconds between two polls, given the requests that the last one took."""
        pace = max(min(5.0, max(0.5, 0.15 * waited)), requests / _REQUESTS_PER_SECOND)
        return pace * (1.0 + 0.1 * self._policy.dice())

    def _poll(self, waiters: Mapping[str, Waiter], most: int, policy: Policy) -> Flow[int]:
        """Update generations with a limited number of requests; return the number made."""
        pages, listed = 0, dict[str, wire.Generation]()
        if len(waiters) > _MAX_SINGLE:
            listed, pages = yield from self._read_list(set(waiters), most, policy)
        for name, found in listed.items():
            waiters[name].latest = found
        missing = [one for name, one in waiters.items() if name not in listed]
        oldest = sorted(missing, key=lambda one: one.asked_at)[: max(1, most - pages)]
        for one in oldest:
            call = calls.get_generation(one.id, status_url=one.status_url)
            one.asked_at = self._policy.clock()
            try:
                one.latest = yield from flows.ask(call, policy)
            except errors.ApiError as error:
                is_about_one = policy is self._patient and error.response_status not in _GENERAL
                if not (is_about_one or isinstance(error, errors.NotFoundError)):
                    raise
                one.error = None if one.may_be_unknown(error, one.asked_at) else error
        return 1 + pages + len(oldest)

    def _read_list(
        self, ids: set[str], most: int, policy: Policy
    ) -> Flow[tuple[dict[str, wire.Generation], int]]:
        """Return the generations found in the list, and the number of pages after the first."""
        self._polls += 1
        skipped = self._misses >= _MAX_MISSES and self._polls % _POLLS_PER_LIST != 0
        if skipped or not self._has_list:
            return {}, 0
        # a few fit on the default page
        limit = min(1000, 2 * len(ids)) if len(ids) > 25 else None
        try:
            listed = calls.list_generations(limit=limit)
            page, following = yield from flows.fetch_page(listed, policy)
        except errors.ApiError as error:
            self._note_refusal(error)
            return {}, 0
        found = {item.id: item for item in page if item.id in ids}
        is_miss = len(found) * _MAX_PER_MATCH < max(1, len(page))
        self._misses = self._misses + 1 if is_miss else 0
        pages, matches = 0, len(found)
        while following and matches >= _MIN_PER_PAGE and pages < most and len(found) < len(ids):
            pages += 1
            try:
                page, following = yield from flows.fetch_page(following, policy)
            except errors.ApiError:
                break
            before = len(found)
            found = {item.id: item for item in page if item.id in ids} | found
            matches = len(found) - before
        return found, pages

    def _note_refusal(self, error: errors.ApiError) -> None:
        """Record a missing or failing list; errors that concern all requests are raised.

        A list that fails or is malformed is no reason to stop waiting.
        """
        if error.response_status in (401, 429, 503):
            raise error
        self._misses += 1
        if not isinstance(error, answers.WebPageError):
            self._has_list = not isinstance(error, answers.UNKNOWN_PATH)


def _requested_seconds(error: KitError) -> float:
    return getattr(error, "retry_after", None) or 0.0


def _copy_error(error: KitError) -> KitError:
    """Return a copy of an error; `copy.copy` may return the same object."""
    copied: KitError = type(error).__new__(type(error), *error.args)
    vars(copied).update(vars(error))
    return copied


def _unfinished_text(generation_id: str, timeout: float, outage: KitError | None) -> str:
    if outage is not None:
        return (
            f"the generation {generation_id} may not be finished after "
            f"{flows.format_duration(timeout)}, and waiting again costs nothing: {outage}"
        )
    return (
        f"the generation {generation_id} is not finished after {flows.format_duration(timeout)}; "
        "it continues, and waiting again costs nothing"
    )
