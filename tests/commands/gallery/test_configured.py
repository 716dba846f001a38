"""Configured models are shown with the others, unless somebody else would have to be paid."""

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


def test_what_would_cost_credits_elsewhere_is_shown_only_by_its_name(
    kit: Kit, tmp_path: Path, home: Path
) -> None:
    asked: list[str] = []

    def planned(found: Iterable[wire.Model]) -> list[Example]:
        asked[:] = [model.id for model in found]
        return []

    told: list[str] = []

    assert make(tmp_path / "page.html", plan_examples=planned, say=told.append, data=home) == 0
    assert "poster" in asked
    assert "lab-image" not in asked
    assert any("cost credits elsewhere: lab-image; --model ID" in line for line in told)

    assert make(tmp_path / "page.html", ["lab-image"], plan_examples=planned, data=home) == 0
    assert asked == ["lab-image"]


def test_what_is_left_out_is_said(home: Path, tmp_path: Path) -> None:
    told: list[str] = []
    found = copy_configured(settings.load({}, data=home), tmp_path / "other", told.append)

    assert found == {"lab-image"}
    assert (tmp_path / "other" / "engines.toml").read_text() == ENTRIES
    assert any("is left out: it is an unknown table; did you mean 'images'?" in s for s in told)
    assert any("'broken' of the package 'demo-engines'" in sentence for sentence in told)


def test_without_a_file_nothing_is_copied(tmp_path: Path) -> None:
    data = tmp_path / "other"
    found = copy_configured(settings.load({}, data=tmp_path / "home"), data, lambda _: None)

    assert found == frozenset()
    assert not data.exists()
