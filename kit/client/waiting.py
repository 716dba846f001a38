"""Waiting for generations: what a session waits for is asked for together, in few requests.

A single waiter asks the service to hold its answer until there is news; a service that does not
know how is polled at the pace it names. Where many wait, one of them asks for the newest page of
the list and all the others read what it shows: a hundred jobs cost one request a round where the
list shows them all. Where it shows fewer, or none that run, see `kit.client.polling`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from kit import wire
from kit.client import answers, calls, flows, polling
from kit.client.actions import Flow, Reply, Sleep
from kit.client.flows import PATIENT, Policy
from kit.client.polling import StatusPoller
from kit.errors import KitError, NoAnswerError, RateLimitError, UnavailableError

#: Seconds between two looks at most while a service is away, and between two words about it.
_LONGEST, _EACH = 10.0, 1.0


@dataclass(slots=True)
class RetryState:
    """How long a service has been away, for those who ask it together; over when it answers."""

    policy: Policy
    since: float | None = None
    failed: int = 0
    error: KitError | None = None
    announced: bool = False

    def reset(self) -> None:
        """Note that the service has answered."""
        self.since = self.error = None
        self.failed, self.announced = 0, False

    def pause(self, error: KitError, *, began: float, left: float | None = None) -> float:
        """Return the seconds until it is worth asking again; where it is not, raise."""
        asked = getattr(error, "retry_after", None) or 0.0
        late = left is not None and max(left, 0.0) < asked
        if not _is_temporary(error) or asked > self.policy.deadline or late:
            raise error
        self.since = began if self.since is None else self.since
        self.error = error
        calm = replace(self.policy, longest=_LONGEST)
        self.failed += 1
        return calm.backoff(self.failed - 1, asked)

    def rest(self, seconds: float) -> Flow[None]:
        """Let seconds pass; while the service is away, say for how long it has been."""
        while self.since is not None and seconds > _EACH:
            yield self._sleep(_EACH)
            seconds -= _EACH
        yield self._sleep(seconds)

    def _sleep(self, seconds: float) -> Sleep:
        gone = 0.0 if self.since is None else self.policy.clock() - self.since
        if gone < flows.WORTH_SAYING:
            return Sleep(seconds)
        before, self.announced = self.announced, True
        return Sleep(seconds, self._text(gone), again=before)

    def _text(self, gone: float) -> str:
        if isinstance(self.error, NoAnswerError):
            return flows.no_connection_text(gone)
        return f"the service has been unavailable for {flows.format_duration(gone)}, trying again"


def _is_temporary(error: KitError) -> bool:
    """Return whether an error may be gone by itself in a while."""
    return flows.is_connection_error(error) or isinstance(error, (UnavailableError, RateLimitError))


#: An ETag that no generation has: the first answer comes at once.
_UNSEEN = '"unseen"'


@dataclass(slots=True)
class Waiter:
    """One wait for a generation, and what was seen of it."""

    id: str
    status_url: str | None
    since: float
    ends: float | None
    outage: RetryState
    asked: float = 0.0
    etag: str = _UNSEEN
    latest: wire.Generation | None = None

    def left(self, now: float) -> float | None:
        """Return the seconds that are left, or None where there is no end to them."""
        return None if self.ends is None else self.ends - now


@dataclass(slots=True)
class WaitUpdates:
    """What was read last: generations by id, or why nothing is known of them."""

    found: dict[str, wire.Generation] = field(default_factory=dict)
    lost: dict[str, KitError] = field(default_factory=dict)

    def forget(self, generation_id: str) -> None:
        """Say nothing of a generation any more."""
        self.found.pop(generation_id, None)
        self.lost.pop(generation_id, None)


OnUpdate = Callable[[wire.Generation], None]

#: Seconds that the service is asked to hold an answer. Source: RFC 7240, section 4.3.
HOLD = 20
#: Waiters that ask for themselves where answers are held, and where they are not.
_FEW_HELD, _FEW = 4, polling.FEW


class SharedWait:
    """Everything that one session waits for; flows of many threads share it."""

    def __init__(self, policy: Policy = PATIENT) -> None:
        self._policy = replace(policy, quick=True)
        self._lock = threading.Lock()
        self._waiters: dict[str, list[Waiter]] = {}
        self._updates = WaitUpdates()
        self._leading = False
        self._due = 0.0
        self._tick = 0.0
        self._held = False
        self._outage = RetryState(policy)
        self._poller = StatusPoller(policy)

    def wait(
        self,
        generation_id: str,
        *,
        status_url: str | None = None,
        timeout: float | None = None,
        began: float | None = None,
        on_update: OnUpdate = lambda _: None,
    ) -> Flow[wire.Generation]:
        """Wait until a generation is finished, whatever its end, and return it.

        A service that is away for a while is waited for as well. `timeout` counts from `began`, a
        moment on the policy's clock, where that is not now. Every error carries `generation_id`.

        Raises
        ------
        NoAnswerError
            It is still running after `timeout` seconds, or that is not known.
        """
        now = self._policy.clock()
        ends = None if timeout is None else (now if began is None else began) + timeout
        waiter = Waiter(generation_id, status_url, now, ends, RetryState(self._policy))
        waiting = self._wait(waiter, timeout or 0.0, on_update)
        return (yield from flows.limit_time(waiting, ends, self._policy.clock))

    def _wait(self, waiter: Waiter, timeout: float, on_update: OnUpdate) -> Flow[wire.Generation]:
        try:
            with self._registered(waiter):
                while True:
                    together = len(self._waiters) > (_FEW_HELD if self._held else _FEW)
                    outage = self._outage if together else waiter.outage
                    ask = self._wait_together if together else self._ask_with_retry
                    rest = yield from ask(waiter)
                    if waiter.latest is not None and outage.since is None:
                        on_update(waiter.latest)
                        if waiter.latest.finished:
                            return waiter.latest
                    left = waiter.left(self._policy.clock())
                    if left is not None and left <= 0:
                        raise NoAnswerError(_unfinished_text(waiter.id, timeout, outage.error))
                    rest = rest if left is None else min(rest, max(0.01, left))
                    yield from outage.rest(rest)
        except KitError as error:
            error.generation_id = waiter.id
            raise

    def check_all(self, addresses: Mapping[str, str | None]) -> Flow[dict[str, wire.Generation]]:
        """Return generations as they are now, by id; those that are not there are left out."""
        return self._poller.check_all(addresses)

    # ── alone ────────────────────────────────────────────────────────────────────────────────────

    def _ask_with_retry(self, waiter: Waiter) -> Flow[float]:
        """Ask for one generation and return how long to rest, also where there is no answer."""
        began = self._policy.clock()
        try:
            rest = yield from self._ask_alone(waiter)
        except KitError as error:
            return waiter.outage.pause(error, began=began, left=waiter.left(self._policy.clock()))
        waiter.outage.reset()
        return rest

    def _ask_alone(self, waiter: Waiter) -> Flow[float]:
        """Ask for one generation and return how long to rest."""
        call = calls.get_generation(waiter.id, status_url=waiter.status_url)
        asked = self._policy.clock()
        left = waiter.left(asked)
        patience = HOLD if left is None else min(HOLD, int(left))
        headers = {"If-None-Match": waiter.etag} if waiter.etag else {}
        if patience > 0:
            headers["Prefer"] = f"wait={patience}"
        reply = yield from flows.exchange(call, self._policy, headers)
        now = self._policy.clock()
        if reply.status != 304:
            waiter.latest = answers.read(call, reply)
            waiter.etag = reply.headers.get("etag", "")
        elif waiter.latest is None:
            waiter.etag = ""  # 304 to an ETag that no generation has: it is asked without one
            return 0.0
        waited = now - waiter.since
        # one that says it waited, and answers at once that nothing is new, did not
        held = "preference-applied" in reply.headers and (reply.status != 304 or now - asked >= 1)
        self._held = self._held or held
        return min(0.5, max(0.05, 0.03 * waited)) if held else self._pace(reply, waited)

    def _pace(self, reply: Reply, waited: float) -> float:
        """Return the seconds before the next poll: the service's hint, or a share of those waited.

        Jitter keeps many notebooks that started together from asking together.
        """
        hint = answers.pause(reply)
        rest = min(hint, 60.0) if hint else min(5.0, max(0.1, 0.15 * waited))
        return rest * (1.0 + 0.1 * self._policy.dice())

    # ── together ─────────────────────────────────────────────────────────────────────────────────

    def _wait_together(self, waiter: Waiter) -> Flow[float]:
        """Read what was asked for together, ask where it is time, and return how long to rest."""
        if self._try_to_lead():
            try:
                yield from self._check_together(waiter)
            finally:
                self._leading = False
        if (error := self._updates.lost.get(waiter.id)) is not None:
            raise _copy_error(error)  # each waiter's own: it will carry the waiter's id
        waiter.latest = self._updates.found.get(waiter.id, waiter.latest)
        rest = self._due - self._policy.clock()
        slow = 0.1 if self._outage.since is None else 1.0
        return max(rest, 0.02) if not self._leading else slow

    def _try_to_lead(self) -> bool:
        with self._lock:
            if self._leading or self._policy.clock() < self._due:
                return False
            self._leading = True
            return True

    def _check_together(self, leader: Waiter) -> Flow[None]:
        with self._lock:
            running = {known: waiters[0] for known, waiters in self._waiters.items()}
        updates, began = self._updates, self._policy.clock()
        try:
            took = yield from self._poller.check_some(
                running.values(), updates.found.__setitem__, updates.lost.__setitem__, self._tick
            )
        except KitError as error:
            if _is_too_long(error, leader.left(self._policy.clock())):
                raise  # the others may have the time that it takes
            self._tick = self._note_failure(error, began, running)
        else:
            self._outage.reset()
            newest = max(waiter.since for waiter in running.values())
            self._tick = self._next_tick(self._policy.clock() - newest, took)
        self._due = self._policy.clock() + self._tick

    def _note_failure(self, error: KitError, began: float, running: Mapping[str, Waiter]) -> float:
        """Return the seconds until all are asked for again; what is final reaches every waiter."""
        try:
            return self._outage.pause(error, began=began)
        except KitError:
            self._updates.lost |= dict.fromkeys(running, error)
            return self._next_tick(0.0, 1)

    def _next_tick(self, waited: float, took: int) -> float:
        """Return the seconds between two rounds, the last of which took so many requests."""
        pace = max(min(5.0, max(0.5, 0.15 * waited)), took / polling.EACH_SECOND)
        return pace * (1.0 + 0.1 * self._policy.dice())

    @contextmanager
    def _registered(self, waiter: Waiter) -> Iterator[None]:
        with self._lock:
            if waiter.id not in self._waiters:
                self._updates.forget(waiter.id)
            self._waiters.setdefault(waiter.id, []).append(waiter)
        try:
            yield
        finally:
            with self._lock:
                self._waiters[waiter.id].remove(waiter)
                if not self._waiters[waiter.id]:
                    del self._waiters[waiter.id]
                    self._updates.forget(waiter.id)


def wait(
    generation_id: str,
    *,
    status_url: str | None = None,
    timeout: float | None = None,
    on_update: OnUpdate = lambda _: None,
    policy: Policy = PATIENT,
) -> Flow[wire.Generation]:
    """Wait for a single generation by itself; see `SharedWait.wait`."""
    return SharedWait(policy).wait(
        generation_id, status_url=status_url, timeout=timeout, on_update=on_update
    )


def _copy_error(error: KitError) -> KitError:
    """Return an error like another one; `copy` may be taught not to make a new one."""
    made: KitError = type(error).__new__(type(error), *error.args)
    vars(made).update(vars(error))
    return made


def _is_too_long(error: KitError, left: float | None) -> bool:
    """Whether a waiter has no time for what a service asks to wait."""
    return left is not None and (getattr(error, "retry_after", None) or 0.0) > left


def _unfinished_text(generation_id: str, timeout: float, away: KitError | None) -> str:
    if away is not None:
        return (
            f"whether the generation {generation_id} is finished is not known after "
            f"{flows.format_duration(timeout)}, and waiting for it again costs nothing: {away}"
        )
    return (
        f"the generation {generation_id} is not finished after {flows.format_duration(timeout)}; "
        "it goes on, and waiting for it again costs nothing"
    )
