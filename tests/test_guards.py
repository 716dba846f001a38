"""What no reader of the code would notice: notebooks, links and skipped tests."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted(ROOT.glob("notebooks/*.ipynb"))
PAGES = [ROOT / "README.md", *ROOT.glob("binder/*.md"), *ROOT.glob("kit/**/*.md")]
LINK = re.compile(r"\]\(([^)\s]+)\)")
KEY = re.compile(r"cs_(live|test)_\w{8,}")
PLACE = re.compile(r"(?<![\w.:/])/(home|root|Users|tmp|work|var)/\w|[A-Z]:\\\\Users")
MOST_BYTES = 500_000


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_holds_no_key_no_state_no_place_and_little(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    pictures = re.compile(r"[A-Za-z0-9+/=]{200,}|(\\n|[A-Za-z0-9+/=]){500,}")
    said = pictures.sub("", text)

    assert len(text) < MOST_BYTES
    assert "widgets" not in json.loads(text)["metadata"]
    assert KEY.findall(said) == []
    assert [said[found.start() - 40 : found.end() + 40] for found in PLACE.finditer(said)] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_page_of_the_project_links_to_is_there(path: Path) -> None:
    links = LINK.findall(path.read_text(encoding="utf-8"))
    near = [link for link in links if not re.match(r"https?://|mailto:|#|\.\./\.\./", link)]

    assert [link for link in near if not (path.parent / link.partition("#")[0]).exists()] == []


def test_no_test_is_skipped_without_a_reason() -> None:
    silent = re.compile(r"pytest\.skip\(\)|@pytest\.mark\.(skip|xfail)(\(\))?$", re.MULTILINE)
    tests = [path for path in ROOT.glob("tests/**/*.py") if path != Path(__file__)]

    assert [path for path in tests if silent.search(path.read_text(encoding="utf-8"))] == []
