from __future__ import annotations

from pathlib import Path

import pytest

from kit.errors import GenerationFailedError, KitError, NoAnswerError
from kit.studio import Studio
from tests.client import third_party
from tests.client.third_party import KEY, Answer, Server, ThirdParty, png

START = "/v1/creative-studio/generations"


def test_an_output_is_saved_where_it_is_wanted(studio: Studio, tmp_path: Path) -> None:
    made = studio.generate("paint", "a lake")

    assert made.output.save(tmp_path / "new" / "lake.png").read_bytes() == png()
    assert made.output.save(tmp_path / "lake").name == "lake.png"
    assert made.output.save(tmp_path).name == "job-1.png"
    assert made.output.path() != tmp_path / "lake.png"


def test_an_output_is_fetched_once(studio: Studio, media: Server) -> None:
    made = studio.generate("paint", "a lake")
    for _ in range(3):
        made.output.bytes()
        made._repr_mimebundle_()

    assert len(media.requests("GET")) == 1


def test_what_is_not_finished_has_no_output(studio: Studio) -> None:
    started = studio.start("paint", "a lake")

    with pytest.raises(NoAnswerError, match="has no output: its status is processing") as caught:
        started.output.path()

    assert caught.value.generation_id == "job-1"


def test_a_refresh_is_a_new_object(studio: Studio, party: ThirdParty) -> None:
    party.polls = 1
    started = studio.start("paint", "a lake")

    assert started.refresh().status == "completed"
    assert started.status == "processing"


def test_parameters_cannot_be_changed_by_accident(studio: Studio) -> None:
    started = studio.start("paint", "a lake", style="ink")
    started.parameters["style"] = "gold"

    assert started.parameters == {"size": 512, "style": "ink", "steps": 20}
    with pytest.raises(AttributeError):
        started.facts = None  # type: ignore[misc]


def test_a_cancel_shows_how_it_ended(studio: Studio, other: Server) -> None:
    started = studio.start("paint", "a lake")
    other.first("POST", f"{START}/job-1/cancel", Answer(200, {"id": "job-1"}))
    other.first("GET", f"{START}/job-1", Answer(200, {"id": "job-1", "status": "cancelled"}))

    assert started.cancel().status == "canceled"
    assert studio.history.pending() == []


def test_a_cancel_that_comes_too_late_changes_nothing(studio: Studio, other: Server) -> None:
    started = studio.start("paint", "a lake")
    late = third_party.problem(409, "conflict", "it is finished")
    other.first("POST", f"{START}/job-1/cancel", late)
    other.first("GET", f"{START}/job-1", Answer(200, {"id": "job-1", "status": "done"}))

    assert started.cancel().status == "completed"


def test_waiting_for_a_canceled_one_says_so(studio: Studio, other: Server) -> None:
    started = studio.start("paint", "a lake")
    canceled = {"id": "job-1", "status": "canceled", "creditsRefunded": 0.25}
    other.first("GET", f"{START}/job-1", Answer(200, canceled))

    with pytest.raises(GenerationFailedError, match=r"was canceled; 0\.25 credits were refunded"):
        started.wait()


def test_a_notebook_shows_the_picture_and_nothing_secret(studio: Studio, tmp_path: Path) -> None:
    bundle = studio.generate("paint", "a <lake>")._repr_mimebundle_()

    assert bundle["text/plain"] == "<Generation paint · image · completed · 0.25 credits>"
    assert '<img src="data:image/png;base64,' in bundle["text/html"]
    assert "a &lt;lake&gt;" in bundle["text/html"]
    for secret in ("sig=", KEY, str(tmp_path), "127.0.0.1"):
        assert secret not in bundle["text/html"]


def test_a_picture_that_is_gone_leaves_the_caption(
    studio: Studio, media: Server, other: Server
) -> None:
    done = {"id": "x", "status": "done", "modelId": "paint", "outputUrl": f"{media.url}/gone"}
    other.first("GET", f"{START}/x", Answer(200, done), Answer(200, done))
    media.first("GET", "/gone", Answer(404, {}), Answer(404, {}))

    html = studio.history["x"]._repr_mimebundle_()["text/html"]

    assert "could not be fetched" in html
    assert "<img" not in html


def test_a_running_one_shows_its_status(studio: Studio) -> None:
    html = studio.start("paint", "a lake")._repr_mimebundle_()["text/html"]

    assert ">processing</b>" in html


def test_every_error_about_it_says_how_to_wait_on(studio: Studio, other: Server) -> None:
    started = studio.start("paint", "a lake")
    busy = third_party.problem(501, "odd", "oops")
    other.first("GET", f"{START}/job-1", busy, busy)

    for ask in (started.refresh, started.output.path):
        with pytest.raises(KitError) as caught:
            ask()
        assert caught.value.generation_id == "job-1"
        assert caught.value.resume == started.wait


def test_what_was_made_before_says_so(studio: Studio) -> None:
    first = studio.generate("paint", "a lake")
    again = studio.generate("paint", "a lake")

    sentence = "made before; again=True, or --again in %%generate, for a new one"
    assert (first.made_before, again.made_before) == (False, True)
    assert sentence not in first._repr_mimebundle_()["text/html"]
    assert sentence in again._repr_mimebundle_()["text/html"]
    assert repr(first) == repr(again)


def test_an_equal_request_of_another_account_does_not_hide_ones_own(
    studio: Studio, other: Server
) -> None:
    mine = studio.generate("paint", "a lake")
    line = studio.session.operations.journal._path.read_text().splitlines()[0]
    with studio.session.operations.journal._path.open("a") as file:
        file.write(line.replace(mine.id, "theirs") + "\n")

    assert studio.generate("paint", "a lake").id == mine.id
    assert len(other.requests("POST")) == 1
