"""The file of configured models: valid entries are served, invalid ones are reported."""

import subprocess
import sys
from pathlib import Path

import pytest

from kit.engines.configured.place import ModelSource
from kit.engines.listing import KINDS, list_configured
from kit.engines.registry import engine_for, list_engines, survey
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
def place(tmp_path: Path) -> ModelSource:
    return ModelSource(tmp_path / "engines.toml", tmp_path / "copies")


def write(place: ModelSource, content: str) -> ModelSource:
    place.file.write_text(content, encoding="utf-8")
    return place


def list_problems(place: ModelSource) -> str:
    """Return what is reported about the file."""
    found = list_configured(place)
    return "\n".join(map(str, [*found.left_out, *found.notices]))


def test_without_a_file_no_model_is_added(
    place: ModelSource, caplog: pytest.LogCaptureFixture
) -> None:
    assert list_configured(place).engines == {}
    assert list_engines(place).keys() == list_engines().keys()
    assert "configured" not in caplog.text


def test_configured_models_are_listed_with_the_installed_ones(place: ModelSource) -> None:
    found = list_engines(write(place, GOOD))

    assert {"far-clips", "far-pictures", "poster"} <= found.keys()
    assert list(found) == sorted(found)
    assert engine_for("far-clips", place).definition.asset_type == "video"
    assert engine_for("poster", place).definition.title == "Poster Landscape"
    with pytest.raises(ConfigError, match="'nothing'"):
        engine_for("nothing", place)


def test_one_model_is_found_without_reading_the_others(place: ModelSource) -> None:
    write(place, GOOD + '[[images]]\nid = "broken"\n[[services]]\nprefix = "far"\nurl = "x"\n')

    found = list_configured(place, only="far-pictures", refresh=False)
    assert found.engines.keys() == {"far-pictures"}
    assert "broken" not in str(found.left_out)


def test_a_broken_entry_is_reported_and_the_others_are_served(place: ModelSource) -> None:
    write(place, GOOD + '[[images]]\nid = "odd"\nurl = "http://x"\nmodle = "m"\nprice = 1\n')

    assert list_configured(place).engines.keys() == {"far-pictures", "far-clips"}
    assert "images 2 (odd) is left out" in list_problems(place)
    assert "'model' is missing" in list_problems(place)
    assert "unknown key 'modle'; did you mean 'model'?" in list_problems(place)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("[[images]\n", "cannot be read"),
        ("a = " + "[" * 5000, "cannot be read"),
        ('[[pictures]]\nid = "a"\n', "it is an unknown table"),
        ('[[image]]\nid = "a"\n', "did you mean 'images'"),
        ('[images]\nid = "a"\n', "write it as [[images]]"),
        ("images = [1]\n", "is left out"),
        ('[[diffusers]]\nid = "a"\nprice = 1\n', "exactly one of 'path' and 'hub_id'"),
        ('[[diffusers]]\nid = "a"\nprice = 1\npath = "models/a"\n', "whole path"),
        ('[[services]]\nprefix = "a b"\nurl = "http://x"\n', "'prefix'"),
    ],
)
def test_an_unreadable_entry_is_reported(place: ModelSource, content: str, sentence: str) -> None:
    assert list_configured(write(place, content)).engines == {}
    assert sentence in list_problems(place)


def test_a_model_with_an_existing_id_is_left_out(
    place: ModelSource, caplog: pytest.LogCaptureFixture
) -> None:
    write(place, GOOD.replace("far-pictures", "poster") + GOOD)

    found = list_engines(place)
    assert found["poster"].definition.title == "Poster Landscape"
    assert "the configured model 'poster' is left out" in caplog.text
    assert "the model 'far-clips' exists already" in caplog.text
    assert [broken.reason for broken in survey(place).left_out if "'poster'" in broken.subject] == [
        "an installed engine has this id"
    ]


def test_an_entry_that_crashes_is_left_out(place: ModelSource) -> None:
    def crash(*_: object) -> list[None]:
        raise RuntimeError("no wire")

    found = list_configured(write(place, GOOD), kinds={**KINDS, "images": crash})

    assert found.engines.keys() == {"far-clips"}
    assert "RuntimeError: no wire" in str(found.left_out[0])


def test_listing_imports_no_heavy_library(place: ModelSource) -> None:
    write(place, GOOD)
    heavy = {"numpy", "cv2", "av", "PIL", "torch", "diffusers", "httpx"}
    script = (
        "import sys; from pathlib import Path; from kit.engines.registry import list_engines;"
        "from kit.engines.configured.place import ModelSource;"
        f"print('far-clips' in list_engines(ModelSource(Path({str(place.file)!r}), Path('x'))));"
        f"print(sorted({heavy} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)

    assert done.stdout.splitlines() == ["True", "[]"], done.stderr


KEYED = """
[[images]]
id = "keyed"
url = "http://127.0.0.1:9/v1"
model = "m"
price = 1
key_env = "KEYED_KEY"
"""


def test_a_missing_key_is_reported_when_models_are_listed(
    place: ModelSource, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("KEYED_KEY", raising=False)
    found = survey(write(place, KEYED))

    assert "keyed" in found.engines
    [notice] = found.notices
    assert "images 1 (keyed) cannot be used yet: the environment variable KEYED_KEY" in notice
    assert notice in caplog.text


def test_a_render_process_does_not_report_the_problems_again(
    place: ModelSource, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("KEYED_KEY", raising=False)
    write(place, KEYED + '[[image]]\nid = "a"\n[[images]]\nid = "odd"\n')
    assert survey(place).left_out
    caplog.clear()

    assert engine_for("keyed", place).definition.id == "keyed"
    assert caplog.text == ""
