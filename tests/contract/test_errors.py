"""Errors: one envelope, the documented codes, in the agreed order."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from kit.service.domain import keys
from kit.service.http.context import clock
from kit.service.store.keys import OF_ACCOUNT
from tests.conftest import ALL_SCOPES, Service

STUDIO = "/v1/creative-studio"
START = f"{STUDIO}/generations"


def problem(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """Check an error's envelope and return what is in it."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    assert set(answer.json()) == {"error"}
    error: dict[str, Any] = answer.json()["error"]
    assert error["code"] == code
    assert isinstance(error["message"], str)
    assert error["message"]
    assert error["requestId"] == answer.headers["X-Request-Id"]
    assert set(error) <= {"code", "message", "details", "requestId"}
    return error


def fields(answer: httpx.Response) -> dict[str, str]:
    """Return the sentences of a 400 by field."""
    details = problem(answer, 400, "validation_error")["details"]
    return {detail["field"]: detail["message"] for detail in details}


@pytest.mark.parametrize("header", [None, "", "Basic abc", "Bearer"])
def test_a_request_without_a_key_is_told_so(service: Service, header: str | None) -> None:
    headers = {} if header is None else {"Authorization": header}
    with service.client(None) as http:
        answer = http.get("/v1/account", headers=headers)

    problem(answer, 401, "missing_api_key")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("text", ["x", "cs_live_" + "0" * 36, "\u00e9".encode().decode("latin-1")])
def test_a_text_that_is_no_key_is_refused(service: Service, text: str) -> None:
    with service.client(None) as http:
        answer = http.get("/v1/account", headers={b"Authorization": f"Bearer {text}".encode()})

    problem(answer, 401, "invalid_api_key")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_well_formed_key_that_nobody_has_is_refused(service: Service) -> None:
    with service.client(keys.draw(live=True)) as http:
        problem(http.get("/v1/account"), 401, "invalid_api_key")


def test_a_revoked_key_stops_at_once(service: Service, account: str, http: httpx.Client) -> None:
    assert http.get("/v1/account").status_code == 200

    def revoke_all() -> Any:
        for row in (yield OF_ACCOUNT(account=account)):
            yield from keys.revoke(row.id, clock())

    service.write(revoke_all())

    assert "revoked" in problem(http.get("/v1/account"), 401, "invalid_api_key")["message"]


def test_a_key_past_its_date_has_a_code_of_its_own(service: Service, account: str) -> None:
    past = keys.Wish(account_id=account, name="old", expires_at=clock() - 1000)
    text = service.write(keys.create(past, service.settings.secret(), clock() - 5000)).text
    with service.client(text) as http:
        answer = http.get("/v1/account")

    problem(answer, 401, "expired_api_key")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("path", ["/", "/nothing", "/v1/nothing", "/v1/account/", "/v1"])
def test_an_unknown_path_is_not_found(http: httpx.Client, path: str) -> None:
    problem(http.get(path), 404, "not_found")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("DELETE", "/v1/account"),
        ("PUT", START),
        ("POST", f"{STUDIO}/models"),
        ("GET", "/v1/scripts"),
    ],
)
def test_a_wrong_method_is_named(http: httpx.Client, method: str, path: str) -> None:
    answer = http.request(method, path)

    problem(answer, 405, "method_not_allowed")
    assert answer.headers["Allow"]


def test_a_body_of_another_type_is_refused(http: httpx.Client) -> None:
    answer = http.post(START, content="modelId=flat", headers={"Content-Type": "text/plain"})

    assert "text/plain" in problem(answer, 415, "unsupported_media_type")["message"]


def test_a_body_that_is_too_large_is_refused(http: httpx.Client) -> None:
    answer = http.post(START, json={"modelId": "flat", "prompt": "x" * 1_000_001})

    problem(answer, 413, "payload_too_large")


@pytest.mark.parametrize(
    "content", ["", "{", "[1]", "null", "3", '"x"', '{"modelId": "\\ud800"}', b"\xff"]
)
def test_a_body_that_is_no_object_is_refused(http: httpx.Client, content: str) -> None:
    answer = http.post(START, content=content, headers={"Content-Type": "application/json"})

    assert "body" in str(fields(answer)) or "must be an object" in str(fields(answer))


@pytest.mark.parametrize(
    ("body", "field", "sentence"),
    [
        ({"prompt": "x"}, "modelId", "is required"),
        ({"modelId": 3}, "modelId", "must be text"),
        ({"modelId": "flat", "promt": "x"}, "promt", "did you mean 'prompt'"),
        ({"modelId": "flat", "model_id": "flat"}, "model_id", "did you mean 'modelId'"),
        ({"modelId": "flat", "parameters": []}, "parameters", "must be an object"),
        ({"modelId": "flat", "prompt": 7}, "prompt", "must be text"),
    ],
)
def test_a_wrong_shape_names_the_field(
    http: httpx.Client, body: dict[str, Any], field: str, sentence: str
) -> None:
    assert sentence in fields(http.post(START, json=body))[field]


def test_a_reference_that_is_no_text_names_its_medium(http: httpx.Client) -> None:
    body = {"modelId": "clay", "mediaUploads": {"portrait": 7}}

    assert set(fields(http.post(START, json=body))) == {"mediaUploads.portrait"}


@pytest.mark.parametrize(
    ("parameters", "field", "sentence"),
    [
        ({"count": 11}, "count", "at most 10"),
        ({"count": 0}, "count", "at least 1"),
        ({"count": 1.5}, "count", "whole number"),
        ({"count": True}, "count", "whole number"),
        ({"count": "1"}, "count", "whole number"),
        ({"count": 10**400}, "count", "must be"),
        ({"size": "huge"}, "size", "must be one of 'small', 'big'"),
        ({"size": 1}, "size", "must be text"),
        ({"smooth": 1}, "smooth", "true or false"),
        ({"strength": "much"}, "strength", "a number"),
        ({"sise": "big"}, "sise", "did you mean 'size'"),
    ],
)
def test_a_wrong_value_names_the_parameter(
    http: httpx.Client, parameters: dict[str, Any], field: str, sentence: str
) -> None:
    body = {"modelId": "flat", "prompt": "x", "parameters": parameters}

    assert sentence in fields(http.post(START, json=body))[f"parameters.{field}"]


def test_too_few_credits_names_both_figures(service: Service) -> None:
    key = service.key(service.account(credits=0), *ALL_SCOPES)
    with service.client(key) as http:
        answer = http.post(START, json={"modelId": "flat", "prompt": "x"})

    error = problem(answer, 402, "insufficient_credits")
    assert error["details"] == {"required": 0.6, "available": 0}
    assert "0.6" in error["message"]


def test_too_many_requests_say_when_to_come_back(start_service: Callable[..., Service]) -> None:
    service = start_service(requests_per_minute=3, starts_per_minute=1)
    key = service.key(service.account(), *ALL_SCOPES)
    order = {"modelId": "flat", "prompt": "x"}
    with service.client(key) as http:
        answers = [http.post(START, json=order) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [202, 429]
        problem(answers[1], 429, "rate_limited")
        assert 1 <= int(answers[1].headers["Retry-After"]) <= 60
        assert http.get("/v1/account").status_code == 200
        last = http.get("/v1/account")

    problem(last, 429, "rate_limited")
    assert 1 <= int(last.headers["Retry-After"]) <= 20
    assert last.headers["RateLimit"].startswith('"default";r=0')
    assert last.headers["RateLimit-Policy"] == '"default";q=3;w=60'


def test_checks_come_in_the_agreed_order(start_service: Callable[..., Service]) -> None:
    service = start_service(requests_per_minute=6)
    poor = service.account(credits=0)
    with service.client(None) as http:
        problem(http.post(START, content="{"), 401, "missing_api_key")
    with service.client(service.key(poor, "creative:generate")) as http:
        problem(http.post(START, json={"modelId": "no", "x": 1}), 400, "validation_error")
        problem(http.post(START, json={"modelId": "no", "prompt": ""}), 404, "not_found")
        problem(http.post(START, json={"modelId": "flat"}), 400, "validation_error")
        problem(
            http.post(START, json={"modelId": "flat", "prompt": "x"}), 402, "insufficient_credits"
        )
        problem(http.post("/v1/scripts", content="{"), 403, "insufficient_scope")
        http.get(START)
        problem(http.post("/v1/scripts", content="{"), 429, "rate_limited")


@pytest.mark.parametrize(
    "path", ["/v1/creative-studio/models/flot", f"{START}/gen_0", f"{START}/x/cancel"]
)
def test_a_missing_resource_is_not_found(http: httpx.Client, path: str) -> None:
    problem(http.request("POST" if "cancel" in path else "GET", path), 404, "not_found")
