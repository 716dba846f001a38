from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import wire
from kit.errors import ApiError
from kit.explore import batches
from kit.explore.arrow import GENERATIONS


def row(**fields: Any) -> dict[str, Any]:
    found = batches.table([json.dumps([{"id": "a", **fields}]).encode()])
    assert found.schema == GENERATIONS
    rows: list[dict[str, Any]] = found.to_pylist()
    return rows[0]


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05+00:00"),
        ("2026-01-02T03:04:05.123456Z", "2026-01-02T03:04:05.123456+00:00"),
        ("2026-01-02T03:04:05", "2026-01-02T03:04:05+00:00"),
        ("2026-01-02 05:04:05+02:00", "2026-01-02T03:04:05+00:00"),
        ("2026-01-02T03:04:05.123456789Z", "2026-01-02T03:04:05.123456+00:00"),
        (1767323045, "2026-01-02T03:04:05+00:00"),
    ],
)
def test_times_of_other_services_are_instants(moment: Any, expected: str) -> None:
    assert row(createdAt=moment)["created_at"].isoformat() == expected


def test_times_with_and_without_a_zone_go_together() -> None:
    body = [
        {"id": "a", "createdAt": "2026-01-02T03:04:05"},
        {"id": "b", "createdAt": "2026-01-02T03:04:05Z"},
    ]
    times = batches.table([json.dumps(body).encode()])["created_at"].to_pylist()

    assert times[0] == times[1]


@given(
    status=st.sampled_from(["Succeeded", "cancelled", "queued", "odd", "", None]),
    url=st.sampled_from([None, "https://a.test/x"]),
    error=st.sampled_from([None, "it broke", {"message": "it broke"}]),
)
def test_statuses_are_those_of_the_wire(status: Any, url: Any, error: Any) -> None:
    fields = {"status": status, "outputUrl": url, "error": error}
    expected = wire.Generation.model_validate({"id": "a", **fields})
    found = row(**fields)

    assert found["status"] == expected.state
    assert found["error"] == expected.error


def test_credits_written_as_text_are_numbers() -> None:
    assert row(creditsCharged="0.5", creditsRefunded=0.2)["net"] == pytest.approx(0.3)


@pytest.mark.parametrize("parameters", [{"a": 'x\n"},{"', "b": [1, {"c": None}]}, {}, None])
@pytest.mark.parametrize("indent", [None, 2])
def test_parameters_are_kept_as_they_came(parameters: Any, indent: int | None) -> None:
    body = [{"id": "a", "parameters": parameters}, {"id": "b", "parameters": {"z": 1}}]
    found = batches.table([json.dumps(body, indent=indent).encode()])["parameters"].to_pylist()

    assert (found[0] and json.loads(found[0])) == parameters or found[0] is parameters
    assert json.loads(found[1]) == {"z": 1}


def test_a_long_body_and_many_short_ones_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    items = [{"id": f"{n}", "prompt": "x" * (n % 7), "creditsCharged": n} for n in range(2500)]
    whole = json.dumps(items).encode()
    parts = [json.dumps(items[at : at + 700]).encode() for at in range(0, 2500, 700)]
    expected = batches.table(parts)
    at_once = batches.table([whole])
    monkeypatch.setattr(batches, "_LONG", 100)

    assert at_once.equals(expected)
    assert batches.table([whole]).equals(expected)
    assert expected["id"].to_pylist() == [item["id"] for item in items]


def test_fields_nobody_knows_are_ignored() -> None:
    assert row(vendor={"x": [1]}, modelId=None)["model_id"] is None


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"a": 1}', b'[{"status": "x"}]', b"[1]"])
def test_what_is_no_list_of_generations_is_a_sentence(body: bytes) -> None:
    with pytest.raises(ApiError, match="the list of generations is not what"):
        batches.table([body])


@pytest.mark.parametrize(
    ("media", "expected"),
    [
        ({"image": "https://a.test/x?sig=1"}, {"image": 1}),
        ({"image": 'odd "quotes": [\\', "audio": "y"}, {"image": 1, "audio": 1}),
        ({"images": ["x", "y,}", "z"], "mask": "m"}, {"images": 3, "mask": 1}),
        ({"x": None}, {"x": 1}),
        ({"x": None, "y": None}, {"x": 1, "y": 1}),
        ({"x": {"y": "z"}}, {"x": 1}),
        ({"x": float("1e308")}, {"x": 1}),
        (["https://a.test/x?sig=1"], None),
        ({}, None),
        (None, None),
    ],
)
def test_files_are_counted_and_their_addresses_left_out(media: Any, expected: Any) -> None:
    found = row(mediaUrls=media)["media"]

    assert (found and json.loads(found)) == expected


def test_rows_with_different_inputs_are_counted_each_for_itself() -> None:
    media = [{"image": "u"}, None, {"images": ["u", "v"]}, {}, {"video": "u,}"}, {"image": "w"}]
    spread = [{f"input{n}": "u"} for n in range(9)]
    items = [{"id": f"{n}", "mediaUrls": value} for n, value in enumerate([*media, *spread])]

    found = batches.table([json.dumps(items, separators=(",", ":")).encode()])["media"].to_pylist()

    expected = [{"image": 1}, None, {"images": 2}, None, {"video": 1}, {"image": 1}]
    expected += [{f"input{n}": 1} for n in range(9)]
    assert [text and json.loads(text) for text in found] == expected


def test_a_page_of_foreign_words_has_the_same_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    item = {"id": "a", "status": "completed", "modelId": "m", "assetType": "image", "prompt": "x"}
    item |= {"createdAt": "2026-01-02T03:04:05Z", "updatedAt": "2026-01-02T03:04:09Z"}
    own = batches.table([json.dumps([item]).encode()])
    # the wire models are the slow way, which other words alone are no reason for
    monkeypatch.setattr(batches, "_forgiven", None)

    assert batches.table([json.dumps([{**item, "status": "Succeeded"}]).encode()]).equals(own)
    assert row(**{**item, "assetType": "hologram"})["asset_type"] == "hologram"
    assert row(**{**item, "generationType": "text-to-smell"})["generation_type"] == "text-to-smell"
