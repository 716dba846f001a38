"""Forms of a studio, with a third-party implementation of the API document."""

from __future__ import annotations

import asyncio
import io
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ipywidgets import HTML
from PIL import Image

from kit.client.calls import Flow, Sleep
from kit.client.flows import report_waits as report
from kit.client.settings import Settings
from kit.errors import GenerationFailedError, NoAnswerError, ParameterError
from kit.studio import AsyncGeneration, AsyncStudio, Generation, Studio
from kit.studio.catalog import UnknownModelError
from kit.studio.forms import FormService
from tests.client.third_party import KEY, MODELS, Answer, Server, ThirdParty, png
from tests.engines.films import encode, picture
from tests.widgets.tree import every

START = "/v1/creative-studio/generations"


pytestmark = pytest.mark.usefixtures("end_forms")


def test_a_form_generates_and_shows_the_result(studio: Studio, api: Server) -> None:
    form = studio.form("paint", "a lake", style="ink")

    made = form.submit().result(30)

    assert isinstance(made, Generation)
    assert made.output.bytes() == png()
    assert form.generation is made
    assert api.requests("POST", START)[0].json["parameters"] == {
        "size": 512,
        "style": "ink",
        "steps": 20,
    }
    shown = every(form.runs[0].widget, HTML)[0].value
    assert "data:image/png" in shown
    assert "0.25 credits" in shown


def test_a_generation_opens_in_its_form_or_as_input_of_another(studio: Studio, api: Server) -> None:
    unknown = {"id": "read", "mediaParameters": [{"name": "url", "type": "string", "media": True}]}
    models = Answer(200, {"image": [*MODELS, unknown]})
    api.script("GET", "/v1/creative-studio/models", *[models] * 9)
    service = FormService(studio.session)
    made = studio.generate("paint", "a lake", style="ink")

    again = service.open_form(made.facts)
    assert again.value["prompt"] == "a lake"
    assert again.value["parameters"]["style"] == "ink"
    others = [model.id for model in service.accepting_models(made.facts)]
    assert "paint" not in others
    assert "read" in others
    form = service.open_form(made.facts, others[0])
    ((path,),) = form.value["media"].values()
    assert Path(path).read_bytes() == png()


def test_earlier_results_are_listed_with_their_pictures(studio: Studio) -> None:
    service = FormService(studio.session)
    made = [studio.generate("paint", prompt) for prompt in ("a lake", "a hill")]

    found = service.list_earlier("image")

    assert [facts.id for facts, _ in found] == [made[1].id, made[0].id]
    assert [content for _, content in found] == [png(), png()]
    assert [facts.id for facts, _ in service.list_earlier("file")] == [made[1].id, made[0].id]
    assert service.list_earlier("video") == []


def test_earlier_videos_are_listed_with_their_first_frame_or_without_picture(
    studio: Studio, backend: ThirdParty, media: Server, settings: Settings, tmp_path: Path
) -> None:
    encode(tmp_path / "film.mp4", [picture(64, 48, (9, 99, 9))] * 3)
    film = Answer(200, (tmp_path / "film.mp4").read_bytes(), {"Content-Type": "video/mp4"})
    media.app = lambda _: film
    backend.facts = lambda _: {"assetType": "video"}
    studio.generate("paint", "a lake")
    service = FormService(studio.session)

    ((_, frame),) = service.list_earlier("video")
    shutil.rmtree(settings.data / "notebook" / "outputs")

    assert frame.startswith(b"\xff\xd8")  # a JPEG
    assert [content for _, content in service.list_earlier("video")] == [b""]


def test_each_submit_is_a_new_start(studio: Studio, api: Server) -> None:
    form = studio.form("paint", "a lake")

    ids = [form.submit().result(30).id for _ in range(3)]

    assert ids == ["job-1", "job-2", "job-3"]


def test_two_forms_run_ten_generations_at_once(studio: Studio) -> None:
    forms = [studio.form("paint", "a lake"), studio.form("paint", "a hill")]

    runs = [form.submit() for _ in range(5) for form in forms]
    made = [run.result(60) for run in runs]

    assert sorted({g.prompt for g in made}) == ["a hill", "a lake"]
    assert len({g.id for g in made}) == 10


def test_the_code_of_a_form_finds_its_generation(studio: Studio, api: Server) -> None:
    form = studio.form("paint", "a lake", steps=7, size=64)
    made = form.submit().result(30)

    again = eval(form.code(), {"studio": studio})

    assert again.id == made.id
    assert len(api.requests("POST", START)) == 1


def test_a_form_accepts_numpy_values(studio: Studio) -> None:
    assert studio.form("paint", steps=np.int64(7)).value["parameters"]["steps"] == 7


def test_pictures_and_paths_in_a_form_are_sent(studio: Studio, api: Server, tmp_path: Path) -> None:
    path = tmp_path / "hint.png"
    path.write_bytes(png())
    form = studio.form(
        "retouch", media={"picture": Image.new("RGB", (8, 8)), "hints": [path, str(path)]}
    )

    form.submit().result(30)

    value = form.value["media"]
    assert Image.open(io.BytesIO(Path(value["picture"][0]).read_bytes())).size == (8, 8)
    assert value["hints"] == [path.as_posix()] * 2
    assert len(api.requests("POST", START)[0].json["mediaUploads"]["hints"]) == 2


def test_an_uploaded_file_is_saved_once_inside_its_folder(studio: Studio) -> None:
    service = FormService(studio.session)

    one, two = service.save("../../a b.png", png()), service.save("../../a b.png", png())

    assert one == two
    assert one.name == "a_b.png"
    assert one.is_relative_to(studio.client.settings.data / "notebook" / "uploads")


def test_a_file_placed_by_the_caller_is_not_written(studio: Studio) -> None:
    service = FormService(studio.session)
    placed: list[Path] = []

    def place(path: Path) -> bool:
        placed.append(path)
        return bool(path.write_bytes(b"put"))

    one = service.save("a.png", png(), place)
    two = service.save("a.png", png(), place)
    other = service.save("b.png", png(), lambda _: False)

    assert placed == [one] == [two]
    assert one.read_bytes() == b"put"
    assert other.read_bytes() == png()


def test_a_form_without_a_pricing_rule_shows_the_default_price(studio: Studio) -> None:
    form = studio.form("paint", "a lake")

    assert form.quote is not None
    assert (str(form.quote.total), form.quote.source) == ("0.25", "default")
    assert studio.form("retouch").quote is None


def test_a_misspelled_parameter_or_model_opens_no_form(studio: Studio, api: Server) -> None:
    with pytest.raises(ParameterError, match="did you mean 'steps'"):
        studio.form("paint", stepz=3)
    with pytest.raises(UnknownModelError, match="did you mean 'paint'"):
        studio.form("pain")
    assert api.requests("POST") == []


def test_a_flow_reports_why_it_waits() -> None:
    def flow() -> Flow[str]:
        yield Sleep(0.1)
        outcome = yield Sleep(12, "the service asks to wait 12 s")
        return f"made after {outcome}"

    reasons: list[str] = []
    observed = report(flow(), reasons.append)
    next(observed)
    observed.send(None)
    with pytest.raises(StopIteration) as end:
        observed.send("a rest")

    assert end.value.value == "made after a rest"
    assert reasons == ["the service asks to wait 12 s"]


def test_a_failed_run_raises_its_error(studio: Studio, backend: ThirdParty) -> None:
    backend.error, backend.states = "no paint left", ("queued", "failed")
    run = studio.form("paint", "a lake").submit()

    with pytest.raises(GenerationFailedError, match="no paint left") as caught:
        run.result(30)
    assert caught.value.resume is not None
    with pytest.raises(GenerationFailedError, match="no paint left"):
        caught.value.resume()
    assert "no paint left; 0.25 credits charged" in run.widget.children[0].value


def test_canceling_at_a_service_without_cancel_is_reported(
    studio: Studio, backend: ThirdParty
) -> None:
    service = FormService(studio.session)
    started = studio.start("paint", "a lake")

    with pytest.raises(NoAnswerError, match="cannot cancel"):
        service.cancel(started.id)


def test_presets_are_shared_by_the_forms_of_a_studio(studio: Studio) -> None:
    form = studio.form("paint", "a lake", steps=3)
    assert form.presets is not None
    form.presets["few"] = form.value

    other_form = studio.form("paint")
    other_form.value = other_form.presets["few"]  # type: ignore[index]

    assert other_form.value == form.value


def test_a_form_shows_no_api_key(studio: Studio) -> None:
    form = studio.form("paint", "a lake")
    form.submit().result(30)

    shown: list[Any] = [form]
    text = repr(form) + str(form._repr_mimebundle_())
    while shown:
        one = shown.pop()
        text += str(one.get_state())
        shown += getattr(one, "children", ())

    assert KEY not in text
    assert "sig=" not in text


def test_the_awaited_studio_has_the_same_form(astudio: AsyncStudio) -> None:
    async def cell() -> list[Any]:
        async with astudio as studio:
            form = await studio.form("paint", "a lake", steps=7)
            made = await form.submit()
            return [type(made), await made.output.bytes() == png(), form.code()]

    assert asyncio.run(cell()) == [
        AsyncGeneration,
        True,
        'await studio.generate("paint", "a lake", steps=7)',
    ]
