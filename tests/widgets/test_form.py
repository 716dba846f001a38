from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from kit import wire
from kit.errors import BadRequestError, ConfigError, NoAnswerError, ParameterError
from kit.widgets.form import Form
from kit.widgets.form.presets import Presets
from tests.widgets.forms import (
    RULE,
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
from tests.widgets.tree import Announcements, styled

BLANK = {"prompt": None, "parameters": {"count": 1, "size": "small"}, "media": {}}


def make_form(clock: Clock, api: Api | None = None, initial: Any = None, **facts: Any) -> Form:
    form = Form(model(**facts), initial, service=api, background=clock.background)
    clock.run()
    return form


# ── values ───────────────────────────────────────────────────────────────────────────────────────


def test_a_form_has_its_initial_values() -> None:
    form = Form(model(), {"prompt": "a lake", "parameters": {"count": 3, "seed": 7}})

    assert form.value == {
        "prompt": "a lake",
        "parameters": {"count": 3, "size": "small", "seed": 7},
        "media": {},
    }
    assert control(form, "parameters.count").value == 3


def test_setting_the_value_resets_fields_that_it_does_not_name() -> None:
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
def test_a_value_that_the_model_does_not_accept_raises_an_error(value: Any, message: str) -> None:
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


def test_reset_restores_the_initial_values(clock: Clock) -> None:
    form = make_form(clock, initial={"prompt": "a lake", "parameters": {"count": 3}})
    control(form, "prompt").value = ""
    control(form, "parameters.count").value = 9
    clock.wait()

    button(form, "Reset").click()

    assert form.value["prompt"] == "a lake"
    assert form.value["parameters"]["count"] == 3
    assert "required" not in note(form, "prompt")


# ── checks ───────────────────────────────────────────────────────────────────────────────────────


def test_an_invalid_value_is_reported_at_its_field_once_typing_stops(clock: Clock) -> None:
    form = make_form(clock)

    control(form, "parameters.seed").value = "12x"
    assert "must be" not in note(form, "parameters.seed")
    clock.wait(0.2)

    assert "must be a whole number, not &#x27;12x&#x27;" in note(form, "parameters.seed")
    assert 'role="alert"' in note(form, "parameters.seed")

    control(form, "parameters.seed").value = "120"
    clock.wait(0.2)
    assert "must be at most 99" in note(form, "parameters.seed")

    control(form, "parameters.seed").value = "12"
    clock.wait(0.2)
    assert "must be" not in note(form, "parameters.seed")


def test_no_field_reports_a_problem_before_the_first_input(clock: Clock) -> None:
    form = make_form(clock)

    assert "alert" not in note(form, "prompt")
    assert "missing or wrong: prompt" in price(form)


def test_a_click_on_an_invalid_form_sends_nothing_and_marks_errors(clock: Clock, api: Api) -> None:
    form = make_form(clock, api)
    control(form, "parameters.seed").value = "x"

    click(form, clock)

    assert api.requests == []
    assert form.runs == []
    assert "is required and may not be blank" in note(form, "prompt")
    assert "must be a whole number" in note(form, "parameters.seed")
    assert not submit_button(form).disabled


def test_submitting_an_invalid_form_raises(clock: Clock, api: Api) -> None:
    form = make_form(clock, api)

    with pytest.raises(ParameterError, match="prompt: is required"):
        form.submit()
    with pytest.raises(ConfigError, match="no service"):
        Form(model(), {"prompt": "x"}).submit()


def test_an_error_of_the_service_is_shown_at_its_field(clock: Clock, api: Api) -> None:
    api.error = BadRequestError.fields([("parameters.count", "not on a Monday")])
    form = make_form(clock, api, {"prompt": "x"})
    announced = Announcements(form)

    click(form, clock)

    assert "not on a Monday" in note(form, "parameters.count")
    assert ">count: </span>" in note(form, "parameters.count"), "an alert names its field"
    assert announced.texts == ["Flat: failed"], "its field announces why"
    assert "not on a Monday" in form.runs[0].widget.children[0].value
    control(form, "parameters.count").value = 2
    clock.wait()
    assert "Monday" not in note(form, "parameters.count")


# ── prices ───────────────────────────────────────────────────────────────────────────────────────


def test_the_price_is_updated_with_the_values(clock: Clock) -> None:
    form = make_form(clock, initial={"prompt": "x"})
    assert "<b" in price(form)
    assert "0.6 credits" in price(form)

    control(form, "parameters.count").value = 5
    control(form, "parameters.size").value = "big"
    clock.wait(0.2)

    assert "2 credits" in price(form)
    assert "for count 5, size big × 2" in price(form)
    assert "base +0.5; count 5 +0.5; size big × 2 +1" in price(form)
    assert form.quote is not None
    assert form.quote.total == Decimal(2)


def test_the_price_is_shown_before_a_prompt_is_entered(clock: Clock) -> None:
    form = make_form(clock)

    assert form.quote is not None
    assert "0.6 credits" in price(form)


def test_an_invalid_setting_has_no_price(clock: Clock) -> None:
    form = make_form(clock)
    control(form, "parameters.seed").value = "x"
    clock.wait()

    assert form.quote is None
    assert "credits" not in price(form)


@pytest.mark.parametrize("rule", [RULE, None])
def test_a_missing_required_setting_leaves_an_estimated_price(clock: Clock, rule: Any) -> None:
    needed = wire.Parameter(name="seed", type="integer", required=True)
    facts = {"pricing": rule, "credits_at_defaults": Decimal("0.25")}
    form = make_form(clock, setting_parameters=[needed], **facts)

    assert "about 0.25 credits" in price(form)
    assert "estimated, with the model&#x27;s defaults" in price(form)
    assert "about 0.25 credits" in repr(form)
    control(form, "parameters.seed").value = "x"
    clock.wait()
    assert "credits" not in price(form)


def test_the_balance_after_the_charge_is_shown(clock: Clock, api: Api) -> None:
    form = make_form(clock, api, {"prompt": "x"})

    assert "balance afterwards 9.4" in price(form)
    assert form.quote is not None
    assert form.quote.affordable is True


def test_insufficient_credits_are_reported_before_the_click(clock: Clock, api: Api) -> None:
    api.funds = Decimal("0.55")
    form = make_form(clock, api, {"prompt": "x"})

    assert "not enough credits: 0.6 needed, 0.55 available" in price(form)


def test_without_a_price_rule_the_service_is_asked_once_typing_stops(
    clock: Clock, api: Api
) -> None:
    form = make_form(clock, api, {"prompt": "x"}, pricing=None, credits_at_defaults=Decimal("0.3"))
    assert "about 0.3 credits" in price(form)
    assert "estimated" in price(form)
    assert api.quoted == []

    for count in (2, 3, 4):
        control(form, "parameters.count").value = count
        clock.wait(0.1)
    clock.wait()

    assert [request.parameters["count"] for request in api.quoted] == [4]
    assert "0.7 credits" in price(form)
    assert "from the service" in price(form)
    assert form.quote is not None
    assert form.quote.source == "service"


def test_a_quote_for_outdated_values_is_not_shown(clock: Clock, api: Api) -> None:
    form = make_form(clock, api, {"prompt": "x"}, pricing=None, credits_at_defaults=Decimal("0.3"))
    clock.wait()
    assert "0.7 credits" in price(form)

    control(form, "parameters.count").value = 2
    clock.wait(0.2)

    assert "about 0.3 credits" in price(form)


def test_the_estimated_price_stays_if_the_service_does_not_respond(clock: Clock, api: Api) -> None:
    api.price = NoAnswerError("nobody there")
    form = make_form(clock, api, {"prompt": "x"}, pricing=None, credits_at_defaults=Decimal("0.3"))
    clock.wait(5)

    assert len(api.quoted) == 1
    assert "about 0.3 credits" in price(form)
    assert "asking" not in price(form)


def test_an_unknown_price_is_shown_as_unknown(clock: Clock) -> None:
    form = make_form(clock, initial={"prompt": "x"}, pricing=None)

    assert form.quote is None
    assert "price unknown" in price(form)


def test_a_price_per_second_of_an_input_is_quoted_by_the_service(clock: Clock, api: Api) -> None:
    voice = api.save("voice.mp3", b"ID3")
    form = make_form(
        clock,
        api,
        {"prompt": "x"},
        media_parameters=[wire.Parameter(name="voice", type="audio", media=True)],
        pricing=wire.Rule(units=[wire.UnitPrice(medium="voice", credits=Decimal("0.1"))]),
    )
    clock.wait()
    assert api.quoted == []

    form.value = {"prompt": "x", "media": {"voice": voice}}
    clock.wait()

    assert api.quoted[0].media == {"voice": [voice]}
    assert "0.7 credits" in price(form)


# ── display ──────────────────────────────────────────────────────────────────────────────────────


def test_the_html_without_a_widget_shows_the_values_and_the_price(clock: Clock, api: Api) -> None:
    form = make_form(clock, api, {"prompt": "<a lake>", "parameters": {"count": 2}})

    bundle = form._repr_mimebundle_()

    assert bundle["text/plain"] == repr(form) == "<Form flat · 0.7 credits>"
    assert bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == form.model_id
    assert "&lt;a lake&gt;" in bundle["text/html"]
    assert "0.7 credits" in bundle["text/html"]
    assert "balance" not in bundle["text/html"]
    assert bundle == form._repr_mimebundle_()


def test_two_forms_share_no_state(clock: Clock, api: Api) -> None:
    one, two = make_form(clock, api, {"prompt": "1"}), make_form(clock, api, {"prompt": "2"})

    control(one, "parameters.count").value = 9
    clock.wait()

    assert two.value["parameters"]["count"] == 1
    assert "0.6 credits" in price(two)


def test_a_form_has_about_two_widgets_for_each_parameter(clock: Clock) -> None:
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


def test_the_code_makes_the_same_request_as_the_form(clock: Clock) -> None:
    request: dict[str, Any] = {}

    class Studio:
        def generate(self, name: str, prompt: str | None = None, **given: Any) -> None:
            request.update(model=name, prompt=prompt, **given)

    form = Form(model(), {"prompt": 'a "lake"\nat dawn\\', "parameters": {"count": 4, "seed": 0}})
    exec(form.code(), {"studio": Studio()})

    assert request == {"model": "flat", "prompt": 'a "lake"\nat dawn\\', "count": 4, "seed": 0}


def test_settings_named_like_arguments_are_passed_in_parameters() -> None:
    names = ("model", "n", "tags", "again", "metadata", "guidance scale", "class")
    known = [wire.Parameter(name=name) for name in names]
    given = {one.name: "v2" for one in known}
    form = Form(model(setting_parameters=known, pricing=None), {"prompt": "x", "parameters": given})

    code = form.code()

    assert "parameters={" in code
    called = eval(code.replace("studio.generate", "given"), {"given": lambda *_, **named: named})
    assert called == {"parameters": given}


def test_the_code_has_required_settings_also_with_their_default() -> None:
    known = [wire.Parameter(name="seconds", type="integer", required=True, default=4)]
    form = Form(model(setting_parameters=known, pricing=None), {"prompt": "x"})

    assert form.code() == 'studio.generate("flat", "x", seconds=4)'


def test_a_name_that_python_would_normalize_is_passed_unchanged() -> None:
    ligature, accented = "\ufb01ne", "cafe\u0301"
    names = [wire.Parameter(name=name, type="integer") for name in (ligature, accented, "\u00e9")]
    form = Form(model(setting_parameters=names))
    form.value = {"prompt": "x", "parameters": dict.fromkeys((ligature, accented, "\u00e9"), 1)}
    request: dict[str, Any] = {}

    class Studio:
        @staticmethod
        def generate(*_: Any, **given: Any) -> None:
            request.update(given.pop("parameters"), **given)

    exec(form.code(), {"studio": Studio})

    assert request == {ligature: 1, accented: 1, "\u00e9": 1}


def test_the_open_code_panel_is_updated_with_the_values(clock: Clock) -> None:
    form = make_form(clock, initial={"prompt": "x"})
    button(form, "Code").click()
    control(form, "parameters.count").value = 4
    clock.wait()

    (panel,) = styled(form, "kit-below").children
    assert "count=4" in panel.value
    assert "kit-is-open" in button(form, "Code")._dom_classes
    button(form, "Code").click()
    assert styled(form, "kit-below").children == ()
    assert "kit-is-open" not in button(form, "Code")._dom_classes


def test_the_code_for_an_async_studio_uses_await() -> None:
    assert Form(model(), {"prompt": "x"}, awaited=True).code() == (
        'await studio.generate("flat", "x")'
    )


def test_presets_are_saved_and_loaded_by_name(tmp_path: Path, clock: Clock) -> None:
    presets = Presets(tmp_path, "flat")
    form = Form(model(), {"prompt": "a lake"}, presets=presets, background=clock.background)
    button(form, "Presets").click()
    name, load, save, delete, status = styled(form, "kit-below").children[0].children

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
    assert "there is no preset" in status.value


# ── errors ───────────────────────────────────────────────────────────────────────────────────────


def test_an_error_in_a_callback_is_shown(clock: Clock, api: Api) -> None:
    form = make_form(clock, api, {"prompt": "x"})

    def fail() -> None:
        raise RuntimeError("a <b> broke")

    form.fields["prompt"].read = fail
    click(form, clock)

    assert "RuntimeError: a &lt;b&gt; broke" in price(form)
    assert not submit_button(form).disabled
