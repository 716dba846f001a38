from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from decimal import Decimal
from functools import partial
from html import unescape
from pathlib import Path

import pytest
from ipywidgets import HTML, BoundedIntText, Output
from ipywidgets.widgets.widget import _instances

from kit import wire
from kit.errors import GenerationFailedError, InsufficientCreditsError, own_lines
from kit.explore.sweeps.templates import template
from kit.widgets.form import Form
from kit.widgets.form.runs import MAX_RUNS, MAX_SAVED
from tests.widgets.forms import (
    Api,
    Clock,
    click,
    control,
    model,
    note,
    price,
    results,
    shown,
    submit_button,
)
from tests.widgets.tree import Announcements, every


def test_a_click_returns_at_once_and_the_result_appears(form: Form, clock: Clock, api: Api) -> None:
    submit_button(form).click()
    assert submit_button(form).disabled
    assert api.requests == []

    clock.wait(0.6)

    assert api.requests[0].prompt == "a lake"
    assert shown(form) == ["<img alt='made'> gen_1"]
    assert form.generation == ("held", "gen_1")
    assert form.runs[0].result(0) == ("held", "gen_1")
    assert not submit_button(form).disabled


def test_the_runs_of_a_closed_form_continue_and_it_can_start_more(form: Form, clock: Clock) -> None:
    run = form.submit()
    form.close()
    clock.wait(0.6)
    again = form.submit()
    clock.wait(0.6)

    assert (run.result(0), again.result(0)) == (("held", "gen_1"), ("held", "gen_2"))


@pytest.mark.skipif(sys.platform == "win32", reason="a signal would end the process")
def test_an_interrupted_wait_for_a_run_says_that_it_continues(form: Form) -> None:
    run = form.submit()
    interrupt = partial(os.kill, os.getpid(), signal.SIGINT)
    threading.Timer(0.2, interrupt).start()

    with pytest.raises(KeyboardInterrupt) as caught:
        run.result(30)

    assert own_lines(caught.value)[-2:] == ["KeyboardInterrupt", "it continues in its form"]


def test_text_that_arrives_just_after_the_click_is_used(form: Form, clock: Clock, api: Api) -> None:
    submit_button(form).click()
    control(form, "prompt").value = "a late lake"
    clock.wait(0.2)

    assert api.requests[0].prompt == "a late lake"


def test_a_double_click_starts_one_generation(form: Form, clock: Clock, api: Api) -> None:
    submit_button(form).click()
    submit_button(form).click()
    clock.wait(0.2)
    submit_button(form).click()  # late second half of a double click, after the run was started
    clock.wait(0.2)
    assert submit_button(form).disabled
    assert len(api.requests) == 1

    clock.wait(0.2)

    assert not submit_button(form).disabled


def test_only_the_newest_results_stay(form: Form, clock: Clock) -> None:
    for _ in range(MAX_RUNS + 3):
        click(form, clock)

    assert len(shown(form)) == MAX_RUNS
    assert len(form.runs) == MAX_RUNS


def test_runs_that_are_no_longer_shown_release_their_widgets(form: Form, clock: Clock) -> None:
    for _ in range(MAX_RUNS):
        click(form, clock)
    first, widgets = form.runs[0], len(_instances)
    assert "gen_1" in first.html

    for _ in range(3):
        click(form, clock)

    assert first not in form.runs
    assert first.html == ""
    assert all(run.html for run in form.runs)
    assert len(_instances) == widgets + 3, "one box each, until there are many"
    assert first.result(0) == ("held", "gen_1")


def test_a_run_that_ends_when_no_longer_shown_keeps_no_html(form: Form, clock: Clock) -> None:
    runs = [form.submit() for _ in range(MAX_RUNS + 1)]
    clock.run()

    assert runs[0].state == "completed"
    assert runs[0].html == ""
    assert all(run.html for run in runs[1:])


def test_the_saved_html_has_only_the_newest_results(form: Form, clock: Clock) -> None:
    assert "gen_" not in form._repr_mimebundle_()["text/html"]
    for _ in range(MAX_SAVED + 1):
        click(form, clock)

    render_snapshot = form._repr_mimebundle_()["text/html"]

    assert [f"gen_{n}" in render_snapshot for n in range(1, MAX_SAVED + 2)] == [
        False,
        *[True] * MAX_SAVED,
    ]
    assert render_snapshot.index("gen_4") < render_snapshot.index("gen_2")


def test_the_saved_html_names_a_running_generation(form: Form, clock: Clock, api: Api) -> None:
    saved: list[str] = []
    api.during = lambda: saved.append(form._repr_mimebundle_()["text/html"])

    click(form, clock)

    assert "started here, see studio.history: gen_1" in saved[-1]
    assert "started here" not in form._repr_mimebundle_()["text/html"]


def test_the_saved_html_has_no_failed_run(form: Form, clock: Clock, api: Api) -> None:
    api.error = InsufficientCreditsError("too little")
    click(form, clock)

    assert "too little" not in form._repr_mimebundle_()["text/html"]


def test_the_price_is_quoted_again_after_a_run(clock: Clock, api: Api) -> None:
    form = Form(model(pricing=None), {"prompt": "x"}, service=api, background=clock.background)
    clock.wait()
    quotes = len(api.quoted)
    api.price = Decimal("0.25")

    click(form, clock)
    clock.wait()

    assert quotes == 1
    assert len(api.quoted) == 2
    assert "0.25 credits" in price(form)


def test_progress_is_shown_while_it_runs(form: Form, clock: Clock, api: Api) -> None:
    texts: list[str] = []

    def during() -> None:
        clock.now += 2
        texts.append(shown(form)[0])

    api.during = during
    api.updates = [{}, {"progress": 0.25}, {"progress": 0.5}]
    click(form, clock)

    assert "starting" in texts[0] or "queued" in texts[0]
    assert "rendering · about 6 s left" in texts[1]
    assert "50 %" in texts[2]


def test_the_status_of_another_service_is_shown(clock: Clock, api: Api) -> None:
    texts: list[str] = []
    other = model(pricing=None)
    form = Form(other, {"prompt": "x"}, service=api, background=clock.background)
    api.during = lambda: texts.append(shown(form)[0])
    api.updates = [{"status": "IN_PROGRESS"}]
    click(form, clock)

    assert "in progress" in texts[0]
    assert "queued" not in texts[0]


def test_the_reason_of_a_wait_is_shown_until_it_ends(form: Form, clock: Clock, api: Api) -> None:
    texts: list[str] = []
    api.waits = ("the service asks to wait 12 s",)
    api.updates = [{"progress": 0.5}]

    def during() -> None:
        clock.now += 2
        texts.append(shown(form)[0])

    api.during = during
    click(form, clock)

    assert "the service asks to wait 12 s" in texts[0]
    assert "asks to wait" not in texts[1]


def test_the_progress_of_an_upload_is_shown(clock: Clock, api: Api, tmp_path: Path) -> None:
    portrait = wire.Parameter(name="portrait", type="image", media=True)
    face = tmp_path / "face.png"
    face.write_bytes(b"a picture")
    form = Form(
        model(media_parameters=[portrait]),
        {"prompt": "a face", "media": {"portrait": face}},
        service=api,
        background=clock.background,
    )
    texts: list[str] = []

    def during() -> None:
        texts.append(shown(form)[0])
        clock.now += 1

    api.during, api.sent = during, (0.0, 0.25, 1.0)
    run = form.submit()
    clock.run()

    assert "uploading" in texts[0]
    assert "uploading" in texts[1]
    assert "25 %" in texts[1]
    assert "starting" in texts[2]
    assert run.state == "completed"


def test_the_elapsed_time_is_updated_between_two_responses(form: Form, clock: Clock) -> None:
    run = form.submit()
    clock.pending.clear()  # the service does not respond

    clock.wait(3.5)

    assert "3 s" in run.widget.children[0].value


def test_the_usual_duration_of_a_model_estimates_the_time_left(
    form: Form, clock: Clock, api: Api
) -> None:
    texts: list[str] = []

    def during() -> None:
        clock.now += 2
        texts.append(shown(form)[0])

    api.during, api.usual = during, 8.0
    api.updates = [{}, {"progress": 0.01}, {"progress": 0.5}]
    click(form, clock)

    assert "about 8 s left" in texts[0]
    assert "about 6 s left" in texts[1]
    assert "about 4 s left" in texts[2]


def test_a_failure_is_shown_with_its_refund(form: Form, clock: Clock, api: Api) -> None:
    facts = wire.Generation(
        id="gen_1", status="failed", error="the <clay> is dry", credits_refunded=Decimal("0.6")
    )
    api.error = GenerationFailedError("failed", facts)

    click(form, clock)

    assert "failed: the &lt;clay&gt; is dry; 0.6 credits refunded" in shown(form)[0]
    assert form.runs[0].state == "failed"
    assert form.generation == ("held", "gen_1", "failed")
    with pytest.raises(GenerationFailedError):
        form.runs[0].result(0)


def test_the_end_of_a_run_is_announced_once_with_its_reason(
    form: Form, clock: Clock, api: Api
) -> None:
    announced = Announcements(form)
    click(form, clock)
    facts = wire.Generation(id="gen_2", status="failed", error="the clay is dry")
    api.error = GenerationFailedError("failed", facts)
    click(form, clock)

    assert announced.texts == ["Flat: completed", "Flat: failed: the clay is dry"]
    assert all(message["notify"] for message in announced.messages)
    assert "the clay is dry" in shown(form)[0]
    assert "role=" not in shown(form)[0], "it would be announced twice"


def test_an_error_before_the_start_is_shown(form: Form, clock: Clock, api: Api) -> None:
    api.updates = []
    api.error = InsufficientCreditsError("2 credits required, 1 available")

    click(form, clock)

    assert "2 credits required, 1 available" in shown(form)[0]
    assert form.generation is None
    assert not submit_button(form).disabled


def test_an_unexpected_error_is_shown(form: Form, clock: Clock, api: Api) -> None:
    api.error = ZeroDivisionError("by nothing")

    click(form, clock)

    assert "ZeroDivisionError: by nothing" in shown(form)[0]


def test_a_run_can_be_canceled(form: Form, clock: Clock, api: Api) -> None:
    def press() -> None:
        form.runs[0].widget.children[1].click()
        clock.run()

    api.during = press
    click(form, clock)

    assert api.canceled == ["gen_1"]
    assert form.runs[0].state == "canceled"
    assert "canceled; 0.6 credits refunded" in shown(form)[0]


def test_the_cost_of_canceling_is_shown_beforehand(form: Form, clock: Clock, api: Api) -> None:
    texts: list[str] = []
    paid = {"credits_charged": "0.6"}
    api.updates = [paid, paid, {**paid, "progress": 0.5}]

    def during() -> None:
        texts.append(" ".join(one.value for one in every(results(form).shown[0], HTML)))
        clock.now += 1

    api.during = during
    click(form, clock)

    assert "Cancel refunds 0.6 credits" in texts[1]
    assert "Cancel still costs 0.6 credits" in texts[2]


def test_the_charge_of_a_canceled_run_is_shown(form: Form, clock: Clock, api: Api) -> None:
    gone = wire.Generation(id="gen_1", status="canceled", credits_charged="0.6")
    api.error = GenerationFailedError("canceled", gone)

    click(form, clock)

    assert "canceled; 0.6 credits charged" in shown(form)[0]


def test_a_run_canceled_before_its_start_is_canceled_once_started(
    form: Form, clock: Clock, api: Api
) -> None:
    run = form.submit()
    run.cancel()
    run.cancel()
    assert "canceling" in run.widget.children[0].value
    api.during = clock.run

    clock.run()

    assert api.canceled == ["gen_1"]
    assert run.state == "canceled"


def test_a_run_continues_if_the_service_cannot_cancel_it(
    form: Form, clock: Clock, api: Api
) -> None:
    texts: list[str] = []

    def press() -> None:
        form.runs[0].cancel()
        clock.run()
        texts.append(shown(form)[0])

    api.cannot_cancel, api.during = True, press
    click(form, clock)

    assert "this service cannot cancel" in texts[0]
    assert form.runs[0].state == "completed"


def test_a_form_that_is_not_shown_has_nothing_left_to_do_after_a_run(
    form: Form, clock: Clock
) -> None:
    click(form, clock)
    clock.wait(0.6)

    assert form.runs[0].state == "completed"
    assert clock.timers == {}


def test_the_balance_is_updated_after_each_run(form: Form, clock: Clock, api: Api) -> None:
    assert "balance afterwards 9.4" in price(form)
    api.funds = Decimal(5)

    click(form, clock)

    assert "balance afterwards 4.4" in price(form)


def test_a_video_is_shown_in_an_output_that_resolves_its_path(
    form: Form, clock: Clock, api: Api
) -> None:
    api.html = '<video src="outputs/gen_1.mp4"></video>'

    click(form, clock)

    (output,) = every(form.runs[0].widget, Output)[0].outputs
    assert "outputs/gen_1.mp4" in output["data"]["text/html"]


def test_a_run_can_be_awaited(form: Form, clock: Clock) -> None:
    run = form.submit()

    async def cell() -> object:
        clock.run()
        return await run

    assert asyncio.run(cell()) == ("held", "gen_1")


def test_a_form_has_the_generation_while_it_runs(form: Form, clock: Clock, api: Api) -> None:
    seen: list[object] = []
    api.during = lambda: seen.append(form.generation)

    click(form, clock)

    assert seen[0] == ("held", "gen_1", "processing")


def test_a_template_is_priced_and_started_as_all_its_prompts(
    form: Form, clock: Clock, api: Api
) -> None:
    control(form, "prompt").value = "a {red|blue|old} barn"
    clock.wait()

    assert "<b>3 variants</b>" in price(form)
    assert "1.8 credits" in price(form)
    assert form.quote is not None
    assert form.quote.total == Decimal("1.8")
    assert form.code() == 'studio.sweep("flat", kit.template("a {red|blue|old} barn")).run()'

    click(form, clock)
    assert [one.prompt for one in api.requests] == ["a red barn", "a blue barn", "a old barn"]
    assert shown(form) == [f"<img alt='made'> gen_{n}" for n in (3, 2, 1)]


def test_a_template_of_many_prompts_draws_a_chosen_number_at_random(
    form: Form, clock: Clock, api: Api
) -> None:
    (variants,) = every(form, BoundedIntText)
    assert "kit-hidden" in variants._dom_classes
    control(form, "prompt").value = " ".join(["{red|blue}"] * 5)
    clock.wait()
    assert "<b>12 variants</b> of 32, drawn at random" in price(form)
    assert (variants.value, "kit-hidden" in variants._dom_classes) == (12, False)

    variants.value = 2
    clock.wait()

    assert "<b>2 variants</b> of 32, drawn at random" in price(form)
    assert "1.2 credits" in price(form)
    assert ").sample(2)" in form.code()
    click(form, clock)
    drawn_prompts = template(form.value["prompt"]).sample(2)
    assert [one.prompt for one in api.requests] == drawn_prompts
    control(form, "prompt").value = "a {red|blue|old} barn"
    clock.wait()
    assert (variants.value, variants.max) == (2, 3)
    control(form, "prompt").value = "a barn"
    clock.wait()
    assert "kit-hidden" in variants._dom_classes
    assert "variants" not in price(form)


def test_a_json_prompt_is_not_a_template(form: Form, clock: Clock, api: Api) -> None:
    for text in ('{"scene": "a lake"', '{"scene": "a lake"}'):
        control(form, "prompt").value = text
        click(form, clock)
        assert api.requests[-1].prompt == text


def test_named_lists_are_read_from_the_folder_lists(
    form: Form, clock: Clock, api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    control(form, "prompt").value = "a lake in __season__"
    click(form, clock)
    sentence = "there is no list 'season': a form reads it from the folder lists"
    assert sentence in unescape(note(form, "prompt"))
    assert api.requests == []

    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "season.txt").write_text("spring\nautumn\n")
    click(form, clock)

    assert [one.prompt for one in api.requests] == ["a lake in spring", "a lake in autumn"]
    call = 'kit.template("a lake in __season__", folder="lists")'
    assert form.code() == f'studio.sweep("flat", {call}).run()'
    (tmp_path / "lists" / "season.txt").write_text("winter\n")
    click(form, clock)
    assert api.requests[-1].prompt == "a lake in winter"
