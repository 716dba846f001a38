"""The client waits for a service during an outage; a refusal is final."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from kit import wire
from kit.client import flows
from kit.client.calls import Flow, NoReply, Reply, SendRequest, Sleep, WaitLog
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


def state(word: str = "processing", known: str = "g") -> Reply:
    return Reply(200, {}, json.dumps({"id": known, "status": word}).encode())


def drive(flow: Flow[Any], clock: Clock, *outcomes: Any) -> tuple[list[Any], Any]:
    """Drive a flow on a clock that its sleeps advance; return its steps and its result or error."""
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


def count_requests(steps: list[Any]) -> int:
    return sum(isinstance(step, SendRequest) for step in steps)


@pytest.mark.parametrize("gone", [GONE, BROKE, Reply(502), Reply(504), Reply(503)], ids=str)
def test_waiting_survives_an_outage_of_many_minutes(
    gone: Any, clock: Clock, policy: Policy
) -> None:
    flow = SharedWait(policy).wait("g")

    steps, done = drive(flow, clock, state(), *[gone] * 100, state("completed"))

    assert done.state == "completed"
    assert clock.now > 5 * policy.deadline
    assert count_requests(steps) == 102


def test_pauses_grow_to_ten_seconds_with_jitter(clock: Clock) -> None:
    random_policy = Policy(clock=clock, dice=lambda: 1.0)
    outage = RetryState(random_policy)

    pauses = [outage.pause(NoAnswerError("gone"), began=0.0) for _ in range(2000)]

    assert pauses[:4] == pytest.approx([0.2, 0.4, 0.8, 1.6])
    assert pauses[-1] == 10.0


def test_the_wait_reports_how_long_there_is_no_connection(
    clock: Clock, policy: Policy, caplog: pytest.LogCaptureFixture
) -> None:
    flow = SharedWait(policy).wait("g")
    steps, _ = drive(flow, clock, state(), *[GONE] * 10, state("completed"))

    words = [step.why for step in steps if isinstance(step, Sleep) and step.why]
    assert words[0] == "no connection for 2 s, trying again"
    assert "no connection for 12 s, trying again" in words
    assert all(step.seconds <= 1.0 for step in steps if isinstance(step, Sleep) and step.why)
    with caplog.at_level(logging.WARNING, "kit"):
        log = WaitLog(clock)
        for step in steps:
            if isinstance(step, Sleep):
                log.add(step)
    assert [record.getMessage() for record in caplog.records] == words[:1]


def test_a_bad_gateway_is_reported_as_an_unavailable_service(clock: Clock, policy: Policy) -> None:
    steps, _ = drive(SharedWait(policy).wait("g"), clock, *[Reply(502)] * 9, state("completed"))

    words = [step.why for step in steps if isinstance(step, Sleep) and step.why]
    assert words[0] == "the service has been unavailable for 2 s, trying again"


def test_a_short_outage_is_not_reported(clock: Clock, policy: Policy) -> None:
    steps, _ = drive(SharedWait(policy).wait("g"), clock, GONE, GONE, state("completed"))

    assert [step.why for step in steps if isinstance(step, Sleep)] == ["", ""]


def test_the_timeout_ends_an_outage_and_reports_the_cause(clock: Clock, policy: Policy) -> None:
    flow = SharedWait(policy).wait("g", timeout=30.0)

    _, error = drive(flow, clock, state(), *[GONE] * 99)

    assert isinstance(error, NoAnswerError)
    assert error.generation_id == "g"
    assert clock.now == pytest.approx(30.0, abs=0.1)
    assert str(error).startswith("the generation g may not be finished after 30 s")
    assert str(error).endswith(f": {GONE.message}")


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, InvalidApiKeyError), (403, InsufficientScopeError), (404, NotFoundError)],
)
def test_a_refusal_ends_the_wait_even_after_an_outage(
    status: int, kind: type[KitError], clock: Clock, policy: Policy
) -> None:
    steps, error = drive(SharedWait(policy).wait("g"), clock, GONE, GONE, Reply(status))

    assert type(error) is kind
    assert error.generation_id == "g"
    assert count_requests(steps) == 3


def test_a_permanently_invalid_url_is_requested_once(clock: Clock, policy: Policy) -> None:
    invalid = NoReply("no connection to ftp://a.test", harmless=True, sent=False, permanent=True)

    steps, error = drive(SharedWait(policy).wait("g"), clock, *[invalid] * 9)

    assert isinstance(error, NoAnswerError)
    assert count_requests(steps) == 1


def test_a_wait_ends_when_the_service_asks_for_a_long_pause(clock: Clock, policy: Policy) -> None:
    later = Reply(429, {"retry-after": "900"})

    steps, error = drive(SharedWait(policy).wait("g"), clock, state(), later)

    assert isinstance(error, RateLimitError)
    assert str(error).endswith("the service asks to wait 15 minutes before the next request")
    assert count_requests(steps) == 2


def test_an_outage_sends_no_updates(clock: Clock, policy: Policy) -> None:
    seen: list[float] = []
    flow = SharedWait(policy).wait("g", on_update=lambda _: seen.append(clock.now))

    drive(flow, clock, state(), *[GONE] * 12, state("completed"))

    assert len(seen) == 2


# ── many at once ──────────────────────────────────────────────────────────────────────────────────


class Outage:
    """A service that is unreachable between two moments; every job ends at a third."""

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
        return state(word, step.call.path.rpartition("/")[2])


def drive_together(
    shared: SharedWait, service: Outage, clock: Clock, timeouts: dict[str, float | None]
) -> tuple[dict[str, Any], set[str]]:
    """Drive a wait for each id as in threads; return each result and all reasons of pauses."""
    flows_ = {known: shared.wait(known, timeout=left) for known, left in timeouts.items()}
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


def test_a_hundred_waiters_share_one_request_per_pause_during_an_outage(
    clock: Clock, policy: Policy
) -> None:
    service = Outage(clock, 20.0, 140.0, 150.0)

    ended, words = drive_together(
        SharedWait(policy), service, clock, {f"g{number}": None for number in range(100)}
    )

    assert {item.state for item in ended.values()} == {"completed"}
    during = [moment for moment in service.times if 20 <= moment < 140]
    assert len(during) <= 32  # nine pauses that double, then one each five seconds
    assert any("no connection for" in word for word in words)
    assert clock.now < 170


def test_a_waiter_times_out_in_an_outage_and_the_others_go_on(clock: Clock, policy: Policy) -> None:
    timeouts: dict[str, float | None] = {f"g{number}": None for number in range(1, 8)}
    service = Outage(clock, 5.0, 90.0, 95.0)

    ended, _ = drive_together(SharedWait(policy), service, clock, {"g0": 30.0, **timeouts})

    assert isinstance(ended["g0"], NoAnswerError)
    assert "may not be finished after 30 s" in str(ended["g0"])
    assert {ended[known].state for known in timeouts} == {"completed"}


def test_checking_once_gives_up_within_seconds(clock: Clock, policy: Policy) -> None:
    _, error = drive(SharedWait(policy).check_all({"g": None, "h": None}), clock, *[GONE] * 99)

    assert isinstance(error, NoAnswerError)
    assert clock.now < 10


def test_a_start_is_not_sent_again_after_a_broken_connection(clock: Clock, policy: Policy) -> None:
    from kit.client import calls

    call = calls.start_generation(wire.StartGeneration(model_id="m"))

    steps, error = drive(flows.ask(call, policy), clock, BROKE)

    assert count_requests(steps) == 1
    assert error.unsettled


def test_the_same_wait_of_many_flows_is_logged_once_in_30_seconds(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    log, wait = WaitLog(clock), Sleep(1.0, "more than 120 a minute")
    with caplog.at_level(logging.WARNING, "kit"):
        for _ in range(61):
            log.add(wait)
            clock.sleep(1.0)

    assert len(caplog.records) == 3
