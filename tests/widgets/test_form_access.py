"""A number typed into a slider's readout: the page reports it to the form."""

from __future__ import annotations

from typing import Any

import pytest

from kit import wire
from kit.widgets.accessibility import Accessibility
from kit.widgets.form import Form
from kit.widgets.form.fields import describe_adjustment
from tests.widgets import tree
from tests.widgets.forms import (
    COUNT,
    Api,
    Clock,
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
def clock() -> Clock:
    return Clock(now=100.0)


def send(form: Form, **message: Any) -> None:
    """Send a message as the page does."""
    tree.send(tree.every(form, Accessibility)[0], message)


def type_in(form: Form, text: str, used: int) -> None:
    """Type into the slider and press Enter: the page reports the text, then the new value."""
    send(form, field=_FIELD, text=text, used=str(used))
    control(form, "parameters.count").value = used


def count_note(form: Form) -> str:
    return note(form, "parameters.count")


def test_an_adjusted_number_is_reported_at_its_field(form: Form, clock: Clock) -> None:
    type_in(form, "60", 10)
    clock.wait()

    assert "60 is more than 10, the most; 10 is used" in count_note(form)
    assert 'role="status"' in count_note(form)
    assert form.value["parameters"]["count"] == 10


def test_the_adjustment_note_disappears_with_the_next_number(form: Form, clock: Clock) -> None:
    type_in(form, "60", 10)
    clock.wait()
    control(form, "parameters.count").value = 9
    clock.wait()

    assert "60" not in count_note(form)


def test_an_adjustment_is_reported_if_the_new_value_arrives_first(form: Form, clock: Clock) -> None:
    control(form, "parameters.count").value = 10
    send(form, field=_FIELD, text="60", used="10")
    clock.wait()
    assert "60 is more" in count_note(form)

    control(form, "parameters.count").value = 3
    assert "60" not in count_note(form)


def test_a_text_that_is_no_number_is_reported_and_the_value_stays(form: Form, clock: Clock) -> None:
    send(form, field=_FIELD, text="abc", used="1")
    clock.wait()
    assert "must be a whole number, not &#x27;abc&#x27;; 1 is used" in count_note(form)

    send(form, field=_FIELD, text=" 1 ", used="1")

    assert "abc" not in count_note(form)


def test_reset_clears_the_note_about_the_text(form: Form, clock: Clock) -> None:
    send(form, field=_FIELD, text="abc", used="1")
    button(form, "Reset").click()

    assert "abc" not in count_note(form)


def test_a_problem_is_shown_instead_of_the_adjustment_note(form: Form, clock: Clock) -> None:
    send(form, field=_FIELD, text="60", used="1")
    list(form.fields.values())[_FIELD].show_problem("is sold out")
    assert "sold out" in count_note(form)

    list(form.fields.values())[_FIELD].show_problem(None)

    assert "60 is more" in count_note(form)


def test_a_click_right_after_an_adjustment_starts_nothing(
    form: Form, clock: Clock, api: Api
) -> None:
    type_in(form, "60", 10)
    click(form, clock)
    assert api.requests == []
    assert "Not started: a number was adjusted" in price(form)
    assert "60 is more" in count_note(form)

    clock.wait(2)
    click(form, clock)

    assert api.requests[0].parameters["count"] == 10


def test_a_click_after_a_valid_number_starts_a_run(form: Form, clock: Clock, api: Api) -> None:
    type_in(form, "7", 7)
    click(form, clock)

    assert api.requests[0].parameters["count"] == 7


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
def test_the_adjustment_of_a_typed_number_is_described(
    parameter: wire.Parameter, text: str, used: float, sentence: str
) -> None:
    assert describe_adjustment(parameter, text, used) == sentence


def test_malformed_messages_are_ignored(form: Form) -> None:
    before = count_note(form)

    send(form, field="1", text="60", used="10")
    send(form, other=1)

    assert count_note(form) == before


def test_the_script_knows_its_form_and_the_generate_button(form: Form) -> None:
    assert tree.every(form, Accessibility)[0].box == form.model_id
    assert "kit-click-once" in submit_button(form)._dom_classes


def test_the_script_is_small_and_requests_no_url() -> None:
    script = Accessibility()._esm

    assert len(script) < 14_000
    assert "http" not in script
    assert "//" not in script
