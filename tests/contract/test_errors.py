"""Errors: one envelope, the documented codes, in the documented order."""

import gzip
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from kit.service.domain import keys
from kit.service.machine import clock
from kit.service.store import keys as statements
from tests.conftest import ALL_SCOPES, Service

STUDIO = "/v1/creative-studio"
START = f"{STUDIO}/generations"


def problem(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """Check an error's envelope and return the error."""
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
    """Return the messages of a 400 by field."""
    details = problem(answer, 400, "validation_error")["details"]
    return {detail["field"]: detail["message"] for detail in details}


@pytest.mark.parametrize("header", [None, "", "Basic abc", "Bearer"])
def test_a_request_without_a_key_is_refused(service: Service, header: str | None) -> None:
    headers = {} if header is None else {"Authorization": header}
    with service.client(None) as http:
        answer = http.get("/v1/account", headers=headers)

    problem(answer, 401, "missing_api_key")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("text", ["x", "cs_live_" + "0" * 36, "\u00e9".encode().decode("latin-1")])
def test_a_malformed_key_is_refused(service: Service, text: str) -> None:
    with service.client(None) as http:
        answer = http.get("/v1/account", headers={b"Authorization": f"Bearer {text}".encode()})

    problem(answer, 401, "invalid_api_key")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_an_unknown_key_is_refused(service: Service) -> None:
    with service.client(keys.generate(live=True)) as http:
        problem(http.get("/v1/account"), 401, "invalid_api_key")


def test_a_revoked_key_fails_at_once(service: Service, account: str, http: httpx.Client) -> None:
    assert http.get("/v1/account").status_code == 200

    def revoke_all() -> Any:
        for row in (yield statements.of_account(account_id=account)):
            yield from keys.revoke(row.id, clock())

    service.write(revoke_all())

    assert "revoked" in problem(http.get("/v1/account"), 401, "invalid_api_key")["message"]


def test_an_expired_key_has_its_own_error_code(service: Service, account: str) -> None:
    past = keys.KeyRequest(account_id=account, name="old", expires_at=clock() - 1000)
    text = service.write(keys.create(past, service.settings.secret(), clock() - 5000)).text
    with service.client(text) as http:
        answer = http.get("/v1/account")

    problem(answer, 401, "expired_api_key")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("path", ["/", "/nothing", "/v1/nothing", "/v1/account/", "/v1"])
def test_an_unknown_path_is_not_found(http: httpx.Client, path: str) -> None:
    problem(http.get(path), 404, "not_found")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/v1/account", "GET, HEAD"),
        ("PUT", START, "GET, HEAD, POST"),
        ("TRACE", START, "GET, HEAD, POST"),
        ("OPTIONS", f"{START}/gen_0", "GET, HEAD"),
        ("POST", f"{STUDIO}/models", "GET, HEAD"),
        ("GET", "/v1/scripts", "POST"),
        ("GET", f"{START}/gen_0/cancel", "POST"),
        ("POST", "/media/uploads/upl_0", "GET, HEAD, PUT"),
        ("POST", "/openapi.json", "GET, HEAD"),
    ],
)
def test_a_wrong_method_lists_the_allowed_ones(
    http: httpx.Client, method: str, path: str, allowed: str
) -> None:
    answer = http.request(method, path)

    problem(answer, 405, "method_not_allowed")
    assert answer.headers["Allow"] == allowed


@pytest.mark.parametrize(
    "path", ["/healthz", "/docs", "/v1/account", START, f"{STUDIO}/models/flat", "/nothing"]
)
def test_head_is_answered_as_get_without_a_body(http: httpx.Client, path: str) -> None:
    whole, head = http.get(path), http.head(path)

    assert (head.status_code, head.content) == (whole.status_code, b"")
    for name in ("Content-Length", "Content-Type", "ETag"):
        assert head.headers.get(name) == whole.headers.get(name)


def test_head_of_an_event_stream_does_not_wait_for_events(http: httpx.Client) -> None:
    path = http.post(START, json={"modelId": "flat", "prompt": "x"}).json()["statusUrl"]
    began = time.monotonic()
    head = http.head(f"{path}/events")

    assert head.status_code == 200
    assert head.headers["Content-Type"].startswith("text/event-stream")
    assert http.get("/v1/account").status_code == 200
    assert time.monotonic() - began < 1


def test_a_body_of_another_type_is_refused(http: httpx.Client) -> None:
    answer = http.post(START, content="modelId=flat", headers={"Content-Type": "text/plain"})

    assert "text/plain" in problem(answer, 415, "unsupported_media_type")["message"]


def test_an_empty_body_is_reported_as_such(http: httpx.Client) -> None:
    assert fields(http.post(START, content=b" ")) == {"": "the body is empty: send a JSON object"}


def test_a_compressed_body_is_refused(http: httpx.Client) -> None:
    content = gzip.compress(b'{"modelId": "flat", "prompt": "x"}')
    answer = http.post(START, content=content, headers={"Content-Encoding": "gzip"})

    assert "Content-Encoding" in problem(answer, 415, "unsupported_media_type")["message"]


def test_a_body_may_begin_with_a_byte_order_mark(http: httpx.Client) -> None:
    body = b'\xef\xbb\xbf{"modelId": "flat", "prompt": "x"}'

    assert http.post(START, content=body).status_code == 202


@pytest.mark.parametrize(
    ("query", "field", "sentence"),
    [
        ("limit=abc", "limit", "must be a whole number"),
        ("limit=", "limit", "must be a whole number"),
        (f"limit={'9' * 5000}", "limit", "must be a smaller number"),
        ("createdAfter=5", "createdAfter", "must be a time such as 2026-03-01T12:00:00Z"),
        # the plus sign stands for a blank
        ("createdAfter=2026-01-01T00:00:00+02:00", "createdAfter", "must be a time such as"),
        ("createdBefore=2026-13-01", "createdBefore", "must be a time such as"),
        ("status=completed&status=failed", "status", "may be given only once"),
        ("x=1&x=2&assetType=image&limit=1&assetType=image", "assetType", "may be given only once"),
        ("stauts=failed", "stauts", "unknown field; did you mean 'status'?"),
        ("limit=1&created_after=2026-01-01", "created_after", "unknown field; did you mean 'crea"),
    ],
)
def test_a_wrong_query_names_the_field_and_what_is_right(
    http: httpx.Client, query: str, field: str, sentence: str
) -> None:
    assert fields(http.get(f"{START}?{query}"))[field].startswith(sentence)


@pytest.mark.parametrize("query", ["_=7", "X-Amz-Expires=1&X-Amz-Signature=a", "tag.models=a"])
def test_a_name_in_a_query_that_resembles_none_is_ignored(http: httpx.Client, query: str) -> None:
    assert http.get(f"{START}?{query}").status_code == 200


def test_a_body_that_is_too_large_is_refused(http: httpx.Client) -> None:
    answer = http.post(START, json={"modelId": "flat", "prompt": "x" * 1_000_001})

    problem(answer, 413, "payload_too_large")


@pytest.mark.parametrize(
    "content", ["", "{", "[1]", "null", "3", '"x"', '{"modelId": "\\ud800"}', b"\xff"]
)
def test_a_body_that_is_not_an_object_is_refused(http: httpx.Client, content: str) -> None:
    answer = http.post(START, content=content, headers={"Content-Type": "application/json"})

    assert "body" in str(fields(answer)) or "must be an object" in str(fields(answer))


@pytest.mark.parametrize(
    ("body", "field", "sentence"),
    [
        ({"prompt": "x"}, "modelId", "is required"),
        ({"modelId": 3}, "modelId", "must be text"),
        ({"modelId": "flat", "promt": "x"}, "promt", "did you mean 'prompt'"),
        ({"modelId": "flat", "promt": None}, "promt", "did you mean 'prompt'"),
        ({"modelId": "flat", "model_id": "flat"}, "model_id", "did you mean 'modelId'"),
        ({"modelId": "flat", "parameters": []}, "parameters", "must be an object"),
        ({"modelId": "flat", "prompt": 7}, "prompt", "must be text"),
    ],
)
def test_a_wrong_shape_names_the_field(
    http: httpx.Client, body: dict[str, Any], field: str, sentence: str
) -> None:
    assert sentence in fields(http.post(START, json=body))[field]


def test_a_nul_character_is_refused_but_not_its_escaped_text(http: httpx.Client) -> None:
    answers = [
        http.post(START, json={"modelId": "flat", "prompt": f"{text}u0000"})
        for text in ("\\", "\\\\")
    ]
    nul = http.post(START, json={"modelId": "flat", "prompt": "a\\\0b"})

    assert [answer.status_code for answer in answers] == [202, 202]
    assert fields(nul) == {"": r"the body has the character \u0000, which no text may have"}


def test_an_upload_id_that_is_not_text_names_its_parameter(http: httpx.Client) -> None:
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


def test_too_few_credits_names_required_and_available(service: Service) -> None:
    key = service.key(service.account(credits=0), *ALL_SCOPES)
    with service.client(key) as http:
        answer = http.post(START, json={"modelId": "flat", "prompt": "x"})

    error = problem(answer, 402, "insufficient_credits")
    assert error["details"] == {"required": 0.6, "available": 0}
    assert "0.6" in error["message"]


def test_rate_limited_answers_have_retry_after(start_service: Callable[..., Service]) -> None:
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


def test_checks_have_the_documented_order(start_service: Callable[..., Service]) -> None:
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
    "path",
    [
        *("/v1/creative-studio/models/flot", f"{START}/gen_0", f"{START}/x/cancel"),
        *(f"{START}/gen_%00/events", "/v1/webhooks/%00"),
    ],
)
def test_a_missing_resource_is_not_found(http: httpx.Client, path: str) -> None:
    problem(http.request("POST" if "cancel" in path else "GET", path), 404, "not_found")


ESTIMATE = f"{STUDIO}/estimates"
LONG = 4_001


def test_a_body_of_more_values_than_any_valid_one_is_refused_before_they_are_read(
    http: httpx.Client,
) -> None:
    body = {"modelId": "flat", "prompt": "x", "parameters": {"count": dict.fromkeys(range(70_000))}}

    assert fields(http.post(ESTIMATE, json=body)) == {"": "the body holds more than 60,000 values"}


def test_at_most_twenty_problems_are_listed_with_their_number(http: httpx.Client) -> None:
    unknown = {f"promt{number}": 1 for number in range(50_000)}
    answer = http.post(ESTIMATE, json={"modelId": "flat", "prompt": "x", **unknown})

    error = problem(answer, 400, "validation_error")
    assert len(error["details"]) == 20
    assert error["details"][0] == {"field": "promt0", "message": "unknown field"}
    assert "20 of 50,000 problems" in error["message"]
    assert len(answer.content) < 5_000


@pytest.mark.parametrize(
    ("number", "listed", "sentence"),
    [
        (20, 20, "did you mean 'strength'"),
        (21, 20, "these are 20 of 21 problems"),
        (201, 1, "holds 201 items, at most 200"),
        (50_000, 1, "holds 50,000 items"),
    ],
)
def test_a_similar_name_is_suggested_for_few_unknown_names(
    http: httpx.Client, number: int, listed: int, sentence: str
) -> None:
    unknown = {f"strenght{each}": 1 for each in range(number)}
    body = {"modelId": "flat", "prompt": "x", "parameters": unknown}
    error = problem(http.post(ESTIMATE, json=body), 400, "validation_error")

    assert len(error["details"]) == listed
    assert sentence in error["message"]
    assert ("did you mean" in error["message"]) == (number <= 20)


def test_no_similar_name_is_suggested_for_a_long_name(http: httpx.Client) -> None:
    body = {"modelId": "flat", "prompt": "x", "strength" * 13: 1}
    error = problem(http.post(START, json=body), 400, "validation_error")

    assert "did you mean" not in error["message"]


def test_long_values_of_a_request_are_shortened_in_errors(http: httpx.Client) -> None:
    body = {"modelId": "flat", "prompt": "x", "n" * 100_000: 1, "parameters": {"size": "b" * 9_999}}
    answer = http.post(START, json=body)

    assert len(answer.content) < 1_500
    assert http.get(f"{START}/{'g' * 9_000}").status_code == 404
    assert len(http.get(f"{START}/{'g' * 9_000}").content) < 300


def make_nested(depth: int) -> Any:
    return [make_nested(depth - 1)] if depth else []


@pytest.mark.parametrize("path", [START, ESTIMATE])
@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"size": "x" * LONG}, "must be one of 'small', 'big'"),
        ({"size": [1] * 201}, "must be text, not a list"),
        ({"size": {"a": make_nested(20)}}, "must be text, not an object"),
        ({f"n{each}": 1 for each in range(201)}, "holds 201 items, at most 200 are allowed"),
    ],
)
def test_parameters_have_limits(
    http: httpx.Client, path: str, parameters: dict[str, Any], sentence: str
) -> None:
    answer = http.post(path, json={"modelId": "flat", "prompt": "x", "parameters": parameters})

    assert sentence in problem(answer, 400, "validation_error")["message"]


@pytest.mark.parametrize("path", [START, ESTIMATE])
def test_a_text_has_at_most_4000_characters_or_its_own_limit(http: httpx.Client, path: str) -> None:
    card = {"modelId": "title-card", "prompt": "x", "parameters": {"subtitle": "x" * LONG}}

    assert fields(http.post(path, json=card)) == {
        "parameters.subtitle": "has 4,001 characters, at most 4,000 are allowed"
    }
    models = {model["id"]: model for model in http.get(f"{STUDIO}/models").json()["video"]}
    settings = {p["name"]: p for p in models["video-edit"]["settingParameters"]}
    most = settings["captions"]["maxLength"]
    assert most > LONG
    assert settings["caption_style"]["maxLength"] is None
    for length, refused in ((most, False), (most + 1, True)):
        parameters = {"captions": "x" * length}
        found = fields(http.post(path, json={"modelId": "video-edit", "parameters": parameters}))
        assert ("parameters.captions" in found) == refused


def test_all_parameters_together_have_at_most_64_kb(http: httpx.Client) -> None:
    found = []
    for size in (65_521, 65_522):
        captions = "\u20ac" * (size // 3) + "x" * (size % 3)  # three bytes each
        body = {"modelId": "video-edit", "parameters": {"captions": captions}}
        found.append(fields(http.post(ESTIMATE, json=body)).get("parameters"))

    assert found == [None, "has 65,537 bytes as JSON, at most 65,536 are allowed"]


def test_an_unknown_medium_is_reported_before_an_unknown_upload(http: httpx.Client) -> None:
    upload = "upl_00000000000000000000000000"
    body = {"modelId": "clay", "mediaUploads": {"portrat": upload}}

    assert "did you mean 'portrait'" in fields(http.post(START, json=body))["mediaUploads.portrat"]
    body["mediaUploads"] = {"portrait": [upload] * 3}
    assert "at most 2" in fields(http.post(START, json=body))["mediaUploads.portrait"]
    body["mediaUploads"] = {"portrait": [upload] * 2}
    problem(http.post(START, json=body), 404, "not_found")


def test_limits_apply_to_a_key_with_the_read_scope(service: Service, account: str) -> None:
    body = {"modelId": "title-card", "prompt": "x" * LONG}
    with service.client(service.key(account)) as http:
        assert "4,001 characters" in fields(http.post(ESTIMATE, json=body))["prompt"]
        problem(http.post(START, json=body), 403, "insufficient_scope")


def test_a_query_has_at_most_a_hundred_fields(http: httpx.Client) -> None:
    assert http.get(f"{START}?{'&'.join('a' * 100)}").status_code == 200
    problem(http.get(f"{START}?{'&'.join('a' * 101)}"), 400, "validation_error")
