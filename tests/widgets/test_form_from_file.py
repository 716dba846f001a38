"""The metadata of a generated file fills in a form."""

from pathlib import Path

import numpy as np
import pytest
from ipywidgets import HTML, Button
from PIL import Image, PngImagePlugin

from kit import file_metadata, wire
from kit.file_metadata import FileMetadata
from kit.widgets.form import Form
from kit.widgets.form.uploads import Drop
from kit.widgets.result import ResultCard
from tests.widgets.drop_page import Page
from tests.widgets.forms import Api, Clock, button, click, model, shown
from tests.widgets.tree import every, find

FACE = wire.Parameter(name="face", type="image", media=True)


def drop(form: Form, clock: Clock, path: Path) -> str:
    """Drop a file on a form, and return the form's text."""
    button(form, "File").click()
    zone = next(one for one in every(form, Drop) if one.whole)
    assert Page(zone, clock.run).drop((path.name, path.read_bytes())) == {"done": True}
    clock.wait()
    return " ".join(one.value for one in every(form, HTML))


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "made.png"
    Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(path)
    return path


def test_a_file_fills_in_known_parameters_and_the_unused_ones_are_named(
    api: Api, clock: Clock, picture: Path, tmp_path: Path
) -> None:
    found = FileMetadata(model="flat", prompt="a hill", parameters={"count": 3, "steps": 9})
    file_metadata.embed(picture, found)
    (face := tmp_path / "face.png").write_bytes(picture.read_bytes())
    with_face = model(media_parameters=[FACE])
    form = Form(with_face, {"media": str(face)}, service=api, background=clock.background)

    text = drop(form, clock, picture)

    assert form.value == {
        "prompt": "a hill",
        "parameters": form.value["parameters"] | {"count": 3},
        "media": {"face": [face.as_posix()]},
    }
    assert "filled in from made.png (not used: steps: " in text


def test_a_chosen_output_of_the_cache_is_named_by_its_prompt(
    api: Api, clock: Clock, picture: Path
) -> None:
    file_metadata.embed(picture, FileMetadata(model="flat", prompt="a hill", parameters={}))
    output = picture.rename(picture.with_name(f"{'5e' * 32}.png"))
    initial = {"media": str(output)}
    with_face = model(media_parameters=[FACE])
    form = Form(with_face, initial, service=api, background=clock.background)
    clock.run()

    texts = [one.value for one in every(form, HTML)]
    assert any("a hill · " in text for text in texts)
    assert not any("5e5e" in text for text in texts)
    assert "a hill<" in form._repr_mimebundle_()["text/html"]
    assert [one.tooltip for one in every(form, Button) if one.icon == "times"] == ["Remove a hill"]


def test_a_file_switches_the_form_to_its_model_and_keeps_the_results(
    form: Form, api: Api, clock: Clock, picture: Path
) -> None:
    click(form, clock)
    file_metadata.embed(picture, FileMetadata(model="drift", prompt="a hill"))

    text = drop(form, clock, picture)

    assert "filled in from made.png, made by drift; the form is changed to it" in text
    assert (form.model.id, form.value["prompt"]) == ("drift", "a hill")
    assert form.code() == 'studio.generate("drift", "a hill")'
    assert len(shown(form)) == 1
    click(form, clock)
    assert [request.model.id for request in api.requests] == ["flat", "drift"]
    assert len(shown(form)) == 2
    [first] = every(form.runs[0].widget, ResultCard)
    find(first, "Reuse settings").click()
    assert (form.model.id, form.value["prompt"]) == ("flat", "a lake")


def test_a_file_of_an_unknown_model_fills_in_what_fits(
    form: Form, clock: Clock, picture: Path
) -> None:
    info = PngImagePlugin.PngInfo()
    info.add_text("parameters", "a hill\nSeed: 7, Sampler: Euler a, Model: dream")
    Image.new("RGB", (4, 4)).save(picture, pnginfo=info)

    text = drop(form, clock, picture)

    assert (
        "filled in from made.png, made by dream, which this service lacks"
        " (not used: Sampler: Euler a)" in text
    )
    assert (form.model.id, form.value["prompt"]) == ("flat", "a hill")
    assert form.value["parameters"]["seed"] == 7


def test_a_file_without_metadata_changes_nothing(form: Form, clock: Clock, picture: Path) -> None:
    assert "made.png has no metadata about its generation" in drop(form, clock, picture)
    assert form.value["prompt"] == "a lake"
