"""A file that says what made it fills in a form."""

from pathlib import Path

import numpy as np
import pytest
from ipywidgets import HTML
from PIL import Image, PngImagePlugin

from kit import file_metadata, wire
from kit.file_metadata import FileMetadata
from kit.widgets.form import Form
from kit.widgets.form.uploads import Drop
from kit.widgets.result import ResultCard
from tests.widgets.dropping import Page
from tests.widgets.forming import Shop, Stage, button, click, model, shown
from tests.widgets.tree import every, find

FACE = wire.Parameter(name="face", type="image", media=True)


def drop(form: Form, stage: Stage, path: Path) -> str:
    """Drop a file into the zone of a form, and return what is said there."""
    button(form, "File").click()
    zone = next(one for one in every(form, Drop) if one.whole)
    assert Page(zone, stage.run).give((path.name, path.read_bytes())) == {"done": True}
    stage.wait()
    return " ".join(one.value for one in every(form, HTML))


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "made.png"
    Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(path)
    return path


def test_it_fills_in_what_the_model_takes_and_says_what_it_left(
    shop: Shop, stage: Stage, picture: Path, tmp_path: Path
) -> None:
    found = FileMetadata(model="flat", prompt="a hill", parameters={"count": 3, "steps": 9})
    file_metadata.embed(picture, found)
    (face := tmp_path / "face.png").write_bytes(picture.read_bytes())
    with_face = model(media_parameters=[FACE])
    form = Form(with_face, {"media": str(face)}, service=shop, background=stage.background)

    said = drop(form, stage, picture)

    assert form.value == {
        "prompt": "a hill",
        "parameters": form.value["parameters"] | {"count": 3},
        "media": {"face": [face.as_posix()]},
    }
    assert "filled in from made.png (not used: steps: " in said


def test_the_form_becomes_that_of_the_files_model_and_its_results_stay(
    form: Form, shop: Shop, stage: Stage, picture: Path
) -> None:
    click(form, stage)
    file_metadata.embed(picture, FileMetadata(model="drift", prompt="a hill"))

    said = drop(form, stage, picture)

    assert "filled in from made.png, made by drift; the form is changed to it" in said
    assert (form.model.id, form.value["prompt"]) == ("drift", "a hill")
    assert form.code() == 'studio.generate("drift", "a hill")'
    assert len(shown(form)) == 1
    click(form, stage)
    assert [order.model.id for order in shop.orders] == ["flat", "drift"]
    assert len(shown(form)) == 2
    [first] = every(form.runs[0].widget, ResultCard)
    find(first, "Reuse settings").click()
    assert (form.model.id, form.value["prompt"]) == ("flat", "a lake")


def test_that_of_a_model_that_is_not_there_fills_in_what_fits(
    form: Form, stage: Stage, picture: Path
) -> None:
    info = PngImagePlugin.PngInfo()
    info.add_text("parameters", "a hill\nSeed: 7, Sampler: Euler a, Model: dream")
    Image.new("RGB", (4, 4)).save(picture, pnginfo=info)

    said = drop(form, stage, picture)

    assert (
        "filled in from made.png, made by dream, which this service lacks"
        " (not used: Sampler: Euler a)" in said
    )
    assert (form.model.id, form.value["prompt"]) == ("flat", "a hill")
    assert form.value["parameters"]["seed"] == 7


def test_a_file_that_says_nothing_changes_nothing(form: Form, stage: Stage, picture: Path) -> None:
    assert "made.png has no metadata about its generation" in drop(form, stage, picture)
    assert form.value["prompt"] == "a lake"
