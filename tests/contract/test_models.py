"""Operations 2 and 3: groups, filters, prices, ETag."""

from typing import Any

import httpx
import pytest

from kit.wire import CATEGORIES

MODELS = "/v1/creative-studio/models"


def list_ids(http: httpx.Client, **query: str) -> dict[str, list[str]]:
    answer = http.get(MODELS, params=query)
    assert answer.status_code == 200, answer.text
    groups: dict[str, list[Any]] = answer.json()
    return {kind: [model["id"] for model in models] for kind, models in groups.items()}


def test_a_list_always_has_both_groups(http: httpx.Client) -> None:
    everything = list_ids(http)

    assert list_ids(http, assetType="image") == {**everything, "video": []}
    assert list_ids(http, assetType="video") == {**everything, "image": []}
    assert "flat" in everything["image"]
    assert "drift" in everything["video"]


def test_type_is_the_same_as_asset_type(http: httpx.Client) -> None:
    assert list_ids(http, type="video") == list_ids(http, assetType="video")
    assert list_ids(http, type="video", assetType="video") == list_ids(http, assetType="video")


def test_a_category_filters_models(http: httpx.Client) -> None:
    found = list_ids(http, category="Lip syncing")
    assert found["image"] == []
    assert {"lip-sync"} == {*found["video"]} < {*list_ids(http)["video"]}
    assert list_ids(http, category="All") == list_ids(http)
    assert "flat" in list_ids(http, category="Low Cost", assetType="image")["image"]


@pytest.mark.parametrize("kind", ["image", "video"])
def test_every_valid_category_is_accepted(http: httpx.Client, kind: str) -> None:
    for category in CATEGORIES[kind]:
        list_ids(http, assetType=kind, category=category)


@pytest.mark.parametrize(
    ("query", "field", "sentence"),
    [
        ({"assetType": "image", "type": "video"}, "type", "give one of them"),
        ({"assetType": "sound"}, "assetType", "'image' or 'video'"),
        ({"type": "sound"}, "type", "'image' or 'video'"),
        ({"category": "Nothing"}, "category", "Lip syncing"),
        ({"assetType": "image", "category": "Lip syncing"}, "category", "Generation"),
        ({"assetType": "video", "category": "Generation"}, "category", "Video Generation"),
    ],
)
def test_an_invalid_filter_lists_the_valid_values(
    http: httpx.Client, query: dict[str, str], field: str, sentence: str
) -> None:
    answer = http.get(MODELS, params=query)

    assert answer.status_code == 400
    [detail] = answer.json()["error"]["details"]
    assert detail["field"] == field
    assert sentence in detail["message"]


def test_an_unknown_model_is_reported_with_a_suggestion(http: httpx.Client) -> None:
    answer = http.get(f"{MODELS}/flatt")

    assert answer.status_code == 404
    assert "did you mean 'flat'" in answer.json()["error"]["message"]


@pytest.mark.parametrize("path", [MODELS, f"{MODELS}/clay"])
def test_unchanged_models_are_answered_with_304(http: httpx.Client, path: str) -> None:
    tag = http.get(path).headers["ETag"]
    again = http.get(path, headers={"If-None-Match": tag})

    assert again.status_code == 304
    assert again.content == b""
    assert http.get(path, headers={"If-None-Match": '"other"'}).status_code == 200


def test_prices_of_a_model_follow_from_its_pricing_rule(http: httpx.Client) -> None:
    model = http.get(f"{MODELS}/clay").json()

    assert (model["creditsFrom"], model["creditsAtDefaults"]) == (0.2, 0.2)
    assert model["pricing"]["units"] == [{"parameter": None, "medium": "voice", "credits": 0.01}]
