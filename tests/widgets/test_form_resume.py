"""Runs that lost their connection, and are resumed without another start."""

from __future__ import annotations

import ipywidgets
import pytest

from kit import wire
from kit.errors import GenerationFailedError, NoAnswerError
from kit.widgets.form import Form
from kit.widgets.form.runs import Run
from tests.widgets.forms import RULE, SEED, Api, Clock, click, model, price, shown
from tests.widgets.tree import below, find


def button_labels(run: Run) -> list[str]:
    """Return the labels of the buttons of a run's panel."""
    return [w.description for w in run.widget.children if isinstance(w, ipywidgets.Button)]


def test_a_missing_output_is_fetched_again_without_a_new_start(
    form: Form, clock: Clock, api: Api
) -> None:
    api.error = NoAnswerError("the output of gen_1 could not be fetched")
    click(form, clock)
    (run,) = form.runs
    assert "could not be fetched" in shown(form)[0]
    assert button_labels(run) == ["Try again"]

    again = run.widget.children[1]
    again.click()
    again.click()  # the second half of a double click
    assert run.state == "processing"
    assert button_labels(run) == ["Cancel"]
    clock.run()
    assert button_labels(run) == ["Try again"]

    api.error = None
    run.widget.children[1].click()
    clock.run()

    assert shown(form) == ["<img alt='made'> gen_1"]
    assert api.resumed == ["gen_1", "gen_1"]
    assert len(api.requests) == 1
    assert run.result(0) == form.generation == ("held", "gen_1")
    assert "gen_1" in form._repr_mimebundle_()["text/html"]


def test_a_run_can_be_retried_after_a_disk_error(form: Form, clock: Clock, api: Api) -> None:
    api.error = OSError(28, "No space left on device")

    click(form, clock)

    assert button_labels(form.runs[0]) == ["Try again"]


@pytest.mark.parametrize(
    ("updates", "error"),
    [
        ([], NoAnswerError("nobody is there")),
        ([{}], GenerationFailedError("failed", wire.Generation(id="gen_1", status="failed"))),
    ],
    ids=["never started", "failed for good"],
)
def test_no_retry_is_offered_if_it_would_start_another_generation(
    form: Form, clock: Clock, api: Api, updates: list[dict[str, object]], error: Exception
) -> None:
    api.updates, api.error = updates, error

    click(form, clock)
    form.runs[0].resume()
    clock.run()

    assert button_labels(form.runs[0]) == []
    assert api.resumed == []
    assert form.runs[0].state == "failed"


def test_a_resumed_run_can_be_canceled(form: Form, clock: Clock, api: Api) -> None:
    api.error = NoAnswerError("the line is dead")
    click(form, clock)
    (run,) = form.runs
    run.resume()

    run.widget.children[1].click()
    clock.run()

    assert api.canceled == ["gen_1"]


def test_a_completed_generation_is_shown_as_fetching(form: Form, clock: Clock, api: Api) -> None:
    texts: list[str] = []

    def record() -> None:
        clock.now += 4
        texts.append(form.runs[0].widget.children[0].value)

    api.updates, api.during = [{}, {"status": "completed", "progress": 1.0}], record
    click(form, clock)

    assert "fetching" in texts[1]
    assert "left" not in texts[1]


def test_a_new_form_shows_what_an_earlier_kernel_has_started(clock: Clock, api: Api) -> None:
    own = {"prompt": "a hill", "parameters": {"count": 3, "gone": 1}}
    api.unfinished = [
        wire.Generation(id="gen_8", model_id="flat", **own),
        wire.Generation(id="gen_9", model_id="other"),
    ]
    form = Form(model(), service=api, background=clock.background)
    clock.run()

    assert shown(form) == ["<img alt='made'> gen_8"]
    assert (api.resumed, api.requests) == (["gen_8"], [])
    assert "0.6 credits" in price(form)  # the fields are not changed
    find(form, "Reuse settings").click()
    assert form.value["prompt"] == "a hill"
    assert form.value["parameters"] == {"count": 3, "size": "small"}
    find(form, "New seed").click()
    clock.run()
    assert [request.prompt for request in api.requests] == ["a hill"]


def test_what_was_started_before_does_not_count_as_the_latest_generation(
    clock: Clock, api: Api
) -> None:
    api.unfinished = [wire.Generation(id=name, model_id="flat") for name in ("gen_8", "gen_9")]
    form = Form(model(), {"prompt": "a lake"}, service=api, background=clock.background)
    run = form.submit()
    clock.run()

    assert [each.result(0)[1] for each in form.runs] == ["gen_8", "gen_9", "gen_1"]
    assert form.generation == run.result(0)


def test_a_new_form_works_if_the_service_does_not_say_what_runs(clock: Clock, api: Api) -> None:
    def fail(model_id: str) -> list[wire.Generation]:
        raise NoAnswerError(f"{model_id}: nobody is there")

    api.list_unfinished = fail  # type: ignore[method-assign]
    form = Form(model(), service=api, background=clock.background)
    clock.run()

    assert shown(form) == []


def test_a_result_whose_input_files_are_unknown_is_not_repeated(clock: Clock, api: Api) -> None:
    api.unfinished = [wire.Generation(id="gen_8", model_id="face")]
    face = wire.Parameter(name="face", type="image", media=True)
    edit = model(id="face", media_parameters=[face], setting_parameters=[SEED], pricing=RULE)
    form = Form(edit, service=api, background=clock.background)
    clock.run()

    labels = [getattr(one, "description", "") for one in below(form)]
    assert "Reuse settings" in labels
    assert "New seed" not in labels
