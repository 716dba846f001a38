"""Operation 7 and the usage list: order, pages, filters."""

from typing import Any

import httpx
import pytest

from tests.conftest import Service
from tests.waiting import GENERATIONS, generate, wait_for_end


def read_ids(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [item["id"] for item in answer.json()]


def test_lists_have_the_newest_first(http: httpx.Client) -> None:
    ids = [generate(http) for _ in range(3)]

    assert read_ids(http.get(GENERATIONS)) == ids[::-1]


def test_pages_are_stable_while_generations_are_added(http: httpx.Client) -> None:
    ids = [generate(http) for _ in range(5)]
    page = http.get(GENERATIONS, params={"limit": 2})
    found_ids = read_ids(page)
    while "next" in page.links:
        generate(http)
        page = http.get(page.links["next"]["url"])
        found_ids += read_ids(page)

    assert found_ids == ids[::-1]


def test_the_last_page_has_no_next_link(http: httpx.Client) -> None:
    for _ in range(2):
        generate(http)

    assert "Link" not in http.get(GENERATIONS, params={"limit": 2}).headers
    assert "Link" in http.get(GENERATIONS, params={"limit": 1}).headers


def test_the_next_link_keeps_the_filters(http: httpx.Client) -> None:
    for _ in range(2):
        generate(http)
    query = {"limit": 1, "modelId": "flat", "assetType": "image"}
    link = http.get(GENERATIONS, params=query).links["next"]["url"]

    assert dict(httpx.URL(link).params).items() >= {k: str(v) for k, v in query.items()}.items()


@pytest.mark.parametrize("path", [GENERATIONS, "/v1/usage"])
@pytest.mark.parametrize("limit", ["0", "1001", "-1", "x"])
def test_a_limit_outside_1_to_1000_is_refused(http: httpx.Client, path: str, limit: str) -> None:
    answer = http.get(path, params={"limit": limit})

    assert answer.status_code == 400
    assert answer.json()["error"]["details"][0]["field"] == "limit"


@pytest.mark.parametrize("path", [GENERATIONS, "/v1/usage"])
@pytest.mark.parametrize("limit", ["1", "1000"])
def test_limits_of_1_and_1000_are_accepted(http: httpx.Client, path: str, limit: str) -> None:
    assert http.get(path, params={"limit": limit}).status_code == 200


@pytest.mark.parametrize(
    "query",
    [
        {"status": "done"},
        {"assetType": "sound"},
        {"createdAfter": "yesterday"},
        {"cursor": "nonsense"},
        {"createdBefore": "0.5"},
        {"createdAfter": "1700000000"},
        {"cursor": "led_01M7WE1QTV9ZZ33207MNHBNYYS"},
    ],
)
def test_an_invalid_filter_names_the_field(http: httpx.Client, query: dict[str, str]) -> None:
    answer = http.get(GENERATIONS, params=query)

    assert answer.status_code == 400
    assert [d["field"] for d in answer.json()["error"]["details"]] == list(query)


def test_every_filter_returns_matching_generations(http: httpx.Client) -> None:
    good, bad = generate(http), generate(http, does="fails")
    wait_for_end(http, good)
    instant = wait_for_end(http, bad)["createdAt"]

    def find(**query: str) -> list[str]:
        return read_ids(http.get(GENERATIONS, params=query))

    assert find(status="completed") == [good]
    assert find(status="failed") == [bad]
    assert find(status="processing") == find(status="canceled") == []
    assert find(modelId="flat", assetType="image") == [bad, good]
    assert find(modelId="clay") == find(assetType="video") == []
    assert find(createdAfter=instant)[:1] == [bad]
    assert bad not in find(createdBefore=instant)
    assert find(createdAfter="2999-01-01T00:00:00Z") == []
    assert find(createdBefore="2999-01-01T00:00:00Z") == [bad, good]
    # A time without a zone is UTC, whatever the zone of the service.
    assert find(createdAfter=instant.removesuffix("Z")) == find(createdAfter=instant)
    assert find(createdBefore="0001-01-01T00:00:00") == []


def test_status_processing_includes_queued_and_running(http: httpx.Client) -> None:
    hanging, waiting = generate(http, does="hangs"), generate(http)
    found = read_ids(http.get(GENERATIONS, params={"status": "processing"}))
    http.post(f"{GENERATIONS}/{hanging}/cancel")

    assert found == [waiting, hanging]


def test_the_ledger_has_pages_and_adds_up(http: httpx.Client, service: Service) -> None:
    for does in ("works", "fails"):
        wait_for_end(http, generate(http, does=does))
    entries: list[dict[str, Any]] = []
    page = http.get("/v1/usage", params={"limit": 1})
    entries += page.json()
    while "next" in page.links:
        page = http.get(page.links["next"]["url"])
        entries += page.json()

    assert [e["kind"] for e in entries] == ["refund", "generation", "generation", "grant"]
    assert set(entries[0]) == {
        "id",
        "createdAt",
        "kind",
        "credits",
        "balanceAfter",
        "generationId",
        "modelId",
        "keyPrefix",
        "details",
        "tags",
    }
    assert round(sum(e["credits"] for e in entries), 3) == entries[0]["balanceAfter"] == 99.4
    assert entries[1]["keyPrefix"].startswith("cs_live_")
    assert entries[0]["modelId"] == "flat"
