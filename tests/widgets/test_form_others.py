"""Forms for other services: what they answer, what they allow, and what is kept of older models."""

from __future__ import annotations

import threading
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from kit import wire
from kit.errors import BadRequestError, ParameterError
from kit.widgets.form import Form
from kit.widgets.form.presets import Presets
from kit.wire import bounds
from tests.widgets.forming import (
    SIZE,
    Shop,
    Stage,
    button,
    click,
    control,
    model,
    note,
    price,
    submit_button,
)
from tests.widgets.tree import styled

# ── what they answer ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "details",
    [["too short"], [None, 7], [{"field": 3, "message": ["x"]}], {"prompt": "x"}, "x", [{}]],
    ids=str,
)
def test_details_of_any_shape_end_in_a_message(
    stage: Stage, shop: Shop, details: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    crashed: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", crashed.append)
    shop.error = BadRequestError("the words are not right", details=details)
    form = Form(model(), {"prompt": "x"}, service=shop, background=stage.background)
    stage.run()
    shop.funds = Decimal(3)

    click(form, stage)

    assert "the words are not right" in form.runs[0].widget.children[0].value
    assert "balance afterwards 2.4" in price(form)
    assert not submit_button(form).disabled
    assert crashed == []


def test_of_odd_details_those_are_told_that_name_a_field(stage: Stage, shop: Shop) -> None:
    entry = {"field": "parameters.count", "message": "not on a Monday"}
    shop.error = BadRequestError("wrong", details=["x", entry, {"field": "prompt"}])
    form = Form(model(), {"prompt": "x"}, service=shop, background=stage.background)

    click(form, stage)

    assert "not on a Monday" in note(form, "parameters.count")


def test_a_balance_that_makes_no_sense_leaves_the_price(stage: Stage, shop: Shop) -> None:
    def odd() -> Decimal:
        raise ValueError("no number")

    shop.balance = odd  # type: ignore[method-assign]
    shop.price = ValueError("no number")  # type: ignore[assignment]
    facts: dict[str, Any] = {"pricing": None, "credits_at_defaults": Decimal("0.25")}
    form = Form(model(**facts), {"prompt": "x"}, service=shop, background=stage.background)
    stage.wait()

    assert "about 0.25 credits" in price(form)
    assert "asking" not in price(form)


# ── what they allow ──────────────────────────────────────────────────────────────────────────────

BIG = wire.Parameter(name="seed", type="integer", minimum=0, maximum=2**64 - 1, default=2**60)
LONG = "word " * bounds.TEXT


def test_another_service_is_asked_for_any_length_and_any_number_it_allows(
    stage: Stage, shop: Shop
) -> None:
    made = model(setting_parameters=[BIG], pricing=None)
    form = Form(made, {"prompt": LONG}, service=shop, background=stage.background)
    assert form.value["parameters"] == {"seed": 2**60}
    control(form, "parameters.seed").value = str(2**63)

    click(form, stage)

    (order,) = shop.orders
    assert order.prompt == LONG.strip()
    assert order.parameters == {"seed": 2**63}
    control(form, "parameters.seed").value = str(2**64)
    stage.wait()
    assert "must be at most 18446744073709551615" in note(form, "parameters.seed")


def test_our_own_limits_are_told_before_anything_is_sent(stage: Stage, shop: Shop) -> None:
    made = model(setting_parameters=[BIG])
    form = Form(made, service=shop, background=stage.background)
    control(form, "prompt").value = LONG
    control(form, "parameters.seed").value = str(2**63)

    click(form, stage)

    assert shop.orders == []
    assert "at most 4,000 are allowed" in note(form, "prompt")
    assert "at most 9,007,199,254,740,991 in size" in note(form, "parameters.seed")
    with pytest.raises(ParameterError, match="at most 4,000"):
        Form(made, {"prompt": LONG})


def test_a_number_that_json_does_not_have_is_refused_at_its_field(stage: Stage, shop: Shop) -> None:
    odd = wire.Parameter(name="o", type="object")
    form = Form(
        model(setting_parameters=[odd], pricing=None),
        {"prompt": "x"},
        service=shop,
        background=stage.background,
    )
    control(form, "parameters.o").value = '{"a": [NaN]}'

    click(form, stage)

    assert shop.orders == []
    assert "JSON has no such numbers" in note(form, "parameters.o")
    with pytest.raises(ParameterError, match="JSON has no such numbers"):
        form.value = {"parameters": {"o": {"a": float("inf")}}}


# ── what is kept of older models ─────────────────────────────────────────────────────────────────


def test_of_an_older_preset_what_fits_is_loaded_and_the_rest_is_listed(
    tmp_path: Path, stage: Stage
) -> None:
    presets = Presets(tmp_path, "flat")
    presets["old"] = {
        "prompt": "a lake",
        "parameters": {"count": 7, "size": "huge", "seed": 100, "gone": 1},
        "media": {"face": ["a.png"]},
    }
    form = Form(model(), presets=presets, background=stage.background)
    button(form, "Presets").click()
    name, load, _, _, said = styled(form, "kit-below").children[0].children

    name.value = "old"
    load.click()

    assert form.value == {
        "prompt": "a lake",
        "parameters": {"count": 7, "size": "small"},
        "media": {},
    }
    for word in ("gone: unknown", "size: must be one of", "seed: must be at most 99", "face: the"):
        assert word in said.value
    presets["old"] = {"prompt": "a hill", "parameters": {"count": 2}}
    load.click()
    assert (form.value["prompt"], form.value["parameters"]["count"]) == ("a hill", 2)
    assert said.value == '<span class="kit-note" role="status">loaded</span>'


@pytest.mark.parametrize(
    ("kept", "sentence"),
    [
        ({"prompt": 5}, "prompt: must be text"),
        ({"parameters": [1]}, "parameters: must be values by name"),
        ({"media": {"portrait": [5]}}, "portrait: "),
        ({"seed": 5}, "seed: is not a part of a form"),
    ],
)
def test_a_preset_that_somebody_wrote_by_hand_says_what_is_wrong(
    kept: dict[str, Any], sentence: str
) -> None:
    portrait = wire.Parameter(name="portrait", type="image", media=True)
    form = Form(model(setting_parameters=[SIZE], media_parameters=[portrait]))

    (told,) = form.take({"prompt": "a lake", **kept})

    assert told.startswith(sentence)
    assert form.value["parameters"] == {"size": "small"}
    with pytest.raises(ParameterError):
        form.value = kept


# ── what is set from Python ──────────────────────────────────────────────────────────────────────


def test_a_slider_gives_back_what_was_set_until_it_is_moved() -> None:
    share = wire.Parameter(name="share", type="number", default=0.1, minimum=0, maximum=1)
    form = Form(model(setting_parameters=[share]))

    for value in (1 / 3, 0.1 + 0.2, 1e-12, 1, 1.0):
        form.value = {"prompt": "x", "parameters": {"share": value}}
        assert repr(form.value["parameters"]["share"]) == repr(value)
    control(form, "parameters.share").value = 0.30000000000000004  # as a page sends a step
    assert form.value["parameters"] == {"share": 0.3}
    form.reset()
    assert form.value["parameters"] == {"share": 0.1}


def test_a_slider_for_a_type_of_another_name_takes_no_word(stage: Stage) -> None:
    strength = wire.Parameter(name="strength", type="float", default=1, minimum=0, maximum=2)
    form = Form(
        model().model_copy(update={"setting_parameters": [strength]}), background=stage.background
    )

    with pytest.raises(ParameterError, match=r"parameters\.strength: must be a number"):
        form.value = {"parameters": {"strength": "auto"}}
