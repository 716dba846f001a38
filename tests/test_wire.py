"""The wire: camelCase in JSON, tolerant of responses, strict with request bodies."""

import copy
import json
import pickle
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from pydantic.alias_generators import to_camel

from kit import wire
from kit.wire import Generation, Model, Receipt, StartGeneration, WireShape, WriteScripts
from kit.wire.uploads import Ticket
from kit.wire.webhooks import Webhook

KINDS = [
    kind
    for kind in (getattr(wire, name) for name in wire.__all__)
    if isinstance(kind, type) and issubclass(kind, WireShape)
]


#: Field names with a spelling of their own in the API document.
SPELLED = {"use_cta": "useCTA", "charged30d": "charged30d", "refunded30d": "refunded30d"}


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_is_camel_case_in_json(kind: type[WireShape]) -> None:
    for name, field in kind.model_fields.items():
        assert field.alias == SPELLED.get(name, to_camel(name))


@pytest.mark.parametrize("kind", KINDS)
def test_wire_models_are_frozen_and_only_bodies_forbid_extra_fields(kind: type[WireShape]) -> None:
    assert kind.model_config["frozen"] is True
    bodies = {wire.Body, StartGeneration, wire.RequestUpload, wire.SuggestTitle, WriteScripts}
    bodies |= {wire.CreateWebhook}
    assert kind.model_config["extra"] == ("forbid" if kind in bodies else "ignore")


def test_a_response_with_nulls_and_unknown_fields_is_read() -> None:
    data = {"id": "1", "title": None, "mediaParameters": None, "brandNew": 1, "creditsFrom": None}
    model = Model.model_validate(data)

    assert (model.title, model.media_parameters, model.credits_from) == ("", [], None)


@pytest.mark.parametrize(
    ("kind", "wrong", "known"),
    [
        (wire.Parameter, "minimun", "minimum"),
        (wire.Parameter, "maxItem", "max_items"),
        (wire.Rule, "multiplier", "multipliers"),
        (wire.UnitPrice, "credit", "credits"),
        (wire.Multiplier, "value", "values"),
    ],
)
def test_a_misspelled_name_in_a_definition_is_refused(
    kind: type[WireShape], wrong: str, known: str
) -> None:
    with pytest.raises(TypeError, match=f"^{kind.__name__} has no field '{wrong}'; .*'{known}'"):
        kind(**{wrong: 1})


def test_a_subclass_of_a_parameter_has_its_own_arguments() -> None:
    class Choice(wire.Parameter):
        def __init__(self, key: str, *choices: str) -> None:
            super().__init__(name=key, enum=[*choices])

    assert Choice("size", "small", "large").enum == ["small", "large"]
    assert Choice(key="size").name == "size"


def test_an_unknown_field_of_a_parameter_in_a_response_is_ignored() -> None:
    sent = {"id": "1", "settingParameters": [{"name": "size", "maxItems": 2, "step": 8}]}

    size = wire.Parameter(name="size", maxItems=2)
    assert Model.model_validate_json(json.dumps(sent)).parameters == [size]
    assert Model.model_validate(sent).parameters == [size]
    assert pickle.loads(pickle.dumps(size)) == copy.deepcopy(size) == size


def test_a_negative_price_is_ignored() -> None:
    data = {"id": "1", "creditsAtDefaults": -0.1, "creditsFrom": 0, "pricing": {"base": -1}}
    model = Model.model_validate(data)

    assert (model.credits_at_defaults, model.credits_from, model.pricing) == (None, 0, None)


def test_a_generation_with_null_in_every_field_is_read() -> None:
    nulls = {field.alias: None for field in Generation.model_fields.values()}

    generation = Generation.model_validate_json(json.dumps({**nulls, "id": "1"}))

    assert generation == Generation(id="1")


@pytest.mark.parametrize(
    "body",
    [
        {"modelId": "m", "prmpt": "x"},
        {"modelId": 1},
        {"modelId": "m", "parameters": "x"},
        {"modelId": "m", "mediaUploads": {"a": 1}},
    ],
)
def test_an_invalid_request_body_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        StartGeneration.model_validate(body)


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("processing", "processing"),
        ("completed", "completed"),
        ("Succeeded", "completed"),
        ("ERROR", "failed"),
        ("cancelled", "canceled"),
        ("warming_up", "processing"),
    ],
)
def test_status_words_of_other_services_are_understood(word: str, state: str) -> None:
    generation = Generation(id="1", status=word)

    assert generation.state == state
    assert generation.finished is (state != "processing")


def test_an_unknown_status_with_an_output_or_error_has_ended() -> None:
    assert Generation(id="1", status="odd", output_url="http://x").state == "completed"
    assert Generation(id="1", status="odd", error="broken").state == "failed"


def test_an_error_object_is_read_as_its_message() -> None:
    data = {"id": "1", "status": "failed", "error": {"code": "x", "message": "too dry"}}

    assert Generation.model_validate(data).error == "too dry"


@given(st.decimals(0, 10**9, places=3))
def test_credits_are_numbers_in_json_and_exact_decimals_in_python(amount: Decimal) -> None:
    text = Receipt(id="1", credits_charged=amount).model_dump_json(by_alias=True)
    back = Receipt.model_validate_json(text)

    assert isinstance(json.loads(text)["creditsCharged"], (int, float))
    assert back.credits_charged == amount


@pytest.mark.parametrize(
    ("sent", "shown"),
    [(0.1 + 0.2, "0.3"), (271.04999999999995, "271.05"), (0.3 - 0.1 - 0.2, "0"), (1e-9, "1E-9")],
)
def test_credits_have_no_noise_of_float_arithmetic(sent: float, shown: str) -> None:
    assert str(Receipt.model_validate({"id": "1", "creditsCharged": sent}).credits_charged) == shown


def test_whole_credits_have_no_decimal_point() -> None:
    assert '"creditsCharged":5,' in Receipt(
        id="1", credits_charged=Decimal("5.00")
    ).model_dump_json(by_alias=True)


@given(st.integers(0, 7 * 10**12), st.integers(-23, 23))
def test_instants_are_utc_with_milliseconds(milliseconds: int, hours: int) -> None:
    start = datetime(1970, 1, 2, tzinfo=timezone(timedelta(hours=hours)))
    instant = start + timedelta(milliseconds=milliseconds)
    text = wire.timestamp(instant)

    assert text.endswith("Z")
    assert len(text) == 24
    assert datetime.fromisoformat(text) == instant


def test_signed_urls_and_secrets_are_not_in_the_repr() -> None:
    values = {"id": "1", "url": "u", "upload_id": "1"}
    hidden = dict.fromkeys(("output_url", "upload_url", "secret"), "hidden")
    hidden |= {"media_urls": {"image": "hidden"}, "output": {"thumbnail_url": "hidden"}}

    for kind in (Generation, Ticket, Webhook):
        assert "hidden" in kind(**values, **hidden).model_dump_json()
        assert "hidden" not in repr(kind(**values, **hidden))


@pytest.mark.parametrize("sent", ["2026-01-02T03:04:05", "2026-01-02T08:34:05+05:30"])
def test_a_time_is_in_utc(sent: str) -> None:
    data = Receipt.model_validate({"id": "1", "createdAt": sent})

    assert str(data.created_at) == "2026-01-02 03:04:05+00:00"


@pytest.mark.parametrize("value", ["0001-01-01T00:00:00Z", 0, "9999-12-31T23:59:59-14:00"])
def test_a_placeholder_time_is_ignored(value: str) -> None:
    assert Generation.model_validate({"id": "1", "completedAt": value}).completed_at is None


@pytest.mark.parametrize("value", ["1e99999999", "-1e-99999999", 1e300, 2**53])
def test_an_absurd_amount_of_credits_is_ignored(value: Any) -> None:
    assert Generation.model_validate({"id": "1", "creditsCharged": value}).credits_charged is None


def test_constants_match_the_api_document() -> None:
    assert wire.SCOPES == ("read", "scripts:generate", "creative:generate")
    assert wire.CATEGORIES["image"] == ("Generation", "Editing", "Fast", "Low Cost")
    assert "Lip syncing" in wire.CATEGORIES["video"]
    assert len(wire.TOPICS) == len(set(wire.TOPICS)) == 20
    assert set(wire.CONTENT_TYPES.values()) == set(wire.MEDIA_TYPES)
    assert len(wire.CONTENT_TYPES) == 13
