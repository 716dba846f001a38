import os
from pathlib import Path

import pytest
from PIL import Image, PngImagePlugin

from tests.client.fixtures import api, backend, media
from tests.client.third_party import KEY, Answer, Server, ThirdParty
from tests.commands.conftest import Kit

__all__ = ["api", "backend", "media"]


def test_a_picture_is_generated_and_its_path_printed(kit: Kit, tmp_path: Path) -> None:
    done = kit("generate", "flat", "a lake", "-p", "count=3", "-p", "smooth=yes", "-o", "a.png")

    assert done.code == 0
    assert Path(done.out.strip()) == Path("a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.skipif(not Path(os.devnull).is_char_device(), reason="there are no devices here")
def test_a_device_can_be_the_output_path(kit: Kit) -> None:
    assert kit("generate", "flat", "a lake", "-o", os.devnull).out == f"{os.devnull}\n"


def test_a_generation_is_printed_as_json_and_named_if_it_was_made_before(kit: Kit) -> None:
    command = ("generate", "flat", "a lake", "-p", "size=big", "-p", "seed=7", "--json")

    first, *more = [kit(*command, *extra).json for extra in ((), (), ("--again",))]

    assert (first["credits"], first["parameters"]["seed"]) == (1.2, 7)
    assert Path(first["file"]).is_file()
    assert [one["madeBefore"] for one in (first, *more)] == [False, True, False]


def pixels(path: Path) -> bytes:
    with Image.open(path) as picture:
        return bytes(picture.tobytes())


def test_a_medium_is_sent_from_a_file(
    kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("USERPROFILE" if os.name == "nt" else "HOME", str(tmp_path))
    kit("generate", "flat", "a lake", "-o", "a.png")

    done = kit("generate", "clay", "--media", "portrait=~/a.png", "-o", "b.png", "--budget", 1)

    assert done.err == ""
    assert pixels(tmp_path / "b.png") == pixels(tmp_path / "a.png")


def test_a_file_is_generated_again_from_its_metadata(kit: Kit, tmp_path: Path) -> None:
    kit("generate", "flat", "a lake", "-p", "count=3", "-p", "seed=7", "-o", "a.png")

    done = kit("generate", "--from", "a.png", "-p", "count=2", "--json")

    assert done.json["modelId"] == "flat"
    assert (done.json["parameters"]["count"], done.json["parameters"]["seed"]) == (2, 7)
    assert "name a model" in kit("generate").err


def test_unread_metadata_of_another_program_is_reported(
    kit: Kit, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    info = PngImagePlugin.PngInfo()
    info.add_text("parameters", "a lake\nSampler: Euler a, Seed: 7, Model: dream")
    Image.new("RGB", (4, 4)).save(tmp_path / "a.png", pnginfo=info)

    done = kit("generate", "flat", "--from", "a.png", "--json")

    assert done.json["parameters"]["seed"] == 7
    assert "left out: Sampler: Euler a" in caplog.text
    assert "no model 'dream'" in kit("generate", "--from", "a.png").err


def test_parameters_of_any_name_and_type_are_parsed_as_in_a_form(
    kit: Kit, backend: ThirdParty, api: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIT_BASE_URL", api.url)
    monkeypatch.setenv("KIT_API_KEY", KEY)
    backend.polls = 0
    known = [
        {"name": "timeout", "type": "int64"},
        {"name": "again", "type": "bool"},
        {"name": "model", "type": "string", "enum": [1, 2]},
        {"name": "words", "type": "string", "maxItems": 2},
    ]
    models = Answer(200, {"image": [{"id": "odd", "settingParameters": known}]})
    api.script("GET", "/v1/creative-studio/models", models)
    given = ("timeout=5", "again=true", "model=2", "words=a", "words=b")
    options = [word for text in given for word in ("-p", text)]

    done = kit("generate", "odd", "a lake", *options)

    assert done.err == ""
    (sent,) = api.requests("POST", "/v1/creative-studio/generations")
    assert sent.json["parameters"] == {"timeout": 5, "again": True, "model": 2, "words": ["a", "b"]}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("nothing", "x"), "there is no model 'nothing'"),
        (("flat", "x", "-p", "cuont=2"), "no parameter 'cuont'; did you mean 'count'?"),
        (("flat", "x", "-p", "count"), "-p must be NAME=VALUE, not 'count'"),
        (("flat", "x", "-p", "count=two"), "count must be a whole number, not 'two'"),
        (("flat", "x", "-p", "count=1", "-p", "count=2"), "count is given more than once"),
        (("flat", "x", "-p", "count="), "count has no value: leave it out"),
        (("flat", "x", "-p", "count=11"), "must be at most 10, not 11"),
        (("flat", "x", "-p", "size=huge"), "must be one of 'small', 'big', not 'huge'"),
        (("flat", "x", "--budget", "0.1"), "credits would exceed the budget of 0.1 credits"),
        (("flat",), "prompt: is required"),
        (("clay", "x", "-p", "portrait=a.png"), "takes a file: --media portrait=FILE"),
        (("clay", "x", "--media", "portrait=no.png"), "there is no file 'no.png'"),
        (("clay", "x", "--media", "face=no.png"), "has no medium 'face'"),
        (("flat", "x", "-o", "no/such/a.png"), f"{Path('no/such')} does not exist"),
        (("flat", "x", "-o", "-"), "-o names a file"),
        (("flat", "x", "-o", "pictures/"), "the folder pictures/ does not exist"),
        (("flat", "x", "-o", "a.mp4"), "of type image, and -o a.mp4 names one of type video"),
        (("flat", "x", "-p", "does=fails"), "the clay is too dry"),
    ],
)
def test_an_invalid_request_is_refused_with_an_error_message(
    kit: Kit, arguments: tuple[str, ...], sentence: str
) -> None:
    done = kit("generate", *arguments)

    assert done.code in (1, 2)
    assert sentence in done.err
    assert done.out == ""


def test_models_are_printed_as_the_api_lists_them(kit: Kit) -> None:
    listed = kit("models", "--json").json

    assert set(listed) == {"image", "video"}
    assert {"poster", "flat"} <= {model["id"] for model in listed["image"]}
    assert kit("models", "--type", "video", "--json").json["image"] == []
    assert "drift" in kit("models").out


def test_a_generation_gets_the_given_tags(kit: Kit) -> None:
    tags = kit("generate", "flat", "a lake", "--tag", "campaign=winter", "--json").json["tags"]

    assert tags == {"campaign": "winter"}
    assert "--tag must be NAME=VALUE" in kit("generate", "flat", "a", "--tag", "winter").err
