"""Which fields of a form are visible: advanced ones on demand, others with the choice they need."""

from __future__ import annotations

from typing import Any

from kit import wire
from kit.widgets import examples
from kit.widgets.form import Form
from kit.widgets.form.controls import step
from tests.widgets.forms import COUNT, SEED, Api, Clock, click, control, model
from tests.widgets.tree import styled

FORMAT = wire.Parameter(name="format", default="jpeg", enum=["jpeg", "png"])
QUALITY = wire.Parameter(name="quality", type="integer", default=92, minimum=1, maximum=100)
OPERATION = wire.Parameter(name="operation", default="remove", enum=["remove", "blur"])
BLUR = wire.Parameter(name="blur_strength", type="number", default=0.5, minimum=0, maximum=1)
CAPTIONS = wire.Parameter(name="captions")
STYLE = wire.Parameter(name="caption_style", default="bold", enum=["bold", "clean"])


def make_form(*parameters: wire.Parameter, **values: Any) -> Form:
    return Form(model(setting_parameters=list(parameters)), {"parameters": values})


def is_seen(form: Form, name: str) -> bool:
    field = form.fields[f"parameters.{name}"]
    return "kit-hidden" not in field.widget._dom_classes


def advanced(form: Form) -> tuple[bool, str]:
    """Return whether the advanced fields are open, and the label of their button."""
    button = styled(form, "kit-more")
    return button.icon == "chevron-down", button.description


def test_rarely_needed_fields_are_closed_until_advanced_is_clicked() -> None:
    form = make_form(SEED, COUNT)
    assert list(form.fields) == ["prompt", "parameters.count", "parameters.seed"]
    assert advanced(form) == (False, "Advanced")

    styled(form, "kit-more").click()

    assert advanced(form) == (True, "Advanced")


def test_the_closed_advanced_button_lists_changed_values() -> None:
    form = make_form(COUNT, SEED, QUALITY, seed=7, quality=80)

    assert advanced(form) == (False, "Advanced · seed 7 · quality 80")


def test_a_problem_in_an_advanced_field_opens_the_advanced_fields(clock: Clock, api: Api) -> None:
    form = Form(model(), {"prompt": "x"}, service=api, background=clock.background)
    control(form, "parameters.seed").value = "many"

    click(form, clock)

    assert advanced(form)[0]
    assert api.requests == []


def test_a_field_appears_with_the_choice_that_needs_it() -> None:
    form = make_form(OPERATION, BLUR)
    assert not is_seen(form, "blur_strength")

    form.value = {"parameters": {"operation": "blur"}}

    assert is_seen(form, "blur_strength")


def test_a_field_appears_with_the_text_that_needs_it() -> None:
    form = make_form(CAPTIONS, STYLE)
    assert not is_seen(form, "caption_style")

    form.value = {"parameters": {"captions": "hello"}}

    assert is_seen(form, "caption_style")


def test_a_field_with_a_changed_value_is_never_hidden() -> None:
    form = make_form(OPERATION, BLUR, blur_strength=0.9)

    assert is_seen(form, "blur_strength")


def test_a_choice_with_other_values_hides_no_field() -> None:
    other = OPERATION.model_copy(update={"enum": ["add", "remove"]})

    assert is_seen(make_form(other, BLUR), "blur_strength")
    assert is_seen(make_form(BLUR), "blur_strength")


def test_a_size_has_steps_of_64_pixels_and_a_count_of_one() -> None:
    size = wire.Parameter(name="size", type="integer", default=1024, minimum=256, maximum=2048)

    assert step(size) == 64
    assert step(QUALITY) == 1
    assert step(size.model_copy(update={"minimum": 1, "default": 1000})) == 1


def test_only_our_own_models_have_an_example() -> None:
    own = wire.Model(id="poster", pricing=wire.Rule())
    other = wire.Model(id="poster")

    assert examples.prompt(own)
    assert examples.picture(own).startswith("data:image/webp")
    assert (examples.prompt(other), examples.picture(other)) == ("", "")
