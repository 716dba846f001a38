"""Search by words and by similar pictures in a history, at a service without a search."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from kit.client.settings import Settings
from kit.errors import BadRequestError, ConfigError, NotFoundError, ParameterError
from kit.studio import Generation, Studio
from tests.client.third_party import Answer, Request, Server, ThirdParty, png
from tests.waiting import until

COLORS = ("red", "navy", "maroon", "white")


@pytest.fixture
def pictures(studio: Studio, backend: ThirdParty, media: Server) -> list[Generation]:
    """Pictures of one color each, which is their prompt; the service has thumbnails, too."""

    def paint(request: Request) -> Answer:
        number = Path(request.path.partition("?")[0]).stem
        return Answer(200, png(backend.orders[number]["prompt"]), {"Content-Type": "image/png"})

    def facts(order: dict[str, str]) -> dict[str, object]:
        number = next(name for name, each in backend.orders.items() if each is order)
        return {"output": {"thumbnailUrl": f"{media.url}/small/{number}.png"}}

    media.app, backend.facts = paint, facts
    return [studio.generate("paint", color, tags={"mood": "calm"}) for color in COLORS]


@pytest.fixture
def elsewhere(settings: Settings, pictures: list[Generation], tmp_path: Path) -> Iterator[Studio]:
    """A studio on a computer that has none of the files."""
    with Studio(replace(settings, data=tmp_path / "elsewhere")) as studio:
        yield studio


def test_words_match_prompts_and_tags(studio: Studio, pictures: list[Generation]) -> None:
    assert studio.history.search("red").index.tolist() == ["job-1"]
    assert len(studio.history.search("calm", model="paint", tag="mood=calm")) == 4
    assert studio.history.search("red", until="2020-01-01").empty
    with pytest.raises(BadRequestError, match="no model 'pain'; did you mean 'paint'"):
        studio.history.search("red", model="pain")


def test_similar_pictures_are_found_by_generation_id_file_or_array(
    studio: Studio, media: Server, pictures: list[Generation], tmp_path: Path
) -> None:
    media.seen.clear()

    found = studio.history.similar(pictures[0])

    assert found.index[:2].tolist() == ["job-1", "job-3"]
    assert found["likeness"].tolist()[0] == 1
    assert len(found) == 4
    file = pictures[0].save(tmp_path / "red.webp")
    picture = Image.new("RGB", (99, 9), "red")
    for given in ("job-1", file, str(file), file.read_bytes(), picture, np.asarray(picture)):
        assert studio.history.similar(given, n=1).index.tolist() == ["job-1"]
    assert media.requests("GET", "/out") == []
    assert studio.history.similar(pictures[0], until="2020-01-01").empty
    with pytest.raises(NotFoundError):  # the ids of another service may be hashes
        studio.history.similar("ab" * 32)


def test_thumbnails_are_fetched_up_to_a_limit_and_the_rest_is_reported(
    elsewhere: Studio, media: Server, caplog: pytest.LogCaptureFixture
) -> None:
    media.seen.clear()

    assert elsewhere.history.similar(png("navy"), until="2020-01-01").empty
    assert media.seen == [], "pictures excluded by filters are not fetched"
    with caplog.at_level(logging.WARNING, "kit"):
        found = elsewhere.history.similar(png("navy"), fetch=3)
    assert found.index[0] == "job-2"
    assert sorted(found.index) == ["job-2", "job-3", "job-4"]
    assert "not indexed yet: 1 picture of the history" in caplog.text
    assert len(media.seen) == 3
    caplog.clear()
    assert len(elsewhere.history.similar(png("navy"), fetch=0)) == 3
    assert len(media.seen) == 3
    assert len(elsewhere.history.similar(png("navy"))) == 4
    assert len(media.seen) == 4
    assert not caplog.text


def test_deleted_outputs_are_not_requested_again(
    elsewhere: Studio, backend: ThirdParty, api: Server, caplog: pytest.LogCaptureFixture
) -> None:
    backend.facts = lambda _: {"outputUrl": None, "outputsDeletedAt": "2026-01-03T00:00:00Z"}

    assert elsewhere.history.similar(png("navy")).empty
    api.seen.clear()
    assert elsewhere.history.similar(png("navy")).empty
    assert len(api.seen) == 1, "the sync"
    assert not caplog.text


def test_similar_reports_what_it_cannot_compare(studio: Studio, pictures: list[Generation]) -> None:
    with pytest.raises(ConfigError, match=r"similar\(\) compares pictures, and upload.gif is none"):
        studio.history.similar(b"GIF89a, or not")
    with pytest.raises(NotFoundError):
        studio.history.similar("job-77")
    with pytest.raises(ParameterError, match=r"nowhere\.png"):
        studio.history.similar("nowhere.png")


def test_the_table_shows_pictures_similar_to_the_last_selected_one(
    studio: Studio, pictures: list[Generation]
) -> None:
    table = studio.history.table()
    controls = table.controls
    assert controls.similar.layout.visibility == "hidden"

    table.select(["job-2", "job-1"])
    controls.similar.click()

    until(lambda: controls.text.value == "like:job-1")
    assert table.frame.index[:2].tolist() == ["job-1", "job-3"]
    controls.text.value = "calm white"
    assert table.frame.index.tolist() == ["job-4"]
    controls.text.value = "like:job-77"
    assert "no such job" in controls.problem.value
