from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import wire
from kit.errors import ApiError
from kit.explore import pages
from kit.explore.arrow import GENERATIONS
from tests.explore.fake_service import read_page


def row(**fields: Any) -> dict[str, Any]:
    found = read_page(json.dumps([{"id": "a", **fields}]).encode())
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
        ("20260102T030405Z", "2026-01-02T03:04:05+00:00"),
        ("20260102T050405+0200", "2026-01-02T03:04:05+00:00"),
        (1767323045, "2026-01-02T03:04:05+00:00"),
    ],
)
def test_times_of_other_services_are_read_as_utc(moment: Any, expected: str) -> None:
    assert row(createdAt=moment)["created_at"].isoformat() == expected
    wired = wire.Generation.model_validate({"id": "a", "createdAt": moment}).created_at
    assert wired is not None
    assert wired.isoformat() == expected


@given(
    status=st.sampled_from(["Succeeded", "cancelled", "queued", "odd", "", None]),
    url=st.sampled_from([None, "https://a.test/x"]),
    error=st.sampled_from([None, "it broke", {"message": "it broke"}]),
)
def test_statuses_and_errors_equal_those_of_the_wire(status: Any, url: Any, error: Any) -> None:
    fields = {"status": status, "outputUrl": url, "error": error}
    expected = wire.Generation.model_validate({"id": "a", **fields})
    found = row(**fields)

    assert found["status"] == expected.state
    assert found["error"] == expected.error


@pytest.mark.parametrize("parameters", [{"a": 'x\n"},{"', "b": [1, {"c": None}]}, {}, None])
@pytest.mark.parametrize("indent", [None, 2])
def test_parameters_are_kept_unchanged(parameters: Any, indent: int | None) -> None:
    body = [{"id": "a", "parameters": parameters}, {"id": "b", "parameters": {"z": 1}}]
    found = read_page(json.dumps(body, indent=indent).encode())["parameters"].to_pylist()

    assert (found[0] and json.loads(found[0])) == parameters or found[0] is parameters
    assert json.loads(found[1]) == {"z": 1}


@pytest.mark.parametrize("letters", [7, 3000])
def test_a_long_body_equals_many_short_ones(letters: int) -> None:
    items = [
        {"id": f"{n}", "prompt": "x" * (n % letters), "creditsCharged": n} for n in range(3000)
    ]
    parts = [json.dumps(items[at : at + 700]).encode() for at in range(0, 3000, 700)]
    expected = pa.concat_tables(map(read_page, parts))

    found = read_page(json.dumps(items).encode())
    assert found.combine_chunks().equals(expected.combine_chunks())
    assert expected["id"].to_pylist() == [item["id"] for item in items]


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"a": 1}', b"null", b'"x"'])
def test_a_body_that_is_not_a_list_is_reported(body: bytes) -> None:
    with pytest.raises(ApiError, match="the list of generations is not what"):
        read_page(body)


@pytest.mark.parametrize(
    ("media", "expected"),
    [
        ({"image": "https://a.test/x?sig=1"}, {"image": 1}),
        ({"image": 'malformed "quotes": [\\', "audio": "y"}, {"image": 1, "audio": 1}),
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
def test_media_are_counted_without_their_urls(media: Any, expected: Any) -> None:
    found = row(mediaUrls=media)["media"]

    assert (found and json.loads(found)) == expected


def test_media_are_counted_for_each_row() -> None:
    media = [{"image": "u"}, None, {"images": ["u", "v"]}, {}, {"video": "u,}"}, {"image": "w"}]
    spread = [{f"input{n}": "u"} for n in range(9)]
    items = [{"id": f"{n}", "mediaUrls": value} for n, value in enumerate([*media, *spread])]

    body = json.dumps(items, separators=(",", ":")).encode()
    found = read_page(body)["media"].to_pylist()

    expected = [{"image": 1}, None, {"images": 2}, None, {"video": 1}, {"image": 1}]
    expected += [{f"input{n}": 1} for n in range(9)]
    assert [text and json.loads(text) for text in found] == expected


def test_unknown_statuses_and_types_are_read_like_others() -> None:
    item = {"id": "a", "status": "completed", "modelId": "m", "assetType": "image", "prompt": "x"}
    item |= {"createdAt": "2026-01-02T03:04:05Z", "updatedAt": "2026-01-02T03:04:09Z"}
    own = read_page(json.dumps([item]).encode())

    assert read_page(json.dumps([{**item, "status": "Succeeded"}]).encode()).equals(own)
    assert row(**{**item, "assetType": "hologram"})["asset_type"] == "hologram"
    assert row(**{**item, "generationType": "text-to-smell"})["generation_type"] == "text-to-smell"


# ── malformed values ──────────────────────────────────────────────────────────────────────────────

FINE = {
    "id": "fine",
    "status": "completed",
    "prompt": "a lake",
    "creditsCharged": 0.5,
    "createdAt": "2026-01-02T03:04:05Z",
    "output": {"width": 64, "height": 32},
}


def read_warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]


def read_with_valid(item: Any) -> list[dict[str, Any]]:
    body = item if isinstance(item, bytes) else json.dumps(item).encode()
    found = read_page(b"[" + body + b"," + json.dumps(FINE).encode() + b"]")
    assert found.schema == GENERATIONS
    found.validate(full=True)
    rows: list[dict[str, Any]] = found.to_pylist()
    assert rows[-1]["id"] == "fine"
    assert rows[-1]["credits"] == 0.5
    assert rows[-1]["width"] == 64
    return rows


@pytest.mark.parametrize(
    ("fields", "column", "value"),
    [
        ({"creditsCharged": " 0.25 "}, "credits", 0.25),
        ({"creditsCharged": "0.5", "creditsRefunded": 0.25}, "net", 0.25),
        ({"creditsCharged": 2.651, "creditsRefunded": 1.325}, "net", 1.326),
        ({"creditsCharged": ""}, "credits", None),
        ({"output": {"width": 512.0}}, "width", 512),
        ({"output": {"width": "512"}}, "width", 512),
        ({"output": {"durationSeconds": "5.5"}}, "duration_seconds", 5.5),
        ({"output": []}, "width", None),
        ({"createdAt": ""}, "created_at", None),
        ({"status": 3}, "status", "processing"),
        ({"status": "thinking hard"}, "status", "processing"),
        ({"parameters": None}, "parameters", None),
        ({"mediaUrls": []}, "media", None),
        ({"error": ["dark", {"message": "cold"}]}, "error", "dark; cold"),
        ({"error": 7, "status": "failed"}, "error", "7"),
        ({"modelId": 7}, "model_id", "7"),
        ({"vendor": {"x": [1]}, "modelId": None}, "model_id", None),
    ],
)
def test_a_value_with_an_unambiguous_meaning_is_read(
    fields: dict[str, Any], column: str, value: Any, caplog: pytest.LogCaptureFixture
) -> None:
    assert read_with_valid({"id": "a", **fields})[0][column] == value
    assert read_warnings(caplog) == []


@pytest.mark.parametrize(
    ("fields", "column", "field"),
    [
        ({"creditsCharged": "about a half"}, "credits", "creditsCharged"),
        ({"creditsCharged": "nan"}, "credits", "creditsCharged"),
        ({"creditsCharged": 1e300}, "credits", "creditsCharged"),
        ({"creditsCharged": -1e12}, "credits", "creditsCharged"),
        ({"creditsRefunded": {"amount": 1}}, "credits_refunded", "creditsRefunded"),
        ({"createdAt": "yesterday"}, "created_at", "createdAt"),
        ({"createdAt": True}, "created_at", "createdAt"),
        ({"createdAt": "0000-00-00T00:00:00Z"}, "created_at", "createdAt"),
        ({"startedAt": "soon"}, "render_seconds", "startedAt"),
        ({"completedAt": "soon", "status": "done"}, "completed_at", "completedAt"),
        ({"output": {"width": 512.5}}, "width", "output.width"),
        ({"output": {"width": 2**63}}, "width", "output.width"),
        ({"output": {"sizeBytes": 2**80}}, "size_bytes", "output.sizeBytes"),
        ({"output": "a picture"}, "width", "output"),
        ({"prompt": ["a", "b"]}, "prompt", "prompt"),
        ({"parameters": [1, 2], "modelId": {}}, "parameters", "parameters"),
    ],
)
def test_a_malformed_value_is_missing_and_reported(
    fields: dict[str, Any], column: str, field: str, caplog: pytest.LogCaptureFixture
) -> None:
    found = read_with_valid({"id": "a", **fields})

    assert found[0]["id"] == "a"
    assert found[0][column] is None
    [sentence] = read_warnings(caplog)
    assert f"{field} (1)" in sentence


@pytest.mark.parametrize(
    ("body", "prompt"),
    [
        (b'{"id": "a", "prompt": "cut \\ud83d"}', "cut ?"),
        (b'{"id": "a", "prompt": "caf\xe9"}', "caf\ufffd"),
        (b'{"id": "a", "prompt": "b", "parameters": {"x": "\xe9"}}', "b"),
        (b'{"id": "a", "prompt": "b", "parameters": {"x": "\\ud83d"}}', "b"),
        (b'{"id": "a", "prompt": "b", "progress": NaN}', "b"),
        (b'{"id": "a", "prompt": "b", "creditsCharged": 1e999}', "b"),
    ],
)
def test_invalid_text_does_not_break_the_page(body: bytes, prompt: str) -> None:
    assert read_with_valid(body)[0]["prompt"] == prompt


@pytest.mark.parametrize("item", [None, 1, "x", [], {}, {"id": None}, {"id": "a", "status": []}])
def test_an_invalid_record_is_omitted_and_counted(
    item: Any, caplog: pytest.LogCaptureFixture
) -> None:
    assert len(read_with_valid(item)) == 1
    [sentence] = read_warnings(caplog)
    assert "left out (1)" in sentence


@pytest.mark.parametrize(
    "time", ["0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z"]
)
def test_a_placeholder_time_is_missing(time: str) -> None:
    row = read_with_valid({"id": "a", "status": "done", "createdAt": time, "completedAt": time})[0]

    assert (row["created_at"], row["completed_at"], row["seconds"]) == (None, None, None)


def test_one_warning_names_all_malformed_values(caplog: pytest.LogCaptureFixture) -> None:
    malformed = [{"id": f"{n}", "createdAt": "soon", "creditsCharged": "x"} for n in range(3)]
    counted = pages.MalformedValues()
    for page, rows in ((malformed, 3), ([*malformed[:1], None], 1), ([FINE], 1)):
        assert pages.read_table(json.dumps(page).encode(), counted).num_rows == rows

    counted.warn()
    [sentence] = read_warnings(caplog)
    assert sentence == (
        "malformed answers of the service: generations without an id or a status are left out (1); "
        "implausible values are left out of the history: createdAt (4), creditsCharged (4)"
    )


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


def fields(model: type[wire.WireShape]) -> list[str]:
    return [str(field.alias) for field in model.model_fields.values()]


_ITEM = st.dictionaries(
    st.sampled_from([*fields(wire.Generation), "vendor"]),
    _ANY | st.dictionaries(st.sampled_from(fields(wire.Output)), _ANY),
)


@given(items=st.lists(_ITEM | _ANY, max_size=3))
def test_no_record_breaks_a_page(items: list[Any]) -> None:
    found = read_page(json.dumps([*items, FINE]).encode())

    found.validate(full=True)
    assert found["id"].to_pylist()[-1] == "fine"
    assert found["credits"].to_pylist()[-1] == 0.5
