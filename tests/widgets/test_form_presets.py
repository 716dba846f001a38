from __future__ import annotations

import json
from pathlib import Path

import pytest

from kit.errors import ConfigError
from kit.widgets.form.presets import Presets


def test_presets_outlive_the_session(tmp_path: Path) -> None:
    Presets(tmp_path, "poster")["b"] = {"prompt": "ü"}
    Presets(tmp_path, "poster")["a"] = {"prompt": "x"}

    assert Presets(tmp_path, "poster").names() == ["a", "b"]
    assert Presets(tmp_path, "poster")["b"] == {"prompt": "ü"}
    assert json.loads((tmp_path / "poster.json").read_text("utf-8"))["a"] == {"prompt": "x"}
    assert [path.name for path in tmp_path.iterdir()] == ["poster.json"]


def test_models_with_similar_names_do_not_share_presets(tmp_path: Path) -> None:
    Presets(tmp_path, "a/b")["x"] = {}

    assert Presets(tmp_path, "a_b").names() == []
    assert Presets(tmp_path, "../a/b").names() == []
    assert all(path.parent == tmp_path for path in tmp_path.rglob("*"))


@pytest.mark.parametrize("name", ["", "  ", "x" * 81, "a\nb"])
def test_an_empty_long_or_unprintable_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="1 to 80"):
        Presets(tmp_path, "m")[name] = {}


def test_an_unknown_preset_is_reported_with_the_known_ones(tmp_path: Path) -> None:
    presets = Presets(tmp_path, "m")
    presets["dusk"] = {}

    with pytest.raises(ConfigError, match="no preset 'dawn'; there is 'dusk'"):
        _ = presets["dawn"]
    del presets["dawn"]
    assert presets.names() == ["dusk"]


@pytest.mark.parametrize("text", ["{", "[]"])
def test_a_malformed_preset_file_is_reported_and_not_overwritten(tmp_path: Path, text: str) -> None:
    (tmp_path / "m.json").write_text(text)
    presets = Presets(tmp_path, "m")

    with pytest.raises(ConfigError, match=r"m\.json"):
        presets["x"] = {}
    assert (tmp_path / "m.json").read_text() == text
