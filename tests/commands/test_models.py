"""``kit models`` reports invalid models that are missing from its list."""

import json
import os
from pathlib import Path

import pytest

from kit import local
from tests.commands.conftest import Kit


def test_invalid_models_are_reported_below_the_list(kit: Kit, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "engines.toml").write_text('[[diffuser]]\nid = "near"\n')

    done = kit("models")

    assert "poster" in done.out
    assert "left out" not in done.out
    broken = "the engine 'broken' of the package 'demo-engines' (demo_engines:Missing) is left out"
    assert broken in done.err
    assert "; update or uninstall that package" in done.err
    assert "unknown table" in done.err
    assert f"; correct {data / 'engines.toml'}" in done.err
    assert not (data / "kit.db").exists(), "no service was started"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no named pipes in folders")
def test_a_named_pipe_in_the_place_of_the_file_is_reported(kit: Kit, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    os.mkfifo(tmp_path / "data" / "engines.toml")

    done = kit("models")

    assert "poster" in done.out
    assert "it is not a regular file; correct" in done.err


def test_local_problems_are_not_reported_for_another_service(
    kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, key = local.start_embedded(tmp_path / "other")
    monkeypatch.setenv("KIT_API_KEY", key)
    monkeypatch.setenv("KIT_BASE_URL", url)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "engines.toml").write_text("[[diffuser]]\n")

    done = kit("models")
    local.stop()

    assert "poster" in done.out
    assert done.err == ""


def test_one_model_is_shown_with_its_parameters(kit: Kit) -> None:
    shown, wrong = kit("models", "restyle"), kit("models", "restile")

    assert shown.out.startswith("Restyle: from 0.02 credits, 0.04 credits with its defaults\n")
    lines = [line.split() for line in shown.out.splitlines()]
    assert ["image*", "image", "The", "picture", "to"] in [line[:5] for line in lines]
    assert ["strength", "number", "0.8", "0", "to", "1"] in [line[:6] for line in lines]
    assert json.loads(kit("models", "restyle", "--json").out)["id"] == "restyle"
    assert "there is no model 'restile'; did you mean 'restyle'?" in wrong.err
