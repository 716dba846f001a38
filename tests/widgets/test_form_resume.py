"""Runs that lost their service on the way, and are taken up again without another start."""

from __future__ import annotations

import ipywidgets
import pytest

from kit import wire
from kit.errors import GenerationFailedError, NoAnswerError
from kit.widgets.form import Form
from kit.widgets.form.runs import Run
from tests.widgets.forming import Shop, Stage, click, shown


def words(run: Run) -> list[str]:
    """The buttons of a run's panel."""
    return [w.description for w in run.widget.children if isinstance(w, ipywidgets.Button)]


def test_a_result_that_did_not_arrive_is_fetched_again_without_a_new_start(
    form: Form, stage: Stage, shop: Shop
) -> None:
    shop.error = NoAnswerError("the output of gen_1 could not be fetched")
    click(form, stage)
    (run,) = form.runs
    assert "could not be fetched" in shown(form)[0]
    assert words(run) == ["Try again"]

    again = run.widget.children[1]
    again.click()
    again.click()  # the second half of a double click
    assert run.state == "processing"
    assert words(run) == ["Cancel"]
    stage.run()
    assert words(run) == ["Try again"]

    shop.error = None
    run.widget.children[1].click()
    stage.run()

    assert shown(form) == ["<img alt='made'> gen_1"]
    assert shop.resumed == ["gen_1", "gen_1"]
    assert len(shop.orders) == 1
    assert run.result(0) == form.generation == ("held", "gen_1")
    assert "gen_1" in form._repr_mimebundle_()["text/html"]


def test_an_error_of_the_disk_can_be_tried_again(form: Form, stage: Stage, shop: Shop) -> None:
    shop.error = OSError(28, "No space left on device")

    click(form, stage)

    assert words(form.runs[0]) == ["Try again"]


@pytest.mark.parametrize(
    ("updates", "error"),
    [
        ([], NoAnswerError("nobody is there")),
        ([{}], GenerationFailedError("failed", wire.Generation(id="gen_1", status="failed"))),
    ],
    ids=["never started", "failed for good"],
)
def test_where_trying_again_would_be_another_start_it_is_not_offered(
    form: Form, stage: Stage, shop: Shop, updates: list[dict[str, object]], error: Exception
) -> None:
    shop.updates, shop.error = updates, error

    click(form, stage)
    form.runs[0].resume()
    stage.run()

    assert words(form.runs[0]) == []
    assert shop.resumed == []
    assert form.runs[0].state == "failed"


def test_what_is_waited_for_again_can_be_canceled(form: Form, stage: Stage, shop: Shop) -> None:
    shop.error = NoAnswerError("the line is dead")
    click(form, stage)
    (run,) = form.runs
    run.resume()

    run.widget.children[1].click()
    stage.run()

    assert shop.canceled == ["gen_1"]


def test_what_is_made_is_being_fetched(form: Form, stage: Stage, shop: Shop) -> None:
    said: list[str] = []

    def look() -> None:
        stage.now += 4
        said.append(form.runs[0].widget.children[0].value)

    shop.updates, shop.during = [{}, {"status": "completed", "progress": 1.0}], look
    click(form, stage)

    assert "fetching" in said[1]
    assert "left" not in said[1]
