"""A result card: the facts of a result and its actions."""

from __future__ import annotations

import pytest
from ipywidgets import HTML, Dropdown

from kit import wire
from kit.errors import NoAnswerError
from kit.widgets.form import Form
from kit.widgets.result import FileReceiver, ResultCard
from tests.widgets.forms import SEED, Api, Clock, click, control, model, shown
from tests.widgets.tree import every, find

FACTS = wire.Generation(
    id="gen_1", status="completed", asset_type="image", model_id="flat", parameters={"seed": 7}
)


@pytest.fixture
def card(api: Api, clock: Clock) -> ResultCard:
    card = ResultCard(HTML("made"), FACTS, api, background=clock.background)
    clock.run()
    return card


def texts(card: ResultCard) -> str:
    return " ".join(one.value for one in every(card, HTML))


@pytest.mark.parametrize("word", ["Enlarge", "Download"])
def test_the_page_receives_the_original_file(card: ResultCard, clock: Clock, word: str) -> None:
    (page,) = every(card, FileReceiver)
    sent = []
    page.send = lambda message, buffers: sent.append((message, buffers))

    find(card, word).click()
    clock.run()

    [(message, buffers)] = sent
    assert message["action"] == word.lower()
    assert message["name"] == "flat-gen_1.png"
    assert message["type"] == "image/png"
    assert buffers == [b"all pixels"]


def test_a_result_card_shows_the_seed_and_the_id(card: ResultCard) -> None:
    assert "seed 7 · gen_1" in texts(card)


def test_a_result_can_be_used_as_input_of_another_model(card: ResultCard, clock: Clock) -> None:
    (targets,) = every(card, Dropdown)
    assert [label for label, _ in targets.options] == ["Use as input for …", "Restyle"]

    targets.value = "restyle"
    clock.run()

    assert "form of restyle" in texts(card)
    assert targets.value == ""


def test_the_settings_of_a_result_open_in_a_form(card: ResultCard, clock: Clock) -> None:
    find(card, "Open in a form").click()
    clock.run()

    assert "form of flat" in texts(card)


def test_an_action_that_fails_shows_the_error(card: ResultCard, api: Api, clock: Clock) -> None:
    def refuse(*_: object) -> None:
        raise NoAnswerError("the output <is> gone")

    api.fetch_output = refuse  # type: ignore[method-assign, assignment]
    find(card, "Download").click()
    clock.run()

    assert "the output &lt;is&gt; gone" in texts(card)


def test_new_seed_generates_again_with_another_seed(form: Form, clock: Clock, api: Api) -> None:
    control(form, "parameters.seed").value = "7"
    click(form, clock)

    find(every(form, ResultCard)[0], "New seed").click()
    clock.wait(1)

    assert [request.parameters.get("seed") for request in api.requests] == [7, None]
    assert api.requests[1].prompt == "a lake"
    assert len(shown(form)) == 2


def test_reuse_settings_restores_the_settings(form: Form, clock: Clock, api: Api) -> None:
    control(form, "parameters.count").value = 4
    click(form, clock)
    control(form, "prompt").value = "a town"
    control(form, "parameters.count").value = 1

    find(every(form, ResultCard)[0], "Reuse settings").click()

    assert form.value["prompt"] == "a lake"
    assert form.value["parameters"]["count"] == 4


def test_a_model_without_a_seed_has_no_new_seed_button(clock: Clock, api: Api) -> None:
    parameters = [one for one in model().setting_parameters if one is not SEED]
    form = Form(
        model(setting_parameters=parameters),
        {"prompt": "x"},
        service=api,
        background=clock.background,
    )
    click(form, clock)

    with pytest.raises(StopIteration):
        find(every(form, ResultCard)[0], "New seed")
