"""Which fields of a form are seen: rarely needed ones on demand, others with what they need."""

from __future__ import annotations

from typing import Any

from kit import wire
from kit.widgets import examples
from kit.widgets.form import Form
from kit.widgets.form.controls import step
from tests.widgets.forming import COUNT, SEED, Shop, Stage, click, control, model
from tests.widgets.tree import styled

FORMAT = wire.Parameter(name="format", default="jpeg", enum=["jpeg", "png"])
QUALITY = wire.Parameter(name="quality", type="integer", default=92, minimum=1, maximum=100)
OPERATION = wire.Parameter(name="operation", default="remove", enum=["remove", "blur"])
BLUR = wire.Parameter(name="blur_strength", type="number", default=0.5, minimum=0, maximum=1)
CAPTIONS = wire.Parameter(name="captions")
STYLE = wire.Parameter(name="caption_style", default="bold", enum=["bold", "clean"])


def formed(*parameters: wire.Parameter, **values: Any) -> Form:
    return Form(model(setting_parameters=list(parameters)), {"parameters": values})


def is_seen(form: Form, name: str) -> bool:
    field = form.fields[f"parameters.{name}"]
    return "kit-hidden" not in field.widget._dom_classes


def advanced(form: Form) -> tuple[bool, str]:
    """Whether the rarely needed fields are open, and what their button says."""
    button = styled(form, "kit-more")
    return button.icon == "chevron-down", button.description


def test_what_is_needed_rarely_stands_back() -> None:
    form = formed(SEED, COUNT)
    assert list(form.fields) == ["prompt", "parameters.count", "parameters.seed"]
    assert advanced(form) == (False, "Advanced")

    styled(form, "kit-more").click()

    assert advanced(form) == (True, "Advanced")


def test_what_was_changed_there_is_said_while_it_is_closed() -> None:
    form = formed(COUNT, SEED, QUALITY, seed=7, quality=80)

    assert advanced(form) == (False, "Advanced · seed 7 · quality 80")


def test_a_problem_there_opens_it(stage: Stage, shop: Shop) -> None:
    form = Form(model(), {"prompt": "x"}, service=shop, background=stage.background)
    control(form, "parameters.seed").value = "many"

    click(form, stage)

    assert advanced(form)[0]
    assert shop.orders == []


def test_a_field_appears_with_the_choice_that_it_belongs_to() -> None:
    form = formed(OPERATION, BLUR)
    assert not is_seen(form, "blur_strength")

    form.value = {"parameters": {"operation": "blur"}}

    assert is_seen(form, "blur_strength")


def test_a_field_appears_with_the_text_that_it_belongs_to() -> None:
    form = formed(CAPTIONS, STYLE)
    assert not is_seen(form, "caption_style")

    form.value = {"parameters": {"captions": "hello"}}

    assert is_seen(form, "caption_style")


def test_what_was_set_is_never_hidden() -> None:
    form = formed(OPERATION, BLUR, blur_strength=0.9)

    assert is_seen(form, "blur_strength")


def test_the_same_name_with_other_values_means_something_else() -> None:
    other = OPERATION.model_copy(update={"enum": ["add", "remove"]})

    assert is_seen(formed(other, BLUR), "blur_strength")
    assert is_seen(formed(BLUR), "blur_strength")


def test_a_size_goes_by_64_pixels_and_a_count_by_one() -> None:
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
