"""Entries of the file: prices of every shape, and errors that name the key."""

from decimal import Decimal

import pytest

from kit import pricing
from kit.engines.base import Definition
from kit.engines.configured.entries import ModelEntry, Setting, checked, read
from kit.errors import ConfigError
from kit.wire import Rule


def test_a_number_is_the_price_of_every_job() -> None:
    entry = read(ModelEntry, {"id": "a", "price": 0.1})

    assert pricing.price(entry.price.rule(), {}).total == Decimal("0.1")


def test_a_table_is_a_whole_rule() -> None:
    table = {
        "base": 1,
        "units": [{"parameter": "steps", "credits": 0.01}, {"medium": "video", "credits": 2}],
        "multipliers": [{"parameter": "size", "values": {"big": 1.5}}],
    }
    rule = read(ModelEntry, {"id": "a", "price": table}).price.rule()

    assert pricing.price(rule, {"steps": 50, "size": "big"}).total == Decimal("2.25")


def test_every_problem_is_named_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        read(ModelEntry, {"titel": "A", "price": {"multipliers": [{"parametr": "x"}]}})

    said = str(caught.value)
    assert "'id' is missing" in said
    assert "unknown key 'titel'; did you mean 'title'?" in said
    assert "unknown key 'price.multipliers.0.parametr'; did you mean 'parameter'?" in said


def test_a_setting_becomes_a_parameter() -> None:
    setting = {"name": "steps", "type": "integer", "minimum": 1, "maximum": 50, "default": 20}
    parameter = read(Setting, setting).parameter()

    assert (parameter.name, parameter.type, parameter.default) == ("steps", "integer", 20)
    assert (parameter.minimum, parameter.maximum) == (1, 50)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"category": "Pictures"}, "no category 'Pictures'"),
        ({"pricing": Rule.model_validate({"units": [{"parameter": "x", "credits": 1}]})}, "'x'"),
    ],
)
def test_a_definition_that_the_catalog_would_refuse_is_refused(
    change: dict[str, object], sentence: str
) -> None:
    facts = {
        "id": "a",
        "title": "A",
        "asset_type": "image",
        "category": "Editing",
        "description": "",
        "pricing": Rule(),
    }

    with pytest.raises(ConfigError, match=sentence):
        checked(Definition(**{**facts, **change}))
