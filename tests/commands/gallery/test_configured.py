"""Configured models in the gallery of examples: shown with the others, unless they cost credits."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from kit import wire
from kit.commands.gallery import copy_configured, make
from kit.commands.gallery.plan import Example
from kit.service import settings
from tests.commands.conftest import Kit

ENTRIES = """
[[images]]
id = "lab-image"
url = "http://127.0.0.1:9/v1"
model = "m"
price = 1
[[image]]
id = "near"
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A data folder with a file of configured models."""
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "engines.toml").write_text(ENTRIES)
    return folder


def test_a_model_that_costs_credits_elsewhere_is_only_made_on_request(
    kit: Kit, tmp_path: Path, home: Path
) -> None:
    planned_ids: list[str] = []

    def plan_none(found: Iterable[wire.Model]) -> list[Example]:
        planned_ids[:] = [model.id for model in found]
        return []

    lines: list[str] = []

    assert make(tmp_path / "page.html", plan_examples=plan_none, say=lines.append, data=home) == 0
    assert "poster" in planned_ids
    assert "lab-image" not in planned_ids
    assert any("cost credits elsewhere: lab-image; --model ID" in line for line in lines)

    assert make(tmp_path / "page.html", ["lab-image"], plan_examples=plan_none, data=home) == 0
    assert planned_ids == ["lab-image"]


def test_invalid_entries_and_broken_engines_are_reported(home: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    found = copy_configured(settings.load({}, data=home), tmp_path / "other", lines.append)

    assert found == {"lab-image"}
    assert (tmp_path / "other" / "engines.toml").read_text() == ENTRIES
    assert any("is left out: it is an unknown table; did you mean 'images'?" in s for s in lines)
    assert any("'broken' of the package 'demo-engines'" in sentence for sentence in lines)


def test_nothing_is_copied_without_a_file_of_configured_models(tmp_path: Path) -> None:
    data = tmp_path / "other"
    found = copy_configured(settings.load({}, data=tmp_path / "home"), data, lambda _: None)

    assert found == frozenset()
    assert not data.exists()
