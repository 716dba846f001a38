"""Answers of other services: one odd field does not cost the whole answer."""

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


def read(kind: type[wire.WireShape], **odd: Any) -> Any:
    return kind.model_validate_json(json.dumps({"id": "x", **odd}))


def test_half_a_character_at_the_end_of_a_clipped_text_costs_nothing_else() -> None:
    content = b'{"id": "g1", "status": "succeeded", "prompt": "a cat \\ud83d", "progress": "soon"}'

    found = Generation.model_validate_json(content)

    assert (found.id, found.prompt, found.progress) == ("g1", "a cat ?", None)


@pytest.mark.parametrize("content", [b"{" + b'"a":[' * 100_000, b'{"id": "g1", "prompt": "a'])
def test_what_is_not_json_is_said_to_be_none(content: bytes) -> None:
    with pytest.raises(ValidationError, match="Invalid JSON"):
        Generation.model_validate_json(content)


@pytest.mark.parametrize(
    ("field", "odd"),
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
def test_a_field_that_cannot_be_read_is_missing(field: str, odd: Any) -> None:
    facts = {"status": "succeeded", "outputUrl": "https://cdn.test/a.png"}

    assert read(Generation, **facts, **{field: odd}) == read(Generation, **facts)


def test_an_odd_field_of_an_output_leaves_the_others() -> None:
    output = read(Generation, output={"width": "wide", "height": 8}).output

    assert (output.width, output.height) == (None, 8)


@pytest.mark.parametrize(
    ("kind", "field", "odd", "meant"),
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
def test_what_is_unambiguous_is_understood(
    kind: type[wire.WireShape], field: str, odd: Any, meant: Any
) -> None:
    name = kind.model_fields[field].alias or field
    told = kind.model_validate({"id": "x", "name": "n", name: odd})

    assert getattr(told, field) == meant


@pytest.mark.parametrize(
    ("kind", "odd"),
    [
        (Generation, {"id": {"value": 1}}),
        (Generation, {"status": {"phase": "done"}}),
        (Generation, {"status": "done", "outputUrl": {"href": 5}}),
        (Receipt, {"id": None}),
    ],
)
def test_what_everything_depends_on_must_be_readable(
    kind: type[wire.WireShape], odd: dict[str, Any]
) -> None:
    with pytest.raises(ValidationError):
        read(kind, **odd)


@pytest.mark.parametrize("content", ["[]", "5", "null", "{", '"x"'])
def test_what_is_no_object_is_an_error(content: str) -> None:
    with pytest.raises(ValidationError):
        Generation.model_validate_json(content)


def test_a_receipt_is_read_for_its_id() -> None:
    receipt = read(Receipt, status={"phase": 1}, createdAt="now", creditsCharged="much")

    assert receipt == Receipt(id="x")


@pytest.mark.parametrize(
    ("field", "odd"),
    [
        ("pricing", "0.04 USD"),
        ("pricing", [{"unit": "s"}]),
        ("description", {"en": "x"}),
        ("creditsFrom", "free"),
        ("supportsPrompt", {"yes": 1}),
        ("category", ["Fast"]),
    ],
)
def test_an_odd_field_of_one_model_leaves_all_models(field: str, odd: Any) -> None:
    models = Models.model_validate({"image": [{"id": "a"}, {"id": "b", field: odd}]})

    assert models.image == [Model(id="a"), Model(id="b")]


@pytest.mark.parametrize(
    "odd", [{"enum": "x,y"}, {"maxItems": 2.5}, {"minimum": "today"}, {"required": [1]}]
)
def test_an_odd_field_of_a_parameter_leaves_the_parameter(odd: dict[str, Any]) -> None:
    told = {"id": "a", "settingParameters": [{"name": "p", **odd}, {"name": "q"}]}

    model = Model.model_validate(told)

    assert model.setting_parameters == [Parameter(name="p"), Parameter(name="q")]


def test_a_model_without_an_id_is_left_out_and_named(caplog: pytest.LogCaptureFixture) -> None:
    told = [{"title": "Nameless", "creditsFrom": "free"}, {"id": "a"}, {"id": [1], "title": "Odd"}]

    with caplog.at_level(logging.WARNING, "kit"):
        models = Models.model_validate({"video": told})

    assert [model.id for model in models.video] == ["a"]
    assert "Nameless" in caplog.text
    assert "Odd" in caplog.text


def test_an_odd_generation_does_not_cost_the_list() -> None:
    told = [{"id": "a", "createdAt": ""}, {"status": "done"}, {"id": 3}, "x"]

    found = calls.list_generations().parse(json.dumps(told).encode())

    assert [item.id for item in found] == ["a", "3"]


def test_what_a_client_sends_stays_strict() -> None:
    for odd in ({"modelId": 1}, {"modelId": "m", "prompt": 5}, {"modelId": "m", "parameters": []}):
        with pytest.raises(ValidationError):
            StartGeneration.model_validate_json(json.dumps(odd))


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
def test_a_price_that_is_no_rule_of_ours_is_none(foreign: dict[str, Any]) -> None:
    assert Model.model_validate({"id": "a", "pricing": foreign}).pricing is None


@pytest.mark.parametrize(
    "rule",
    [
        Rule(base=Decimal(0)),
        Rule(base=Decimal("0.1")),
        Rule(units=[wire.UnitPrice(parameter="n", credits=Decimal("0.02"))]),
    ],
)
def test_our_own_rules_travel(rule: Rule) -> None:
    content = Model(id="a", pricing=rule).model_dump_json(by_alias=True)

    assert Model.model_validate_json(content).pricing == rule
