"""The file of configured models: what is right in it is served, what is wrong is said."""

import subprocess
import sys
from pathlib import Path

import pytest

from kit.engines.configured import listing
from kit.engines.configured.listing import engines
from kit.engines.configured.place import Place
from kit.engines.registry import engine_for, installed
from kit.errors import ConfigError

GOOD = """
[[images]]
id = "far-pictures"
url = "http://127.0.0.1:9/v1"
model = "far-1"
price = 0.25
sizes = ["1024x1024", "512x512"]

[[videos]]
id = "far-clips"
url = "http://127.0.0.1:9"
model = "far-2"
seconds = [4, 8]
price = { base = 0.1, units = [{ parameter = "seconds", credits = 0.05 }] }
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "engines.toml", tmp_path / "copies")


def write(place: Place, content: str) -> Place:
    place.file.write_text(content, encoding="utf-8")
    return place


def test_without_a_file_nothing_is_added(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    assert engines(place) == {}
    assert installed(place).keys() == installed().keys()
    assert "configured" not in caplog.text


def test_configured_models_stand_beside_the_installed_ones(place: Place) -> None:
    found = installed(write(place, GOOD))

    assert {"far-clips", "far-pictures", "poster"} <= found.keys()
    assert list(found) == sorted(found)
    assert engine_for("far-clips", place).definition.asset_type == "video"
    assert engine_for("poster", place).definition.title == "Poster Landscape"
    with pytest.raises(ConfigError, match="'nothing'"):
        engine_for("nothing", place)


def test_one_model_is_found_without_looking_at_the_others(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    write(place, GOOD + '[[images]]\nid = "broken"\n[[services]]\nprefix = "far"\nurl = "x"\n')

    assert engines(place, only="far-pictures", refresh=False).keys() == {"far-pictures"}
    assert "broken" not in caplog.text


def test_a_broken_entry_is_reported_and_the_others_are_served(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    write(place, GOOD + '[[images]]\nid = "odd"\nurl = "http://x"\nmodle = "m"\nprice = 1\n')

    assert engines(place).keys() == {"far-pictures", "far-clips"}
    assert "images 2 (odd) is left out" in caplog.text
    assert "'model' is missing" in caplog.text
    assert "unknown key 'modle'; did you mean 'model'?" in caplog.text


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("[[images]\n", "cannot be read"),
        ('[[pictures]]\nid = "a"\n', "unknown table 'pictures'"),
        ('[[image]]\nid = "a"\n', "did you mean 'images'"),
        ('[images]\nid = "a"\n', "write it as [[images]]"),
        ("images = [1]\n", "is left out"),
        ('[[diffusers]]\nid = "a"\nprice = 1\n', "exactly one of 'path' and 'hub_id'"),
        ('[[diffusers]]\nid = "a"\nprice = 1\npath = "models/a"\n', "whole path"),
        ('[[services]]\nprefix = "a b"\nurl = "http://x"\n', "'prefix'"),
    ],
)
def test_what_cannot_be_read_is_said(
    place: Place, caplog: pytest.LogCaptureFixture, content: str, sentence: str
) -> None:
    assert engines(write(place, content)) == {}
    assert sentence in caplog.text


def test_an_id_that_is_taken_is_left_out(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    write(place, GOOD.replace("far-pictures", "poster") + GOOD)

    found = installed(place)
    assert found["poster"].definition.title == "Poster Landscape"
    assert "the configured model 'poster' is left out" in caplog.text
    assert "the model 'far-clips' is there already" in caplog.text


def test_an_entry_that_crashes_is_left_out(
    place: Place, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> list[None]:
        raise RuntimeError("no wire")

    monkeypatch.setattr(listing, "KINDS", {**listing.KINDS, "images": crash})

    assert engines(write(place, GOOD)).keys() == {"far-clips"}
    assert "RuntimeError: no wire" in caplog.text


def test_listing_loads_nothing_heavy(place: Place) -> None:
    write(place, GOOD)
    heavy = {"numpy", "cv2", "av", "PIL", "torch", "diffusers", "httpx"}
    script = (
        "import sys; from pathlib import Path; from kit.engines.registry import installed;"
        "from kit.engines.configured.place import Place;"
        f"print('far-clips' in installed(Place(Path({str(place.file)!r}), Path('x'))));"
        f"print(sorted({heavy} & sys.modules.keys()))"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)

    assert told.stdout.splitlines() == ["True", "[]"], told.stderr
