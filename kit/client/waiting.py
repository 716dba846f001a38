"""Waiting for generations: what a session waits for stands on one board, filled by few requests.

Whoever waits alone asks the service to hold its answer until there is news; a service that does not
know how is polled at the pace it names. Where many wait, one of them asks for the newest page of
the list and all the others read the board: a hundred jobs cost one request a tick.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from kit import wire
from kit.client import answers, calls, flows
from kit.client.flows import PATIENT, Policy
from kit.client.steps import Flow, Reply, Sleep
from kit.errors import (
    BadRequestError,
    InsufficientScopeError,
    KitError,
    MethodNotAllowedError,
    NoAnswerError,
    NotFoundError,
)

OnUpdate = Callable[[wire.Generation], None]

#: Seconds that the service is asked to hold an answer. Source: RFC 7240, section 4.3.
HOLD = 20
#: Waiters that ask for themselves where answers are held, and where they are not.
_FEW_HELD, _FEW = 4, 1
#: Generations that are asked for one by one in a tick because the list does not show them.
_SINGLES = 8
#: Pages without any of ours after which the list is not asked for any more.
_USELESS = 3
#: An ETag that no generation has: the first answer comes at once.
_UNSEEN = '"unseen"'


@dataclass(slots=True)
class _Seat:
    """Somebody who waits for a generation, and what they have seen of it."""

    id: str
    status_url: str | None
    since: float
    ends: float | None
    asked: float = 0.0
    etag: str = _UNSEEN
    latest: wire.Generation | None = None

    def left(self, now: float) -> float | None:
        return None if self.ends is None else self.ends - now


@dataclass(slots=True)
class _News:
    """What the board says: generations by id, or why nothing can be said."""

    found: dict[str, wire.Generation] = field(default_factory=dict)
    lost: dict[str, KitError] = field(default_factory=dict)

    def forget(self, generation_id: str) -> None:
        self.found.pop(generation_id, None)
        self.lost.pop(generation_id, None)


class Board:
    """Everything that one session waits for; flows of many threads share it.

    Parameters
    ----------
    policy : Policy
        How patient the client is.
    """

    def __init__(self, policy: Policy = PATIENT) -> None:
        self._policy = policy
        self._lock = threading.Lock()
        self._seats: dict[str, list[_Seat]] = {}
        self._news = _News()
        self._leading = False
        self._due = 0.0
        self._held = False
        self._misses = 0
        self._limits = True

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

        Parameters
        ----------
        status_url : str or None
            Replaces the usual path, as the receipt had it.
        timeout : float or None
            Seconds in all; None waits for ever.
        began : float, optional
            Moment on the policy's clock from which they count, where that is not now.
        on_update : callable
            Called with each answer; a progress display hangs here.

        Raises
        ------
        NoAnswerError
            It is still running after `timeout` seconds; every error carries `generation_id`.
        """
        now = self._policy.clock()
        ends = None if timeout is None else (now if began is None else began) + timeout
        seat = _Seat(generation_id, status_url, now, ends)
        waiting = self._waited(seat, timeout or 0.0, on_update)
        return (yield from flows.within(waiting, ends, self._policy.clock))

    def _waited(self, seat: _Seat, timeout: float, on_update: OnUpdate) -> Flow[wire.Generation]:
        try:
            with self._seated(seat):
                while True:
                    together = len(self._seats) > (_FEW_HELD if self._held else _FEW)
                    rest = yield from self._together(seat) if together else self._alone(seat)
                    if seat.latest is not None:
                        on_update(seat.latest)
                        if seat.latest.finished:
                            return seat.latest
                    left = seat.left(self._policy.clock())
                    if left is not None and left <= 0:
                        raise NoAnswerError(_unfinished(seat.id, timeout))
                    yield Sleep(rest if left is None else min(rest, max(0.01, left)))
        except KitError as error:
            error.generation_id = seat.id
            raise

    def look(self, addresses: Mapping[str, str | None]) -> Flow[dict[str, wire.Generation]]:
        """Return generations as they are now, by id; those that are not there are left out.

        Parameters
        ----------
        addresses : mapping
            The ids, and the address that replaces the usual path where a receipt had one.
        """
        found = (yield from self._listed(set(addresses))) if len(addresses) > _FEW else {}
        for generation_id in addresses.keys() - found.keys():
            call = calls.get_generation(generation_id, status_url=addresses[generation_id])
            try:
                found[generation_id] = yield from flows.ask(call, self._policy)
            except NotFoundError:
                continue
        return {known: found[known] for known in addresses if known in found}

    # ── alone ────────────────────────────────────────────────────────────────────────────────────

    def _alone(self, seat: _Seat) -> Flow[float]:
        """Ask for one generation and return how long to rest."""
        call = calls.get_generation(seat.id, status_url=seat.status_url)
        asked = self._policy.clock()
        left = seat.left(asked)
        patience = HOLD if left is None else min(HOLD, int(left))
        headers = {"If-None-Match": seat.etag} if seat.etag else {}
        if patience > 0:
            headers["Prefer"] = f"wait={patience}"
        reply = yield from flows.exchange(call, self._policy, headers)
        now = self._policy.clock()
        if reply.status != 304:
            seat.latest = answers.read(call, reply)
            seat.etag = reply.headers.get("etag", "")
        elif seat.latest is None:
            seat.etag = ""  # it knows an ETag that nobody has: it is better asked without one
            return 0.0
        waited = now - seat.since
        # one that says it waited, and answers at once that nothing is new, did not
        held = "preference-applied" in reply.headers and (reply.status != 304 or now - asked >= 1)
        self._held = self._held or held
        return min(0.5, max(0.05, 0.03 * waited)) if held else self._pace(reply, waited)

    def _pace(self, reply: Reply, waited: float) -> float:
        """Return the seconds before the next poll: the service's hint, or a share of those waited.

        Jitter keeps many notebooks that started together from asking together.
        """
        hint = answers.retry_after(reply.headers.get("retry-after"), datetime.now(UTC))
        rest = min(hint, 60.0) if hint else min(5.0, max(0.1, 0.15 * waited))
        return rest * (1.0 + 0.1 * self._policy.dice())

    # ── together ─────────────────────────────────────────────────────────────────────────────────

    def _together(self, seat: _Seat) -> Flow[float]:
        """Read the board, filling it first where it is time, and return how long to rest."""
        if self._takes_the_lead():
            try:
                yield from self._fill(seat)
            finally:
                self._leading = False
        if (error := self._news.lost.get(seat.id)) is not None:
            raise copy.copy(error)  # each waiter's own: it will carry the waiter's id
        seat.latest = self._news.found.get(seat.id, seat.latest)
        rest = self._due - self._policy.clock()
        return max(rest, 0.02) if not self._leading else 0.1

    def _takes_the_lead(self) -> bool:
        with self._lock:
            if self._leading or self._policy.clock() < self._due:
                return False
            self._leading = True
            return True

    def _fill(self, leader: _Seat) -> Flow[None]:
        with self._lock:
            running = {known: seats[0] for known, seats in self._seats.items()}
        try:
            found = yield from self._listed(set(running))
            self._news.found |= found
            missing = [seat for known, seat in running.items() if known not in found]
            yield from self._singly(missing)
        except KitError as error:
            if _too_long(error, leader.left(self._policy.clock())):
                raise  # the others may have the time that it takes
            self._news.lost |= dict.fromkeys(running, error)
        newest = max(seat.since for seat in running.values())
        waited = self._policy.clock() - newest
        tick = min(5.0, max(0.5, 0.15 * waited)) * (1.0 + 0.1 * self._policy.dice())
        self._due = self._policy.clock() + tick

    def _listed(self, wanted: set[str]) -> Flow[dict[str, wire.Generation]]:
        """Return those that the newest page of the list shows."""
        if self._misses >= _USELESS:
            return {}
        # a service that knows no limits may refuse one, and few fit on the page it shows anyway
        limit = min(1000, 2 * len(wanted)) if self._limits and len(wanted) > 25 else None
        try:
            page = yield from flows.ask(calls.list_generations(limit=limit), self._policy)
        except (NotFoundError, MethodNotAllowedError, InsufficientScopeError):
            self._misses = _USELESS
            return {}
        except BadRequestError:
            self._limits, self._misses = False, self._misses + (limit is None)
            return {}
        found = {item.id: item for item in page if item.id in wanted}
        self._misses = 0 if found else self._misses + 1
        return found

    def _singly(self, seats: Iterable[_Seat]) -> Flow[None]:
        """Ask for what the list does not show, those first that had to wait longest."""
        for seat in sorted(seats, key=lambda seat: seat.asked)[:_SINGLES]:
            call = calls.get_generation(seat.id, status_url=seat.status_url)
            seat.asked = self._policy.clock()
            try:
                self._news.found[seat.id] = yield from flows.ask(call, self._policy)
            except NotFoundError as error:
                self._news.lost[seat.id] = error

    @contextmanager
    def _seated(self, seat: _Seat) -> Iterator[None]:
        with self._lock:
            if seat.id not in self._seats:
                self._news.forget(seat.id)
            self._seats.setdefault(seat.id, []).append(seat)
        try:
            yield
        finally:
            with self._lock:
                self._seats[seat.id].remove(seat)
                if not self._seats[seat.id]:
                    del self._seats[seat.id]
                    self._news.forget(seat.id)


def wait(
    generation_id: str,
    *,
    status_url: str | None = None,
    timeout: float | None = None,
    on_update: OnUpdate = lambda _: None,
    policy: Policy = PATIENT,
) -> Flow[wire.Generation]:
    """Wait for a single generation, on a board of its own; see `Board.wait`."""
    return Board(policy).wait(
        generation_id, status_url=status_url, timeout=timeout, on_update=on_update
    )


def _too_long(error: KitError, left: float | None) -> bool:
    """Whether a waiter has no time for what a service asks to wait."""
    return left is not None and (getattr(error, "retry_after", None) or 0.0) > left


def _unfinished(generation_id: str, timeout: float) -> str:
    return (
        f"the generation {generation_id} is not finished after {flows.span(timeout)}; it goes on, "
        "and waiting for it again costs nothing"
    )
