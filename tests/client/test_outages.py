"""A service that is away for a while is waited for; what it refuses is final."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from kit import wire
from kit.client import flows
from kit.client.calls import Flow, NoReply, Reply, SendRequest, Sleep, log_wait
from kit.client.flows import Policy
from kit.client.waiting import RetryState, SharedWait
from kit.errors import (
    InsufficientScopeError,
    InvalidApiKeyError,
    KitError,
    NoAnswerError,
    NotFoundError,
    RateLimitError,
)
from tests.client.fixtures import Clock

GONE = NoReply("no connection to https://a.test (refused)", harmless=True, sent=False)
BROKE = NoReply("the connection to https://a.test broke (reset)")
LIST = "/v1/creative-studio/generations"


def running(word: str = "processing", known: str = "g") -> Reply:
    return Reply(200, {}, json.dumps({"id": known, "status": word}).encode())


def lived(flow: Flow[Any], clock: Clock, *outcomes: Any) -> tuple[list[Any], Any]:
    """Drive a flow on a clock that its sleeps move; return its steps and its result or error."""
    left, steps = list(outcomes), []
    try:
        step = next(flow)
        while True:
            steps.append(step)
            if isinstance(step, Sleep):
                clock.now += step.seconds
                step = flow.send(None)
            else:
                step = flow.send(left.pop(0))
    except StopIteration as stop:
        return steps, stop.value
    except KitError as error:
        return steps, error


def asks(steps: list[Any]) -> int:
    return sum(isinstance(step, SendRequest) for step in steps)


@pytest.mark.parametrize("gone", [GONE, BROKE, Reply(502), Reply(504), Reply(503)], ids=str)
def test_an_outage_of_many_minutes_does_not_end_the_waiting(
    gone: Any, clock: Clock, policy: Policy
) -> None:
    flow = SharedWait(policy).wait("g")

    steps, done = lived(flow, clock, running(), *[gone] * 100, running("completed"))

    assert done.state == "completed"
    assert clock.now > 5 * policy.deadline
    assert asks(steps) == 102


def test_pauses_grow_to_ten_seconds_and_dice_spread_them(clock: Clock) -> None:
    wild = Policy(clock=clock, dice=lambda: 1.0)
    outage = RetryState(wild)

    pauses = [outage.pause(NoAnswerError("gone"), began=0.0) for _ in range(2000)]

    assert pauses[:4] == pytest.approx([0.2, 0.4, 0.8, 1.6])
    assert pauses[-1] == 10.0


def test_whoever_waits_is_told_for_how_long_there_is_no_connection(
    clock: Clock, policy: Policy, caplog: pytest.LogCaptureFixture
) -> None:
    flow = SharedWait(policy).wait("g")
    steps, _ = lived(flow, clock, running(), *[GONE] * 10, running("completed"))

    words = [step.why for step in steps if isinstance(step, Sleep) and step.why]
    assert words[0] == "no connection for 2 s, trying again"
    assert "no connection for 12 s, trying again" in words
    assert all(step.seconds <= 1.0 for step in steps if isinstance(step, Sleep) and step.why)
    with caplog.at_level(logging.WARNING, "kit"):
        for step in steps:
            if isinstance(step, Sleep):
                log_wait(step)
    assert [record.getMessage() for record in caplog.records] == words[:1]


def test_a_gateway_without_its_service_is_no_missing_connection(
    clock: Clock, policy: Policy
) -> None:
    steps, _ = lived(SharedWait(policy).wait("g"), clock, *[Reply(502)] * 9, running("completed"))

    words = [step.why for step in steps if isinstance(step, Sleep) and step.why]
    assert words[0] == "the service has been unavailable for 2 s, trying again"


def test_a_hiccup_is_not_told(clock: Clock, policy: Policy) -> None:
    steps, _ = lived(SharedWait(policy).wait("g"), clock, GONE, GONE, running("completed"))

    assert [step.why for step in steps if isinstance(step, Sleep)] == ["", ""]


def test_the_timeout_ends_an_outage_in_time_and_says_what_is_wrong(
    clock: Clock, policy: Policy
) -> None:
    flow = SharedWait(policy).wait("g", timeout=30.0)

    _, error = lived(flow, clock, running(), *[GONE] * 99)

    assert isinstance(error, NoAnswerError)
    assert error.generation_id == "g"
    assert clock.now == pytest.approx(30.0, abs=0.1)
    assert str(error).startswith("the generation g may not be finished after 30 s")
    assert str(error).endswith(f": {GONE.message}")


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, InvalidApiKeyError), (403, InsufficientScopeError), (404, NotFoundError)],
)
def test_a_refusal_is_final_at_once_also_after_an_outage(
    status: int, kind: type[KitError], clock: Clock, policy: Policy
) -> None:
    steps, error = lived(SharedWait(policy).wait("g"), clock, GONE, GONE, Reply(status))

    assert type(error) is kind
    assert error.generation_id == "g"
    assert asks(steps) == 3


def test_an_address_that_cannot_be_one_is_asked_once(clock: Clock, policy: Policy) -> None:
    odd = NoReply("no connection to ftp://a.test", harmless=True, sent=False, permanent=True)

    steps, error = lived(SharedWait(policy).wait("g"), clock, *[odd] * 9)

    assert isinstance(error, NoAnswerError)
    assert asks(steps) == 1


def test_a_service_that_wants_to_be_left_alone_for_long_is(clock: Clock, policy: Policy) -> None:
    later = Reply(429, {"retry-after": "900"})

    steps, error = lived(SharedWait(policy).wait("g"), clock, running(), later)

    assert isinstance(error, RateLimitError)
    assert str(error).endswith("the service asks to wait 15 minutes before the next request")
    assert asks(steps) == 2


def test_nothing_is_reported_as_news_while_nothing_is_known(clock: Clock, policy: Policy) -> None:
    seen: list[float] = []
    flow = SharedWait(policy).wait("g", on_update=lambda _: seen.append(clock.now))

    lived(flow, clock, running(), *[GONE] * 12, running("completed"))

    assert len(seen) == 2


# ── many at once ─────────────────────────────────────────────────────────────────────────────────


class Cut:
    """A service that nobody reaches between two moments; every job ends at a third."""

    def __init__(self, clock: Clock, start: float, end: float, done: float) -> None:
        self.clock, self.start, self.end, self.done = clock, start, end, done
        self.times: list[float] = []

    def __call__(self, step: SendRequest) -> Reply | NoReply:
        self.times.append(self.clock.now)
        if self.start <= self.clock.now < self.end:
            return GONE
        word = "completed" if self.clock.now >= self.done else "processing"
        if step.call.path == LIST:
            rows = [{"id": f"g{number}", "status": word} for number in range(100)]
            return Reply(200, {}, json.dumps(rows).encode())
        return running(word, step.call.path.rpartition("/")[2])


def together(
    board: SharedWait, service: Cut, clock: Clock, timeouts: dict[str, float | None]
) -> tuple[dict[str, Any], set[str]]:
    """Drive a wait for each id as if each had a thread; return how each ended, and all words."""
    flows_ = {known: board.wait(known, timeout=left) for known, left in timeouts.items()}
    due: dict[str, tuple[float, Any]] = dict.fromkeys(flows_, (0.0, None))
    ended: dict[str, Any] = {}
    words: set[str] = set()
    while due:
        known = min(due, key=lambda name: due[name][0])
        moment, outcome = due.pop(known)
        clock.now = max(clock.now, moment)
        try:
            step = flows_[known].send(outcome)
        except StopIteration as stop:
            ended[known] = stop.value
            continue
        except KitError as error:
            ended[known] = error
            continue
        if isinstance(step, Sleep):
            words |= {step.why}
            due[known] = (clock.now + step.seconds, None)
        else:
            due[known] = (clock.now, service(step))  # type: ignore[arg-type]
    return ended, words


def test_a_hundred_waiters_outlast_an_outage_with_one_request_a_tick(
    clock: Clock, policy: Policy
) -> None:
    service = Cut(clock, 20.0, 140.0, 150.0)

    ended, words = together(
        SharedWait(policy), service, clock, {f"g{number}": None for number in range(100)}
    )

    assert {item.state for item in ended.values()} == {"completed"}
    meanwhile = [moment for moment in service.times if 20 <= moment < 140]
    assert len(meanwhile) <= 32  # nine pauses that double, then one each five seconds
    assert any("no connection for" in word for word in words)
    assert clock.now < 170


def test_one_who_has_no_more_time_leaves_and_the_others_go_on(clock: Clock, policy: Policy) -> None:
    timeouts: dict[str, float | None] = {f"g{number}": None for number in range(1, 8)}
    service = Cut(clock, 5.0, 90.0, 95.0)

    ended, _ = together(SharedWait(policy), service, clock, {"g0": 30.0, **timeouts})

    assert isinstance(ended["g0"], NoAnswerError)
    assert "may not be finished after 30 s" in str(ended["g0"])
    assert {ended[known].state for known in timeouts} == {"completed"}


def test_looking_once_is_given_up_as_ever(clock: Clock, policy: Policy) -> None:
    _, error = lived(SharedWait(policy).check_all({"g": None, "h": None}), clock, *[GONE] * 99)

    assert isinstance(error, NoAnswerError)
    assert clock.now < 10


def test_a_start_is_never_sent_again_for_an_outage(clock: Clock, policy: Policy) -> None:
    from kit.client import calls

    call = calls.start_generation(wire.StartGeneration(model_id="m"))

    steps, error = lived(flows.ask(call, policy), clock, BROKE)

    assert asks(steps) == 1
    assert error.unsettled
