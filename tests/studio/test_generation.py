from __future__ import annotations

import copy
import gc
import json
import pickle
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from dask.base import tokenize
from PIL import Image

from kit import wire
from kit.client.settings import Settings
from kit.errors import ConfigError, GenerationFailedError, KitError, NoAnswerError
from kit.studio import Studio
from kit.studio.generation import restore_generation
from tests.client import third_party
from tests.client.third_party import KEY, Answer, Server, ThirdParty, png
from tests.engines.films import encode, picture

START = "/v1/creative-studio/generations"


def test_an_output_has_the_facts_of_its_file_if_the_service_reports_none(
    studio: Studio, media: Server, backend: ThirdParty, tmp_path: Path
) -> None:
    facts = studio.generate("paint", "a lake").output.facts
    assert (facts.content_type, facts.width, facts.height) == ("image/png", 24, 16)
    assert (facts.size_bytes, facts.duration_seconds) == (len(png()), None)

    encode(tmp_path / "film.mp4", [picture(64, 48, (9, 99, 9))] * 30)
    film = Answer(200, (tmp_path / "film.mp4").read_bytes(), {"Content-Type": "video/mp4"})
    media.app = lambda _: film
    backend.facts = lambda _: {"assetType": "video"}
    output = studio.generate("paint", "a film").output

    assert repr(output) == "<Output video/mp4 64×48>"
    assert output.facts.duration_seconds == 1


def test_an_output_is_saved_to_a_file_or_folder(studio: Studio, tmp_path: Path) -> None:
    made = studio.generate("paint", "a lake")

    saved = made.output.save(tmp_path / "new" / "lake.png", metadata=False)
    assert saved.read_bytes() == png()
    assert made.output.save(tmp_path / "lake").name == "lake.png"
    assert made.output.save(tmp_path).name == "job-1.png"
    assert made.save(f"{tmp_path}/later/") == tmp_path / "later" / "job-1.png"
    assert made.output.path() != tmp_path / "lake.png"


def test_an_output_with_an_unsafe_id_is_saved_inside_the_folder(
    studio: Studio, backend: ThirdParty, tmp_path: Path
) -> None:
    backend.facts = lambda _: {"id": "../elsewhere"}
    folder = tmp_path / "mine"
    folder.mkdir()

    saved = studio.generate("paint", "a fox").output.save(folder)

    assert [*folder.iterdir()] == [saved]
    assert not (tmp_path / "elsewhere.png").exists()


def test_an_output_is_fetched_once(studio: Studio, media: Server) -> None:
    made = studio.generate("paint", "a lake")
    for _ in range(3):
        made.output.bytes()
        made._repr_mimebundle_()

    assert len(media.requests("GET")) == 1


def test_a_running_generation_has_no_output(studio: Studio) -> None:
    started = studio.start("paint", "a lake")

    with pytest.raises(NoAnswerError, match=r"is processing; wait\(\) returns it") as caught:
        started.output.path()

    assert caught.value.generation_id == "job-1"


def test_a_refresh_is_a_new_object(studio: Studio, backend: ThirdParty) -> None:
    backend.polls = 1
    started = studio.start("paint", "a lake")

    assert started.refresh().status == "completed"
    assert started.status == "processing"


def test_parameters_cannot_be_changed_by_accident(studio: Studio) -> None:
    started = studio.start("paint", "a lake", style="ink")
    started.parameters["style"] = "gold"

    assert started.parameters == {"size": 512, "style": "ink", "steps": 20}
    with pytest.raises(AttributeError):
        started.facts = None  # type: ignore[misc]


def test_a_cancel_returns_the_canceled_generation(studio: Studio, api: Server) -> None:
    started = studio.start("paint", "a lake")
    api.script("POST", f"{START}/job-1/cancel", Answer(200, {"id": "job-1"}))
    api.script("GET", f"{START}/job-1", Answer(200, {"id": "job-1", "status": "cancelled"}))

    assert started.cancel().status == "canceled"
    assert studio.history.pending() == []


def test_a_cancel_after_the_end_returns_the_generation(studio: Studio, api: Server) -> None:
    started = studio.start("paint", "a lake")
    late = third_party.problem(409, "conflict", "it is finished")
    api.script("POST", f"{START}/job-1/cancel", late)
    api.script("GET", f"{START}/job-1", Answer(200, {"id": "job-1", "status": "done"}))

    assert started.cancel().status == "completed"


def test_waiting_for_a_canceled_generation_raises_an_error(studio: Studio, api: Server) -> None:
    started = studio.start("paint", "a lake")
    canceled = {"id": "job-1", "status": "canceled", "creditsRefunded": 0.25}
    api.script("GET", f"{START}/job-1", Answer(200, canceled))

    with pytest.raises(GenerationFailedError, match=r"was canceled; 0\.25 credits refunded"):
        started.wait()


def test_a_notebook_shows_the_picture_and_no_secrets(studio: Studio, tmp_path: Path) -> None:
    bundle = studio.generate("paint", "a <lake>")._repr_mimebundle_()

    assert bundle["text/plain"] == "<Generation paint · image · completed · 0.25 credits>"
    assert '<img src="data:image/png;base64,' in bundle["text/html"]
    assert "a &lt;lake&gt;" in bundle["text/html"]
    for secret in ("sig=", KEY, str(tmp_path), "127.0.0.1"):
        assert secret not in bundle["text/html"]


def test_a_picture_that_cannot_be_fetched_is_shown_as_its_caption(
    studio: Studio, media: Server, api: Server
) -> None:
    done = {"id": "x", "status": "done", "modelId": "paint", "outputUrl": f"{media.url}/gone"}
    api.script("GET", f"{START}/x", Answer(200, done), Answer(200, done))
    media.script("GET", "/gone", Answer(404, {}), Answer(404, {}))

    html = studio.history["x"]._repr_mimebundle_()["text/html"]

    assert "could not be fetched" in html
    assert "<img" not in html


def test_a_running_generation_shows_its_status(studio: Studio) -> None:
    html = studio.start("paint", "a lake")._repr_mimebundle_()["text/html"]

    assert ">processing</b>" in html


def test_errors_of_a_started_generation_have_its_id_and_resume(studio: Studio, api: Server) -> None:
    started = studio.start("paint", "a lake")
    busy = third_party.problem(501, "odd", "oops")
    api.script("GET", f"{START}/job-1", busy, busy)

    for ask in (started.refresh, started.output.path):
        with pytest.raises(KitError) as caught:
            ask()
        assert caught.value.generation_id == "job-1"
        assert caught.value.resume == started.wait


def test_a_reused_generation_is_shown_as_made_before(studio: Studio) -> None:
    first = studio.generate("paint", "a lake")
    again = studio.generate("paint", "a lake")

    sentence = "made before; again=True, or --again in %%generate, for a new one"
    assert (first.made_before, again.made_before) == (False, True)
    assert sentence not in first._repr_mimebundle_()["text/html"]
    assert sentence in again._repr_mimebundle_()["text/html"]
    assert repr(again) == f"{repr(first)[:-1]}, made before>"


def test_an_equal_request_of_another_account_does_not_hide_the_own_one(
    studio: Studio, api: Server
) -> None:
    mine = studio.generate("paint", "a lake")
    journal = studio.client.settings.records("journal").path
    line = journal.read_text().splitlines()[0]
    with journal.open("a") as file:
        file.write(line.replace(mine.id, "theirs") + "\n")

    assert studio.generate("paint", "a lake").id == mine.id
    assert len(api.requests("POST")) == 1


# ── Python protocols ──────────────────────────────────────────────────────────────────────────────


def test_a_picture_converts_to_pillow_and_to_an_array(studio: Studio) -> None:
    made = studio.generate("paint", "a fox")

    picture, pixels = made.image(), made.array()

    assert pixels.shape == (picture.height, picture.width, 3)
    assert pixels.dtype == "uint8"
    assert tuple(pixels[0, 0]) == picture.convert("RGB").getpixel((0, 0))


def test_an_output_is_a_path_like_object(studio: Studio) -> None:
    made = studio.generate("paint", "a fox")

    with open(made.output, "rb") as file:  # noqa: PTH123 - that it can be opened is the point
        assert file.read() == made.output.bytes()
    assert Path(made.output) == made.output.path()
    assert made.url == made.output.url


@pytest.mark.parametrize(
    ("name", "kind"), [("a.jpg", "JPEG"), ("a.webp", "WEBP"), ("a.png", "PNG")]
)
def test_a_picture_is_saved_in_the_format_of_its_extension(
    studio: Studio, tmp_path: Path, name: str, kind: str
) -> None:
    path = studio.generate("paint", "a fox").save(tmp_path / "new" / name)

    with Image.open(path) as picture:
        assert picture.format == kind


def test_an_unsupported_conversion_is_refused(studio: Studio, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"is \.png, which is not converted to \.mp4.*fox\.png"):
        studio.generate("paint", "a fox").save(tmp_path / "fox.mp4")
    assert not list(tmp_path.glob("fox.*"))


def test_generations_are_equal_by_id_and_copies_are_identical(studio: Studio) -> None:
    made = studio.generate("paint", "a fox")
    other = studio.generate("paint", "a hare")

    assert made == made.refresh() == studio.history[made.id]
    assert made != other
    assert len({made, made.refresh(), other}) == 2
    assert copy.deepcopy([made])[0] is made


def test_a_generation_is_pickled_without_key_and_urls(studio: Studio, settings: Settings) -> None:
    made = studio.generate("paint", "a fox")
    stored = pickle.dumps([made, made.output])

    assert settings.api_key.encode() not in stored
    assert made.url
    assert made.url.encode() not in stored
    again, output = pickle.loads(stored)
    assert again == made
    assert output.bytes() == made.output.bytes()
    assert again.refresh().url == made.url


def test_a_generation_is_unpickled_after_a_later_studio_is_gone(
    studio: Studio, settings: Settings
) -> None:
    made = studio.generate("paint", "a fox")
    with Studio(settings) as later:
        assert later.history[made.id] == made
    del later
    gc.collect()

    assert pickle.loads(pickle.dumps(made)) == made


def test_dask_tokens_of_a_generation_are_stable(studio: Studio) -> None:
    made, other = studio.generate("paint", "a fox"), studio.generate("paint", "a hare")
    names = [
        tokenize(one.output, ensure_deterministic=True) for one in (made, made.refresh(), other)
    ]

    assert names[0] == names[1] != names[2]


def test_a_generation_of_an_unconnected_service_is_not_unpickled() -> None:
    facts = wire.Generation(id="gen_1")
    with pytest.raises(ConfigError, match=r"gen_1 is one of the service elsewhere: kit\.connect"):
        restore_generation(("elsewhere", "folder"), facts, False)


def test_credits_of_a_generation_work_in_arithmetic_and_json(studio: Studio) -> None:
    made = studio.generate("paint", "a lake")

    assert made.credits is not None
    assert made.credits * 1.5 == 0.375
    assert json.loads(json.dumps(made.credits)) == made.credits


def test_amounts_are_exact_and_combine_with_floats(studio: Studio, api: Server) -> None:
    api.script("GET", "/v1/account", *[Answer(200, {"id": "a1", "credits": 7.35})] * 3)
    account, quote = studio.account, studio.estimate("paint", "a lake")
    with studio.budget(credits=0.85) as budget:
        amounts: list[tuple[Any, float]] = [
            (account.credits, 7.35),
            (quote.total, 0.25),
            (studio.sweep("paint", ["a", "b"]).quote.total, 0.5),
            (studio.models["paint"].credits_from, 0.1),
            (budget.left, 0.85),
            (budget.spent, 0.0),
        ]
    for amount, value in amounts:
        assert isinstance(amount, Decimal)
        assert (amount * 0.5, 1.0 - amount) == (value * 0.5, 1.0 - value)
        assert amount == value
        assert isinstance(amount + amount, Decimal)
    assert studio.generate("paint", "a lake").credits == quote.total
