from pathlib import Path

import pytest

from tests.commands.conftest import Kit


def test_a_picture_is_made_and_its_file_printed(kit: Kit, tmp_path: Path) -> None:
    done = kit("generate", "flat", "a lake", "-p", "count=3", "-p", "smooth=yes", "-o", "a.png")

    assert done.code == 0
    assert Path(done.out.strip()) == Path("a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_what_was_made_is_told_as_json(kit: Kit) -> None:
    done = kit("generate", "flat", "a lake", "-p", "size=big", "-p", "seed=7", "--json")

    assert done.json["credits"] == 1.2
    assert done.json["parameters"]["seed"] == 7
    assert Path(done.json["file"]).is_file()


def test_a_medium_is_sent_from_a_file(kit: Kit, tmp_path: Path) -> None:
    kit("generate", "flat", "a lake", "-o", "a.png")

    done = kit("generate", "clay", "--media", "portrait=a.png", "-o", "b.png")

    assert done.err == ""
    assert (tmp_path / "b.png").read_bytes() == (tmp_path / "a.png").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("nothing", "x"), "there is no model 'nothing'"),
        (("flat", "x", "-p", "cuont=2"), "no parameter 'cuont'; did you mean 'count'?"),
        (("flat", "x", "-p", "count"), "-p must be NAME=VALUE, not 'count'"),
        (("flat", "x", "-p", "count=two"), "-p count must be of the type integer, not 'two'"),
        (("flat", "x", "-p", "count=11"), "must be at most 10, not 11"),
        (("flat", "x", "-p", "size=huge"), "must be one of 'small', 'big', not 'huge'"),
        (("flat",), "prompt: is required"),
        (("clay", "x", "--media", "portrait=no.png"), "there is no file 'no.png'"),
        (("clay", "x", "--media", "face=no.png"), "has no medium 'face'"),
        (("flat", "x", "-o", "no/such/a.png"), "no/such does not exist"),
        (("flat", "x", "-p", "does=fails"), "the clay is too dry"),
    ],
)
def test_a_bad_order_is_refused_with_a_sentence(
    kit: Kit, arguments: tuple[str, ...], sentence: str
) -> None:
    done = kit("generate", *arguments)

    assert done.code in (1, 2)
    assert sentence in done.err
    assert done.out == ""


def test_models_are_listed_as_operation_2_has_them(kit: Kit) -> None:
    listed = kit("models", "--json").json

    assert set(listed) == {"image", "video"}
    assert {"poster", "flat"} <= {model["id"] for model in listed["image"]}
    assert kit("models", "--type", "video", "--json").json["image"] == []
    assert "drift" in kit("models").out
