"""Forms for other services: their responses and limits; presets of older models."""

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
from tests.widgets.forms import (
    SIZE,
    Api,
    Clock,
    button,
    click,
    control,
    model,
    note,
    price,
    submit_button,
)
from tests.widgets.tree import styled

# ── responses of other services ──────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "details",
    [["too short"], [None, 7], [{"field": 3, "message": ["x"]}], {"prompt": "x"}, "x", [{}]],
    ids=str,
)
def test_malformed_error_details_still_show_the_message(
    clock: Clock, api: Api, details: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    crashes: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", crashes.append)
    api.error = BadRequestError("the words are not right", details=details)
    form = Form(model(), {"prompt": "x"}, service=api, background=clock.background)
    clock.run()
    api.funds = Decimal(3)

    click(form, clock)

    assert "the words are not right" in form.runs[0].widget.children[0].value
    assert "balance afterwards 2.4" in price(form)
    assert not submit_button(form).disabled
    assert crashes == []


def test_well_formed_details_are_shown_among_malformed_ones(clock: Clock, api: Api) -> None:
    entry = {"field": "parameters.count", "message": "not on a Monday"}
    api.error = BadRequestError("wrong", details=["x", entry, {"field": "prompt"}])
    form = Form(model(), {"prompt": "x"}, service=api, background=clock.background)

    click(form, clock)

    assert "not on a Monday" in note(form, "parameters.count")


def test_an_unreadable_balance_leaves_the_estimated_price(clock: Clock, api: Api) -> None:
    def fail() -> Decimal:
        raise ValueError("no number")

    api.balance = fail  # type: ignore[method-assign]
    api.price = ValueError("no number")  # type: ignore[assignment]
    facts: dict[str, Any] = {"pricing": None, "credits_at_defaults": Decimal("0.25")}
    form = Form(model(**facts), {"prompt": "x"}, service=api, background=clock.background)
    clock.wait()

    assert "about 0.25 credits" in price(form)
    assert "asking" not in price(form)


# ── limits of other services ─────────────────────────────────────────────────────────────────────

BIG = wire.Parameter(name="seed", type="integer", minimum=0, maximum=2**64 - 1, default=2**60)
LONG = "word " * bounds.TEXT


def test_our_limits_of_text_and_numbers_do_not_apply_to_other_services(
    clock: Clock, api: Api
) -> None:
    changed = model(setting_parameters=[BIG], pricing=None)
    form = Form(changed, {"prompt": LONG}, service=api, background=clock.background)
    assert form.value["parameters"] == {"seed": 2**60}
    control(form, "parameters.seed").value = str(2**63)

    click(form, clock)

    (request,) = api.requests
    assert request.prompt == LONG.strip()
    assert request.parameters == {"seed": 2**63}
    control(form, "parameters.seed").value = str(2**64)
    clock.wait()
    assert "must be at most 18446744073709551615" in note(form, "parameters.seed")


def test_our_own_limits_are_checked_before_anything_is_sent(clock: Clock, api: Api) -> None:
    changed = model(setting_parameters=[BIG])
    form = Form(changed, service=api, background=clock.background)
    control(form, "prompt").value = LONG
    control(form, "parameters.seed").value = str(2**63)

    click(form, clock)

    assert api.requests == []
    assert "at most 4,000 are allowed" in note(form, "prompt")
    assert "at most 9,007,199,254,740,991 in size" in note(form, "parameters.seed")
    with pytest.raises(ParameterError, match="at most 4,000"):
        Form(changed, {"prompt": LONG})


def test_nan_and_infinity_are_refused_at_their_field(clock: Clock, api: Api) -> None:
    free = wire.Parameter(name="o", type="object")
    form = Form(
        model(setting_parameters=[free], pricing=None),
        {"prompt": "x"},
        service=api,
        background=clock.background,
    )
    control(form, "parameters.o").value = '{"a": [NaN]}'

    click(form, clock)

    assert api.requests == []
    assert "JSON has no such numbers" in note(form, "parameters.o")
    with pytest.raises(ParameterError, match="JSON has no such numbers"):
        form.value = {"parameters": {"o": {"a": float("inf")}}}


# ── presets of older models ──────────────────────────────────────────────────────────────────────


def test_an_older_preset_is_loaded_as_far_as_it_fits(tmp_path: Path, clock: Clock) -> None:
    presets = Presets(tmp_path, "flat")
    presets["old"] = {
        "prompt": "a lake",
        "parameters": {"count": 7, "size": "huge", "seed": 100, "gone": 1},
        "media": {"face": ["a.png"]},
    }
    form = Form(model(), presets=presets, background=clock.background)
    button(form, "Presets").click()
    name, load, _, _, status = styled(form, "kit-below").children[0].children

    name.value = "old"
    load.click()

    assert form.value == {
        "prompt": "a lake",
        "parameters": {"count": 7, "size": "small"},
        "media": {},
    }
    for word in ("gone: unknown", "size: must be one of", "seed: must be at most 99", "face: the"):
        assert word in status.value
    presets["old"] = {"prompt": "a hill", "parameters": {"count": 2}}
    load.click()
    assert (form.value["prompt"], form.value["parameters"]["count"]) == ("a hill", 2)
    assert status.value == '<span class="kit-note" role="status">loaded</span>'


@pytest.mark.parametrize(
    ("preset", "sentence"),
    [
        ({"prompt": 5}, "prompt: must be text"),
        ({"parameters": [1]}, "parameters: must be values by name"),
        ({"media": {"portrait": [5]}}, "portrait: "),
        ({"seed": 5}, "seed: is not a part of a form"),
    ],
)
def test_a_malformed_preset_is_reported_with_the_wrong_field(
    preset: dict[str, Any], sentence: str
) -> None:
    portrait = wire.Parameter(name="portrait", type="image", media=True)
    form = Form(model(setting_parameters=[SIZE], media_parameters=[portrait]))

    (message,) = form.take({"prompt": "a lake", **preset})

    assert message.startswith(sentence)
    assert form.value["parameters"] == {"size": "small"}
    with pytest.raises(ParameterError):
        form.value = preset


# ── values set from Python ───────────────────────────────────────────────────────────────────────


def test_a_slider_returns_the_exact_value_until_it_is_moved() -> None:
    share = wire.Parameter(name="share", type="number", default=0.1, minimum=0, maximum=1)
    form = Form(model(setting_parameters=[share]))

    for value in (1 / 3, 0.1 + 0.2, 1e-12, 1, 1.0):
        form.value = {"prompt": "x", "parameters": {"share": value}}
        assert repr(form.value["parameters"]["share"]) == repr(value)
    control(form, "parameters.share").value = 0.30000000000000004  # as a page sends a step
    assert form.value["parameters"] == {"share": 0.3}
    form.reset()
    assert form.value["parameters"] == {"share": 0.1}


def test_a_slider_for_the_type_float_accepts_no_text(clock: Clock) -> None:
    strength = wire.Parameter(name="strength", type="float", default=1, minimum=0, maximum=2)
    form = Form(
        model().model_copy(update={"setting_parameters": [strength]}), background=clock.background
    )

    with pytest.raises(ParameterError, match=r"parameters\.strength: must be a number"):
        form.value = {"parameters": {"strength": "auto"}}
