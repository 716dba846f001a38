"""A result card: what is known of a result, and what can be done with it."""

from __future__ import annotations

import pytest
from ipywidgets import HTML, Dropdown

from kit import wire
from kit.errors import NoAnswerError
from kit.widgets.form import Form
from kit.widgets.result import FileReceiver, ResultCard
from tests.widgets.forming import SEED, Shop, Stage, click, control, model, shown
from tests.widgets.tree import every, find

FACTS = wire.Generation(
    id="gen_1", status="completed", asset_type="image", model_id="flat", parameters={"seed": 7}
)


@pytest.fixture
def card(shop: Shop, stage: Stage) -> ResultCard:
    card = ResultCard(HTML("made"), FACTS, shop, background=stage.background)
    stage.run()
    return card


def texts(card: ResultCard) -> str:
    return " ".join(one.value for one in every(card, HTML))


@pytest.mark.parametrize("word", ["Enlarge", "Download"])
def test_the_page_gets_the_original(card: ResultCard, stage: Stage, word: str) -> None:
    (page,) = every(card, FileReceiver)
    sent = []
    page.send = lambda message, buffers: sent.append((message, buffers))

    find(card, word).click()
    stage.run()

    [(message, buffers)] = sent
    assert message["action"] == word.lower()
    assert message["name"] == "flat-gen_1.png"
    assert message["type"] == "image/png"
    assert buffers == [b"all pixels"]


def test_seed_and_id_are_shown(card: ResultCard) -> None:
    assert "seed 7 · gen_1" in texts(card)


def test_it_is_an_input_of_another_model(card: ResultCard, stage: Stage) -> None:
    (takers,) = every(card, Dropdown)
    assert [label for label, _ in takers.options] == ["Use as input for …", "Restyle"]

    takers.value = "restyle"
    stage.run()

    assert "form of restyle" in texts(card)
    assert takers.value == ""


def test_its_settings_open_in_a_form(card: ResultCard, stage: Stage) -> None:
    find(card, "Open in a form").click()
    stage.run()

    assert "form of flat" in texts(card)


def test_what_cannot_be_done_is_said(card: ResultCard, shop: Shop, stage: Stage) -> None:
    def refuse(*_: object) -> None:
        raise NoAnswerError("the output <is> gone")

    shop.fetch_output = refuse  # type: ignore[method-assign, assignment]
    find(card, "Download").click()
    stage.run()

    assert "the output &lt;is&gt; gone" in texts(card)


def test_in_its_form_it_is_made_again_with_another_seed(
    form: Form, stage: Stage, shop: Shop
) -> None:
    control(form, "parameters.seed").value = "7"
    click(form, stage)

    find(every(form, ResultCard)[0], "New seed").click()
    stage.wait(1)

    assert [order.parameters.get("seed") for order in shop.orders] == [7, None]
    assert shop.orders[1].prompt == "a lake"
    assert len(shown(form)) == 2


def test_in_its_form_its_settings_come_back(form: Form, stage: Stage, shop: Shop) -> None:
    control(form, "parameters.count").value = 4
    click(form, stage)
    control(form, "prompt").value = "a town"
    control(form, "parameters.count").value = 1

    find(every(form, ResultCard)[0], "Reuse settings").click()

    assert form.value["prompt"] == "a lake"
    assert form.value["parameters"]["count"] == 4


def test_without_a_seed_there_is_no_other_one(stage: Stage, shop: Shop) -> None:
    parameters = [one for one in model().setting_parameters if one is not SEED]
    form = Form(
        model(setting_parameters=parameters),
        {"prompt": "x"},
        service=shop,
        background=stage.background,
    )
    click(form, stage)

    with pytest.raises(StopIteration):
        find(every(form, ResultCard)[0], "New seed")
