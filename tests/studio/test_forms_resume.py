"""Forms that resume after an outage: the paid generation is fetched and nothing else is charged."""

from __future__ import annotations

import pytest
from ipywidgets import HTML

from kit.errors import KitError, NoAnswerError
from kit.studio import Generation, Studio
from kit.studio.forms import FormService
from kit.widgets.form.runs import Run
from tests.client.third_party import Answer, Server, png
from tests.waiting import until
from tests.widgets.tree import every

START = "/v1/creative-studio/generations"
FILE = "/out/job-1.png"


pytestmark = pytest.mark.usefixtures("end_forms")


def list_buttons(run: Run) -> list[str]:
    return [getattr(w, "description", "") for w in run.widget.children[1:]]


def test_a_failed_download_can_be_retried(studio: Studio, api: Server, media: Server) -> None:
    media.script("GET", FILE, *[Answer(500)] * 50)
    run = studio.form("paint", "a lake").submit()
    with pytest.raises(NoAnswerError, match="could not be fetched"):
        run.result(30)
    assert list_buttons(run) == ["Try again"]

    media.scripted.clear()
    run.widget.children[1].click()
    made = run.result(30)

    assert isinstance(made, Generation)
    assert made.output.bytes() == png()
    assert "data:image/png" in every(run.widget, HTML)[0].value
    assert list_buttons(run) == []
    assert len(api.requests("POST", START)) == 1


def test_a_run_resumes_after_the_service_refused_its_status(studio: Studio, api: Server) -> None:
    form = studio.form("paint", "a lake")
    for path in (START, f"{START}/job-1"):
        api.script("GET", path, *[Answer(403)] * 200)
    run = form.submit()
    with pytest.raises(KitError):
        run.result(30)
    run.resume()
    with pytest.raises(KitError):
        run.result(30)
    assert list_buttons(run) == ["Try again"]

    api.scripted.clear()
    run.resume()

    assert run.result(30).output.bytes() == png()
    assert run.state == "completed"
    assert form.generation.id == "job-1"
    assert len(api.requests("POST", START)) == 1


def test_a_new_form_waits_for_what_was_started_before(studio: Studio, api: Server) -> None:
    studio.generate("paint", "seen to end")
    started = studio.start("paint", "a hill", style="ink")

    form = studio.form("paint", "a lake")
    until(lambda: form.runs)

    (run,) = form.runs
    assert run.result(30).id == started.id
    assert run.request.parameters["style"] == "ink"
    assert len(api.requests("POST", START)) == 2
    again = FormService(studio.session)
    assert again.list_unfinished("paint") == []
    studio.start("paint", "after the form was opened")
    assert again.list_unfinished("paint") == []
