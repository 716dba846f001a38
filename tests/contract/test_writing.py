"""Operations 8 and 9: titles and scripts, their rules and prices."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from kit.wire import TOPICS
from tests.conftest import ALL_SCOPES, Service
from tests.waiting import balance

TITLE, SCRIPTS = "/v1/scripts/title", "/v1/scripts"
BRIEF = {"topic": "SPACE", "title": "Ten facts", "duration": "30"}


def test_a_title_costs_0_05_credits(http: httpx.Client) -> None:
    assert http.post(TITLE, json={"topic": "INTERESTING_FACTS"}).status_code == 200
    assert balance(http) == 99.95


def test_each_variation_of_a_script_costs_0_15_credits(http: httpx.Client) -> None:
    http.post(SCRIPTS, json=BRIEF)
    assert balance(http) == 99.85
    http.post(SCRIPTS, json={**BRIEF, "variations": "2"})
    assert balance(http) == 99.55


def test_two_variations_share_a_batch_and_differ(http: httpx.Client) -> None:
    first, second = http.post(SCRIPTS, json={**BRIEF, "variations": "2"}).json()

    assert first["batchId"] == second["batchId"]
    assert first["id"] != second["id"]
    assert first["content"] != second["content"]


def test_with_a_seed_equal_orders_get_equal_texts(
    start_service: Callable[..., Service], tmp_path: Path
) -> None:
    texts = []
    for name in "ab":
        service = start_service(data=tmp_path / name, writer_seed=7)
        with service.client(service.key(service.account(), *ALL_SCOPES)) as http:
            titles = [http.post(TITLE, json={"topic": "SPACE"}).json()["title"] for _ in range(3)]
            texts.append((*titles, http.post(SCRIPTS, json=BRIEF).json()[0]["content"]))

    assert texts[0] == texts[1]
    assert len(set(texts[0])) == 4


def test_a_script_has_metrics_and_about_the_requested_length(http: httpx.Client) -> None:
    [script] = http.post(SCRIPTS, json=BRIEF).json()

    assert set(script["metrics"]) == {"duration", "wordCount"}
    assert 27 <= int(script["metrics"]["duration"]) <= 33
    assert script["metrics"]["wordCount"] > 20
    assert script["title"] == BRIEF["title"]


def test_every_documented_option_is_accepted(http: httpx.Client) -> None:
    options = {"hookAngle": "odd", "useHook": True, "useCTA": True, "useRagebait": True}

    assert http.post(SCRIPTS, json={**BRIEF, **options}).status_code == 201


@pytest.mark.parametrize("topic", TOPICS)
def test_every_topic_has_titles(http: httpx.Client, topic: str) -> None:
    answer = http.post(TITLE, json={"topic": topic})

    assert answer.status_code == 200
    assert answer.json()["title"]


@pytest.mark.parametrize(
    ("change", "field", "sentence"),
    [
        ({"topic": "SPACES"}, "topic", "did you mean 'SPACE'"),
        ({"title": "  "}, "title", "1 to 200"),
        ({"title": "x" * 201}, "title", "1 to 200"),
        ({"hookAngle": "x" * 301}, "hookAngle", "at most 300"),
        ({"duration": "9"}, "duration", "from 10 to 180, not"),
        ({"duration": "181"}, "duration", "from 10 to 180, not"),
        ({"duration": "020"}, "duration", "whole seconds"),
        ({"duration": "12.5"}, "duration", "whole seconds"),
        ({"duration": "1" * 5000}, "duration", "whole seconds"),
        ({"duration": 30}, "duration", "must be text"),
        ({"variations": "3"}, "variations", "'1' or '2'"),
        ({"variations": 2}, "variations", "must be text"),
        ({"useCta": True}, "useCta", "did you mean 'useCTA'"),
        ({"useHook": "yes"}, "useHook", "true or false"),
    ],
)
def test_a_wrong_brief_names_the_field(
    http: httpx.Client, change: dict[str, Any], field: str, sentence: str
) -> None:
    answer = http.post(SCRIPTS, json={**BRIEF, **change})

    assert answer.status_code == 400, answer.text
    messages = {d["field"]: d["message"] for d in answer.json()["error"]["details"]}
    assert sentence in messages[field]
    assert balance(http) == 100


@pytest.mark.parametrize("missing", BRIEF)
def test_a_missing_required_field_is_reported(http: httpx.Client, missing: str) -> None:
    body = {name: value for name, value in BRIEF.items() if name != missing}
    answer = http.post(SCRIPTS, json=body)

    assert answer.json()["error"]["details"] == [{"field": missing, "message": "is required"}]


@pytest.mark.parametrize(
    ("path", "body", "price"), [(TITLE, {"topic": "SPACE"}, 0.05), (SCRIPTS, BRIEF, 0.15)]
)
def test_title_and_script_need_credits(
    service: Service, path: str, body: dict[str, str], price: float
) -> None:
    with service.client(service.key(service.account(credits=0), *ALL_SCOPES)) as http:
        answer = http.post(path, json=body)

    assert answer.status_code == 402
    assert answer.json()["error"]["details"] == {"required": price, "available": 0}
    assert f"{price} credits required, 0 available" in answer.json()["error"]["message"]


def test_usage_lists_titles_and_scripts(http: httpx.Client) -> None:
    http.post(TITLE, json={"topic": "SPACE"})
    http.post(SCRIPTS, json={**BRIEF, "variations": "2"})
    scripts, title, grant = http.get("/v1/usage").json()

    assert [grant["kind"], title["kind"], scripts["kind"]] == ["grant", "title", "script"]
    assert (title["credits"], scripts["credits"]) == (-0.05, -0.3)
    assert scripts["details"] == {"variations": 2}
