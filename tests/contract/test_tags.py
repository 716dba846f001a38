"""Tags of a generation: in its fields, in the ledger and as a filter."""

from typing import Any

import httpx
import pytest

from tests.conftest import ALL_SCOPES, Service
from tests.waiting import GENERATIONS, generate, read, wait_for_end

WINTER = {"campaign": "winter", "team": "print"}


def list_ids(http: httpx.Client, **query: Any) -> list[str]:
    found: list[str] = []
    page = http.get(GENERATIONS, params=query)
    while True:
        assert page.status_code == 200, page.text
        found += [item["id"] for item in page.json()]
        if "next" not in page.links:
            return found
        page = http.get(page.links["next"]["url"])


def test_a_generation_and_its_ledger_entries_have_its_tags(http: httpx.Client) -> None:
    tagged = generate(http, does="fails", tags=WINTER)
    plain = generate(http)
    wait_for_end(http, tagged)

    assert (read(http, tagged)["tags"], read(http, plain)["tags"]) == (WINTER, {})
    entries = http.get("/v1/usage").json()
    assert {e["kind"]: e["tags"] for e in entries if e["generationId"] == tagged} == {
        "generation": WINTER,
        "refund": WINTER,
    }
    assert [e["tags"] for e in entries if e["generationId"] == plain] == [{}]


def test_a_tag_filters_every_page_of_a_list(http: httpx.Client) -> None:
    ids = [generate(http, tags=WINTER if i % 2 else {"campaign": "summer"}) for i in range(6)]
    instant = read(http, ids[0])["createdAt"]

    for limit in (1, 2, 50):
        assert list_ids(http, **{"tag.campaign": "winter", "limit": limit}) == ids[5::-2]
    assert list_ids(http, **{"tag.team": "print", "createdAfter": instant}) == ids[5::-2]
    assert list_ids(http, **{"tag.campaign": "winter", "createdBefore": instant}) == []
    assert list_ids(http, **{"tag.campaign": "spring"}) == []


@pytest.mark.parametrize(
    "value",
    [
        "\u06a9\u062a\u0627\u0628\u200c\u0647\u0627",
        "\U0001f468\u200d\U0001f469",
        "\u51ac\u3000",
        "a\xa0b",
    ],
)
def test_a_tag_may_have_joiners_of_scripts_and_emoji(http: httpx.Client, value: str) -> None:
    tagged = generate(http, tags={"campaign": value})

    assert read(http, tagged)["tags"] == {"campaign": value}
    assert list_ids(http, **{"tag.campaign": value}) == [tagged]


def test_a_tag_of_another_account_is_not_found(http: httpx.Client, service: Service) -> None:
    generate(http, tags=WINTER)

    with service.client(service.key(service.account(), *ALL_SCOPES)) as other:
        assert list_ids(other, **{"tag.campaign": "winter"}) == []


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        ({"Campaign": "x"}, "Campaign is not a key: a-z first"),
        ({"c" * 65: "x"}, "is not a key"),
        ({"campaign": ""}, "campaign must have 1 to 64 characters"),
        ({"campaign": "x" * 65}, "1 to 64 characters"),
        ({"campaign": "a\x01b"}, "1 to 64 characters"),
        ({f"k{i}": "x" for i in range(11)}, "holds 11 items, at most 10"),
        ({"campaign": 7}, "must be text"),
        ("winter", "must be an object"),
    ],
)
def test_an_invalid_tag_is_reported_and_nothing_is_charged(
    http: httpx.Client, tags: Any, message: str
) -> None:
    body = {"modelId": "flat", "prompt": "a lake", "tags": tags}
    answer = http.post(GENERATIONS, json=body)

    assert answer.status_code == 400
    assert message in answer.json()["error"]["message"]
    assert http.get("/v1/account").json()["credits"] == 100


@pytest.mark.parametrize(
    "query",
    [
        {"tag.campaign": "winter", "status": "completed"},
        {"tag.campaign": "winter", "tag.team": "print"},
        {"tag.Campaign": "winter"},
        {"tag.campaign": ""},
    ],
)
def test_an_unsupported_tag_filter_names_the_field(
    http: httpx.Client, query: dict[str, str]
) -> None:
    answer = http.get(GENERATIONS, params=query)

    assert answer.status_code == 400
    assert answer.json()["error"]["details"][0]["field"] == next(iter(query))
