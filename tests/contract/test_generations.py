"""Operations 5 and 6: prompts, seeds, results, polling, cancel, estimates."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.conftest import ALL_SCOPES, Service
from tests.waiting import GENERATIONS, balance, generate, read, wait_for_end, wait_for_start

ESTIMATES = "/v1/creative-studio/estimates"


@pytest.mark.parametrize("prompt", [None, "", "  \n "])
def test_a_required_prompt_may_not_be_blank(http: httpx.Client, prompt: str | None) -> None:
    answer = http.post(GENERATIONS, json={"modelId": "flat", "prompt": prompt})

    [detail] = answer.json()["error"]["details"]
    assert (detail["field"], "is required" in detail["message"]) == ("prompt", True)


def test_a_prompt_is_trimmed_before_its_length_is_checked(http: httpx.Client) -> None:
    longest = "x" * 4000
    done = read(http, generate(http, prompt=f"  {longest}\n"))
    refused = http.post(GENERATIONS, json={"modelId": "flat", "prompt": longest + "x"})

    assert done["prompt"] == longest
    assert refused.status_code == 400
    assert "4,000" in refused.json()["error"]["message"]


def test_a_prompt_is_refused_by_a_model_without_prompts(http: httpx.Client) -> None:
    answer = http.post(GENERATIONS, json={"modelId": "clay", "prompt": "a lake"})

    found = {d["field"]: d["message"] for d in answer.json()["error"]["details"]}
    assert "takes no prompt" in found["prompt"]
    assert found["mediaUploads.portrait"] == "is required"


def test_a_medium_in_parameters_is_refused_with_a_hint(http: httpx.Client) -> None:
    answer = http.post(GENERATIONS, json={"modelId": "clay", "parameters": {"voice": "upl_1"}})

    assert "name it in mediaUploads" in answer.json()["error"]["message"]


def test_a_given_seed_is_used(http: httpx.Client) -> None:
    done = wait_for_end(http, generate(http, parameters={"seed": 7}))

    assert done["parameters"]["seed"] == 7
    assert done["output"]["metadata"] == {"seed": 7}


def test_a_random_seed_is_reported(http: httpx.Client) -> None:
    first, second = (wait_for_end(http, generate(http)) for _ in range(2))

    assert first["parameters"]["seed"] == first["output"]["metadata"]["seed"]
    assert first["parameters"]["seed"] != second["parameters"]["seed"]


def test_defaults_are_filled_in(http: httpx.Client) -> None:
    found = read(http, generate(http, parameters={"seed": 1, "count": 2.0}))

    assert found["parameters"] == {
        "count": 2,
        "strength": 0.5,
        "size": "small",
        "smooth": False,
        "does": "works",
        "seed": 1,
    }
    assert found["creditsCharged"] == 0.7
    assert found["generationType"] == "text-to-image"
    assert found["modelName"] == "Flat"


@pytest.mark.parametrize(
    ("does", "code", "sentence"),
    [
        ("fails", "dry", "the clay is too dry"),
        ("raises", "engine_failed", "the engine failed (RuntimeError)"),
        ("crashes", "worker_lost", "was lost 3 times: it ended during its job, with exit code "),
    ],
)
def test_a_failed_generation_is_reported_and_refunded(
    http: httpx.Client, does: str, code: str, sentence: str
) -> None:
    done = wait_for_end(http, generate(http, does=does))

    assert (done["status"], done["errorCode"]) == ("failed", code)
    assert sentence in done["error"]
    assert done["creditsRefunded"] == done["creditsCharged"] == 0.6
    assert done["outputUrl"] is done["output"] is None
    assert done["completedAt"] is not None
    assert balance(http) == 100
    refund = http.get("/v1/usage").json()[0]
    assert (refund["kind"], refund["generationId"]) == ("refund", done["id"])
    assert refund["details"] == {"reason": done["error"]}


def test_a_poll_has_retry_after_while_the_generation_runs(http: httpx.Client) -> None:
    generation = generate(http, does="hangs")
    wait_for_start(http, generation)
    answer = http.get(f"{GENERATIONS}/{generation}")

    assert int(answer.headers["Retry-After"]) >= 1
    http.post(f"{GENERATIONS}/{generation}/cancel")
    assert "Retry-After" not in http.get(f"{GENERATIONS}/{generation}").headers


def test_a_poll_with_the_current_etag_is_answered_with_304(http: httpx.Client) -> None:
    generation = generate(http)
    wait_for_end(http, generation)
    tag = http.get(f"{GENERATIONS}/{generation}").headers["ETag"]
    again = http.get(f"{GENERATIONS}/{generation}", headers={"If-None-Match": tag})

    assert (again.status_code, again.content) == (304, b"")


def test_a_generation_of_another_account_is_not_found(http: httpx.Client, service: Service) -> None:
    generation = generate(http)
    with service.client(service.key(service.account(), *ALL_SCOPES)) as other:
        for method, path in (("GET", generation), ("POST", f"{generation}/cancel")):
            assert other.request(method, f"{GENERATIONS}/{path}").status_code == 404
        assert other.get(GENERATIONS).json() == []


def test_canceling_a_queued_generation_refunds_it(start_service: Callable[..., Service]) -> None:
    service = start_service(workers=0)
    with service.client(service.key(service.account(), *ALL_SCOPES)) as http:
        generation = generate(http)
        assert http.get("/v1/account/credits").json()["reserved"] == 0.6
        found = http.post(f"{GENERATIONS}/{generation}/cancel").json()

        assert (found["status"], found["creditsRefunded"]) == ("canceled", 0.6)
        assert balance(http) == 100
        assert http.get("/v1/account/credits").json()["reserved"] == 0


def test_canceling_a_running_generation_frees_the_worker(http: httpx.Client) -> None:
    generation = generate(http, does="hangs")
    wait_for_start(http, generation)
    found = http.post(f"{GENERATIONS}/{generation}/cancel").json()

    assert (found["status"], found["creditsRefunded"]) == ("canceled", 0)
    assert balance(http) == 99.4
    assert wait_for_end(http, generate(http))["status"] == "completed"
    assert read(http, generation)["status"] == "canceled"


def test_canceling_a_finished_generation_is_a_conflict(http: httpx.Client) -> None:
    generation = generate(http)
    wait_for_end(http, generation)
    answer = http.post(f"{GENERATIONS}/{generation}/cancel")

    assert answer.status_code == 409
    assert answer.json()["error"]["code"] == "conflict"


@pytest.mark.parametrize("parameters", [{}, {"count": 3, "size": "big"}, {"strength": 0.3}])
def test_an_estimate_equals_the_charge_of_a_start(
    http: httpx.Client, parameters: dict[str, Any]
) -> None:
    body = {"modelId": "flat", "prompt": "x", "parameters": parameters}
    quote = http.post(ESTIMATES, json=body).json()

    assert quote["affordable"] is True
    assert quote["balance"] == balance(http) == 100
    assert http.post(GENERATIONS, json=body).json()["creditsCharged"] == quote["total"]


def test_an_estimate_needs_only_the_read_scope_and_no_credits(service: Service) -> None:
    body = {"modelId": "flat", "prompt": "x"}
    with service.client(service.key(service.account(credits=0))) as http:
        quote = http.post(ESTIMATES, json=body).json()

    assert (quote["total"], quote["affordable"]) == (0.6, False)


@pytest.mark.parametrize(
    ("available", "cap", "affordable"),
    [(0.6, None, True), (0.599, None, False), (100, 600, True), (100, 599, False)],
)
def test_a_balance_or_cap_equal_to_the_price_is_affordable(
    service: Service, available: float, cap: int | None, affordable: bool
) -> None:
    body = {"modelId": "flat", "prompt": "x"}
    key = service.key(service.account(credits=available), *ALL_SCOPES, cap=cap)
    with service.client(key) as http:
        assert http.post(ESTIMATES, json=body).json()["affordable"] is affordable
        assert http.post(GENERATIONS, json=body).status_code == (202 if affordable else 402)
