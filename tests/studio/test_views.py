from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from ipywidgets import HTML

import kit
from kit import wire
from kit.errors import ConfigError, NotFoundError, ParameterError
from kit.studio import AsyncStudio, Generation, Studio
from kit.studio.views import EntryList
from tests.client.third_party import Answer, Server, ThirdParty
from tests.waiting import until
from tests.widgets.tree import every


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the notebook."""
    place = tmp_path / "notebook"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def generations(studio: Studio) -> list[Generation]:
    return [studio.generate("paint", f"lake {n}", steps=n + 1) for n in range(3)]


def find_prompts(html: str) -> list[str]:
    return re.findall(r'title="(lake \d)"', html)


def test_a_gallery_shows_generations(generations: list[Generation]) -> None:
    gallery = kit.gallery(generations)

    assert repr(gallery) == "<Gallery 3 generations · 0.75 credits>"
    assert find_prompts(gallery.html()) == ["lake 0", "lake 1", "lake 2"]
    assert gallery.html().count('src="data:image/png;base64,') == 3


def test_a_gallery_takes_ids_rows_and_frames(studio: Studio, generations: list[Generation]) -> None:
    frame = studio.history.frame(10)
    rows = frame[frame["prompt"] == "lake 1"]

    arrow = pa.table(rows.reset_index())
    for given in (rows, rows.iloc[0], generations[1].id, [generations[1].id], arrow):
        assert find_prompts(kit.gallery(given, studio=studio).html()) == ["lake 1"]
    assert find_prompts(
        kit.gallery([generations[2], generations[0].id, generations[1].facts], studio=studio).html()
    ) == ["lake 2", "lake 0", "lake 1"]


def test_a_gallery_of_a_long_frame_fetches_only_what_it_shows(
    studio: Studio, generations: list[Generation]
) -> None:
    gallery = kit.gallery([generations[0].id] * 120 + ["never fetched"] * 4_880, studio=studio)

    assert repr(gallery) == "<Gallery 5,000 generations>"
    assert "4,880 more are not shown" in gallery.html()


def test_a_gallery_of_ids_needs_a_studio(generations: list[Generation]) -> None:
    with pytest.raises(ConfigError, match="pass studio=studio"):
        kit.gallery(generations[0].id)


def test_an_argument_that_is_not_a_generation_is_reported(studio: Studio) -> None:
    with pytest.raises(
        ConfigError, match="neither a generation nor the id of one, but of type int"
    ):
        kit.gallery([3], studio=studio)
    with pytest.raises(NotFoundError):
        kit.gallery("nope", studio=studio)


def test_a_comparison_marks_what_differs(generations: list[Generation]) -> None:
    comparison = kit.compare(generations[0], generations[2])

    assert repr(comparison) == "<Comparison of 2 generations · differ in prompt, steps>"
    assert "≠ steps" in comparison.html()


def test_a_comparison_needs_two_generations_and_not_too_many(generations: list[Generation]) -> None:
    for count in (1, 201):
        with pytest.raises(ConfigError, match=f"needs 2 to 200 generations, not {count}"):
            kit.compare(generations[:1] * count)
    assert kit.compare(generations) is not None
    with pytest.raises(ParameterError, match="size must be a whole number, 1 or more, not 'big'"):
        kit.compare(generations, size="big")  # type: ignore[call-overload]


def test_no_signed_url_and_no_path_is_shown(
    studio: Studio, generations: list[Generation], tmp_path: Path
) -> None:
    table = studio.history.table(10)
    shown = [kit.gallery(generations).html(), kit.compare(*generations).html(), table.html()]
    shown.append(generations[0].output._repr_mimebundle_()["text/html"])

    for html in shown:
        assert "sig=" not in html
        assert str(tmp_path) not in html


def test_an_output_shows_itself_with_its_facts(generations: list[Generation]) -> None:
    bundle = generations[0].output._repr_mimebundle_()

    assert bundle["text/plain"] == repr(generations[0].output)
    assert "data:image/png;base64," in bundle["text/html"]


def script_long_video(number: int, api: Server, media: Server) -> None:
    """Make the service answer that a generation is a long video with a thumbnail."""
    facts: dict[str, Any] = {
        "id": f"job-{number}",
        "status": "done",
        "assetType": "video",
        "outputUrl": f"{media.url}/out/x.mp4",
        "output": {"thumbnailUrl": f"{media.url}/small/{number}.png", "sizeBytes": 20_000_000},
    }
    path = f"/v1/creative-studio/generations/job-{number}"
    api.script("GET", path, *[Answer(200, facts)] * 4)


def test_a_table_fetches_thumbnails_once(
    studio: Studio, generations: list[Generation], api: Server, media: Server
) -> None:
    table = studio.history.table(10, size=2)
    requests = len(media.requests("GET"))

    def wait_for_images(count: int) -> None:
        until(lambda: table.controls.page.value.count("<img"), lambda seen: seen == count)

    wait_for_images(2)
    table.page = 2
    wait_for_images(1)
    table.page = 1

    wait_for_images(2)
    # without thumbnails at the service, the pictures are used, which are in the cache
    assert len(media.requests("GET")) == requests


def test_a_table_shows_pictures_without_a_known_asset_type(
    studio: Studio, generations: list[Generation], backend: ThirdParty
) -> None:
    backend.facts = lambda _: {"assetType": None}
    table = studio.history.table(10)

    until(lambda: table.controls.page.value.count("<img"), lambda seen: seen == 3)


def test_a_long_video_is_shown_as_a_still_in_the_live_preview(
    studio: Studio, generations: list[Generation], api: Server, media: Server
) -> None:
    table = studio.history.table(10)
    _ = table.controls
    script_long_video(1, api, media)

    table.select([generations[0].id])

    shown = until(lambda: [one.value for one in every(table.controls.card, HTML)])
    assert "<img" in shown[0]
    assert "<video" not in shown[0]
    assert not media.requests("GET", "/out/x.mp4")


def test_a_gallery_shows_the_selection_of_a_table(
    studio: Studio, generations: list[Generation]
) -> None:
    table = studio.history.table(10)
    table.select([generations[1].id, generations[0].id])

    assert find_prompts(kit.gallery(table.selected).html()) == ["lake 1", "lake 0"]


def test_a_table_shows_a_given_frame(
    studio: Studio, generations: list[Generation], api: Server
) -> None:
    frame = studio.history.frame(10).query("prompt == 'lake 2'")
    requests = len(api.seen)

    assert len(studio.history.table(frame=frame)) == 1
    assert len(api.seen) == requests


def test_gallery_and_table_work_in_the_async_face(astudio: AsyncStudio) -> None:
    async def cell() -> tuple[str, int, list[str]]:
        first = await astudio.generate("paint", "lake 0")
        table = await astudio.history.table(10)
        html = await asyncio.to_thread(lambda: kit.gallery(first.id, studio=astudio).html())
        await astudio.close()
        return html, len(table), find_prompts(kit.gallery(first).html())

    html, rows, shown = asyncio.run(cell())

    assert find_prompts(html) == shown == ["lake 0"]
    assert rows == 1


def test_entries_show_themselves_as_a_table() -> None:
    facts = {"createdAt": "2026-01-02T03:04:05Z", "credits": "-0.25", "balanceAfter": 9}
    entry = wire.Entry.model_validate({"id": "led_1", "kind": "generation", **facts})

    assert "<b>-0.25</b>" in EntryList([entry])._repr_html_()
    assert EntryList([entry]) == [entry]
