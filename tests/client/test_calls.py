from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kit import wire
from kit.client import calls

ORDER = wire.StartGeneration(model_id="m", prompt="p", parameters={"steps": 3})


@pytest.mark.parametrize(
    ("call", "method", "path"),
    [
        (calls.get_account(), "GET", "/v1/account"),
        (calls.list_models(), "GET", "/v1/creative-studio/models"),
        (calls.get_model("a/b"), "GET", "/v1/creative-studio/models/a%2Fb"),
        (calls.start_generation(ORDER), "POST", "/v1/creative-studio/generations"),
        (calls.estimate(ORDER), "POST", "/v1/creative-studio/estimates"),
        (calls.get_generation("../x"), "GET", "/v1/creative-studio/generations/..%2Fx"),
        (calls.get_generation(".."), "GET", "/v1/creative-studio/generations/%2E%2E"),
        (calls.get_model("\ud83d"), "GET", "/v1/creative-studio/models/%ED%A0%BD"),
        (calls.list_generations(), "GET", "/v1/creative-studio/generations"),
        (calls.cancel_generation("g"), "POST", "/v1/creative-studio/generations/g/cancel"),
        (calls.suggest_title("SPACE"), "POST", "/v1/scripts/title"),
        (calls.list_usage(), "GET", "/v1/usage"),
    ],
)
def test_each_operation_has_its_method_and_path(
    call: calls.Call[object], method: str, path: str
) -> None:
    assert (call.method, call.path) == (method, path)


def test_bodies_are_camel_case_without_unset_fields() -> None:
    assert calls.start_generation(ORDER).body == {
        "modelId": "m",
        "prompt": "p",
        "parameters": {"steps": 3},
    }


def test_flags_of_scripts_are_spelled_as_in_the_api_document() -> None:
    order = wire.WriteScripts(topic="SPACE", title="T", duration="30", use_cta=True)

    assert calls.write_scripts(order).body == {
        "topic": "SPACE",
        "title": "T",
        "duration": "30",
        "useHook": False,
        "useCTA": True,
        "useRagebait": False,
        "variations": "1",
    }


def test_only_given_filters_are_sent() -> None:
    since = datetime(2026, 1, 2, tzinfo=UTC)
    call = calls.list_generations(limit=5, model_id="m", status=None, created_after=since)

    assert call.query == {"limit": "5", "modelId": "m", "createdAfter": "2026-01-02T00:00:00.000Z"}


def test_each_post_has_its_own_idempotency_key() -> None:
    first, second = calls.start_generation(ORDER), calls.start_generation(ORDER)

    assert first.key != second.key
    assert calls.start_generation(ORDER, key="mine").key == "mine"


def test_a_status_url_replaces_the_path() -> None:
    assert calls.get_generation("g", status_url="https://a.test/s/g").path == "https://a.test/s/g"
