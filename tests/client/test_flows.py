from __future__ import annotations

import json
from typing import Any

import pytest

from kit import wire
from kit.client import calls, flows
from kit.client.calls import NoReply, Reply, SendRequest, Sleep
from kit.client.flows import Policy
from kit.errors import (
    ApiError,
    InternalError,
    InvalidApiKeyError,
    NoAnswerError,
    RateLimitError,
    UnavailableError,
)
from tests.client.fixtures import drive, get_pauses, ok, status

ORDER = wire.StartGeneration(model_id="m", prompt="p")
GONE = NoReply("no connection", harmless=True)
BROKE = NoReply("the connection broke")


def error(number: int, code: str | int) -> Reply:
    return Reply(number, {}, json.dumps({"error": {"code": code, "message": "no"}}).encode())


ACCOUNT = ok({"id": "a"})
RECEIPT = ok({"id": "g"})


@pytest.mark.parametrize("bad", [GONE, BROKE, *map(status, (429, 500, 502, 503, 504))])
def test_a_failed_get_is_retried(bad: Any, policy: Policy) -> None:
    steps, result = drive(flows.ask(calls.get_account(), policy), bad, bad, ACCOUNT)

    assert result.id == "a"
    assert len(get_pauses(steps)) == 2


@pytest.mark.parametrize("number", [400, 401, 402, 403, 404, 409, 501])
def test_a_permanent_error_is_not_retried(number: int, policy: Policy) -> None:
    steps, error = drive(flows.ask(calls.get_account(), policy), status(number))

    assert len(steps) == 1
    assert isinstance(error, ApiError)


@pytest.mark.parametrize(
    "bad",
    [
        GONE,
        status(429),
        status(503, retry_after="0"),
        error(503, "unavailable"),
        status(409, retry_after="0"),
    ],
    ids=str,
)
def test_a_start_that_was_not_executed_is_retried_with_its_key(bad: Any, policy: Policy) -> None:
    call = calls.start_generation(ORDER)

    steps, result = drive(flows.ask(call, policy), bad, bad, RECEIPT)

    sent = [step for step in steps if isinstance(step, SendRequest)]
    assert result.id == "g"
    assert [step.headers["Idempotency-Key"] for step in sent] == [call.key] * 3


@pytest.mark.parametrize(
    "bad", [BROKE, error(503, 503), *map(status, (303, 408, 409, 500, 501, 502, 503, 504))], ids=str
)
def test_a_start_that_may_have_been_charged_is_not_retried(bad: Any, policy: Policy) -> None:
    steps, error = drive(flows.ask(calls.start_generation(ORDER), policy), bad)

    assert len(steps) == 1
    assert isinstance(error, (NoAnswerError, ApiError))


UNSURE = [
    BROKE,
    *map(status, (303, 408, 500, 501, 502, 503, 504)),
    error(500, "internal_error"),
    status(409, retry_after="0"),
    Reply(200, {}, b'{"status": "accepted"}'),
    Reply(202, {}, b"<html>thank you</html>"),
    Reply(204),
]
SURE = [
    NoReply("no connection", harmless=True, sent=False),
    *map(status, (301, 307, 308, 400, 401, 402, 403, 404, 409, 413, 422, 429)),
    status(503, retry_after="0"),
    error(503, "unavailable"),
]
TITLE = calls.suggest_title("SPACE")


@pytest.mark.parametrize("call", [calls.start_generation(ORDER), TITLE], ids=lambda c: c.path)
@pytest.mark.parametrize("bad", UNSURE, ids=str)
def test_an_unclear_answer_to_a_start_is_unsettled(
    bad: Any, call: calls.Call[Any], policy: Policy
) -> None:
    _, error = drive(flows.ask(call, policy), *[bad] * 9)

    assert error.unsettled
    end = "and charged" if call is TITLE else "before sending it again"
    assert f"{error}".count("it may have been carried out") == 1
    assert end in f"{error}"


@pytest.mark.parametrize("bad", SURE, ids=str)
def test_a_refused_start_is_settled(bad: Any, policy: Policy) -> None:
    _, error = drive(flows.ask(calls.start_generation(ORDER), policy), *[bad] * 9)

    assert not error.unsettled
    assert "carried out" not in f"{error}"


def test_a_refused_retry_does_not_settle_the_first_attempt(policy: Policy) -> None:
    call = calls.start_generation(ORDER)
    broke = NoReply("the connection broke", harmless=True)  # to a service that honors keys

    _, error = drive(flows.ask(call, policy), broke, status(401))

    assert isinstance(error, InvalidApiKeyError)
    assert error.unsettled


@pytest.mark.parametrize("bad", [BROKE, status(500), Reply(200, {}, b"{}")], ids=str)
@pytest.mark.parametrize("call", [calls.get_account(), calls.estimate(ORDER)], ids=lambda c: c.path)
def test_a_failed_request_without_a_charge_is_settled(
    bad: Any, call: calls.Call[Any], policy: Policy
) -> None:
    _, error = drive(flows.ask(call, policy), *[bad] * 9)

    assert not error.unsettled
    assert "carried out" not in f"{error}"


@pytest.mark.parametrize("bad", [GONE, status(429), status(503)])
def test_a_post_without_a_key_is_sent_once(bad: Any, policy: Policy) -> None:
    call = calls.Call("POST", "/v1/x", wire.Receipt.model_validate_json)

    steps, _ = drive(flows.ask(call, policy), bad)

    assert len(steps) == 1


@pytest.mark.parametrize(
    "call",
    [
        calls.cancel_generation("g"),
        calls.estimate(ORDER),
        calls.request_upload(
            wire.RequestUpload(
                file_name="a.png", content_type="image/png", file_size_bytes=1, model_id="m"
            )
        ),
    ],
    ids=lambda call: call.path,
)
def test_a_post_without_a_charge_is_retried_after_a_broken_connection(
    call: calls.Call[Any], policy: Policy
) -> None:
    steps, _ = drive(flows.ask(call, policy), BROKE, status(502), status(400))

    assert sum(isinstance(step, SendRequest) for step in steps) == 3


@pytest.mark.parametrize("answer", [502, 503, 504])
def test_a_start_is_repeated_after_a_failure_of_a_gateway_if_the_service_honors_keys(
    policy: Policy, answer: int
) -> None:
    flow = flows.ask(calls.start_generation(ORDER), policy)
    lost = Reply(answer, {}, b"<html>bad gateway</html>", harmless=True)

    steps, result = drive(flow, lost, status(409, retry_after="1"), RECEIPT)

    sent = [step for step in steps if isinstance(step, SendRequest)]
    assert len({step.headers["Idempotency-Key"] for step in sent}) == 1
    assert (len(sent), result.id) == (3, "g")


def test_a_lasting_server_error_is_raised_after_all_attempts(policy: Policy) -> None:
    broken = Reply(500, {}, b'{"error": {"code": "internal_error", "message": "a bug"}}')

    steps, error = drive(flows.ask(calls.get_account(), policy), *[broken] * 9)

    assert sum(isinstance(step, SendRequest) for step in steps) == policy.attempts
    assert isinstance(error, InternalError)
    assert str(error) == "a bug"


def test_a_retry_beyond_the_time_limit_is_not_waited_for(policy: Policy) -> None:
    flow = flows.ask(calls.start_generation(ORDER), policy)

    steps, error = drive(flows.limit_time(flow, 2.0, policy.clock), status(503, retry_after="20"))

    assert get_pauses(steps) == []
    assert isinstance(error, UnavailableError)
    assert str(error).endswith("the service asks to wait 20 s before the next request")


def test_a_retry_within_the_time_limit_is_waited_for(policy: Policy) -> None:
    flow = flows.ask(calls.start_generation(ORDER), policy)

    steps, result = drive(
        flows.limit_time(flow, 2.0, policy.clock), status(503, retry_after="1"), RECEIPT
    )

    assert get_pauses(steps) == [1.0]
    assert result.id == "g"


def test_retry_after_is_a_lower_bound(policy: Policy) -> None:
    steps, _ = drive(flows.ask(calls.get_account(), policy), status(429, retry_after="7"), ACCOUNT)

    assert get_pauses(steps) == [7.0]


def test_a_retry_after_beyond_the_deadline_is_not_waited_for(policy: Policy) -> None:
    steps, error = drive(flows.ask(calls.get_account(), policy), status(429, retry_after="86400"))

    assert get_pauses(steps) == []
    assert isinstance(error, RateLimitError)
    assert error.retry_after == 86400.0


def test_a_long_pause_is_reported(policy: Policy) -> None:
    steps, _ = drive(
        flows.ask(calls.get_account(), policy),
        status(429, retry_after="1"),
        status(503, retry_after="40"),
        ACCOUNT,
    )

    reasons = [step.why for step in steps if isinstance(step, Sleep)]
    assert reasons[0] == ""
    assert reasons[1].endswith("the service asks to wait 40 s before the next request")


def test_a_pause_that_is_too_long_is_named_in_the_error(policy: Policy) -> None:
    _, error = drive(flows.ask(calls.get_account(), policy), status(429, retry_after="86400"))

    assert str(error).endswith("the service asks to wait 24 hours before the next request")


def test_attempts_are_limited(policy: Policy) -> None:
    steps, error = drive(flows.ask(calls.get_account(), policy), *[GONE] * 9)

    assert sum(isinstance(step, SendRequest) for step in steps) == policy.attempts
    assert str(error) == "no connection"


def test_pauses_double_and_jitter_only_adds() -> None:
    fixed, random = Policy(dice=lambda: 0.0), Policy(dice=lambda: 1.0)

    assert [fixed.backoff(n, None) for n in range(3)] == pytest.approx([0.1, 0.2, 0.4])
    assert [random.backoff(n, None) for n in range(3)] == pytest.approx([0.2, 0.4, 0.8])
    assert random.backoff(99, None) == random.longest
    assert fixed.backoff(0, 3.0) == 3.0


# ── lists ─────────────────────────────────────────────────────────────────────────────────────────


def page(*ids: str, following: str | None = None) -> Reply:
    items = [{"id": number} for number in ids]
    return ok(items, **({"link": f'<{following}>; rel="next"'} if following else {}))


def list_ids(*outcomes: Reply, limit: int | None) -> tuple[list[Any], list[str]]:
    steps, items = drive(flows.list_all(calls.list_generations(), limit), *outcomes)
    return steps, [item.id for item in items]


def test_pages_are_followed_to_the_last_one() -> None:
    steps, ids = list_ids(page("c", "b", following="/v1/x?cursor=b"), page("a"), limit=None)

    assert ids == ["c", "b", "a"]
    assert steps[1].call.path == "/v1/x?cursor=b"


def test_a_limit_requests_no_more_pages_than_needed() -> None:
    steps, ids = list_ids(page("c", "b", following="/next"), limit=1)

    assert (len(steps), ids) == (1, ["c"])


def test_endless_or_circular_pages_end() -> None:
    ends = (page(following=f"/{number}") for number in range(99))
    steps, empty = list_ids(page("a", following="/n"), *ends, limit=None)
    _, circle = list_ids(page("a", following="/n"), page("b", following="/n"), limit=None)

    assert (empty, len(steps)) == (["a"], 6)
    assert circle == ["a", "b"]


# ── rate limits ──────────────────────────────────────────────────────────────────────────────────

LIMITED = status(429, retry_after="1")


def test_waiting_for_a_rate_limit_is_no_failed_attempt(policy: Policy) -> None:
    outcomes = [*[LIMITED] * 20, GONE, RECEIPT]

    steps, result = drive(flows.ask(calls.start_generation(ORDER), policy), *outcomes)

    assert result.id == "g"
    assert sum(get_pauses(steps)) > policy.deadline
    reasons = [step.why for step in steps if isinstance(step, Sleep)]
    assert not any(reasons[:1])
    assert all(reasons[2:20])


def test_waiting_for_a_rate_limit_ends_after_minutes(policy: Policy) -> None:
    steps, error = drive(flows.ask(calls.get_account(), policy), *[LIMITED] * 999)

    assert 240 < sum(get_pauses(steps)) <= 300
    assert isinstance(error, RateLimitError)
