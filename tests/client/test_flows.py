from __future__ import annotations

import json
from typing import Any

import pytest

from kit import wire
from kit.client import calls, flows
from kit.client.flows import Policy
from kit.client.steps import Ask, Lost, Reply, Sleep
from kit.errors import (
    ApiError,
    ConflictError,
    InternalError,
    NoAnswerError,
    RateLimitError,
    UnavailableError,
)
from tests.client.fixtures import Clock, driven

ORDER = wire.StartGeneration(model_id="m", prompt="p")
GONE = Lost("no connection")
SLOW = Lost("no answer in time", timed_out=True)


def ok(body: Any, **headers: str) -> Reply:
    return Reply(
        200, {n.replace("_", "-"): v for n, v in headers.items()}, json.dumps(body).encode()
    )


def status(number: int, **headers: str) -> Reply:
    return Reply(number, {name.replace("_", "-"): v for name, v in headers.items()}, b"{}")


ACCOUNT = ok({"id": "a"})
RECEIPT = ok({"id": "g"})


def sleeps(steps: list[Any]) -> list[float]:
    return [step.seconds for step in steps if isinstance(step, Sleep)]


@pytest.mark.parametrize("bad", [GONE, SLOW, status(429), status(502), status(503), status(504)])
def test_a_get_is_tried_again(bad: Any, policy: Policy) -> None:
    steps, result = driven(flows.ask(calls.get_account(), policy), bad, bad, ACCOUNT)

    assert result.id == "a"
    assert len(sleeps(steps)) == 2


@pytest.mark.parametrize("number", [400, 401, 402, 403, 404, 409, 500])
def test_what_will_not_get_better_is_not_tried_again(number: int, policy: Policy) -> None:
    steps, error = driven(flows.ask(calls.get_account(), policy), status(number))

    assert len(steps) == 1
    assert isinstance(error, ApiError)


@pytest.mark.parametrize(
    "bad", [GONE, status(429), status(503), status(409, retry_after="0")], ids=str
)
def test_a_start_is_tried_again_under_the_same_key(bad: Any, policy: Policy) -> None:
    call = calls.start_generation(ORDER)

    steps, result = driven(flows.ask(call, policy), bad, bad, RECEIPT)

    asked = [step for step in steps if isinstance(step, Ask)]
    assert result.id == "g"
    assert [step.headers["Idempotency-Key"] for step in asked] == [call.key] * 3


@pytest.mark.parametrize("bad", [SLOW, status(500), status(502), status(504), status(409)])
def test_a_start_that_may_have_been_charged_is_not_tried_again(bad: Any, policy: Policy) -> None:
    steps, error = driven(flows.ask(calls.start_generation(ORDER), policy), bad)

    assert len(steps) == 1
    assert isinstance(error, (NoAnswerError, InternalError, UnavailableError, ConflictError))


@pytest.mark.parametrize("bad", [GONE, status(429), status(503)])
def test_a_post_without_a_key_is_sent_once(bad: Any, policy: Policy) -> None:
    call = calls.Call("POST", "/v1/x", wire.Receipt.model_validate)

    steps, _ = driven(flows.ask(call, policy), bad)

    assert len(steps) == 1


def test_retry_after_is_a_lower_bound(policy: Policy) -> None:
    steps, _ = driven(flows.ask(calls.get_account(), policy), status(429, retry_after="7"), ACCOUNT)

    assert sleeps(steps) == [7.0]


def test_a_retry_after_beyond_the_deadline_is_not_waited_for(policy: Policy) -> None:
    steps, error = driven(flows.ask(calls.get_account(), policy), status(429, retry_after="86400"))

    assert sleeps(steps) == []
    assert isinstance(error, RateLimitError)
    assert error.retry_after == 86400.0


def test_attempts_end(policy: Policy) -> None:
    steps, error = driven(flows.ask(calls.get_account(), policy), *[GONE] * 9)

    assert sum(isinstance(step, Ask) for step in steps) == policy.attempts
    assert str(error) == "no connection"


def test_pauses_double_and_dice_only_add() -> None:
    calm, wild = Policy(dice=lambda: 0.0), Policy(dice=lambda: 1.0)

    assert [calm.backoff(n, None) for n in range(3)] == pytest.approx([0.1, 0.2, 0.4])
    assert [wild.backoff(n, None) for n in range(3)] == pytest.approx([0.2, 0.4, 0.8])
    assert wild.backoff(99, None) == wild.longest
    assert calm.backoff(0, 3.0) == 3.0


# ── waiting ──────────────────────────────────────────────────────────────────────────────────────


def running(word: str = "processing", **headers: str) -> Reply:
    return ok({"id": "g", "status": word}, **headers)


def waiting(policy: Policy, *outcomes: Any, **options: Any) -> tuple[list[Any], Any]:
    return driven(flows.wait("g", policy=policy, **options), *outcomes)


@pytest.mark.parametrize("word", sorted(wire.FINISHED))
def test_waiting_ends_at_every_word_for_an_end(word: str, policy: Policy) -> None:
    _, result = waiting(policy, running(), running(word))

    assert result.state == wire.FINISHED[word]


def test_an_unknown_word_ends_with_an_output(policy: Policy) -> None:
    done = ok({"id": "g", "status": "hooray", "outputUrl": "https://a.test/x"})

    _, result = waiting(policy, running("sleeping"), done)

    assert result.state == "completed"


def test_the_service_sets_the_pace(policy: Policy) -> None:
    steps, _ = waiting(policy, running(retry_after="3"), running("completed"))

    assert sleeps(steps) == [3.0]


def test_without_a_hint_the_pace_follows_the_time_waited(clock: Clock, policy: Policy) -> None:
    seen: list[float] = []

    def poll(_: wire.Generation) -> None:
        seen.append(clock.now)
        clock.now += 10.0

    steps, _ = waiting(policy, *[running()] * 5, running("completed"), on_update=poll)

    assert sleeps(steps) == pytest.approx([1.5, 3.0, 4.5, 5.0, 5.0])


def test_an_unchanged_answer_is_asked_for_by_its_etag(policy: Policy) -> None:
    updates: list[str] = []
    steps, result = waiting(
        policy,
        running(etag='"1"'),
        Reply(304),
        running("completed"),
        on_update=lambda g: updates.append(g.status),
    )

    asked = [step.headers.get("If-None-Match") for step in steps if isinstance(step, Ask)]
    assert asked == [None, '"1"', '"1"']
    assert updates == ["processing", "processing", "completed"]
    assert result.status == "completed"


def test_a_deadline_names_the_generation(clock: Clock, policy: Policy) -> None:
    def poll(_: wire.Generation) -> None:
        clock.now += 4.0

    _, error = waiting(policy, *[running()] * 9, timeout=10.0, on_update=poll)

    assert isinstance(error, NoAnswerError)
    assert error.generation_id == "g"
    assert "not finished after 10 s" in str(error)


def test_the_last_pause_ends_at_the_deadline(clock: Clock, policy: Policy) -> None:
    steps, _ = waiting(
        policy,
        running(retry_after="60"),
        running("completed"),
        timeout=5.0,
    )

    assert sleeps(steps) == [5.0]


@pytest.mark.parametrize("bad", [status(401), status(404), status(500)])
def test_an_error_while_waiting_names_the_generation(bad: Reply, policy: Policy) -> None:
    _, error = waiting(policy, running(), bad)

    assert error.generation_id == "g"


# ── lists ────────────────────────────────────────────────────────────────────────────────────────


def page(*ids: str, following: str | None = None) -> Reply:
    items = [{"id": number} for number in ids]
    return ok(items, **({"link": f'<{following}>; rel="next"'} if following else {}))


def listed(*outcomes: Reply, limit: int | None) -> tuple[list[Any], list[str]]:
    steps, items = driven(flows.listing(calls.list_generations(), limit), *outcomes)
    return steps, [item.id for item in items]


def test_pages_are_followed_to_their_end() -> None:
    steps, ids = listed(page("c", "b", following="/v1/x?cursor=b"), page("a"), limit=None)

    assert ids == ["c", "b", "a"]
    assert steps[1].call.path == "/v1/x?cursor=b"


def test_a_limit_needs_no_more_pages_than_it_takes() -> None:
    steps, ids = listed(page("c", "b", following="/next"), limit=1)

    assert (len(steps), ids) == (1, ["c"])


def test_pages_that_lead_nowhere_end() -> None:
    _, empty = listed(page("a", following="/n"), page(following="/m"), limit=None)
    _, circle = listed(page("a", following="/n"), page("b", following="/n"), limit=None)

    assert empty == ["a"]
    assert circle == ["a", "b"]
