from __future__ import annotations

from typing import Any

import pytest

from kit.widgets.form import controls
from kit.wire import Parameter


def parameter(**facts: Any) -> Parameter:
    return Parameter(**{"name": "p", **facts})


@pytest.mark.parametrize(
    ("facts", "control"),
    [
        ({"enum": ["a", "b"], "default": "a"}, "buttons"),
        ({"enum": ["a", "b"]}, "dropdown"),
        ({"enum": list("abcde"), "default": "a"}, "dropdown"),
        ({"enum": ["a long label", "another long label"], "default": "a long label"}, "dropdown"),
        ({"type": "integer", "enum": [24, 30], "default": 24}, "buttons"),
        ({"type": "integer", "default": 5, "minimum": 1, "maximum": 10}, "slider"),
        ({"type": "number", "default": 0.5, "minimum": 0, "maximum": 1}, "slider"),
        ({"type": "integer", "default": 5}, "count"),
        ({"type": "integer", "default": 5, "minimum": 0, "maximum": 2**31 - 1}, "count"),
        ({"type": "integer", "minimum": 1, "maximum": 10}, "number"),
        ({"type": "number", "default": 0.5}, "number"),
        ({"type": "number"}, "number"),
        ({"type": "boolean", "default": False}, "switch"),
        ({"type": "boolean"}, "dropdown"),
        ({"type": "string"}, "text"),
        ({"name": "negative_prompt"}, "prose"),
        ({"type": "string", "default": "word " * 20}, "prose"),
        ({"type": "string", "max_items": 3}, "lines"),
        ({"type": "number", "max_items": 3}, "lines"),
        ({"enum": ["a", "b"], "max_items": 2}, "picks"),
        ({"type": "image", "media": True}, "media"),
        ({"type": "image", "media": True, "max_items": 4}, "media"),
        ({"type": "tensor"}, "json"),
        ({"type": ""}, "json"),
    ],
)
def test_a_parameter_has_the_right_control(facts: dict[str, Any], control: str) -> None:
    assert controls.control(parameter(**facts)) == control


@pytest.mark.parametrize(
    "facts",
    [
        {"type": "integer", "default": "many", "minimum": 1, "maximum": 9},
        {"type": "integer", "default": 50, "minimum": 1, "maximum": 9},
        {"enum": ["a", "b"], "default": "c"},
        {"type": "boolean", "default": "yes"},
        {"max_items": 2, "default": "a"},
    ],
)
def test_an_invalid_default_is_ignored(facts: dict[str, Any]) -> None:
    broken = parameter(**facts)

    assert controls.default(broken) is None
    assert controls.control(broken) not in ("slider", "buttons", "switch", "count")


@pytest.mark.parametrize(
    ("low", "high", "step"), [(0, 1, 0.01), (0, 20, 0.1), (0, 1000, 10), (-0.5, 0.5, 0.01)]
)
def test_a_slider_has_between_a_hundred_and_a_thousand_steps(
    low: float, high: float, step: float
) -> None:
    p = parameter(type="number", minimum=low, maximum=high)

    assert controls.step(p) == pytest.approx(step)


def test_an_empty_choice_has_a_label() -> None:
    found = controls.choices(parameter(enum=["", "high"], default=""))

    assert found == [("(empty)", ""), ("high", "high")]


def test_a_slider_has_as_many_decimals_as_its_default() -> None:
    p = parameter(type="number", default=0.125, minimum=0, maximum=1)

    assert controls.decimals(p) == 3


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"type": "integer", "minimum": 1}, "at least 1"),
        ({"type": "number", "maximum": 0.5}, "at most 0.5"),
        ({"type": "integer", "minimum": 0, "maximum": 2**32 - 1}, ""),
        ({"type": "integer", "default": 5, "minimum": 1, "maximum": 10}, ""),
        ({"type": "image", "media": True, "max_items": 4}, "at most 4"),
        ({"type": "image", "media": True}, ""),
        ({"enum": ["a"], "max_items": 4}, "one a line, at most 4"),
    ],
)
def test_limits_are_described_where_the_control_does_not_show_them(
    facts: dict[str, Any], text: str
) -> None:
    assert controls.limits(parameter(**facts)) == text
