"""Responses of other services: a malformed field does not invalidate the whole response."""

from __future__ import annotations

import json
import logging
from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from kit import wire
from kit.client import calls
from kit.wire import Account, Generation, Model, Models, Parameter, Receipt, Rule, StartGeneration


def read(kind: type[wire.WireShape], **values: Any) -> Any:
    return kind.model_validate_json(json.dumps({"id": "x", **values}))


def test_half_a_character_at_the_end_of_a_text_is_replaced() -> None:
    content = b'{"id": "g1", "status": "succeeded", "prompt": "a cat \\ud83d", "progress": "soon"}'

    found = Generation.model_validate_json(content)

    assert (found.id, found.prompt, found.progress) == ("g1", "a cat ?", None)


@pytest.mark.parametrize("content", [b"{" + b'"a":[' * 100_000, b'{"id": "g1", "prompt": "a'])
def test_invalid_json_is_reported_as_such(content: bytes) -> None:
    with pytest.raises(ValidationError, match="Invalid JSON"):
        Generation.model_validate_json(content)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("progress", "soon"),
        ("output", "https://cdn.test/a.png"),
        ("output", ["a"]),
        ("createdAt", ""),
        ("createdAt", "yesterday"),
        ("creditsCharged", "0.25 credits"),
        ("parameters", [{"name": "a"}]),
        ("mediaUrls", ["a"]),
        ("prompt", {"text": "a"}),
        ("assetType", ["image"]),
    ],
)
def test_an_unreadable_field_is_ignored(field: str, value: Any) -> None:
    facts = {"status": "succeeded", "outputUrl": "https://cdn.test/a.png"}

    assert read(Generation, **facts, **{field: value}) == read(Generation, **facts)


def test_a_malformed_field_of_an_output_leaves_the_others() -> None:
    output = read(Generation, output={"width": "wide", "height": 8}).output

    assert (output.width, output.height) == (None, 8)


@pytest.mark.parametrize(
    ("kind", "field", "value", "meant"),
    [
        (Account, "id", 17, "17"),
        (Generation, "error_code", 0, "0"),
        (Generation, "progress", "45%", 0.45),
        (Generation, "status", 200, "200"),
        (Generation, "error", ["bad", {"message": "worse"}], "bad; worse"),
        (Generation, "error", False, None),
        (Parameter, "type", ["integer", "null"], "integer"),
        (Parameter, "type", ["integer", "string"], "unknown"),
        (Parameter, "minimum", "1", 1),
    ],
)
def test_values_of_another_type_are_converted_if_unambiguous(
    kind: type[wire.WireShape], field: str, value: Any, meant: Any
) -> None:
    name = kind.model_fields[field].alias or field
    item = kind.model_validate({"id": "x", "name": "n", name: value})

    assert getattr(item, field) == meant


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (Generation, {"id": {"value": 1}}),
        (Generation, {"status": {"phase": "done"}}),
        (Generation, {"status": "done", "outputUrl": {"href": 5}}),
        (Receipt, {"id": None}),
    ],
)
def test_an_unreadable_id_status_or_output_url_is_an_error(
    kind: type[wire.WireShape], values: dict[str, Any]
) -> None:
    with pytest.raises(ValidationError):
        read(kind, **values)


@pytest.mark.parametrize("content", ["[]", "5", "null", "{", '"x"'])
def test_a_response_that_is_no_object_is_an_error(content: str) -> None:
    with pytest.raises(ValidationError):
        Generation.model_validate_json(content)


def test_malformed_fields_of_a_receipt_are_ignored() -> None:
    receipt = read(Receipt, status={"phase": 1}, createdAt="now", creditsCharged="much")

    assert receipt == Receipt(id="x")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("pricing", "0.04 USD"),
        ("pricing", [{"unit": "s"}]),
        ("description", {"en": "x"}),
        ("creditsFrom", "free"),
        ("supportsPrompt", {"yes": 1}),
        ("category", ["Fast"]),
    ],
)
def test_a_malformed_field_of_one_model_leaves_all_models(field: str, value: Any) -> None:
    models = Models.model_validate({"image": [{"id": "a"}, {"id": "b", field: value}]})

    assert models.image == [Model(id="a"), Model(id="b")]


@pytest.mark.parametrize(
    "values", [{"enum": "x,y"}, {"maxItems": 2.5}, {"minimum": "today"}, {"required": [1]}]
)
def test_a_malformed_field_of_a_parameter_leaves_the_parameter(values: dict[str, Any]) -> None:
    data = {"id": "a", "settingParameters": [{"name": "p", **values}, {"name": "q"}]}

    model = Model.model_validate(data)

    assert model.setting_parameters == [Parameter(name="p"), Parameter(name="q")]


def test_a_model_without_an_id_is_left_out_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    data = [{"title": "Nameless", "creditsFrom": "free"}, {"id": "a"}, {"id": [1], "title": "Odd"}]

    with caplog.at_level(logging.WARNING, "kit"):
        models = Models.model_validate({"video": data})

    assert [model.id for model in models.video] == ["a"]
    assert "Nameless" in caplog.text
    assert "Odd" in caplog.text


def test_malformed_generations_are_left_out_of_a_list() -> None:
    data = [{"id": "a", "createdAt": ""}, {"status": "done"}, {"id": 3}, "x"]

    found = calls.list_generations().parse(json.dumps(data).encode())

    assert [item.id for item in found] == ["a", "3"]


def test_request_bodies_are_validated_strictly() -> None:
    for body in ({"modelId": 1}, {"modelId": "m", "prompt": 5}, {"modelId": "m", "parameters": []}):
        with pytest.raises(ValidationError):
            StartGeneration.model_validate_json(json.dumps(body))


# ── price rules ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "foreign",
    [
        {},
        {"currency": "USD", "perImage": 0.04},
        {"base": 0.04, "currency": "USD"},
        {"base": "cheap"},
        {"units": []},
        {"multipliers": [{"parameter": "size", "values": {"big": 2}}]},
        {"base": 0.1, "units": [{"unit": "second", "credits": 0.1}]},
        {"base": 0.1, "units": [{"credits": 0.1}]},
        {"base": 0.1, "units": [{"parameter": "n", "credits": "some"}]},
    ],
)
def test_pricing_that_is_no_rule_of_ours_is_ignored(foreign: dict[str, Any]) -> None:
    assert Model.model_validate({"id": "a", "pricing": foreign}).pricing is None


@pytest.mark.parametrize(
    "rule",
    [
        Rule(base=Decimal(0)),
        Rule(base=Decimal("0.1")),
        Rule(units=[wire.UnitPrice(parameter="n", credits=Decimal("0.02"))]),
    ],
)
def test_our_own_price_rules_are_read_back(rule: Rule) -> None:
    content = Model(id="a", pricing=rule).model_dump_json(by_alias=True)

    assert Model.model_validate_json(content).pricing == rule
