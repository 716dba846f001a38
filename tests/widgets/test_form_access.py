"""What was typed into a slider, as its form hears of it from the page."""

from __future__ import annotations

from typing import Any

import pytest

from kit import wire
from kit.widgets.accessibility import Accessibility
from kit.widgets.form import Form
from kit.widgets.form.fields import describe_adjustment
from tests.widgets import tree
from tests.widgets.forming import (
    COUNT,
    Shop,
    Stage,
    button,
    click,
    control,
    note,
    price,
    submit_button,
)

SHARE = wire.Parameter(name="share", type="number", default=0.5, minimum=-2, maximum=2)
_FIELD = 1  # of the count, after the prompt


@pytest.fixture
def stage() -> Stage:
    return Stage(now=100.0)


def send(form: Form, **message: Any) -> None:
    """Hear a message as the page sends it."""
    tree.send(tree.every(form, Accessibility)[0], message)


def type_in(form: Form, text: str, used: int) -> None:
    """Type into the slider and press Enter: the page tells both, in this order."""
    send(form, field=_FIELD, text=text, used=str(used))
    control(form, "parameters.count").value = used


def told(form: Form) -> str:
    return note(form, "parameters.count")


def test_a_number_that_was_made_to_fit_is_told_at_its_field(form: Form, stage: Stage) -> None:
    type_in(form, "60", 10)
    stage.wait()

    assert "60 is more than 10, the most; 10 is used" in told(form)
    assert 'role="status"' in told(form)
    assert form.value["parameters"]["count"] == 10


def test_it_is_told_until_there_is_another_number(form: Form, stage: Stage) -> None:
    type_in(form, "60", 10)
    stage.wait()
    control(form, "parameters.count").value = 9
    stage.wait()

    assert "60" not in told(form)


def test_it_is_told_whichever_of_the_two_messages_comes_first(form: Form, stage: Stage) -> None:
    control(form, "parameters.count").value = 10
    send(form, field=_FIELD, text="60", used="10")
    stage.wait()
    assert "60 is more" in told(form)

    control(form, "parameters.count").value = 3
    assert "60" not in told(form)


def test_what_is_no_number_is_told_and_the_number_stays(form: Form, stage: Stage) -> None:
    send(form, field=_FIELD, text="abc", used="1")
    stage.wait()
    assert "must be a whole number, not &#x27;abc&#x27;; 1 is used" in told(form)

    send(form, field=_FIELD, text=" 1 ", used="1")

    assert "abc" not in told(form)


def test_setting_values_and_reset_forget_it(form: Form, stage: Stage) -> None:
    send(form, field=_FIELD, text="abc", used="1")
    button(form, "Reset").click()

    assert "abc" not in told(form)


def test_what_is_wrong_is_told_before_what_was_made_to_fit(form: Form, stage: Stage) -> None:
    send(form, field=_FIELD, text="60", used="1")
    list(form.fields.values())[_FIELD].show_problem("is sold out")
    assert "sold out" in told(form)

    list(form.fields.values())[_FIELD].show_problem(None)

    assert "60 is more" in told(form)


def test_a_click_on_the_way_out_of_the_box_starts_nothing_unread(
    form: Form, stage: Stage, shop: Shop
) -> None:
    type_in(form, "60", 10)
    click(form, stage)
    assert shop.orders == []
    assert "Not started: a number was adjusted" in price(form)
    assert "60 is more" in told(form)

    stage.wait(2)
    click(form, stage)

    assert shop.orders[0].parameters["count"] == 10


def test_a_click_after_a_number_that_fits_starts(form: Form, stage: Stage, shop: Shop) -> None:
    type_in(form, "7", 7)
    click(form, stage)

    assert shop.orders[0].parameters["count"] == 7


@pytest.mark.parametrize(
    ("parameter", "text", "used", "sentence"),
    [
        (COUNT, "0", 1, "0 is less than 1, the least; 1 is used"),
        (COUNT, "1e3", 1, "must be a whole number, not '1e3'; 1 is used"),
        (COUNT, "", 4, ""),
        (COUNT, "4", 4, ""),
        (SHARE, "0,5", 0.0, "must be a number, not '0,5': write 0.5; 0 is used"),
        (SHARE, "-2.5", -2.0, "-2.5 is less than -2, the least; -2 is used"),
        (SHARE, "0.123", 0.12, "0.123 is between two steps; 0.12 is used"),
        (SHARE, "1e0", 1.0, ""),
        (SHARE, "1" + "0" * 90, 2.0, "1" + "0" * 39 + " is more than 2, the most; 2 is used"),
    ],
)
def test_it_is_said_what_was_made_of_it(
    parameter: wire.Parameter, text: str, used: float, sentence: str
) -> None:
    assert describe_adjustment(parameter, text, used) == sentence


def test_what_no_page_sends_is_not_heard(form: Form) -> None:
    before = told(form)

    send(form, field="1", text="60", used="10")
    send(form, other=1)

    assert told(form) == before


def test_the_page_knows_its_form_and_the_button_that_pays(form: Form) -> None:
    assert tree.every(form, Accessibility)[0].box == form.model_id
    assert "kit-click-once" in submit_button(form)._dom_classes


def test_the_script_is_small_and_asks_nobody() -> None:
    script = Accessibility()._esm

    assert len(script) < 12_500
    assert "http" not in script
    assert "//" not in script
