"""Idempotency keys: executed once, answered again."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.conftest import ALL_SCOPES, Service
from tests.waiting import GENERATIONS, balance, generate

ORDER = {"modelId": "flat", "prompt": "x"}
FILE = {"fileName": "a.png", "contentType": "image/png", "fileSizeBytes": 70, "modelId": "clay"}
BRIEF = {"topic": "SPACE", "title": "Ten facts", "duration": "20"}
POSTS = {
    GENERATIONS: ORDER,
    "/v1/creative-studio/media-uploads": FILE,
    "/v1/scripts/title": {"topic": "SPACE"},
    "/v1/scripts": BRIEF,
}


def post(http: httpx.Client, path: str, body: Any, key: str = "one") -> httpx.Response:
    return http.post(path, json=body, headers={"Idempotency-Key": key})


@pytest.mark.parametrize(("path", "body"), POSTS.items())
def test_a_repeated_request_is_replayed_and_charged_once(
    http: httpx.Client, path: str, body: dict[str, Any]
) -> None:
    first = post(http, path, body)
    left = balance(http)
    again = post(http, path, body)

    assert first.is_success
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first.headers
    assert again.headers.get("Location") == first.headers.get("Location")
    assert balance(http) == left


def test_a_repeated_cancel_is_replayed(http: httpx.Client) -> None:
    path = f"{GENERATIONS}/{generate(http, does='hangs')}/cancel"
    first, again = post(http, path, None), post(http, path, None)

    assert first.json()["status"] == "canceled"
    assert again.content == first.content
    assert again.headers["Idempotency-Replayed"] == "true"


@pytest.mark.parametrize(("path", "body"), POSTS.items())
def test_another_body_with_the_same_key_is_refused(
    http: httpx.Client, path: str, body: dict[str, Any]
) -> None:
    post(http, path, body)
    other = {
        name: f"{v}s" if name in ("prompt", "title", "fileName") else v for name, v in body.items()
    }
    if other == body:
        other = {"topic": "NATURE"}
    answer = post(http, path, other)

    assert answer.status_code == 422
    assert answer.json()["error"]["code"] == "idempotency_mismatch"


def test_another_operation_with_the_same_key_is_refused(http: httpx.Client) -> None:
    post(http, GENERATIONS, ORDER)

    assert post(http, "/v1/scripts/title", {"topic": "SPACE"}).status_code == 422


@pytest.mark.parametrize("label", ["", "a b", "\u00e9", "x" * 256, "tab\there"])
def test_an_idempotency_key_must_be_visible_ascii(http: httpx.Client, label: str) -> None:
    headers = {b"Idempotency-Key": label.encode()}
    answer = http.post(GENERATIONS, json=ORDER, headers=headers)

    assert answer.status_code == 400
    assert answer.json()["error"]["details"][0]["field"] == "Idempotency-Key"
    assert balance(http) == 100


@pytest.mark.parametrize("label", ["!", "~" * 255])
def test_the_shortest_and_the_longest_key_are_accepted(http: httpx.Client, label: str) -> None:
    assert post(http, GENERATIONS, ORDER, label).status_code == 202


@pytest.mark.parametrize(("path", "body"), POSTS.items())
def test_a_refusal_for_lack_of_credits_releases_the_key(
    service: Service, path: str, body: dict[str, Any]
) -> None:
    account = service.account(credits=0)
    with service.client(service.key(account, *ALL_SCOPES)) as http:
        assert post(http, path, body).status_code == 402
        service.grant(account, 10)
        answer = post(http, path, body)

    assert answer.is_success
    assert "Idempotency-Replayed" not in answer.headers


def test_keys_of_two_accounts_are_separate(service: Service, http: httpx.Client) -> None:
    first = post(http, GENERATIONS, ORDER)
    with service.client(service.key(service.account(), *ALL_SCOPES)) as other:
        second = post(other, GENERATIONS, ORDER)

    assert second.status_code == 202
    assert first.json()["id"] != second.json()["id"]


def test_a_replay_survives_a_restart(start_service: Callable[..., Service]) -> None:
    service = start_service()
    key = service.key(service.account(), *ALL_SCOPES)
    with service.client(key) as http:
        first = post(http, GENERATIONS, ORDER)
    service.stop()
    with start_service().client(key) as http:
        again = post(http, GENERATIONS, ORDER)

        assert again.content == first.content
        assert balance(http) == 99.4
