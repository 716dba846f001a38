from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from kit import wire
from kit.errors import BadRequestError, ConfigError, NoAnswerError, ParameterError
from kit.widgets.form import Form
from kit.widgets.form.presets import Presets
from tests.widgets.forming import (
    RULE,
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

BLANK = {"prompt": None, "parameters": {"count": 1, "size": "small"}, "media": {}}


def formed(stage: Stage, shop: Shop | None = None, initial: Any = None, **facts: Any) -> Form:
    form = Form(model(**facts), initial, service=shop, background=stage.background)
    stage.run()
    return form


# ── values ───────────────────────────────────────────────────────────────────────────────────────


def test_a_form_holds_what_it_is_given() -> None:
    form = Form(model(), {"prompt": "a lake", "parameters": {"count": 3, "seed": 7}})

    assert form.value == {
        "prompt": "a lake",
        "parameters": {"count": 3, "size": "small", "seed": 7},
        "media": {},
    }
    assert control(form, "parameters.count").value == 3


def test_setting_the_value_puts_what_it_does_not_name_back() -> None:
    form = Form(model(), {"prompt": "a lake", "parameters": {"count": 3, "size": "big"}})

    form.value = {"parameters": {"seed": 5}}

    assert form.value == {**BLANK, "parameters": {"count": 1, "size": "small", "seed": 5}}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"parameters": {"cuont": 1}}, "did you mean 'count'"),
        ({"parameters": {"count": 99}}, "must be at most 10"),
        ({"parameters": {"size": "huge"}}, "must be one of"),
        ({"promt": "x"}, "did you mean 'prompt'"),
        ({"media": {"face": "x.png"}}, "takes no such medium"),
        ({"media": "x.png"}, "takes no media"),
    ],
)
def test_a_value_that_the_model_refuses_is_refused(value: Any, message: str) -> None:
    form = Form(model())

    with pytest.raises(ParameterError, match=message):
        form.value = value
    with pytest.raises(ParameterError, match=message):
        Form(model(), value)
    assert form.value == BLANK


def test_a_model_without_a_prompt_has_no_field_for_one() -> None:
    form = Form(model(supports_prompt=False, prompt_required=False))

    assert form.value["prompt"] is None
    assert next(iter(form.fields)) == "parameters.count"


def test_reset_goes_back_to_what_the_form_began_with(stage: Stage) -> None:
    form = formed(stage, initial={"prompt": "a lake", "parameters": {"count": 3}})
    control(form, "prompt").value = ""
    control(form, "parameters.count").value = 9
    stage.wait()

    button(form, "Reset").click()

    assert form.value["prompt"] == "a lake"
    assert form.value["parameters"]["count"] == 3
    assert "required" not in note(form, "prompt")


# ── checks ───────────────────────────────────────────────────────────────────────────────────────


def test_a_problem_is_told_at_its_field_once_the_typing_stops(stage: Stage) -> None:
    form = formed(stage)

    control(form, "parameters.seed").value = "12x"
    assert "must be" not in note(form, "parameters.seed")
    stage.wait(0.2)

    assert "must be a whole number, not &#x27;12x&#x27;" in note(form, "parameters.seed")
    assert 'role="alert"' in note(form, "parameters.seed")

    control(form, "parameters.seed").value = "120"
    stage.wait(0.2)
    assert "must be at most 99" in note(form, "parameters.seed")

    control(form, "parameters.seed").value = "12"
    stage.wait(0.2)
    assert "must be" not in note(form, "parameters.seed")


def test_nothing_is_told_before_anything_is_touched(stage: Stage) -> None:
    form = formed(stage)

    assert "alert" not in note(form, "prompt")
    assert "missing or wrong: prompt" in price(form)


def test_a_click_on_an_invalid_form_sends_nothing_and_tells_all(stage: Stage, shop: Shop) -> None:
    form = formed(stage, shop)
    control(form, "parameters.seed").value = "x"

    click(form, stage)

    assert shop.orders == []
    assert form.runs == []
    assert "is required and may not be blank" in note(form, "prompt")
    assert "must be a whole number" in note(form, "parameters.seed")
    assert not submit_button(form).disabled


def test_submitting_an_invalid_form_raises(stage: Stage, shop: Shop) -> None:
    form = formed(stage, shop)

    with pytest.raises(ParameterError, match="prompt: is required"):
        form.submit()
    with pytest.raises(ConfigError, match="no service"):
        Form(model(), {"prompt": "x"}).submit()


def test_what_the_service_refuses_is_told_at_its_field(stage: Stage, shop: Shop) -> None:
    shop.error = BadRequestError.fields([("parameters.count", "not on a Monday")])
    form = formed(stage, shop, {"prompt": "x"})

    click(form, stage)

    assert "not on a Monday" in note(form, "parameters.count")
    assert "not on a Monday" in form.runs[0].widget.children[0].value
    control(form, "parameters.count").value = 2
    stage.wait()
    assert "Monday" not in note(form, "parameters.count")


# ── prices ───────────────────────────────────────────────────────────────────────────────────────


def test_the_price_follows_the_values(stage: Stage) -> None:
    form = formed(stage, initial={"prompt": "x"})
    assert "<b" in price(form)
    assert "0.6 credits" in price(form)

    control(form, "parameters.count").value = 5
    control(form, "parameters.size").value = "big"
    stage.wait(0.2)

    assert "2 credits" in price(form)
    assert "for count 5, size big × 2" in price(form)
    assert "base +0.5; count 5 +0.5; size big × 2 +1" in price(form)
    assert form.quote is not None
    assert form.quote.total == Decimal(2)


def test_a_price_is_there_before_the_prompt_is(stage: Stage) -> None:
    form = formed(stage)

    assert form.quote is not None
    assert "0.6 credits" in price(form)


def test_a_wrong_setting_has_no_price(stage: Stage) -> None:
    form = formed(stage)
    control(form, "parameters.seed").value = "x"
    stage.wait()

    assert form.quote is None
    assert "credits" not in price(form)


@pytest.mark.parametrize("rule", [RULE, None])
def test_a_setting_that_has_yet_to_be_given_leaves_the_guess(stage: Stage, rule: Any) -> None:
    needed = wire.Parameter(name="seed", type="integer", required=True)
    facts = {"pricing": rule, "credits_at_defaults": Decimal("0.25")}
    form = formed(stage, setting_parameters=[needed], **facts)

    assert "about 0.25 credits" in price(form)
    assert "estimated, with the model&#x27;s defaults" in price(form)
    assert "about 0.25 credits" in repr(form)
    control(form, "parameters.seed").value = "x"
    stage.wait()
    assert "credits" not in price(form)


def test_the_balance_after_it_is_shown(stage: Stage, shop: Shop) -> None:
    form = formed(stage, shop, {"prompt": "x"})

    assert "balance afterwards 9.4" in price(form)
    assert form.quote is not None
    assert form.quote.affordable is True


def test_a_price_that_the_balance_does_not_allow_is_said_before_the_click(
    stage: Stage, shop: Shop
) -> None:
    shop.funds = Decimal("0.55")
    form = formed(stage, shop, {"prompt": "x"})

    assert "not enough credits: 0.6 needed, 0.55 available" in price(form)


def test_without_a_rule_the_service_is_asked_once_the_typing_stops(
    stage: Stage, shop: Shop
) -> None:
    form = formed(stage, shop, {"prompt": "x"}, pricing=None, credits_at_defaults=Decimal("0.3"))
    assert "about 0.3 credits" in price(form)
    assert "estimated" in price(form)
    assert shop.quoted == []

    for count in (2, 3, 4):
        control(form, "parameters.count").value = count
        stage.wait(0.1)
    stage.wait()

    assert [request.parameters["count"] for request in shop.quoted] == [4]
    assert "0.7 credits" in price(form)
    assert "from the service" in price(form)
    assert form.quote is not None
    assert form.quote.source == "service"


def test_an_answer_for_values_that_have_changed_since_is_not_shown(
    stage: Stage, shop: Shop
) -> None:
    form = formed(stage, shop, {"prompt": "x"}, pricing=None, credits_at_defaults=Decimal("0.3"))
    stage.wait()
    assert "0.7 credits" in price(form)

    control(form, "parameters.count").value = 2
    stage.wait(0.2)

    assert "about 0.3 credits" in price(form)


def test_the_guess_stands_where_nobody_answers(stage: Stage, shop: Shop) -> None:
    shop.price = NoAnswerError("nobody there")
    form = formed(stage, shop, {"prompt": "x"}, pricing=None, credits_at_defaults=Decimal("0.3"))
    stage.wait(5)

    assert len(shop.quoted) == 1
    assert "about 0.3 credits" in price(form)
    assert "asking" not in price(form)


def test_an_unknown_price_is_not_nothing(stage: Stage) -> None:
    form = formed(stage, initial={"prompt": "x"}, pricing=None)

    assert form.quote is None
    assert "price unknown" in price(form)


def test_a_price_by_the_second_of_a_medium_is_asked_for(stage: Stage, shop: Shop) -> None:
    voice = shop.save("voice.mp3", b"ID3")
    form = formed(
        stage,
        shop,
        {"prompt": "x"},
        media_parameters=[wire.Parameter(name="voice", type="audio", media=True)],
        pricing=wire.Rule(units=[wire.UnitPrice(medium="voice", credits=Decimal("0.1"))]),
    )
    stage.wait()
    assert shop.quoted == []

    form.value = {"prompt": "x", "media": {"voice": voice}}
    stage.wait()

    assert shop.quoted[0].media == {"voice": [voice]}
    assert "0.7 credits" in price(form)


# ── how it shows itself ──────────────────────────────────────────────────────────────────────────


def test_where_no_widget_can_be_shown_there_are_values_and_price(stage: Stage, shop: Shop) -> None:
    form = formed(stage, shop, {"prompt": "<a lake>", "parameters": {"count": 2}})

    bundle = form._repr_mimebundle_()

    assert bundle["text/plain"] == repr(form) == "<Form flat · 0.7 credits>"
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == form.model_id
    assert "&lt;a lake&gt;" in bundle["text/html"]
    assert "0.7 credits" in bundle["text/html"]
    assert "balance" not in bundle["text/html"]
    assert bundle == form._repr_mimebundle_()


def test_two_forms_share_no_state(stage: Stage, shop: Shop) -> None:
    one, two = formed(stage, shop, {"prompt": "1"}), formed(stage, shop, {"prompt": "2"})

    control(one, "parameters.count").value = 9
    stage.wait()

    assert two.value["parameters"]["count"] == 1
    assert "0.6 credits" in price(two)


def test_a_form_costs_about_one_widget_for_each_control_and_its_help(stage: Stage) -> None:
    few = Form(model(setting_parameters=[]))
    many = Form(
        model(
            setting_parameters=[
                wire.Parameter(name=f"p{n}", type="number", default=0.5, minimum=0, maximum=1)
                for n in range(20)
            ]
        )
    )

    def widgets(form: Form) -> set[str]:
        found, left = set(), [form]
        while left:
            one = left.pop()
            found |= {one.model_id, one.layout.model_id}
            if hasattr(one, "style"):
                found.add(one.style.model_id)
            left += getattr(one, "children", ())
        return found

    assert len(widgets(many)) - len(widgets(few)) <= 2 * 20 + 1


# ── code and presets ─────────────────────────────────────────────────────────────────────────────


def test_the_code_does_what_the_form_does(stage: Stage) -> None:
    asked: dict[str, Any] = {}

    class Studio:
        def generate(self, name: str, prompt: str | None = None, **given: Any) -> None:
            asked.update(model=name, prompt=prompt, **given)

    form = Form(model(), {"prompt": 'a "lake"\nat dawn\\', "parameters": {"count": 4, "seed": 0}})
    exec(form.code(), {"studio": Studio()})

    assert asked == {"model": "flat", "prompt": 'a "lake"\nat dawn\\', "count": 4, "seed": 0}


def test_settings_with_names_that_mean_something_else_are_passed_by_name() -> None:
    odd = [wire.Parameter(name=name) for name in ("model", "again", "guidance scale", "class")]
    given = {one.name: "v2" for one in odd}
    form = Form(model(setting_parameters=odd, pricing=None), {"prompt": "x", "parameters": given})

    code = form.code()

    assert "parameters={" in code
    called = eval(code.replace("studio.generate", "given"), {"given": lambda *_, **named: named})
    assert called == {"parameters": given}


def test_a_name_that_python_would_change_is_passed_as_it_is() -> None:
    ligature, accented = "\ufb01ne", "cafe\u0301"
    names = [wire.Parameter(name=name, type="integer") for name in (ligature, accented, "\u00e9")]
    form = Form(model(setting_parameters=names))
    form.value = {"prompt": "x", "parameters": dict.fromkeys((ligature, accented, "\u00e9"), 1)}
    asked: dict[str, Any] = {}

    class Studio:
        @staticmethod
        def generate(*_: Any, **given: Any) -> None:
            asked.update(given.pop("parameters"), **given)

    exec(form.code(), {"studio": Studio})

    assert asked == {ligature: 1, accented: 1, "\u00e9": 1}


def test_the_code_follows_the_values_where_it_is_open(stage: Stage) -> None:
    form = formed(stage, initial={"prompt": "x"})
    button(form, "Code").click()
    control(form, "parameters.count").value = 4
    stage.wait()

    (panel,) = styled(form, "kit-below").children
    assert "count=4" in panel.value
    button(form, "Code").click()
    assert styled(form, "kit-below").children == ()


def test_the_code_of_an_awaited_studio_awaits() -> None:
    assert Form(model(), {"prompt": "x"}, awaited=True).code() == (
        'await studio.generate("flat", "x")'
    )


def test_presets_are_saved_and_loaded_by_name(tmp_path: Path, stage: Stage) -> None:
    presets = Presets(tmp_path, "flat")
    form = Form(model(), {"prompt": "a lake"}, presets=presets, background=stage.background)
    button(form, "Presets").click()
    name, load, save, delete, said = styled(form, "kit-below").children[0].children

    name.value = "dusk"
    save.click()
    assert name.options == ("dusk",)
    form.value = {}
    load.click()
    assert form.value["prompt"] == "a lake"
    delete.click()

    assert presets.names() == []
    name.value = "nothing"
    load.click()
    assert "there is no preset" in said.value


# ── errors ───────────────────────────────────────────────────────────────────────────────────────


def test_an_error_in_a_callback_is_shown(stage: Stage, shop: Shop) -> None:
    form = formed(stage, shop, {"prompt": "x"})

    def breaks() -> None:
        raise RuntimeError("a <b> broke")

    form.fields["prompt"].read = breaks
    click(form, stage)

    assert "RuntimeError: a &lt;b&gt; broke" in price(form)
    assert not submit_button(form).disabled
