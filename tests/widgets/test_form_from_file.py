"""A file that says what made it fills in a form."""

from pathlib import Path

import numpy as np
import pytest
from ipywidgets import HTML
from PIL import Image

from kit import file_metadata, wire
from kit.file_metadata import FileMetadata
from kit.widgets.form import Form
from kit.widgets.form.uploads import Drop
from tests.widgets.dropping import Page
from tests.widgets.forming import Shop, Stage, button, model
from tests.widgets.tree import every

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
        "media": {"face": [str(face)]},
    }
    assert "filled in from made.png, but not steps: " in said


def test_that_of_another_model_opens_its_form(
    form: Form, shop: Shop, stage: Stage, picture: Path
) -> None:
    file_metadata.embed(picture, FileMetadata(model="drift", prompt="a hill"))
    said = drop(form, stage, picture)
    assert "made.png was made by drift: its form is below" in said
    assert "form of drift" in said
    assert form.value["prompt"] == "a lake"


def test_a_file_that_says_nothing_changes_nothing(form: Form, stage: Stage, picture: Path) -> None:
    assert "made.png does not say what made it" in drop(form, stage, picture)
    assert form.value["prompt"] == "a lake"
