"""Operations 5 and 6: prompts, seeds, outcomes, polling, cancel, estimates."""

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


def test_a_prompt_is_trimmed_and_then_measured(http: httpx.Client) -> None:
    longest = "x" * 4000
    done = read(http, generate(http, prompt=f"  {longest}\n"))
    refused = http.post(GENERATIONS, json={"modelId": "flat", "prompt": longest + "x"})

    assert done["prompt"] == longest
    assert refused.status_code == 400
    assert "4,000" in refused.json()["error"]["message"]


def test_a_prompt_is_refused_where_none_is_taken(http: httpx.Client) -> None:
    answer = http.post(GENERATIONS, json={"modelId": "clay", "prompt": "a lake"})

    told = {d["field"]: d["message"] for d in answer.json()["error"]["details"]}
    assert "takes no prompt" in told["prompt"]
    assert told["mediaUploads.portrait"] == "is required"


def test_a_medium_among_the_parameters_is_pointed_to_its_place(http: httpx.Client) -> None:
    answer = http.post(GENERATIONS, json={"modelId": "clay", "parameters": {"voice": "upl_1"}})

    assert "name it in mediaUploads" in answer.json()["error"]["message"]


def test_a_seed_that_was_given_is_used(http: httpx.Client) -> None:
    done = wait_for_end(http, generate(http, parameters={"seed": 7}))

    assert done["parameters"]["seed"] == 7
    assert done["output"]["metadata"] == {"seed": 7}


def test_a_seed_that_was_drawn_is_told(http: httpx.Client) -> None:
    first, second = (wait_for_end(http, generate(http)) for _ in range(2))

    assert first["parameters"]["seed"] == first["output"]["metadata"]["seed"]
    assert first["parameters"]["seed"] != second["parameters"]["seed"]


def test_defaults_are_filled_in(http: httpx.Client) -> None:
    told = read(http, generate(http, parameters={"seed": 1, "count": 2.0}))

    assert told["parameters"] == {
        "count": 2,
        "strength": 0.5,
        "size": "small",
        "smooth": False,
        "does": "works",
        "seed": 1,
    }
    assert told["creditsCharged"] == 0.7
    assert told["generationType"] == "text-to-image"
    assert told["modelName"] == "Flat"


@pytest.mark.parametrize(
    ("does", "code", "sentence"),
    [
        ("fails", "dry", "the clay is too dry"),
        ("raises", "engine_failed", "the engine failed (RuntimeError)"),
        ("crashes", "worker_lost", "the render process was lost 3 times"),
    ],
)
def test_a_failure_is_told_and_refunded_in_full(
    http: httpx.Client, does: str, code: str, sentence: str
) -> None:
    done = wait_for_end(http, generate(http, does=does))

    assert (done["status"], done["errorCode"], done["error"]) == ("failed", code, sentence)
    assert done["creditsRefunded"] == done["creditsCharged"] == 0.6
    assert done["outputUrl"] is done["output"] is None
    assert done["completedAt"] is not None
    assert balance(http) == 100
    refund = http.get("/v1/usage").json()[0]
    assert (refund["kind"], refund["generationId"]) == ("refund", done["id"])
    assert refund["details"] == {"reason": sentence}


def test_polling_says_when_to_come_again(http: httpx.Client) -> None:
    generation = generate(http, does="hangs")
    wait_for_start(http, generation)
    answer = http.get(f"{GENERATIONS}/{generation}")

    assert int(answer.headers["Retry-After"]) >= 1
    http.post(f"{GENERATIONS}/{generation}/cancel")
    assert "Retry-After" not in http.get(f"{GENERATIONS}/{generation}").headers


def test_a_poll_without_news_is_cheap(http: httpx.Client) -> None:
    generation = generate(http)
    wait_for_end(http, generation)
    tag = http.get(f"{GENERATIONS}/{generation}").headers["ETag"]
    again = http.get(f"{GENERATIONS}/{generation}", headers={"If-None-Match": tag})

    assert (again.status_code, again.content) == (304, b"")


def test_another_accounts_generation_does_not_exist(http: httpx.Client, service: Service) -> None:
    generation = generate(http)
    with service.client(service.key(service.account(), *ALL_SCOPES)) as other:
        for method, path in (("GET", generation), ("POST", f"{generation}/cancel")):
            assert other.request(method, f"{GENERATIONS}/{path}").status_code == 404
        assert other.get(GENERATIONS).json() == []


def test_canceled_before_a_worker_began_costs_nothing(
    start_service: Callable[..., Service],
) -> None:
    service = start_service(workers=0)
    with service.client(service.key(service.account(), *ALL_SCOPES)) as http:
        generation = generate(http)
        assert http.get("/v1/account/credits").json()["reserved"] == 0.6
        told = http.post(f"{GENERATIONS}/{generation}/cancel").json()

        assert (told["status"], told["creditsRefunded"]) == ("canceled", 0.6)
        assert balance(http) == 100
        assert http.get("/v1/account/credits").json()["reserved"] == 0


def test_canceled_while_it_runs_is_kept_and_frees_the_worker(http: httpx.Client) -> None:
    generation = generate(http, does="hangs")
    wait_for_start(http, generation)
    told = http.post(f"{GENERATIONS}/{generation}/cancel").json()

    assert (told["status"], told["creditsRefunded"]) == ("canceled", 0)
    assert balance(http) == 99.4
    assert wait_for_end(http, generate(http))["status"] == "completed"
    assert read(http, generation)["status"] == "canceled"


def test_what_is_finished_cannot_be_canceled(http: httpx.Client) -> None:
    generation = generate(http)
    wait_for_end(http, generation)
    answer = http.post(f"{GENERATIONS}/{generation}/cancel")

    assert answer.status_code == 409
    assert answer.json()["error"]["code"] == "conflict"


@pytest.mark.parametrize("parameters", [{}, {"count": 3, "size": "big"}, {"strength": 0.3}])
def test_an_estimate_is_what_a_start_charges(
    http: httpx.Client, parameters: dict[str, Any]
) -> None:
    body = {"modelId": "flat", "prompt": "x", "parameters": parameters}
    quote = http.post(ESTIMATES, json=body).json()

    assert quote["affordable"] is True
    assert quote["balance"] == balance(http) == 100
    assert http.post(GENERATIONS, json=body).json()["creditsCharged"] == quote["total"]


def test_an_estimate_needs_only_to_read_and_no_credits(service: Service) -> None:
    body = {"modelId": "flat", "prompt": "x"}
    with service.client(service.key(service.account(credits=0))) as http:
        quote = http.post(ESTIMATES, json=body).json()

    assert (quote["total"], quote["affordable"]) == (0.6, False)


@pytest.mark.parametrize(("available", "affordable"), [(0.6, True), (0.599, False)])
def test_the_last_credits_afford_what_costs_exactly_these(
    service: Service, available: float, affordable: bool
) -> None:
    body = {"modelId": "flat", "prompt": "x"}
    with service.client(service.key(service.account(credits=available), *ALL_SCOPES)) as http:
        assert http.post(ESTIMATES, json=body).json()["affordable"] is affordable
        assert http.post(GENERATIONS, json=body).status_code == (202 if affordable else 402)
