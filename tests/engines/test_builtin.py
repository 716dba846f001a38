"""The definitions of the built-in models, their prices and the checks of orders."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from kit import parameters, pricing
from kit.engines.base import Definition, Order, model_of
from kit.engines.registry import engine_for
from kit.wire import CATEGORIES
from tests.engines.test_models import CASES, IDS

DEFINITIONS = {model: engine_for(model).definition for model in IDS}
#: Seconds of the media of an order, for its price.
SECONDS = {"video": 4, "audio": 4, "image": None}

LISTING = """
import sys
from kit.engines.registry import list_engines
models = list_engines()
assert {"poster", "drift"} <= set(models), models
heavy = {"numpy", "cv2", "av", "PIL", "skia"} & set(sys.modules)
assert not heavy, heavy
"""


def price(definition: Definition, **values: Any) -> float:
    defaults = {parameter.name: parameter.default for parameter in definition.settings}
    media = {
        medium.name: [pricing.Medium(medium.type, SECONDS[medium.type])]
        for medium in definition.media
        if medium.required
    }
    return float(pricing.price(definition.pricing, {**defaults, **values}, media).total)


def test_listing_the_engines_imports_no_heavy_library() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LISTING], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("model", IDS)
def test_a_definition_is_valid_and_its_price_rule_prices_it(model: str) -> None:
    definition = DEFINITIONS[model]
    offered = model_of(definition)

    assert offered.id == definition.id == model
    assert 0 < pricing.lowest_price(offered) <= pricing.default_price(offered)
    for parameter in definition.settings:
        assert parameter.description
        if parameter.default is not None:
            assert parameters.value_problem(parameter, parameter.default) is None


def test_every_category_has_a_model() -> None:
    offered = {(definition.asset_type, definition.category) for definition in DEFINITIONS.values()}

    assert offered == {(kind, name) for kind, names in CATEGORIES.items() for name in names}


def growing_settings() -> Iterator[tuple[str, str, list[Any]]]:
    """Yield settings that make a result larger, longer or finer, with rising values."""
    for model, definition in DEFINITIONS.items():
        for parameter in definition.settings:
            ends = [parameter.minimum, parameter.maximum]
            if parameter.name in ("size", "duration") and parameter.name in {
                unit.parameter for unit in definition.pricing.units
            } | {multiplier.parameter for multiplier in definition.pricing.multipliers}:
                yield model, parameter.name, ends
            elif parameter.name == "resolution":
                yield model, parameter.name, [v for v in parameter.enum or () if v[0].isdigit()]
            elif parameter.name == "detail":
                yield model, parameter.name, list(parameter.enum or ())


@pytest.mark.parametrize(("model", "name", "values"), list(growing_settings()))
def test_a_larger_longer_or_finer_result_costs_more(
    model: str, name: str, values: list[Any]
) -> None:
    prices = [price(DEFINITIONS[model], **{name: value}) for value in values]

    assert prices == sorted(set(prices))


def test_the_largest_painted_films_cost_in_the_order_of_their_work() -> None:
    largest = {"duration": 12, "resolution": "1080p", "fps": 60}
    costs = [price(DEFINITIONS[m], **largest) for m in ("living-scene", "flythrough", "drift")]
    usual = [price(DEFINITIONS[m]) for m in ("living-scene", "flythrough", "drift")]

    assert costs == sorted(set(costs))
    assert max(usual) == usual[1], "most of a short flight is its preparation"


def order(model: str, **changed: Any) -> Order:
    definition, case = DEFINITIONS[model], CASES[model]
    values = {p.name: p.default for p in definition.settings if p.default is not None}
    known = {medium.name for medium in definition.media}
    media = {name: len(text.split("+")) for name, text in case.media.items()}
    media |= {name: count for name, count in changed.items() if name in known}
    values |= {name: value for name, value in changed.items() if name not in known}
    media = {name: count for name, count in media.items() if count}
    prompt = values.pop("prompt", case.prompt)
    seconds = values.pop("seconds", {})
    return Order(prompt=prompt, parameters={**case.values, **values}, media=media, seconds=seconds)


@pytest.mark.parametrize("model", IDS)
def test_a_usual_order_has_no_problem(model: str) -> None:
    assert list(engine_for(model).check(order(model, **CASES[model].values))) == []


@pytest.mark.parametrize(
    ("model", "changed", "field", "sentence"),
    [
        ("background", {"operation": "replace", "color": "blorange"}, "color", "blorange"),
        ("background", {"operation": "replace", "prompt": "qwertz"}, "prompt", "qwertz"),
        ("background", {"operation": "remove", "backdrop": 1}, "backdrop", "replace"),
        ("background", {"subject_x": 0.5}, "subject_y", "box"),
        ("background", {"subject_x": 0.5, "mask": 1}, "subject_x", "mask"),
        ("restyle", {"look": "none", "text": ""}, "look", ""),
        ("restyle", {"look": "warm", "text": "\u1230\u1230"}, "text", ""),
        ("retouch", {"operation": "erase"}, "mask", "required"),
        ("retouch", {"operation": "upscale", "mask": 1}, "mask", "erase"),
        ("title-card", {"prompt": "\u1230\u1230"}, "prompt", ""),
        ("title-card", {"accent": "blorange"}, "accent", "blorange"),
        ("title-card", {"background": "qwertz"}, "background", "qwertz"),
        ("title-card", {"subtitle": "\u1230\u1230"}, "subtitle", ""),
        ("lip-sync", {"portrait": 0}, "portrait", "neither"),
        ("lip-sync", {"video": 1}, "portrait", "both"),
        ("lip-sync", {"seconds": {"audio": [121.0]}}, "audio", "120"),
        ("video-edit", {"sound": "replace"}, "sound", ""),
        ("video-edit", {"sound": "mute", "music": 1}, "sound", "mute"),
        ("video-edit", {"captions": "\u1230\u1230"}, "captions", ""),
        ("video-join", {"clips": 1}, "clips", "two"),
        (
            "video-join",
            {"seconds": {"clips": [300, 299, 2.4]}},
            "clips",
            "last 601 s together; at most 600 s",
        ),
        ("video-join", {"sound": "replace"}, "sound", ""),
    ],
)
def test_an_impossible_order_names_its_field_before_it_is_charged(
    model: str, changed: dict[str, Any], field: str, sentence: str
) -> None:
    problems = dict(engine_for(model).check(order(model, **changed)))

    assert field in problems, problems
    assert sentence in problems[field]
    assert len(problems[field].split()) >= 4


def test_a_voice_that_is_slightly_too_long_is_accepted() -> None:
    assert not list(engine_for("lip-sync").check(order("lip-sync", seconds={"audio": [120.03]})))
