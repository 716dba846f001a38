from __future__ import annotations

import asyncio
from decimal import Decimal
from html import unescape
from pathlib import Path

import pytest
from ipywidgets import HTML, BoundedIntText, Output
from ipywidgets.widgets.widget import _instances

from kit import wire
from kit.errors import GenerationFailedError, InsufficientCreditsError
from kit.explore.sweeps.templates import template
from kit.widgets.form import Form
from kit.widgets.form.runs import MAX_RUNS, MAX_SAVED
from tests.widgets.forming import (
    Shop,
    Stage,
    click,
    control,
    model,
    note,
    price,
    results,
    shown,
    submit_button,
)
from tests.widgets.tree import every


def test_a_click_returns_at_once_and_the_result_appears(
    form: Form, stage: Stage, shop: Shop
) -> None:
    submit_button(form).click()
    assert submit_button(form).disabled
    assert shop.orders == []

    stage.wait(0.6)

    assert shop.orders[0].prompt == "a lake"
    assert shown(form) == ["<img alt='made'> gen_1"]
    assert form.generation == ("held", "gen_1")
    assert form.runs[0].result(0) == ("held", "gen_1")
    assert not submit_button(form).disabled


def test_what_was_typed_just_before_the_click_counts(form: Form, stage: Stage, shop: Shop) -> None:
    submit_button(form).click()
    control(form, "prompt").value = "a late lake"
    stage.wait(0.2)

    assert shop.orders[0].prompt == "a late lake"


def test_a_double_click_is_one_click(form: Form, stage: Stage, shop: Shop) -> None:
    submit_button(form).click()
    submit_button(form).click()
    stage.wait(0.2)
    submit_button(form).click()  # the run was started, the second half of the click comes late
    stage.wait(0.2)
    assert submit_button(form).disabled
    assert len(shop.orders) == 1

    stage.wait(0.2)

    assert not submit_button(form).disabled


def test_only_the_newest_results_stay(form: Form, stage: Stage) -> None:
    for _ in range(MAX_RUNS + 3):
        click(form, stage)

    assert len(shown(form)) == MAX_RUNS
    assert len(form.runs) == MAX_RUNS


def test_what_is_not_shown_any_more_is_given_up(form: Form, stage: Stage) -> None:
    for _ in range(MAX_RUNS):
        click(form, stage)
    first, widgets = form.runs[0], len(_instances)
    assert "gen_1" in first.html

    for _ in range(3):
        click(form, stage)

    assert first not in form.runs
    assert first.html == ""
    assert all(run.html for run in form.runs)
    assert len(_instances) == widgets + 3, "the place of each, until there are many"
    assert first.result(0) == ("held", "gen_1")


def test_what_ends_when_it_is_not_shown_any_more_keeps_nothing(form: Form, stage: Stage) -> None:
    runs = [form.submit() for _ in range(MAX_RUNS + 1)]
    stage.run()

    assert runs[0].state == "completed"
    assert runs[0].html == ""
    assert all(run.html for run in runs[1:])


def test_a_notebook_keeps_the_newest_results(form: Form, stage: Stage) -> None:
    assert "gen_" not in form._repr_mimebundle_()["text/html"]
    for _ in range(MAX_SAVED + 1):
        click(form, stage)

    render_snapshot = form._repr_mimebundle_()["text/html"]

    assert [f"gen_{n}" in render_snapshot for n in range(1, MAX_SAVED + 2)] == [
        False,
        *[True] * MAX_SAVED,
    ]
    assert render_snapshot.index("gen_4") < render_snapshot.index("gen_2")


def test_a_notebook_keeps_no_failure_as_a_result(form: Form, stage: Stage, shop: Shop) -> None:
    shop.error = InsufficientCreditsError("too little")
    click(form, stage)

    assert "too little" not in form._repr_mimebundle_()["text/html"]


def test_what_a_run_cost_changes_the_price_of_the_next(stage: Stage, shop: Shop) -> None:
    form = Form(model(pricing=None), {"prompt": "x"}, service=shop, background=stage.background)
    stage.wait()
    asked = len(shop.quoted)
    shop.price = Decimal("0.25")

    click(form, stage)
    stage.wait()

    assert asked == 1
    assert len(shop.quoted) == 2
    assert "0.25 credits" in price(form)


def test_progress_is_shown_while_it_runs(form: Form, stage: Stage, shop: Shop) -> None:
    said: list[str] = []

    def during() -> None:
        stage.now += 2
        said.append(shown(form)[0])

    shop.during = during
    shop.updates = [{}, {"progress": 0.25}, {"progress": 0.5}]
    click(form, stage)

    assert "starting" in said[0] or "queued" in said[0]
    assert "rendering · about 6 s left" in said[1]
    assert "50 %" in said[2]


def test_why_it_waits_is_shown_until_it_goes_on(form: Form, stage: Stage, shop: Shop) -> None:
    said: list[str] = []
    shop.waits = ("the service asks to wait 12 s",)
    shop.updates = [{"progress": 0.5}]

    def during() -> None:
        stage.now += 2
        said.append(shown(form)[0])

    shop.during = during
    click(form, stage)

    assert "the service asks to wait 12 s" in said[0]
    assert "asks to wait" not in said[1]


def test_uploads_are_shown_on_their_way(stage: Stage, shop: Shop, tmp_path: Path) -> None:
    portrait = wire.Parameter(name="portrait", type="image", media=True)
    face = tmp_path / "face.png"
    face.write_bytes(b"a picture")
    form = Form(
        model(media_parameters=[portrait]),
        {"prompt": "a face", "media": {"portrait": face}},
        service=shop,
        background=stage.background,
    )
    said: list[str] = []

    def during() -> None:
        said.append(shown(form)[0])
        stage.now += 1

    shop.during, shop.sent = during, (0.0, 0.25, 1.0)
    run = form.submit()
    stage.run()

    assert "uploading" in said[0]
    assert "uploading" in said[1]
    assert "25 %" in said[1]
    assert "starting" in said[2]
    assert run.state == "completed"


def test_time_goes_on_between_two_answers(form: Form, stage: Stage) -> None:
    run = form.submit()
    stage.begun.clear()  # the service does not answer

    stage.wait(3.5)

    assert "3 s" in run.widget.children[0].value


def test_what_such_runs_took_tells_how_long_it_may_take(
    form: Form, stage: Stage, shop: Shop
) -> None:
    said: list[str] = []

    def during() -> None:
        stage.now += 2
        said.append(shown(form)[0])

    shop.during, shop.usual = during, 8.0
    shop.updates = [{}, {"progress": 0.01}, {"progress": 0.5}]
    click(form, stage)

    assert "about 8 s left" in said[0]
    assert "about 6 s left" in said[1]
    assert "about 4 s left" in said[2]


def test_a_failure_is_shown_with_its_refund(form: Form, stage: Stage, shop: Shop) -> None:
    facts = wire.Generation(
        id="gen_1", status="failed", error="the <clay> is dry", credits_refunded=Decimal("0.6")
    )
    shop.error = GenerationFailedError("failed", facts)

    click(form, stage)

    assert "failed: the &lt;clay&gt; is dry; 0.6 credits refunded" in shown(form)[0]
    assert form.runs[0].state == "failed"
    assert form.generation == ("held", "gen_1", "failed")
    with pytest.raises(GenerationFailedError):
        form.runs[0].result(0)


def test_an_error_before_the_start_is_shown(form: Form, stage: Stage, shop: Shop) -> None:
    shop.updates = []
    shop.error = InsufficientCreditsError("2 credits required, 1 available")

    click(form, stage)

    assert "2 credits required, 1 available" in shown(form)[0]
    assert form.generation is None
    assert not submit_button(form).disabled


def test_an_error_that_nobody_expected_is_shown(form: Form, stage: Stage, shop: Shop) -> None:
    shop.error = ZeroDivisionError("by nothing")

    click(form, stage)

    assert "ZeroDivisionError: by nothing" in shown(form)[0]


def test_a_run_can_be_canceled(form: Form, stage: Stage, shop: Shop) -> None:
    def press() -> None:
        form.runs[0].widget.children[1].click()
        stage.run()

    shop.during = press
    click(form, stage)

    assert shop.canceled == ["gen_1"]
    assert form.runs[0].state == "canceled"
    assert "canceled; 0.6 credits refunded" in shown(form)[0]


def test_what_canceling_costs_is_said_before(form: Form, stage: Stage, shop: Shop) -> None:
    said: list[str] = []
    paid = {"credits_charged": "0.6"}
    shop.updates = [paid, paid, {**paid, "progress": 0.5}]

    def during() -> None:
        said.append(" ".join(one.value for one in every(results(form).shown[0], HTML)))
        stage.now += 1

    shop.during = during
    click(form, stage)

    assert "Cancel refunds 0.6 credits" in said[1]
    assert "Cancel still costs 0.6 credits" in said[2]


def test_what_a_canceled_run_has_cost_is_said_after(form: Form, stage: Stage, shop: Shop) -> None:
    gone = wire.Generation(id="gen_1", status="canceled", credits_charged="0.6")
    shop.error = GenerationFailedError("canceled", gone)

    click(form, stage)

    assert "canceled; 0.6 credits charged" in shown(form)[0]


def test_what_is_canceled_before_it_has_started_is_canceled_then(
    form: Form, stage: Stage, shop: Shop
) -> None:
    run = form.submit()
    run.cancel()
    run.cancel()
    assert "canceling" in run.widget.children[0].value
    shop.during = stage.run

    stage.run()

    assert shop.canceled == ["gen_1"]
    assert run.state == "canceled"


def test_a_service_that_cannot_cancel_is_said_and_it_goes_on(
    form: Form, stage: Stage, shop: Shop
) -> None:
    said: list[str] = []

    def press() -> None:
        form.runs[0].cancel()
        stage.run()
        said.append(shown(form)[0])

    shop.cannot_cancel, shop.during = True, press
    click(form, stage)

    assert "this service cannot cancel" in said[0]
    assert form.runs[0].state == "completed"


def test_the_balance_is_learned_anew_after_each_run(form: Form, stage: Stage, shop: Shop) -> None:
    assert "balance afterwards 9.4" in price(form)
    shop.funds = Decimal(5)

    click(form, stage)

    assert "balance afterwards 4.4" in price(form)


def test_a_video_is_shown_where_its_address_is_resolved(
    form: Form, stage: Stage, shop: Shop
) -> None:
    shop.html = '<video src="outputs/gen_1.mp4"></video>'

    click(form, stage)

    (output,) = every(form.runs[0].widget, Output)[0].outputs
    assert "outputs/gen_1.mp4" in output["data"]["text/html"]


def test_a_run_can_be_awaited(form: Form, stage: Stage) -> None:
    run = form.submit()

    async def cell() -> object:
        stage.run()
        return await run

    assert asyncio.run(cell()) == ("held", "gen_1")


def test_a_generation_that_runs_is_held_too(form: Form, stage: Stage, shop: Shop) -> None:
    seen: list[object] = []
    shop.during = lambda: seen.append(form.generation)

    click(form, stage)

    assert seen[0] == ("held", "gen_1", "processing")


def test_a_template_is_priced_and_started_as_all_that_it_stands_for(
    form: Form, stage: Stage, shop: Shop
) -> None:
    control(form, "prompt").value = "a {red|blue|old} barn"
    stage.wait()

    assert "<b>3 variants</b>" in price(form)
    assert "1.8 credits" in price(form)
    assert form.quote is not None
    assert form.quote.total == Decimal("1.8")
    assert form.code() == 'studio.sweep("flat", kit.template("a {red|blue|old} barn")).run()'

    click(form, stage)
    assert [order.prompt for order in shop.orders] == ["a red barn", "a blue barn", "a old barn"]
    assert shown(form) == [f"<img alt='made'> gen_{n}" for n in (3, 2, 1)]


def test_of_a_template_of_many_prompts_as_many_are_drawn_as_are_wanted(
    form: Form, stage: Stage, shop: Shop
) -> None:
    (drawn,) = every(form, BoundedIntText)
    assert "kit-hidden" in drawn._dom_classes
    control(form, "prompt").value = " ".join(["{red|blue}"] * 5)
    stage.wait()
    assert "<b>12 variants</b> of 32, drawn at random" in price(form)
    assert (drawn.value, "kit-hidden" in drawn._dom_classes) == (12, False)

    drawn.value = 2
    stage.wait()

    assert "<b>2 variants</b> of 32, drawn at random" in price(form)
    assert "1.2 credits" in price(form)
    assert ").sample(2)" in form.code()
    click(form, stage)
    drawn_prompts = template(form.value["prompt"]).sample(2)
    assert [order.prompt for order in shop.orders] == drawn_prompts
    control(form, "prompt").value = "a {red|blue|old} barn"
    stage.wait()
    assert (drawn.value, drawn.max) == (2, 3)
    control(form, "prompt").value = "a barn"
    stage.wait()
    assert "kit-hidden" in drawn._dom_classes
    assert "variants" not in price(form)


def test_a_prompt_of_json_is_no_template(form: Form, stage: Stage, shop: Shop) -> None:
    for text in ('{"scene": "a lake"', '{"scene": "a lake"}'):
        control(form, "prompt").value = text
        click(form, stage)
        assert shop.orders[-1].prompt == text


def test_named_lists_are_read_beside_the_notebook(
    form: Form, stage: Stage, shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    control(form, "prompt").value = "a lake in __season__"
    click(form, stage)
    sentence = "there is no list 'season': a form reads it from the folder lists"
    assert sentence in unescape(note(form, "prompt"))
    assert shop.orders == []

    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "season.txt").write_text("spring\nautumn\n")
    click(form, stage)

    assert [order.prompt for order in shop.orders] == ["a lake in spring", "a lake in autumn"]
    asked = 'kit.template("a lake in __season__", folder="lists")'
    assert form.code() == f'studio.sweep("flat", {asked}).run()'
    (tmp_path / "lists" / "season.txt").write_text("winter\n")
    click(form, stage)
    assert shop.orders[-1].prompt == "a lake in winter"
