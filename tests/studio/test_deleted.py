"""Files deleted at the service: every view says so and shows no broken picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import kit
from kit import local
from kit.errors import ConflictError, NoAnswerError, NotFoundError
from kit.studio import Studio
from tests.client.third_party import Answer, Server, problem

START = "/v1/creative-studio/generations"
GONE = "file deleted on 2026-11-23"
DELETED: dict[str, Any] = {
    "id": "job-1",
    "status": "completed",
    "assetType": "image",
    "modelId": "paint",
    "prompt": "a lake",
    "outputUrl": None,
    "output": {"contentType": "image/png", "width": 64, "height": 64, "thumbnailUrl": None},
    "outputsDeletedAt": "2026-11-23T08:00:00.000Z",
}


@pytest.fixture
def deleted(studio: Studio, api: Server) -> Studio:
    """A studio whose service says of a generation that its file was deleted."""
    api.script("GET", f"{START}/job-1", *[Answer(200, DELETED)] * 9)
    return studio


def test_deleting_outputs_returns_the_updated_generation(studio: Studio, api: Server) -> None:
    made = studio.generate("paint", "a lake")
    api.script("DELETE", f"{START}/job-1/outputs", Answer(204, b""))
    api.script("GET", f"{START}/job-1", Answer(200, DELETED))

    gone = made.delete_outputs()

    assert (gone.status, gone.facts.deletion, gone.output.url) == ("completed", GONE, None)
    assert len(api.requests("DELETE")) == 1
    assert made.facts.deletion == ""


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, {"error": {"code": "not_found", "message": "no such path"}}),
        (405, {"error": "method not allowed"}),
        (501, b"<html>Unsupported method ('DELETE')</html>"),
    ],
)
def test_a_service_that_cannot_delete_outputs_is_reported(
    studio: Studio, api: Server, status: int, body: Any
) -> None:
    made = studio.generate("paint", "a lake")
    api.script("DELETE", f"{START}/job-1/outputs", *[Answer(status, body)] * 9)

    with pytest.raises(NoAnswerError, match="this service cannot delete the files") as caught:
        made.delete_outputs()

    assert caught.value.generation_id == "job-1"
    assert made.output.bytes()


def test_deleting_files_of_an_unknown_generation_is_not_found(studio: Studio, api: Server) -> None:
    made = studio.generate("paint", "a lake")
    api.script("GET", f"{START}/job-1", problem(404, "not_found", "no such job"))

    with pytest.raises(NotFoundError, match="no such job"):
        made.delete_outputs()


def test_deleting_files_of_a_running_generation_is_a_conflict(studio: Studio, api: Server) -> None:
    started = studio.start("paint", "a lake")
    api.script("DELETE", f"{START}/job-1/outputs", problem(409, "conflict", "still processing"))

    with pytest.raises(ConflictError, match="still processing"):
        started.delete_outputs()


def test_a_preview_of_a_deleted_file_shows_when_it_was_deleted(deleted: Studio) -> None:
    html = deleted.history["job-1"]._repr_mimebundle_()["text/html"]

    assert GONE in html
    assert "a lake" in html
    assert "<img" not in html


def test_the_path_of_a_deleted_output_fails_without_a_request(deleted: Studio, api: Server) -> None:
    generation = deleted.history["job-1"]
    requests = len(api.seen)

    with pytest.raises(NoAnswerError, match=GONE):
        generation.output.path()

    assert len(api.seen) == requests  # a URL is not waited for


def test_a_file_deleted_after_its_listing_is_reported(
    studio: Studio, api: Server, media: Server
) -> None:
    facts = {**DELETED, "outputUrl": f"{media.url}/out/x.png?sig=abc", "outputsDeletedAt": None}
    api.script("GET", f"{START}/job-1", Answer(200, facts), Answer(200, DELETED))
    media.script("GET", "/out/x.png", Answer(404, {}))

    html = studio.history["job-1"]._repr_mimebundle_()["text/html"]

    assert GONE in html
    assert "<img" not in html


def test_galleries_and_comparisons_show_that_a_file_is_deleted(studio: Studio, api: Server) -> None:
    made = studio.generate("paint", "a fox")
    api.script("GET", f"{START}/job-9", Answer(200, {**DELETED, "id": "job-9"}))
    gone = studio.history["job-9"]

    for shown in (kit.gallery([gone, made]).html(), kit.compare(gone, made).html()):
        assert GONE in shown
        assert shown.count("<img") == 1


def test_a_local_copy_of_a_deleted_file_is_shown_as_a_copy(studio: Studio, api: Server) -> None:
    made = studio.generate("paint", "a lake")
    kept = {**DELETED, "createdAt": "2026-01-02T03:04:05", "output": None}
    api.script("DELETE", f"{START}/job-1/outputs", Answer(204, b""))
    api.script("GET", f"{START}/job-1", Answer(200, kept))

    gone = made.delete_outputs()

    html = gone._repr_mimebundle_()["text/html"]
    assert f"{GONE} at the service; this is a copy" in html
    assert "<img" in html
    assert gone.output.bytes() == made.output.bytes()


def test_a_table_shows_that_a_file_is_deleted(deleted: Studio) -> None:
    frame = pd.DataFrame({"status": ["completed"], "model_id": ["paint"]}, index=["job-1"])
    table = deleted.history.table(frame=frame)
    table._ipython_display_()

    for html in (table.html(), table.controls.page.value):
        assert GONE in html
        assert "<img" not in html


def test_a_contact_sheet_shows_that_a_file_is_deleted(studio: Studio, api: Server) -> None:
    deleted = {**DELETED, "createdAt": "2026-01-02T03:04:05"}
    api.script("GET", f"{START}/job-1", *[Answer(200, deleted)] * 9)
    sweep = studio.sweep("paint", ["a lake"]).run()

    html = sweep.sheet().html()

    assert "<img" not in html
    assert f"{GONE} · 0.25 credits" in html


def test_the_embedded_service_deletes_outputs_from_disk(tmp_path: Path) -> None:
    with kit.connect(data=tmp_path / "data") as studio:
        made = studio.generate("flat", "a lake")
        address = made.output.url
        gone = made.delete_outputs().delete_outputs()
    local.stop()

    assert gone.facts.deletion.startswith("file deleted on 20")
    assert gone.output.url is None
    assert address
    assert not [path for path in (tmp_path / "data" / "objects").rglob("*") if path.is_file()]
