"""Waiting for generations: what a session waits for stands on one board, filled by few requests.

Whoever waits alone asks the service to hold its answer until there is news; a service that does not
know how is polled at the pace it names. Where many wait, one of them asks for the newest page of
the list and all the others read the board: a hundred jobs cost one request a tick where the list
shows them all. Where it shows fewer, or none that run, see `kit.client.looking`; where the service
is away for a while, `kit.client.outages`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from kit import wire
from kit.client import answers, calls, flows, looking
from kit.client.flows import PATIENT, Policy
from kit.client.looking import Looker
from kit.client.outages import Outage
from kit.client.seats import News, Seat
from kit.client.steps import Flow, Reply
from kit.errors import KitError, NoAnswerError

OnUpdate = Callable[[wire.Generation], None]

#: Seconds that the service is asked to hold an answer. Source: RFC 7240, section 4.3.
HOLD = 20
#: Waiters that ask for themselves where answers are held, and where they are not.
_FEW_HELD, _FEW = 4, looking.FEW


class Board:
    """Everything that one session waits for; flows of many threads share it.

    Parameters
    ----------
    policy : Policy
        How patient the client is.
    """

    def __init__(self, policy: Policy = PATIENT) -> None:
        self._policy = replace(policy, quick=True)
        self._lock = threading.Lock()
        self._seats: dict[str, list[Seat]] = {}
        self._news = News()
        self._leading = False
        self._due = 0.0
        self._tick = 0.0
        self._held = False
        self._outage = Outage(policy)
        self._looker = Looker(policy)

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

        A service that is away for a while is waited for as well.

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
            It is still running after `timeout` seconds, or nobody knows; every error carries
            `generation_id`.
        """
        now = self._policy.clock()
        ends = None if timeout is None else (now if began is None else began) + timeout
        seat = Seat(generation_id, status_url, now, ends, Outage(self._policy))
        waiting = self._waited(seat, timeout or 0.0, on_update)
        return (yield from flows.within(waiting, ends, self._policy.clock))

    def _waited(self, seat: Seat, timeout: float, on_update: OnUpdate) -> Flow[wire.Generation]:
        try:
            with self._seated(seat):
                while True:
                    together = len(self._seats) > (_FEW_HELD if self._held else _FEW)
                    outage = self._outage if together else seat.outage
                    rest = yield from self._together(seat) if together else self._patiently(seat)
                    if seat.latest is not None and outage.since is None:
                        on_update(seat.latest)
                        if seat.latest.finished:
                            return seat.latest
                    left = seat.left(self._policy.clock())
                    if left is not None and left <= 0:
                        raise NoAnswerError(_unfinished(seat.id, timeout, outage.error))
                    rest = rest if left is None else min(rest, max(0.01, left))
                    yield from outage.rest(rest)
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
        return self._looker.look(addresses)

    # ── alone ────────────────────────────────────────────────────────────────────────────────────

    def _patiently(self, seat: Seat) -> Flow[float]:
        """Ask for one generation and return how long to rest, also where nobody answers."""
        began = self._policy.clock()
        try:
            rest = yield from self._alone(seat)
        except KitError as error:
            return seat.outage.pause(error, began=began, left=seat.left(self._policy.clock()))
        seat.outage.over()
        return rest

    def _alone(self, seat: Seat) -> Flow[float]:
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
        hint = answers.pause(reply)
        rest = min(hint, 60.0) if hint else min(5.0, max(0.1, 0.15 * waited))
        return rest * (1.0 + 0.1 * self._policy.dice())

    # ── together ─────────────────────────────────────────────────────────────────────────────────

    def _together(self, seat: Seat) -> Flow[float]:
        """Read the board, filling it first where it is time, and return how long to rest."""
        if self._takes_the_lead():
            try:
                yield from self._fill(seat)
            finally:
                self._leading = False
        if (error := self._news.lost.get(seat.id)) is not None:
            raise _another(error)  # each waiter's own: it will carry the waiter's id
        seat.latest = self._news.found.get(seat.id, seat.latest)
        rest = self._due - self._policy.clock()
        slow = 0.1 if self._outage.since is None else 1.0
        return max(rest, 0.02) if not self._leading else slow

    def _takes_the_lead(self) -> bool:
        with self._lock:
            if self._leading or self._policy.clock() < self._due:
                return False
            self._leading = True
            return True

    def _fill(self, leader: Seat) -> Flow[None]:
        with self._lock:
            running = {known: seats[0] for known, seats in self._seats.items()}
        news, began = self._news, self._policy.clock()
        try:
            took = yield from self._looker.glance(
                running.values(), news.found.__setitem__, news.lost.__setitem__, self._tick
            )
        except KitError as error:
            if _too_long(error, leader.left(self._policy.clock())):
                raise  # the others may have the time that it takes
            self._tick = self._missed(error, began, running)
        else:
            self._outage.over()
            newest = max(seat.since for seat in running.values())
            self._tick = self._after(self._policy.clock() - newest, took)
        self._due = self._policy.clock() + self._tick

    def _missed(self, error: KitError, began: float, running: Mapping[str, Seat]) -> float:
        """Return the seconds until the board is filled again; what is final reaches everybody."""
        try:
            return self._outage.pause(error, began=began)
        except KitError:
            self._news.lost |= dict.fromkeys(running, error)
            return self._after(0.0, 1)

    def _after(self, waited: float, took: int) -> float:
        """Return the seconds between two fillings, the last of which took so many requests."""
        pace = max(min(5.0, max(0.5, 0.15 * waited)), took / looking.EACH_SECOND)
        return pace * (1.0 + 0.1 * self._policy.dice())

    @contextmanager
    def _seated(self, seat: Seat) -> Iterator[None]:
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


def _another(error: KitError) -> KitError:
    """Return an error like another one; `copy` may be taught not to make a new one."""
    made: KitError = type(error).__new__(type(error), *error.args)
    vars(made).update(vars(error))
    return made


def _too_long(error: KitError, left: float | None) -> bool:
    """Whether a waiter has no time for what a service asks to wait."""
    return left is not None and (getattr(error, "retry_after", None) or 0.0) > left


def _unfinished(generation_id: str, timeout: float, away: KitError | None) -> str:
    if away is not None:
        return (
            f"whether the generation {generation_id} is finished is not known after "
            f"{flows.span(timeout)}, and waiting for it again costs nothing: {away}"
        )
    return (
        f"the generation {generation_id} is not finished after {flows.span(timeout)}; it goes on, "
        "and waiting for it again costs nothing"
    )
