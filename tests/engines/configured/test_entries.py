"""Entries of the file: their prices, settings that can never work, errors that name the key."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import kit.engines.configured
from kit import pricing
from kit.engines.base import Definition, model_of
from kit.engines.configured.entries import ModelEntry, read
from kit.engines.configured.inputs import check_definition
from kit.engines.diffusers.entry import PipelineEntry
from kit.engines.listing import KINDS
from kit.engines.remote.endpoints import images, videos
from kit.engines.remote.services import ServicesEntry, define
from kit.engines.remote.site import ImagesEntry, VideosEntry
from kit.errors import ConfigError
from kit.wire import Model, Parameter, Rule


def test_a_price_table_is_read_as_a_complete_rule() -> None:
    table = {
        "base": 1,
        "units": [{"parameter": "steps", "credits": 0.01}, {"medium": "video", "credits": 2}],
        "multipliers": [{"parameter": "size", "values": {"big": 1.5}}],
    }
    rule = read(ModelEntry, {"id": "a", "price": table}).price.rule()

    assert pricing.price(rule, {"steps": 50, "size": "big"}).total == Decimal("2.25")


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
        model_of(Definition(**{**facts, **change}))


PLACE = Path()


def entry(**more: Any) -> dict[str, Any]:
    return {"id": "far", "url": "http://127.0.0.1:9/v1", "model": "m", "price": 1, **more}


def steps(**facts: Any) -> dict[str, Any]:
    return entry(parameters=[{"name": "steps", "type": "integer", **facts}])


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (entry(sizes=["big"]), "'sizes.0': must be width x height in pixels such as 1024x1024"),
        (entry(sizes=["0x0"]), "not '0x0'"),
        (entry(sizes=["512x512", "1024*1024"]), r"not '1024\*1024'"),
        (entry(sizes=["512x512", "512x512"]), "'sizes': names '512x512' twice"),
        (
            entry(parameters=[{"name": "size"}, {"name": "size"}]),
            "two of its parameters have the name 'size'",
        ),
        (
            entry(parameters=[{"name": "model"}, {"name": "prompt"}, {"name": "n"}]),
            "no parameter may be called 'prompt' or 'model' or 'n': this field of a request is",
        ),
        (steps(minimum=10, maximum=1, default=500), "a minimum of 10, above its maximum of 1"),
        (steps(minimum=1, maximum=9, default=10), "the default of its parameter 'steps' must be"),
        (steps(default="many"), "the default of its parameter 'steps' must be"),
        (steps(enum=[]), "its parameter 'steps' has an empty list of choices"),
        (steps(enum=[1, "two"]), "a choice of its parameter 'steps' must be"),
        (steps(enum=[1, 2], default=3), "the default of its parameter 'steps' must be"),
        (entry(pictures_required=True), "'pictures_required' needs 'pictures'"),
        (entry(mask=True), "'mask' needs 'pictures' of at least 1"),
    ],
)
def test_an_image_model_that_can_never_work_is_refused(data: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        images(data, PLACE, False)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (entry(seconds=[4, 4]), "'seconds': names 4 twice"),
        (entry(seconds=[0]), "'seconds.0': must be greater than or equal to 1, not 0"),
        (entry(sizes=["1280*720"]), "must be width x height in pixels"),
        (entry(path="../../etc"), "'path': must be a path below the address"),
        (
            entry(encoding="json", picture_field="first", parameters=[{"name": "first"}]),
            "no parameter may be called 'first'",
        ),
    ],
)
def test_a_video_model_that_can_never_work_is_refused(data: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        videos(data, PLACE, False)


def test_all_problems_of_an_entry_are_reported() -> None:
    inputs = [{"name": "n"}, {"name": "a"}, {"name": "a", "type": "integer", "default": "x"}]

    with pytest.raises(ConfigError) as caught:
        images(entry(parameters=inputs), PLACE, False)

    assert str(caught.value).count(";") == 2


def test_invalid_settings_of_another_service_are_passed_on() -> None:
    setting = Parameter(name="bad", type="integer", minimum=10, maximum=1, default=5)
    model = Model(id="m", asset_type="image", pricing=Rule(base=1), setting_parameters=[setting])
    service = read(ServicesEntry, {"prefix": "far", "url": "http://127.0.0.1:9"})

    definition = define(service, model)

    assert definition.settings == (setting,)
    with pytest.raises(ConfigError, match="above its maximum"):
        check_definition(definition)
    several = Parameter(name="several", enum=["a", "b"], max_items=2, default=["a"])
    assert check_definition(replace(definition, settings=[several]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"price": "0.2"},
            "'price': must be a number of credits such as 0.2, without quotes, or a table of base, "
            "units and multipliers",
        ),
        ({"price": float("nan")}, "'price.base': must be a finite number, not nan"),
        ({"id": 5}, "'id': must be text in quotes, not 5"),
        (
            {"id": "Upper Case"},
            "'id': must be small letters, digits, dots and dashes, at most 100, a letter or digit "
            "first, not 'Upper Case'",
        ),
        ({"timeout": -5}, "'timeout': must be greater than 0, not -5"),
        (
            {"pictures": 1.5},
            "'pictures': must be a valid integer, got a number with a fractional part, not 1.5",
        ),
        (
            {"mask": "maybe"},
            "'mask': must be a valid boolean, unable to interpret input, not 'maybe'",
        ),
        ({"sizes": "1024x1024"}, "'sizes': must be a list, such as [...], not '1024x1024'"),
        ({"parameters": ["x"]}, "'parameters.0': must be a table, such as { ... }, not 'x'"),
        (
            {"parameters": [{"name": "a", "type": "text"}]},
            "'parameters.0.type': must be 'string', 'integer', 'number' or 'boolean', not 'text'",
        ),
    ],
)
def test_an_error_names_the_key_its_rule_and_its_value(
    change: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        images(entry(**change), PLACE, False)

    assert str(caught.value) == message


def test_a_text_that_may_be_a_key_is_not_repeated_in_an_error() -> None:
    with pytest.raises(ConfigError) as caught:
        images(entry(timeout="sk-0123456789abcdef0123"), PLACE, False)

    assert "sk-" not in str(caught.value)


EXAMPLE = Path(kit.engines.configured.__file__).with_name("example.toml")

ENTRIES: dict[str, type[ModelEntry]] = {
    "diffusers": PipelineEntry,
    "images": ImagesEntry,
    "videos": VideosEntry,
    "services": ServicesEntry,
}


def test_the_example_file_has_every_kind_of_entry() -> None:
    assert ENTRIES.keys() == KINDS.keys() == tomllib.loads(EXAMPLE.read_text()).keys()


@pytest.mark.parametrize("kind", ENTRIES)
def test_every_entry_of_the_example_file_can_be_read(kind: str, tmp_path: Path) -> None:
    for data in tomllib.loads(EXAMPLE.read_text())[kind]:
        read(ENTRIES[kind], data)
        assert kind not in ("images", "videos") or KINDS[kind](data, tmp_path, False)
