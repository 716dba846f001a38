from __future__ import annotations

from typing import Any

import ipywidgets
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kit.widgets.form import Form
from kit.widgets.form.fields import build
from kit.widgets.form.parts import WidgetFactory
from kit.wire import Model, Parameter
from tests.widgets.forms import Clock, control, note


def field(**facts: Any) -> Any:
    return build("parameters.p", Parameter(**{"name": "p", **facts}), WidgetFactory())


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        ({"enum": ["a", "b"], "default": "a"}, ipywidgets.ToggleButtons),
        ({"enum": ["a", "b"]}, ipywidgets.Dropdown),
        ({"type": "integer", "default": 5, "minimum": 1, "maximum": 9}, ipywidgets.IntSlider),
        ({"type": "number", "default": 1, "minimum": 0, "maximum": 2}, ipywidgets.FloatSlider),
        ({"type": "integer", "default": 5}, ipywidgets.Text),
        ({"type": "integer"}, ipywidgets.Text),
        ({"type": "boolean", "default": True}, ipywidgets.Checkbox),
        ({"type": "boolean"}, ipywidgets.Dropdown),
        ({"type": "string"}, ipywidgets.Text),
        ({"name": "prompt"}, ipywidgets.Textarea),
        ({"max_items": 3}, ipywidgets.Textarea),
        ({"enum": ["a"], "max_items": 3}, ipywidgets.Textarea),
        ({"type": "tensor"}, ipywidgets.Text),
        ({"type": "float", "default": 1, "minimum": 0, "maximum": 2}, ipywidgets.FloatSlider),
        ({"type": "int", "default": 5, "minimum": 1, "maximum": 9}, ipywidgets.IntSlider),
        ({"type": "float", "default": "auto", "minimum": 0, "maximum": 2}, ipywidgets.Text),
        ({"type": "bool", "default": True}, ipywidgets.Checkbox),
        ({"type": "bool", "default": "yes"}, ipywidgets.Dropdown),
    ],
)
def test_a_parameter_has_the_right_control(facts: dict[str, Any], kind: type) -> None:
    assert type(field(**facts).control) is kind


@pytest.mark.parametrize(
    ("facts", "value"),
    [
        ({"enum": ["a", "b"], "default": "a"}, "b"),
        ({"enum": ["a", "b"]}, "b"),
        ({"type": "integer", "default": 5, "minimum": 1, "maximum": 9}, 7),
        ({"type": "number", "default": 1, "minimum": 0, "maximum": 2}, 0.25),
        ({"type": "integer", "default": 5}, -70),
        ({"type": "integer", "minimum": 0}, 0),
        ({"type": "number"}, 0.1),
        ({"type": "boolean", "default": True}, False),
        ({"type": "boolean"}, False),
        ({"type": "string"}, " two  words "),
        ({"type": "string", "default": "x"}, ""),
        ({"name": "prompt"}, "two\nlines"),
        ({"max_items": 3}, ["a", "two\nlines", '"quoted"', "", " "]),
        ({"type": "integer", "max_items": 3}, [3, 1, 2]),
        ({"type": "tensor", "max_items": 3}, [[1], {"a": 2}]),
        ({"enum": ["a", "b"], "max_items": 3}, ["b", "a", "b"]),
        ({"type": "integer", "enum": [1, 2], "max_items": 3}, [2]),
        ({"type": "tensor"}, [1, {"a": None}]),
        ({"type": "tensor"}, "plain"),
        ({"type": "tensor"}, "12"),
        ({"type": "tensor", "default": {"a": 1}}, True),
    ],
)
def test_a_field_reads_back_the_value_that_was_written(facts: dict[str, Any], value: Any) -> None:
    one = field(**facts)

    one.write(value)

    assert one.read() == value
    assert type(one.read()) is type(value)


@pytest.mark.parametrize(
    "facts",
    [
        {"enum": ["a", "b"]},
        {"type": "integer", "minimum": 1, "maximum": 9},
        {"type": "number"},
        {"type": "boolean"},
        {"type": "string"},
        {"max_items": 3},
        {"enum": ["a"], "max_items": 3},
        {"type": "tensor"},
    ],
)
def test_a_parameter_without_a_default_can_be_left_empty_and_cleared(facts: dict[str, Any]) -> None:
    one = field(**facts)
    assert one.read() is None

    one.write([] if "max_items" in facts else "" if facts.get("type") == "string" else None)

    assert one.read() is None


def test_an_empty_control_says_that_the_service_decides() -> None:
    assert field(enum=["a"]).control.label == "service decides"
    assert field(type="boolean").control.label == "service decides"
    assert field(enum=["a"], required=True).control.label == "choose …"
    assert field(type="integer").control.placeholder == "service decides"
    assert field(type="integer", required=True).control.placeholder == ""


def test_a_note_has_the_escaped_description_and_the_limits() -> None:
    one = field(type="integer", minimum=0, maximum=9, description="How <many>")

    assert "How &lt;many&gt; · 0 to 9" in one.note.value


def test_a_star_marks_a_required_parameter() -> None:
    assert field(name="my_words", required=True).control.description == "my words *"


def test_choices_are_added_to_a_list_one_at_a_time() -> None:
    one = field(type="integer", enum=[24, 30], max_items=3)
    _, choice, add = one.widget.children

    add.click()
    choice.value = 30
    add.click()
    add.click()

    assert one.read() == [24, 30, 30]


def test_a_slider_returns_whole_numbers_without_a_decimal_point() -> None:
    one = field(type="number", default=2.5, minimum=0, maximum=9)

    one.control.value = 4.0

    assert repr(one.read()) == "4"


def test_a_button_draws_a_random_seed_within_the_limits() -> None:
    one = field(name="seed", type="integer", minimum=5, maximum=7)

    seeds = set()
    for _ in range(60):
        one.widget.children[1].click()
        seeds.add(one.read())

    assert seeds == {5, 6, 7}


def test_a_cleared_number_shows_its_default_as_a_placeholder() -> None:
    one = field(type="integer", default=0)

    one.control.value = ""

    assert one.read() is None
    assert one.control.placeholder == "0"


_PARAMETERS = st.builds(
    Parameter,
    name=st.sampled_from(["a", "seed", "prompt", "my-name", "class"]),
    type=st.sampled_from(["string", "integer", "number", "boolean", "image", "int64", ""]),
    required=st.booleans(),
    default=st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    enum=st.none() | st.lists(st.text(max_size=3) | st.integers(), max_size=4),
    description=st.text(max_size=5),
    minimum=st.none() | st.integers(-9, 9) | st.floats(-9, 9),
    maximum=st.none() | st.integers(-9, 9) | st.floats(-9, 9),
    media=st.booleans(),
    max_items=st.none() | st.integers(0, 3),
)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(_PARAMETERS, max_size=3, unique_by=lambda p: p.name),
    st.lists(_PARAMETERS, max_size=2, unique_by=lambda p: p.name),
)
def test_a_form_for_any_model_has_html_and_valid_code(
    given_settings: list[Parameter], media: list[Parameter]
) -> None:
    model = Model(id="odd", setting_parameters=given_settings, media_parameters=media)
    form = Form(model, background=Clock().background)

    assert form._repr_mimebundle_()["text/html"]
    compile(form.code(), "code", "exec")
    form.value = {"parameters": {}}


def test_an_enum_whose_default_is_not_a_choice_sends_nothing_until_chosen() -> None:
    size = Parameter(name="size", type="int64", enum=[1, 2], default=3)
    form = Form(Model(id="m", setting_parameters=[size]), background=Clock().background)
    assert form.value["parameters"] == {}

    control(form, "parameters.size").value = 2

    assert form.value["parameters"] == {"size": 2}
    assert note(form, "parameters.size") == ""


def test_an_empty_text_box_is_marked_optional() -> None:
    assert field(type="string").control.placeholder == "optional"
    assert field(type="string", maxItems=3).control.placeholder == "optional"
    assert field(type="string", required=True).control.placeholder == ""
